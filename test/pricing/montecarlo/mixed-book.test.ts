/** A book of Asians, baskets and swings: errors where they belong, progress, cancelling, and the same bits anyhow. */
import { afterAll, expect, test } from "vitest";
import { pathHeader, pathTrade } from "../../../bench/paths-book.ts";
import { parseBook, type TradeResult } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, priceTrades } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** A few of each kind; 49, 99 and 149 are wrong. Swings on two factors take longer to make than all others together. */
const NUMBERS = [0, 1, 2, 3, 4, 5, 49, 10, 15, 99, 20, 149] as const;
const WRONG = [49, 99, 149];
const book = parseBook(JSON.stringify({ ...pathHeader, trades: NUMBERS.map(pathTrade) }));

test("errors are those of their trades, and each says where it is", async () => {
  const { results, priced, failed } = await priceBook(book, { device, greeks: "none" });
  expect([priced, failed]).toEqual([NUMBERS.length - WRONG.length, WRONG.length]);
  results.forEach((result, i) => {
    const isWrong = WRONG.includes(NUMBERS[i]);
    expect([result.status, NUMBERS[i]]).toEqual([isWrong ? "error" : "ok", NUMBERS[i]]);
    if (result.status === "error") expect(result.error.message).toContain(`trades[${i}]`);
  });
  const methods = results.map((result) => (result.status === "ok" ? result.method : ""));
  expect(new Set(methods)).toEqual(new Set(["montecarlo", "convolution", ""]));
});

test("a trade has the same value in batches of any size", async () => {
  const options = { device, greeks: "grid" } as const;
  const together = await priceBook(book, options);
  const oneByOne = await priceBook(book, { ...options, batchSize: 1 });
  expect(oneByOne.results).toEqual(together.results);
});

test("progress is told batch by batch; cancelled, what is finished stays", async () => {
  const stop = new AbortController();
  const done: number[] = [];
  const finished: TradeResult[] = [];
  const onProgress = (progress: { readonly done: number; readonly total: number | undefined }): void => {
    done.push(progress.done);
    expect(progress.total).toBe(NUMBERS.length);
    if (progress.done === 4) stop.abort(new Error("enough"));
  };
  const options = { device, greeks: "none", batchSize: 2, signal: stop.signal, onProgress } as const;
  const run = async (): Promise<void> => {
    for await (const batch of priceTrades(book.trades, book, options)) finished.push(...batch);
  };
  await expect(run()).rejects.toThrow("enough");
  expect(done).toEqual([2, 4]);
  expect(finished.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
});

test("volatilities of different shape, and the cross gamma, beside finite differences", async () => {
  const shape = (first: number, second: number) => ({
    termStructure: [
      { date: 0.5, volatility: first },
      { date: 1, volatility: second },
    ],
  });
  const of = (method: "adi" | "montecarlo") =>
    parseBook(
      JSON.stringify({
        asOf: "2026-01-01",
        market: {
          rates: { EUR: 0.03 },
          underlyings: {
            A: { spot: 100, currency: "EUR", volatility: shape(0.4, 0.3) },
            B: { spot: 95, currency: "EUR", volatility: shape(0.1, 0.4) },
          },
          correlations: [["A", "B", 0.8]],
        },
        method,
        trades: [
          { id: "1", underlyings: ["A", "B"], payoff: { spread: "call" }, strike: 5, expiry: 1 },
          { id: "2", underlyings: ["A", "B"], payoff: { basket: "put", weights: [0.5, 0.5] }, strike: 100, expiry: 1 },
        ],
      }),
    );
  const [exact, sampled] = await Promise.all(
    (["adi", "montecarlo"] as const).map(
      async (method) => (await priceBook(of(method), { device, accuracy: { relative: 1e-4 } })).results,
    ),
  );
  exact.forEach((one, i) => {
    const other = sampled[i];
    if (one.status !== "ok" || other.status !== "ok") throw new Error("not priced");
    expect(Math.abs(one.value - other.value)).toBeLessThan(1.5 * other.errorEstimate + one.errorEstimate);
    const [[, , cross]] = one.crossGamma!;
    const [[first, second, found]] = other.crossGamma!;
    expect([first, second]).toEqual(["A", "B"]);
    // Differences over one per cent, on 2¹⁴ paths and more.
    expect(Math.abs(found - cross)).toBeLessThan(0.1 * Math.abs(cross));
  });
});

test("early exercise in Heston's model, whose variance the rule sees, beside finite differences", async () => {
  const heston = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.6, rho: -0.7 };
  const terms = { underlying: "H", payoff: "put", strike: 100, expiry: 1, exercise: [0.2, 0.4, 0.6, 0.8] };
  const of = (method: "adi" | "montecarlo") =>
    parseBook(
      JSON.stringify({
        asOf: "2026-01-01",
        market: { rates: { EUR: 0.08 }, underlyings: { H: { spot: 100, currency: "EUR", volatility: { heston } } } },
        method,
        trades: [{ id: "1", ...terms }],
      }),
    );
  const options = { device, greeks: "none" } as const;
  const [[exact], [sampled]] = await Promise.all(
    (["adi", "montecarlo"] as const).map(async (method) => (await priceBook(of(method), options)).results),
  );
  if (exact.status !== "ok" || sampled.status !== "ok") throw new Error("not priced");
  const error = 1.5 * sampled.errorEstimate + exact.errorEstimate;
  expect(sampled.value - exact.value).toBeLessThan(error);
  // The bias of a rule from 2¹⁴ paths.
  expect(exact.value - sampled.value).toBeLessThan(error + 0.02);
});

test("what has no paths fails alone, and the trades that are simulated with it keep their bits", async () => {
  const variance = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.5 };
  const volatilities = [variance, { ...variance, sigma: 0 }, { ...variance, kappa: 0 }, { ...variance, rho: 0.5 }];
  const bookOf = (some: readonly number[]) => {
    const [common, average] = [
      { spot: 100, currency: "EUR" },
      { kind: "arithmetic", dates: [0.5, 1] },
    ];
    const underlyings = volatilities.map((heston, i) => [`H${i}`, { ...common, volatility: { heston } }] as const);
    const trade = { payoff: "call", strike: 100, expiry: 1, average };
    return parseBook(
      JSON.stringify({
        asOf: "2026-01-01",
        market: { rates: { EUR: 0.02 }, underlyings: Object.fromEntries(underlyings) },
        trades: some.map((i) => ({ id: `${i}`, underlying: `H${i}`, ...trade })),
      }),
    );
  };
  const { results } = await priceBook(bookOf([0, 1, 2, 3]), { device, greeks: "grid" });
  expect(results.map(({ status }) => status)).toEqual(["ok", "error", "error", "ok"]);
  expect([results[0], results[3]]).toEqual((await priceBook(bookOf([0, 3]), { device, greeks: "grid" })).results);
});
