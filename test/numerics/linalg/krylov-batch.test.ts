/** Batches of small systems, a workgroup for each, against LAPACK's solutions. */
import { afterAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import {
  type BatchOptions,
  type BatchResult,
  type BatchSystems,
  convertSparse,
  KrylovBatch,
  type KrylovMethod,
  type KrylovOptions,
  krylovSpec,
  type SparseMatrix,
  stencil,
  stencilMatrix,
} from "../../../src/numerics/linalg/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { matrixOf, norm, residualOf, solved, systemNamed, systems } from "./krylov-support.ts";
import { devicePairs, uploaded } from "./sparse-support.ts";

const devices = [
  ...(await openTestDevices({ emulatedDouble: everything })),
  { label: "interpreter", device: new InterpreterDevice(), missing: "" },
];
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});
const cpu = devices[0].device!;
const methods = ["bicgstab", "cgs", "cg", "gmres"] as const satisfies readonly KrylovMethod[];

interface Given extends Partial<Pick<BatchSystems, "steps" | "carry">> {
  readonly options?: KrylovOptions;
  readonly batch?: BatchOptions;
  readonly guess?: readonly number[];
}

async function solveAll(
  device: Device,
  matrices: readonly SparseMatrix[],
  b: readonly number[],
  { options = {}, batch: settings = {}, guess, ...loop }: Given,
): Promise<{ readonly results: readonly BatchResult[]; readonly x: readonly (readonly number[])[] }> {
  using batch = await KrylovBatch.create(device, matrices, krylovSpec(options), settings);
  using rhs = uploaded(device, settings.precision ?? "f64", Float64Array.from(b));
  using into = uploaded(device, settings.precision ?? "f64", Float64Array.from(guess ?? b.map(() => 0)));
  batch.solve({ b: rhs, x: into, ...loop });
  const results = await batch.results();
  const all = Array.from(await device.read(into));
  return { results, x: matrices.map(({ rows }) => all.splice(0, rows)) };
}

const rhsOf = (list: readonly (typeof systems)[number][]): number[] => list.flatMap(({ b }) => b);
/** κ·‖r‖/‖b‖ bounds the relative error; the rest is LAPACK's rounding and ours. */
const slack = { f64: 1e-12, f32: 1e-4, f32x2: 1e-9 } as const;

function expectSolved(
  list: readonly (typeof systems)[number][],
  { results, x }: Awaited<ReturnType<typeof solveAll>>,
  precision: Precision = "f64",
): void {
  list.forEach((system, s) => {
    const { status, relativeResidual, residual } = results[s];
    expect([system.name, status]).toEqual([system.name, "converged"]);
    const size = norm(system.values) * norm(x[s]) + norm(system.b);
    expect(Math.abs(residual - residualOf(system, x[s]))).toBeLessThanOrEqual(slack[precision] * size);
    if (system.x === null) return;
    const error = norm(system.x.map((value, i) => value - x[s][i])) / norm(system.x);
    const bound = system.condition! * (relativeResidual + (slack[precision] * size) / norm(system.b));
    expect(error).toBeLessThanOrEqual(bound);
  });
}

const nonsingular = systems.filter(({ name }) => !/singular|empty|cyclic/.test(name));

