/** A trade in words, as a person would say it in a list. */
import type { Barrier, BasketIndex, Exercise, Payoff, Trade } from "./types.ts";

const INDEX: Readonly<Record<BasketIndex, string>> = {
  sum: "basket",
  product: "geometric basket",
  max: "best-of",
  min: "worst-of",
};

/** Describes a trade in words: "American put 105", "Double-barrier knock-out call 100 (80 · 125)", "Asian call 95". */
export function describeTrade({ payoff, exercise, barriers }: Trade): string {
  return `${exerciseWord(exercise, payoff)}${barrierWord(barriers)}${payoffWord(payoff)}${levels(barriers)}`;
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

/** The underlyings of a trade, in its order. */
export function underlyingsOf({ underlying, assets }: Trade): readonly string[] {
  return assets?.map((asset) => asset.underlying.name) ?? [underlying.name];
}
