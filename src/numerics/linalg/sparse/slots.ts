/** ELL, DIA and stencils: every row has as many places, and entry k of row i is found without looking at others. */
import { type CompiledKernel, type Device, isGpu, uploaded } from "../../../device/index.ts";
import {
  fn,
  type FunctionOf,
  i32,
  kernel,
  read,
  type ReadonlyNumbers,
  real,
  record,
  type ValueOf,
} from "../../../kernel/index.ts";
import { write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import type { DiaMatrix, EllMatrix } from "./formats.ts";
import { compiled, type Product, productParams, type Setting, store, uploadReals } from "./product.ts";
import { gridTable, type Stencil, type StencilCoefficient } from "./stencil.ts";

/**
 * The numbers and arrays of a matrix whose rows store the same number of entries; `index` is ELL's columns, DIA's
 * offsets or a stencil's table.
 */
export const slotParams = { columns: i32, pitch: i32, slots: i32, index: read(i32), values: read(real) } as const;
/** These numbers and arrays as a record. */
export const Slots = record(slotParams);
const Place = { of: Slots, i: i32, k: i32, coordinate: read(i32) } as const;
interface PlaceValue {
  readonly of: ValueOf<typeof Slots>;
  readonly i: number;
  readonly k: number;
  readonly coordinate: ReadonlyNumbers<"i32">;
}

/** A format whose rows store the same number of entries: functions that find entry k of row i. */
export interface SlotFormat {
  readonly name: string;
  /** The number of axes of the grid, whose coordinates are computed first; 0 without a grid. */
  readonly axes: number;
  readonly columnOf: FunctionOf<(place: PlaceValue) => number>;
  /** Tells whether a stored entry with that column is one of the matrix. */
  readonly holds: FunctionOf<(place: PlaceValue & { readonly column: number }) => boolean>;
  readonly valueOf: FunctionOf<(place: PlaceValue) => number>;
}

/** Entries of row i are at k·pitch + i, so that neighbouring items read neighbouring words. */
const stored = fn({
  name: "stored",
  params: Place,
  body: ({ of: { pitch, values }, i, k }) => values[k * pitch + i],
});

/** The format ELL. */
export const ellFormat: SlotFormat = {
  name: "ell",
  axes: 0,
  columnOf: fn({ name: "ellColumn", params: Place, body: ({ of: { pitch, index }, i, k }) => index[k * pitch + i] }),
  holds: fn({ name: "ellHolds", params: { ...Place, column: i32 }, body: ({ column }) => column >= 0 }),
  valueOf: stored,
};

/** The format DIA. */
export const diaFormat: SlotFormat = {
  name: "dia",
  axes: 0,
  columnOf: fn({ name: "diaColumn", params: Place, body: ({ of: { index }, i, k }) => i + index[k] }),
  holds: fn({
    name: "diaHolds",
    params: { ...Place, column: i32 },
    body: ({ of: { columns }, column }) => column >= 0 && column < columns,
  }),
  valueOf: stored,
};

/** One per function and number of axes, so that devices know its kernels. */
const stencilFormat = memoize((coefficient: StencilCoefficient, axes: number): SlotFormat => ({
  name: "stencil",
  axes,
  columnOf: fn({
    name: "stencilColumn",
    params: Place,
    env: { axes },
    body: ({ of: { slots, index }, i, k }, _gpu, { axes }) => i + index[(2 + slots) * axes + k],
  }),
  holds: fn({
    name: "stencilHolds",
    params: { ...Place, column: i32 },
    env: { axes },
    body({ of: { index }, k, coordinate }, _gpu, { axes }) {
      let inside = true;
      for (let a = 0; a < axes; a++) {
        const at = coordinate[a] + index[(2 + k) * axes + a];
        inside = inside && at >= 0 && at < index[a];
      }
      return inside;
    },
  }),
  valueOf: fn({
    name: "stencilValue",
    params: Place,
    env: { axes, coefficient },
    body: ({ of: { slots, index, values }, i, k, coordinate }, _gpu, { axes, coefficient }) =>
      coefficient({ row: i, point: index[(2 + slots) * axes + slots + k], coordinate, parameters: values }),
  }),
}));

/**
 * Finds the coordinates of node i on the grid of a stencil's table, and whether all its neighbours are inside, so that
 * interior nodes need no tests of single neighbours.
 */
export const locate = fn({
  name: "locate",
  params: { of: Slots, i: i32, axes: i32, coordinate: write(i32) },
  body({ of: { slots, index }, i, axes, coordinate }) {
    const reach = (2 + slots) * axes + 2 * slots;
    let rest = i;
    let inside = true;
    for (let a = 0; a < axes; a++) {
      const stride = index[axes + a];
      const at = (rest / stride) | 0;
      coordinate[a] = at;
      rest -= at * stride;
      inside = inside && at >= index[reach + a] && at < index[reach + axes + a];
    }
    return inside;
  },
});

/** The most places of a stored row that an item of a GPU reads before it adds the first, to have loads under way. */
const MOST_PLACES = 8;

/**
 * Returns the number of entries that an item loads together, in rounds of equal length so that few loads are wasted. 0
 * means one after the other, as on CPUs, and where nothing is stored.
 */
export const placesTogether = (device: Device, { axes }: SlotFormat, slots: number): number =>
  isGpu(device) && axes === 0 ? Math.ceil(slots / Math.max(Math.ceil(slots / MOST_PLACES), 1)) : 0;

/** The sum of a stored row, place after place; a place without an entry reads some element of x, and adds nothing. */
const batchedSum = ({ columnOf, holds, valueOf }: SlotFormat, batch: number) =>
  fn({
    name: "batchedSum",
    params: { of: Slots, i: i32, coordinate: read(i32), x: read(real) },
    env: { columnOf, holds, valueOf, batch },
    body({ of, i, coordinate, x }, gpu, { columnOf, holds, valueOf, batch }) {
      const columns = gpu.privateI32(batch);
      const products = gpu.privateReal(batch);
      let sum = 0.0;
      for (let first = 0; first < of.slots; first += batch) {
        for (let j = 0; j < batch; j++)
          columns[j] = columnOf({ of, i, k: Math.min(first + j, of.slots - 1), coordinate });
        for (let j = 0; j < batch; j++) {
          const k = Math.min(first + j, of.slots - 1);
          const column = columns[j];
          const isEntry = first + j < of.slots && holds({ of, i, k, coordinate, column });
          const product = valueOf({ of, i, k, coordinate }) * x[isEntry ? column : 0];
          products[j] = isEntry ? product : 0.0;
        }
        for (let j = 0; j < batch; j++) sum += products[j];
      }
      return sum;
    },
  });

/** The number of items of a workgroup that reads places together. */
const GROUP = 128;

/**
 * Returns the kernel of y ← α·A·x + β·y with one item a row; sums are in the order of the columns. `together`:
 * `placesTogether`.
 *
 * Bytes per row: ELL 12 (8 in f32) per place; DIA 8 (4) per diagonal; a stencil none; and x once, y once or twice.
 */
export const slotsKernel = memoize((format: SlotFormat, together: number) => {
  const { name, axes, columnOf, holds, valueOf } = format;
  return kernel({
    name: `${name}Product${together > 0 ? together : ""}`,
    ...(together > 0 ? { groupSize: GROUP } : {}),
    params: { ...slotParams, ...productParams },
    env: {
      axes,
      locate,
      columnOf,
      holds,
      valueOf,
      store,
      batchedSum: together > 0 ? batchedSum(format, together) : undefined,
    },
    body({ columns, pitch, slots, alpha, beta, index, values, x, y }, gpu, env) {
      const { axes, locate, columnOf, holds, valueOf, store } = env;
      const i = gpu.globalId();
      const of = { columns, pitch, slots, index, values };
      const coordinate = gpu.privateI32(axes > 0 ? axes : 1);
      let inside = false;
      if (axes > 0) inside = locate({ of, i, axes, coordinate });
      let sum = 0.0;
      if (env.batchedSum !== undefined) sum = env.batchedSum({ of, i, coordinate, x });
      else if (inside) {
        for (let k = 0; k < slots; k++)
          sum += valueOf({ of, i, k, coordinate }) * x[columnOf({ of, i, k, coordinate })];
      } else {
        for (let k = 0; k < slots; k++) {
          const column = columnOf({ of, i, k, coordinate });
          if (holds({ of, i, k, coordinate, column })) sum += valueOf({ of, i, k, coordinate }) * x[column];
        }
      }
      store({ y, i, product: alpha * sum, beta });
    },
  });
});

/** The sizes of a matrix whose rows store the same number of entries. */
interface SlotShape {
  readonly rows: number;
  readonly columns: number;
  readonly pitch: number;
  readonly slots: number;
}

/** A matrix whose rows store the same number of entries, on a device. */
export interface SlotProduct extends Product {
  readonly format: SlotFormat;
  readonly shape: SlotShape;
}

/** Returns how kernels address the entries of an ELL, DIA or stencil matrix, all of whose rows have equally many. */
export function slotFormat(matrix: EllMatrix | DiaMatrix | Stencil): SlotFormat {
  if (matrix.kind === "stencil") return stencilFormat(matrix.coefficient, matrix.shape.length);
  return matrix.kind === "ell" ? ellFormat : diaFormat;
}

/** Uploads a matrix and returns its product. */
export async function slotProduct(setting: Setting, matrix: EllMatrix | DiaMatrix | Stencil): Promise<SlotProduct> {
  const { rows, columns } = matrix;
  const kind = matrix.kind;
  const [slots, pitch] =
    kind === "ell"
      ? [matrix.width, matrix.pitch]
      : kind === "dia"
        ? [matrix.offsets.length, matrix.pitch]
        : [matrix.points.length, rows];
  const index = kind === "ell" ? matrix.column : kind === "dia" ? matrix.offsets : gridTable(matrix);
  const values = kind === "stencil" ? matrix.parameters : matrix.values;
  const format = slotFormat(matrix);
  const program = await compiled(setting, slotsKernel(format, placesTogether(setting.device, format, slots)), 2);
  const arrays = { index: uploaded(setting.device, "i32", index), values: uploadReals(setting, values) };
  return productOf(setting, format, { rows, columns, pitch, slots }, arrays, program);
}

/** The compiled kernel of a product. */
type SlotsProgram = CompiledKernel<ReturnType<typeof slotsKernel>["params"]>;

/** Returns the product of a matrix on a device. */
export const productOf = (
  { device }: Setting,
  format: SlotFormat,
  shape: SlotShape,
  arrays: Pick<SlotProduct["arrays"], "index" | "values">,
  program: SlotsProgram,
): SlotProduct => ({
  format,
  shape,
  arrays,
  record({ x, y, alpha, beta }) {
    const { rows, columns, pitch, slots } = shape;
    device.launch(program, { columns, pitch, slots, alpha, beta, x, y, ...arrays }, { items: rows });
  },
});
