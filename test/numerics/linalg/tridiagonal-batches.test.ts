/**
 * Every algorithm × placement × precision on every device present, diagonally dominant batches, against the equations
 * themselves.
 */
import { afterAll, describe, expect, test } from "vitest";
import type { Precision } from "../../../src/kernel/index.ts";
import {
  type Algorithm,
  type Placement,
  TridiagonalSolver,
  tridiagonalSpec,
} from "../../../src/numerics/linalg/tridiagonal/index.ts";
import { streamedHybridSettings } from "../../../src/numerics/linalg/tridiagonal/streamed-hybrid.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { Batch, dominant, solveBatch, UNIT } from "./tridiagonal-support.ts";

const ALGORITHMS = ["thomas", "pivoting", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"] as const;

/**
 * Componentwise backward error allowed, in units of rounding, whatever n: elimination's constant for these matrices.
 * Measured here: 2.2 (thomas, pivoting), 3.2 (partition), 3.6 (register-hybrid), 4.4 (pcr), 5.4 (cr, cr-pcr). The unit
 * of f32x2 is a bound of one operation, hardly ever met: 0.1.
 */
const ALLOWED = 16;

interface Plan {
  readonly precisions: readonly Precision[];
  readonly algorithms: readonly Algorithm[];
  readonly sizes: readonly number[];
  readonly places: readonly ("contiguous" | "interleaved" | "axis")[];
}

const all = { algorithms: ALGORITHMS, places: ["contiguous", "interleaved", "axis"] } as const;
const pairs: Plan = {
  algorithms: ["thomas", "pivoting", "pcr"],
  places: ["interleaved"],
  precisions: ["f32x2"],
  sizes: [33],
};
/** Sizes beside powers of two, which are those of workgroups. */
const SIZES = everything
  ? [1, 2, 3, 4, 5, 17, 31, 32, 33, 64, 65, 127, 255, 512, 513, 1000, 1024, 1025]
  : [1, 2, 3, 5, 32, 33, 512, 1025];
/** A kernel takes g++ 0.1 s, SwiftShader 0.3 to 2 s: fewer sizes and layouts there. The interpreter finds races. */
const plans: Readonly<Record<string, readonly Plan[]>> = {
  "cpu, 1 thread": [
    { ...all, precisions: ["f64"], sizes: SIZES },
    { ...all, precisions: ["f32"], sizes: everything ? [1, 2, 7, 33, 512] : [2, 33, 512] },
  ],
  "cpu, 3 threads": [{ ...all, precisions: ["f64"], sizes: [3, 512] }],
  webgpu: [
    { algorithms: ALGORITHMS, places: ["contiguous"], precisions: ["f32"], sizes: [70] },
    {
      algorithms: everything ? ["thomas", "register-hybrid", "partition"] : ["thomas", "partition"],
      places: ["axis"],
      precisions: ["f32"],
      sizes: [100],
    },
    ...(everything ? [pairs] : []),
  ],
  cuda: [
    {
      ...all,
      precisions: ["f64"],
      places: everything ? all.places : ["contiguous", "axis"],
      sizes: everything ? [2, 33, 512, 1025] : [33],
    },
    { ...all, precisions: ["f32"], places: everything ? all.places : ["interleaved"], sizes: [512] },
  ],
  interpreter: [{ ...all, precisions: ["f64"], sizes: [1, 2, 3, 37, 70] }],
};

function placements(rows: number, place: Plan["places"][number]): Placement {
  if (place === "axis") return { shape: [2, rows, 3], axis: 1 };
  return { rows, batch: 5, layout: place };
}

/** More rows than a workgroup holds is an error there, and says so; nobody falls back in silence. */
const tooLong = (algorithm: Algorithm, rows: number, place: string): boolean =>
  algorithm === "register-hybrid" && rows > 512 && place !== "contiguous";

const devices = await openTestDevices({ emulatedDouble: everything });
const interpreter = { label: "interpreter", device: new InterpreterDevice({ subgroupSize: 32 }), missing: "" };
afterAll(() => disposeAll([...devices, interpreter]));

for (const { label, device, missing } of [...devices, interpreter]) {
  // Sizes take turns in layouts where there are many of both.
  const turns = /^(cpu|interpreter)/.test(label) ? 2 : 1;
  describe(device === undefined ? missing : label, () => {
    for (const { precisions, algorithms, sizes, places } of plans[label.replace(", emulated", "")] ?? []) {
      for (const precision of precisions) {
        test.skipIf(device === undefined).each(algorithms)(
          `%s, ${precision}, ${places.join(", ")}`,
          async (algorithm) => {
            for (const [k, rows] of sizes.entries()) {
              for (const place of dealt(places, k + 1, turns)) {
                if (tooLong(algorithm, rows, place)) continue;
                const spec = tridiagonalSpec({ ...placements(rows, place), precision, algorithm });
                const given = Array.from({ length: spec.batch }, (_, s) => dominant(rows, 10 * rows + s));
                const { error, failures } = await solveBatch(device!, spec, given);
                expect([`${rows} rows, ${place}`, failures]).toEqual([`${rows} rows, ${place}`, []]);
                expect(error).toBeLessThanOrEqual(ALLOWED * UNIT[precision]);
              }
            }
            expect(device!.liveBuffers).toBe(0);
          },
        );
      }
    }
  });
}

/** As many systems as keep every multiprocessor busy are streamed; the last tile of a row of them is not full. */
const wide = [
  { precision: "f64", placement: { rows: 512, batch: 132, layout: "interleaved" } },
  { precision: "f64", placement: { rows: 200, batch: 132, layout: "interleaved" } },
  { precision: "f64", placement: { shape: [2, 300, 68], axis: 1 } },
  { precision: "f32", placement: { rows: 512, batch: 260, layout: "interleaved" } },
  { precision: "f32", placement: { shape: [2, 150, 132], axis: 1 } },
] as const;
const cuda = devices.find(({ label }) => label.startsWith("cuda"));

describe(cuda?.device === undefined ? cuda!.missing : `many systems side by side, ${cuda.label}`, () => {
  test.skipIf(cuda?.device === undefined).each(dealt(wide, 0, 2))(
    "$precision, $placement",
    async ({ precision, placement }) => {
      const spec = tridiagonalSpec({ ...placement, precision, algorithm: "auto" });
      const problem = { ...spec, shared: false };
      expect(streamedHybridSettings(cuda!.device!, problem)).toBeDefined();
      const given = Array.from({ length: spec.batch }, (_, s) => dominant(spec.rows, s));
      const { error, failures } = await solveBatch(cuda!.device!, spec, given);
      expect(failures).toEqual([]);
      expect(error).toBeLessThanOrEqual(ALLOWED * UNIT[precision]);
      // One that is singular is the only one to fail.
      given[77].diagonal[0] = 0;
      given[77].upper[0] = 0;
      const { failures: one } = await solveBatch(cuda!.device!, spec, given);
      expect(one.map(({ system }) => system)).toEqual([77]);
    },
  );
});

describe.each([...devices, interpreter])("a system that fails, $label", ({ label, device }) => {
  const precision = label.startsWith("webgpu") ? "f32" : "f64";
  // WebGPU has one half of the algorithms, CUDA the other.
  const hand = label.startsWith("webgpu") ? 0 : 1;
  const algorithms = /webgpu|cuda/.test(label) ? dealt(ALGORITHMS, hand, 2) : ALGORITHMS;
  test.skipIf(device === undefined).each(algorithms)("%s: leaves its neighbours alone", async (algorithm) => {
    for (const rows of label.startsWith("cpu") || label === "interpreter" ? [3, 20, 33] : [20]) {
      for (const place of ["contiguous", "interleaved"] as const) {
        const spec = tridiagonalSpec({ ...placements(rows, place), precision, algorithm });
        const given = Array.from({ length: spec.batch }, (_, s) => dominant(rows, s));
        given[2].diagonal[0] = 0;
        given[2].upper[0] = 0;
        const { failures } = await solveBatch(device!, spec, given);
        expect([rows, place, failures.map(({ system }) => system)]).toEqual([rows, place, [2]]);
      }
    }
  });
});

const [{ device: cpu }] = devices;

/** lower[0] and upper[n − 1] are the corners where a system is periodic, and nobody reads them where it is not. */
function withCorners(given: ReturnType<typeof dominant>): ReturnType<typeof dominant> {
  given.lower[0] = 0.375;
  given.upper[given.upper.length - 1] = -0.25;
  return given;
}

describe("one matrix, periodic systems, factors", () => {
  const variants = ALGORITHMS.flatMap((algorithm) =>
    (["each", "one"] as const).flatMap((matrices) =>
      [false, true].map((periodic) => ({ algorithm, matrices, periodic })),
    ),
  );
  test.each(variants)("$algorithm, matrices: $matrices, periodic: $periodic", async (variant) => {
    for (const [k, rows] of (everything ? [1, 2, 3, 4, 50, 200] : [1, 2, 3, 50]).entries()) {
      for (const place of dealt(all.places, k + variants.indexOf(variant), 2)) {
        const spec = tridiagonalSpec({ ...placements(rows, place), precision: "f64", ...variant, factors: true });
        const given = Array.from({ length: spec.batch }, (_, s) => withCorners(dominant(rows, rows + s)));
        using batch = new Batch(cpu!, spec, given);
        using solver = await TridiagonalSolver.create(cpu!, spec);
        solver.solveInPlace(batch.buffers);
        expect(await solver.failures()).toEqual([]);
        const limit = (variant.periodic ? 4 : 1) * ALLOWED * UNIT.f64;
        if (!(variant.periodic && rows < 3)) expect(await batch.worstBackwardError()).toBeLessThanOrEqual(limit);
        const [direct] = await batch.solutions();
        solver.factor(batch.buffers);
        for (let times = 0; times < 2; times++) {
          batch.reset();
          solver.solve(batch.buffers);
          expect(await solver.failures()).toEqual([]);
          const [again] = await batch.solutions();
          again.forEach((x, i) => expect(Math.abs(x - direct[i])).toBeLessThan(1e-14));
        }
      }
    }
    expect(cpu!.liveBuffers).toBe(0);
  });

  // One kernel or two of each kind: SwiftShader and g++ take their time.
  for (const { label, device, missing } of devices.slice(2)) {
    test.skipIf(device === undefined)(
      device === undefined ? missing : `${label}: periodic, one matrix, factors`,
      async () => {
        const precision = device!.precisions.includes("f64") ? "f64" : "f32";
        for (const [k, algorithm] of (["thomas", "pivoting"] as const).entries()) {
          for (const matrices of dealt(["each", "one"] as const, k, 2)) {
            const options = { precision, algorithm, matrices, periodic: true, factors: true } as const;
            const spec = tridiagonalSpec({ rows: 45, batch: 5, layout: "interleaved", ...options });
            const given = Array.from({ length: 5 }, (_, s) => withCorners(dominant(45, s)));
            using batch = new Batch(device!, spec, given);
            using solver = await TridiagonalSolver.create(device!, spec);
            solver.solveInPlace(batch.buffers);
            expect(await solver.failures()).toEqual([]);
            expect(await batch.worstBackwardError()).toBeLessThanOrEqual(4 * ALLOWED * UNIT[precision]);
            batch.reset();
            solver.factor(batch.buffers);
            solver.solve(batch.buffers);
            expect(await solver.failures()).toEqual([]);
            expect(await batch.worstBackwardError()).toBeLessThanOrEqual(4 * ALLOWED * UNIT[precision]);
          }
        }
        expect(device!.liveBuffers).toBe(0);
      },
    );
  }

  test.each([1, 2])("periodic with %i rows: corners are added to what is there", async (rows) => {
    const spec = tridiagonalSpec({ rows, batch: 1, precision: "f64", periodic: true });
    const given = { lower: [1, 0.5], diagonal: [4, 5], upper: [0.25, 2], rhs: [3, 7] };
    const system = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, Float64Array.from(v.slice(0, rows))]));
    const { x } = await solveBatch(cpu!, spec, [system as never]);
    // [4 + 1 + ¼]x = 3; [4, 1¼; 2½, 5]x = [3, 7]
    const expected = rows === 1 ? [3 / 5.25] : [(15 - 8.75) / 16.875, (28 - 7.5) / 16.875];
    expected.forEach((value, i) => expect(x[0][i]).toBeCloseTo(value, 14));
  });
});