describe("on the CPU, systems of different sizes", () => {
  test.each(methods)("%s", async (method) => {
    const list =
      method === "cg" ? [systemNamed("laplace")] : nonsingular.filter(({ name }) => name !== "ill-conditioned");
    const matrices = list.map(matrixOf);
    const onDevice = await solveAll(cpu, matrices, rhsOf(list), { options: { method }, batch: { memory: "device" } });
    expectSolved(list, onDevice);
    const onChip = await solveAll(cpu, matrices, rhsOf(list), { options: { method }, batch: { memory: "workgroup" } });
    expect(onChip).toEqual(onDevice);
    // The rounding of sums of another shape may cost an iteration or two.
    for (const [s, system] of list.entries()) {
      const { result } = await solved(cpu, "f64", system, { method });
      expect(Math.abs(result.iterations - onDevice.results[s].iterations)).toBeLessThanOrEqual(2);
    }
  });

  test.each(["jacobi", "ilu0"] as const)("preconditioned by %s", async (preconditioner) => {
    for (const method of methods) {
      const list = method === "cg" ? [systemNamed("laplace")] : nonsingular;
      const batch = { preconditioner };
      expectSolved(list, await solveAll(cpu, list.map(matrixOf), rhsOf(list), { options: { method }, batch }));
    }
  });

  // Couplings of 100 along one axis and of 1 along the other: a grid of 6 × 5, and one of 4 × 9.
  const shapes = [
    [6, 5],
    [4, 9],
  ] as const;
  const crossing = (shape: readonly number[], across: number): SparseMatrix =>
    stencilMatrix(
      stencil({
        shape,
        points: [
          [0, 0],
          [0, -1],
          [0, 1],
          [-1, 0],
          [1, 0],
        ],
        coefficient: [202.1, -1 * across, -1 * across, -100, -100],
      }),
    );
  const productOf = (matrix: SparseMatrix, x: readonly number[]): number[] => {
    const { starts, column, values } = convertSparse(matrix, "csr");
    return x.map((_, i) => {
      let sum = 0;
      for (let k = starts[i]; k < starts[i + 1]; k++) sum += values[k] * x[column[k]];
      return sum;
    });
  };
  const ones = shapes.flatMap(([n, m]) => new Array<number>(n * m).fill(1));
  const iterations = async (across: number, preconditioner: BatchOptions["preconditioner"]): Promise<number[]> => {
    const matrices = shapes.map((shape) => crossing(shape, across));
    const { results, x } = await solveAll(cpu, matrices, ones, {
      options: { method: "bicgstab" },
      batch: preconditioner === undefined ? {} : { preconditioner },
    });
    for (const [s, { status, residual }] of results.entries()) {
      expect(status).toBe("converged");
      const own = Math.hypot(...productOf(matrices[s], x[s]).map((value) => 1 - value));
      expect(Math.abs(own - residual)).toBeLessThan(1e-10);
    }
    return results.map((result) => result.iterations);
  };

  test("lines along the strong couplings, which they solve exactly where there are no others", async () => {
    const along = { kind: "lines", shapes, axis: 0 } as const;
    expect(await iterations(0, along)).toEqual([1, 1]);
    const [plain, lines, wrong] = await Promise.all([
      iterations(1, undefined),
      iterations(1, along),
      iterations(1, { ...along, axis: 1 }),
    ]);
    for (const s of [0, 1]) {
      expect(lines[s]).toBeLessThan(plain[s]);
      expect(lines[s]).toBeLessThan(wrong[s]);
    }
  });

  test("blocks, which are exact where nothing couples them", async () => {
    // Rows of a 6 × 5 grid without couplings along the first axis are blocks of five, dense in their inverse.
    const rows = stencilMatrix(
      stencil({ shape: [6, 5], points: [[0, 0], [0, -1], [0, 1]], coefficient: [2, -1, -1] }), // prettier-ignore
    );
    const b = new Array<number>(30).fill(1);
    const of = async (size: number): Promise<BatchResult> => {
      const batch = { preconditioner: { kind: "block-jacobi", size } } as const;
      return (await solveAll(cpu, [rows], b, { batch })).results[0];
    };
    expect(await of(5)).toMatchObject({ status: "converged", iterations: 1 });
    expect((await of(3)).iterations).toBeGreaterThan(1);
    // A last block that is shorter.
    expect((await of(64)).iterations).toBe(1);
  });

  test("a system that cannot be solved leaves the others alone", async () => {
    const list = [
      systemNamed("laplace"),
      systemNamed("singular, inconsistent"),
      systemNamed("cyclic shift"),
      systemNamed("random"),
    ];
    const { results, x } = await solveAll(cpu, list.map(matrixOf), rhsOf(list), {});
    expect(results.map(({ status }) => status)).toEqual(["converged", "breakdown", "breakdown", "converged"]);
    expectSolved([list[0], list[3]], { results: [results[0], results[3]], x: [x[0], x[3]] });
    const alone = await solveAll(cpu, [matrixOf(list[3])], [...list[3].b], {});
    expect(x[3]).toEqual(alone.x[0]);
    const infinite = await solveAll(
      cpu,
      [matrixOf(list[0])],
      list[0].b.map((_, i) => (i === 9 ? NaN : 1)),
      {},
    );
    expect(infinite.results[0]).toMatchObject({ status: "not-finite", steps: 0 });
    const zero = await solveAll(
      cpu,
      [matrixOf(list[0])],
      list[0].b.map(() => 0),
      { guess: list[0].b },
    );
    expect(Math.max(...zero.x[0].map(Math.abs))).toBe(0);
  });
});

