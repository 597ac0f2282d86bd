/** Rates and volatilities that jump shortly before a date on which an option may be exercised: against a quadrature. */
import { describe, expect, it } from "vitest";
import { fromIntegral, integrate } from "../../src/market/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { backward, paid, right as rightOn } from "../../tools/coverage/references/backward.ts";
import { Random } from "../../tools/properties/random.ts";

interface Drawn {
  readonly right: "call" | "put";
  readonly strike: number;
  readonly expiry: number;
  readonly exercised: number;
  readonly rates: readonly { readonly date: number; readonly zero: number }[];
  readonly volatilities: readonly { readonly date: number; readonly volatility: number }[];
  readonly dividendYield: number;
}

const SPOT = 100;

function drawn(random: Random): Drawn {
  const expiry = random.logUniform(0.05, 12);
  const exercised = expiry * random.uniform(0.5, 0.999);
  // In the first steps of some of the grids.
  const jump = exercised * (1 - random.logUniform(0.01, 0.3));
  const dates = [jump, expiry];
  const [sigma, later] = [random.uniform(0.08, 0.4), random.uniform(0.6, 1.6)];
  const [rate, laterRate] = [random.uniform(-0.01, 0.12), random.uniform(-0.01, 0.12)];
  const shares = dates.map((date) => Math.min(jump, date) + Math.max(date - jump, 0) * later ** 2);
  return {
    right: random.choice(["call", "put"]),
    strike: SPOT * Math.exp(random.uniform(-0.5, 0.5) * sigma * Math.sqrt(expiry)),
    expiry,
    exercised,
    rates: dates.map((date) => ({
      date,
      zero: (rate * Math.min(jump, date) + laterRate * Math.max(date - jump, 0)) / date,
    })),
    volatilities: dates.map((date, i) => ({ date, volatility: sigma * Math.sqrt(shares[i] / date) })),
    dividendYield: random.uniform(0, 0.08),
  };
}

function exact({ right, strike, expiry, exercised, rates, volatilities, dividendYield }: Drawn): number {
  const dates = rates.map(({ date }) => date);
  const forward = fromIntegral(
    dates,
    rates.map(({ date, zero }) => zero * date),
  );
  const squares = fromIntegral(
    dates,
    volatilities.map(({ date, volatility }) => volatility ** 2 * date),
  );
  const over = (f: typeof forward, from: number, to: number): number => integrate(f, to) - integrate(f, from);
  const motion = {
    variance: (from: number, to: number) => over(squares, from, to),
    drift: (from: number, to: number) =>
      over(forward, from, to) - dividendYield * (to - from) - 0.5 * over(squares, from, to),
    discount: (from: number, to: number) => Math.exp(-over(forward, from, to)),
  };
  const sign = right === "call" ? 1 : -1;
  const intrinsic = (x: number): number => Math.max(sign * (Math.exp(x) - strike), 0);
  const stages = [rightOn(exercised, intrinsic), paid(expiry, intrinsic, [Math.log(strike)])];
  return backward(Math.log(SPOT), motion, stages);
}

describe("coefficients that jump in the damped steps before a date", () => {
  it("leave errors within the estimates", async () => {
    const random = new Random(1);
    const all = Array.from({ length: 150 }, () => drawn(random));
    const book = {
      asOf: "2026-01-01",
      market: {
        rates: Object.fromEntries(all.map(({ rates }, i) => [`C${i}`, rates])),
        underlyings: Object.fromEntries(
          all.map(({ volatilities, dividendYield }, i) => [
            `U${i}`,
            {
              spot: SPOT,
              volatility: { termStructure: volatilities },
              dividends: { yield: dividendYield },
              currency: `C${i}`,
            },
          ]),
        ),
      },
      trades: all.map(({ right, strike, expiry, exercised }, i) => ({
        id: `${i}`,
        underlying: `U${i}`,
        payoff: right,
        strike,
        expiry,
        exercise: [exercised],
      })),
    };
    const { results } = await priceBook(parseBook(book), { greeks: "none" });
    const multiples = results.map((result, i) => {
      if (result.status !== "ok") throw new Error(result.error.message);
      return (Math.abs(result.value - exact(all[i])) - 1e-7) / result.errorEstimate;
    });
    const outside = multiples.filter((multiple) => multiple > 1);
    console.log(`largest error ${Math.max(...multiples).toFixed(2)} estimates; beyond: ${outside.length} of 150`);
    // Without restarts 41 are beyond, by up to 6.5 times.
    expect(outside.length).toBeLessThanOrEqual(1);
    expect(Math.max(...multiples)).toBeLessThan(1.5);
  });
});
