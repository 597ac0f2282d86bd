/** Short descriptions of trades in words. */
import type { LinearTrade } from "./linear-types.ts";
import type { RatesExercise, RatesTrade } from "./rates-types.ts";
import type { AnyTrade, Barrier, BasketIndex, Exercise, Payoff } from "./types.ts";

const INDEX: Readonly<Record<BasketIndex, string>> = {
  sum: "basket",
  product: "geometric basket",
  max: "best-of",
  min: "worst-of",
};

const LINEAR: Readonly<Record<LinearTrade["product"], string>> = {
  swap: "swap",
  fra: "forward rate agreement",
  note: "note",
  fxForward: "currency forward",
  cds: "credit default swap",
};

/** Describes a trade in words: "American put 105", "Double-barrier knock-out call 100 (80 · 125)", "Asian call 95". */
export function describeTrade(trade: AnyTrade): string {
  if (trade.kind === "rates") return describeRates(trade);
  if (trade.kind === "linear") return `${LINEAR[trade.product]}, ${number(trade.expiry)} years`;
  if (trade.kind === "convertible") return `convertible bond, ${number(trade.expiry)} years`;
  if (trade.kind === "forward") return `forward ${number(trade.strike)}`;
  if (trade.kind === "scripted") return `script ${trade.payoff.program.name}`;
  const { payoff, exercise, barriers } = trade;
  return `${exerciseWord(exercise, payoff)}${barrierWord(barriers)}${payoffWord(payoff)}${levels(barriers)}`;
}

/**
 * Describes a trade on rates, for example "Callable bond to 10 years", "Bermudan payer swaption 0.035" or "Cap 0.03".
 */
function describeRates({ product, expiry }: RatesTrade): string {
  switch (product.kind) {
    case "bond": {
      const rights = [product.calls.length > 0 ? "callable " : "", product.puts.length > 0 ? "puttable " : ""].join("");
      return `${rights}bond, ${number(expiry)} years`;
    }
    case "bondOption":
      return `${exerciseName(product.exercise)} bond ${product.right} ${number(product.strike)}`;
    case "capFloor":
      return `${product.right} ${number(product.strike)}, ${number(expiry)} years`;
    case "swaption":
      return `${exerciseName(product.exercise)} ${product.right} swaption ${number(product.strike)}`;
    default:
      return product satisfies never;
  }
}

function exerciseName(exercise: RatesExercise): string {
  if (exercise.kind === "american") return "American";
  return exercise.times.length === 1 ? "European" : "Bermudan";
}

function exerciseWord({ kind }: Exercise, payoff: Payoff): string {
  if (payoff.kind === "swing") return "";
  return { european: "European ", american: "American ", bermudan: "Bermudan " }[kind];
}

function barrierWord(barriers: readonly Barrier[]): string {
  if (barriers.length === 0) return "";
  if (barriers.length === 1) return `${barriers[0].type} `;
  return barriers.every(({ type }) => type.endsWith("-out")) ? "double knock-out " : "double-barrier ";
}

function payoffWord(payoff: Payoff): string {
  switch (payoff.kind) {
    case "vanilla":
      return `${payoff.right} ${number(payoff.strike)}`;
    case "digital":
      return `digital ${payoff.right} ${number(payoff.strike)}`;
    case "expression":
      return `payoff ${payoff.expression.length > 28 ? `${payoff.expression.slice(0, 27)}…` : payoff.expression}`;
    case "basket":
      return `${INDEX[payoff.of]} ${payoff.right} ${number(payoff.strike)}`;
    case "average":
      return `${payoff.mean === "geometric" ? "geometric " : ""}Asian ${payoff.right} ${number(payoff.strike)}`;
    case "lookback":
      return payoff.isFloating
        ? `floating lookback ${payoff.right}`
        : `lookback ${payoff.right} ${number(payoff.strike)}`;
    case "swing":
      return `Swing ${payoff.right} ${number(payoff.strike)}, ${payoff.min}–${payoff.max} times`;
    default:
      return payoff satisfies never;
  }
}

function levels(barriers: readonly Barrier[]): string {
  return barriers.length === 0 ? "" : ` (${barriers.map(({ level }) => number(level)).join(" · ")})`;
}

function number(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 7 });
}

/** Returns the names of a trade's underlyings in order; for a trade on interest rates, the currency. */
export function underlyingsOf(trade: AnyTrade): readonly string[] {
  if (trade.kind === "rates") return [trade.currency];
  if (trade.kind === "linear") return [trade.pair?.name ?? trade.currency];
  const assets = "assets" in trade ? trade.assets : undefined;
  const { underlying } = trade;
  return assets?.map((asset) => asset.underlying.name) ?? [underlying.name];
}
