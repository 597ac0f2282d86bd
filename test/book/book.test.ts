import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseBook, readBook } from "../../src/book/index.ts";
import { BookError } from "../../src/base/errors.ts";
import { discountFactor } from "../../src/market/index.ts";
import { asOf, book, market, trade } from "./books.ts";

function refusal(text: string): string {
  try {
    parseBook(text);
  } catch (error) {
    expect(error).toBeInstanceOf(BookError);
    return (error as BookError).message;
  }
  return "accepted";
}

describe("a book", () => {
  test("of the design's example", () => {
    const parsed = readBook({
      asOf,
      market: {
        rates: { EUR: [{ date: "2027-11-20", zero: 0.031 }] },
        underlyings: {
          ACME: {
            spot: 100,
            currency: "EUR",
            dividends: {
              yield: 0.01,
              discrete: [
                { date: "2027-03-01", cash: 1.2 },
                { date: "2027-09-01", proportional: 0.01 },
              ],
            },
            volatility: 0.25,
          },
          BETA: { spot: 50, currency: "EUR", volatility: { local: "0.2 + 0.1*exp(-S/100)" } },
        },
        correlations: [["ACME", "BETA", 0.3]],
      },
      trades: [trade({ expiry: "2027-11-20", exercise: "american", quantity: 10 })],
      scenarios: { time: [0, "2026-11-27", 0.5], spot: [-0.1, 0, 0.1], volatility: [-0.02, 0, 0.02] },
    });
    expect(parsed.asOf).toBe("2026-11-20T16:00:00.000Z");
    expect(parsed.scenarios).toEqual({
      time: [0, 7 / 365, 0.5],
      spot: [-0.1, 0, 0.1],
      volatility: [-0.02, 0, 0.02],
      rate: [0],
    });
    expect(parsed.market.correlations).toEqual([{ first: "ACME", second: "BETA", value: 0.3 }]);
    const acme = parsed.market.underlyings.get("ACME");
    expect(acme?.dividends.discrete.map(({ time }) => time)).toEqual([101 / 365, 285 / 365]);
    expect(discountFactor(acme!.rates, 1)).toBe(Math.exp(-0.031));
  });

  test("without trades is a book", () => {
    expect(readBook(book()).trades).toEqual([]);
  });

  test("the DAX example has 1,008 good trades", () => {
    const { trades } = parseBook(readFileSync(new URL("../../examples/dax/book.json", import.meta.url), "utf8"));
    expect(trades).toHaveLength(1008);
    expect(trades.filter(({ ok }) => !ok)).toEqual([]);
    const expiries = new Set(trades.map((parsed) => (parsed.ok ? Math.round(parsed.trade.expiry * 365) : 0)));
    expect([...expiries]).toEqual([13, 41, 75, 165, 256, 345, 524, 703]);
  });
});

test("what is neither text nor an object is refused", () => {
  for (const wrong of [undefined, null, 17, []]) expect(() => parseBook(wrong as never)).toThrow(BookError);
});

