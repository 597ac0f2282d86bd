/** The accuracy asked for is the accuracy given: reference cases and QuantLib's, at 1e-5 and 1e-7 of the spot. */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { dividendSchedule } from "../../src/market/index.ts";
import { errorModelOf, firstResolution, nextResolution } from "../../src/pde/fdm/adaptive/error-model.ts";
import { normalCdf } from "../support/normal.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { quantLibTrades } from "./quantlib-cases.ts";
import { tradeProblems } from "../../src/pricing/trade-problem.ts";
import { priced, type ReferenceTrade, referenceTrades, trade } from "./reference.ts";
import { NOT_FOR_MESHES } from "./reference-errors.ts";
import { dealt } from "../support/extent.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/**
 * Bachelier's model goes below zero, ours is absorbed there: its price is the reflected one's, by the method of images,
 * 4e-6 of the spot less than the published.
 */
function absorbed(one: ReferenceTrade): ReferenceTrade {
  const { id, underlying, payoff, expiry, volatility } = one.trade;
  if (id !== "LVL-O-10" || volatility.kind !== "local" || payoff.kind !== "vanilla") return one;
  const deviation = Number(volatility.expression.split("/")[0]) * Math.sqrt(expiry);
  const call = (forward: number): number => {
    const d = (forward - payoff.strike) / deviation;
    return (forward - payoff.strike) * normalCdf(d) + (deviation * Math.exp(-0.5 * d * d)) / Math.sqrt(2 * Math.PI);
  };
  const discount = Math.exp(-underlying.rates.values[0] * expiry);
  return { ...one, expected: { price: discount * (call(underlying.spot) - call(-underlying.spot)) } };
}

const covered = [...referenceTrades().map(absorbed), ...quantLibTrades("american"), ...quantLibTrades("dividends")];

interface Shares {
  readonly met: number;
  readonly honest: number;
}

/**
 * Of all cases, the part within the accuracy, or what the reference itself is good to; and the part that the estimate
 * covers, too.
 */
async function shares(cases: readonly ReferenceTrade[], accuracy: number, method: "auto" | "fdm"): Promise<Shares> {
  const got = await priced(
    cases.map((one) => one.trade),
    { device, method, accuracy: { relative: accuracy }, greeks: "none" },
  );
  const errors = cases.map(({ expected }, i) => Math.abs(got[i].value - expected["price"]));
  const isMet = (i: number): boolean =>
    errors[i] <= Math.max(accuracy * cases[i].trade.underlying.spot, cases[i].tolerance);
  const part = (holds: (i: number) => boolean): number => cases.filter((_, i) => holds(i)).length / cases.length;
  const [met, honest] = [part(isMet), part((i) => errors[i] <= got[i].errorEstimate + cases[i].tolerance)];
  cases.forEach(({ trade: { id, underlying } }, i) => {
    const overSpot = [errors[i], got[i].errorEstimate].map((x) => (x / underlying.spot).toExponential(1));
    if (!isMet(i)) console.log(`${method} ${accuracy} ${id}: ${overSpot[0]}, estimate ${overSpot[1]}`);
  });
  console.log(
    `${method}, ${accuracy}, ${cases.length}: met ${(100 * met).toFixed(1)} %, honest ${(100 * honest).toFixed(1)} %`,
  );
  return { met, honest };
}

describe.each(["auto", "fdm"] as const)("accuracy asked for, method %s", (method) => {
  const cases = covered.filter((one) => method === "auto" || one.trade.id !== NOT_FOR_MESHES);
  it.each(dealt([1e-5, 1e-6, 1e-7], method === "auto" ? 0 : 1, 2))(
    "%f is met by at least 98 %, and estimates say so",
    async (accuracy) => {
      const { met, honest } = await shares(cases, accuracy, method);
      expect(met).toBeGreaterThanOrEqual(0.98);
      expect(honest).toBeGreaterThanOrEqual(0.95);
    },
  );
});

/** The reference cases by what is special about them, as their names begin. */
const FAMILIES = {
  "one barrier": ["BAR"],
  "two barriers": ["DBL"],
  "windows, and dates of monitoring": ["WIN", "DBM"],
  "Bermudan exercise": ["BRM", "LSMB"],
  "digitals and touches": ["DIG"],
} as const;