describe("time loops", () => {
  /** 1 + Δt·(discrete −d²/dx²) on n inner nodes of (0, 1). */
  const heat = (n: number, dt: number): ReturnType<typeof stencilMatrix> => {
    const a = dt * (n + 1) ** 2;
    return stencilMatrix(stencil({ shape: [n], points: [[-1], [0], [1]], coefficient: [-a, 1 + 2 * a, -a] }));
  };

  test("implicit Euler for the heat equation decays as its eigenvalue says", async () => {
    const [sizes, dt, steps] = [[15, 40], 1e-3, 50];
    const mode = (n: number): number[] => Array.from({ length: n }, (_, i) => Math.sin((Math.PI * (i + 1)) / (n + 1)));
    const guess = sizes.flatMap(mode);
    const { results, x } = await solveAll(
      cpu,
      sizes.map((n) => heat(n, dt)),
      guess.map(() => 0),
      {
        guess,
        steps,
        carry: 1,
        options: { method: "cg", tolerance: { relative: 1e-13 } },
      },
    );
    sizes.forEach((n, s) => {
      const eigenvalue = 4 * (n + 1) ** 2 * Math.sin(Math.PI / (2 * (n + 1))) ** 2;
      const decay = (1 + dt * eigenvalue) ** -steps;
      expect(results[s]).toMatchObject({ status: "converged", steps });
      // 50 steps with relative residuals of 1e-13 each.
      mode(n).forEach((value, i) => expect(Math.abs(x[s][i] - decay * value)).toBeLessThan(1e-11));
    });
  });

  test("are the steps one by one, to the bit, and end at a step that fails", async () => {
    const matrix = heat(30, 0.01);
    const b = Array.from({ length: 30 }, (_, i) => Math.cos(i));
    const options = { tolerance: { relative: 1e-12 } };
    let x: readonly number[] = b.map(() => 0.5);
    for (let step = 0; step < 3; step++) [x] = (await solveAll(cpu, [matrix], b, { options, guess: x, carry: 0.75 })).x;
    const loop = await solveAll(cpu, [matrix], b, { options, guess: b.map(() => 0.5), carry: 0.75, steps: 3 });
    expect(loop.x[0]).toEqual(x);
    const short = await solveAll(cpu, [matrix], b, { options: { maxIterations: 2 }, steps: 5, carry: 1 });
    expect(short.results[0]).toMatchObject({ status: "max-iterations", iterations: 2, steps: 0 });
  });
});

