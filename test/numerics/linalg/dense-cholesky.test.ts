import { afterAll, describe, expect, test } from "vitest";
import { DisposedError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import { Cholesky, choleskySpec, DeviceArray, matmul } from "../../../src/numerics/linalg/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { everything } from "../../support/extent.ts";
import { randomMatrix, rounded, unitRoundoff } from "./dense-reference.ts";

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

const pairs = devices.flatMap(({ label, device, missing }) =>
  (device?.precisions ?? (["f64"] as const)).map((precision) => ({ label, device, missing, precision })),
);

/** B·Bᵀ/n + 1 on the diagonal: positive definite. */
function definite(n: number, seed: number): number[] {
  const { values } = randomMatrix(n, n, seed);
  return Array.from({ length: n * n }, (_, k) => {
    const [i, j] = [Math.floor(k / n), k % n];
    let sum = i === j ? 1 : 0;
    for (let p = 0; p < n; p++) sum += (values[i * n + p] * values[j * n + p]) / n;
    return sum;
  });
}

describe.each(pairs)("$label, $precision", ({ device, missing, precision }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }

  test("Moler's matrix, whose factor is known: L[i, j] = −1 below the diagonal of ones", async () => {
    for (const n of [4, 16, 23]) {
      const factor = (i: number, j: number): number => (i === j ? 1 : i > j ? -1 : 0);
      const values = Array.from({ length: n * n }, (_, k) => {
        const [i, j] = [Math.floor(k / n), k % n];
        let sum = 0;
        for (let p = 0; p < n; p++) sum += factor(i, p) * factor(j, p);
        return sum;
      });
      using a = await DeviceArray.create(device, [n, n], { precision, values });
      using cholesky = await Cholesky.create(device, choleskySpec({ size: n, precision }));
      await cholesky.factor(a);
      const l = await a.download();
      // All numbers are whole. WebGPU's square root and division need not be exact.
      const max = precision === "f32x2" ? 2 ** -30 : device.backend === "webgpu" ? 1e-3 : 0;
      l.forEach((value, k) => expect(Math.abs(value - factor(Math.floor(k / n), k % n))).toBeLessThanOrEqual(max));
    }
  });

  test("batches of random matrices: |A − L·Lᵀ| ≤ γ(n + 1)·|L|·|Lᵀ| (Higham 2002, Theorem 10.3)", async () => {
    for (const [n, batch] of [
      [1, 3],
      [5, 9],
      [16, 2],
      [17, 3],
      [70, 2],
    ]) {
      const all = Array.from({ length: batch }, (_, k) => definite(n, 7 * n + k).map((x) => rounded(x, precision)));
      using a = await DeviceArray.create(device, [batch, n, n], { precision, values: all.flat() });
      using cholesky = await Cholesky.create(device, choleskySpec({ size: n, batch, precision }));
      cholesky.run(a);
      expect([...(await cholesky.status())]).toEqual(Array.from({ length: batch }, () => 0));
      const l = await a.download();
      // Of WGSL's division and square root 2.5 units in the last place may be lost, of others half a unit.
      const u = unitRoundoff[precision] * (device.backend === "webgpu" ? 5 : 1);
      const gamma = ((n + 1) * u) / (1 - (n + 1) * u);
      all.forEach((matrix, k) => {
        const factor = (i: number, j: number): number => l[(k * n + i) * n + j];
        for (let i = 0; i < n; i++) {
          for (let j = 0; j <= i; j++) {
            let [sum, size] = [0, 0];
            for (let p = 0; p <= j; p++) {
              sum += factor(i, p) * factor(j, p);
              size += Math.abs(factor(i, p) * factor(j, p));
            }
            expect(Math.abs(sum - matrix[i * n + j])).toBeLessThanOrEqual(gamma * size + n * 2 ** -52 * size);
            if (j < i) expect(factor(j, i)).toBe(0);
          }
        }
      });
    }
  });

  test("names the first leading minor that is not positive, and leaves the rest of the batch alone", async () => {
    for (const n of [3, 20]) {
      const identity = (i: number, j: number): number => (i === j ? 1 : 0);
      const matrixOf = (element: (i: number, j: number) => number): number[] =>
        Array.from({ length: n * n }, (_, k) => element(Math.floor(k / n), k % n));
      const negative = matrixOf((i, j) => (i === 2 && j === 2 ? -1 : identity(i, j)));
      const singular = matrixOf((i, j) => (i < 2 && j < 2 ? 1 : identity(i, j))); // the minor of order 2 is 0
      const values = [matrixOf(identity), negative, singular, matrixOf(identity)].flat();
      using a = await DeviceArray.create(device, [4, n, n], { precision, values });
      using cholesky = await Cholesky.create(device, choleskySpec({ size: n, batch: 4, precision }));
      expect([...(await cholesky.factor(a))]).toEqual([0, 3, 2, 0]);
      for (const good of [0, 3]) expect([...(await a.matrix(good).download())]).toEqual(matrixOf(identity));
      for (const bad of [1, 2]) expect(new Set(await a.matrix(bad).download())).toEqual(new Set([NaN]));
    }
  });

  test("a range of a larger array; L·Lᵀ by the product", async () => {
    const n = 6;
    const values = definite(n, 99).map((x) => rounded(x, precision));
    using whole = await DeviceArray.create(device, [n + 3, n + 4], { precision });
    const a = whole.slice(2, n + 2).columnSlice(1, n + 1);
    a.upload(values);
    using cholesky = await Cholesky.create(device, choleskySpec({ size: n, precision }));
    await cholesky.factor(a);
    using again = await matmul(a, a.transpose(), { implementation: "kernel" });
    const got = await again.download();
    values.forEach((value, k) => expect(Math.abs(got[k] - value)).toBeLessThanOrEqual(100 * unitRoundoff[precision]));
  });
});

test("errors", async () => {
  const device = devices[0].device!;
  expect(() => choleskySpec({ size: -1 })).toThrow("cholesky: size -1, expected a whole number from 0 to 65,535");
  expect(() => choleskySpec({ size: 1, bacth: 4 } as never)).toThrow("bacth: unknown; expected one of size, batch");
  expect(() => choleskySpec({ size: 1, precision: "f8" as never })).toThrow(SpecError);
  using cholesky = await Cholesky.create(device, choleskySpec({ size: 3 }));
  using wide = await DeviceArray.create(device, [3, 4]);
  expect(() => cholesky.run(wide)).toThrow("cholesky: shape [3, 4], expected [3, 3]");
  using single = await DeviceArray.create(device, [3, 3], { precision: "f32" });
  expect(() => cholesky.run(single)).toThrow("cholesky: precision f32, expected the specification's, f64");
  using square = await DeviceArray.create(device, [3, 3]);
  expect(() => cholesky.run(square.transpose())).toThrow("a transposed view, expected row-major");
  using elsewhere = await DeviceArray.create(devices[1].device!, [3, 3]);
  expect(() => cholesky.run(elsewhere)).toThrow(ShapeError);
  cholesky[Symbol.dispose]();
  expect(() => cholesky.run(square)).toThrow(DisposedError);
  using none = await Cholesky.create(device, choleskySpec({ size: 2, batch: 0 }));
  using empty = await DeviceArray.create(device, [0, 2, 2]);
  await none.factor(empty);
});
