/** Sensitivities on paths beside barriers, extrema and early fixings, and the slope of a day, against closed forms. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../../src/index.ts";
import { blackScholes, type Lognormal, piecesOf, survivingValue } from "../../../tools/properties/closed-forms.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const [rate, dividend, sigma] = [0.03, 0.01, 0.25];
const asset = (spot: number, volatility = sigma) => ({
  spot,
  volatility,
  currency: "C",
  dividends: { yield: dividend },
});

type Underlyings = BookInput["market"]["underlyings"];

async function price(trade: object, underlyings: Underlyings): Promise<PricedTrade> {
  const names = Object.keys(underlyings ?? {});
  const correlations = names.slice(1).map((name) => [names[0], name, 0] as const);
  const market: BookInput["market"] = { rates: { C: rate }, underlyings, correlations };
  const trades = [{ id: "1", ...trade }];
  const book = readBook({ asOf: "2026-01-01", market, trades, method: "montecarlo" });
  const { results } = await priceBook(book, { device, greeks: "all", sensitivityErrorEstimates: true });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

const NAMES = ["delta", "gamma", "theta"] as const;
type Slopes = Readonly<Record<(typeof NAMES)[number], number>>;

/** Central differences of a closed form in the spot and in time. */
function slopesOf(value: (spot: number, later: number) => number, spot: number, h = 1e-3 * spot): Slopes {
  const [up, now, down] = [value(spot + h, 0), value(spot, 0), value(spot - h, 0)];
  const step = 1e-6;
  return {
    delta: (up - down) / (2 * h),
    gamma: (up - 2 * now + down) / (h * h),
    theta: (value(spot, step) - now) / step,
  };
}

function expectWithin(result: PricedTrade, slopes: Slopes): void {
  for (const name of NAMES) {
    const exact = slopes[name];
    const estimate = result.sensitivityErrorEstimates![name]!;
    expect(Math.abs(result[name]! - exact), `${name} ${result[name]} instead of ${exact}`).toBeLessThan(estimate);
    // An estimate that covers all says nothing.
    if (name === "delta") expect(estimate).toBeLessThan(0.04);
  }
}

test.each([98, 99, 99.5, 99.99])("a knock-out at %d, next to the spot of 100", async (level) => {
  const down = (spot: number, later: number): number => {
    const model: Lognormal = { spot, rate, yield: dividend, volatility: sigma, expiry: 1 - later };
    return survivingValue(model, piecesOf("call", 100), level);
  };
  const basket = { basket: "call", weights: [1, 0] };
  const barriers = [{ type: "down-and-out", level, underlying: "A" }];
  const trade = { underlyings: ["A", "B"], payoff: basket, strike: 100, expiry: 1, barriers };
  const result = await price(trade, { A: asset(100), B: asset(100) });
  expectWithin(result, slopesOf(down, 100, 0.5 * (100 - level)));
});

test.each([77.0579916058166, 76.999, 76.99851959132239])("a lookback whose extremum is %d", async (extremum) => {
  const [spot, expiry, volatility] = [76.99851959132239, 0.16164383561643836, 0.13719679706489135];
  // Goldman, Sosin and Gatto (1979), of a floating put.
  const lookback = (at: number, later: number): number => {
    const time = expiry - later;
    const [b, deviation] = [rate - dividend, volatility * Math.sqrt(time)];
    const d = (Math.log(at / extremum) + (b + 0.5 * volatility ** 2) * time) / deviation;
    const ratio = volatility ** 2 / (2 * b);
    const reflected = (at / extremum) ** (-1 / ratio) * normalCdf(d - (2 * b * Math.sqrt(time)) / volatility);
    const growth = Math.exp(b * time) * normalCdf(d);
    const discount = Math.exp(-rate * time);
    return (
      extremum * discount * normalCdf(deviation - d) -
      at * Math.exp(-dividend * time) * normalCdf(-d) +
      at * discount * ratio * (growth - reflected)
    );
  };
  const terms = { strike: "floating", monitoring: "continuous", extremum };
  const trade = { underlying: "A", payoff: "put", expiry, lookback: terms };
  const result = await price(trade, { A: asset(spot, volatility) });
  // Below the extremum the closed form is smooth, and it goes on smoothly.
  expectWithin(result, slopesOf(lookback, spot));
});

