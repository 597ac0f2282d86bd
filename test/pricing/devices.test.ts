import { afterAll, describe, expect, it } from "vitest";
import type { Device } from "../../src/device/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";
import { priced, referenceTrades, trade } from "./reference.ts";

const all = referenceTrades().filter(({ trade }) => trade.id !== "EUR-O-13");
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
): Promise<{ id: string; overSpot: number; honest: number }> {
  const got = await priced(trades, { device, greeks: "none", ...options });
  const errors = all.map(({ expected }, i) => Math.abs(got[i].value - expected["price"]));
  const overSpot = errors.map((error, i) => error / trades[i].underlying.spot);
  const worst = overSpot.indexOf(Math.max(...overSpot));
  const honest =
    errors.filter((error, i) => error <= got[i].errorEstimate + 0.01 * all[i].tolerance).length / errors.length;
  return { id: trades[worst].id, overSpot: overSpot[worst], honest };
}

describe("the reference cases on every device", () => {
  it.each(["auto", "fdm"] as const)("CPU, f64, method %s: within 2e-5 of spot", async (method) => {
    const { id, overSpot, honest } = await worstError(two, { precision: "f64", method });
    expect({ id, fine: overSpot <= 2e-5 }).toEqual({ id, fine: true });
    expect(honest).toBeGreaterThanOrEqual(0.95);
  });

  it.each(["auto", "fdm"] as const)("CPU, f32, method %s: within 3e-4 of spot", async (method) => {
    const { id, overSpot, honest } = await worstError(two, { precision: "f32", method });
    expect({ id, fine: overSpot <= 3e-4 }).toEqual({ id, fine: true });
    expect(honest).toBeGreaterThanOrEqual(0.95);
  });

  it.skipIf(webgpu === undefined).each(["auto", "fdm"] as const)(
    "WebGPU, f32, method %s: within 3e-4 of spot",
    async (method) => {
      const { id, overSpot, honest } = await worstError(webgpu as Device, { precision: "f32", method });
      expect({ id, fine: overSpot <= 3e-4 }).toEqual({ id, fine: true });
      expect(honest).toBeGreaterThanOrEqual(0.95);
    },
  );
});

describe("formulas on every device", () => {
  const american = { kind: "american" } as const;
  const formulas = [
    trade({ exercise: american, volatility: { kind: "local", expression: "0.2 + 0.1*exp(-S/100)" } }),
    trade({
      exercise: american,
      volatility: { kind: "local", expression: "0.15 + 0.1*exp(-t)*max(0.5, min(2, S/100))" },
    }),
    trade({ volatility: { kind: "local", expression: "0.2 + 0.05*sin(3*t)" } }),
    trade({
      exercise: american,
      payoff: { kind: "expression", expression: "max(110 - S, 0) + 0.5*max(S - 120, 0)", kinks: [110, 120] },
    }),
  ];

  async function check(device: Device, precision: "f64" | "f32", tolerance: number): Promise<void> {
    const expected = await priced(formulas, { device: new PlainDevice() });
    const got = await priced(formulas, { device, precision });
    got.forEach(({ value }, i) => expect(Math.abs(value - expected[i].value)).toBeLessThanOrEqual(tolerance));
  }

  it("CPU, f64", () => check(two, "f64", 1e-9));
  it("CPU, f32", () => check(two, "f32", 2e-3));
  it.skipIf(webgpu === undefined)("WebGPU, f32", () => check(webgpu as Device, "f32", 2e-3));
});

describe("the same numbers", () => {
  it("on one thread and on two, bit for bit, Greeks too", async () => {
    const [first, second] = [await priced(trades, { device: one }), await priced(trades, { device: two })];
    expect(second).toEqual(first);
  });

  it("whatever the trades share a batch with", async () => {
    const [together, apart] = [
      await priced(trades, { device: two }),
      await priced([...trades].reverse(), { device: two, batchSize: 7 }),
    ];
    expect(apart.reverse()).toEqual(together);
  });

  it("as plain JavaScript, where the formulas use no transcendental function", async () => {
    const american = trades.filter(({ id }) => id.startsWith("AMR"));
    expect(await priced(american, { device: one })).toEqual(await priced(american, { device: new PlainDevice() }));
  });
});
