import { afterAll, describe, expect, it } from "vitest";
import type { PricedTrade, Trade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { dealt } from "../support/extent.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";
import { priced, trade } from "./reference.ts";

const cpu = createCpuDevice({ threads: 2, share: "always" });
const webgpu = await openWebGpuForTests();
afterAll(() => {
  for (const device of [cpu, webgpu]) {
    expect(device?.liveBuffers ?? 0).toBe(0);
    device?.[Symbol.dispose]();
  }
});

const american = { kind: "american" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const cash = (time: number, amount: number) => ({
  dividends: dividendSchedule(0, [{ time, cash: amount, proportional: 0 }]),
});
const halfADay = 0.5 / 365;

/** Trades on the mesh in a limit, with what theory says of them: a number, or a trade that has a closed form. */
const limits: readonly (readonly [name: string, limit: Trade, theory: number | Trade])[] = [
  ["σ → 0, call", trade({ volatility: flatVolatility(1e-3), payoff: call(90) }), 100 - 90 * Math.exp(-0.05)],
  ["σ → 0, put out of the money", trade({ volatility: flatVolatility(1e-3), payoff: put(90) }), 0],
  [
    "σ → 0, American put: exercised now",
    trade({ volatility: flatVolatility(1e-3), payoff: put(110), exercise: american }),
    10,
  ],
  ["T → 0, in the money", trade({ expiry: 1e-8, payoff: put(110) }), 10],
  ["T → 0, out of the money, American", trade({ expiry: 1e-8, payoff: call(110), exercise: american }), 0],
  ["half a day, at the money", trade({ expiry: halfADay }), trade({ expiry: halfADay })],
  [
    "half a day, American call that is never exercised",
    trade({ expiry: halfADay, payoff: call(100), exercise: american }),
    trade({ expiry: halfADay, payoff: call(100) }),
  ],
  [
    "r < 0: an American put is never exercised",
    trade({ exercise: american, market: { rates: constant(-0.04) } }),
    trade({ market: { rates: constant(-0.04) } }),
  ],
  [
    "r < 0, European call",
    trade({ payoff: call(100), market: { rates: constant(-0.04) } }),
    trade({ payoff: call(100), market: { rates: constant(-0.04) } }),
  ],
  ["far in the money, call", trade({ payoff: call(0.1) }), 100 - 0.1 * Math.exp(-0.05)],
  ["far in the money, American put", trade({ payoff: put(1000), exercise: american }), 900],
  ["far out of the money, call", trade({ payoff: call(1e4) }), 0],
  ["far out of the money, American put", trade({ payoff: put(1), exercise: american }), 0],
  ["a dividend larger than any spot, put", trade({ market: cash(0.5, 300) }), 100 * Math.exp(-0.05)],
  ["a dividend larger than any spot, call", trade({ market: cash(0.5, 300), payoff: call(100) }), 0],
  [
    "a dividend larger than any spot: an American call expires just before it",
    trade({ market: cash(0.5, 300), payoff: call(100), exercise: american }),
    trade({ expiry: 0.5, payoff: call(100) }),
  ],
  [
    "a dividend larger than any spot: an American put waits for it",
    trade({ market: cash(0.5, 300), payoff: put(100), exercise: american }),
    100 * Math.exp(-0.05 * 0.5),
  ],
];

async function check(device: Device, precision: "f64" | "f32", tolerance: number, of = limits): Promise<void> {
  const got = await priced(
    of.map(([, limit]) => limit),
    { device, precision, method: "fdm" },
  );
  const closed = await priced(
    of.map(([, , theory]) => (typeof theory === "number" ? trade() : theory)),
    { device: cpu },
  );
  of.forEach(([name, , theory], i) => {
    const expected = typeof theory === "number" ? theory : closed[i].value;
    const { value, errorEstimate, warnings } = got[i];
    // Where drift dominates diffusion the scheme is of first order, and says so: there its own estimate has to hold.
    const allowed = 100 * tolerance + (warnings.length > 0 ? errorEstimate : 0);
    expect({ name, value, expected, fine: Math.abs(value - expected) <= allowed }).toMatchObject({
      fine: true,
    });
    for (const greek of ["delta", "gamma", "theta", "vega", "rho"] as const satisfies readonly (keyof PricedTrade)[])
      expect({ name, greek, value: got[i][greek] }).toEqual({ name, greek, value: expect.any(Number) });
  });
}

describe("limits have the values that theory gives, on the mesh", () => {
  it("CPU, f64", () => check(cpu, "f64", 2e-5));
  it("CPU, f32", () => check(cpu, "f32", 3e-4));
  it.skipIf(webgpu === undefined)("WebGPU, f32", () => check(webgpu as Device, "f32", 3e-4, dealt(limits, 1, 6)));
});

describe("at asOf", () => {
  it.each([call(90), put(110)])("an option that expires is worth its payoff: %j", async (payoff) => {
    const [european, early] = await priced(
      [trade({ expiry: 0, payoff }), trade({ expiry: 0, payoff, exercise: american })],
      { device: cpu },
    );
    expect([european.value, early.value]).toEqual([10, 10]);
    expect(european.delta).toBeCloseTo(payoff.right === "call" ? 1 : -1, 8);
  });
});