test.each([
  [0.001, 0.002, 5, 0.5, 100],
  [0.02, 0.04, 3, 0.4, 102],
  [2 / 365, 4 / 365, 1, 0.2, 100],
])("an average of fixings at %d and %d, paid at %d", async (one, other, expiry, volatility, strike) => {
  /** Black and Scholes' formula for the second fixing, on the first one's distribution: the trapezoidal rule. */
  const average = (spot: number, later: number): number => {
    const [first, between] = [one - later, other - one];
    let sum = 0;
    for (let k = -400; k <= 400; k++) {
      const z = k / 50;
      const fixing =
        spot * Math.exp((rate - dividend - 0.5 * volatility ** 2) * first + volatility * Math.sqrt(first) * z);
      const model: Lognormal = { spot: fixing, rate, yield: dividend, volatility, expiry: between };
      const left = 2 * strike - fixing;
      const paid = Math.exp(rate * between) * blackScholes(model, "call", left);
      sum += Math.exp(-0.5 * z * z) * 0.5 * paid;
    }
    return (Math.exp(-rate * (expiry - later)) * sum) / (50 * Math.sqrt(2 * Math.PI));
  };
  const trade = { payoff: "call", strike, expiry, average: { kind: "arithmetic", dates: [one, other] } };
  const result = await price({ underlying: "A", ...trade }, { A: asset(100, volatility) });
  expect(result.errorEstimate).toBeLessThan(1e-2);
  expectWithin(result, slopesOf(average, 100, 1e-4 * 100));
});

test("the theta of a geometric average follows from its equation", async () => {
  for (const dates of [
    [0.25, 0.5, 0.75, 1],
    [1 / 365, 4 / 365, 7 / 365],
  ]) {
    const trade = { payoff: "call", strike: 100, expiry: dates.at(-1), average: { kind: "geometric", dates } };
    const {
      value,
      delta,
      gamma,
      theta,
      sensitivityErrorEstimates: errors,
    } = await price({ underlying: "A", ...trade }, { A: asset(100) });
    const equation = rate * value - (rate - dividend) * 100 * delta! - 0.5 * (sigma * 100) ** 2 * gamma!;
    expect(Math.abs(theta! - equation)).toBeLessThan(errors!.theta! + 0.5 * (sigma * 100) ** 2 * errors!.gamma!);
    expect(Math.abs(theta! / equation - 1)).toBeLessThan(1e-3);
  }
});

test("a correlation of 1 is moved down, and the slope is Margrabe's (1978)", async () => {
  // Without dividends the American exchange option is never exercised early.
  const underlyings = {
    A: { spot: 100, currency: "C", volatility: 0.2 },
    B: { spot: 95, currency: "C", volatility: 0.3 },
  };
  const market: BookInput["market"] = { rates: { C: rate }, underlyings, correlations: [["A", "B", 1]] };
  const exchange = { underlyings: ["A", "B"], payoff: { expression: "max(S1 - S2, 0)" }, expiry: 1 } as const;
  const at = (correlation: number): number => {
    const deviation = Math.sqrt(0.2 ** 2 + 0.3 ** 2 - 2 * correlation * 0.2 * 0.3);
    const d = Math.log(100 / 95) / deviation + 0.5 * deviation;
    return 100 * normalCdf(d) - 95 * normalCdf(d - deviation);
  };
  const slope = (at(1) - at(1 - 1e-5)) / 1e-5;
  const trades = [{ id: "1", ...exchange, exercise: "american" }] as const;
  const book = readBook({ asOf: "2026-01-01", market, trades, method: "fdm" });
  const { results } = await priceBook(book, { device, greeks: "all", sensitivityErrorEstimates: true });
  const [result] = results as PricedTrade[];
  const found = result.correlation![0][2];
  const estimate = result.sensitivityErrorEstimates!.correlation![0][2];
  expect(Math.abs(found - slope), `${found} instead of ${slope}`).toBeLessThan(estimate);
  expect(estimate).toBeLessThan(0.2 * Math.abs(slope));
});
