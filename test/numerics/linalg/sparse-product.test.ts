/** y ← α·A·x + β·y in every format on every device, and conversions there. */
import { afterAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { DisposedError } from "../../../src/base/errors.ts";
import { fn, type Precision } from "../../../src/kernel/index.ts";
import { uploadAccumulatingCoo, cooProductOf } from "../../../src/numerics/linalg/sparse/coo-product.ts";
import {
  convertSparse,
  type CsrMatrix,
  type OperatorOptions,
  type SparseMatrix,
  SparseOperator,
  stencil,
  type Stencil,
  stencilMatrix,
  stencilPlace,
} from "../../../src/numerics/linalg/index.ts";
import { slotFormatOf, slotProductKernel } from "../../../src/numerics/linalg/sparse/slots.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { devicePairs, matrices, matrixOf, uploaded, vector, worstProduct } from "./sparse-support.ts";

const devices = [
  ...(await openTestDevices({ emulatedDouble: everything })),
  { label: "interpreter", device: new InterpreterDevice(), missing: "" },
];
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

type Variant = readonly [name: string, make: (a: CsrMatrix) => SparseMatrix, options?: OperatorOptions];
const variants: readonly Variant[] = [
  ["csr, scalar", (a) => a, { algorithm: "scalar" }],
  ["csr, vector of 4", (a) => a, { algorithm: "vector", lanes: 4 }],
  ["csr, aligned to 32", (a) => a, { algorithm: "aligned", lanes: 32 }],
  ["csr, padded to 8", (a) => convertSparse(a, "csr", { padding: 8 }), { algorithm: "vector", lanes: 8 }],
  ["coo", (a) => convertSparse(a, "coo")],
  ["bcsr 3×2", (a) => convertSparse(a, "bcsr", { block: [3, 2] })],
  ["ell", (a) => convertSparse(a, "ell")],
  ["dia", (a) => convertSparse(a, "dia")],
  ["hyb", (a) => convertSparse(a, "hyb")],
  ["pkt", (a) => convertSparse(a, "pkt", { packetRows: 100, packetItems: 32 })],
];

async function applied(
  device: Device,
  precision: Precision,
  matrix: SparseMatrix | Stencil,
  options: OperatorOptions,
  given: { x: Float64Array; y: Float64Array; alpha: number; beta: number },
): Promise<ArrayLike<number>> {
  using operator = await SparseOperator.create(device, matrix, { ...options, precision });
  using x = uploaded(device, precision, given.x);
  using y = uploaded(device, precision, given.y);
  operator.apply({ x, y, alpha: given.alpha, beta: given.beta });
  return await device.read(y);
}

const pairs = devicePairs(devices);

describe.each(pairs)("$label, $precision", ({ label, device, missing, precision }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }
  const all = Object.entries(matrices(precision));
  // Emulated devices and the interpreter take a second for what takes a core a millisecond.
  const isWhole = label === "cpu, 1 thread" && (everything || precision === "f64");
  const some = isWhole ? all : all.filter(([name]) => /hand|empty rows|one dense row/.test(name));

  // One thread has every variant; of the others, three devices that follow each other have a third of them each.
  const own =
    label === "cpu, 1 thread"
      ? variants
      : dealt(
          variants,
          pairs.findIndex((one) => one.label === label),
          3,
        );
  test.each(own.map(([name, make, options = {}]) => ({ name, make, options })))("$name", async (variant) => {
    const { name, make, options } = variant;
    for (const [which, matrix] of some) {
      if (name === "pkt" && matrix.rows !== matrix.columns) continue;
      for (const [alpha, beta] of which === "one dense row"
        ? [[-0.5, 2]]
        : [
            [1, 0],
            [-0.5, 2],
          ]) {
        const x = vector(matrix.columns, 5, precision);
        // What must not be read is no number.
        const y = beta === 0 ? new Float64Array(matrix.rows).fill(NaN) : vector(matrix.rows, 6, precision);
        const given = { x, y, alpha, beta };
        const got = await applied(device, precision, make(matrix), options, given);
        expect([which, worstProduct(matrix, precision, given, got)]).toEqual([which, expect.toSatisfy((e) => e <= 1)]);
      }
    }
  });

  test("coo by workgroups, as on GPUs", async () => {
    const long = matrixOf(5, 4000, (i) => (i === 3 ? [7] : Array.from({ length: 4000 }, (_, j) => j)), precision);
    for (const [which, matrix] of [...some, ["rows longer than three chunks", long] as const]) {
      if (matrix.rows === 0) continue;
      const setting = { device, precision };
      const product = await cooProductOf(
        setting,
        matrix.rows,
        await uploadAccumulatingCoo(setting, convertSparse(matrix, "coo"), true),
      );
      const given = {
        x: vector(matrix.columns, 5, precision),
        y: vector(matrix.rows, 6, precision),
        alpha: 2,
        beta: -1,
      };
      using x = uploaded(device, precision, given.x);
      using y = uploaded(device, precision, given.y);
      product.record({ x, y, alpha: 2, beta: -1 });
      const worst = worstProduct(matrix, precision, given, await device.read(y));
      for (const buffer of Object.values(product.arrays)) buffer[Symbol.dispose]();
      expect([which, worst]).toEqual([which, expect.toSatisfy((e) => e <= 1)]);
    }
  });

  test("stencils are their matrices, and are converted on the device", async () => {
    const ofPlace = fn({
      params: stencilPlace,
      body: ({ row, point, coordinate, parameters }, gpu) =>
        parameters[point] * gpu.real(1 + coordinate[0]) - gpu.real(coordinate[2] + (row & 1)),
    });
    const shape = [3, 4, 5];
    // Not in the order of the columns, and one that leaves the grid everywhere.
    const points = [
      [0, 0, 0],
      [1, 0, 0],
      [-1, 0, 0],
      [0, 0, 1],
      [0, -1, 1],
      [0, 2, -3],
      [0, 0, 5],
    ];
    const parameters = [4, -1, -0.5, 0.25, 2, -3, 7];
    for (const one of [
      stencil({ shape, points, coefficient: parameters }),
      stencil({ shape, points, coefficient: ofPlace, parameters }),
    ]) {
      const matrix = stencilMatrix(one);
      const given = { x: vector(60, 8, precision), y: vector(60, 9, precision), alpha: 1, beta: 1 };
      const got = await applied(device, precision, one, {}, given);
      expect(worstProduct(matrix, precision, given, got)).toBeLessThanOrEqual(1);
      using operator = await SparseOperator.create(device, one, { precision });
      using rows = await operator.convert("csr");
      const { starts, column, values } = rows.arrays;
      expect([...(await device.read(starts))]).toEqual([...matrix.starts]);
      expect([...(await device.read(column))]).toEqual([...matrix.column]);
      expect([...(await device.read(values))]).toEqual([...matrix.values]);
    }
  });

  test("conversions on the device give the arrays that the host gives", async () => {
    const formats = ["coo", "ell", "dia", "hyb"] as const;
    const hasDense = everything && label.startsWith("cpu");
    for (const [which, matrix] of some.filter(([name]) => isWhole || hasDense || name !== "one dense row")) {
      for (const format of formats) {
        const expected = await SparseOperator.create(device, convertSparse(matrix, format), { precision });
        const rows = await SparseOperator.create(device, matrix, { precision });
        const made = await rows.convert(format);
        expect([which, await contentsOf(made)]).toEqual([which, await contentsOf(expected)]);
        if (format !== "hyb") {
          const back = await made.convert("csr");
          expect([which, await contentsOf(back)]).toEqual([which, await contentsOf(rows)]);
          back[Symbol.dispose]();
        }
        for (const one of [expected, rows, made]) one[Symbol.dispose]();
      }
    }
  });
});

