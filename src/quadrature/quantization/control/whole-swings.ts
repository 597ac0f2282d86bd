/** Swing options in whole units: many on one tree by one backward pass. */
import { compileExact, type DeviceBuffer, isGpu, createBufferOf } from "../../../device/index.ts";
import { ShapeError } from "../../../base/errors.ts";
import { checkList } from "../../../base/argument-checks.ts";
import { hostRealType, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { EventLoopYielder, type WorkOptions } from "../../../base/event-loop.ts";
import { type SwingsResult, valuesWithinBounds } from "../swings.ts";
import type { QuantizationTree } from "../tree/quantization-tree.ts";

/**
 * Returns the kernel that computes E[Vₖ₊₁(·, Q) | Xₖ = xᵢ] for each column, which is a number of units Q of a swing. A
 * work item has one column. With `by` = "parts" (CPU) it processes all rows of a part, so that neighbouring items read
 * neighbouring values and the same rows; with "rows" (GPU) it processes one row.
 */
export function expectationKernel(by: "parts" | "rows") {
  return kernel({
    name: `swing-expectation-${by}`,
    params: {
      /** The first row of the layer, and the number of its rows. */
      firstRow: i32,
      rows: i32,
      totalRows: i32,
      slots: i32,
      /** The number of columns. */
      width: i32,
      columns: read(i32),
      probabilities: read(real),
      /** [points of the next layer, width], and [points of this layer, width]. */
      next: read(real),
      expectations: write(real),
    },
    env: { BY_ROWS: by === "rows" },
    body(
      { firstRow, rows, totalRows, slots, width, columns, probabilities, next, expectations },
      gpu,
      { BY_ROWS },
    ): undefined {
      const item = gpu.globalId();
      const column = BY_ROWS ? item % width : item;
      const from = BY_ROWS ? (item / width) | 0 : 0;
      const to = BY_ROWS ? from + 1 : rows;
      for (let i = from; i < to; i++) {
        let sum = gpu.real(0);
        for (let s = 0; s < slots; s++) {
          const at = s * totalRows + firstRow + i;
          sum += probabilities[at] * next[columns[at] * width + column];
        }
        expectations[i * width + column] = sum;
      }
    },
  });
}

/**
 * The kernel that computes V(i, Q) = max over q ∈ {0, 1} of q·h(xᵢ) + E(i, Q + q), provided that Q + q can still end
 * within the bounds: Q + q ≤ most, and Q + q + (dates left) ≥ least. There is one work item for each row and column.
 * States that no feasible plan reaches get 0.
 */
export const decideKernel = kernel({
  name: "swing-decide",
  params: {
    firstRow: i32,
    /** The number of columns, and swings. */
    width: i32,
    swings: i32,
    /** Dates after this one. */
    left: i32,
    /** The swing of each column, and its units. */
    owners: read(i32),
    units: read(i32),
    /** Bounds on the units of each swing. */
    least: read(i32),
    most: read(i32),
    /** [points of all layers, swings]. */
    payoff: read(real),
    expectations: read(real),
    values: write(real),
  },
  body({ firstRow, width, swings, left, owners, units, least, most, payoff, expectations, values }, gpu) {
    const item = gpu.globalId();
    const row = (item / width) | 0;
    const column = item % width;
    const swing = owners[column];
    const used = units[column];
    const canRest = used <= most[swing] && used + left >= least[swing];
    const canTake = used + 1 <= most[swing] && used + 1 + left >= least[swing];
    const resting = expectations[item];
    const next = used < most[swing] ? item + 1 : item;
    const taking = payoff[(firstRow + row) * swings + swing] + expectations[next];
    const best = canRest && canTake ? Math.max(resting, taking) : canTake ? taking : canRest ? resting : gpu.real(0);
    values[item] = best;
  },
});

/** A swing option in whole units: from `least` to `most` of them in all, at most one on each date. @experimental */
export interface WholeSwing {
  /** The payoff of a unit, discounted to time 0: [points of all layers of the tree]. */
  readonly payoff: Float64Array;
  readonly least: number;
  readonly most: number;
}

/** Numbers of a layer's values, at most: swings beyond that take another pass. */
const MAX_VALUES = 2 ** 21;

/**
 * Computes the values at time 0 of swing options in whole units on one tree, all in one backward pass. Each swing
 * option has one column for each number of units taken so far, and all columns share the transitions that are
 * read.
 *
 * Shapes: one value for each swing; one whose bounds no dates can meet, or whose payoff is not finite, fails by
 * `status` and `error`, and changes no other.
 * Cost: per date points × transitions × columns, a swing having `most` + 1 columns.
 * Source and verification: `swingOption`, which calls this.
 *
 * @param tree of the chain that the payoffs are functions of.
 * @param swings payoffs at the tree's points, and bounds: 0 ≤ least ≤ most ≤ number of dates.
 * @param isDate of each layer: whether a unit may be taken.
 * @param options a signal that ends the work.
 * @throws ShapeError | SpecError (bounds that are no numbers) | the signal's reason
 * @example
 * import { openDevice } from "feynkac/device";
 * import { meanRevertingFactors, QuantizationTree, wholeSwings } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const chain = meanRevertingFactors({ times: [0, 0.5, 1], meanReversion: [0] });
 * using tree = await QuantizationTree.create(device, { chain, size: 20 });
 * const payoff = tree.points.map((w) => w);
 * const swings = [0, 1].map((least) => ({ payoff, least, most: 1 }));
 * const { value: [free, obliged], status } = await wholeSwings(tree, swings, [false, true, true]);
 * // A martingale that has to be taken once is worth nothing, whenever it is taken.
 * console.log(free! > 0.1, Math.abs(obliged!) < 0.01, status.join(" ")); // true true ok ok
 * @experimental
 */
export async function wholeSwings(
  tree: QuantizationTree,
  swings: readonly WholeSwing[],
  isDate: readonly boolean[],
  options: Pick<WorkOptions, "signal"> = {},
): Promise<SwingsResult> {
  check(tree, swings, isDate);
  const { offsets } = tree;
  const dates = isDate.filter(Boolean).length;
  const notFinite = ({ payoff }: WholeSwing) => {
    for (let k = 0; k < isDate.length; k++)
      for (let row = offsets[k]; isDate[k] && row < offsets[k + 1]; row++)
        if (!Number.isFinite(payoff[row])) return [`payoff[${row}]`, payoff[row]] as const;
    return undefined;
  };
  return valuesWithinBounds({ path: "wholeSwings", swings, dates, notFinite }, (some) =>
    valuesOf(tree, some, isDate, options),
  );
}

async function valuesOf(
  tree: QuantizationTree,
  swings: readonly WholeSwing[],
  isDate: readonly boolean[],
  options: Pick<WorkOptions, "signal">,
): Promise<Float64Array> {
  const yielder = new EventLoopYielder(options.signal);
  const largest = Math.max(...tree.sizes);
  const values = new Float64Array(swings.length);
  for (let from = 0, to = 0; from < swings.length; from = to) {
    let width = 0;
    while (to < swings.length && (to === from || (width + swings[to].most + 1) * largest <= MAX_VALUES))
      width += swings[to++].most + 1;
    values.set(await solve(tree, swings.slice(from, to), isDate, yielder), from);
  }
  return values;
}

function check(tree: QuantizationTree, swings: readonly WholeSwing[], isDate: readonly boolean[]): void {
  const [layers, points] = [tree.sizes.length, tree.offsets[tree.sizes.length]];
  if (isDate.length !== layers)
    throw new ShapeError(`wholeSwings: isDate: got ${isDate.length}, expected ${layers}, one for each layer`);
  checkList("wholeSwings: swings", swings, "swings");
  swings.forEach(({ payoff }, i) => {
    if (payoff?.length !== points)
      throw new ShapeError(`wholeSwings: swings[${i}].payoff: got ${payoff?.length} numbers, expected ${points}`);
  });
}

async function solve(
  tree: QuantizationTree,
  swings: readonly WholeSwing[],
  isDate: readonly boolean[],
  yielder: EventLoopYielder,
): Promise<readonly number[]> {
  const { device, sizes, offsets, rows } = tree;
  const precision = tree.settings.precision ?? "f64";
  const element = hostRealType(precision);
  const columnsOf = (of: (swing: number, used: number) => number): number[] =>
    swings.flatMap(({ most }, swing) => Array.from({ length: most + 1 }, (_, used) => of(swing, used)));
  const owners = columnsOf((swing) => swing);
  const width = owners.length;
  const byRows = isGpu(device);
  const expectation = await compileExact(device, expectationKernel(byRows ? "rows" : "parts"), precision);
  const decide = await compileExact(device, decideKernel, precision);
  const largest = Math.max(...sizes);
  const sideBySide = new Float64Array(offsets[sizes.length] * swings.length);
  swings.forEach(({ payoff }, swing) => {
    for (let row = 0; row < payoff.length; row++) sideBySide[row * swings.length + swing] = payoff[row];
  });
  using payoff = createBufferOf(device, element, sideBySide);
  const integers = (values: readonly number[]): DeviceBuffer => createBufferOf(device, "i32", Int32Array.from(values));
  using ownersBuffer = integers(owners);
  using units = integers(columnsOf((_, used) => used));
  using least = integers(swings.map((swing) => swing.least));
  using most = integers(swings.map((swing) => swing.most));
  using one = device.createBuffer(element, largest * width);
  using other = device.createBuffer(element, largest * width);
  let [values, expectations] = [one, other];
  const bounds = { width, swings: swings.length, owners: ownersBuffer, units, least, most, payoff };
  const last = sizes.length - 1;
  let left = 0;
  for (let k = last; k > 0; k--) {
    const items = sizes[k] * width;
    if (k < last) {
      const { columns, probabilities, slots, rows: totalRows } = rows;
      const args = { rows: sizes[k], firstRow: offsets[k] - 1, totalRows, slots, width, columns, probabilities };
      device.launch(expectation, { ...args, next: values, expectations }, { items: byRows ? items : width });
    }
    if (isDate[k]) {
      device.launch(decide, { ...bounds, firstRow: offsets[k], left, expectations, values }, { items });
      left++;
    } else [values, expectations] = [expectations, values];
    if (yielder.isDue) await yielder.finishAndYield(device);
  }
  return await atRoot(tree, values, swings, { width, left, isDate: isDate[0] });
}

interface Root {
  readonly width: number;
  readonly left: number;
  readonly isDate: boolean;
}

async function atRoot(
  tree: QuantizationTree,
  values: DeviceBuffer,
  swings: readonly WholeSwing[],
  { width, left, isDate }: Root,
): Promise<readonly number[]> {
  const first = await tree.device.read(values, 0, tree.sizes[1] * width);
  let column = 0;
  return swings.map(({ payoff, least, most }) => {
    const own = column;
    column += most + 1;
    const mean = (units: number): number =>
      tree.root.reduce((sum, p, j) => sum + p * first[j * width + own + units], 0);
    if (!isDate) return mean(0);
    const resting = left >= least ? mean(0) : -Infinity;
    const taking = most >= 1 && 1 + left >= least ? payoff[0] + mean(1) : -Infinity;
    return Math.max(resting, taking);
  });
}
