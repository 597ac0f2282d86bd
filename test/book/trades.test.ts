import { describe, expect, test } from "vitest";
import type { Trade } from "../../src/book/index.ts";
import { readBook } from "../../src/book/index.ts";
import { asOf, book, market, trade } from "./books.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

/** The only trade of a book, read. */
function read(changes: Record<string, unknown>, underlying: Record<string, unknown> = {}): Trade {
  const [parsed] = readBook({ asOf, market: market(underlying), trades: [trade(changes)] }).trades;
  return onUnderlyings(parsed);
}

/** The message of the only trade's error. */
function refusal(changes: Record<string, unknown>, underlying: Record<string, unknown> = {}): string {
  const [parsed] = readBook({ asOf, market: market(underlying), trades: [trade(changes)] }).trades;
  return parsed.ok ? "accepted" : parsed.error.message;
}

describe("a trade", () => {
  test("gets its defaults", () => {
    const { underlying, ...rest } = read({});
    expect(rest).toEqual({
      id: "T1",
      payoff: { kind: "vanilla", right: "put", strike: 100 },
      expiry: 1,
      exercise: { kind: "european" },
      quantity: 1,
      barriers: [],
      volatility: { kind: "deterministic", sigma: { times: [], values: [0.25] } },
    });
    expect(underlying.name).toBe("ACME");
    expect(underlying.dividends).toEqual({ yield: 0, discrete: [] });
  });

  test("shares its underlying with the others", () => {
    const { trades } = readBook(book(trade(), trade({ id: "T2" })));
    const [first, second] = trades.map((parsed) => onUnderlyings(parsed).underlying);
    expect(first).toBeDefined();
    expect(second).toBe(first);
  });

  test.each([
    [{ payoff: "call" }, { kind: "vanilla", right: "call", strike: 100 }],
    [{ payoff: { digital: "put" } }, { kind: "digital", right: "put", strike: 100, cash: 1 }],
    [{ payoff: { digital: "call", cash: 10 } }, { kind: "digital", right: "call", strike: 100, cash: 10 }],
    [
      { payoff: { expression: "abs(S - 90)", kinks: [90, 80, 90] }, strike: undefined },
      { kind: "expression", expression: "abs(S - 90)", kinks: [80, 90], place: "trades[0].payoff.expression" },
    ],
    [
      { payoff: { expression: "S" }, strike: 100 },
      { kind: "expression", expression: "S", kinks: [100], place: "trades[0].payoff.expression" },
    ],
  ])("payoff %j", (changes, payoff) => {
    expect(read(changes).payoff).toEqual(payoff);
  });

  test.each([
    ["2027-11-20", 1],
    ["2027-11-20T16:00:00Z", 1],
    ["2027-11-20T17:00:00+01:00", 1],
    ["2026-11-21T04:00:00Z", 0.5 / 365],
    ["2026-11-20", 0],
    [0, 0],
    // Less than a second is no time.
    [1e-9, 0],
  ])("expiry %s is %f years away", (expiry, years) => {
    expect(read({ expiry }).expiry).toBe(years);
  });

  test("a plain date is whole days away in asOf's own time zone", () => {
    const parsed = readBook({
      asOf: "2026-11-20T23:30:00-05:00",
      market: market(),
      trades: [trade({ expiry: "2026-11-21" })],
    });
    expect(parsed.asOf).toBe("2026-11-21T04:30:00.000Z");
    expect(parsed.trades[0].ok && parsed.trades[0].trade.expiry).toBe(1 / 365);
  });

  test("its own volatility goes before the underlying's", () => {
    expect(read({ volatility: 0 }).volatility).toEqual({ kind: "deterministic", sigma: { times: [], values: [0] } });
    expect(read({ volatility: { cev: { sigma: 2, beta: 0.5 } } }).volatility).toEqual({
      kind: "cev",
      sigma: 2,
      beta: 0.5,
    });
    expect(read({ volatility: 0.3 }, { volatility: undefined }).volatility.kind).toBe("deterministic");
  });

  test("a displaced diffusion, and a surface with dates or years", () => {
    expect(read({ volatility: { displaced: { sigma: 0.2, shift: 30 } } }).volatility).toEqual({
      kind: "displaced",
      sigma: 0.2,
      shift: 30,
    });
    const surface = {
      times: [0, "2027-11-20"],
      spots: [90, 100, 120],
      volatility: [
        [0.4, 0.3, 0.2],
        [0.3, 0.2, 0.2],
      ],
    };
    expect(read({ volatility: { surface } }).volatility).toMatchObject({
      kind: "surface",
      surface: { times: [0, 1], spots: [90, 100, 120], volatility: surface.volatility },
    });
  });

  test("trades share their underlying's surface", () => {
    const surface = { times: [1], spots: [100], volatility: [[0.2]] };
    const { trades } = readBook({
      asOf: "2026-11-20T16:00:00Z",
      market: market({ volatility: { surface } }),
      trades: [trade({}), trade({ id: "T2" })],
    });
    const [one, other] = trades.map((parsed) => onUnderlyings(parsed).volatility);
    expect(one).toBe(other);
  });
});

