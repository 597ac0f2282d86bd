/** The error estimates of values under the local volatility of a fitted smile contain what it does not give back. */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type BookInput, parseBook, priceBook, type PricedTrade, type TradeInput } from "../../src/index.ts";
import { everything } from "../support/extent.ts";
import { uniform } from "../calibration/uniform.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

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
function marketOf(
  random: () => number,
  fit: (typeof FITS)[number],
  spoil: (implied: number, i: number) => number = (implied) => implied,
): BookInput["market"] {
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
  const spoilt = quotes.map((one, i) => ({ ...one, implied: spoil(one.implied, i) }));
  const underlying = { spot: 100, currency: "EUR", volatility: { quotes: spoilt, fit } };
  return { rates: { EUR: rate }, underlyings: { U: underlying } };
}

async function priced(
  market: BookInput["market"],
  trades: readonly TradeInput[],
  options = {},
): Promise<readonly PricedTrade[]> {
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
      for (let i = 0; i < (everything ? 2 : 1); i++) {
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

it.each(["andreasen-huge", { local: { method: "adjoint" } }] as const)(
  "a one-touch by %o has the misfit in its estimate as the no-touch has, and no estimate exceeds what may be paid",
  async (fit) => {
    const random = uniform(33);
    for (let round = 0; round < 2; round++) {
      // The second market has a bad tick, which no local volatility meets.
      const bad = round === 0 ? -1 : Math.floor(21 * random());
      const market = marketOf(random, fit, (implied, i) => (i === bad ? 2.5 * implied : implied));
      const trades = [88, 115].flatMap((level, i): TradeInput[] => {
        const common = { underlying: "U", expiry: 0.6 } as const;
        const type = level > 100 ? "up-and-out" : "down-and-out";
        const touch = { type, level, rebate: 100, rebateAt: "expiry" } as const;
        return [
          { id: `touch ${i}`, ...common, payoff: { expression: "0" }, barriers: [touch] },
          { id: `no touch ${i}`, ...common, payoff: { expression: "100" }, barriers: [{ type, level }] },
          {
            id: `digital ${i}`,
            ...common,
            payoff: { digital: level > 100 ? "call" : "put", cash: 100 },
            strike: level,
          },
          { id: `put ${i}`, ...common, payoff: "put", strike: level, exercise: "american" },
          { id: `european ${i}`, ...common, payoff: "put", strike: level },
        ];
      });
      const exact = await priced(market, trades);
      const digitals = await priced(
        market,
        trades.filter(({ id }) => id.startsWith("digital")),
        { method: "fdm" },
      );
      digitals.forEach((digital, i) => {
        const [touch, noTouch, smile, american, european] = exact.slice(5 * i, 5 * i + 5);
        // The local volatility misses the digital of the smile by this, and by reflection the touch by more.
        const missed = Math.abs(digital.value - smile.value);
        expect(touch.errorEstimate).toBeGreaterThan(missed - digital.errorEstimate / 10);
        expect(noTouch.errorEstimate).toBeGreaterThan(missed - digital.errorEstimate / 10);
        for (const one of [touch, noTouch, digital, american]) expect(one.errorEstimate).toBeLessThanOrEqual(125.01);
        // Early exercise is worth no less than the European option of the smile, within the estimates.
        expect(american.value + american.errorEstimate).toBeGreaterThan(european.value - european.errorEstimate);
      });
    }
  },
);
