/** Structured products in books: values beside options and references, their past, their errors, and worked notes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { priceBook, type PricingOptions, readBook } from "../../src/index.ts";
import type { PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { everything } from "../support/extent.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const MARKET = {
  rates: { EUR: 0.03 },
  underlyings: {
    ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.2 },
    BETA: { spot: 50, currency: "EUR", volatility: 0.3 },
  },
  correlations: [["ACME", "BETA", 0.5]],
};

const SENSITIVITIES = { sensitivityErrorEstimates: true } as const;
const VALUES = { greeks: "none" } as const;

async function pricesOf(
  trades: readonly object[],
  more: object = {},
  market: object = {},
  options: PricingOptions = SENSITIVITIES,
) {
  const book = readBook({ asOf: "2026-11-20", market: { ...MARKET, ...market }, trades, ...more });
  const { results } = await priceBook(book, { device, ...options });
  return results;
}

/** The results of trades that have none in error. */
async function pricedOf(...given: Parameters<typeof pricesOf>): Promise<readonly PricedTrade[]> {
  return (await pricesOf(...given)).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const CALL = {
  underlying: "ACME",
  script: { events: [{ on: "maturity", do: "pay(max(S - strike, 0))" }] },
  data: { maturity: 1, strike: 100 },
};

/** Options that have a note valued on paths, where the cheaper method were finite differences. */
const ON_PATHS = { method: "montecarlo", sensitivityErrorEstimates: true } as const;

test("a call as a script has the value and the Greeks of the option", { timeout: 60_000 }, async () => {
  const option = { id: "2", underlying: "ACME", payoff: "call", strike: 100, expiry: 1 };
  const [other] = await pricedOf([option]);
  const [own] = await pricedOf([{ id: "1", ...CALL }], {}, {}, ON_PATHS);
  expect(own.method).toBe("montecarlo");
  expect(Math.abs(own.value - other.value)).toBeLessThanOrEqual(own.errorEstimate);
  for (const name of ["delta", "gamma", "vega", "rho", "theta"] as const) {
    const error = own.sensitivityErrorEstimates![name]!;
    expect(error).toBeGreaterThan(0);
    expect(Math.abs(own[name]! - other[name]!)).toBeLessThanOrEqual(error);
  }
});

/** The case SCR-AUT-O-01 of an independent set of values: 98.013555, by a backward recursion to 1e-5. */
const NOTE = {
  script: "autocallable",
  underlying: "ACME",
  initial: 100,
  data: {
    notional: 100,
    observations: [1, 2, 3],
    barriers: [1, 1, 1],
    premiums: [0.07, 0.14, 0.21],
    knockInDates: 3,
    knockIn: 0.6,
    putStrike: 1,
    maturity: 3,
  },
};

test("an autocallable has its published value, alone and among others of its shape", { timeout: 60_000 }, async () => {
  const other = { ...NOTE, data: { ...NOTE.data, knockIn: 0.7 } };
  const [note, , again] = await pricedOf([
    { id: "1", ...NOTE },
    { id: "2", ...other },
    { id: "3", ...NOTE },
  ]);
  expect(Math.abs(note.value - 98.01355464959873)).toBeLessThanOrEqual(note.errorEstimate);
  expect(Math.abs(note.delta! - 0.34016624926848)).toBeLessThanOrEqual(note.sensitivityErrorEstimates!.delta!);
  expect(Math.abs(note.vega! + 56.99748573731943)).toBeLessThanOrEqual(note.sensitivityErrorEstimates!.vega!);
  const [alone] = await pricedOf([{ id: "3", ...NOTE }]);
  expect(again.value).toBe(alone.value);
  expect(again.value).toBe(note.value);
});

test("scenarios and models move the value as they move the market", { timeout: 120_000 }, async () => {
  const scenarios = { spot: [0, 0.1], rate: [0, 0.01] };
  const [{ scenarios: values }] = await pricedOf([{ id: "1", ...CALL }], { scenarios }, {}, VALUES);
  const [{ scenarios: wanted }] = await pricedOf(
    [{ id: "1", underlying: "ACME", payoff: "call", strike: 100, expiry: 1 }],
    { scenarios },
    {},
    VALUES,
  );
  const flat = (of: unknown): readonly number[] => [of].flat(9) as number[];
  expect(flat(values)).toHaveLength(4);
  flat(values).forEach((value, k) => expect(Math.abs(value - flat(wanted)[k])).toBeLessThan(0.11));
  const heston = { heston: { v0: 0.05, kappa: 2, theta: 0.04, sigma: 0.4, rho: -0.6 } };
  for (const volatility of [heston, { local: "0.2 + 0.05*exp(-S/100)" }]) {
    const underlyings = { ACME: { ...MARKET.underlyings.ACME, volatility } };
    const option = { id: "2", underlying: "ACME", payoff: "call", strike: 100, expiry: 1 };
    const market = { underlyings, correlations: [] };
    const [own, other] = await pricedOf([{ id: "1", ...CALL }, option], {}, market, VALUES);
    expect(Math.abs(own.value - other.value)).toBeLessThanOrEqual(own.errorEstimate + other.errorEstimate);
  }
});

describe("early rights", () => {
  const berm = (text: string, dates: readonly number[] = [0.25, 0.5, 0.75, 1]) => ({
    underlying: "ACME",
    script: { events: [{ on: "dates", do: text }] },
    data: { dates, strike: 105 },
  });

  test("a Bermudan put as a script is the option", { timeout: 120_000 }, async () => {
    const option = { id: "2", underlying: "ACME", payoff: "put", strike: 105, exercise: [0.25, 0.5, 0.75], expiry: 1 };
    const [other] = await pricedOf([option]);
    const [own] = await pricedOf([{ id: "1", ...berm("exercise(strike - S)") }], {}, {}, ON_PATHS);
    expect(Math.abs(own.value - other.value)).toBeLessThanOrEqual(own.errorEstimate + other.errorEstimate);
    // A rule that does not move with the spot tells no second derivative.
    expect(own.gamma).toBeNull();
    for (const name of ["delta", "vega", "rho", "theta"] as const) {
      const error = own.sensitivityErrorEstimates![name]! + other.sensitivityErrorEstimates![name]!;
      expect(Math.abs(own[name]! - other[name]!)).toBeLessThanOrEqual(error);
    }
  });

  test("the issuer's right takes what the holder's gives", { timeout: 120_000 }, async () => {
    const pay = "pay(max(strike - S, 0))";
    const [held, sold, european] = await pricedOf([
      { id: "1", ...berm("exercise(max(strike - S, 0))") },
      { id: "2", ...berm("call(-max(strike - S, 0))") },
      { id: "3", ...berm(pay, [1]) },
    ]);
    expect(Math.abs(sold.value + held.value)).toBeLessThanOrEqual(sold.errorEstimate);
    expect(Math.abs(sold.delta! + held.delta!)).toBeLessThanOrEqual(sold.sensitivityErrorEstimates!.delta!);
    expect(held.value).toBeGreaterThan(european.value + held.errorEstimate);
  });

  /** The case SCR-BAX-O-01 of an independent set of values: a recursion in ln S and ln of the sum, to 1e-5. */
  test("an average that may be exercised has its published value", { timeout: 120_000 }, async () => {
    const market = {
      rates: { EUR: 0.05 },
      underlyings: { ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.03 }, volatility: 0.3 } },
      correlations: [],
    };
    const script = {
      state: { sum: 0, count: 0 },
      events: [{ on: "dates", do: "sum += S; count += 1; exercise(max(sum / count - 100, 0))" }],
    };
    const trade = { id: "1", underlying: "ACME", script, data: { dates: [0.25, 0.5, 0.75, 1] } };
    const [{ value, errorEstimate, delta, vega, sensitivityErrorEstimates: errors }] = await pricedOf(
      [trade],
      {},
      market,
    );
    expect(Math.abs(value - 8.847450521425884)).toBeLessThanOrEqual(errorEstimate);
    expect(Math.abs(delta! - 0.5770972520972641)).toBeLessThanOrEqual(errors!.delta!);
    expect(Math.abs(vega! - 27.646713779708953)).toBeLessThanOrEqual(errors!.vega!);
  });

  test("one of today counts beside going on, with its sensitivities", { timeout: 60_000 }, async () => {
    const [over, known] = await pricedOf([
      { id: "1", ...berm("exercise(1.5 * strike - S)", [0, 0.5, 1]) },
      { id: "2", ...berm("exercise(strike - S)", [0]) },
    ]);
    expect([over.value, known.value]).toEqual([57.5, 5]);
    expect(over.delta).toBeCloseTo(-1, 9);
    expect(over.vega).toBeCloseTo(0, 9);
    expect(over.theta).toBeCloseTo(0, 9);
  });

  test("a right of a date on which the trade stops is used there or never", { timeout: 60_000 }, async () => {
    const trades = [
      { id: "1", ...berm("pay(1); exercise(strike - S); stop()", [1]) },
      { id: "2", ...berm("pay(1 + max(strike - S, 0))", [1]) },
    ];
    const [own, other] = await pricedOf(trades, {}, {}, VALUES);
    expect(Math.abs(own.value - other.value)).toBeLessThanOrEqual(own.errorEstimate + other.errorEstimate);
    expect(own.value).toBeGreaterThan(8);
  });
});

