/** Swing options: volumes bought at some dates, with bounds on each and on their sum, on a quantization tree. */
import { compileExact, type DeviceBuffer, isGpu, uploaded } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import { hostReal, i32, kernel, read, real, write } from "../../kernel/index.ts";
import type { QuantizationTree } from "../tree/quantization-tree.ts";
import { type Discounting, discountedPayoff, discountFactors, type NodePayoff } from "./nodes.ts";

/**
 * E[Vₖ₊₁(·, Q) | Xₖ = xᵢ] for each number of units Q. An item has one Q; it takes all rows of a part (on a CPU, where
 * neighbouring items then read neighbouring values, and rows are the same for all), or one row (on a GPU).
 */
export function expectationKernel(by: "parts" | "rows") {
  return kernel({
    name: `swing-expectation-${by}`,
    params: {
      /** Of the layer: its first row, and their number. */
      firstRow: i32,
      rows: i32,
      totalRows: i32,
      slots: i32,
      /** Units used so far are 0 … width − 1. */
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
      const units = BY_ROWS ? item % width : item;
      const from = BY_ROWS ? (item / width) | 0 : 0;
      const to = BY_ROWS ? from + 1 : rows;
      for (let i = from; i < to; i++) {
        let sum = gpu.real(0);
        for (let s = 0; s < slots; s++) {
          const at = s * totalRows + firstRow + i;
          sum += probabilities[at] * next[columns[at] * width + units];
        }
        expectations[i * width + units] = sum;
      }
    },
  });
}

/**
 * V(i, Q) = max over q ∈ {0, 1} of q·h(xᵢ) + E(i, Q + q), as far as Q + q can still end between the bounds:
 * Q + q ≤ most, and Q + q + (dates left) ≥ least. Items are (row, Q). States that no feasible plan reaches get 0.
 */
export const decideKernel = kernel({
  name: "swing-decide",
  params: {
    firstRow: i32,
    width: i32,
    /** Bounds on units, and dates after this one. */
    least: i32,
    most: i32,
    left: i32,
    payoff: read(real),
    expectations: read(real),
    values: write(real),
  },
  body({ firstRow, width, least, most, left, payoff, expectations, values }, gpu) {
    const item = gpu.globalId();
    const row = (item / width) | 0;
    const units = item % width;
    const canRest = units <= most && units + left >= least;
    const canTake = units + 1 <= most && units + 1 + left >= least;
    const resting = expectations[item];
    const taking = payoff[firstRow + row] + expectations[row * width + Math.min(units + 1, width - 1)];
    const best = canRest && canTake ? Math.max(resting, taking) : canTake ? taking : canRest ? resting : gpu.real(0);
    values[item] = best;
  },
});

/** What is bought. */
export type SwingSettings = Discounting & {
  /**
   * Of one unit of volume on a date, not discounted: for a call S − K. Negative if a purchase costs more than it
   * brings.
   */
  readonly payoff: NodePayoff;
  /** Layers that are dates of purchase, at all by default. */
  readonly dates?: (time: number, layer: number) => boolean;
  /** Bounds on the volume of a date, [0, 1] by default. */
  readonly local?: readonly [number, number];
  /** Bounds on the sum of all volumes. */
  readonly global: readonly [number, number];
};

/** What `swingOption` returns. */
export interface SwingResult {
  /** At time 0. */
  readonly value: number;
  /** The problems in whole units that were solved, with their weights: one, or up to three. */
  readonly vertices: readonly SwingVertex[];
}

/** A swing option in whole units: from `least` to `most` of them. */
export interface SwingVertex {
  readonly least: number;
  readonly most: number;
  readonly weight: number;
  readonly value: number;
}

/**
 * The value of a swing option (all payoffs discounted to time 0):
 *
 *   sup E Σₖ qₖ·hₖ(Xₖ),   l ≤ qₖ ≤ u,   Q_min ≤ Σ qₖ ≤ Q_max,   q adapted
 *
 * With qₖ = l + (u − l)·q′ₖ it is l·Σ E hₖ + (u − l)·P(m, M), m = (Q_min − n·l)/(u − l), M likewise, over n dates. For
 * whole m and M volumes are bang-bang, q′ₖ ∈ {0, 1}, and backward dynamic programming over the units used so far gives
 * P. Between whole numbers P is affine on each of the triangles m < i + 1, M < j + 1 with M − j above or below m − i,
 * so that it is interpolated exactly from three whole pairs.
 *
 * Bounds beyond what the dates allow are moved to it: m to at least 0, M to at most n. Cost: per date N × (M + 1) sums
 * over transitions. Source: O. Bardou, S. Bouthemy, G. Pagès, Applied Mathematical Finance 16 (2009) 183–217, and
 * International Journal of Theoretical and Applied Finance 13 (2010) 207–240 (bang-bang, and the triangles). Verified:
 * test/quantization/swing.test.ts.
 *
 * @param tree of the chain that the payoff is a function of.
 * @param settings the payoff, the dates and the bounds.
 * @throws SpecError for bounds that no plan meets | ShapeError
 * @example
 * import { openDevice } from "feynkac/device";
 * import { meanRevertingFactors, QuantizationTree, swingOption } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const times = Array.from({ length: 12 }, (_, k) => k / 12);
 * const chain = meanRevertingFactors({ times, meanReversion: [4] });
 * using tree = await QuantizationTree.create(device, { chain, size: 100 });
 * const { covariances } = chain;
 * const spot = (y: number, k: number) => 20 * Math.exp(0.7 * y - 0.245 * covariances[k]![0]!);
 * const { value } = await swingOption(tree, { payoff: ([y], _t, k) => spot(y!, k) - 20, global: [3, 6] });
 * console.log(value.toFixed(1)); // 15.5
 */
