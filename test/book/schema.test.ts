import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { bookJsonSchema, type BookInput, parseBook, type TradeInput } from "../../src/book/index.ts";
import type { bookSchema, StrikeTradeInput } from "../../src/book/schema/index.ts";
import type { Input } from "../../src/book/schema/values.ts";
import { asOf, book, trade } from "./books.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));
const EXAMPLES = ["dax", "double-barrier", "local-volatility", "american-dividends", "convertible"].map(
  (name) => `examples/${name}/book.json`,
);
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(bookJsonSchema());

const RICH: BookInput = {
  $schema: "./book.schema.json",
  asOf,
  market: {
    rates: { EUR: [{ date: "2027-11-20", zero: 0.03 }], USD: 0.04 },
    underlyings: {
      ACME: {
        spot: 100,
        currency: "EUR",
        dividends: { yield: 0.01, discrete: [{ date: 0.5, cash: 1 }] },
        volatility: { termStructure: [{ date: 1, volatility: 0.2 }] },
      },
    },
    correlations: [["ACME", "ACME", 1]],
  },
  trades: [
    { id: "A", underlying: "ACME", payoff: "put", strike: 100, expiry: "2027-11-20", exercise: "american" },
    { id: "B", underlying: "ACME", payoff: { digital: "call", cash: 10 }, strike: 90, expiry: 1, exercise: [0.5, 1] },
    {
      id: "C",
      underlying: "ACME",
      payoff: { expression: "max(S - 100, 0)", kinks: [100] },
      expiry: 1,
      barriers: [{ type: "up-and-out", level: 150, monitoring: [0.5], rebateAt: "hit" }],
      volatility: { surface: { times: [0], spots: [90], volatility: [[0.2]] } },
    },
    { id: "D", underlying: "ACME", payoff: "call", strike: 100, expiry: 1, volatility: { local: "0.2" }, quantity: -1 },
  ],
  scenarios: { time: [0, "2027-01-01"], spot: [-0.1], volatility: [0.01], rate: [0] },
};

describe("a book as a plain object", () => {
  test("is the book that its text is", () => {
    expect(parseBook(RICH)).toEqual(parseBook(JSON.stringify(RICH)));
    expect(parseBook(RICH).trades.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("has errors that name the place in it", () => {
    const second = { ...RICH.trades[1], strike: Number.NaN } as TradeInput;
    const wrong = { ...RICH, trades: [RICH.trades[0], second] };
    const [, given] = parseBook(wrong).trades;
    expect(given.ok ? "" : given.error.message).toBe("trades[1].strike: expected a positive number, got NaN");
    // @ts-expect-error -- no rates
    expect(() => parseBook({ asOf, market: { underlyings: {} }, trades: [] })).toThrow(/^market.rates: expected/);
  });

  test("has a type that knows every field", () => {
    // @ts-expect-error -- a payoff that there is not
    const payoff: StrikeTradeInput["payoff"] = "straddle";
    // @ts-expect-error -- a number is meant
    const strike: StrikeTradeInput["strike"] = "100";
    // @ts-expect-error -- a field that there is not
    const volatility: StrikeTradeInput["volatility"] = { cev: { sigma: 0.2, betta: 1 } };
    expect([payoff, strike, volatility]).toHaveLength(3);
  });

  test("has a type whose fields and forms are those of the schema", () => {
    type Written = Input<typeof bookSchema>;
    type Keys<T> = T extends unknown ? keyof T : never;
    type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
    type Trades<B extends { readonly trades: readonly unknown[] }> = B["trades"][number];
    const written: Written = RICH;
    const same: Same<Keys<Trades<Written>>, Keys<Trades<BookInput>>> = true;
    const all: Same<keyof Written, keyof BookInput> = true;
    const market: Same<Written["market"], BookInput["market"]> = true;
    const scenarios: Same<Written["scenarios"], BookInput["scenarios"]> = true;
    type Options<B extends { readonly trades: readonly unknown[] }> = Exclude<
      Trades<B>,
      | { readonly currency: string }
      | { readonly cap: unknown }
      | { readonly floor: unknown }
      | { readonly swaption: unknown }
      | { readonly convertible: unknown }
      | { readonly script: unknown }
      | { readonly forward: unknown }
      | { readonly swap: unknown }
      | { readonly fra: unknown }
      | { readonly note: unknown }
      | { readonly fxForward: unknown }
      | { readonly cds: unknown }
    >;
    type Terms = "exercise" | "barriers" | "expiry";
    const terms: Same<Pick<Options<Written>, Terms>, Pick<Options<BookInput>, Terms>> = true;
    const payoff: Same<Options<Written>["payoff"], Options<BookInput>["payoff"]> = true;
    expect([same, all, market, scenarios, terms, payoff]).toEqual(Array(6).fill(true));
    expect(written).toBe(RICH);
  });
});

describe("the JSON Schema", () => {
  test("is the one in the package", () => {
    expect(read("schema/book.schema.json")).toEqual(JSON.parse(JSON.stringify(bookJsonSchema())));
  });

  test.each(EXAMPLES)("accepts %s", (path) => {
    validate(read(path));
    expect(validate.errors ?? []).toEqual([]);
  });

  test("accepts what the parser accepts", () => {
    validate(JSON.parse(JSON.stringify(RICH)));
    expect(validate.errors ?? []).toEqual([]);
  });

  test.each([
    ["a strike of 0", book(trade({ strike: 0 }))],
    ["an unknown field", book(trade({ stirke: 1 }))],
    ["an unknown word", book(trade({ exercise: "asian" }))],
    ["an unknown form", book(trade({ volatility: { flat: 0.2 } }))],
    ["a field of a form", book(trade({ volatility: { cev: { sigma: 0.2 } } }))],
    ["an empty formula", book(trade({ volatility: { local: " " } }))],
    ["no date", book(trade({ expiry: "soon" }))],
    ["too many years", book(trade({ expiry: 1001 }))],
    ["no dates", book(trade({ exercise: [] }))],
    ["no id", book(trade({ id: undefined }))],
    ["an unknown barrier", book(trade({ barriers: [{ type: "in", level: 1 }] }))],
    ["a shift of −1", { ...book(), scenarios: { spot: [-1] } }],
    ["no market", { asOf, trades: [] }],
  ])("and the parser refuse %s", (_name, wrong) => {
    expect(validate(wrong)).toBe(false);
    const refused = (): boolean => parseBook(JSON.stringify(wrong)).trades.every(({ ok }) => ok);
    let accepted: boolean;
    try {
      accepted = refused();
    } catch {
      accepted = false;
    }
    expect(accepted).toBe(false);
  });
});