describe("the past", () => {
  const observed = ["2026-05-20", "2027-05-20", "2028-05-20"];
  const seasoned = {
    ...NOTE,
    data: { ...NOTE.data, observations: observed, knockInDates: observed, maturity: "2028-05-20" },
  };
  const fixings = (ACME: object) => ({ fixings: { ACME } });

  test("a missing fixing is named", async () => {
    const [result] = await pricesOf([{ id: "1", ...seasoned }], {}, fixings({ "2026-05-19": 90 }));
    expect(result.status === "error" && result.error.message).toContain('market.fixings.ACME["2026-05-20"]');
  });

  test("what it has decided stays", { timeout: 60_000 }, async () => {
    // Below the knock-in level on the first date, the note is one without knock-in dates that pays min(worst, 1).
    const left = { ...NOTE.data, observations: observed.slice(1), barriers: [1, 1], premiums: [0.14, 0.21] };
    const knockedIn = { ...left, knockInDates: "2028-05-20", knockIn: 1e9, maturity: "2028-05-20" };
    const [past] = await pricedOf([{ id: "1", ...seasoned }], {}, fixings({ "2026-05-20": 55 }), VALUES);
    const [same] = await pricedOf([{ id: "1", ...NOTE, data: knockedIn }], {}, {}, VALUES);
    expect(Math.abs(past.value - same.value)).toBeLessThanOrEqual(past.errorEstimate + same.errorEstimate);
    const [called] = await pricedOf([{ id: "1", ...seasoned }], {}, fixings({ "2026-05-20": 101 }), VALUES);
    expect([called.value, called.errorEstimate]).toEqual([0, 0]);
  });

  test("a payment that was decided is discounted until it is made", async () => {
    const script = { events: [{ on: "fixing", do: "pay(S - strike, { on: payment }); pay(7)" }] };
    const data = { fixing: "2026-11-02", payment: 0.5, strike: 90 };
    const trade = { id: "1", underlying: "ACME", script, data };
    const [{ value, rho }] = await pricedOf([trade], {}, fixings({ "2026-11-02": 104 }));
    expect(value).toBeCloseTo(14 * Math.exp(-0.03 * 0.5), 10);
    expect(rho).toBeCloseTo(-0.5 * value, 4);
  });

  test("today is decided by the spot, or by its fixing where there is one", async () => {
    const trade = { id: "1", ...CALL, data: { maturity: "2026-11-20", strike: 90 } };
    const [bySpot] = await pricedOf([trade]);
    expect(bySpot.value).toBe(10);
    const [byFixing] = await pricedOf([trade], {}, fixings({ "2026-11-20": 97 }));
    expect(byFixing.value).toBe(7);
  });
});

