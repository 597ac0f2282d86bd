import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type QuantLibCase, quantLibCases, tradeOf } from "./quantlib-cases.ts";
import { priced } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

describe("random options, as QuantLib prices them", () => {
  it.each([
    // Its fixed point is exact to 1e-10: all of the difference is ours, the accuracy asked for.
    ["american", 1e-5, 0.95],
    // Its meshes are good to about what the finest one moves them: its fixed point knows one boundary only.
    ["american-negative", 1e-6, 0.95],
    // Its meshes are good to about what extrapolation moves them.
    ["dividends", 2e-5, 0.95],
  ] as const)("%s: within %f of spot, and the error estimate says so", async (name, tolerance, honesty) => {
    const all = quantLibCases(name);
    const got = await priced(all.map(tradeOf), { device, greeks: "none" });
    const errors = all.map(({ price }, i) => Math.abs(got[i].value - price));
    all.forEach((c, i) => {
      expect(errors[i], `${JSON.stringify(c)}: ${got[i].value}`).toBeLessThanOrEqual(
        tolerance * c.spot + (c.moved ?? 0),
      );
    });
    const honest = all.filter(({ moved = 0 }, i) => errors[i] <= got[i].errorEstimate + moved).length;
    expect(honest / all.length).toBeGreaterThanOrEqual(honesty);
  });
});

// QuantLib's QdFpAmericanEngine; as a European option it is worth 34.52962.
describe("an exercise boundary beyond the spot", () => {
  it("is on the mesh: the early exercise of a call deep in the money has its worth", async () => {
    const call: QuantLibCase = {
      type: "call",
      exercise: "american",
      spot: 100,
      strike: 65.55337796309944,
      rate: 0.115146081243176,
      yield: 0.06978179407306015,
      vol: 0.18094828190514817,
      maturity: 56 / 365,
      price: 34.53138730147574,
    };
    const [got] = await priced([tradeOf(call)], { device, accuracy: { relative: 1e-6 } });
    expect(Math.abs(got.value - call.price)).toBeLessThanOrEqual(1e-4);
  });
});
