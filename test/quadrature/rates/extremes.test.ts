/** Degenerate and extreme parameters of Gaussian short rates, and prices of a call and a put at one time. */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../../src/pricing/index.ts";
import { Random } from "../../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** The values of trades, each under the rates of its currency. */
async function priced(
  rates: Readonly<Record<string, unknown>>,
  trades: readonly object[],
  options: Partial<PricingOptions> = { greeks: "none" },
): Promise<readonly PricedTrade[]> {
  const named = trades.map((trade, i) => ({ id: `${i}`, ...trade }));
  const book = readBook({ asOf: "2026-01-01", market: { rates }, trades: named });
  const { results } = await priceBook(book, { device, ...options });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    return result;
  });
}

const swap = { start: 1, end: 5, frequency: 1, notional: 100 };
const bond = { maturity: 6, coupon: 0.035, frequency: 2, notional: 100 };
const swaption = { swaption: "payer", strike: 0.03, exercise: [1, 2, 3], swap };
const callable = {
  bond: { ...bond, calls: [2, 3].map((date) => ({ date, price: 100 })), puts: [{ date: 2.5, price: 97 }] },
};

describe("G2++ whose two factors are one", () => {
  /** With a = b the sum of the factors is Hull and White's rate. */
  const single = (a: number, sigma: number, eta: number, rho: number) => ({
    G: { g2: { a, sigma, b: a, eta, rho, curve: 0.03 } },
    H: {
      hullWhite: {
        meanReversion: a,
        volatility: Math.sqrt(Math.max(sigma * sigma + eta * eta + 2 * rho * sigma * eta, 0)),
        curve: 0.03,
      },
    },
  });
  const random = new Random(11);
  const cases = [1, -1, 1 - 1e-9, -1 + 1e-9, 0.3].flatMap((rho) => {
    const [a, sigma] = [random.uniform(0.001, 1), random.uniform(0.002, 0.02)];
    return [sigma, 0, random.uniform(0.002, 0.02)].map((eta) => [a, sigma, eta, rho] as const);
  });

  test.each(cases)("a = b = %f, sigma %f, eta %f, rho %f", async (a, sigma, eta, rho) => {
    const trades = [swaption, callable].flatMap((one) => ["G", "H"].map((currency) => ({ currency, ...one })));
    const [payer, payerOfOne, right, rightOfOne] = await priced(single(a, sigma, eta, rho), trades);
    for (const [own, one] of [
      [payer, payerOfOne],
      [right, rightOfOne],
    ])
      expect(Math.abs(own.value - one.value)).toBeLessThan(Math.min(own.errorEstimate + one.errorEstimate, 2e-5));
  });

  test("is the limit of parameters nearby, with their sensitivities", async () => {
    const at = (b: number, rho: number) => ({ g2: { a: 0.3, sigma: 0.01, b, eta: 0.007, rho, curve: 0.03 } });
    const rates = { E: at(0.3, 1), B: at(0.3 + 1e-6, 1), R: at(0.3, 1 - 1e-6), ...single(0.3, 0.01, 0.007, 1) };
    const names = ["E", "B", "R", "H"];
    const [exact, b, rho, one] = await priced(
      rates,
      names.map((currency) => ({ currency, ...swaption })),
      { greeks: "all" },
    );
    for (const near of [b, rho]) {
      expect(Math.abs(near.value - exact.value)).toBeLessThan(2e-5);
      expect(near.vega! / exact.vega!).toBeCloseTo(1, 3);
    }
    // Both volatilities move, and with rho = 1 their sum is the one of Hull and White.
    expect(exact.vega! / (2 * one.vega!)).toBeCloseTo(1, 3);
    expect(exact.rho! / one.rho!).toBeCloseTo(1, 3);
  });
});