test("errors", async () => {
  const wide = stencilMatrix(stencil({ shape: [3], points: [[0]], coefficient: [1] }));
  const create = (matrices: readonly SparseMatrix[], batch: object = {}) =>
    KrylovBatch.create(cpu, matrices, krylovSpec(), batch);
  await expect(create([])).rejects.toThrow("KrylovBatch: no matrices");
  await expect(create([wide, { ...wide, columns: 4 }])).rejects.toThrow(
    "KrylovBatch: matrix 1: 3 × 4, expected a square",
  );
  await expect(create([wide], { preconditioner: "amg" })).rejects.toThrow(
    'KrylovBatch: preconditioner: got "amg", expected "none", "jacobi", "ilu0", { kind: "block-jacobi", size }',
  );
  const shift = [wide, matrixOf(systemNamed("cyclic shift"))];
  await expect(create(shift, { preconditioner: "jacobi" })).rejects.toThrow("Jacobi: matrix 1: row 0 has no pivot");
  await expect(create(shift, { preconditioner: "ilu0" })).rejects.toThrow("ILU(0): matrix 1: row 0 has no pivot");
  const refused = async (preconditioner: object, message: string): Promise<void> =>
    expect(create([wide], { preconditioner })).rejects.toThrow(`KrylovBatch: preconditioner: ${message}`);
  await refused({ kind: "block-jacobi", size: 65 }, "size: got 65, expected a whole number from 1 to 64");
  await refused({ kind: "lines", shapes: [], axis: 0 }, "shapes[0]: got none, expected the grid of matrix 0");
  await refused({ kind: "lines", shapes: [[4]], axis: 0 }, "shapes[0]: got [4], expected the grid of matrix 0");
  await refused({ kind: "lines", shapes: [[3]], axis: 1 }, "axis: got 1, expected 0 to 0");
  const long = stencilMatrix(stencil({ shape: [40_000], points: [[0]], coefficient: [1] }));
  await expect(create([long], { memory: "workgroup" })).rejects.toThrow("of workgroup memory");
  using batch = await create([wide]);
  using b = uploaded(cpu, "f64", new Float64Array(3));
  using x = uploaded(cpu, "f64", new Float64Array(4));
  expect(() => batch.solve({ b, x })).toThrow(ShapeError);
  expect(() => batch.solve({ b, x: b })).toThrow("KrylovBatch: b and x are one buffer, expected two");
  using y = uploaded(cpu, "f64", new Float64Array(3));
  expect(() => batch.solve({ b, x: y, steps: 0 })).toThrow(SpecError);
  batch[Symbol.dispose]();
  expect(() => batch.solve({ b, x: y })).toThrow(DisposedError);
});

const elsewhere = devicePairs(devices.slice(1)).filter(
  ({ label, precision }) => label !== "interpreter" || precision === "f32",
);
describe.each(elsewhere)("$label, $precision", ({ label, device, missing, precision }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }
  const isCpu = label.startsWith("cpu") || label === "interpreter";
  const relative = { f64: 1e-10, f32: 1e-4, f32x2: 1e-9 }[precision];
  const list = [systemNamed("random"), systemNamed("dense row")];
  const matrices = list.map(matrixOf);
  // Emulated devices take seconds to compile a kernel.
  const cases: readonly (readonly [KrylovMethod, BatchOptions["preconditioner"], BatchOptions["memory"]])[] = isCpu
    ? [
        ["bicgstab", "ilu0", "workgroup"],
        ["cgs", "jacobi", "device"],
        ["gmres", "none", "device"],
      ]
    : precision === "f32"
      ? [["gmres", "jacobi", "device"]]
      : [["bicgstab", "ilu0", "workgroup"]];

  test.each(cases)("%s, %s, memory of the %s", async (method, preconditioner, memory) => {
    const given = {
      options: { method, tolerance: { relative }, restart: 10 },
      batch: {
        precision,
        ...(preconditioner === undefined ? {} : { preconditioner }),
        ...(memory === undefined ? {} : { memory }),
      },
    };
    const got = await solveAll(device, matrices, rhsOf(list), given);
    expectSolved(list, got, precision);
    if (isCpu) expect(got).toEqual(await solveAll(cpu, matrices, rhsOf(list), given));
  });
});