describe("mistakes are told with their place", () => {
  const script = { state: { x: 0 }, events: [{ on: "dates", do: "x += amounts; pay(x)" }] };
  const data = { dates: [1, 2], amounts: [1, 2] };
  const withText = (text: string) => ({ ...CALL, script: { events: [{ on: "maturity", do: text }] } });
  test.each([
    [{ ...CALL, script: "autocalable" }, "trades[0].script: unknown script", 'did you mean "autocallable"?'],
    [withText("pay(max(S - strik, 0))"), "event 1, line 1, column 13", "strik is unknown"],
    [withText("exercise(strike); call(S)"), "event 1: exercise(…) and call(…)", "an event of its own"],
    [
      {
        ...CALL,
        script: {
          events: [
            { on: "maturity", do: "exercise(strike)" },
            { on: 1, do: "call(S)" },
          ],
        },
      },
      "trades[0].script",
      "events 1 and 2 are on one date",
    ],
    [withText('pay(strike, { currency: "USD" })'), "no currency pair USDEUR or EURUSD", 'add "USDEUR"'],
    [{ ...CALL, data: { maturity: 1, strike: 100, strikes: 1 } }, "trades[0].data.strikes", "does not use it"],
    [{ ...CALL, data: { strike: 100 } }, "trades[0].data", 'events on "maturity"'],
    [withText("pay(S / S0 + 0 * strike)"), "trades[0].initial", '"start"'],
    [{ ...CALL, initial: 100 }, "trades[0].initial", "does not use S0"],
    [{ ...CALL, data: { maturity: -1, strike: 100 } }, "its last date was 1 year before asOf", ""],
    [{ ...CALL, script, data: { ...data, amounts: [1] } }, "trades[0].data.amounts", "expected 2 numbers"],
    [{ ...CALL, script, data: { ...data, dates: [2, 1] } }, "trades[0].data.dates", "dates that increase"],
    [{ ...CALL, script: { events: [] } }, "trades[0].script.events", "at least one"],
    [
      { ...withText("pay(strike, { on: early })"), data: { ...CALL.data, early: 0.5 } },
      "trades[0].data.early",
      "from that of the event on",
    ],
  ])("%#", async (trade, first, second) => {
    const [result] = await pricesOf([{ id: "1", ...trade }]);
    if (result.status !== "error") throw new Error("no error");
    expect(result.error.message).toContain(first);
    expect(result.error.message).toContain(second);
  });
});

