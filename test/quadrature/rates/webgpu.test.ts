/**
 * Trades on rates with WebGPU, in f32 and in emulated double, beside f64 on the CPU. Rights in emulated double take a
 * software adapter minutes to compile.
 */
import { afterAll, describe, expect, test } from "vitest";
import { readBook } from "../../../src/book/index.ts";
import { openDevice } from "../../../src/device/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { openWebGpuForTests } from "../../support/webgpu.ts";

const cpu = await openDevice({ backend: "cpu", threads: 1 });
const webgpu = await openWebGpuForTests();
afterAll(() => {
  expect(webgpu?.liveBuffers ?? 0).toBe(0);
  for (const device of [cpu, webgpu]) device?.[Symbol.dispose]();
});

const curve = [0.5, 2, 5, 10].map((date, i) => ({ date, zero: 0.02 + 0.003 * i }));
const bond = { maturity: 5, coupon: 0.03, frequency: 1, notional: 100 };
const swap = { start: 1, end: 5, frequency: 1, notional: 100 };
const calls = [2, 3].map((date) => ({ date, price: 100 }));
const european = [
  { bond },
  { swaption: "payer", strike: 0.03, expiry: 1, swap },
  { cap: { start: 1, end: 4, frequency: 2, notional: 100 }, strike: 0.03 },
];
const rights = [{ bond: { ...bond, calls } }, { swaption: "receiver", strike: 0.03, exercise: [1, 2, 3], swap }];
const all = {
  EU: [{ hullWhite: { meanReversion: 0.05, volatility: 0.01, curve } }, european],
  HW: [{ hullWhite: { meanReversion: 0.05, volatility: 0.01, curve } }, [...european, ...rights]],
  G2: [{ g2: { a: 0.5, sigma: 0.01, b: 0.05, eta: 0.008, rho: -0.7, curve } }, [...european, ...rights]],
  CIR: [{ cir: { r0: 0.03, kappa: 0.5, theta: 0.04, sigma: 0.1 } }, european],
  BK: [{ blackKarasinski: { meanReversion: 0.1, volatility: 0.2, curve } }, rights],
} as const;

function bookOf(names: readonly (keyof typeof all)[]) {
  const rates = Object.fromEntries(names.map((name) => [name, all[name][0]]));
  const trades = names.flatMap((name) =>
    all[name][1].map((trade, i) => ({ ...trade, currency: name, id: `${name}-${i}` })),
  );
  return readBook({ asOf: "2026-01-01", market: { rates }, trades });
}

describe.skipIf(webgpu === undefined)("trades on rates with WebGPU", () => {
  test.each([
    ["f32", ["HW", "G2", "CIR", "BK"]],
    ["f64", ["EU"]],
  ] as const)(
    "differ from f64 on the CPU by less than their estimates, %s",
    async (precision, names) => {
      const book = bookOf(names);
      const expected = await priceBook(book, { device: cpu, greeks: "none" });
      const got = await priceBook(book, { device: webgpu!, greeks: "none", precision });
      const beyond = got.results.flatMap((result, i) => {
        const exact = expected.results[i];
        if (result.status !== "ok" || exact.status !== "ok") return [result];
        const error = Math.abs(result.value - exact.value);
        return error <= (result.errorEstimate ?? 0) + (exact.errorEstimate ?? 0) ? [] : [{ error, ...result }];
      });
      expect(beyond).toEqual([]);
    },
    600_000,
  );
});