describe("the examples of the literature: 512 rows", () => {
  // Zhang, Cohen & Owens (2010) and Egloff (2010) time diagonally dominant systems and the heat equation's; Klein &
  // Strzodka (2021) type 18.
  test.each(ALGORITHMS)("%s: (−1, 4, −1), and one step of the heat equation", async (algorithm) => {
    const spec = tridiagonalSpec({ rows: 512, batch: 2, precision: "f64", algorithm });
    const sine = Float64Array.from({ length: 512 }, (_, i) => Math.sin((Math.PI * (i + 1)) / 513));
    const system = (off: number, middle: number) => ({
      lower: new Float64Array(512).fill(off),
      diagonal: new Float64Array(512).fill(middle),
      upper: new Float64Array(512).fill(off),
      rhs: sine,
    });
    const bounded = [system(-1, 4), system(-100, 201)];
    for (const one of bounded) one.lower[0] = one.upper[511] = 0;
    const { x, error } = await solveBatch(cpu!, spec, bounded);
    expect(error).toBeLessThanOrEqual(ALLOWED * UNIT.f64);
    // sin(πi/513) is an eigenvector of every such matrix, with the eigenvalue middle + 2·off·cos(π/513).
    bounded.forEach(({ diagonal, upper }, s) => {
      const eigenvalue = diagonal[0] + 2 * upper[0] * Math.cos(Math.PI / 513);
      x[s].forEach((value, i) => expect(Math.abs(value - sine[i] / eigenvalue)).toBeLessThan(2e-13));
    });
  });
});

