import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { DeviceUnavailableError, DisposedError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { DeviceArray, Matmul, matmul, matmulSpec, type MatmulSpec } from "../../../src/numerics/linalg/index.ts";
import { disposeAll, openTestDevices, type TestDevice } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { type Matrix, product, randomMatrix, transposed, worstOf } from "./dense-reference.ts";

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

const pairs = devices.flatMap(({ label, device, missing }) =>
  (device?.precisions ?? (["f64"] as const)).map((precision) => ({ label, device, missing, precision })),
);

const array = (device: Device, { rows, columns, values }: Matrix, precision: Precision): Promise<DeviceArray> =>
  DeviceArray.create(device, [rows, columns], { precision, values });

/** Rows, inner, columns: one; odd; primes; thin; larger than a tile of 32 and not a multiple; nothing in between. */
const SHAPES = [
  [1, 1, 1],
  [2, 3, 5],
  [7, 1, 4],
  [1, 67, 1],
  [31, 37, 29],
  [33, 16, 65],
  [70, 131, 35],
  [3, 0, 4],
] as const;

describe.each(pairs)("$label, $precision", ({ device, label, missing, precision }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }

  const hand = pairs.findIndex((one) => one.label === label && one.precision === precision);
  test.each(label === "cpu, 1 thread" ? SHAPES : dealt(SHAPES, hand, device.backend === "webgpu" ? 8 : 4))(
    "%i×%i by %i wide, all four orders",
    async (rows, inner, columns) => {
      const [a, b] = [randomMatrix(rows, inner, 1, precision), randomMatrix(inner, columns, 2, precision)];
      const expected = product(precision, a, b);
      using straightA = await array(device, a, precision);
      using straightB = await array(device, b, precision);
      using turnedA = await array(device, transposed(a), precision);
      using turnedB = await array(device, transposed(b), precision);
      for (const left of [straightA, turnedA.transpose()]) {
        for (const right of [straightB, turnedB.transpose()]) {
          using c = await matmul(left, right, { implementation: "kernel" });
          expect(c.shape).toEqual([rows, columns]);
          expect(worstOf(await c.download(), expected)).toBeLessThanOrEqual(1);
        }
      }
    },
  );

  test("α and β, into a range of a larger array", async () => {
    const [rows, inner, columns] = [19, 23, 37];
    const [a, b] = [randomMatrix(rows, inner, 3, precision), randomMatrix(inner, columns, 4, precision)];
    const c = randomMatrix(rows, columns, 5, precision);
    using left = await array(device, a, precision);
    using right = await array(device, b, precision);
    using whole = await DeviceArray.create(device, [rows + 4, columns + 5], { precision });
    const into = whole.slice(1, rows + 1).columnSlice(2, columns + 2);
    into.upload(c.values);
    for (const [alpha, beta] of [
      [0.5, 1],
      [-2, 0.25],
      [0, -1],
    ]) {
      into.upload(c.values);
      await matmul(left, right, { alpha, beta, c: into, implementation: "kernel" });
      expect(worstOf(await into.download(), product(precision, a, b, { alpha, beta, c }))).toBeLessThanOrEqual(1);
    }
    const all = await whole.download();
    const outside = [...all].filter((_, k) => {
      const [i, j] = [Math.floor(k / (columns + 5)) - 1, (k % (columns + 5)) - 2];
      return i < 0 || i >= rows || j < 0 || j >= columns;
    });
    expect(outside.every((x) => x === 0)).toBe(true);
  });

  test("β = 0 does not read C: NaN there stays there no longer", async () => {
    const [a, b] = [randomMatrix(5, 9, 6, precision), randomMatrix(9, 33, 7, precision)];
    using left = await array(device, a, precision);
    using right = await array(device, b, precision);
    using c = await DeviceArray.create(device, [5, 33], { precision, values: Array.from({ length: 165 }, () => NaN) });
    await matmul(left, right, { c, beta: 0, implementation: "kernel" });
    expect(worstOf(await c.download(), product(precision, a, b))).toBeLessThanOrEqual(1);
    await matmul(left, right, { c, alpha: 0, implementation: "kernel" });
    expect([...(await c.download())].every((x) => x === 0)).toBe(true);
  });

  // On WebGPU two more kernels take seconds to compile.
  test.skipIf(label === "webgpu" && !everything)("ranges of rows and columns as factors", async () => {
    const [a, b] = [randomMatrix(40, 50, 8, precision), randomMatrix(60, 41, 9, precision)];
    const part = (m: Matrix, i0: number, i1: number, j0: number, j1: number): Matrix => ({
      rows: i1 - i0,
      columns: j1 - j0,
      values: m.values.filter((_, k) => {
        const [i, j] = [Math.floor(k / m.columns), k % m.columns];
        return i >= i0 && i < i1 && j >= j0 && j < j1;
      }),
    });
    using left = await array(device, a, precision);
    using right = await array(device, b, precision);
    using c = await matmul(left.slice(3, 38).columnSlice(7, 48), right.columnSlice(2, 40).slice(10, 51), {
      implementation: "kernel",
    });
    const expected = product(precision, part(a, 3, 38, 7, 48), part(b, 10, 51, 2, 40));
    expect(worstOf(await c.download(), expected)).toBeLessThanOrEqual(1);
    using gram = await matmul(left.slice(0, 9).transpose(), left.slice(0, 9), { implementation: "kernel" });
    const rows = part(a, 0, 9, 0, 50);
    expect(worstOf(await gram.download(), product(precision, transposed(rows), rows))).toBeLessThanOrEqual(1);
  });

  test("batches: each with its own, and one factor for all", async () => {
    const [batch, rows, inner, columns] = [5, 9, 17, 6];
    const many = randomMatrix(batch * rows, inner, 10, precision);
    const others = randomMatrix(batch * inner, columns, 11, precision);
    using left = await DeviceArray.create(device, [batch, rows, inner], { precision, values: many.values });
    using right = await DeviceArray.create(device, [batch, inner, columns], { precision, values: others.values });
    const matrixOf = (m: Matrix, height: number, k: number): Matrix => ({
      rows: height,
      columns: m.columns,
      values: m.values.slice(k * height * m.columns, (k + 1) * height * m.columns),
    });
    using each = await matmul(left, right, { implementation: "kernel" });
    using shared = await matmul(left, right.matrix(2), { implementation: "kernel" });
    expect(each.shape).toEqual([batch, rows, columns]);
    const [got, gotShared] = [await each.download(), await shared.download()];
    for (let k = 0; k < batch; k++) {
      const a = matrixOf(many, rows, k);
      const range = [k * rows * columns, (k + 1) * rows * columns] as const;
      const own = product(precision, a, matrixOf(others, inner, k));
      expect(worstOf(got.subarray(...range), own)).toBeLessThanOrEqual(1);
      const same = product(precision, a, matrixOf(others, inner, 2));
      expect(worstOf(gotShared.subarray(...range), same)).toBeLessThanOrEqual(1);
    }
  });

  test("nothing: no rows, no columns, no matrices", async () => {
    for (const [batch, rows, columns] of [
      [1, 0, 3],
      [1, 3, 0],
      [0, 2, 2],
    ]) {
      using a = await DeviceArray.create(device, [batch, rows, 2], { precision });
      using b = await DeviceArray.create(device, [batch, 2, columns], { precision });
      using c = await matmul(a, b, { implementation: "kernel" });
      expect(c.shape).toEqual([batch, rows, columns]);
      expect(await c.download()).toHaveLength(0);
    }
  });
});

