/** A batch of instances, and its parameter table on a device. */
import { compileExact, type Device, type DeviceBuffer, createBufferOf } from "../../device/index.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import { END_OF_STEP } from "../model.ts";
import { type Column, columnAt, type Parameter, tableOf } from "../parameters.ts";
import type { Variants } from "../sensitivities.ts";
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

/**
 * Returns the parameter table of the instances with given indices, followed by its tangents in each direction, computed
 * on the device. The caller disposes it.
 */
export async function preparedTable(device: Device, batch: TableBatch, members: Uint32Array): Promise<DeviceBuffer> {
  const { shape, precision, dates, variants, shifts = [] } = batch;
  const { directions } = variants;
  const steps = dates.length * shape.substeps;
  const columns = members.length * variants.model.length;
  const element = hostRealType(precision);
  const shifted = Object.fromEntries(shifts.map((shift, j) => [` shift ${j}`, shift]));
  const timed = variants.model.map((parameters, v) => {
    const ends = parameters[END_OF_STEP] ?? { byStep: stepEnds(variants.dates[v], shape.substeps) };
    return { ...parameters, " end of step": ends, ...shifted };
  });
  const groups = [
    tableOf(
      "model",
      timed,
      steps,
      members,
      directions.map(({ model, dates: moving }) =>
        moving === undefined ? model : { ...model, " end of step": { byStep: stepEnds(moving, shape.substeps) } },
      ),
    ),
    tableOf(
      "product",
      variants.product,
      steps,
      members,
      directions.map(({ product }) => product),
    ),
    tableOf(
      "control",
      variants.control,
      steps,
      members,
      directions.map(({ control }) => control),
    ),
  ];
  const buffers = groups.map(({ values, layout }) => ({
    values: createBufferOf(device, element, values),
    layout: createBufferOf(device, "i32", layout),
  }));
  const length = tableLength(batch, members.length);
  const table = device.createBuffer(element, length * (1 + directions.length));
  const [model, product, other] = buffers;
  const from = {
    steps,
    columns,
    modelValues: model.values,
    modelLayout: model.layout,
    productValues: product.values,
    productLayout: product.layout,
    controlValues: other.values,
    controlLayout: other.layout,
    table,
  };
  device.launch(await compileExact(device, prepareKernel(shape), precision), from, { items: columns });
  if (directions.length > 0) {
    const [modelLength, productLength, controlLength] = groups.map((group) => group.length);
    const lengths = { modelLength, productLength, controlLength, tableLength: length };
    const tangents = await compileExact(device, tangentKernel(shape), precision);
    device.launch(tangents, { ...from, directions: directions.length, ...lengths }, { items: members.length });
  }
  await device.finish();
  for (const { values, layout } of buffers) {
    values[Symbol.dispose]();
    layout[Symbol.dispose]();
  }
  return table;
}
