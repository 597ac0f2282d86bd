/** Payoffs of several spots at the last date. */
import { ShapeError, SpecError } from "../../base/errors.ts";
import { checkOneOf } from "../../base/argument-checks.ts";
import {
  type DeclaredFunctions,
  declaredFunctions,
  fn,
  formula,
  functionFromSource,
  type RealFunction,
  type UserFunction,
  userFunction,
  type UserFunctions,
} from "../../kernel/index.ts";
import { type Column, failuresOf, type Parameters } from "../parameters.ts";
import { type PathProduct, type PayoffFunction, productParams } from "../product.ts";
import { memoize } from "../../base/memoize.ts";
import { checkOption, type OptionType, signOf } from "./formulas.ts";

/** The way in which the spots are combined into one number. @experimental */
export type BasketKind = "arithmetic" | "geometric" | "best-of" | "worst-of";

/** The settings of `basket`. @experimental */
export interface BasketSettings {
  readonly payoff: OptionType;
  readonly strike: Column;
  /**
   * The kind of basket: "arithmetic" Σ wᵢSᵢ, the default; "geometric" Π Sᵢ^wᵢ; "best-of" max wᵢSᵢ; "worst-of" min wᵢSᵢ.
   */
  readonly kind?: BasketKind;
  /** The weights of the assets; negative ones make a spread. */
  readonly weights: readonly Column[];
}

/**
 * Returns a call or put on a basket of any number of assets at the last date: max(B − K, 0) or max(K − B, 0). A spread
 * is an arithmetic basket with the weights 1 and −1.
 *
 * Verified: test/montecarlo/reference.test.ts.
 *
 * @param settings call or put, strike, weights, and the kind of basket.
 * @throws SpecError | ShapeError
 * @example
 * import { basket } from "feynkac/montecarlo";
 *
 * const product = basket({ payoff: "call", kind: "best-of", strike: 100, weights: [1, 1, 1] });
 * console.log(product.name, product.assets); // best-of basket call 3
 * @experimental
 */
export function basket(settings: BasketSettings): PathProduct {
  checkOption("basket", settings, ["strike", "kind", "weights"]);
  const { payoff, strike, kind = "arithmetic", weights } = settings;
  if (weights.length === 0) throw new ShapeError("basket: weights: got none, expected one for each asset");
  checkOneOf("basket: kind", kind, ["arithmetic", "geometric", "best-of", "worst-of"]);
  const failures = failuresOf("basket: strike", strike, "a finite number", Number.isFinite);
  const named: Parameters = Object.fromEntries(weights.map((weight, i) => [`weight${i + 1}`, weight]));
  return {
    name: `${kind} basket ${payoff}`,
    assets: weights.length,
    // The weighted sum of logarithms, which models have without taking any.
    running: kind === "geometric" ? 1 : 0,
    ...(kind === "geometric" ? { usesLogs: true, update: weightedLogs(weights.length) } : {}),
    parameters: { strike, ...named },
    payoffParameters: ["strike", ...(kind === "geometric" ? [] : Object.keys(named))],
    failures,
    isDiscontinuous: false,
    payoff: basketPayoff(kind, signOf(payoff), weights.length),
  };
}

const weightedLogs = memoize((assets: number) =>
  fn({
    name: "weightedLogs",
    params: productParams.update,
    env: { D: assets },
    body({ running, logs, p }, gpu, { D }) {
      let sum = gpu.real(0);
      for (let i = 0; i < D; i++) sum += p[1 + i] * logs[i];
      running[0] = sum;
    },
  }),
);

const basketPayoff = memoize((kind: BasketKind, sign: number, assets: number): PayoffFunction =>
  fn({
    name: "basketPayoff",
    params: productParams.payoff,
    env: { KIND: kind, SIGN: sign, D: assets },
    body({ running, spots, p }, _gpu, { KIND, SIGN, D }) {
      let value = KIND === "geometric" ? Math.exp(running[0]) : p[1] * spots[0];
      if (KIND !== "geometric")
        for (let i = 1; i < D; i++) {
          const one = p[1 + i] * spots[i];
          if (KIND === "arithmetic") value += one;
          if (KIND === "best-of") value = Math.max(value, one);
          if (KIND === "worst-of") value = Math.min(value, one);
        }
      return Math.max(SIGN * (value - p[0]), 0);
    },
  }),
);

/** The settings of `terminalPayoff`. @experimental */
export interface TerminalSettings<F extends UserFunctions = Record<never, never>> {
  /** The payoff of the spots at the last date: a formula in S1, S2, …, or a function of { S1, S2, … }. */
  readonly payoff: string | UserFunction<string, number, NoInfer<F>>;
  /** The user's functions that it may call, by name; the third argument of a function. */
  readonly functions?: F;
  readonly assets: number;
  /** True where the payoff jumps, false where it does not: see `PathProduct`. */
  readonly isDiscontinuous?: boolean;
}

/**
 * Returns a product with any payoff of the spots at the last date.
 *
 * @param settings a formula or a function, and the number of assets.
 * @throws SpecError | KernelError (the formula)
 * @example
 * import { terminalPayoff } from "feynkac/montecarlo";
 *
 * console.log(terminalPayoff({ payoff: "max(S1 - S2, 0)", assets: 2 }).assets); // 2
 * @experimental
 */
export function terminalPayoff<F extends UserFunctions = Record<never, never>>(
  settings: TerminalSettings<F>,
): PathProduct {
  const { payoff, assets, isDiscontinuous } = settings;
  const functions = declaredFunctions(settings.functions);
  if (!Number.isInteger(assets) || assets < 1)
    throw new SpecError(`terminalPayoff: assets: got ${assets}, expected a whole number from 1 on`);
  return {
    name: typeof payoff === "string" ? payoff : payoff.name || "payoff",
    assets,
    running: 0,
    parameters: {},
    payoff: terminalFunction({ payoff, assets, functions }),
    ...(isDiscontinuous === undefined ? {} : { isDiscontinuous }),
  };
}

interface Terminal {
  readonly payoff: string | UserFunction<string, number, never>;
  readonly assets: number;
  readonly functions: DeclaredFunctions;
}

const terminalFunction = memoize(({ payoff, assets, functions }: Terminal): PayoffFunction => {
  const names = Array.from({ length: assets }, (_, i) => `S${i + 1}`);
  const f: RealFunction =
    typeof payoff === "string"
      ? formula(payoff, names, "payoff", functions)
      : userFunction(names, payoff as UserFunction<string, number>, "payoff", functions);
  return functionFromSource<typeof productParams.payoff, number>({
    name: "terminalPayoff",
    params: productParams.payoff,
    env: { f },
    source: `({ spots }, _gpu, { f }) => f(${names.map((_, i) => `spots[${i}]`).join(", ")})`,
  });
});
