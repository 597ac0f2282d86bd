/** Runs in the browser: the package as a page uses it. The test calls `feynkac.run` and asserts on what it returns. */
import { readBook } from "../../src/book/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { cover } from "../../.ci/consumer/cover.js";
import { cases } from "../conformance/cases/index.ts";
import { runCase } from "../conformance/run.ts";

export interface Report {
  readonly device: string;
  readonly isolated: boolean;
  readonly liveBuffers: number;
  readonly cases: number;
  /** The case, its precision, and how its results differ from the interpreter's. */
  readonly failures: readonly string[];
}

/**
 * Runs one of `every` cases of the conformance suite, from the first on, in every precision that the device offers; in
 * f32x2 alone if `emulated`.
 */
async function run(backend: "cpu" | "webgpu", every = 1, emulated = false): Promise<Report> {
  using device = await openDevice({ backend, ...(emulated ? { precision: "f64" } : {}) });
  const precisions: readonly Precision[] = emulated ? ["f32x2"] : device.precisions;
  const failures: string[] = [];
  let count = 0;
  for (const spec of cases.filter((_, k) => k % every === 0)) {
    for (const precision of precisions.filter((one) => spec.precisions?.includes(one) ?? true)) {
      failures.push(
        ...(await complaints(device, spec, precision)).map((text) => `${spec.name}, ${precision}: ${text}`),
      );
      count++;
    }
  }
  const { name, liveBuffers } = device;
  return { device: name, isolated: crossOriginIsolated, liveBuffers, cases: count, failures };
}

/** An American put, a European call and one with a cash dividend: how far emulated double is from f64, over spot. */
async function priceEmulated(): Promise<
  readonly { precision: string | null; backend: string | null; error: number }[]
> {
  const dividends = { discrete: [{ date: "2026-07-01", cash: 2 }] };
  const underlying = { spot: 100, currency: "EUR", volatility: 0.25 };
  const book = readBook({
    asOf: "2026-01-01",
    market: { rates: { EUR: 0.03 }, underlyings: { X: underlying, Y: { ...underlying, dividends } } },
    trades: [
      { id: "1", underlying: "X", payoff: "put", strike: 105, expiry: 1, exercise: "american" },
      { id: "2", underlying: "X", payoff: "call", strike: 95, expiry: 2 },
      { id: "3", underlying: "Y", payoff: "call", strike: 100, expiry: 1 },
    ],
  });
  using cpu = await openDevice({ backend: "cpu" });
  using webgpu = await openDevice({ backend: "webgpu", precision: "f64" });
  const expected = await priceBook(book, { device: cpu, method: "fdm" });
  const got = await priceBook(book, { device: webgpu, precision: "f64", method: "fdm" });
  return got.results.map(({ value, precision, backend }, i) => {
    const error = Math.abs((value ?? NaN) - (expected.results[i].value ?? NaN)) / underlying.spot;
    return { precision, backend, error };
  });
}

async function complaints(device: Device, spec: (typeof cases)[number], precision: Precision): Promise<string[]> {
  try {
    return await runCase(device, spec, precision);
  } catch (error) {
    return [String(error)];
  }
}

/** The message with which opening a device fails, or "opened". */
async function tryToOpen(backend: "webgpu" | "cuda"): Promise<string> {
  try {
    using device = await openDevice({ backend });
    return `opened ${device.name}`;
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
}

const api = { cover, priceEmulated, run, tryToOpen };
declare global {
  // What the test drives through page.evaluate.
  var feynkac: typeof api;
}
globalThis.feynkac = api;
