/** Grids and coefficients of the combination technique against closed counts. */
import { describe, expect, test } from "vitest";
import { SpecError } from "../../../src/base/errors.ts";
import { combinationGrids } from "../../../src/pde/sparsegrid/index.ts";
import { refinementsOf } from "../../../src/pde/sparsegrid/adaptive.ts";
import { IndexSet } from "../../../src/pde/sparsegrid/combination.ts";
import { casesOf } from "./support.ts";

const choose = (n: number, k: number): number =>
  Math.round(Array.from({ length: k }, (_, i) => (n - i) / (i + 1)).reduce((product, factor) => product * factor, 1));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

describe("combinationGrids", () => {
  test.each([1, 2, 3, 4, 5, 6, 10])("on %i axes each layer has its binomial coefficient and count", (axes) => {
    for (const level of [0, 1, 3]) {
      const grids = combinationGrids({ axes, initialLevel: 1, level });
      for (let q = 0; q < axes; q++) {
        const layer = grids.filter(({ levels }) => sum(levels) === axes + level - q);
        expect(layer).toHaveLength(level < q ? 0 : choose(level - q + axes - 1, axes - 1));
        for (const { coefficient } of layer) expect(coefficient).toBe((-1) ** q * choose(axes - 1, q));
      }
      expect(sum(grids.map(({ coefficient }) => coefficient))).toBe(1);
    }
  });

  test("the published case has 85 grids, of the published sizes", () => {
    const [sizes, , layers] = casesOf("sparse-combination");
    const grids = combinationGrids({ axes: 3, initialLevel: 1, level: 7 });
    expect(grids).toHaveLength(sizes.expected["total_systems"]);
    for (const [level, count] of Object.entries(sizes.expected["systems_by_layer"]))
      expect(grids.filter(({ levels }) => sum(levels) === Number(level))).toHaveLength(count as number);
    for (const { l, N } of sizes.expected["rows"] as readonly { l: number[]; N: number }[])
      expect(l.reduce((product, one) => product * (2 ** one - 1), 1)).toBe(N);
    const plane = combinationGrids({ axes: 2, initialLevel: 1, level: 8 });
    expect(plane).toHaveLength(layers.expected["total_grids"]);
  });

  test("polynomials of low degree along each axis are combined exactly", () => {
    // V_l = Π (1 + 4^−lₖ): extrapolated, the errors of every axis cancel.
    const value = (levels: readonly number[]): number =>
      levels.reduce((product, level) => product * (1 + 4 ** -level), 1);
    const of = (settings: Parameters<typeof combinationGrids>[0]): number =>
      sum(combinationGrids(settings).map(({ levels, coefficient }) => coefficient * value(levels)));
    expect(of({ axes: 3, initialLevel: 1, level: 2, extrapolate: true })).toBeCloseTo(1, 13);
    expect(Math.abs(of({ axes: 3, initialLevel: 1, level: 2 }) - 1)).toBeGreaterThan(1e-3);
  });

  test("extrapolated from two levels, errors of order h² along each axis cancel", () => {
    const of = (level: number): number =>
      combinationGrids({ axes: 3, initialLevel: 1, level, extrapolate: "levels" }).reduce(
        (sum, { levels, coefficient }) => sum + coefficient * levels.reduce((error, one) => error + 4 ** -one, 1),
        0,
      );
    for (const level of [1, 2, 5]) expect(of(level)).toBeCloseTo(1, 13);
    expect(combinationGrids({ axes: 1, initialLevel: 2, level: 1, extrapolate: "levels" })).toEqual([
      { levels: [2], coefficient: expect.closeTo(-1 / 3) as number },
      { levels: [3], coefficient: expect.closeTo(4 / 3) as number },
    ]);
  });

  test("limits of levels", () => {
    const grids = combinationGrids({ initialLevel: [1, 2], maxLevel: [2, 9], level: 3 });
    expect(grids.map(({ levels, coefficient }) => [...levels, coefficient])).toEqual([
      [1, 4, -1],
      [1, 5, 1],
      [2, 4, 1],
    ]);
  });

  test("any set that is closed downwards", () => {
    const set = new IndexSet();
    for (const levels of [
      [0, 0],
      [1, 0],
      [2, 0],
      [0, 1],
    ])
      set.add(levels);
    expect(set.combination().map(({ levels, coefficient }) => [...levels, coefficient])).toEqual([
      [0, 0, -1],
      [0, 1, 1],
      [2, 0, 1],
    ]);
  });

  test("an adaptive set stays closed downwards", () => {
    const set = new IndexSet();
    for (const levels of [
      [1, 1, 1],
      [2, 1, 1],
      [1, 2, 1],
      [1, 1, 2],
      [2, 2, 1],
      [2, 1, 2],
    ])
      set.add(levels);
    const next = (levels: readonly number[]) => refinementsOf(levels, set, [1, 1, 1], [2, 3, 9]);
    // [2, 2, 2] waits for [1, 2, 2]; axis 0 ends at level 2.
    expect(next([2, 2, 1])).toEqual([]);
    expect(next([1, 2, 1])).toEqual([
      [1, 3, 1],
      [1, 2, 2],
    ]);
    set.add([1, 2, 2]);
    expect(next([2, 2, 1])).toEqual([[2, 2, 2]]);
  });

  test.each([
    [{ axes: 2, initialLevel: 1, level: -1 }, "level: got -1, expected a whole number from 0 to 20"],
    [{ axes: 2, initialLevel: 1.5, level: 1 }, "initialLevel[0]: got 1.5, expected a whole number from 0 to 20"],
    [{ axes: 3, initialLevel: [1, 1], level: 1 }, "initialLevel: 2 levels, expected 3, one for each axis"],
    [{ initialLevel: 1, level: 1 }, "axes: missing"],
    [{ initialLevel: [3], maxLevel: [2], level: 1 }, "maxLevel[0]: got 2, expected at least the initial level 3"],
  ])("%j is an error", (settings, message) => {
    expect(() => combinationGrids(settings)).toThrow(SpecError);
    expect(() => combinationGrids(settings)).toThrow(message);
  });
});
