/** Options on currency pairs, paid later, or paid in another currency. Reference cases: tools/reference/options. */
import { afterAll, describe, expect, it, test } from "vitest";
import { type BookInput, type PricedTrade, readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { AS_OF, bookOf, DELIVERY, EXPIRY, FIXED, integrated, LAG, type Market, YEARS } from "../support/currencies.ts";
import { normalCdf } from "../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const run = async (input: BookInput) => (await priceBook(readBook(input), { device })).results;

async function priced(market: Market, trades: readonly object[], more: object = {}): Promise<readonly PricedTrade[]> {
  return (await run(bookOf(market, trades, more))).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const errorsOf = async (market: Market, trades: readonly object[], more: object = {}) =>
  (await run(bookOf(market, trades, more))).map((result) => (result.status === "error" ? result.error.message : ""));

/** Black's formula on a forward, undiscounted. */
function black(right: "call" | "put", forward: number, strike: number, variance: number): number {
  const d = Math.log(forward / strike) / Math.sqrt(variance) + Math.sqrt(variance) / 2;
  const sign = right === "call" ? 1 : -1;
  return sign * (forward * normalCdf(sign * d) - strike * normalCdf(sign * (d - Math.sqrt(variance))));
}

/** A generator of the same numbers in each run (Park and Miller, 1988). */
function randoms(seed: number): (low: number, high: number) => number {
  let state = seed;
  return (low, high) => {
    state = (state * 48_271) % 2_147_483_647;
    return low + ((high - low) * state) / 2_147_483_647;
  };
}

function marketOf(random: ReturnType<typeof randoms>): Market {
  const rate = (): [number, number] => [random(-0.01, 0.06), random(-0.01, 0.06)];
  const sigma = Object.fromEntries(
    ["EURUSD", "EURJPY", "SPX", "SAP"].map((name) => [name, random(0.05, 0.3)] as const),
  );
  return {
    rates: { USD: rate(), EUR: rate(), JPY: rate() },
    fx: { EURUSD: random(0.9, 1.3), USDJPY: random(90, 160) },
    sigma: { ...sigma, USDEUR: sigma["EURUSD"] },
    rho: random(-0.9, 0.9),
    spot: random(80, 120),
  };
}

const MARKETS = Array.from({ length: 12 }, (_, i) => marketOf(randoms(17 + i)));
describe("options on currency pairs", () => {
  test("are worth what Garman and Kohlhagen's formula says, from spot date to delivery, on curves", async () => {
    for (const market of MARKETS) {
      const { rates, fx, sigma } = market;
      const strike = fx["EURUSD"] * 1.02;
      const over = (curve: readonly [number, number]) => integrated(curve, DELIVERY) - integrated(curve, LAG);
      const forward = fx["EURUSD"] * Math.exp(over(rates.USD) - over(rates.EUR));
      const discount = Math.exp(-integrated(rates.USD, DELIVERY));
      const trades = (["call", "put"] as const).map((payoff) => ({
        underlying: "EURUSD",
        payoff,
        strike,
        expiry: EXPIRY,
      }));
      const results = await priced(market, trades);
      for (const [i, { payoff }] of trades.entries())
        expect(results[i].value).toBeCloseTo(
          discount * black(payoff, forward, strike, sigma["EURUSD"] ** 2 * YEARS),
          12,
        );
      expect(results[0].fx?.forward).toBeCloseTo(forward, 12);
      const atSpot = Math.exp(-integrated(rates.USD, LAG));
      expect(results[0].fx?.premium["EUR"]).toBeCloseTo(results[0].value / atSpot / fx["EURUSD"], 12);
    }
  });

  test("are a call of one currency and a put of the other, and together a forward, in all scenarios", async () => {
    const scenarios = { time: [0, 0.3], spot: [-0.05, 0, 0.05], volatility: [0, 0.02], rate: [-0.01, 0, 0.01] };
    for (const market of MARKETS) {
      const strike = market.fx["EURUSD"] * 0.98;
      const option = { underlying: "EURUSD", strike, expiry: EXPIRY };
      const [call, put, forward, mirrored] = await priced(
        market,
        [
          { ...option, payoff: "call" },
          { ...option, payoff: "put" },
          { fxForward: { pair: "EURUSD", amount: 1, rate: strike, delivery: "2027-09-21" } },
          { underlying: "USDEUR", payoff: "put", strike: 1 / strike, expiry: EXPIRY },
        ],
        { scenarios },
      );
      const flat = (one: PricedTrade) => one.scenarios!.flat(3) as number[];
      flat(call).forEach((value, i) => expect(value - flat(put)[i]).toBeCloseTo(flat(forward)[i], 10));
      for (const name of ["value", "delta", "rho"] as const)
        expect(call[name]! - put[name]!).toBeCloseTo(forward[name]!, 10);
      // A put of K dollars at 1/K euros each, converted at today's rate.
      const today =
        market.fx["EURUSD"] * Math.exp(integrated(market.rates.EUR, LAG) - integrated(market.rates.USD, LAG));
      expect(mirrored.value * strike * today).toBeCloseTo(call.value, 10);
    }
  });

  test("of early exercise, in barriers and at touches agree with the same option on a spot with a yield", async () => {
    const market = { ...FIXED, rates: { USD: [0.036, 0.036], EUR: [0.019, 0.019], JPY: [0.01, 0.01] } } as const;
    const same = (trade: object) => [
      { underlying: "EURUSD", expiry: 0.75, ...trade },
      { underlying: "PLAIN", expiry: 0.75, ...trade },
    ];
    const trades = [
      { payoff: "put", strike: 1.2, exercise: "american" },
      { payoff: "call", strike: 1.15, barriers: [{ type: "up-and-out", level: 1.3, rebate: 0.02 }] },
      { payoff: { touch: 1.25, at: "hit" } },
      { payoff: { noTouch: [1.05, 1.27] } },
      { payoff: "call", strike: 1.15, average: { kind: "geometric", dates: [0.25, 0.5, 0.75] } },
    ];
    const input = bookOf(market, trades.flatMap(same));
    const plain = { spot: 1.16, currency: "USD", dividends: { yield: 0.019 }, volatility: 0.08 };
    const results = await run({
      ...input,
      market: {
        ...input.market,
        fx: { EURUSD: { rate: 1.16, date: AS_OF }, USDJPY: 156 },
        underlyings: { ...input.market.underlyings, PLAIN: plain },
      },
    });
    for (let i = 0; i < results.length; i += 2) {
      const [own, other] = [results[i], results[i + 1]] as PricedTrade[];
      for (const name of ["value", "delta", "gamma", "vega", "theta"] as const)
        expect(own[name], `${i} ${name}`).toBeCloseTo(other[name]!, 7);
      expect(own.fx?.rhoDomestic).toBeCloseTo(other.rho!, 6);
    }
  });

  it("takes the slope of the forward curves where it may be exercised early, and covers what it neglects", async () => {
    const market: Market = { ...FIXED, rates: { ...FIXED.rates, EUR: [0.0, 0.06] } };
    const option = { underlying: "EURUSD", payoff: "put", strike: 1.16, expiry: 3 };
    const [american, european, later] = await priced(market, [
      { ...option, exercise: "american" },
      option,
      { ...option, exercise: [2.999], expiry: 3 },
    ]);
    expect(american.value).toBeGreaterThan(european.value);
    expect(american.errorEstimate).toBeGreaterThan(1e-6);
    expect(Math.abs(later.value - european.value)).toBeLessThan(later.errorEstimate + 1e-5);
  });
});

describe("options in another currency", () => {
  test("of one underlying agree with Black's formula in the measure of the payment's currency", async () => {
    for (const market of MARKETS) {
      const { rates, sigma, rho, fx, spot } = market;
      const [own, other] = [sigma["SPX"], sigma["EURUSD"]];
      const growth = integrated(rates.USD, 2) - 0.013 * 2;
      // Euros for a dollar: the correlation with dollars for a euro has the other sign.
      const quantoForward = spot * Math.exp(growth + rho * own * other * 2);
      const today = Math.exp(integrated(rates.USD, LAG) - integrated(rates.EUR, LAG)) / fx["EURUSD"];
      const composite = spot * today * Math.exp(integrated(rates.EUR, 2) - 0.013 * 2);
      const discount = Math.exp(-integrated(rates.EUR, 2));
      const variance = (own * own + other * other - 2 * rho * own * other) * 2;
      const [quanto, product] = await priced(market, [
        { underlying: "SPX", payoff: "call", strike: 100, expiry: 2, quanto: { currency: "EUR", rate: 0.9 } },
        { underlying: "SPX", payoff: "put", strike: 90, expiry: 2, composite: "EUR" },
      ]);
      expect(quanto.value).toBeCloseTo(0.9 * discount * black("call", quantoForward, 100, own * own * 2), 9);
      expect(product.value).toBeCloseTo(discount * black("put", composite, 90, variance), 9);
      expect([quanto.currency, product.currency]).toEqual(["EUR", "EUR"]);
    }
  });

  test("exchange one underlying for another as Margrabe's formula says", async () => {
    const { sigma, rho, fx, spot, rates } = FIXED;
    const today = Math.exp(integrated(rates.USD, LAG) - integrated(rates.EUR, LAG)) / fx["EURUSD"];
    const [a, x, b] = [sigma["SPX"], sigma["EURUSD"], sigma["SAP"]];
    const first = a * a + x * x - 2 * rho * a * x;
    const between = 0.4 * a * b - -0.2 * x * b;
    const [one, two] = [spot * today * Math.exp(-0.013), 0.5 * 180];
    const expected = black("call", one, two, first + b * b - 2 * between);
    const basket = {
      underlyings: ["SPX", "SAP"],
      payoff: { basket: "call", weights: [1, -0.5] },
      strike: 0,
      expiry: 1,
    };
    const [result] = await priced(FIXED, [{ ...basket, composite: "EUR" }]);
    expect(Math.abs(result.value - expected)).toBeLessThan(result.errorEstimate);
    expect(Object.keys(result.sensitivities!)).toEqual(["SPX", "SAP", "EURUSD"]);
  });

  it("says what its market lacks, and what works instead", async () => {
    const market = bookOf(FIXED, []).market;
    const quanto = { underlying: "SPX", payoff: "call", strike: 100, expiry: 1, quanto: "EUR" };
    expect(await errorsOf(FIXED, [quanto], { market: { ...market, correlations: [] } })).toEqual([
      expect.stringContaining('market.correlations lacks "SPX" and "EURUSD"'),
    ]);
    const local = { ...quanto, volatility: { local: "0.2" } };
    const jpy = { ...quanto, quanto: "JPY" };
    const gone = { ...quanto, quanto: undefined, expiry: "2026-11-18", payment: "2026-11-24" };
    const early = { ...quanto, quanto: undefined, payment: 0.5 };
    const errors = await errorsOf(FIXED, [local, jpy, gone, early]);
    expect(errors[0]).toContain("depends on its spot");
    expect(errors[1]).toContain('add "USDJPY": { "fx": "USDJPY"');
    expect(errors[2]).toContain('market.fixings has no "SPX" of that day');
    expect(errors[3]).toContain("expected a payment at expiry or later");
  });
});

describe("options whose past is known", () => {
  const past = { SPX: { "2026-11-18": 101, "2026-11-19": 103, "2026-11-20": 99 } };
  const withPast = (trades: readonly object[]) => {
    const input = bookOf(FIXED, trades);
    return run({ ...input, market: { ...input.market, fixings: past } });
  };
  const valueOf = async (trade: object): Promise<PricedTrade> => {
    const [result] = await withPast([{ underlying: "SPX", payoff: "call", strike: 98, ...trade }]);
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  };
  const discount = (days: number) => Math.exp(-integrated(FIXED.rates.USD, days / 365));

  it("pays later what was fixed, whatever the spot is now", async () => {
    const result = await valueOf({ expiry: "2026-11-19", payment: "2026-11-24" });
    expect(result.value).toBeCloseTo(5 * discount(4), 12);
    expect([result.delta, result.gamma, result.vega]).toEqual([0, 0, 0]);
    expect(result.rho).toBeCloseTo((-4 / 365) * result.value, 12);
    expect((await valueOf({ expiry: "2026-11-20" })).value).toBeCloseTo(1, 12);
    expect((await valueOf({ expiry: "2026-11-20", paymentLag: 2 })).value).toBeCloseTo(discount(4), 12);
  });

  it("averages what was fixed", async () => {
    const average = { kind: "arithmetic", dates: ["2026-11-18", "2026-11-19", "2026-11-20"] };
    const result = await valueOf({ expiry: "2026-12-20", average });
    expect(result.value).toBeCloseTo(3 * discount(30), 9);
    const dates = ["2026-11-18", "2026-11-19", "2027-02-19"];
    const seasoned = await valueOf({ expiry: "2027-02-19", average: { kind: "arithmetic", dates } });
    const given = { kind: "arithmetic", dates: ["2027-02-19"], past: { count: 2, mean: 102 } };
    expect(seasoned.value).toBeCloseTo((await valueOf({ expiry: "2027-02-19", average: given })).value, 12);
    const [missing] = await withPast([
      { underlying: "SAP", payoff: "call", strike: 98, expiry: "2026-12-20", average },
    ]);
    expect(missing.status === "error" && missing.error.message).toContain('market.fixings has no "SAP" of that day');
  });

  it("knocks out and in by a breach of the past", async () => {
    const option = { expiry: 1 };
    const vanilla = await valueOf(option);
    const barrier = (more: object) => valueOf({ ...option, barriers: [{ level: 102, ...more }] });
    const dates = ["2026-11-19", "2027-05-20"];
    expect((await barrier({ type: "up-and-in", breached: "2026-11-19" })).value).toBeCloseTo(vanilla.value, 12);
    expect((await barrier({ type: "up-and-in", monitoring: dates })).value).toBeCloseTo(vanilla.value, 12);
    expect((await barrier({ type: "up-and-out", monitoring: dates, rebate: 2 })).value).toBe(0);
    const later = await barrier({ type: "up-and-out", breached: "2026-11-19", rebate: 2, rebateAt: "expiry" });
    expect(later.value).toBeCloseTo(2 * Math.exp(-integrated(FIXED.rates.USD, 1)), 9);
  });
});

describe("scripts on currency pairs", () => {
  test("discount at domestic rates and drift at those of both currencies, alone and beside a share", async () => {
    for (const market of MARKETS.slice(0, 6)) {
      const { rates, fx, sigma } = market;
      const strike = fx["EURUSD"] * 1.02;
      const over = (curve: readonly [number, number]) => integrated(curve, DELIVERY) - integrated(curve, LAG);
      const forward = fx["EURUSD"] * Math.exp(over(rates.USD) - over(rates.EUR));
      const discount = Math.exp(-integrated(rates.USD, DELIVERY));
      const option = discount * black("call", forward, strike, sigma["EURUSD"] ** 2 * YEARS);
      const data = { fixing: EXPIRY, paid: "2027-09-21" };
      const paying = (what: string) => ({ events: [{ on: "fixing", do: `pay(${what}, { on: paid })` }] });
      const [cash, call, first, second] = await priced(market, [
        { underlying: "EURUSD", script: paying("1"), data },
        { underlying: "EURUSD", script: paying(`max(S - ${strike}, 0)`), data },
        { underlyings: ["EURUSD", "SPX"], script: paying("S.A"), data },
        { underlyings: ["SPX", "EURUSD"], script: paying("S.B"), data },
      ]);
      expect(Math.abs(cash.value - discount)).toBeLessThanOrEqual(cash.errorEstimate + 1e-12);
      expect(Math.abs(call.value - option)).toBeLessThanOrEqual(call.errorEstimate);
      for (const one of [first, second])
        expect(Math.abs(one.value - discount * forward)).toBeLessThanOrEqual(one.errorEstimate);
      // All curves move together.
      expect(Math.abs(call.rho! + DELIVERY * option)).toBeLessThanOrEqual(DELIVERY * call.errorEstimate + 1e-3);
    }
  });
});

test("a swing on a pair is worth its payments on curves, within its error", async () => {
  for (const market of MARKETS) {
    const { rates, fx } = market;
    const dates = [0.25, YEARS];
    const swing = { dates: [0.25, EXPIRY], max: 2 };
    const [result] = await priced(market, [
      { underlying: "EURUSD", payoff: "call", strike: 1e-6, expiry: EXPIRY, payment: EXPIRY, swing },
    ]);
    const expected = dates.reduce((sum, time) => {
      const lagged = Math.min(time + LAG, YEARS);
      const growth = [rates.USD, rates.EUR].map((curve) => integrated(curve, lagged) - integrated(curve, LAG));
      return sum + fx["EURUSD"] * Math.exp(growth[0] - growth[1] - integrated(rates.USD, time));
    }, 0);
    // The forward of the first date may be that of a spot date some days off.
    const days = 4 / 365;
    const drift = 0.1 * days * fx["EURUSD"];
    expect(Math.abs(result.value - expected)).toBeLessThanOrEqual(result.errorEstimate + drift);
  }
});

test("a basket of a currency pair is refused, and points to scripts", async () => {
  const trade = { underlyings: ["SPX", "EURUSD"], payoff: { bestOf: "call" }, strike: 100, expiry: EXPIRY };
  expect(await errorsOf(FIXED, [trade])).toEqual([expect.stringContaining('"EURUSD" is a currency pair')]);
});

test("between expiry and payment, both included, a later value is unknown", async () => {
  const trade = { underlying: "SPX", payoff: "call", strike: 80, expiry: "2027-11-22", payment: "2028-05-22" };
  const time = ["2027-11-22", "2028-01-20", "2028-05-22", "2028-05-23"];
  const [{ scenarios }] = await priced(FIXED, [trade], { scenarios: { time } });
  const [atExpiry, between, atPayment, after] = scenarios!.map(([[[value]]]) => value);
  expect(atExpiry).toBeGreaterThan(0);
  expect([between, atPayment, after]).toEqual([null, null, 0]);
});

describe("fixings of the past", () => {
  const past = (pair: number | undefined) => ({
    SAP: { "2026-11-19": 190 },
    ...(pair === undefined ? {} : { EURUSD: { "2026-11-19": pair } }),
  });
  const withFixings = async (trade: object, fixings: object) => {
    const book = bookOf(FIXED, [trade]);
    return (await run({ ...book, market: { ...book.market, fixings } } as BookInput))[0];
  };

  test("a composite option is paid at the exchange rate of its expiry, and averages so", async () => {
    const strike = 200;
    const expired = {
      underlying: "SAP",
      payoff: "call",
      strike,
      expiry: "2026-11-19",
      payment: "2026-11-25",
      composite: "USD",
    };
    const result = await withFixings(expired, past(1.2));
    const discount = Math.exp(-integrated(FIXED.rates.USD, 5 / 365));
    expect(result).toMatchObject({ status: "ok", delta: 0 });
    expect((result as PricedTrade).value).toBeCloseTo(discount * (190 * 1.2 - strike), 9);
    const lacking = await withFixings(expired, past(undefined));
    expect(lacking.status === "error" && lacking.error.message).toContain('fixing of "EURUSD" on 2026-11-19');
  });

  test("a barrier sees the fixing of one underlying and today's spot of the other", async () => {
    const trade = {
      underlyings: ["SPX", "SAP"],
      payoff: { worstOf: "call" },
      strike: 90,
      expiry: EXPIRY,
      quanto: "EUR",
      barriers: [{ type: "up-and-out", level: 150, monitoring: [AS_OF, "2027-03-19"] }],
    };
    // The spot of SAP is 180.
    const result = await withFixings(trade, { SPX: { [AS_OF]: 100 } });
    expect(result).toMatchObject({ status: "ok", value: 0, method: "knocked-out" });
  });

  test("a monitoring date before the window of a barrier is an error, past or not", async () => {
    const barrier = { type: "up-and-out", level: 150, from: "2027-01-15", monitoring: ["2026-11-19", "2027-03-19"] };
    const trade = { underlying: "SAP", payoff: "call", strike: 180, expiry: EXPIRY, barriers: [barrier] };
    const result = await withFixings(trade, past(1.2));
    expect(result.status === "error" && result.error.message).toContain("inside the barrier's window");
  });
});