test("a right on one date is its closed form, whatever the volatility", async () => {
  const random = new Random(12);
  const errors: number[] = [];
  for (let k = 0; k < 12; k++) {
    const volatility = 10 ** random.uniform(-2, 0);
    const a = random.uniform(0, 0.5);
    const two = { a, sigma: 0.3 * volatility, b: a + random.uniform(0.05, 0.5), eta: 0.2 * volatility, rho: 0.5 };
    const rates = {
      H: { hullWhite: { meanReversion: a, volatility, curve: 0.03 } },
      G: { g2: { ...two, curve: 0.03 } },
    };
    const expiry = random.uniform(0.5, 3);
    const currency = k % 3 === 0 ? "G" : "H";
    const trades = [
      { bond: { ...bond, calls: [{ date: expiry, price: 100 }] } },
      { bond: { ...bond, puts: [{ date: expiry, price: 100 }] } },
      { bond },
      ...["call", "put"].map((payoff) => ({ payoff, strike: 100, strikeIs: "clean", expiry, on: { bond } })),
    ].map((one) => ({ currency, ...one }));
    const [called, put, straight, call, option] = await priced(rates, trades);
    errors.push(
      Math.abs(called.value - (straight.value - call.value)) / called.errorEstimate,
      Math.abs(put.value - (straight.value + option.value)) / put.errorEstimate,
    );
  }
  // One of them may be beyond its estimate, none far.
  expect(errors.filter((error) => error > 1).length).toBeLessThanOrEqual(1);
  expect(Math.max(...errors)).toBeLessThan(3);
});

describe("a call with notice and a put without, at one time", () => {
  const [a, sigma, rate] = [0.1, 0.02, 0.03];
  const discount = (t: number): number => Math.exp(-rate * t);
  const decay = (t: number): number => (1 - Math.exp(-a * t)) / a;

  /** The value by the trapezoidal rule under the measure of the time of exercise. */
  function quadrature(time: number, call: { price: number; settlement: number }, put: number): number {
    const flows = [1, 2, 3, 4, 5].map((t): [number, number] => [t, t === 5 ? 105 : 5]);
    const deviation = sigma * Math.sqrt((1 - Math.exp(-2 * a * time)) / (2 * a));
    const accrued = (t: number): number => 5 * (t - Math.floor(t));
    const [nodes, reach] = [20_000, 9];
    let sum = 0;
    for (let k = -nodes; k <= nodes; k++) {
      const z = (reach * k) / nodes;
      const bondAt = (t: number): number => {
        const width = decay(t - time) * deviation;
        return (discount(t) / discount(time)) * Math.exp(-0.5 * width * width - width * z);
      };
      const held = flows.reduce((all, [t, amount]) => (t > time ? all + amount * bondAt(t) : all), 0);
      const until = flows.filter(([t]) => t > time && t <= call.settlement);
      const called =
        until.reduce((all, [t, amount]) => all + amount * bondAt(t), 0) +
        (call.price + accrued(call.settlement)) * bondAt(call.settlement);
      const value = Math.max(Math.min(held, called), put + accrued(time));
      sum += value * Math.exp(-0.5 * z * z);
    }
    const before = flows.reduce((all, [t, amount]) => (t <= time ? all + amount * discount(t) : all), 0);
    return before + (discount(time) * sum * reach) / (nodes * Math.sqrt(2 * Math.PI));
  }

  // The last two have a put that is above the called price in some states and below it in others.
  test.each([
    [2.4, 0.25, 101, 96],
    [2.4, 0.75, 102, 99],
    [2.5, 1, 101, 101],
    [1.3, 1.5, 100, 100],
  ])("at %f, notice of %f, call at %f, put at %f", async (time, notice, price, put) => {
    const calls = [{ date: time + notice, price, notice }];
    const puts = [{ date: time, price: put }];
    const terms = { maturity: 5, coupon: 0.05, frequency: 1, notional: 100, calls, puts };
    const rates = {
      H: { hullWhite: { meanReversion: a, volatility: sigma, curve: rate } },
      G: { g2: { a, sigma, b: 0.3, eta: 0, rho: 0, curve: rate } },
    };
    const [one, two] = await priced(
      rates,
      ["H", "G"].map((currency) => ({ currency, bond: terms })),
    );
    const exact = quadrature(time, { price, settlement: time + notice }, put);
    expect(Math.abs(one.value - exact)).toBeLessThan(one.errorEstimate + 1e-5);
    expect(Math.abs(two.value - exact)).toBeLessThan(two.errorEstimate + 1e-5);
  });
});

