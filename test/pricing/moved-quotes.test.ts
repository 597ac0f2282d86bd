/** Scenarios of the spot with quotes that move, against books whose quotes were moved by hand. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fitsOf, movedUnderlying, readBook, readHeader } from "../../src/book/index.ts";
import { readHeaderWith } from "../../src/book/book.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, priceTrades } from "../../src/pricing/index.ts";

const strikes = [70, 80, 90, 95, 100, 105, 110, 120, 135];
const quotesAt = (scale: number): unknown[] =>
  [0.5, 1].flatMap((expiry) =>
    strikes.map((strike) => ({
      expiry,
      strike: strike * scale,
      implied: 0.22 - 0.15 * Math.log(strike / 100) + 0.1 * Math.log(strike / 100) ** 2 - 0.02 * expiry,
    })),
  );
interface Market {
  readonly fit: unknown;
  readonly spot?: number;
  readonly scale?: number;
  readonly scenarios?: unknown;
}
const book = ({ fit, spot = 100, scale = 1, scenarios }: Market): unknown => ({
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.03 },
    underlyings: {
      A: { spot, currency: "EUR", dividends: { yield: 0.01 }, volatility: { quotes: quotesAt(scale), fit } },
      B: { spot: 100, currency: "EUR", volatility: 0.2 },
    },
  },
  ...(scenarios === undefined ? {} : { scenarios }),
  trades: [
    { id: "call", underlying: "A", payoff: "call", strike: 105, expiry: 1 },
    { id: "put", underlying: "A", payoff: "put", strike: 95, expiry: 0.5, exercise: "american" },
    { id: "own", underlying: "A", volatility: 0.3, payoff: "put", strike: 95, expiry: 0.5 },
    { id: "other", underlying: "B", payoff: "call", strike: 100, expiry: 1 },
  ],
});
const MOVES = [-0.1, 0.05];

let device: ReturnType<typeof createCpuDevice>;
beforeAll(() => {
  device = createCpuDevice({ threads: 1 });
});
afterAll(() => device[Symbol.dispose]());

test.each(["heston", "svi", "andreasen-huge"])("of a fit by %s are fits of the moved quotes", async (fit) => {
  for (const quotes of ["sticky-strike", "sticky-delta"]) {
    const scenarios = { spot: MOVES, volatility: [0, 0.01], quotes };
    const { results, scenarios: axes } = await priceBook(readBook(book({ fit, scenarios })), { device });
    expect(axes?.quotes).toBe(quotes);
    for (const [s, move] of MOVES.entries()) {
      const spot = 100 * (1 + move);
      const scale = quotes === "sticky-delta" ? 1 + move : 1;
      const byHand = await priceBook(readBook(book({ fit, spot, scale, scenarios: { volatility: [0, 0.01] } })), {
        device,
        greeks: "none",
      });
      for (const i of [0, 1, 2]) {
        const [moved, wanted] = [results[i], byHand.results[i]];
        if (moved.status !== "ok" || wanted.status !== "ok") throw new Error("not priced");
        for (const v of [0, 1]) expect(moved.scenarios![0][s][v][0]).toBeCloseTo(wanted.scenarios![0][0][v][0]!, 6);
      }
    }
  }
});

test("leave the local volatility where it is unless they say otherwise, and trades without quotes alone", async () => {
  const under = async (quotes?: string): Promise<readonly (number | null)[]> => {
    const scenarios = { spot: [0.1], ...(quotes === undefined ? {} : { quotes }) };
    const header = readHeader(book({ fit: "svi", scenarios }));
    const found: (number | null)[] = [];
    const trades = header.trades.map((entry, i) => header.readEntry(entry, i));
    for await (const batch of priceTrades(trades, header, { device, batchSize: 2 }))
      for (const result of batch) found.push(result.status === "ok" ? result.scenarios![0][0][0][0] : null);
    return found;
  };
  const [standard, local, strike, delta] = await Promise.all([
    under(),
    under("sticky-local-volatility"),
    under("sticky-strike"),
    under("sticky-delta"),
  ]);
  expect(local).toEqual(standard);
  expect(strike[3]).toBe(standard[3]);
  // The skew falls: kept moneyness raises the volatility at a strike below the new spot, the local one lowers it.
  expect(delta[0]!).toBeGreaterThan(strike[0]! + 0.1);
  expect(strike[0]!).toBeGreaterThan(standard[0]! + 0.1);
});

test("name the word that is not known", () => {
  expect(() => readBook(book({ fit: "svi", scenarios: { quotes: "sticky" } }))).toThrow(/^scenarios\.quotes: expected/);
});

test("of a book whose fits a reader was given: it moves the quotes as the one that fitted them does", () => {
  const written = book({ fit: "svi" });
  const fits = fitsOf(readHeader(written).market);
  expect([...fits.keys()]).toEqual(["A"]);
  const [own, other] = [readHeader(written), readHeaderWith(written, fits)].map(({ market }) =>
    market.underlyings.get("A")!,
  );
  // The very object: nothing was fitted again.
  expect(other.volatility).toBe(fits.get("A"));
  expect(other).toEqual(own);
  const moved = [own, other].map((one) => movedUnderlying(one, 90, "sticky-strike"));
  expect(moved[1]).toEqual(moved[0]);
});

test("the error estimate of a cube is that of its worst spot, in whichever order spots stand", async () => {
  const estimatesOf = async (spot: readonly number[]): Promise<readonly (number | null)[]> => {
    const scenarios = { spot, quotes: "sticky-delta" };
    const { results } = await priceBook(readBook(book({ fit: "svi", scenarios })), { device, greeks: "none" });
    return results.map((one) => (one.status === "ok" ? one.scenarioErrorEstimates![0][0][0] : null));
  };
  const [low, high, both, turned] = [
    await estimatesOf([-0.3]),
    await estimatesOf([0.2]),
    await estimatesOf([-0.3, 0.2]),
    await estimatesOf([0.2, -0.3]),
  ];
  // The American put: the others have closed forms.
  expect(low[1]).not.toBe(high[1]);
  for (const found of [both, turned]) expect(found[1]).toBe(Math.max(low[1]!, high[1]!));
});
