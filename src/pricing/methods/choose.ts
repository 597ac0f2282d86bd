import type { MethodName, Trade } from "../../book/index.ts";
import { BookError } from "../../errors.ts";
import { convolution } from "./convolution/convolution.ts";
import { closedForm } from "./closed-form/closed-form.ts";
import { deterministic } from "./deterministic/deterministic.ts";
import { adi } from "./adi/adi.ts";
import { fdm } from "./fdm/fdm.ts";
import { sparseGrid } from "./sparse-grid/sparse-grid.ts";
import { integral } from "./integral/integral.ts";
import { montecarlo } from "./montecarlo/montecarlo.ts";
import { quantization } from "./quantization/quantization.ts";
import type { Batch, PricingMethod } from "./method.ts";

/** Every method of the book, by name: the compiler finds one that the book's format lists and nobody implements. */
const BY_NAME: { readonly [Name in Exclude<MethodName, "auto">]: PricingMethod & { readonly name: Name } } = {
  "closed-form": closedForm,
  deterministic,
  integral,
  fdm,
  adi,
  "sparse-grid": sparseGrid,
  montecarlo,
  quantization,
  convolution,
};

export const METHODS: readonly PricingMethod[] = Object.values(BY_NAME);

/**
 * The method for a trade: the cheapest that accepts it, or the one that was asked for.
 * @throws BookError no method accepts the trade, or the one asked for does not
 */
export function methodFor(batch: Batch, trade: number): PricingMethod {
  const { method: name } = batch.settings;
  if (name === "auto") return cheapest(batch, trade) ?? refuseAll(batch, trade);
  const named: PricingMethod = BY_NAME[name];
  const wanted = batch.columns.severalFactors[trade] === 0 ? named : (named.ofSeveralFactors ?? named);
  const answer = wanted.accepts(batch, trade);
  if (typeof answer === "number") return wanted;
  const others = METHODS.filter((one) => typeof one.accepts(batch, trade) === "number").map((one) => one.name);
  const remedy = `expected method ${orList(["auto", ...others])}`;
  throw new BookError(
    placeOf(batch, trade),
    `method "${wanted.name}" does not price this trade, it has ${answer}; ${remedy}`,
  );
}

/** The cheapest method for a trade but for one that has failed; undefined where there is none, or one is asked for. */
export function nextMethodFor(batch: Batch, trade: number, failed: PricingMethod): PricingMethod | undefined {
  return batch.settings.method === "auto" ? cheapest(batch, trade, failed) : undefined;
}

function cheapest(batch: Batch, trade: number, failed?: PricingMethod): PricingMethod | undefined {
  let best: PricingMethod | undefined;
  let cost = Number.POSITIVE_INFINITY;
  for (const method of METHODS) {
    if (method === failed || method.minCost >= cost) continue;
    const answer = method.accepts(batch, trade);
    if (typeof answer === "number" && answer < cost) [best, cost] = [method, answer];
  }
  return best;
}

function refuseAll(batch: Batch, trade: number): never {
  throw refusal(batch, trade);
}

/**
 * Returns the error of a trade that no method prices: first the reason of the method meant for such trades, then what
 * those of the others say.
 */
function refusal(batch: Batch, trade: number): BookError {
  const meant = methodMeantFor(batch.columns.tradeOf(trade));
  const others = METHODS.filter(({ name }) => name !== meant).map(
    (method) => `"${method.name}": ${method.accepts(batch, trade)}`,
  );
  return new BookError(
    placeOf(batch, trade),
    `it has ${BY_NAME[meant].accepts(batch, trade)}, which method "${meant}" does not price yet; the other methods ` +
      `do not price this trade either (${others.join("; ")})`,
  );
}

/** The method that would price a trade of this kind, whatever its details. */
function methodMeantFor({ payoff, exercise, assets, volatility, underlying }: Trade): Exclude<MethodName, "auto"> {
  if (payoff.kind === "swing") return "quantization";
  if (payoff.kind === "average" || payoff.kind === "lookback") return "montecarlo";
  if (volatility.kind === "stochasticLocal") return "montecarlo";
  if (volatility.kind === "gaussianFactors") return exercise.kind === "european" ? "montecarlo" : "quantization";
  const factors = (assets ?? [volatility]).length;
  if (factors > MAX_AXES) return "montecarlo";
  const isStochastic = volatility.kind === "heston" || volatility.kind === "sabr" || underlying.shortRate !== undefined;
  return factors > 1 || isStochastic ? "adi" : "fdm";
}

/** Underlyings that finite differences take. */
const MAX_AXES = 3;

const placeOf = ({ columns }: Batch, trade: number): string => `trades[${columns.place[trade]}]`;

function orList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}