export async function swingOption(tree: QuantizationTree, settings: SwingSettings): Promise<SwingResult> {
  const { payoff, dates = () => true, local = [0, 1], global } = settings;
  const factors = discountFactors("swingOption", tree.times, settings);
  const isDate = tree.times.map((time, layer) => dates(time, layer));
  const count = isDate.filter(Boolean).length;
  const host = discountedPayoff("swingOption", tree, (x, t, k) => (isDate[k] ? finite(payoff(x, t, k)) : 0), factors);
  const [low, high] = local;
  const units = unitsOf(local, global, count);
  const problem = { host, isDate };
  const vertices: SwingVertex[] = [];
  for (const { least, most, weight } of vertexWeights(units.least, units.most))
    vertices.push({ least, most, weight, value: await solve(tree, problem, least, most) });
  const premium = vertices.reduce((sum, { weight, value }) => sum + weight * value, 0);
  // Volumes that are bought anyway: a purchase of one unit on each date.
  const all = low === 0 ? 0 : await solve(tree, problem, count, count);
  return { value: low * all + (high - low) * premium, vertices };
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new SpecError(
    `swingOption: payoff: got ${value}, expected a finite number; dates without a right are for \`dates\``,
  );
}

interface Units {
  readonly least: number;
  readonly most: number;
}

/** Bounds on the sum in units of u − l above the least volume, as far as they bind. */
function unitsOf(local: readonly [number, number], global: readonly [number, number], count: number): Units {
  const [low, high] = local;
  if (!(Number.isFinite(low) && Number.isFinite(high) && low < high))
    throw new SpecError(`swingOption: local: got [${local.join(", ")}], expected two numbers, the first smaller`);
  const [from, to] = global.map((volume) => (volume - count * low) / (high - low));
  // Whole numbers of units are meant where division leaves them by rounding.
  const whole = (x: number): number =>
    Math.abs(x - Math.round(x)) < 1e-9 * Math.max(1, Math.abs(x)) ? Math.round(x) : x;
  const [least, most] = [Math.max(whole(from), 0), Math.min(whole(to), count)];
  if (!(from <= to && least <= count && most >= 0))
    throw new SpecError(
      `swingOption: global: got [${global.join(", ")}], expected bounds that ${count} dates of [${local.join(", ")}] can ` +
        `meet: from at most ${count * high} to at least ${count * low}, the first not larger`,
    );
  return { least, most };
}

/** Whole pairs around (m, M) and their barycentric weights. */
function vertexWeights(m: number, most: number): readonly (Units & { readonly weight: number })[] {
  const [i, j] = [Math.floor(m), Math.floor(most)];
  const [a, b] = [m - i, most - j];
  const corner = { least: i, most: j, weight: 1 - Math.max(a, b) };
  const far = { least: i + 1, most: j + 1, weight: Math.min(a, b) };
  const side = b > a ? { least: i, most: j + 1, weight: b - a } : { least: i + 1, most: j, weight: a - b };
  return [corner, side, far].filter(({ weight }) => weight > 0);
}

interface Problem {
  readonly host: Float64Array;
  readonly isDate: readonly boolean[];
}

/** P(least, most) for whole units. */
async function solve(tree: QuantizationTree, { host, isDate }: Problem, least: number, most: number): Promise<number> {
  const { device, sizes, offsets, rows } = tree;
  const precision = tree.settings.precision ?? "f64";
  const element = hostReal(precision);
  const width = most + 1;
  const byRows = isGpu(device);
  const expectation = await compileExact(device, expectationKernel(byRows ? "rows" : "parts"), precision);
  const decide = await compileExact(device, decideKernel, precision);
  const largest = Math.max(...sizes);
  using payoff = uploaded(device, element, host);
  using one = device.createBuffer(element, largest * width);
  using other = device.createBuffer(element, largest * width);
  let [values, expectations] = [one, other];
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
      const args = { firstRow: offsets[k], width, least, most, left, payoff, expectations, values };
      device.launch(decide, args, { items });
      left++;
    } else [values, expectations] = [expectations, values];
  }
  return await atRoot(tree, values, { least, most, width, left, isDate: isDate[0], payoff: host[0] });
}

interface Root extends Units {
  readonly width: number;
  readonly left: number;
  readonly isDate: boolean;
  readonly payoff: number;
}

async function atRoot(tree: QuantizationTree, values: DeviceBuffer, root: Root): Promise<number> {
  const { least, most, width, left, isDate, payoff } = root;
  const first = await tree.device.read(values, 0, tree.sizes[1] * width);
  const mean = (units: number): number => tree.root.reduce((sum, p, j) => sum + p * first[j * width + units], 0);
  if (!isDate) return mean(0);
  const resting = left >= least ? mean(0) : -Infinity;
  const taking = most >= 1 && 1 + left >= least ? payoff + mean(1) : -Infinity;
  return Math.max(resting, taking);
}
