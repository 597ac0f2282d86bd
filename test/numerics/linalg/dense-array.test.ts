import { afterAll, describe, expect, test } from "vitest";
import { DisposedError, PrecisionError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import { DeviceArray } from "../../../src/numerics/linalg/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";

const devices = await openTestDevices();
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

const count = (n: number): number[] => Array.from({ length: n }, (_, k) => k + 1);

describe.each(devices)("$label", ({ device, missing }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }
  const [precision] = device.precisions;

  test("upload and download, of every number of dimensions", async () => {
    for (const shape of [[5], [2, 3], [2, 3, 4], [0], [3, 0]]) {
      using a = await DeviceArray.create(device, shape, { precision });
      const size = shape.reduce((product, n) => product * n, 1);
      expect([a.size, a.isView, a.isDense]).toEqual([size, false, true]);
      expect([...(await a.download())]).toEqual(count(size).map(() => 0));
      a.upload(count(size));
      expect([...(await a.download())]).toEqual(count(size));
      expect(await a.download()).toBeInstanceOf(precision === "f64" ? Float64Array : Float32Array);
    }
  });

  test("views share memory: transposes, ranges, matrices of a batch", async () => {
    using a = await DeviceArray.create(device, [2, 3, 4], { precision, values: count(24) });
    const values = async (one: DeviceArray): Promise<number[]> => [...(await one.download())];
    expect(await values(a.matrix(1))).toEqual(count(24).slice(12));
    expect(await values(a.matrix(0).transpose())).toEqual([1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]);
    const part = a.slice(1, 3).columnSlice(1, 3);
    expect(part.shape).toEqual([2, 2, 2]);
    expect(await values(part)).toEqual([6, 7, 10, 11, 18, 19, 22, 23]);
    const turned = part.transpose();
    expect(await values(turned)).toEqual([6, 10, 7, 11, 18, 22, 19, 23]);
    turned.upload([-1, -2, -3, -4, -5, -6, -7, -8]);
    expect(await values(part)).toEqual([-1, -3, -2, -4, -5, -7, -6, -8]);
    expect((await values(a)).slice(4, 12)).toEqual([5, -1, -3, 8, 9, -2, -4, 12]);
    part.upload(count(8));
    expect(await values(turned.transpose())).toEqual(count(8));
    expect(await values(a.slice(1, 1))).toEqual([]);
    turned[Symbol.dispose]();
    expect(a.disposed).toBe(false);
  });

  test("resize gives zeros, and keeps the memory where it can", async () => {
    using a = await DeviceArray.create(device, [2, 6], { precision, values: count(12) });
    const { buffer } = a;
    a.resize([3, 4]);
    expect(a.buffer).toBe(buffer);
    expect([...(await a.download())]).toEqual(count(12).map(() => 0));
    const view = a.transpose();
    a.resize([5]);
    expect([a.shape, a.rows, a.columns, a.batch]).toEqual([[5], 5, 1, 1]);
    expect(buffer.disposed).toBe(true);
    expect(() => view.transpose()).toThrow("the array that it is a view of has been disposed or resized");
  });
});

describe("errors", () => {
  const device = devices[0].device!;

  test("shapes and sizes", async () => {
    for (const shape of [[], [1, 2, 3, 4], [-1], [1.5, 2], [NaN]])
      await expect(DeviceArray.create(device, shape)).rejects.toThrow(SpecError);
    await expect(DeviceArray.create(device, [2, 2], { values: [1, 2, 3] })).rejects.toThrow(
      "upload: 3 values, expected 4 for the shape [2, 2]",
    );
    using a = await DeviceArray.create(device, [2, 3]);
    expect(() => a.upload(new Float64Array(7))).toThrow(ShapeError);
    expect(() => a.slice(1, 3)).toThrow("slice: rows 1 … 3, expected whole numbers with 0 ≤ from ≤ to ≤ 2");
    expect(() => a.columnSlice(2, 1)).toThrow("columnSlice: columns 2 … 1");
    expect(() => a.matrix(1)).toThrow("matrix: got 1, expected a whole number from 0 to 0");
    expect(() => a.resize([1, -1])).toThrow(SpecError);
    expect(() => a.transpose().resize([1])).toThrow("resize: of a view");
  });

  test("precision, and use after disposal", async () => {
    await expect(DeviceArray.create(device, [1], { precision: "f32x2" })).rejects.toThrow(PrecisionError);
    const a = await DeviceArray.create(device, [2, 2]);
    const view = a.transpose();
    a[Symbol.dispose]();
    a[Symbol.dispose]();
    expect(() => a.upload([1, 2, 3, 4])).toThrow("DeviceArray: upload: it has been disposed");
    expect(() => view.buffer).toThrow(DisposedError);
    await expect(view.download()).rejects.toThrow(DisposedError);
  });
});
