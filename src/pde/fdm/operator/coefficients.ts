import {
  fn,
  liftFormula,
  functionFromSource,
  type FunctionOf,
  type FunctionSpec,
  i32,
  read,
  real,
  record,
  codeKeyOf,
  type ValueOf,
} from "../../../kernel/index.ts";
import { Column, valueAt } from "./state.ts";
import { emptyRow, type LocalSurface, rootMeanSquare } from "../../../market/index.ts";
import { REFACTOR, stepTimes, type TimeGrid } from "../time/time-grid.ts";
import { LruCache, memoizeBy } from "../../../base/memoize.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";

/** An object that takes the coefficients of an instance one after another. */
export interface CoefficientSink {
  /** Takes the next coefficient. */
  put(value: number): void;
}

/**
 * A writer of successive coefficients of one instance, `stride` apart: into an array of its own, or into its column of
 * a launch's table.
 */
export class CoefficientWriter implements CoefficientSink {
  private readonly values: Float64Array | Float32Array;
  private readonly stride: number;
  private at = 0;

  constructor(values: Float64Array | Float32Array, stride = 1) {
    this.values = values;
    this.stride = stride;
  }

  /** Sets the index at which the next coefficient is written. */
  from(first: number): this {
    this.at = first;
    return this;
  }

  /** Writes the next coefficient. */
  put(value: number): void {
    this.values[this.at] = value;
    this.at += this.stride;
  }
}

/**
 * Returns the number of coefficients of a factorisation: 4, or 6 with a volatility formula in S and t, which also needs
 * a time and a shift.
 */
export const coefficientReals = (formula: boolean): number => (formula ? 6 : 4);

/**
 * The coefficients of a factorisation: h, h·σ² (h alone if σ depends on S; for a formula in S and t, h times the ratio
 * of the mean of σ² over the step to σ² in the middle of the step), h·(r − q), h·r and, for a formula in S and t, the
 * time at which it is evaluated and the shift of σ.
 */
export const Coefficients = record({ h: real, hVariance: real, hDrift: real, hRate: real, time: real, shift: real });

/**
 * Returns the function that reads the coefficients of an instance's factorisation from table row `row` on
 * (`solverKernel`).
 */
export function readCoefficients(formula: boolean) {
  return fn({
    name: "readCoefficients",
    params: [Column, i32],
    env: { formula, valueAt },
    body([coefficients, row], _gpu, { formula, valueAt }) {
      let time = 0.0;
      let shift = 0.0;
      if (formula) {
        time = valueAt(coefficients, row + 4);
        shift = valueAt(coefficients, row + 5);
      }
      return {
        h: valueAt(coefficients, row),
        hVariance: valueAt(coefficients, row + 1),
        hDrift: valueAt(coefficients, row + 2),
        hRate: valueAt(coefficients, row + 3),
        time,
        shift,
      };
    },
  });
}

/**
 * The number of reals from which a kernel computes an instance's mesh and vanilla payoff in closed form
 * (`readClosedForm`).
 */
export const CLOSED_FORM_REALS = 6;

/**
 * Reads an instance's mesh in closed form (`KinkedMesh`, in units of today's spot) and the sign φ of its vanilla
 * payoff; see `solverKernel`.
 */
export const readClosedForm = fn({
  name: "readClosedForm",
  params: [Column],
  env: { valueAt },
  body([table], _gpu, { valueAt }) {
    return {
      kink: valueAt(table, 0),
      width: valueAt(table, 1),
      meshStep: valueAt(table, 2),
      at: valueAt(table, 3),
      zeroAt: valueAt(table, 4),
      sign: valueAt(table, 5),
    };
  },
});

/**
 * Returns node i of a mesh (`KinkedMesh`) whose exponent is already known: kink·exp(½·width·growth), or 0 where i =
 * zeroAt. The caller passes growth = 2·sinh((i − at)·step).
 */
export const nodeFromGrowth = fn({
  name: "nodeFromGrowth",
  params: [i32, real, real, real, real, real],
  body([i, kink, width, growth, at, zeroAt], gpu) {
    const node = gpu.real(i) === at ? kink : kink * Math.exp(width * 0.5 * growth);
    return gpu.real(i) === zeroAt ? 0.0 : node;
  },
});

