/** Functions of a state that continuation values are regressed on. */
import { SpecError } from "../../base/errors.ts";
import { checkObject, checkKeys } from "../../base/argument-checks.ts";
import { fn, functionFromSource, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import type { PathModel } from "../model.ts";
import { arrayLength } from "../paths/shape.ts";
import type { PathProduct } from "../product.ts";
import { keyOf, memoize } from "../../base/memoize.ts";

const basisParams = { x: read(real), payoff: real, basis: write(real) } as const;
const carriedParams = { running: read(real), x: write(real) } as const;
const variableParams = { spots: read(real), running: read(real), state: read(real), x: write(real) } as const;

/**
 * The parameters of a user's basis, for `fn`: it writes its values at the scaled variables `x`, and may use the payoff
 * of exercise, discounted to time 0.
 *
 * @example
 * import { basisFunctionParams } from "feynkac/montecarlo";
 *
 * console.log(Object.keys(basisFunctionParams).join(" ")); // x payoff basis
 * @experimental
 */
export const basisFunctionParams: typeof basisParams = basisParams;

/** The basis functions on which continuation values are regressed. @experimental */
export type Basis = {
  /** The order of spots: "descending" sorts them, which suits payoffs on order statistics; "as-given" by default. */
  readonly order?: "as-given" | "descending";
  /** True to use the product's running numbers as variables, too, or the indices of some; false by default. */
  readonly running?: boolean | readonly number[];
  /**
   * The index of the first of the product's running numbers that spots are divided by, one for each of them, before
   * they are ordered; none by default.
   */
  readonly relativeTo?: number;
  /**
   * True to use the model's variances and factors, which its spots do not determine, as variables after all others;
   * true by default, and never with Laguerre polynomials.
   */
  readonly hidden?: boolean;
} &
  /**
   * Monomials and powers of the payoff, as many as serve the number of variables: of degree 3 up to three variables and
   * of degree 2 up to nine; then each variable and its square; then the variables; and the payoff's powers in any case.
   */
  (
    | { readonly kind: "auto" }
    | {
        /**
         * The kind of functions. "monomials": all products of variables up to `degree`, on variables standardised at
         * each date. "laguerre": weighted Laguerre polynomials e^(−x/2)·Lₖ(x) of each spot over its first value, and
         * products of pairs.
         */
        readonly kind: "monomials" | "laguerre";
        readonly degree: number;
        /** True to use the payoff as one of the functions; true by default. */
        readonly payoff?: boolean;
      }
    | {
        readonly kind: "function";
        readonly count: number;
        readonly function: KernelFunction<typeof basisParams, void>;
      }
  );

const FIELDS = ["kind", "order", "running", "relativeTo", "hidden", "degree", "payoff", "count", "function"];

/** A basis in the form that kernels use. */
export interface BasisShape {
  readonly variables: number;
  readonly count: number;
  /** True where variables are standardised; otherwise they are divided by their value at time 0. */
  readonly standardised: boolean;
  readonly variablesOf: KernelFunction<typeof variableParams, void>;
  readonly basis: KernelFunction<typeof basisParams, void>;
}

/** The largest number of functions of a basis: their normal equations are in a work item's private memory. */
const MAX_COUNT = 64;

/** Returns a basis in the form that kernels use, for a model and a product. @throws SpecError */
export function basisOf(basis: Basis, { assets, hidden }: PathModel, { running }: PathProduct): BasisShape {
  checkObject("basis", basis, 'an object with its kind: { kind: "monomials", degree: 3 }');
  checkKeys("basis", basis, FIELDS);
  const every = Array.from({ length: running }, (_, k) => k);
  const carried = basis.running === true ? every : basis.running === false ? [] : (basis.running ?? []);
  for (const k of [...carried, ...(basis.relativeTo === undefined ? [] : [basis.relativeTo + assets - 1])])
    if (every[k] === undefined)
      throw new SpecError(`basis: got the running number ${k}, expected indices below ${running}`);
  const shown = assets + carried.length;
  const own = basis.kind === "laguerre" || basis.hidden === false ? undefined : hidden;
  const variables = shown + (own?.count ?? 0);
  const isSorted = basis.order === "descending";
  const variablesOf = variablesFunction(assets, carried.join(" "), {
    isSorted,
    relativeTo: basis.relativeTo,
    hidden: own?.count ?? 0,
    hiddenOf: own?.function,
  });
  const made =
    basis.kind === "function"
      ? { count: basis.count, basis: basis.function }
      : basis.kind === "auto"
        ? automatic(variables)
        : written(basis, variables);
  if (!Number.isInteger(made.count) || made.count < 1 || made.count > MAX_COUNT)
    throw new SpecError(
      `basis: got ${made.count} functions, expected 1 to ${MAX_COUNT}: lower the degree (${variables} variables)`,
    );
  return { variables, variablesOf, standardised: basis.kind !== "laguerre", ...made };
}

/** The default basis: polynomials of the variables and of the payoff, of lower degree the more variables there are. */
const automatic = memoize((variables: number) => {
  const powers = ["payoff", "payoff * payoff", "payoff * payoff * payoff"];
  const each = Array.from({ length: variables }, (_, v) => `x[${v}]`);
  const choices = [
    ...(variables <= 3 ? [[...monomials(3, variables), powers[0]]] : []),
    [...monomials(2, variables), ...powers],
    ["1", ...each, ...each.map((x) => `${x} * ${x}`), ...powers],
    ["1", ...each, ...powers],
  ];
  return functionOf("auto", choices.find(({ length }) => length <= MAX_COUNT) ?? ["1", ...powers]);
});

/** A basis whose functions are lines of source. */
function functionOf(name: string, lines: readonly string[]) {
  const source = `({ x, payoff, basis }) => {\n${lines.map((line, j) => `  basis[${j}] = ${line};`).join("\n")}\n}`;
  return {
    count: lines.length,
    basis: functionFromSource<typeof basisParams, void>({ name, params: basisParams, source }),
  };
}

function written(basis: Extract<Basis, { kind: "monomials" | "laguerre" }>, variables: number) {
  const { kind, degree, payoff = true } = basis;
  if (!Number.isInteger(degree) || degree < 0 || degree > 10)
    throw new SpecError(`basis.degree: got ${degree}, expected a whole number from 0 to 10`);
  if (kind !== "monomials" && kind !== "laguerre")
    throw new SpecError(`basis.kind: got ${JSON.stringify(kind)}, expected "monomials", "laguerre" or "function"`);
  return writtenBasis(kind, degree, payoff, variables);
}

const writtenBasis = memoize((kind: "monomials" | "laguerre", degree: number, payoff: boolean, variables: number) => {
  const lines = kind === "monomials" ? monomials(degree, variables) : laguerre(degree, variables);
  return functionOf(kind, payoff ? [...lines, "payoff"] : lines);
});

/** Each monomial is a variable times one of the degree below, whose variables do not come after it. */
function monomials(degree: number, variables: number): string[] {
  const lines = ["1"];
  let below = [{ at: 0, last: 0 }];
  for (let n = 1; n <= degree; n++) {
    const next: typeof below = [];
    for (const { at, last } of below)
      for (let v = last; v < variables; v++) {
        next.push({ at: lines.length, last: v });
        lines.push(n === 1 ? `x[${v}]` : `basis[${at}] * x[${v}]`);
      }
    below = next;
  }
  return lines;
}

/** Lₖ by its recurrence (k + 1)·Lₖ₊₁ = (2k + 1 − x)·Lₖ − k·Lₖ₋₁, begun with the weight e^(−x/2). */
function laguerre(degree: number, variables: number): string[] {
  const lines = ["1"];
  const first: number[] = [];
  for (let v = 0; v < variables; v++) {
    for (let k = 0; k <= degree; k++) {
      const at = lines.length;
      if (k === 0) lines.push(`Math.exp(-0.5 * x[${v}])`);
      else if (k === 1) lines.push(`(1 - x[${v}]) * basis[${at - 1}]`);
      else lines.push(`((${2 * k - 1} - x[${v}]) * basis[${at - 1}] - ${k - 1} * basis[${at - 2}]) / ${k}`);
      if (k === 1) first.push(at);
    }
  }
  first.forEach((a, i) => first.slice(i + 1).forEach((b) => lines.push(`basis[${a}] * basis[${b}]`)));
  return lines;
}

type HiddenFunction = NonNullable<PathModel["hidden"]>["function"];

interface VariableOptions {
  readonly isSorted: boolean;
  readonly relativeTo: number | undefined;
  readonly hidden: number;
  readonly hiddenOf: HiddenFunction | undefined;
}

/** Returns the function that sets the variables: spots, the running numbers with indices in a text, and hidden ones. */
const variablesFunction = memoize(
  (assets: number, carried: string, { isSorted, relativeTo, hidden, hiddenOf }: VariableOptions) => {
    const indices = carried === "" ? [] : carried.split(" ");
    const copies = indices.map((index, i) => `x[${assets + i}] = running[${index}];`);
    return fn({
      name: "regressionVariables",
      params: variableParams,
      env: {
        copyRunning: functionFromSource<typeof carriedParams, void>({
          name: "carriedVariables",
          params: carriedParams,
          source: `({ running, x }) => { ${copies.join(" ")} }`,
        }),
        A: assets,
        SORTED: isSorted,
        RELATIVE: relativeTo !== undefined,
        FROM: relativeTo ?? 0,
        H: hidden,
        AT: assets + indices.length,
        HIDDEN_ROOM: arrayLength(hidden),
        hiddenOf,
      },
      body({ spots, running, state, x }, gpu, env) {
        const { A, SORTED, RELATIVE, FROM, H, AT, HIDDEN_ROOM, hiddenOf: hiddenFunction } = env;
        for (let i = 0; i < A; i++) x[i] = RELATIVE ? spots[i] / running[FROM + i] : spots[i];
        if (SORTED)
          for (let round = 1; round < A; round++)
            for (let i = 0; i < A - round; i++) {
              const high = Math.max(x[i], x[i + 1]);
              x[i + 1] = Math.min(x[i], x[i + 1]);
              x[i] = high;
            }
        env.copyRunning({ running, x });
        if (hiddenFunction !== undefined) {
          const values = gpu.privateReal(HIDDEN_ROOM);
          hiddenFunction({ state, hidden: values });
          for (let i = 0; i < H; i++) x[AT + i] = values[i];
        }
      },
    });
  },
  64,
  (assets, carried, { isSorted, relativeTo, hidden, hiddenOf }) =>
    keyOf([assets, carried, isSorted, relativeTo, hidden, hiddenOf]),
);