/** Tiles that a small matrix would never get: their edges, and that of bands of tile rows. */
const tiled = everything ? /^(?!cpu, 3)/ : /^(cpu, 1|cuda)/;
describe.each(pairs.filter(({ label }) => tiled.test(label)))("tiles, $label, $precision", (pair) => {
  const { device, missing, precision } = pair;
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }
  const large = { ...(precision === "f64" ? { depth: 8 } : { depth: 16 }), itemRows: 8, itemColumns: 8 };
  const tiles = [
    { rows: 64, columns: 64, depth: 16, itemRows: 4, itemColumns: 4 },
    { rows: 128, columns: 128, ...large },
  ];
  const sizes =
    device.backend === "cpu"
      ? [[300, 140, 150] as const]
      : ([
          [300, 37, 45],
          [129, 20, 131],
        ] as const);
  const cases =
    device.backend === "cpu" || precision === "f32x2"
      ? [undefined]
      : tiles.slice(0, device.backend === "webgpu" ? 1 : 2);

  test.each(cases)("%o", async (tile) => {
    for (const [rows, inner, columns] of sizes) {
      const [a, b] = [randomMatrix(rows, inner, 12, precision), randomMatrix(inner, columns, 13, precision)];
      using left = await array(device, a, precision);
      using turned = await array(device, transposed(b), precision);
      using c = await DeviceArray.create(device, [rows, columns], { precision });
      const settings = { rows, inner, columns, precision, b: "column-major", implementation: "kernel" } as const;
      using multiply = await Matmul.create(device, matmulSpec(tile === undefined ? settings : { ...settings, tile }));
      expect(multiply.implementation).toBe("kernel");
      multiply.run({ a: left, b: turned.transpose(), c });
      expect(worstOf(await c.download(), product(precision, a, b))).toBeLessThanOrEqual(1);
    }
  });
});