/** Returns node i of a mesh in closed form (`KinkedMesh`). */
export const closedFormNode = fn({
  name: "closedFormNode",
  params: [i32, real, real, real, real, real],
  env: { nodeFromGrowth },
  body([i, kink, width, step, at, zeroAt], gpu, { nodeFromGrowth }) {
    const growth = Math.exp((gpu.real(i) - at) * step);
    return nodeFromGrowth(i, kink, width, growth - gpu.reciprocal(growth), at, zeroAt);
  },
});

/** The number of reals for each spot of a slice, which is a volatility surface at one date: σ and ∂σ/∂S. */
export const SLICE_REALS = 2;

/**
 * Where a step's volatilities lie in the table, and how they are shifted: the parallel shift of σ (`move`), the number
 * of spots, the index of the first spot, the index of the step's slice, and the interval of spots at which the next
 * search starts (`piece`, see `surfaceSigma`).
 */
export const SurfaceLocation = record({ move: real, spots: i32, first: i32, slice: i32, piece: i32 });

/**
 * Returns the function that finds the volatility surface of an instance in the launch's table. From index `tail` on,
 * behind everything else, the table has
 *
 *   [instance], [pitch + instance]   the number of the instance's block; the parallel shift of σ
 *   [2·pitch], [2·pitch + 1]         the number of spots; the number of reals of a block
 *   then the blocks                  each has the spots, then a slice for each factorisation: σ and ∂σ/∂S at each spot,
 *                                    the root mean square over its step
 *
 * Prices are in units of today's spot. Nothing is read where `shape` is not "surface".
 */
export function readSurface(shape: string) {
  return fn({
    name: "readSurface",
    params: [Column, i32],
    env: { surface: shape === "surface" },
    body([{ values, pitch, instance }, tail], gpu, { surface }) {
      let move = 0.0;
      let spots = 0;
      let first = 0;
      if (surface) {
        const size = tail + 2 * pitch;
        move = values[tail + pitch + instance];
        spots = gpu.i32(values[size]);
        first = size + 2 + gpu.i32(values[tail + instance]) * gpu.i32(values[size + 1]);
      }
      return { move, spots, first, slice: first + spots, piece: 0 };
    },
  });
}

/**
 * Returns σ at a price, shifted by `move` and not below zero: the cubic through σ and ∂σ/∂S of the slice at index
 * `slice`, whose spots begin at index `first`. σ is constant outside the spots. `piece` is the number of spots not
 * above the price; the search starts from its previous value, because neighbouring nodes lie in the same or
 * neighbouring intervals. Cost for each node: 2 comparisons, 8 reals read, a division and 18 flops.
 */
export const surfaceSigma = fn({
  name: "surfaceSigma",
  params: [read(real), i32, i32, i32, real, i32, real],
  env: { words: SLICE_REALS },
  body([table, first, spots, slice, move, start, price], _gpu, { words }) {
    let piece = start;
    while (piece > 0 && price < table[first + piece - 1]) piece--;
    while (piece < spots && price >= table[first + piece]) piece++;
    const left = Math.max(piece - 1, 0);
    const right = Math.min(piece, spots - 1);
    const from = slice + left * words;
    const to = slice + right * words;
    const width = table[first + right] - table[first + left];
    const u = left < right ? (price - table[first + left]) / width : 0.0;
    const sigma = table[from];
    const rise = table[to] - sigma;
    const before = table[from + 1] * width;
    const after = table[to + 1] * width;
    const local = sigma + u * (before + u * (3 * rise - 2 * before - after + u * (before + after - 2 * rise)));
    return { piece, sigma: Math.max(local + move, 0) };
  },
});

/** Returns the number of reals of a surface's block (`readSurface`) for a time grid with a number of factorisations. */
export function blockReals({ spots }: LocalSurface, factorisations: number): number {
  return spots.length * (1 + factorisations * SLICE_REALS);
}

/**
 * Writes a surface's block (`readSurface`) from index `first` on: its spots, then the root mean square of σ over each
 * factored step and its slope ∂/∂S, with prices in units of `spot`. A block depends on the time grid and the surface
 * alone, so trades of one expiry share it. Cost: 4 flops and 16 bytes written for each spot and factorisation, besides
 * `rootMeanSquare`.
 */
