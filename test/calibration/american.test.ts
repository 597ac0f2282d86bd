/**
 * American quotes, and quotes of underlyings with dividends on dates: prices under a known local volatility, by the
 * book's own engine, are fitted, and European options have the same prices under the fit.
 */
import { afterAll, describe, expect, it } from "vitest";
import { forwardAt } from "../../src/book/carry.ts";
import { blackDeviation } from "../../src/calibration/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type MarketInput, parseBook, priceBook, readHeader } from "../../src/index.ts";
import { integrate } from "../../src/market/index.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";
import { uniform } from "./uniform.ts";

type Underlying = Extract<NonNullable<MarketInput["underlyings"]>[string], { readonly spot: number }>;
type VolatilityInput = NonNullable<Underlying["volatility"]>;

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const EXPIRIES = [0.1, 0.6, 1.5];
const TIMES = [0, 0.5, 1.5];
const SPOTS = Array.from({ length: 61 }, (_, i) => 100 * Math.exp(2.5 * (i / 30 - 1)));

interface Case {
  readonly exercise: "european" | "american";
  readonly level: number;
  readonly skew: number;
  readonly rate: number;
  readonly discrete: readonly { readonly date: number; readonly cash?: number; readonly proportional?: number }[];
  readonly tolerance: number;
}

const TWICE = [
  { date: 0.3, cash: 2 },
  { date: 0.8, proportional: 0.02 },
  { date: 1.3, cash: 2 },
] as const;
const cases: readonly Case[] = [
  { exercise: "european", level: 0.25, skew: 1, rate: 0.03, discrete: TWICE, tolerance: 1e-4 },
  { exercise: "american", level: 0.25, skew: 1, rate: 0.03, discrete: TWICE, tolerance: 6e-4 },
  { exercise: "american", level: 0.5, skew: 0.5, rate: 0.06, discrete: [], tolerance: 6e-4 },
  { exercise: "american", level: 0.12, skew: 0.8, rate: -0.01, discrete: [{ date: 0.5, cash: 5 }], tolerance: 1e-3 },
];

describe.each(cases)("$exercise quotes, $discrete.length dividends, rate $rate", (one) => {
  it("give the surface back that they are prices of", async () => {
    const { exercise, level, skew, rate, discrete, tolerance } = one;
    const smile = SPOTS.map((spot) => level * (0.75 + 0.5 / (1 + (spot / 100) ** (2 * skew))));
    const volatility = { surface: { times: TIMES, spots: SPOTS, volatility: TIMES.map(() => smile) } };
    const market = (of: VolatilityInput): MarketInput => ({
      rates: { EUR: rate },
      underlyings: { A: { spot: 100, currency: "EUR", dividends: { yield: 0.01, discrete }, volatility: of } },
    });
    const options = EXPIRIES.flatMap((expiry) =>
      [-2, -1, -0.5, 0, 0.5, 1, 2].flatMap((step) => {
        const strike = 100 * Math.exp(step * level * Math.sqrt(expiry));
        return [{ expiry, strike, type: "call" } as const, { expiry, strike, type: "put" } as const];
      }),
    );
    const pricesOf = async (of: VolatilityInput, terms: object): Promise<number[]> => {
      const trades = options.map(({ type, ...option }, i) => {
        return { id: `T${i}`, underlying: "A", payoff: type, ...option, ...terms };
      });
      const book = parseBook({ asOf: "2026-11-20", market: market(of), trades });
      const { results } = await priceBook(book, { device, greeks: "none", accuracy: { relative: 1e-5 } });
      return results.map(({ value }) => value!);
    };
    const prices = await pricesOf(volatility, { exercise });
    const quotes = options.map((option, i) => ({ ...option, price: prices[i] }));
    const header = readHeader({ asOf: "2026-11-20", market: market({ quotes, fit: "local", exercise }) });
    const fit = header.market.calibration.underlyings.A;
    expect(fit.status).toBe("converged");
    const underlying = header.market.underlyings.get("A")!;
    const [known, fitted] = [await pricesOf(volatility, {}), await pricesOf(fit.volatility!, {})];
    options.forEach(({ expiry, strike, type }, i) => {
      const forward = forwardAt(underlying, expiry);
      // Options in the money say little of their volatility.
      if ((type === "call") !== strike >= forward) return;
      const [from, to] = [known[i], fitted[i]].map((value) => {
        const price = value * Math.exp(integrate(underlying.rates, expiry));
        const quoted = { forward, strike, price, sign: type === "call" ? 1 : -1 };
        return blackDeviation({ quoted }).deviation / Math.sqrt(expiry);
      });
      expect(Math.abs(to - from)).toBeLessThan(tolerance);
      expect(Math.abs(fit.quotes[i].implied! - from)).toBeLessThan(tolerance);
    });
    if (exercise === "european") return;
    // What is fitted is what is priced, in the money, too, where early exercise counts. A point of the volatility is
    // worth at most 0.4·√t of a spot of 100.
    const repriced = await pricesOf(fit.volatility!, { exercise });
    const premiums = options.map(({ expiry, strike, type }, i) => {
      const [place, most] = [`${type} ${strike} at ${expiry}`, 40 * tolerance * Math.sqrt(expiry)];
      expect({ place, near: Math.abs(repriced[i] - prices[i]) < most }).toEqual({ place, near: true });
      const premium = prices[i] - known[i];
      const found = fit.quotes[i].premium ?? undefined;
      if (found !== undefined) expect({ place, near: Math.abs(found - premium) < most }).toEqual({ place, near: true });
      return premium;
    });
    expect(Math.max(...premiums)).toBeGreaterThan(0.05);
    expect(fit.quotes.filter(({ premium }) => (premium ?? 0) > 0).length).toBeGreaterThan(5);
  });
});

