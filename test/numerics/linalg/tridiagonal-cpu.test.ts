/**
 * Thomas' algorithm on the CPU, in batches large enough for whole vectors, tiles and strips: bit for bit what one row
 * after another gives.
 */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { tridiagonalSpec } from "../../../src/numerics/linalg/tridiagonal/index.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { dominant, type Equations, solveBatch } from "./tridiagonal-support.ts";

/**
 * The algorithm as it is written down, each operation rounded to the precision; what is outside the matrix is not read.
 */
function thomas({ lower, diagonal, upper, rhs }: Equations, round: (x: number) => number): number[] {
  const n = rhs.length;
  const [c, x]: [number[], number[]] = [[], []];
  for (let i = 0; i < n; i++) {
    const a = i > 0 ? lower[i] : 0;
    const inverse = round(1 / round(diagonal[i] - round(a * (c[i - 1] ?? 0))));
    x[i] = round(round(rhs[i] - round(a * (x[i - 1] ?? 0))) * inverse);
    c[i] = i < n - 1 ? round(upper[i] * inverse) : 0;
  }
  for (let i = n - 2; i >= 0; i--) x[i] = round(x[i] - round(c[i] * x[i + 1]));
  return x;
}

/** What nobody may use is not a number. */
function outsideIsNaN(given: Equations): Equations {
  given.lower[0] = NaN;
  given.upper[given.upper.length - 1] = NaN;
  return given;
}

const f32 = (given: Equations): Equations => ({
  lower: given.lower.map(Math.fround),
  diagonal: given.diagonal.map(Math.fround),
  upper: given.upper.map(Math.fround),
  rhs: given.rhs.map(Math.fround),
});

const devices = [
  {
    label: "1 thread",
    device: createCpuDevice({ threads: 1 }),
    batches: [7, 150, 401],
    sizes: [1, 2, 3, 8, 9, 30, 513],
  },
  { label: "3 threads", device: createCpuDevice({ threads: 3, share: "always" }), batches: [401], sizes: [17, 64] },
  { label: "1 vector", device: createCpuDevice({ threads: 1, vectors: 1 }), batches: [70], sizes: [40] },
  { label: "4 vectors", device: createCpuDevice({ threads: 1, vectors: 4 }), batches: [70], sizes: [40] },
  // Finds races between the items of a strip, and reads beyond the ends of an array.
  { label: "interpreter", device: new InterpreterDevice(), batches: [70], sizes: [1, 11] },
];
afterAll(() => devices.forEach(({ device }) => device[Symbol.dispose]()));

describe.each(devices)("$label", ({ device, batches, sizes }) => {
  describe.each(["f64", "f32"] as const)("%s", (precision) => {
    test.each(["contiguous", "interleaved"] as const)("%s", async (layout) => {
      for (const rows of sizes) {
        for (const batch of batches) {
          const spec = tridiagonalSpec({ rows, batch, layout, precision, algorithm: "thomas" });
          const given = Array.from({ length: batch }, (_, s) => outsideIsNaN(dominant(rows, 3 * rows + s)));
          const { x, failures } = await solveBatch(device, spec, given);
          expect(failures).toEqual([]);
          const [round, rounded] = precision === "f32" ? [Math.fround, given.map(f32)] : [Number, given];
          const differing = x.flatMap((one, s) => {
            const expected = thomas(rounded[s], round);
            return one.some((value, i) => !Object.is(value, expected[i])) ? [s] : [];
          });
          expect([`${rows} rows, ${batch} systems`, differing]).toEqual([`${rows} rows, ${batch} systems`, []]);
        }
      }
    });

    test.each(["contiguous", "interleaved"] as const)("failures of a few among many, %s", async (layout) => {
      const [rows, batch] = [13, 70];
      const given = Array.from({ length: batch }, (_, s) => dominant(rows, s));
      given[9].rhs[4] = Infinity;
      given[66].diagonal[0] = 0;
      // The pivot of row 6 is 2 − 4·(1/2) = 0.
      given[33].lower.fill(0);
      given[33].upper.fill(0);
      given[33].diagonal.fill(2);
      given[33].lower[6] = 4;
      given[33].upper[5] = 1;
      const spec = tridiagonalSpec({ rows, batch, layout, precision, algorithm: "thomas" });
      const { failures } = await solveBatch(device, spec, given);
      expect(failures).toEqual([
        { system: 9, status: { kind: "not-finite" } },
        { system: 33, status: { kind: "zero-pivot", row: 6 } },
        { system: 66, status: { kind: "zero-pivot", row: 0 } },
      ]);
    });
  });
});

test("systems too long for private memory take a workspace", async () => {
  const [rows, batch] = [2051, 130];
  for (const layout of ["contiguous", "interleaved"] as const) {
    const spec = tridiagonalSpec({ rows, batch, layout, precision: "f64", algorithm: "thomas" });
    const given = Array.from({ length: batch }, (_, s) => dominant(rows, s));
    const { x } = await solveBatch(devices[0].device, spec, given);
    for (const s of [0, 63, 128, 129]) expect([...x[s]]).toEqual(thomas(given[s], Number));
  }
});