export function putSurfaceBlock(
  into: Float64Array | Float32Array,
  first: number,
  { surface, spot }: { readonly surface: LocalSurface; readonly spot: number },
  time: TimeGrid,
): void {
  const { spots } = surface;
  const mean = emptyRow(surface);
  const { volatility, slopes } = mean;
  let at = first;
  for (const one of spots) into[at++] = one / spot;
  time.steps.forEach((step, i) => {
    if ((time.flags[i] & REFACTOR) === 0) return;
    const { from, to } = time.homogeneous ? { from: 0, to: 0 } : stepTimes(time, step);
    rootMeanSquare(surface, from, to, 0, mean);
    for (let k = 0; k < volatility.length; k++, at += SLICE_REALS) {
      into[at] = volatility[k];
      into[at + 1] = slopes[k] * spot;
    }
  });
}

/**
 * The kernel function of a volatility formula σ(S, t) with its numeric literals as arguments, shared by formulas that
 * differ only in literals.
 */
export interface VolatilityShape {
  /**
   * The kernel function (table, first, S, t) → σ, with S in units of today's spot. From row `first` on, the table has a
   * row of the spots and a row for each literal, with one instance a column, so that instances with other spots and
   * literals share a launch.
   */
  readonly call: FunctionOf<(table: ValueOf<typeof Column>, first: number, S: number, t: number) => number>;
  /** A text that is equal exactly for shapes with the same kernels. */
  readonly key: string;
}

/**
 * A volatility formula as a kernel function, with the values of its numeric literals in the order in which it takes
 * them.
 */
export interface KernelVolatility {
  readonly shape: VolatilityShape;
  readonly literals: readonly number[];
}

/** An instance with the formula of its volatility, if it has one. */
interface WithFormula {
  readonly formula: KernelVolatility | undefined;
  readonly problem: Pick<OneFactorProblem, "spots">;
}

/** Returns the number of table rows of an instance's volatility formula; 0 without one. */
export function volatilityReals({ formula }: Pick<WithFormula, "formula">): number {
  return formula === undefined ? 0 : 1 + formula.literals.length;
}

/**
 * Writes the table rows of instances whose volatility formulas have the same shape; nothing if they have no formula.
 */
export function putVolatilities(
  into: Float64Array | Float32Array,
  pitch: number,
  instances: readonly WithFormula[],
): void {
  instances.forEach(({ formula, problem }, l) => {
    if (formula === undefined) return;
    into[l] = problem.spots[0];
    for (const [k, literal] of formula.literals.entries()) into[(k + 1) * pitch + l] = literal;
  });
}

/** The shapes of volatility formulas by their texts. A pure function's memory. */
const shapes = new LruCache<string, VolatilityShape>(256);

/** Returns a volatility formula σ(S, t) as a kernel function, with its numeric literals extracted. */
export const kernelVolatility = memoizeBy((sigma: FunctionSpec): KernelVolatility => {
  const { call, values } = liftFormula(sigma) ?? { call: sigma as VolatilityFunction, values: [] };
  const shape = shapes.getOrMake(codeKeyOf(call), (key) => ({ call: readingLiterals(call, values.length), key }));
  return { shape, literals: values };
});

type VolatilityFunction = FunctionOf<(S: number, t: number, ...literals: number[]) => number>;

function readingLiterals(f: VolatilityFunction, count: number): VolatilityShape["call"] {
  const rows = Array.from({ length: count }, (_, k) => k + 1);
  const at = (row: number): string => `values[(first + ${row}) * pitch + instance]`;
  return functionFromSource({
    name: "volatility",
    params: [Column, i32, real, real],
    env: { f },
    source: `([{ values, pitch, instance }, first, S, t], gpu, { f }) => f(${[`S * ${at(0)}`, "t", ...rows.map(at)].join(", ")})`,
    run: ({ values, pitch, instance }: ValueOf<typeof Column>, first: number, S: number, t: number) => {
      const at = (row: number): number => values[(first + row) * pitch + instance];
      return f(S * at(0), t, ...rows.map(at));
    },
  });
}