/** A surface with a fault. */
function surface(changes: object): { readonly volatility: object } {
  const volatility = [
    [0.3, 0.2, 0.2],
    [0.3, 0.2, 0.2],
  ];
  return { volatility: { surface: { times: [0.5, 1], spots: [90, 100, 110], volatility, ...changes } } };
}

describe("a trade that cannot be used says where and why", () => {
  test.each([
    [{ strike: -5 }, "trades[0].strike: expected a positive number, got -5"],
    [{ strike: "100" }, 'trades[0].strike: expected a positive number, got "100"'],
    [{ strike: undefined }, "trades[0].strike: expected a positive number, got nothing"],
    [{ strike: 0 }, "trades[0].strike: expected a positive number, got 0"],
    [{ strike: Number.POSITIVE_INFINITY }, "trades[0].strike: expected a positive number, got Infinity"],
    [{ id: undefined }, "trades[0].id: expected a name (a string that is not empty), got nothing"],
    [{ id: 7 }, "trades[0].id: expected a name (a string that is not empty), got 7"],
    [
      { underlying: undefined, underlyings: ["ACME", "BETA"] },
      'trades[0].payoff: expected { "basket" }, { "bestOf" }, { "worstOf" }, { "spread" } or { "expression" }, got "put"',
    ],
    [{ stirke: 3 }, 'trades[0].stirke: unknown field (did you mean "strike"?)'],
    [{ underlying: "ACNE" }, 'trades[0].underlying: unknown underlying "ACNE" (did you mean "ACME"?)'],
    [{ payoff: "putt" }, 'trades[0].payoff: expected "call" or "put", got "putt" (did you mean "put"?)'],
    [
      { payoff: { digitl: "put" } },
      'trades[0].payoff: expected "call", "put", { "digital" }, { "touch" }, { "noTouch" } or { "expression" }, got an object with "digitl" (did you mean "digital"?)',
    ],
    [
      { payoff: { bestOf: "call" } },
      'trades[0].payoff: expected "call", "put", { "digital" }, { "touch" }, { "noTouch" } or { "expression" }, got an object with "bestOf"; ' +
        'give the trade "underlyings": ["A", "B"] instead of "underlying"',
    ],
    [{ payoff: { digital: "call", cush: 1 } }, 'trades[0].payoff.cush: unknown field (did you mean "cash"?)'],
    [
      { payoff: { expression: "S", kinks: [1, -1] }, strike: undefined },
      "trades[0].payoff.kinks[1]: expected a positive number, got -1",
    ],
    [
      { exercise: "americn" },
      'trades[0].exercise: expected "european", "american" or a list of dates, got "americn" (did you mean "american"?)',
    ],
    [{ payoff: "C" }, 'trades[0].payoff: expected "call" or "put", got "C" (did you mean "call"?)'],
    [{ payoff: "p" }, 'trades[0].payoff: expected "call" or "put", got "p" (did you mean "put"?)'],
    [
      { payoff: "digital" },
      'trades[0].payoff: expected "call" or "put", got "digital"; write { "digital": "call", "cash": 10 }',
    ],
    [
      { payoff: "Asian" },
      'trades[0].payoff: expected "call" or "put", got "Asian"; write "call" or "put", and "average" beside it',
    ],
    [
      { exercise: "Bermudan" },
      'trades[0].exercise: expected "european", "american" or a list of dates, got "Bermudan"; ' +
        'write its dates, ["2027-03-20", "2027-09-20"] or ["3M", "6M"]',
    ],
    [
      { exercise: "A" },
      'trades[0].exercise: expected "european", "american" or a list of dates, got "A" (did you mean "american"?)',
    ],
    [{ quantity: null }, "trades[0].quantity: expected a finite number, got null"],
    [{ expiry: "2026-11-19" }, "trades[0].expiry: the trade expired before asOf (0.00273973 years ago)"],
    [
      { payoff: { expression: "max(S-100" }, strike: undefined },
      /^trades\[0\]\.payoff\.expression: column 10: .*\n.*max\(S-100\n.* \^\n.*remedy: /,
    ],
    [{ payoff: { expression: "S*t" }, strike: undefined }, /^trades\[0\]\.payoff\.expression: column 3: t is /],
    [{ volatility: { local: "foo(S)" } }, /^trades\[0\]\.volatility\.local: column 1: foo is an unknown function/],
    [{ expiry: -1 }, "trades[0].expiry: the trade expired before asOf (1 year ago)"],
    [{ volatility: -0.1 }, "trades[0].volatility: expected a volatility from 0 to 100 (0.2 is 20 %), got -0.1"],
    [
      { volatility: { termStructure: [] } },
      'trades[0].volatility.termStructure: expected a list of { "date", "volatility" }, at least one, got an empty list',
    ],
  ])("%j", (changes, message) => {
    if (typeof message === "string") expect(refusal(changes)).toBe(message);
    else expect(refusal(changes)).toMatch(message);
  });

  test.each(["2027-02-30", "2027-13-01", "20271120", "tomorrow", "2027-11-20T25:00Z", 1e9, null, true])(
    "expiry %s",
    (expiry) => {
      expect(refusal({ expiry })).toMatch(/^trades\[0\]\.expiry: expected (an ISO date or instant|at most 1000 years)/);
    },
  );

  test("several problems are all said, the first one's path is the error's", () => {
    const [parsed] = readBook(book(trade({ strike: -5, quantity: "x" }))).trades;
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    expect(parsed.error.path).toBe("trades[0].strike");
    expect(parsed.error.message).toContain('; trades[0].quantity: expected a finite number, got "x"');
  });

  test("total variance that falls", () => {
    const termStructure = [
      { date: 1, volatility: 0.3 },
      { date: 2, volatility: 0.2 },
    ];
    expect(refusal({ volatility: { termStructure } })).toBe(
      "trades[0].volatility.termStructure[1].volatility: expected total variance (volatility²·time) that does not fall, got 0.2 after 0.3",
    );
  });

  test("an id used twice", () => {
    const { trades } = readBook(book(trade(), trade()));
    expect(trades.map(({ ok }) => ok)).toEqual([true, false]);
    expect(trades[1].ok ? "" : trades[1].error.message).toBe('trades[1].id: expected an id of its own, got "T1" again');
  });

  test("no rates for the currency, no volatility", () => {
    expect(refusal({}, { currency: "EUD" })).toBe(
      'trades[0].underlying: "ACME" is in "EUD", which market.rates does not have (did you mean "EUR"?)',
    );
    expect(refusal({}, { volatility: undefined })).toMatch(/^trades\[0\]\.underlying: "ACME" has no volatility/);
  });

  test("names that mean something to JavaScript mean nothing here", () => {
    const evil = JSON.parse('{"id":"x","underlying":"__proto__","payoff":"put","strike":1,"expiry":1}') as object;
    const polluted = JSON.parse(
      '{"id":"y","underlying":"ACME","payoff":"put","strike":1,"expiry":1,"__proto__":{"a":1}}',
    ) as object;
    const { trades } = readBook(book(evil, polluted, trade({ underlying: "constructor" })));
    expect(trades.map((parsed) => (parsed.ok ? "accepted" : parsed.error.path))).toEqual([
      "trades[0].underlying",
      "trades[1].__proto__",
      "trades[2].underlying",
    ]);
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

const barrier = { type: "up-and-out", level: 140, rebate: 1, monitoring: [0.4, 0.25], from: 0, to: "2027-05-20" };

describe("exercise dates and barriers", () => {
  test("dates become years, in order", () => {
    expect(read({ exercise: [0.75, "2027-11-20", 0.5] }).exercise).toEqual({ kind: "bermudan", times: [0.5, 0.75, 1] });
  });

  test("a barrier gets its defaults", () => {
    const { type, level } = barrier;
    expect(read({ barriers: [{ type, level }, barrier] }).barriers).toEqual([
      { type, level, rebate: 0, rebateAt: "hit", monitoring: { kind: "continuous" }, from: 0, to: 1 },
      {
        type,
        level,
        rebate: 1,
        rebateAt: "hit",
        from: 0,
        monitoring: { kind: "discrete", times: [0.25, 0.4] },
        to: expect.closeTo(181 / 365, 2),
      },
    ]);
    expect(read({ barriers: [{ type: "up-and-in", level }] }).barriers[0].rebateAt).toBe("expiry");
  });
});

describe("terms that cannot be, or come later, are refused by name", () => {
  test.each([
    [{ barriers: [{ ...barrier, type: "up-and-outt" }] }, /barriers\[0\]\.type: expected .*did you mean "up-and-out"/],
    [{ barriers: [{ ...barrier, level: 0 }] }, /barriers\[0\]\.level: expected a positive number/],
    [{ barriers: [{ ...barrier, to: 2 }] }, "trades[0].barriers[0].to: expected a date from asOf to expiry"],
    [
      { barriers: [{ ...barrier, monitoring: [0.9] }] },
      "trades[0].barriers[0].monitoring[0]: expected a date inside the barrier's window",
    ],
    [
      { barriers: [{ ...barrier, from: 0.4, to: 0.3, monitoring: "continuous" }] },
      /barriers\[0\]\.from: expected a window/,
    ],
    [
      { barriers: [{ ...barrier, type: "up-and-in", rebateAt: "hit" }] },
      'trades[0].barriers[0].rebateAt: expected "expiry" for a knock-in, got "hit"',
    ],
    [{ exercise: [0.5, 1.5] }, "trades[0].exercise[1]: expected a date from asOf to expiry"],
    [{ exercise: [] }, "trades[0].exercise: expected a list of dates, at least one, got an empty list"],
    [
      { volatility: { quotes: { expiries: [1], strikes: [90, 100], implied: [[0.2, 0.3]] } } },
      /^trades\[0\]\.volatility\.quotes: implied quotes are checked and not priced; give \{ "termStructure" \} .*"surface"/,
    ],
    [
      { volatility: { quotes: { expiries: [1], strikes: [90, 100], implied: [[0.2]] } } },
      "trades[0].volatility.quotes.implied[0]: expected 2 volatilities, one a strike, got 1",
    ],
    [
      { volatility: { displaced: { sigma: -0.2, shift: 30 } } },
      "trades[0].volatility.displaced.sigma: expected a number ≥ 0, got -0.2",
    ],
    [
      { volatility: { displaced: { sigma: 0.2, shift: -30 } } },
      "trades[0].volatility.displaced.shift: expected a number ≥ 0, got -30",
    ],
    [
      { volatility: { displaced: { sigma: 0.2, shfit: 30 } } },
      /displaced\.shfit: unknown field \(did you mean "shift"\?\)/,
    ],
    [surface({ times: [0.5, 0.5] }), "trades[0].volatility.surface.times[1]: expected times that increase"],
    [
      surface({ times: ["2026-11-19", 1] }),
      "trades[0].volatility.surface.times[0]: expected a time that is not before asOf",
    ],
    [surface({ times: [] }), /surface\.times: expected a list of dates or years, at least one, got an empty list/],
    [
      surface({ spots: [90, 90, 110] }),
      "trades[0].volatility.surface.spots[1]: expected increasing spots, got 90 after 90",
    ],
    [surface({ spots: [0, 90, 110] }), "trades[0].volatility.surface.spots[0]: expected a positive number, got 0"],
    [surface({ times: [1] }), "trades[0].volatility.surface.volatility: expected 1 rows, one a time, got 2"],
    [
      surface({ spots: [90, 110] }),
      "trades[0].volatility.surface.volatility[0]: expected 2 volatilities, one a spot, got 3",
    ],
    [
      surface({
        volatility: [
          [0.2, 0.2, 0.2],
          [0.2, 0, 0.2],
        ],
      }),
      "trades[0].volatility.surface.volatility[1][1]: expected a volatility above 0, up to 100 (0.2 is 20 %), got 0",
    ],
  ])("%j", (changes, message) => {
    if (typeof message === "string") expect(refusal(changes)).toBe(message);
    else expect(refusal(changes)).toMatch(message);
  });

  test("an underlying with quotes refuses the trades that need them, and only those", () => {
    const quotes = { quotes: { expiries: [1], strikes: [90, 100], implied: [[0.2, 0.3]] } };
    expect(refusal({}, { volatility: quotes })).toMatch(
      /^trades\[0\]\.underlying: "ACME" has quotes for its volatility: .* give \{ "termStructure" \}/,
    );
    expect(refusal({ volatility: 0.2 }, { volatility: quotes })).toBe("accepted");
  });
});

test("a strike is positive unless the index that it is compared with may be negative", () => {
  const underlyings = ["A", "B"];
  const entry = { spot: 100, currency: "EUR", volatility: 0.2 };
  const two = { rates: { EUR: 0.02 }, underlyings: { A: entry, B: entry } };
  const said = (payoff: object, strike: number): string => {
    const terms = { id: "T", underlyings, payoff, strike, expiry: 1 };
    const [parsed] = readBook({ asOf, market: two, trades: [terms] }).trades;
    return parsed.ok ? "accepted" : parsed.error.message;
  };
  for (const payoff of [{ bestOf: "call" }, { worstOf: "put" }]) {
    expect(said(payoff, 1)).toBe("accepted");
    for (const strike of [0, -1])
      expect(said(payoff, strike)).toBe(`trades[0].strike: expected a positive number, got ${strike}`);
  }
  for (const strike of [1, 0, -1]) expect(said({ basket: "call", weights: [1, -1] }, strike)).toBe("accepted");
});