describe.each(Object.entries(FAMILIES))("accuracy asked for: %s", (_, names) => {
  const cases = covered.filter(({ trade: { id } }) => names.some((name) => id.startsWith(`${name}-`)));
  // The families by turns.
  const hand = Object.values(FAMILIES).findIndex((family) => family === names);
  it.each(dealt([1e-5, 1e-7], hand, 2))("%f is met by all, and estimates say so", async (accuracy) => {
    expect(cases.length).toBeGreaterThanOrEqual(10);
    // A family is too small for a share of it to be anything but all.
    expect(await shares(cases, accuracy, "fdm")).toEqual({ met: 1, honest: 1 });
  });
});

describe("resolutions", () => {
  const observed = { inSpace: 3e-5, inTime: 5e-6, total: 3.5e-5, noise: 0, drift: 0 };
  const american = { exercise: { kind: "american" } } as const;
  const errorModel = (parts: Parameters<typeof trade>[0]) => errorModelOf(tradeProblems(trade(parts), 0, undefined));
  const kind = errorModel(american);
  const first = firstResolution(1e-5, kind, false, 4097);

  it("begin coarsely, and grow with what is asked for", () => {
    const sizes = [1e-6, 1e-7, 1e-8].map((accuracy) => nextResolution(first, observed, accuracy, kind, false, 4097));
    expect(sizes[0].nodes).toBeGreaterThanOrEqual(1.9 * first.nodes);
    for (const k of [1, 2]) {
      expect(sizes[k].nodes).toBeGreaterThan(sizes[k - 1].nodes);
      expect(sizes[k].steps).toBeGreaterThan(sizes[k - 1].steps);
    }
    expect(nextResolution(first, observed, 1e-5, kind, true, 4097)).toEqual({ nodes: 161, steps: 48 });
    for (const { nodes, steps } of sizes) expect([nodes % 4, steps % 2]).toEqual([1, 0]);
  });

  it("stay within what a device has room for", () => {
    expect(nextResolution(first, observed, 1e-8, kind, false, 513).nodes).toBe(449);
    expect(firstResolution(1e-5, kind, true, 100).nodes).toBe(81);
  });

  it("are finer in space for cash dividends, and where drift dominates", () => {
    const dividends = dividendSchedule(0, [{ time: 0.5, cash: 2, proportional: 0 }]);
    const cash = errorModel({ ...american, market: { dividends } });
    const usual = nextResolution(first, observed, 1e-6, kind, false, 4097).nodes;
    expect(nextResolution(first, observed, 1e-6, cash, false, 4097).nodes).toBeGreaterThan(usual);
    expect(nextResolution(first, { ...observed, drift: 20 }, 1e-6, kind, false, 4097).nodes).toBeGreaterThan(usual);
  });
});

describe("an accuracy beyond the precision", () => {
  it("is a warning in f32, which does what it can, and its estimate covers the error", async () => {
    const american = trade({ exercise: { kind: "american" } });
    const [got] = await priced([american], { device, precision: "f32", accuracy: { relative: 1e-7 } });
    const [exact] = await priced([american], { device, precision: "f64", accuracy: { relative: 1e-7 } });
    expect(got.warnings).toEqual([
      expect.stringMatching(/accuracy 1e-7 of the spot is beyond f32/),
      "the accuracy that was asked for is not reached: errorEstimate is larger",
    ]);
    expect(Math.abs(got.value - exact.value)).toBeLessThanOrEqual(got.errorEstimate);
    expect(exact.warnings).toEqual([]);
    const [usual] = await priced([american], { device, precision: "f32" });
    expect(usual.warnings).toEqual([]);
  });
});

describe("a trade whose first solution is enough", () => {
  it("costs one pass, and a second for vega and rho", async () => {
    // A launch each for the fine solution and the coarse one.
    for (const [greeks, launches] of [
      ["none", 2],
      ["grid", 2],
      ["all", 4],
    ] as const) {
      const plain = new PlainDevice();
      await priced([trade()], { device: plain, method: "fdm", greeks, accuracy: { relative: 1e-4 } });
      expect(plain.launches).toBe(launches);
    }
  });
});
