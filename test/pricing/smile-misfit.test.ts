/** The error estimates of values under the local volatility of a fitted smile contain what it does not give back. */
import { describe, expect, it } from "vitest";
import { openDevice } from "../../src/device/index.ts";
import { type BookInput, parseBook, priceBook, type PricedTrade, type TradeInput } from "../../src/index.ts";
import { uniform } from "../calibration/uniform.ts";

const FITS = [
  "svi",
  "ssvi",
  "essvi",
  "andreasen-huge",
  "local",
  { sabr: { beta: 0.7 } },
  { local: { method: "adjoint" } },
] as const;

/** Quotes of a random smile, whose volatility falls from a first expiry to the others as after an event. */
function marketOf(random: () => number, fit: (typeof FITS)[number]): BookInput["market"] {
  const between = (low: number, high: number): number => low + (high - low) * random();
  const [rate, level, skew, bend, event] = [
    between(0, 0.05),
    between(0.15, 0.5),
    between(-0.08, 0.03),
    between(0.01, 0.03),
    between(0, 0.3),
  ];
  const quotes = [0.08, 0.3, 1].flatMap((expiry) =>
    [-1.8, -1.2, -0.6, 0, 0.6, 1.2, 1.8].map((z) => {
      const own = Math.sqrt(level * level + (event * event * 0.08) / expiry);
      const implied = own * (1 + skew * z + bend * z * z);
      return { expiry, strike: 100 * Math.exp(rate * expiry + z * own * Math.sqrt(expiry)), implied };
    }),
  );
  const underlying = { spot: 100, currency: "EUR", volatility: { quotes, fit } };
  return { rates: { EUR: rate }, underlyings: { U: underlying } };
}

async function priced(
  market: BookInput["market"],
  trades: readonly TradeInput[],
  options = {},
): Promise<readonly PricedTrade[]> {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const book = parseBook({ asOf: "2026-11-20", market, trades });
  const { results } = await priceBook(book, { device, greeks: "none", ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const STRIKES = [80, 95, 100, 106, 125];
const options = (more: Partial<TradeInput>): TradeInput[] =>
  [0.05, 0.2, 0.7].flatMap((expiry) =>
    STRIKES.map((strike) => {
      return { id: `${strike} ${expiry}`, underlying: "U", payoff: "call", strike, expiry, ...more } as TradeInput;
    }),
  );

describe.each(FITS.map((fit) => [typeof fit === "string" ? fit : JSON.stringify(fit), fit] as const))(
  "Local volatilities of quotes fitted by %s",
  (_, fit) => {
    it("give calls within their estimates of what the smile says, with and without early exercise", async () => {
      const random = uniform(31);
      for (let i = 0; i < 2; i++) {
        const market = marketOf(random, fit);
        const exact = await priced(market, options({}));
        const american = await priced(market, options({ exercise: "american" }));
        const grid = await priced(market, options({}), { method: "fdm" });
        exact.forEach(({ value, errorEstimate, method }, at) => {
          expect(method).toBe("implied-volatility");
          for (const own of [american[at], grid[at]]) {
            expect(own.method).toBe("fdm");
            expect(Math.abs(own.value - value)).toBeLessThanOrEqual(own.errorEstimate + errorEstimate);
          }
        });
      }
    });

    it("give digitals and formulas within their estimates of what the smile says", async () => {
      const market = marketOf(uniform(32), fit);
      const digitals = options({ payoff: { digital: "call", cash: 10 } });
      const formulas = STRIKES.map((strike) => {
        const expression = `max(S - ${strike}, 0) - 2*max(S - ${1.1 * strike}, 0)`;
        return {
          id: expression,
          underlying: "U",
          payoff: { expression, kinks: [strike, 1.1 * strike] },
          expiry: 0.5,
        };
      });
      const trades = [...digitals, ...formulas];
      const exact = await priced(market, trades);
      const grid = await priced(market, trades, { method: "fdm" });
      exact.forEach(({ value, errorEstimate }, at) => {
        expect(Math.abs(grid[at].value - value)).toBeLessThanOrEqual(grid[at].errorEstimate + errorEstimate);
      });
    });
  },
);
