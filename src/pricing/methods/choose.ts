import type { MethodName } from "../../book/index.ts";
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
import type { Acceptance, Batch, PricingMethod } from "./method.ts";

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
  if (name === "auto") return cheapest(batch, trade);
  // Finite differences, whatever the number of axes.
  const wanted = name === "fdm" && batch.columns.severalFactors[trade] !== 0 ? adi : BY_NAME[name];
  const answer = wanted.accepts(batch, trade);
  if (typeof answer === "number") return wanted;
  const others = METHODS.filter((one) => typeof one.accepts(batch, trade) === "number").map((one) => one.name);
  throw refusal(batch, trade, [[wanted, answer]], `expected method ${orList(["auto", ...others])}`);
}

function cheapest(batch: Batch, trade: number): PricingMethod {
  let best: PricingMethod | undefined;
  let cost = Number.POSITIVE_INFINITY;
  for (const method of METHODS) {
    const answer = method.accepts(batch, trade);
    if (typeof answer === "number" && answer < cost) [best, cost] = [method, answer];
  }
  if (best !== undefined) return best;
  const answers = METHODS.map((method) => [method, method.accepts(batch, trade)] as const);
  throw refusal(batch, trade, answers, "no method prices such a trade yet");
}

function refusal(
  { columns }: Batch,
  trade: number,
  answers: readonly (readonly [PricingMethod, Acceptance])[],
  remedy: string,
): BookError {
  const reasons = answers.map(([{ name }, reason]) => `method "${name}" does not price this trade, it has ${reason}`);
  return new BookError(`trades[${columns.place[trade]}]`, `${reasons.join("; ")}; ${remedy}`);
}

function orList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}
