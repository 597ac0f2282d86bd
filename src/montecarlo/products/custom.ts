/** Products of one's own, and payoffs of the last spots. */
import { SpecError } from "../../base/errors.ts";
import { fn } from "../../kernel/index.ts";
import { type Column, failuresOf } from "../parameters.ts";
import { type PathProduct, productParams } from "../product.ts";
import { memoize } from "../../base/memoize.ts";
import { checkOption, type OptionType, signOf } from "./formulas.ts";

/**
 * Checks and returns a user's product: a running state that each date updates, and a payoff, as kernel functions. Its
 * code is checked at compilation.
 *
 * @param product its functions and parameters.
 * @throws SpecError
 * @example
 * import { fn } from "feynkac/kernel";
 * import { pathProduct, productParams } from "feynkac/montecarlo";
 *
 * // The range of a spot over the dates.
 * const range = pathProduct({
 *   name: "range",
 *   running: 2,
 *   parameters: {},
 *   start: fn({
 *     params: productParams.start,
 *     body({ running, spots }) {
 *       running[0] = spots[0]!;
 *       running[1] = spots[0]!;
 *     },
 *   }),
 *   update: fn({
 *     params: productParams.update,
 *     body({ running, spots }) {
 *       running[0] = Math.min(running[0]!, spots[0]!);
 *       running[1] = Math.max(running[1]!, spots[0]!);
 *     },
 *   }),
 *   payoff: fn({ params: productParams.payoff, body: ({ running }) => running[1]! - running[0]! }),
 * });
 * console.log(range.name); // range
 * @experimental
 */
export function pathProduct(product: PathProduct): PathProduct {
  if (!Number.isInteger(product.running) || product.running < 0)
    throw new SpecError(
      `pathProduct: running: got ${product.running}, expected how many numbers are carried, from 0 on`,
    );
  if (product.monitoring !== undefined && product.update === undefined)
    throw new SpecError(`pathProduct: monitoring: got "${product.monitoring}" without update, expected a function`);
  return Object.freeze({ ...product });
}

/**
 * Returns a European option on the first spot, max(S − K, 0) or max(K − S, 0) at the last date.
 *
 * @param settings call or put, and the strike.
 * @throws SpecError
 * @example
 * import { european } from "feynkac/montecarlo";
 *
 * console.log(european({ payoff: "put", strike: 100 }).name); // European put
 * @experimental
 */
export function european(settings: { readonly payoff: OptionType; readonly strike: Column }): PathProduct {
  checkOption("european", settings, ["strike"]);
  const { payoff, strike } = settings;
  const failures = failuresOf("european: strike", strike, "a finite number", Number.isFinite);
  return {
    name: `European ${payoff}`,
    assets: 1,
    running: 0,
    parameters: { strike },
    payoffParameters: ["strike"],
    failures,
    isDiscontinuous: false,
    payoff: europeanPayoff(signOf(payoff)),
  };
}

const europeanPayoff = memoize((sign: number) =>
  fn({
    name: "europeanPayoff",
    params: productParams.payoff,
    env: { SIGN: sign },
    body: ({ spots, p }, _gpu, { SIGN }) => Math.max(SIGN * (spots[0] - p[0]), 0),
  }),
);
