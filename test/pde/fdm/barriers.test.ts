/** Meshes with pins, events, and the solver's variants for barriers and dates of exercise in the interpreter. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SpecError } from "../../../src/base/errors.ts";
import {
  grids,
  inwardFirst,
  type KnockOut,
  instance,
  BatchSolver,
  type OneFactorProblem,
} from "../../../src/pde/fdm/index.ts";
import { eventsOf } from "../../../src/pde/fdm/time/nested-times.ts";
import { barrierMeshSpec } from "../../../src/pde/fdm/mesh/pinned-domain.ts";
import { everySecondNode, nodesOf } from "../../../src/pde/fdm/mesh/mesh.ts";
import { pinnedMesh, type PinnedMeshSpec } from "../../../src/pde/fdm/mesh/pinned-mesh.ts";
import { BARRIERS, DIVIDEND, EXERCISE } from "../../../src/pde/fdm/time/time-grid.ts";
import { SUBNORMAL_GUARD } from "../../../src/pde/fdm/operator/matrix.ts";
import { constant } from "../../../src/market/index.ts";
import { digitalPayoff, vanillaPayoff } from "../../../src/market/products/index.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { PlainDevice } from "../../support/plain-device.ts";
import { valuesAt } from "./split-cases.ts";

const monitored = (parts: Partial<KnockOut>): KnockOut => ({
  side: "up",
  level: 120,
  from: 0,
  to: 1,
  times: undefined,
  rebate: 0,
  rebateAt: "hit",
  open: false,
  ...parts,
});

const european: OneFactorProblem = {
  spots: [100],
  expiry: 1,
  payoff: vanillaPayoff("put", 105),
  american: false,
  rates: constant(0.05),
  dividendYield: 0.01,
  dividends: [],
  diffusion: { kind: "deterministic", sigma: constant(0.25) },
};

describe("a mesh with pins", () => {
  it("ends at a barrier, unless a dividend may take the spot across it", () => {
    const down = [monitored({ side: "down", level: 85 })];
    const paid = { time: 0.5, cash: 15, proportional: 0 };
    const lowestWith = (dividends: OneFactorProblem["dividends"]): number =>
      barrierMeshSpec({ ...european, dividends, barriers: down }, 101).lowest;
    expect(lowestWith([])).toBe(85);
    // At the barrier the spot goes on to 70.
    expect(lowestWith([paid])).toBeLessThan(70);
  });

  const specs = fc.record({
    count: fc.integer({ min: 12, max: 60 }).map((quarters) => 4 * quarters + 1),
    coordinate: fc.constantFrom("log" as const, "linear" as const),
    prices: fc.uniqueArray(fc.integer({ min: 500, max: 2000 }), { minLength: 0, maxLength: 5 }),
    wish: fc.double({ min: 50, max: 200, noNaN: true }),
    width: fc.double({ min: 0.001, max: 2, noNaN: true }),
    zero: fc.boolean(),
  });

  it("is strictly monotone, reaches its ends, and has its pins on even nodes", () => {
    fc.assert(
      fc.property(specs, ({ count, coordinate, prices, wish, width, zero }) => {
        const pins = prices.map((price) => price / 10).sort((a, b) => a - b);
        const linear = coordinate === "linear";
        const spec: PinnedMeshSpec = {
          count,
          coordinate,
          lowest: linear ? 0 : 20,
          highest: 500,
          centres: [...pins, wish].map((at) => ({ at, width: linear ? width * at : width })),
          pins,
          optionalPins: [wish],
          zero: zero && !linear,
        };
        const mesh = pinnedMesh(spec);
        const nodes = nodesOf(mesh);
        expect(nodes.length).toBe(count);
        expect(nodes.every((node, i) => i === 0 || node > nodes[i - 1])).toBe(true);
        expect([nodes[0], nodes[count - 1]]).toEqual([spec.zero ? 0 : spec.lowest, 500]);
        const coarse = nodesOf(everySecondNode(mesh));
        for (const pin of pins) expect(coarse).toContain(pin);
      }),
      { numRuns: 500, seed: 20_261_121 },
    );
  });

  it("goes through thin layers far apart with the share of its nodes that each has", () => {
    const layers = fc.record({
      count: fc.integer({ min: 8, max: 32 }).map((quarters) => 4 * quarters + 1),
      prices: fc.uniqueArray(fc.integer({ min: 760, max: 1120 }), { minLength: 1, maxLength: 10 }),
      width: fc.double({ min: 3e-4, max: 0.01, noNaN: true }),
    });
    fc.assert(
      fc.property(layers, ({ count, prices, width }) => {
        const centres = prices.map((price) => ({ at: price / 10, width }));
        const spec = {
          count,
          coordinate: "log",
          lowest: 74.8,
          highest: 114.3,
          centres,
          pins: [],
          optionalPins: [],
          zero: true,
        } as const;
        const nodes = nodesOf(pinnedMesh(spec));
        expect(nodes.every((node, i) => i === 0 || node > nodes[i - 1])).toBe(true);
        // ξ by its own formula: equal parts of it between nodes, but for what the cubics are off by that stand for
        // three nodes of four.
        const dense = (price: number): number =>
          centres.reduce((sum, { at }) => sum + Math.asinh(Math.log(price / at) / width), 0);
        const part = (dense(114.3) - dense(74.8)) / (count - 2);
        for (let i = 2; i < count; i++)
          expect(Math.abs(dense(nodes[i]) - dense(nodes[1]) - (i - 1) * part)).toBeLessThan(2 * part);
      }),
      { numRuns: 500, seed: 20_261_122 },
    );
  });

  it("says when there are more barriers than it has room for", () => {
    const pins = Array.from({ length: 40 }, (_, i) => 60 + i);
    const centres = [{ at: 100, width: 1 }];
    const spec = {
      count: 41,
      coordinate: "log",
      lowest: 10,
      highest: 900,
      centres,
      pins,
      optionalPins: [],
      zero: false,
    } as const;
    expect(() => pinnedMesh(spec)).toThrow(SpecError);
  });
});

describe("events", () => {
  it("of one date are one, in order, and with barriers all of them set barriers", () => {
    const dividends = [{ time: 0.5, cash: 1, proportional: 0 }];
    const problem = { ...european, dividends, exerciseTimes: [0, 0.25, 0.5] };
    expect(eventsOf(problem).map(({ time, flags }) => [time, flags])).toEqual([
      [0.25, EXERCISE],
      [0.5, DIVIDEND | EXERCISE],
    ]);
    const barriers = [monitored({ from: 0.1, to: 0.5 + 1e-12 }), monitored({ times: [0.25, 1] })];
    expect(eventsOf({ ...problem, barriers }).map(({ time, flags }) => [time, flags])).toEqual([
      [0.1, BARRIERS],
      [0.25, EXERCISE | BARRIERS],
      [0.5, DIVIDEND | EXERCISE | BARRIERS],
    ]);
  });

  it("what is outermost is set last", () => {
    const levels = [
      monitored({ level: 130 }),
      monitored({ side: "down", level: 70 }),
      monitored({}),
      monitored({ side: "down", level: 90 }),
    ];
    expect(inwardFirst(levels).map(({ level }) => level)).toEqual([90, 70, 120, 130]);
  });
});

const dividends = [
  { time: 0.3, cash: 4, proportional: 0 },
  { time: 0.6, cash: 0, proportional: 0.05 },
];
const double = inwardFirst([
  monitored({ rebate: 2 }),
  monitored({ side: "down", level: 80, rebate: 3, rebateAt: "expiry" }),
]);

const problems: Readonly<Record<string, OneFactorProblem>> = {
  "double knock-out": { ...european, barriers: double },
  "double knock-out, dividends, dates of exercise": {
    ...european,
    barriers: double,
    dividends,
    exerciseTimes: [0.3, 0.5],
  },
  "American, in a window, dividends": {
    ...european,
    american: true,
    dividends,
    barriers: [monitored({ side: "down", level: 80, from: 0.2, to: 0.7, rebate: 30 })],
  },
  "dates of monitoring, a digital struck at the barrier": {
    ...european,
    payoff: digitalPayoff("put", 120, 10),
    barriers: [monitored({ times: [0.25, 0.5, 1] })],
  },
  "stepped rates, σ(S)": {
    ...european,
    rates: { times: [0.4, 0.5], values: [0.01, 0.05, 0.05] },
    diffusion: { kind: "local", sigma: (spot) => 2.5 / Math.sqrt(spot), shift: 0 },
    barriers: [monitored({ side: "down", level: 80, open: true, rebate: 1, rebateAt: "expiry" })],
  },
  "Bermudan, in closed form": { ...european, exerciseTimes: [0.25, 0.5, 0.75] },
  "a level past the mesh": {
    ...european,
    barriers: inwardFirst([monitored({}), monitored({ side: "down", level: 300, times: [1] })]),
  },
};

describe("the solver with barriers and dates, in the interpreter", () => {
  // It throws at an access out of bounds or an uninitialised read.
  it.each(Object.entries(problems))("%s", async (name, problem) => {
    const made = grids(problem, { nodes: 65, steps: 8 });
    const solve = async (device: PlainDevice | InterpreterDevice) => {
      using solver = new BatchSolver(device, "f64");
      return (await solver.solve(made.map((grid) => instance(grid)))).map((values, l) => valuesAt(made[l], values));
    };
    const device = new InterpreterDevice();
    const [got, expected] = [await solve(device), await solve(new PlainDevice())];
    got.forEach((values, l) =>
      values.forEach((value, k) => expect(Math.abs(value - expected[l][k])).toBeLessThan(1e-11)),
    );
    expect(got.flat().every(Number.isFinite)).toBe(true);
    // Zero, in units of the spot: see `SUBNORMAL_GUARD`.
    if (name === "a level past the mesh")
      expect(got.flat().every((value) => value >= 0 && value <= 100 * SUBNORMAL_GUARD)).toBe(true);
    expect(device.liveBuffers).toBe(0);
  });
});
