import { LruCache } from "../../../base/lru-cache.ts";
import {
  formulaShape,
  functionFromSource,
  type FunctionOf,
  type FunctionSpec,
  i32,
  real,
  shapeOf,
  type ValueOf,
} from "../../../kernel/index.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { Column } from "./column.ts";

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

/** The number of table rows of an instance's volatility formula; 0 without one. */
export function volatilityWords({ formula }: Pick<WithFormula, "formula">): number {
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

const MAX_SHAPES = 256;
/** A pure function's memory. */
const shapes = new LruCache<string, VolatilityShape>(MAX_SHAPES);
const known = new WeakMap<FunctionSpec, KernelVolatility>();

/** Returns a volatility formula σ(S, t) as a kernel function, with its numeric literals extracted. */
export function kernelVolatility(sigma: FunctionSpec): KernelVolatility {
  let volatility = known.get(sigma);
  if (volatility === undefined) {
    const { call, values } = formulaShape(sigma) ?? { call: sigma as VolatilityFunction, values: [] };
    const shape = shapes.getOrMake(shapeOf(call), (key) => ({ call: readingLiterals(call, values.length), key }));
    known.set(sigma, (volatility = { shape, literals: values }));
  }
  return volatility;
}

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
