/** Scripts backwards on one spot: the problem, its mesh, and its numbers as kernels read them. */
import type { Program } from "../../market/scripts/index.ts";
import { HEADER, layersAt, ROW } from "./kernels.ts";

/** A date of a script, or of a dividend. */
export interface ProblemDate {
  /** The time in years, ≥ 0; increasing from date to date. */
  readonly time: number;
  /** The numbers of the date, in the order of `Program.columns`; of later payments the discount factors to them. */
  readonly dated: readonly number[];
  /** The cash dividend that is paid just before the events of the date. */
  readonly cash: number;
}

/** A script on one spot whose volatility is a function of spot and time; rates are deterministic. */
export interface ScriptProblem {
  readonly program: Program;
  /** The carried numbers before the first date. */
  readonly running: readonly number[];
  readonly scalars: readonly number[];
  /** The dates; the first is today, whether something happens on it or not. */
  readonly dates: readonly ProblemDate[];
  /** Returns the factor by which a forward grows up to a time, with proportional dividends and without cash. */
  readonly growth: (time: number) => number;
  readonly discount: (time: number) => number;
  /** Returns the standard deviation of the logarithm of the spot at a time, about. */
  readonly deviation: (time: number) => number;
  /** ∫½σ² from one time to another; undefined where σ depends on the spot. */
  readonly halfVariance: ((from: number, to: number) => number) | undefined;
  /** Returns σ at a spot and a time. */
  readonly sigma: (spot: number, time: number) => number;
}

/** The states of a script between two dates: combinations of finite ones, times points of one real state. */
export interface Layers {
  /** The indices of the finite states, and their values by combination. */
  readonly names: readonly number[];
  readonly groups: readonly (readonly number[])[];
  /** The index of the real state and its range; undefined where there is none. */
  readonly axis: { readonly name: number; readonly from: number; readonly to: number } | undefined;
}

/** Uniform nodes of x = ln(S/growth), and the logarithms of the spots at which values are read, increasing. */
export interface Mesh {
  readonly from: number;
  readonly to: number;
  readonly nodes: number;
  readonly spots: readonly number[];
}

/**
 * Returns the numbers of a date of instances side by side, as `kernels.ts` reads them: a header, the script's numbers,
 * the carried numbers of the layers before it, and what tells the groups of layers after it apart.
 */
export function packDate(
  problems: readonly ScriptProblem[],
  d: number,
  { from, to, nodes }: Mesh,
  carried: readonly Float64Array[],
  { groups, axis }: Layers,
  points: number,
): Float64Array {
  const count = problems.length;
  const [{ program }] = problems;
  const exact = groups.flat();
  const first = layersAt(program);
  const data = new Float64Array((first + carried.length * program.running + exact.length) * count);
  problems.forEach(({ running, scalars, dates, growth, discount }, i) => {
    const { time, dated, cash } = dates[d];
    const put = (row: number, value: number): void => {
      data[row * count + i] = value;
    };
    put(ROW.start, from);
    put(ROW.step, (to - from) / (nodes - 1));
    put(ROW.growth, growth(time));
    put(ROW.cash, cash);
    put(ROW.discount, discount(time));
    put(ROW.axis, axis?.from ?? 0);
    put(ROW.axisStep, axis === undefined ? 1 : (axis.to - axis.from) / (points - 1));
    [...running, ...scalars, ...dated].forEach((value, k) => put(HEADER + k, value));
    let row = first;
    for (const layer of carried) for (const value of layer) put(row++, value);
    for (const value of exact) put(row++, value);
  });
  return data;
}