/** The arrays of an operator by name; those of carries hold what the last product left. */
async function contentsOf(operator: SparseOperator): Promise<Record<string, readonly number[]>> {
  const arrays = Object.entries(operator.arrays).filter(([name]) => !name.includes("carry"));
  return Object.fromEntries(
    await Promise.all(arrays.map(async ([name, buffer]) => [name, [...(await operator.device.read(buffer))]] as const)),
  );
}

test("the CPU's bits are the interpreter's, on any number of threads", async () => {
  const on = devices.filter(({ label }) => label.startsWith("cpu") || label === "interpreter");
  for (const precision of dealt(["f64", "f32"] as const, 0, 2)) {
    const all = matrices(precision);
    for (const matrix of [all["random"], all["empty rows"], all["one dense row"]]) {
      for (const [name, make, options = {}] of variants) {
        if (name === "pkt" && matrix.rows !== matrix.columns) continue;
        const given = {
          x: vector(matrix.columns, 1, precision),
          y: vector(matrix.rows, 2, precision),
          alpha: 0.3,
          beta: 1.7,
        };
        const [first, ...others] = await Promise.all(
          on.map(({ device }) => applied(device!, precision, make(matrix), options, given)),
        );
        for (const other of others) expect([name, ...Array.from(other)]).toEqual([name, ...Array.from(first)]);
      }
    }
  }
});