describe("the notes of docs/scripts.md", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/scripts.md"), "utf8");
  const notes = [...text.matchAll(/```json\n([\s\S]*?)```\s+The value is (-?[\d.]+)/g)];

  test("are several", () => {
    expect(notes.length).toBeGreaterThanOrEqual(6);
  });

  // One takes five seconds.
  const own = notes.filter(([, json]) => everything || !json.includes("targetRedemptionForward"));
  test.each(own.map(([, json, value]) => [(JSON.parse(json) as { script: unknown }).script, json, value]))(
    "%s",
    { timeout: 60_000 },
    async (_, json, value) => {
      const trade = { id: "1", ...(JSON.parse(json) as object) };
      const fixings = { ACME: { "2026-08-20": 96 }, BETA: { "2026-08-20": 45 } };
      const [result] = await pricedOf([trade], {}, { fixings }, VALUES);
      // The page rounds to a hundredth.
      expect(Math.abs(result.value - Number(value))).toBeLessThanOrEqual(0.0051);
    },
  );
});

test("an event before the start, half of today's fixings, and a script without a payment are errors", async () => {
  const both = {
    underlyings: ["ACME", "BETA"],
    script: { events: [{ on: "dates", do: "pay(S.A + S.B)" }] },
    data: { dates: ["2026-11-20", "2027-11-20"] },
  };
  const fixings = { ACME: { "2026-11-20": 90 } };
  const messages = (await pricesOf([{ id: "1", ...both }], {}, { fixings })).concat(
    await pricesOf([
      { ...CALL, id: "2", script: { events: [{ on: "maturity", do: "pay(S / S0 * strike)" }] }, start: 2 },
      { ...CALL, id: "3", script: { state: { x: 0 }, events: [{ on: "maturity", do: "x = strike" }] } },
    ]),
  );
  expect(messages.map((result) => (result.status === "error" ? result.error.message : ""))).toEqual([
    expect.stringContaining('the fixing of "BETA" on 2026-11-20'),
    expect.stringContaining("before it, when there are no initial fixings yet"),
    expect.stringContaining("it pays nothing"),
  ]);
});