describe("errors", () => {
  let open: TestDevice;
  let device: Device;
  let [a, b, c] = [] as unknown as [DeviceArray, DeviceArray, DeviceArray];
  const spec = matmulSpec({ rows: 3, inner: 4, columns: 2 });
  beforeAll(async () => {
    open = devices[0];
    device = open.device!;
    a = await DeviceArray.create(device, [3, 4]);
    b = await DeviceArray.create(device, [4, 2]);
    c = await DeviceArray.create(device, [3, 2]);
  });
  afterAll(() => {
    for (const one of [a, b, c]) one[Symbol.dispose]();
  });

  test("a specification is frozen, and refuses what it cannot mean", () => {
    expect(Object.isFrozen(spec)).toBe(true);
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
    const bad = (settings: Partial<MatmulSpec>): (() => void) => {
      return () => void matmulSpec({ rows: 1, inner: 1, columns: 1, ...settings });
    };
    expect(bad({ rows: -1 })).toThrow("matmul: rows: got -1, expected a whole number from 0 to 2,147,483,647");
    expect(bad({ batch: 1.5 })).toThrow(SpecError);
    expect(bad({ a: "upside-down" as never })).toThrow(
      'matmul: a: got "upside-down", expected "row-major" or "column-major"',
    );
    expect(bad({ precision: "f16" as never })).toThrow('expected "f64", "f32" or "f32x2"');
    const tile = { rows: 48, columns: 32, depth: 16, itemRows: 8, itemColumns: 4 };
    expect(bad({ tile })).toThrow(
      "tile 48×32×16, 8×4 an item: runs of lanes along the rows: 1.5, expected a whole number",
    );
  });

  test("shapes, orders, precisions, devices", async () => {
    using multiply = await Matmul.create(device, spec);
    const run = (args: Partial<{ a: DeviceArray; b: DeviceArray; c: DeviceArray; alpha: number }>): (() => void) => {
      return () => multiply.run({ a, b, c, ...args });
    };
    expect(run({})).not.toThrow();
    expect(run({ a: b })).toThrow("matmul: a: shape [4, 2], expected [3, 4]");
    expect(run({ c: a })).toThrow("matmul: c: shape [3, 4], expected [3, 2]");
    using square = await DeviceArray.create(device, [4, 3]);
    expect(run({ a: square.transpose() })).toThrow('say a: "column-major" in the specification');
    using wide = await DeviceArray.create(device, [2, 3]);
    expect(run({ c: wide.transpose() })).toThrow("give the array itself, not its transposed view");
    using single = await DeviceArray.create(device, [3, 4], { precision: "f32" });
    expect(run({ a: single })).toThrow("matmul: a: precision f32, expected the specification's, f64");
    using elsewhere = await DeviceArray.create(devices[1].device!, [3, 4]);
    expect(run({ a: elsewhere })).toThrow("matmul: a: an array of CPU, 3 threads");
    expect(run({ a: {} as DeviceArray })).toThrow(ShapeError);
    expect(run({ alpha: "1" as never })).toThrow("matmul: alpha: got string, expected a number");
    using both = await DeviceArray.create(device, [7, 4]);
    expect(run({ a: both.slice(0, 3), c: both.slice(3, 6).columnSlice(0, 2) })).toThrow("c lies in the memory of a");
    multiply[Symbol.dispose]();
    expect(run({})).toThrow(DisposedError);
  });

  test("the short form", async () => {
    await expect(matmul(a, c)).rejects.toThrow("a [3, 4] has 4 columns, b [3, 2] has 3 rows");
    await expect(matmul(a, b, { beta: 1 })).rejects.toThrow("beta 1 without c");
    using three = await DeviceArray.create(device, [3, 2, 2]);
    using two = await DeviceArray.create(device, [2, 2, 2]);
    await expect(matmul(three, two)).rejects.toThrow("a batch of 3 and one of 2");
    await expect(matmul(a, b, { implementation: "library" })).rejects.toThrow(DeviceUnavailableError);
    const gone = await DeviceArray.create(device, [4, 2]);
    gone[Symbol.dispose]();
    await expect(matmul(a, gone)).rejects.toThrow(DisposedError);
  });

  test("a tile where there is none, and one too large", async () => {
    const tile = { rows: 32, columns: 32, depth: 16, itemRows: 4, itemColumns: 4 };
    await expect(Matmul.create(device, matmulSpec({ ...spec, tile }))).rejects.toThrow("blocks of its own");
    const many = matmulSpec({ rows: 2 ** 20, inner: 1, columns: 2 ** 20, batch: 1000 });
    await expect(Matmul.create(device, many)).rejects.toThrow("split the batch");
  });
});
