/** Conversions to compressed rows on a device. */
import type { DeviceBuffer } from "../../../device/index.ts";
import { hostRealType, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import { compileFor, type ComputeTarget } from "./product.ts";
import { exclusiveScan } from "./scan.ts";
import { locateNode, type SlotFormat, slotParams, type SlotProduct } from "./slots.ts";

/** Compressed rows on a device, without padding. */
export interface DeviceRows {
  readonly starts: DeviceBuffer<"i32">;
  readonly column: DeviceBuffer<"i32">;
  readonly values: DeviceBuffer<"f64" | "f32">;
}

/** Counts the entries of each row, or writes them; zeros of DIA are no entries. */
const rowKernelsOf = memoizeBy(({ name, axes, columnOf, holds, valueOf }: SlotFormat) => {
  const env = { axes, locateNode, columnOf, holds, valueOf, dropsZeros: name === "dia" };
  const count = kernel({
    name: `${name}RowCounts`,
    params: { ...slotParams, counts: write(i32) },
    env,
    body({ columns, pitch, slots, index, values, counts }, gpu, env) {
      const { axes, locateNode, columnOf, holds, valueOf, dropsZeros } = env;
      const i = gpu.globalId();
      const of = { columns, pitch, slots, index, values };
      const coordinate = gpu.privateI32(axes > 0 ? axes : 1);
      if (axes > 0) locateNode({ of, i, axes, coordinate });
      let found = 0;
      for (let k = 0; k < slots; k++) {
        const column = columnOf({ of, i, k, coordinate });
        if (holds({ of, i, k, coordinate, column })) {
          if (!dropsZeros || valueOf({ of, i, k, coordinate }) !== 0) found++;
        }
      }
      counts[i] = found;
    },
  });
  const fill = kernel({
    name: `${name}Rows`,
    params: { ...slotParams, starts: read(i32), column: write(i32), entries: write(real) },
    env,
    body({ columns, pitch, slots, index, values, starts, column, entries }, gpu, env) {
      const { axes, locateNode, columnOf, holds, valueOf, dropsZeros } = env;
      const i = gpu.globalId();
      const of = { columns, pitch, slots, index, values };
      const coordinate = gpu.privateI32(axes > 0 ? axes : 1);
      if (axes > 0) locateNode({ of, i, axes, coordinate });
      let at = starts[i];
      for (let k = 0; k < slots; k++) {
        const j = columnOf({ of, i, k, coordinate });
        if (holds({ of, i, k, coordinate, column: j })) {
          const value = valueOf({ of, i, k, coordinate });
          if (!dropsZeros || value !== 0) {
            column[at] = j;
            entries[at] = value;
            at++;
          }
        }
      }
    },
  });
  return { count, fill };
});

/**
 * Converts ELL, DIA or a stencil to compressed rows, in three steps: counts, starts, entries. The host reads one
 * number, the count of entries.
 */
export async function rowsFromSlots(
  setting: ComputeTarget,
  { format, shape, arrays }: SlotProduct,
): Promise<DeviceRows> {
  const { device, precision } = setting;
  const { count, fill } = rowKernelsOf(format);
  const { columns, pitch, slots, rows } = shape;
  const { index, values } = arrays;
  const given = { columns, pitch, slots, index, values };
  using counts = device.createBuffer("i32", rows);
  device.launch(await compileFor(setting, count), { ...given, counts }, { items: rows });
  const starts = await exclusiveScan(setting, counts);
  const [entries] = await device.read(starts, rows, 1);
  const column = device.createBuffer("i32", entries);
  const stored = device.createBuffer(hostRealType(precision), entries);
  const args = { ...given, starts, column, entries: stored };
  device.launch(await compileFor(setting, fill), args, { items: rows });
  return { starts, column, values: stored };
}

/** Finds where each row begins among sorted coordinates: a binary search per row. */
const rowStarts = kernel({
  name: "rowStarts",
  params: { count: i32, row: read(i32), starts: write(i32) },
  body({ count, row, starts }, gpu) {
    const i = gpu.globalId();
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[middle] < i) low = middle + 1;
      else high = middle;
    }
    starts[i] = low;
  },
});

const copyEntries = kernel({
  name: "copyEntries",
  params: { fromColumn: read(i32), fromValues: read(real), column: write(i32), values: write(real) },
  body({ fromColumn, fromValues, column, values }, gpu) {
    const k = gpu.globalId();
    column[k] = fromColumn[k];
    values[k] = fromValues[k];
  },
});

/** Converts coordinates on a device to compressed rows. */
export async function rowsFromCoo(
  setting: ComputeTarget,
  rows: number,
  arrays: Readonly<Record<string, DeviceBuffer>>,
): Promise<DeviceRows> {
  const { device, precision } = setting;
  const { row, column: fromColumn, values: fromValues } = arrays;
  const count = row.length;
  const starts = device.createBuffer("i32", rows + 1);
  const column = device.createBuffer("i32", count);
  const values = device.createBuffer(hostRealType(precision), count);
  device.launch(await compileFor(setting, rowStarts), { count, row, starts }, { items: rows + 1 });
  const args = { fromColumn, fromValues, column, values };
  device.launch(await compileFor(setting, copyEntries), args, { items: count });
  return { starts, column, values };
}