test("a million rows, and a hundred thousand by every algorithm that takes them", async () => {
  const rows = 100_000;
  const [a] = [dominant(997, 7)];
  const long = (n: number): typeof a => {
    const repeat = (values: Float64Array): Float64Array => Float64Array.from({ length: n }, (_, i) => values[i % 997]);
    return { lower: repeat(a.lower), diagonal: repeat(a.diagonal), upper: repeat(a.upper), rhs: repeat(a.rhs) };
  };
  for (const algorithm of dealt(["thomas", "pivoting", "partition"] as const, 1, 3)) {
    const spec = tridiagonalSpec({ rows, batch: 1, precision: "f64", algorithm });
    const { error, failures } = await solveBatch(cpu!, spec, [long(rows)]);
    expect(failures).toEqual([]);
    expect(error).toBeLessThanOrEqual(ALLOWED * UNIT.f64);
  }
  const spec = tridiagonalSpec({ rows: 1_000_003, batch: 1, precision: "f64" });
  const { error, failures } = await solveBatch(cpu!, spec, [long(1_000_003)]);
  expect([error <= ALLOWED * UNIT.f64, failures]).toEqual([true, []]);
  using solver = await TridiagonalSolver.create(cpu!, spec);
  expect(solver.algorithm).toBe("partition");
});
