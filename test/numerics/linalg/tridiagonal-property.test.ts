/** Random systems against a plain dgtsv, on the CPU. FEYNKAC_SEED chooses others. */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { tridiagonalSpec } from "../../../src/numerics/linalg/tridiagonal/index.ts";
import {
  backwardError,
  dgtsv,
  dominant,
  drawn,
  elementAt,
  normwiseError,
  solveBatch,
  UNIT,
} from "./tridiagonal-support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());
const settings = { numRuns: 40, seed: Number(process.env["FEYNKAC_SEED"] ?? 20261121) };

const shapes = fc.record({
  shape: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 }),
  seed: fc.nat(1e6),
  pick: fc.nat(),
});

describe("random shapes along random axes", () => {
  test("pivoting is dgtsv, bit for bit, singular matrices included", async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async ({ shape, seed, pick }) => {
        const spec = tridiagonalSpec({ shape, axis: pick % shape.length, precision: "f64", algorithm: "pivoting" });
        const given = Array.from({ length: spec.batch }, (_, s) => drawn(spec.rows, seed + s));
        if (pick % 3 === 0) given[0].diagonal.fill(0);
        const { x, failures } = await solveBatch(device, spec, given);
        given.forEach((one, s) => {
          const expected = dgtsv(one);
          const failure = failures.find(({ system }) => system === s);
          if (expected.info > 0) expect(failure?.status).toEqual({ kind: "zero-pivot", row: expected.info - 1 });
          else {
            expect(failure).toBeUndefined();
            expect(Array.from(x[s])).toEqual(Array.from(expected.x));
            expect(normwiseError(one, x[s])).toBeLessThanOrEqual(8 * UNIT.f64);
          }
        });
      }),
      settings,
    );
  });

  test("all algorithms agree on diagonally dominant systems", async () => {
    const algorithms = fc.constantFrom(
      "thomas",
      "cr",
      "pcr",
      "cr-pcr",
      "register-hybrid",
      "partition",
      "auto" as const,
    );
    await fc.assert(
      fc.asyncProperty(shapes, algorithms, fc.integer({ min: 1, max: 300 }), async ({ seed }, algorithm, rows) => {
        const spec = tridiagonalSpec({
          rows,
          batch: 3,
          precision: "f64",
          algorithm,
          layout: seed % 2 === 0 ? "contiguous" : "interleaved",
        });
        const given = [0, 1, 2].map((s) => dominant(rows, seed + s));
        const { x, failures } = await solveBatch(device, spec, given);
        expect(failures).toEqual([]);
        given.forEach((one, s) => {
          expect(backwardError(one, x[s])).toBeLessThanOrEqual(32 * UNIT.f64);
          const expected = dgtsv(one).x;
          x[s].forEach((value, i) => expect(Math.abs(value - expected[i])).toBeLessThan(2e-15));
        });
      }),
      settings,
    );
  });

  test("every element of an array belongs to one row of one system", () => {
    fc.assert(
      fc.property(shapes, ({ shape, pick }) => {
        const axis = pick % shape.length;
        const spec = tridiagonalSpec({ shape, axis, precision: "f64" });
        const seen = new Set<number>();
        for (let s = 0; s < spec.batch; s++) for (let i = 0; i < spec.rows; i++) seen.add(elementAt(spec, s, i));
        expect(seen.size).toBe(shape.reduce((a, b) => a * b, 1));
        // The element with index 1 along the axis, 0 along all others.
        if (spec.rows > 1) expect(elementAt(spec, 0, 1)).toBe(shape.slice(axis + 1).reduce((a, b) => a * b, 1));
      }),
      settings,
    );
  });
});
