import { afterAll, describe, expect, it, vi } from "vitest";
import { exp } from "../../src/kernel/math/exp.ts";
import type { Device } from "../../src/device/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { dealt } from "../support/extent.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";
import { FORMULA_TOLERANCE, formulas } from "./formula-trades.ts";
import { priced, type ReferenceTrade } from "./reference.ts";
import { HONEST, OF_SPOT, referenceErrors, solvableTrades } from "./reference-errors.ts";

const all: readonly ReferenceTrade[] = solvableTrades();
const trades = all.map(({ trade }) => trade);

const one = await openDevice({ backend: "cpu", threads: 1 });
const two = await openDevice({ backend: "cpu", threads: 2 });
const webgpu = await openWebGpuForTests();

afterAll(() => {
  for (const device of [one, two, webgpu]) {
    expect(device?.liveBuffers ?? 0).toBe(0);
    device?.[Symbol.dispose]();
  }
});

async function worstError(
  device: Device,
  options: { precision: "f64" | "f32"; method: "auto" | "fdm" },
  cases = all,
): Promise<{ id: string; overSpot: number; honest: number }> {
  const errors = await referenceErrors(device, options, cases);
  const worst = errors.reduce((a, b) => (b.overSpot > a.overSpot ? b : a));
  return { ...worst, honest: errors.filter(({ honest }) => honest).length / errors.length };
}

describe("the reference cases on every device", () => {
  it.each(["auto", "fdm"] as const)("CPU, f64, method %s: within 2e-5 of spot", async (method) => {
    // Finite differences are what "auto" takes for most of them.
    const own = method === "auto" ? all : dealt(all, 0, 2);
    const { id, overSpot, honest } = await worstError(two, { precision: "f64", method }, own);
    expect({ id, fine: overSpot <= OF_SPOT.f64 }).toEqual({ id, fine: true });
    expect(honest).toBeGreaterThanOrEqual(HONEST);
  });

  it.each(["auto", "fdm"] as const)("CPU, f32, method %s: within 3e-4 of spot", async (method) => {
    // Other reference cases by each of the two.
    const own = dealt(all, method === "auto" ? 0 : 2, 4);
    const { id, overSpot, honest } = await worstError(two, { precision: "f32", method }, own);
    expect({ id, fine: overSpot <= OF_SPOT.f32 }).toEqual({ id, fine: true });
    expect(honest).toBeGreaterThanOrEqual(HONEST);
  });

  it.skipIf(webgpu === undefined).each(["auto", "fdm"] as const)(
    "WebGPU, f32, method %s: within 3e-4 of spot",
    async (method) => {
      // Other reference cases by each of the two, others still in emulated double: see emulated-double.test.ts.
      const own = dealt(all, method === "auto" ? 0 : 6, 24);
      const { id, overSpot, honest } = await worstError(webgpu as Device, { precision: "f32", method }, own);
      expect({ id, fine: overSpot <= OF_SPOT.f32 }).toEqual({ id, fine: true });
      expect(honest).toBeGreaterThanOrEqual(HONEST);
    },
  );
});

describe("formulas on every device", () => {
  let plain: ReturnType<typeof priced> | undefined;

  async function check(device: Device, precision: "f64" | "f32", tolerance: number, hands = 1): Promise<void> {
    const expected = await (plain ??= priced(formulas, { device: new PlainDevice() }));
    const own = dealt(formulas, 0, hands);
    const got = await priced(own, { device, precision });
    got.forEach(({ value }, i) => {
      const { value: exact } = expected[formulas.indexOf(own[i])];
      expect(Math.abs(value - exact)).toBeLessThanOrEqual(tolerance);
    });
  }

  it("CPU, f64", () => check(two, "f64", FORMULA_TOLERANCE.f64));
  it("CPU, f32", () => check(two, "f32", FORMULA_TOLERANCE.f32));
  it.skipIf(webgpu === undefined)("WebGPU, f32", () => check(webgpu as Device, "f32", FORMULA_TOLERANCE.f32, 2));
});

describe("the same numbers", () => {
  const some = dealt(trades, 0, 8);

  it("on one thread and on two, bit for bit, Greeks too", async () => {
    const [first, second] = [await priced(some, { device: one }), await priced(some, { device: two })];
    expect(second).toEqual(first);
  });

  it("whatever the trades share a batch with", async () => {
    const [together, apart] = [
      await priced(some, { device: two }),
      await priced([...some].reverse(), { device: two, batchSize: 7 }),
    ];
    expect(apart.reverse()).toEqual(together);
  });

  it("as plain JavaScript, given the kernels' own exponential", async () => {
    const american = trades.filter(({ id }) => id.startsWith("AMR"));
    const host = vi.spyOn(Math, "exp").mockImplementation((x) => exp(x));
    try {
      const by = (device: Device) => priced(american, { device, method: "fdm" });
      expect(await by(one)).toEqual(await by(new PlainDevice()));
      expect(host).toHaveBeenCalled();
    } finally {
      host.mockRestore();
    }
  });
});