test("the option-adjusted spread of rights is found up to where the model has a value, and no further", async () => {
  const calls = [2, 2.5].map((date, i) => ({ date, price: 104 - i }));
  const terms = {
    maturity: 3.436,
    coupon: 0.01915,
    frequency: 2,
    notional: 100,
    calls,
    puts: [{ date: 1.2, price: 90 }],
  };
  const rates = (curve: number) => ({ E: { blackKarasinski: { meanReversion: 0.05, volatility: 0.2, curve } } });
  const prices = [93, 99];
  const quoted = [...prices, 150].map((marketPrice) => ({ currency: "E", bond: terms, marketPrice }));
  const found = await priced(rates(0.048), quoted);
  for (const [i, marketPrice] of prices.entries()) {
    const moved = rates(0.048 + found[i].optionAdjustedSpread!);
    const [{ clean }] = await priced(moved, [{ currency: "E", bond: terms }]);
    expect(clean).toBeCloseTo(marketPrice, 6);
  }
  const last = found[prices.length];
  expect(last.optionAdjustedSpread).toBeUndefined();
  expect(last.warnings.join()).toContain("no option-adjusted spread");
});

test("a put above a call at one time ends the bond, by every method", async () => {
  const [date, put] = [2, 101];
  const terms = { ...bond, calls: [{ date, price: 100 }], puts: [{ date, price: put }] };
  const rates = { E: { hullWhite: { meanReversion: 0.1, volatility: 0.015, curve: 0.03 } } };
  const trade = [{ currency: "E", bond: terms }];
  const coupons = [0.5, 1, 1.5, 2].reduce((sum, t) => sum + 1.75 * Math.exp(-0.03 * t), 0);
  for (const method of ["convolution", "fdm"] as const) {
    const [{ value, errorEstimate }] = await priced(rates, trade, { greeks: "none", method });
    expect(Math.abs(value - (coupons + put * Math.exp(-0.03 * date))), `by ${method}`).toBeLessThan(errorEstimate);
  }
});

test("vega without volatility is a difference upwards", async () => {
  const at = (volatility: number) => ({ E: { hullWhite: { meanReversion: 0.1, volatility, curve: 0.03 } } });
  // At the money: the value rises in proportion to the volatility.
  const bondOf = { maturity: 3, coupon: 0, notional: 100 };
  const strike = 100 * Math.exp(-0.03 * 2);
  const trade = [{ currency: "E", payoff: "call", strike, exercise: [0.5, 1], on: { bond: bondOf } }];
  const [{ vega, value }] = await priced(at(0), trade, { greeks: "all", method: "convolution" });
  const [moved] = await priced(at(1e-3), trade);
  expect(vega!).toBeGreaterThan(1);
  expect(vega! / ((moved.value - value) / 1e-3)).toBeCloseTo(1, 1);
});

