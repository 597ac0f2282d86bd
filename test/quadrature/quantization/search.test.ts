/** Nearest neighbours: three methods, every device, the corners of bins, ties, queries far outside. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  binPlan,
  NearestSearch,
  normalQuantizer,
  type SearchMethod,
} from "../../../src/quadrature/quantization/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { normals } from "./support.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));

/** The first of the nearest points, in f64. */
function nearestOf(points: Float64Array, queries: Float64Array, d: number): Int32Array {
  return Int32Array.from({ length: queries.length / d }, (_, k) => {
    let [best, least] = [0, Infinity];
    for (let i = 0; i < points.length / d; i++) {
      let squared = 0;
      for (let a = 0; a < d; a++) squared += (queries[k * d + a] - points[i * d + a]) ** 2;
      if (squared < least) [best, least] = [i, squared];
    }
    return best;
  });
}

/** Eighths, so that squared distances are exact in f32 whether or not products are contracted: many ties. */
const eighths = (values: Float64Array): Float64Array => values.map((x) => Math.round(8 * x) / 8);
const METHODS: readonly SearchMethod[] = ["brute-force", "kd-tree", "bins"];

describe.each(devices)("$label", ({ device, missing }) => {
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  test.skipIf(device === undefined).each([
    [1, 37],
    [2, 120],
    [3, 60],
  ])("d = %i, N = %i: all methods find the first of the nearest, with ties", async (d, size) => {
    if (device === undefined) throw new Error(missing);
    const points = eighths(normals(size * d, 3));
    // A few lie far outside of the points.
    const queries = eighths(normals(500 * d, 4).map((x, k) => (k < 20 * d ? 16 * x : x)));
    const expected = nearestOf(points, queries, d);
    for (const method of METHODS) {
      using search = await NearestSearch.create(device, { points, dimension: d, method, precision: "f32" });
      expect(await search.find(queries)).toEqual(expected);
    }
  });
});

describe("one thread", () => {
  const device = devices[0].device!;

  test.each([
    ["f32", 2],
    ["f64", 2],
    ["f64", 3],
  ] as const)("%s, d = %i: the same numbers by all methods", async (precision, dimension) => {
    const size = 200;
    const { points } = dimension === 2 ? await normalQuantizer({ size, dimension }) : { points: normals(size * 3, 5) };
    const queries = normals(20_000 * dimension, 6);
    const found = [];
    for (const method of METHODS) {
      using search = await NearestSearch.create(device, { points, dimension, method, precision });
      found.push(await search.find(queries));
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
  });

  test("at, and next to, every corner of the bins", async () => {
    const { points } = await normalQuantizer({ size: 50, dimension: 2 });
    const { table, geometry } = binPlan(points, 2);
    const [bins] = table.subarray(3);
    const queries: number[] = [];
    for (let i = 0; i <= bins; i++)
      for (let j = 0; j <= bins; j++)
        for (const shift of [-1e-12, 0, 1e-12])
          queries.push(geometry[0] + i / geometry[1] + shift, geometry[2] + j / geometry[3] - shift);
    using search = await NearestSearch.create(device, { points, dimension: 2 });
    const flat = Float64Array.from(queries);
    expect(await search.find(flat)).toEqual(nearestOf(points, flat, 2));
  });

  test("lists of bins are short: at most twice as long as the d + 1 cells that meet in a corner", async () => {
    for (const size of [100, 500]) {
      const { points } = await normalQuantizer({ size, dimension: 2 });
      const [words, , perWord] = binPlan(points, 2).table;
      expect(words * perWord).toBeLessThanOrEqual(6);
    }
  });

  test.each(METHODS)("%s: one point, and points that are equal", async (method) => {
    using one = await NearestSearch.create(device, { points: Float64Array.of(1, 2), dimension: 2, method });
    expect([...(await one.find(Float64Array.of(5, 5, -9, 0)))]).toEqual([0, 0]);
    const equal = Float64Array.of(1, 1, 1, 1, 0, 0, 0, 0);
    using some = await NearestSearch.create(device, { points: equal, dimension: 2, method });
    expect([...(await some.find(Float64Array.of(5, 5, -9, 0, 0.5, 0.5)))]).toEqual([0, 2, 0]);
    expect([...(await some.find(new Float64Array()))]).toEqual([]);
  });
});
