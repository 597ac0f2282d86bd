import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stencil, windowStart } from "../../../src/pde/fdm/read/solution.ts";
import {
  cellOf,
  everySecondNode,
  isBeyond,
  mesh,
  type MeshSpec,
  nodeAt,
  nodesOf,
} from "../../../src/pde/fdm/mesh/mesh.ts";
import type { OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { Assessment, errorEstimate } from "../../../src/pde/fdm/adaptive/error-estimate.ts";
import { volatilityOver } from "../../../src/pde/fdm/problem/variance.ts";
import { timesOf } from "../../../src/pde/fdm/time/nested-times.ts";
import { DIVIDEND, EXERCISE, stepTimes, type TimeGrid, timeGrid } from "../../../src/pde/fdm/time/time-grid.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

const spec: MeshSpec = {
  count: 161,
  coordinate: "log",
  lowest: 30,
  highest: 300,
  kinks: [100],
  width: 0.2,
  zero: false,
  descending: false,
};

const monotone = (nodes: Float64Array, sign: number): boolean =>
  nodes.every((node, i) => i === 0 || sign * (node - nodes[i - 1]) > 0);

describe("meshes", () => {
  const specs = fc.record({
    count: fc.integer({ min: 4, max: 60 }).map((quarters) => 4 * quarters + 1),
    coordinate: fc.constantFrom("log" as const, "linear" as const),
    low: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    high: fc.double({ min: 1.01, max: 100, noNaN: true }),
    width: fc.double({ min: 0.005, max: 3, noNaN: true }),
    zero: fc.boolean(),
    descending: fc.boolean(),
    second: fc.boolean(),
  });

  it("in closed form find a price on a node, beside one or beyond the ends as a look at every node does, and so do their coarser ones", () => {
    fc.assert(
      fc.property(specs, ({ count, low, high, width, zero, descending }) => {
        const ends = { lowest: 100 * low, highest: 100 * high };
        const fine = mesh({ ...spec, ...ends, count, width, zero, descending });
        const coarse = everySecondNode(fine);
        const nodes = Array.from({ length: count }, (_, i) => nodeAt(fine, i));
        // Node i of the coarser mesh is node 2i of the finer one, to the bit.
        expect(Array.from({ length: coarse.count }, (_, i) => nodeAt(coarse, i))).toEqual(
          nodes.filter((_, i) => i % 2 === 0),
        );
        const searched = (price: number): number =>
          Math.max(
            0,
            nodes.slice(0, -1).findLastIndex((node) => (descending ? node > price : node <= price)),
          );
        const prices = [...nodes, 0.5 * ends.lowest, 2 * ends.highest].filter((price) => price > 0 && price < Infinity);
        for (const price of prices.flatMap((one) => [one, one * (1 - 2 ** -52), one * (1 + 2 ** -52), one * 1.001])) {
          const cell = cellOf(fine, price);
          expect(cell).toBe(searched(price));
          expect(cellOf(coarse, price)).toBe(cell >> 1);
          expect(isBeyond(fine, price)).toBe((price - nodes[0]) * (price - nodes[count - 1]) > 0);
        }
      }),
    );
  });

  it("are strictly monotone, cover their ends, and have a lone kink on an even node", () => {
    fc.assert(
      fc.property(specs, ({ count, coordinate, low, high, width, zero, descending, second }) => {
        const linear = coordinate === "linear";
        const kinks = second ? [100, 0.5 * (100 + 100 * high)] : [100];
        const made = mesh({
          count,
          coordinate,
          lowest: linear ? 0 : 100 * low,
          highest: 100 * high,
          kinks,
          width: linear ? 100 * width : width,
          zero: zero && !linear,
          descending,
        });
        const nodes = nodesOf(made);
        expect(nodes.length).toBe(count);
        nodes.forEach((node, i) => expect(Math.abs(nodeAt(made, i) - node)).toBeLessThan(1e-11 * node + 1e-300));
        for (const price of [nodes[1], 90, 100, 0.3 * nodes[count - 2] + 0.7 * nodes[count - 1]]) {
          const cell = cellOf(made, price);
          const [a, b] = [nodes[cell], nodes[cell + 1]];
          if ((nodes[0] - price) * (nodes[count - 1] - price) < 0)
            expect((a - price) * (b - price)).toBeLessThanOrEqual(1e-9 * price * price);
        }
        expect(monotone(nodes, descending ? -1 : 1)).toBe(true);
        if (!second) expect(nodesOf(everySecondNode(made))).toContain(100);
        if (linear || zero) expect(Math.min(...nodes)).toBe(0);
        else expect(Math.min(...nodes)).toBeLessThanOrEqual(100 * low * (1 + 1e-9));
      }),
    );
  });

  it("may start at the kink", () => {
    const nodes = nodesOf(mesh({ ...spec, lowest: 100 }));
    expect(nodes[0]).toBe(100);
    expect(monotone(nodes, 1)).toBe(true);
  });
});

describe("reading between nodes", () => {
  it("is exact for polynomials of degree 5, derivatives too", () => {
    const made = mesh({ ...spec, descending: true });
    const nodes = nodesOf(made);
    const first = windowStart(made, 103.7);
    const { value, delta, gamma } = stencil(nodes, first, 103.7);
    const f = (x: number): number => ((x - 100) / 10) ** 5 - 3 * ((x - 100) / 10) ** 2 + 1;
    const [v, d, g] = [value, delta, gamma].map((weights) =>
      weights.reduce((sum, weight, k) => sum + weight * f(nodes[first + k]), 0),
    );
    expect(v).toBeCloseTo(f(103.7), 10);
    expect(d).toBeCloseTo(0.5 * 0.37 ** 4 - 0.6 * 0.37, 9);
    expect(g).toBeCloseTo(0.2 * 0.37 ** 3 - 0.06, 8);
  });
});

describe("time grids", () => {
  const spec = {
    expiry: 2,
    events: [0.3, 1.99].map((time) => ({ time, flags: DIVIDEND, dividend: { time, cash: 1, proportional: 0 } })),
    steps: 24,
    refinement: 2,
    phases: 6,
    rannacherSteps: 2,
    damped: true,
  };
  const calendar = (grid: TimeGrid) => grid.steps.map((step) => stepTimes(grid, step));

  it("run from expiry to today without gaps, through every dividend date", () => {
    const grid = timeGrid(spec, true);
    const times = calendar(grid);
    expect(times[0].to).toBe(2);
    expect(times.at(-1)?.from).toBe(0);
    times.slice(1).forEach(({ to }, i) => expect(to).toBeCloseTo(times[i].from, 12));
    expect(times.filter((_, i) => (grid.flags[i] & 4) !== 0).map(({ from }) => from)).toEqual([1.99, 0.3]);
    expect(times.every(({ from, to }) => to > from)).toBe(true);
  });

  it("start with Euler half steps, double their steps phase by phase, and end with a short damped one", () => {
    const grid = timeGrid({ ...spec, events: [] }, true);
    const lengths = calendar(grid).map(({ from, to }) => to - from);
    const euler = grid.steps.map(({ scheme }) => scheme !== "crank-nicolson");
    expect(euler.slice(0, 4)).toEqual([true, true, true, true]);
    expect(euler.slice(4, -2)).not.toContain(true);
    expect(euler.slice(-2)).toEqual([true, true]);
    expect(lengths.at(-3)).toBeCloseTo(32 * lengths[4], 12);
    expect(lengths.at(-1)).toBeCloseTo((lengths.at(-3) as number) / 8, 12);
  });

  it("have one step between dates of exercise, if few are asked for, and two stages of it in nested grids", () => {
    const dates = Array.from({ length: 9 }, (_, i) => ({ time: (i + 1) / 5, flags: EXERCISE, dividend: undefined }));
    const grid = (refinement: number, jumps = false): TimeGrid =>
      timeGrid({ ...spec, events: dates, steps: 4, refinement, phases: 1, damped: false, jumps }, true);
    const made = [grid(1), grid(2)];
    const counts = made.map((grid) =>
      dates.map((_, segment) => {
        const mine = grid.steps.filter((step) => step.segment === segment);
        return [mine.length, mine.filter(({ scheme }) => scheme !== "crank-nicolson").length];
      }),
    );
    expect(counts[0]).toEqual(dates.map(() => [2, 2]));
    expect(counts[1]).toEqual(dates.map(() => [3, 2]));
    // One matrix for all steps of a segment.
    expect(made.map(({ factorisations }) => factorisations)).toEqual([10, 10]);
    // Where the payoff jumps two steps at least, damped.
    expect(grid(1, true).steps.filter(({ segment }) => segment === 9)).toHaveLength(4);
  });

  it("are one for problems of the same dates, and only for those", () => {
    const problem = (parts: Partial<OneFactorProblem> = {}): OneFactorProblem => ({
      spots: [100],
      // What is remembered of an expiry is bounded: files that share a process have filled those that others use.
      expiry: 0.731,
      payoff: vanillaPayoff("put", 100),
      american: false,
      rates: constant(0.03),
      dividendYield: 0,
      dividends: [],
      diffusion: { kind: "deterministic", sigma: constant(0.2) },
      ...parts,
    });
    const barriers = (to: number): NonNullable<OneFactorProblem["barriers"]> => [
      { side: "up", level: 120, from: 0, to, times: undefined, rebate: 0, rebateAt: "hit", open: false },
    ];
    const different: OneFactorProblem[] = [
      problem(),
      problem({ expiry: 0.732 }),
      problem({ american: true }),
      problem({ exerciseTimes: [0.5] }),
      problem({ exerciseTimes: [0.6] }),
      problem({ exerciseTimes: [0.5, 0.6] }),
      problem({ dividends: [{ time: 0.5, cash: 1, proportional: 0 }] }),
      problem({ dividends: [{ time: 0.5, cash: 2, proportional: 0 }] }),
      problem({ barriers: barriers(0.731) }),
      problem({ barriers: barriers(0.5) }),
      problem({ rates: { times: [0.5], values: [0.03, 0.04] } }),
    ];
    const grids = different.map((one) => timesOf(one, 12).fine);
    expect(new Set([...grids, timesOf(problem(), 12).coarse, timesOf(problem(), 24).fine]).size).toBe(
      different.length + 2,
    );
    // Of those with dates of exercise a payoff that jumps has steps of its own.
    const jumping = { ...vanillaPayoff("put", 100), jumps: true };
    expect(timesOf(problem({ exerciseTimes: [0.5], payoff: jumping }), 12).fine).not.toBe(grids[3]);
    const again = { spots: [90], payoff: vanillaPayoff("call", 80), rates: constant(0.05) };
    different.slice(0, -1).forEach(({ dividends, exerciseTimes, ...one }, i) => {
      const dates = exerciseTimes && { exerciseTimes: [...exerciseTimes] };
      const same = { ...one, ...again, dividends: dividends.map((each) => ({ ...each })), ...dates };
      expect(timesOf(same, 12).fine).toBe(grids[i]);
    });
  });

  it("factor as often as the step changes, or at every step where coefficients depend on time", () => {
    const flagged = (homogeneous: boolean) => timeGrid({ ...spec, events: [] }, homogeneous).factorisations;
    // Six phases, the damped step, and Crank–Nicolson's first step, whose h is the half steps' own.
    expect(flagged(true)).toBe(7);
    expect(flagged(false)).toBe(timeGrid({ ...spec, events: [] }, false).steps.length);
  });
});

it("the volatility over a part of a life is the root of the mean square over that part", () => {
  const problem = {
    expiry: 2,
    spots: [100],
    diffusion: { kind: "deterministic", sigma: { times: [1], values: [0.1, 0.3] } },
  };
  const over = (from: number, to: number): number => volatilityOver(problem as never, from, to)(100);
  expect(over(0, 1)).toBeCloseTo(0.1, 14);
  expect(over(1, 2)).toBeCloseTo(0.3, 14);
  expect(over(0.5, 1.5)).toBeCloseTo(Math.sqrt(0.5 * 0.01 + 0.5 * 0.09), 14);
});

it("the estimate of a value far above the spot is in proportion to it, also where it is exercised", () => {
  const of = new Assessment();
  of.exercised = true;
  const at = (value: number): number => {
    of.value = value;
    return errorEstimate(of, {} as never, {} as never, 100);
  };
  expect(at(50)).toBeCloseTo(1e-6, 12);
  expect(at(100)).toBeCloseTo(1e-6, 12);
  expect(at(1e6)).toBeCloseTo(1e-6 + 1e-6 * (1e6 - 100), 9);
});

it("grids that differ in their Rannacher steps alone are made apart, in either order", () => {
  const spec = { expiry: 1, events: [], steps: 24, refinement: 1, phases: 3, damped: false } as const;
  const sizes = (rannacherSteps: number): number => timeGrid({ ...spec, rannacherSteps }, true).steps.length;
  const [two, none, three] = [sizes(2), sizes(0), sizes(3)];
  // Each of them is two half steps in the place of one.
  expect([two - none, three - none]).toEqual([2, 3]);
  expect([sizes(3), sizes(0), sizes(2)]).toEqual([three, none, two]);
});