describe("text that is not JSON is refused with line and column", () => {
  test.each([
    ["", "expected JSON, got nothing"],
    ["  \n", "expected JSON, got nothing"],
    ['{\n  "asOf": "2026-01-01",\n}', 'not JSON: line 3, column 1: expected a name in double quotes, got "}"'],
    ['{\n  "asOf" "x"\n}', 'not JSON: line 2, column 10: expected \':\' after the name, got "\\""'],
    ['{"asOf": "x",\n "a\\u0073Of": "y"}', 'line 2, column 2: "asOf" is given twice in one object'],
    [
      '{"a": {"b:\\\\\\"": [1, {}]},\n "c": [{"d": 1, "e": {}, "d" : 2}]}',
      'line 2, column 26: "d" is given twice in one object',
    ],
    [
      '{"a": {"b": 1}, "c": [{"b": 1}, {"b": ": \\" \\\\"}]}',
      "a: unknown field; known are $schema, asOf, market, trades, scenarios, method, seed",
    ],
    ["[1 2]", "not JSON: line 1, column 4: expected ',' or ']', got \"2\""],
    ["[1,", "not JSON: line 1, column 4: expected a value, got the end of the text"],
    ['{"a": 1', "not JSON: line 1, column 8: expected ',' or '}', got the end of the text"],
    ['{"a": 1}}', 'not JSON: line 1, column 9: expected the end, got "}"'],
    ['{"a": NaN}', 'not JSON: line 1, column 7: expected a value, got "N"'],
    ['{"a": 01}', "not JSON: line 1, column 8: expected ',' or '}', got \"1\""],
    ['{"a": "x\ny"}', 'not JSON: line 1, column 9: expected the closing \'"\' of a string, got "\\n"'],
    ['{"a": "\\x"}', 'not JSON: line 1, column 8: expected a known escape (\\n, \\u00e9, …), got "\\\\"'],
    ["{'a': 1}", "not JSON: line 1, column 2: expected a name in double quotes or '}', got \"'\""],
    ["// hello\n{}", 'not JSON: line 1, column 1: expected a value, got "/"'],
    ['{"a": "😀", 😀}', 'not JSON: line 1, column 13: expected a name in double quotes, got "😀"'],
  ])("%j", (text, message) => {
    expect(refusal(text)).toBe(message);
  });

  test("nesting a million deep", () => {
    expect(refusal("[".repeat(1_000_000))).toMatch(/not JSON: line 1, column 1000001: expected a value or ']'/);
    expect(refusal(`{"asOf":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toMatch(/^(asOf: expected|not JSON)/);
  });

  test("a byte order mark is let pass", () => {
    expect(refusal(`\ufeff${JSON.stringify(book())}`)).toBe("accepted");
  });
});

describe("a book that cannot be used is refused by path", () => {
  const usable = { asOf, market: market(), trades: [] };
  test.each([
    [[], "expected a book (an object with asOf, market and trades), got an empty list"],
    [null, "expected a book (an object with asOf, market and trades), got null"],
    [{ ...usable, asOf: undefined }, 'asOf: expected an ISO date or instant ("2026-11-20T16:00:00Z"), got nothing'],
    [{ ...usable, asOf: 5 }, 'asOf: expected an ISO date or instant ("2026-11-20T16:00:00Z"), got 5'],
    [{ asOf, trades: [] }, "market: expected an object with rates and underlyings, got nothing"],
    [{ asOf, market: market() }, "trades: expected a list of trades, got nothing"],
    [{ ...usable, trades: {} }, "trades: expected a list of trades, got an object"],
    [{ ...usable, trade: [] }, 'trade: unknown field (did you mean "trades"?)'],
    [{ ...usable, market: { underlyings: {} } }, "market.rates: expected an object of rates by currency, got nothing"],
    [{ ...usable, market: market({ spot: 0 }) }, "market.underlyings.ACME.spot: expected a positive number, got 0"],
    [
      { ...usable, market: market({ volatilty: 1 }) },
      'market.underlyings.ACME.volatilty: unknown field (did you mean "volatility"?)',
    ],
    [
      { ...usable, market: market({ dividends: { discrete: [{ date: 1, cash: -1 }] } }) },
      "market.underlyings.ACME.dividends.discrete[0].cash: expected a number ≥ 0, got -1",
    ],
    [
      {
        ...usable,
        market: {
          ...market(),
          rates: {
            "a b": [
              { date: 1, zero: 0 },
              { date: 1, zero: 0 },
            ],
          },
        },
      },
      'market.rates["a b"][1].date: expected dates that increase',
    ],
    [
      { ...usable, market: { ...market(), correlations: [["ACME", "ACNE", 0]] } },
      'market.correlations[0][1]: unknown underlying "ACNE" (did you mean "ACME"?)',
    ],
    [
      { ...usable, scenarios: { spot: [] } },
      "scenarios.spot: expected a list of relative spot shifts, at least one, got an empty list",
    ],
    [
      { ...usable, scenarios: { spot: [-1] } },
      "scenarios.spot[0]: expected a relative shift above −1 (−0.1 is −10 %), got -1",
    ],
    [{ ...usable, scenarios: { vol: [0] } }, "scenarios.vol: unknown field; known are time, spot, volatility, rate"],
    [
      { ...usable, scenarios: { time: [0, -0.1] } },
      "scenarios.time[1]: expected a date from asOf to 1000 years after, got one 0.1 years before it",
    ],
    [
      { ...usable, scenarios: { time: ["soon"] } },
      'scenarios.time[0]: expected an ISO date or instant ("2027-11-20", "2027-11-20T16:00:00Z"), a tenor ("1Y", "6M", "2W", "10D"), or years from asOf up to 1000, got "soon"',
    ],
  ])("%#", (value, message) => {
    expect(() => readBook(value)).toThrow(message);
  });
});