describe("an American quote", () => {
  const read = (quote: object): readonly string[] => {
    const quotes = [
      { expiry: 1, strike: 100, implied: 0.2 },
      { expiry: 1, strike: 130, exercise: "american", ...quote },
    ];
    const volatility = { quotes, fit: "none" };
    const market = { rates: { EUR: 0.05 }, underlyings: { A: { spot: 100, currency: "EUR", volatility } } };
    return readHeader({ asOf: "2026-11-20", market }).market.calibration.underlyings.A.warnings;
  };

  it("that exercise at once pays is left out by its path", () => {
    expect(read({ type: "put", price: 30 })).toEqual([expect.stringMatching(/quotes\[1\]: the price is not between/)]);
    expect(read({ type: "put", price: 30.001 })).toEqual([expect.stringMatching(/quotes\[1\]: the price is so near/)]);
    expect(read({ type: "put", price: 131 })).toEqual([expect.stringMatching(/quotes\[1\]: the price is not between/)]);
    expect(read({ type: "put", price: 31.5 })).toEqual([]);
  });
});

/**
 * The European price of an option on a spot of constant volatility that pays `cash` at half of the time to expiry, at a
 * rate of 0: an integral over the spot at the dividend.
 */
function europeanWithCash(sigma: number, strike: number, expiry: number, cash: number): number {
  const deviation = sigma * Math.sqrt(0.5 * expiry);
  let sum = 0;
  const [steps, reach] = [4000, 9];
  for (let i = 0; i <= steps; i++) {
    const z = -reach + (2 * reach * i) / steps;
    const spot = Math.max(100 * Math.exp(deviation * z - 0.5 * deviation ** 2) - cash, 0);
    const d1 = spot > 0 ? Math.log(spot / strike) / deviation + 0.5 * deviation : Number.NEGATIVE_INFINITY;
    const value = spot > 0 ? spot * hostNormalCdf(d1) - strike * hostNormalCdf(d1 - deviation) : 0;
    const weight = i === 0 || i === steps ? 0.5 : 1;
    sum += (weight * value * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI);
  }
  return (sum * 2 * reach) / steps;
}

describe("American calls on a spot of constant volatility with a dividend of", () => {
  const draw = uniform(5);
  const dividends = [2, 6, 18, 3 + 15 * draw()];
  it.each(dividends)("%f have the European volatilities of that spot, and are repriced", async (cash) => {
    const sigma = cash === 18 ? 0.22 : 0.15 + 0.15 * draw();
    const market = (volatility: VolatilityInput): MarketInput => ({
      rates: { USD: 0 },
      underlyings: { X: { spot: 100, currency: "USD", dividends: { discrete: [{ date: 0.5, cash }] }, volatility } },
    });
    const trades = [80, 90, 100, 110, 120].map((strike) => {
      const terms = { underlying: "X", payoff: "call", strike, expiry: 1, exercise: "american" } as const;
      return { id: `K${strike}`, ...terms };
    });
    const pricesOf = async (volatility: VolatilityInput): Promise<readonly number[]> => {
      const book = parseBook({ asOf: "2026-11-20", market: market(volatility), trades });
      const { results } = await priceBook(book, { device, greeks: "none", accuracy: { relative: 1e-6 } });
      return results.map(({ value }) => value!);
    };
    const prices = await pricesOf(sigma);
    const quotes = trades.map(({ strike, expiry }, i) => ({ strike, expiry, price: prices[i] }));
    const volatility: VolatilityInput = { quotes, fit: "svi", exercise: "american" };
    const header = readHeader({ asOf: "2026-11-20", market: market(volatility) });
    const { quotes: fitted, repricingRmse } = header.market.calibration.underlyings.X;
    const repriced = await pricesOf(volatility);
    trades.forEach(({ strike }, i) => {
      const quoted = { forward: 100 - cash, strike, price: europeanWithCash(sigma, strike, 1, cash), sign: 1 };
      const european = blackDeviation({ quoted }).deviation;
      // A tenth of a point; a quote that is near to exercise at once says less, and is reported as left out.
      expect(Math.abs(fitted[i].implied! - european), `strike ${strike}`).toBeLessThan(1e-3);
      // A tenth of a point of the volatility, of which a point is worth at most 0.4 here.
      expect({ strike, near: Math.abs(repriced[i] - prices[i]) < 0.04 }).toEqual({ strike, near: true });
      const own = fitted[i].repriced ?? repriced[i];
      expect(Math.abs(own - repriced[i])).toBeLessThan(0.02);
      // A price above the quoted one is one of a higher volatility.
      const { repriced: fair, repricingError } = fitted[i];
      if (typeof fair === "number" && Math.abs(fair - prices[i]) > 1e-6)
        expect(Math.sign(repricingError!)).toBe(Math.sign(fair - prices[i]));
    });
    expect(repricingRmse).toBeLessThan(1.5e-3);
  });
});
