/** A batch of instances, and its parameter table on a device. */
import { compileExact, type Device, type DeviceBuffer, createBufferOf } from "../../device/index.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import { END_OF_STEP } from "../model.ts";
import { type Column, columnAt, type Parameter, type Parameters, type ParameterTable, tableOf } from "../parameters.ts";
import type { Direction, Variants } from "../sensitivities.ts";
import { prepareKernel, tangentKernel } from "./prepare.ts";
import { type PathShape, rowsOf } from "./shape.ts";
import type { WalkShape } from "./walk-shape.ts";

/** A batch of instances to be simulated, with the settings that stay the same while samples are added. */
export interface Batch {
  readonly shape: WalkShape;
  readonly precision: Precision;
  readonly seed: bigint;
  /** The time of each date in years: one number for all instances, or a column with one for each. */
  readonly dates: readonly Column[];
  readonly variants: Variants;
  /** The number of the random stream of each instance; instances with equal numbers use the same random numbers. */
  readonly streams: Uint32Array;
  /**
   * The shifts of the normal numbers of each step for importance sampling, the same for all variants; none by default.
   */
  readonly shifts?: readonly Parameter[] | undefined;
}

/**
 * Returns the time at the end of each step, as columns. The intervals between dates are divided into `substeps` equal
 * steps.
 */
export function stepEnds(dates: readonly Column[], substeps: number): Column[] {
  return dates.flatMap((date, k) =>
    Array.from({ length: substeps }, (_, s): Column => {
      if (s === substeps - 1) return date;
      const before = k === 0 ? 0 : dates[k - 1];
      const share = (s + 1) / substeps;
      if (typeof date === "number" && typeof before === "number") return before + share * (date - before);
      const length = Math.max(...[date, before].map((column) => (typeof column === "number" ? 1 : column.length)));
      return Float64Array.from({ length }, (_one, i) => {
        const start = columnAt(before, i);
        return start + share * (columnAt(date, i) - start);
      });
    }),
  );
}

type TableBatch = Pick<Batch, "precision" | "dates" | "variants" | "shifts"> & { readonly shape: PathShape };

/** Returns the length of the parameter table of some instances, in numbers, without its tangents. */
export function tableLength({ shape, dates, variants }: TableBatch, instances: number): number {
  const rows = rowsOf(shape);
  return instances * variants.model.length * (rows.head + rows.step * dates.length * shape.substeps);
}

/** The numbers from which a table is made, on a device, with the layout of each group of them. */
interface TableSource {
  readonly model: SourceGroup;
  readonly product: SourceGroup;
  readonly control: SourceGroup;
}

interface SourceGroup extends ParameterTable {
  readonly valueBuffer: DeviceBuffer;
  readonly layoutBuffer: DeviceBuffer;
}

/**
 * Returns the numbers of some instances, and behind them their tangents in each direction. The caller disposes them.
 */
export function tableSource(
  device: Device,
  batch: TableBatch,
  members: Uint32Array,
  directions: readonly Direction[],
): TableSource & Disposable {
  const { shape, precision, dates, variants, shifts = [] } = batch;
  const steps = dates.length * shape.substeps;
  const element = hostRealType(precision);
  const shifted = Object.fromEntries(shifts.map((shift, j) => [` shift ${j}`, shift]));
  const timed = variants.model.map((parameters, v) => {
    const ends = parameters[END_OF_STEP] ?? { byStep: stepEnds(variants.dates[v], shape.substeps) };
    return { ...parameters, " end of step": ends, ...shifted };
  });
  const group = (
    name: "model" | "product" | "control",
    parameters: readonly Parameters[],
    moves = directions.map((direction) => direction[name]),
  ): SourceGroup => {
    const table = tableOf(name, parameters, steps, members, moves);
    const valueBuffer = createBufferOf(device, element, table.values);
    return { ...table, valueBuffer, layoutBuffer: createBufferOf(device, "i32", table.layout) };
  };
  const groups = {
    model: group(
      "model",
      timed,
      directions.map(({ model, dates: moving }) =>
        moving === undefined ? model : { ...model, " end of step": { byStep: stepEnds(moving, shape.substeps) } },
      ),
    ),
    product: group("product", variants.product),
    control: group("control", variants.control),
  };
  return {
    ...groups,
    [Symbol.dispose](): void {
      for (const { valueBuffer, layoutBuffer } of Object.values(groups)) {
        valueBuffer[Symbol.dispose]();
        layoutBuffer[Symbol.dispose]();
      }
    },
  };
}

/**
 * Returns the parameter table of the instances with given indices, followed by its tangents in each direction, computed
 * on the device. The caller disposes it.
 */
export async function preparedTable(device: Device, batch: TableBatch, members: Uint32Array): Promise<DeviceBuffer> {
  const { directions } = batch.variants;
  using source = tableSource(device, batch, members, directions);
  const table = await tableFrom(device, batch, members, source, directions.length);
  await device.finish();
  return table;
}

/** Launches the kernels of the parameter table of some instances and of its tangents, and returns its buffer. */
export async function tableFrom(
  device: Device,
  batch: TableBatch,
  members: Uint32Array,
  { model, product, control }: TableSource,
  directions: number,
): Promise<DeviceBuffer> {
  const { shape, precision, dates, variants } = batch;
  const columns = members.length * variants.model.length;
  const length = tableLength(batch, members.length);
  const table = device.createBuffer(hostRealType(precision), length * (1 + directions));
  const from = {
    steps: dates.length * shape.substeps,
    columns,
    modelValues: model.valueBuffer,
    modelLayout: model.layoutBuffer,
    productValues: product.valueBuffer,
    productLayout: product.layoutBuffer,
    controlValues: control.valueBuffer,
    controlLayout: control.layoutBuffer,
    table,
  };
  device.launch(await compileExact(device, prepareKernel(shape), precision), from, { items: columns });
  if (directions > 0) {
    const lengths = {
      modelLength: model.length,
      productLength: product.length,
      controlLength: control.length,
      tableLength: length,
    };
    const tangents = await compileExact(device, tangentKernel(shape), precision);
    device.launch(tangents, { ...from, directions, ...lengths }, { items: members.length });
  }
  return table;
}