describe("values stay within their bounds", () => {
  const random = new Random(13);
  const pick = <T>(list: readonly T[]): T =>
    list[Math.min(Math.floor(random.uniform(0, list.length)), list.length - 1)];
  const models = [
    () => ({
      hullWhite: { meanReversion: random.uniform(0, 1), volatility: 10 ** random.uniform(-3, 0), curve: 0.03 },
    }),
    () => ({ cir: { r0: 0.03, kappa: random.uniform(0.1, 1), theta: 0.04, sigma: 10 ** random.uniform(-1.3, -0.3) } }),
    () => ({
      blackKarasinski: { meanReversion: random.uniform(0, 1), volatility: 10 ** random.uniform(-2, 0), curve: 0.04 },
    }),
    () => ({
      g2: { a: 0.4, sigma: 10 ** random.uniform(-3, -1), b: 0.1, eta: 0.02, rho: pick([-1, 0.2, 1]), curve: -0.01 },
    }),
  ];

  test.each(models.flatMap((model) => [model(), model()]))("%j", async (model) => {
    const terms = { maturity: 4, coupon: random.uniform(0, 0.08), frequency: 1, notional: 100 };
    const [first, second] = [random.uniform(0.2, 1.5), random.uniform(1.6, 3)];
    const calls = [first, second].map((date) => ({ date, price: random.uniform(90, 108) }));
    const puts = [{ date: second, price: random.uniform(85, 104) }];
    const leg = { start: 1, end: 4, frequency: 1, notional: 100 };
    const option = { payoff: pick(["call", "put"]), strike: random.uniform(80, 110), on: { bond: terms } };
    const trades = [
      { bond: terms },
      { bond: { ...terms, calls } },
      { bond: { ...terms, calls: calls.slice(0, 1) } },
      { bond: { ...terms, puts } },
      { bond: { ...terms, puts, calls } },
      { ...option, expiry: first },
      { ...option, expiry: second, exercise: [first, second] },
      { swaption: pick(["payer", "receiver"]), strike: random.uniform(0, 0.08), exercise: [0.5, 1, 2], swap: leg },
    ].map((trade) => ({ currency: "E", ...trade }));
    const results = await priced({ E: model }, trades);
    const [straight, all, one, puttable, both, european, bermudan, swap2] = results;
    const above = (more: PricedTrade, less: PricedTrade): void =>
      expect(more.value - less.value).toBeGreaterThan(-1.1 * (more.errorEstimate + less.errorEstimate) - 1e-9);
    above(straight, one);
    above(one, all);
    above(puttable, straight);
    above(puttable, both);
    above(both, all);
    above(bermudan, european);
    expect(straight.value - all.value).toBeGreaterThanOrEqual(-1e-9);
    expect(puttable.value - straight.value).toBeGreaterThanOrEqual(-1e-9);
    expect(Math.min(european.value, bermudan.value, swap2.value)).toBeGreaterThanOrEqual(0);
  });
});

test("an error that is larger than what was asked for is said", async () => {
  const rates = { E: { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.03 } } };
  const calls = [1, 2].map((from) => ({ from, to: from + 1, price: 103 - from, notice: "30D" }));
  const trades = [{ ...bond, calls }, bond].map((own) => ({ currency: "E", bond: own }));
  const text = "the accuracy that was asked for is not reached: errorEstimate is larger";
  const [rough, exact] = await priced(rates, trades, { greeks: "none", accuracy: { relative: 1e-8 } });
  expect(rough.errorEstimate).toBeGreaterThan(1e-6);
  expect(rough.warnings).toContain(text);
  expect(exact.warnings).not.toContain(text);
});

test("a limit of time ends refinement, and is said", async () => {
  const rates = { E: { blackKarasinski: { meanReversion: 0.1, volatility: 0.5, curve: 0.04 } } };
  const trades = [{ currency: "E", bond: { ...bond, calls: [{ date: 2, price: 99 }] } }];
  const asked = { greeks: "none", accuracy: { relative: 1e-8 } } as const;
  const [whole] = await priced(rates, trades, asked);
  const [short] = await priced(rates, trades, { ...asked, timePerTrade: 1e-9 });
  expect(short.errorEstimate).toBeGreaterThan(whole.errorEstimate);
  expect(short.warnings).toContain("the time of a trade was over before the accuracy was reached: see errorEstimate");
});
