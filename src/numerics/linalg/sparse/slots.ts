/**
 * ELL, DIA and stencils: every row has the same number of slots, one for each stored entry, and slot k of row i is
 * found without reading others.
 */
import { type CompiledKernel, type Device, isGpu, createBufferOf } from "../../../device/index.ts";
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
import {
  compileFor,
  type SparseProduct,
  productParams,
  type ComputeTarget,
  storeProduct,
  uploadReals,
} from "./product.ts";
import { stencilTable, type Stencil, type StencilCoefficient } from "./stencil.ts";

/**
 * The parameters of kernels that read a matrix whose rows store the same number of entries. `index` is ELL's columns,
 * DIA's offsets or a stencil's table.
 */
export const slotParams = { columns: i32, pitch: i32, slots: i32, index: read(i32), values: read(real) } as const;
/** The values of `slotParams` as a record. */
export const SlotMatrix = record(slotParams);
const Place = { of: SlotMatrix, i: i32, k: i32, coordinate: read(i32) } as const;
interface PlaceValue {
  readonly of: ValueOf<typeof SlotMatrix>;
  readonly i: number;
  readonly k: number;
  readonly coordinate: ReadonlyNumbers<"i32">;
}

/**
 * A format whose rows store the same number of entries, by the kernel functions that return the column and the value of
 * entry k of row i.
 */
export interface SlotFormat {
  readonly name: string;
  /** The number of axes of the grid, whose coordinates are computed first; 0 without a grid. */
  readonly axes: number;
  readonly columnOf: FunctionOf<(place: PlaceValue) => number>;
  /** Tells whether a stored entry belongs to the matrix, rather than being padding or outside of it. */
  readonly holds: FunctionOf<(place: PlaceValue & { readonly column: number }) => boolean>;
  readonly valueOf: FunctionOf<(place: PlaceValue) => number>;
}

/** Entries of row i are at k·pitch + i, so that neighbouring items read neighbouring words. */
const stored = fn({
  name: "stored",
  params: Place,
  body: ({ of: { pitch, values }, i, k }) => values[k * pitch + i],
});

/** The format ELL, by its kernel functions. */
export const ellFormat: SlotFormat = {
  name: "ell",
  axes: 0,
  columnOf: fn({ name: "ellColumn", params: Place, body: ({ of: { pitch, index }, i, k }) => index[k * pitch + i] }),
  holds: fn({ name: "ellHolds", params: { ...Place, column: i32 }, body: ({ column }) => column >= 0 }),
  valueOf: stored,
};

/** The format DIA, by its kernel functions. */
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
 * Computes the coordinates of node i of a stencil's grid. It returns true if all neighbours of the node are inside the
 * grid; they then need not be tested one by one.
 */
export const locateNode = fn({
  name: "locate",
  params: { of: SlotMatrix, i: i32, axes: i32, coordinate: write(i32) },
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

/**
 * The maximum number of entries of a row that an item of a GPU loads before it adds the first, so that several loads
 * are in flight.
 */
const MAX_ENTRIES_PER_ROUND = 8;

/**
 * Returns the number of entries of a row that a work item loads together. All rounds of loads have this length, which
 * is chosen so that few loads are wasted. The result is 0 if entries are loaded one after the other, as on CPUs, and
 * for stencils, which store no entries.
 */
export const entriesPerRound = (device: Device, { axes }: SlotFormat, slots: number): number =>
  isGpu(device) && axes === 0 ? Math.ceil(slots / Math.max(Math.ceil(slots / MAX_ENTRIES_PER_ROUND), 1)) : 0;

/** The sum of a stored row, slot after slot. A slot without an entry reads some element of x, and adds nothing. */
const batchedSum = ({ columnOf, holds, valueOf }: SlotFormat, batch: number) =>
  fn({
    name: "batchedSum",
    params: { of: SlotMatrix, i: i32, coordinate: read(i32), x: read(real) },
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

/** The number of items of a workgroup whose items load several entries together. */
const GROUP = 128;

/**
 * Returns the kernel of y ← α·A·x + β·y with one work item per row. Sums are in the order of the columns. `together` is
 * the result of `entriesPerRound`.
 *
 * Bytes per row: ELL 12 (8 in f32) per slot; DIA 8 (4) per diagonal; a stencil none; and x once, y once or twice.
 */
export const slotProductKernel = memoize((format: SlotFormat, together: number) => {
  const { name, axes, columnOf, holds, valueOf } = format;
  return kernel({
    name: `${name}Product${together > 0 ? together : ""}`,
    ...(together > 0 ? { groupSize: GROUP } : {}),
    params: { ...slotParams, ...productParams },
    env: {
      axes,
      locateNode,
      columnOf,
      holds,
      valueOf,
      storeProduct,
      batchedSum: together > 0 ? batchedSum(format, together) : undefined,
    },
    body({ columns, pitch, slots, alpha, beta, index, values, x, y }, gpu, env) {
      const { axes, locateNode, columnOf, holds, valueOf, storeProduct } = env;
      const i = gpu.globalId();
      const of = { columns, pitch, slots, index, values };
      const coordinate = gpu.privateI32(axes > 0 ? axes : 1);
      let inside = false;
      if (axes > 0) inside = locateNode({ of, i, axes, coordinate });
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
      storeProduct({ y, i, product: alpha * sum, beta });
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

/** The product of a matrix whose rows store the same number of entries, on a device. */
export interface SlotProduct extends SparseProduct {
  readonly format: SlotFormat;
  readonly shape: SlotShape;
}

/** Returns the format of an ELL, DIA or stencil matrix, by its kernel functions. */
export function slotFormatOf(matrix: EllMatrix | DiaMatrix | Stencil): SlotFormat {
  if (matrix.kind === "stencil") return stencilFormat(matrix.coefficient, matrix.shape.length);
  return matrix.kind === "ell" ? ellFormat : diaFormat;
}

/** Uploads an ELL, DIA or stencil matrix and returns its product. */
export async function uploadSlotProduct(
  setting: ComputeTarget,
  matrix: EllMatrix | DiaMatrix | Stencil,
): Promise<SlotProduct> {
  const { rows, columns } = matrix;
  const kind = matrix.kind;
  const [slots, pitch] =
    kind === "ell"
      ? [matrix.width, matrix.pitch]
      : kind === "dia"
        ? [matrix.offsets.length, matrix.pitch]
        : [matrix.points.length, rows];
  const index = kind === "ell" ? matrix.column : kind === "dia" ? matrix.offsets : stencilTable(matrix);
  const values = kind === "stencil" ? matrix.parameters : matrix.values;
  const format = slotFormatOf(matrix);
  const program = await compileFor(
    setting,
    slotProductKernel(format, entriesPerRound(setting.device, format, slots)),
    2,
  );
  const arrays = { index: createBufferOf(setting.device, "i32", index), values: uploadReals(setting, values) };
  return slotProductOf(setting, format, { rows, columns, pitch, slots }, arrays, program);
}

/** The compiled kernel of a product. */
type SlotsProgram = CompiledKernel<ReturnType<typeof slotProductKernel>["params"]>;

/** Returns the product of an ELL, DIA or stencil matrix whose arrays are on the device. */
export const slotProductOf = (
  { device }: ComputeTarget,
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