test("errors", async () => {
  const { device } = devices[0];
  const [matrix] = Object.values(matrices("f64"));
  using operator = await SparseOperator.create(device!, matrix);
  using x = device!.createBuffer("f64", 3);
  using y = device!.createBuffer("f64", 2);
  using single = device!.createBuffer("f32", 2);
  using elsewhere = devices[1].device!.createBuffer("f64", 2);
  expect(() => operator.apply({ x: y, y })).toThrow("SparseOperator: x: got 2 elements of f64");
  expect(() => operator.apply({ x, y: single })).toThrow("SparseOperator: y: got 2 elements of f32");
  expect(() => operator.apply({ x, y: elsewhere })).toThrow(
    /SparseOperator: y: got 2 elements of f64 of .*, expected 2 of f64 of CPU/,
  );
  using square = await SparseOperator.create(
    device!,
    matrixOf(2, 2, () => [0, 1]),
  );
  expect(() => square.apply({ x: y, y })).toThrow("SparseOperator: x and y are one buffer, expected two");
  await expect(operator.convert("csr")).rejects.toThrow("the matrix is in csr already");
  await expect(operator.convert("bcsr" as never)).rejects.toThrow(
    '"bcsr" is not made on a device; make it with convertSparse on the host',
  );
  using blocks = await SparseOperator.create(device!, convertSparse(matrix, "bcsr"));
  await expect(blocks.convert("csr")).rejects.toThrow("bcsr is not converted on a device");
  using padded = await SparseOperator.create(device!, convertSparse(matrix, "csr", { padding: 4 }));
  await expect(padded.convert("ell")).rejects.toThrow("rows with padding are not converted on a device");
  await expect(SparseOperator.create(device!, matrix, { lanes: 3 as never })).rejects.toThrow(
    "SparseOperator: lanes: got 3, expected 2, 4, 8, 16 or 32",
  );
  const coo = convertSparse(matrix, "coo");
  await expect(SparseOperator.create(device!, { ...coo, row: coo.row.toReversed() })).rejects.toThrow(
    "coordinates: entry 1 at (0, 2) follows (1, 0), expected ascending rows",
  );
  operator[Symbol.dispose]();
  expect(() => operator.apply({ x, y })).toThrow(DisposedError);
});

/** y ← A·x by the kernel of GPUs, with so many places together, or by that of CPUs. */
async function slotsProduct(device: Device, of: CsrMatrix, format: "ell" | "dia", together: number) {
  const matrix = convertSparse(of, format);
  const { rows, columns, pitch } = matrix;
  const [slots, places] =
    matrix.kind === "ell" ? [matrix.width, matrix.column] : [matrix.offsets.length, matrix.offsets];
  const program = await device.compile(slotProductKernel(slotFormatOf(matrix), together), {
    precision: "f64",
    fma: "exact",
  });
  using index = device.createBuffer("i32", places.length);
  device.write(index, places);
  using values = uploaded(device, "f64", matrix.values);
  using x = uploaded(device, "f64", vector(columns, 5, "f64"));
  using y = device.createBuffer("f64", rows);
  device.launch(program, { columns, pitch, slots, alpha: 2, beta: 0, index, values, x, y }, { items: rows });
  return await device.read(y);
}

test.each(devices)("$label: batches of places have the bits of one place after another", async ({ device }) => {
  if (device === undefined || !device.precisions.includes("f64")) return;
  const hand = devices.findIndex((one) => one.device === device);
  for (const which of ["random", "banded", "empty rows", "one dense row"])
    for (const format of ["ell", "dia"] as const) {
      const of = matrices("f64")[which];
      const expected = await slotsProduct(device, of, format, 0);
      for (const together of dealt([2, 7], hand, 2))
        expect(await slotsProduct(device, of, format, together)).toEqual(expected);
    }
});
