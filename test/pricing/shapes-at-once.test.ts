/** On a GPU, problems of several shapes are solved at a time: a stand-in for one, which ends them in any order. */
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { type BookInput, priceBook, readBook, type TradeResult } from "../../src/index.ts";
import { solver } from "../../src/pricing/methods/sparse-grid/solver.ts";

const asset = { spot: 100, currency: "EUR", volatility: 0.2 };
const two = { underlyings: ["A", "B"], strike: 100, expiry: 1 };
const book: BookInput = {
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.03 },
    underlyings: { A: asset, B: { ...asset, volatility: 0.3 } },
    correlations: [["A", "B", 0.4]],
  },
  method: "sparse-grid",
  trades: [
    { id: "basket", ...two, payoff: { basket: "put", weights: [0.5, 0.5] } },
    { id: "best", ...two, payoff: { bestOf: "call" } },
    // The difference of two problems, each of its own shape.
    { id: "in", ...two, payoff: { bestOf: "call" }, barriers: [{ type: "up-and-in", level: 130 }] },
    { id: "worst", ...two, payoff: { worstOf: "put" } },
    { id: "spread", ...two, payoff: { spread: "call" }, strike: 5 },
  ],
};

const cpu = createCpuDevice({ threads: 1 });
const claims: Readonly<Record<string | symbol, unknown>> = { backend: "cuda", parallelism: 2 ** 17 };
const gpu = new Proxy(cpu, {
  get: (of, name) => claims[name] ?? (Reflect.get(of, name, of) as unknown),
}) as unknown as Device;
const { solve } = solver;
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  expect(cpu.liveBuffers).toBe(0);
  cpu[Symbol.dispose]();
});

/** Prices with as many solutions at a time as are asked for; the k-th of them waits for `wait(k)` milliseconds. */
async function priced(device: Device, wait: (k: number) => number, failing = -1) {
  let [begun, running, most] = [0, 0, 0];
  vi.spyOn(solver, "solve").mockImplementation(async (problem, options) => {
    const k = begun++;
    most = Math.max(most, ++running);
    try {
      await setTimeout(wait(k));
      if (k === failing) throw new Error("planted");
      return await solve(problem, { ...options, device: cpu });
    } finally {
      running--;
    }
  });
  const { results } = await priceBook(readBook(book), { device, greeks: "none" });
  vi.restoreAllMocks();
  return { most, results };
}

const valuesOf = (results: readonly TradeResult[]): readonly (number | string)[] =>
  results.map((result) => (result.status === "error" ? result.error.message : result.value));

test("the bits do not depend on what is ready first", async () => {
  const alone = await priced(cpu, () => 0);
  const together = await priced(gpu, (k) => 40 - 10 * (k % 5));
  expect(alone.most).toBe(1);
  expect(together.most).toBe(4);
  expect(valuesOf(together.results)).toEqual(valuesOf(alone.results));
});

test("one that fails leaves the others their results", async () => {
  const { results } = await priced(gpu, () => 1, 1);
  const failed = results.filter((result) => result.status === "error");
  // The same problem is a part of the knock-in.
  expect(failed.map(({ id, error }) => [id, error.message])).toEqual([
    ["best", expect.stringContaining("planted")],
    ["in", expect.stringContaining("planted")],
  ]);
});
