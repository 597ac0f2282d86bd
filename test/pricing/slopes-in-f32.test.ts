/**
 * Vega and rho in f32, where moves of inputs must be wide: by going back through the steps and, where there is no such
 * way or a device has no room for it, by wide moves, beside those in f64.
 */
import { afterAll, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../src/index.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

const cpu = createCpuDevice({ threads: 1 });
const webgpu = await openWebGpuForTests();
afterAll(() => {
  cpu[Symbol.dispose]();
  webgpu?.[Symbol.dispose]();
});

const put = { underlying: "A", payoff: "put", strike: 100, expiry: 0.7, exercise: "american" } as const;
const book = {
  asOf: "2026-01-01",
  method: "fdm",
  market: {
    rates: {
      C: [
        { date: 0.3, zero: 0.02 },
        { date: 1, zero: 0.03 },
      ],
    },
    underlyings: {
      A: {
        spot: 100,
        currency: "C",
        volatility: 0.25,
        dividends: { yield: 0.01, discrete: [{ date: 0.4, cash: 1.5 }] },
      },
    },
  },
  trades: [
    { ...put, id: "American" },
    // Policy iteration takes more memory than an item may have on WebGPU.
    { ...put, id: "knock-out", barriers: [{ type: "up-and-out", level: 108 }] },
    { ...put, id: "knock-in", barriers: [{ type: "down-and-in", level: 90 }] },
  ],
} as const satisfies BookInput;

async function price(device: Device, precision: "f64" | "f32"): Promise<readonly PricedTrade[]> {
  const options = { device, precision, greeks: "all", sensitivityErrorEstimates: true } as const;
  const { results } = await priceBook(readBook(book), options);
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

async function check(device: Device): Promise<void> {
  const [exact, found] = [await price(cpu, "f64"), await price(device, "f32")];
  for (const [i, { id, sensitivityErrorEstimates: errors, ...got }] of found.entries())
    for (const name of ["vega", "rho"] as const) {
      const difference = Math.abs(got[name]! - exact[i][name]!);
      expect(difference).toBeLessThan(errors![name]!);
      // Wide moves are off by so much; what goes back has rounding only, for both are off alike by the mesh.
      expect(difference).toBeLessThan((id === "American" ? 1e-5 : 3e-3) * Math.abs(exact[i][name]!));
    }
}

it("on the CPU", () => check(cpu));
it.skipIf(webgpu === undefined)("on WebGPU", { timeout: 240_000 }, () => check(webgpu!));
