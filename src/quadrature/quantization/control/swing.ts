/** Swing options: volumes bought at some dates, with bounds on each and on their sum, on a quantization tree. */
import { SpecError } from "../../../base/errors.ts";
import { checkList, checkFields } from "../../../base/argument-checks.ts";
import { EventLoopYielder, type WorkOptions } from "../../../base/event-loop.ts";
import type { QuantizationTree } from "../tree/quantization-tree.ts";
import {
  checkPayoff,
  type Discounting,
  DISCOUNTING,
  discountedPayoff,
  discountFactors,
  type NodePayoff,
} from "./nodes.ts";
import { wholeSwings } from "./whole-swings.ts";

/** The settings of `swingOption`. @experimental */
export type SwingSettings = Discounting &
  Pick<WorkOptions, "signal"> & {
    /**
     * The payoff of one unit of volume on a date, not discounted: for a call S − K. It is negative if a purchase costs
     * more than it brings.
     */
    readonly payoff: NodePayoff;
    /** Tells whether a layer is a purchase date; all layers by default. */
    readonly dates?: (time: number, layer: number) => boolean;
    /** The bounds on the volume of a date, [0, 1] by default. */
    readonly local?: readonly [number, number];
    /** The bounds on the sum of all volumes. */
    readonly global: readonly [number, number];
  };

/** The result of `swingOption`. One tree does not know its error: compare the values of two sizes. @experimental */
export interface SwingResult {
  /** The value at time 0. */
  readonly value: number;
  /** The problems in whole units that were solved, with their weights: one, or up to three. */
  readonly vertices: readonly SwingVertex[];
}

/**
 * A swing option on `least` to `most` whole units, with its weight in the combination of such options that gives the
 * value for limits that are not whole.
 * @experimental
 */
export interface SwingVertex {
  readonly least: number;
  readonly most: number;
  readonly weight: number;
  readonly value: number;
}

/**
 * Computes the value of a swing option (all payoffs discounted to time 0):
 *
 *   sup E Σₖ qₖ·hₖ(Xₖ),   l ≤ qₖ ≤ u,   Q_min ≤ Σ qₖ ≤ Q_max,   q adapted
 *
 * With qₖ = l + (u − l)·q′ₖ it is l·Σ E hₖ + (u − l)·P(m, M), m = (Q_min − n·l)/(u − l), M likewise, over n dates. For
 * whole m and M volumes are bang-bang, q′ₖ ∈ {0, 1}, and backward dynamic programming over the units used so far gives
 * P. Between whole numbers P is affine on each of the triangles m < i + 1, M < j + 1 with M − j above or below m − i,
 * so that it is interpolated exactly from three whole pairs.
 *
 * Bounds that the dates cannot reach are moved: m to at least 0, M to at most n. Cost: per date N × (M + 1) sums over
 * transitions. Source: O. Bardou, S. Bouthemy, G. Pagès, Applied Mathematical Finance 16 (2009) 183–217, and
 * International Journal of Theoretical and Applied Finance 13 (2010) 207–240 (bang-bang, and the triangles). Verified:
 * test/quadrature/quantization/swing.test.ts.
 *
 * @param tree of the chain that the payoff is a function of.
 * @param settings the payoff, the dates, the bounds, and a signal that ends the work.
 * @throws SpecError for bounds that no plan meets: there is no other swing beside it | ShapeError | the signal's reason
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
 * @experimental
 */
export async function swingOption(tree: QuantizationTree, settings: SwingSettings): Promise<SwingResult> {
  checkFields("swingOption", settings, ["payoff", "dates", "local", "global", ...DISCOUNTING, "signal"]);
  checkPayoff("swingOption", settings.payoff);
  checkList("swingOption: global", settings.global, "two numbers: the least and the most that is bought");
  const { payoff, dates = () => true, local = [0, 1], global, signal } = settings;
  const yielder = new EventLoopYielder(signal);
  const factors = discountFactors("swingOption", tree.times, settings);
  const isDate = tree.times.map((time, layer) => dates(time, layer));
  const count = isDate.filter(Boolean).length;
  const onDates: NodePayoff = (x, t, k) => (isDate[k] ? finite(payoff(x, t, k)) : 0);
  const host = await discountedPayoff("swingOption", tree, onDates, factors, yielder);
  const [low, high] = local;
  const units = unitsOf(local, global, count);
  const weighted = vertexWeights(units.least, units.most);
  // Volumes that are bought anyway: a purchase of one unit on each date.
  const strip = low === 0 ? [] : [{ least: count, most: count }];
  const problems = [...weighted, ...strip].map(({ least, most }) => ({ payoff: host, least, most }));
  const { value: values } = await wholeSwings(tree, problems, isDate, { signal });
  const vertices = weighted.map((vertex, i) => ({ ...vertex, value: values[i] }));
  const premium = vertices.reduce((sum, { weight, value }) => sum + weight * value, 0);
  const all = low === 0 ? 0 : values[weighted.length];
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
