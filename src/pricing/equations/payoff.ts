/** Payoffs of several underlyings as formulas, and in numbers. */
import type { Payoff } from "../../book/index.ts";
import { SAME_DATE } from "../../fdm/index.ts";
import { substituted } from "../../kernel/index.ts";
import type { Terms } from "../terms.ts";
import { assetName } from "./equation.ts";
import { Parameters } from "./text.ts";

/** Returns the spots that the payoff at expiry uses, after a dividend of that day. */
export function atExpiry({ assets, expiry }: Terms, names: readonly string[], p: Parameters): readonly string[] {
  return assets.map(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time >= expiry * (1 - SAME_DATE) && time <= expiry)
      .reduce(
        (text, { cash, proportional }) => `max(${text}*${p.add(1 - proportional)} - ${p.add(cash)}, 0)`,
        names[i],
      ),
  );
}

/** Returns the payoff on exercise as a formula of the spots, each of which is a formula. */
export function payoffText(payoff: Payoff, spots: readonly string[], p: Parameters): string {
  if (payoff.kind === "expression") {
    const by = Object.fromEntries(spots.map((spot, i) => [assetName(spots.length, i), spot]));
    return `(${substituted(payoff.expression, by)})`;
  }
  const K = p.add(payoff.strike, "K");
  const index = payoff.kind === "basket" ? indexText(payoff, spots, p) : spots[0];
  const [more, less] = payoff.right === "call" ? [index, K] : [K, index];
  if (payoff.kind !== "digital") return `max(${more} - ${less}, 0)`;
  const cash = p.add(payoff.cash, "cash");
  return `(${more} > ${less} ? ${cash} : ${more} == ${less} ? 0.5*${cash} : 0*${cash})`;
}

function indexText(
  { of, weights }: Extract<Payoff, { kind: "basket" }>,
  spots: readonly string[],
  p: Parameters,
): string {
  const w = weights.map((weight) => p.add(weight, "w"));
  if (of === "product") return `(${spots.map((spot, i) => `(${spot})^${w[i]}`).join("*")})`;
  const weighted = spots.map((spot, i) => `${w[i]}*${spot}`);
  return of === "sum" ? `(${weighted.join(" + ")})` : `${of}(${weighted.join(", ")})`;
}

/** Returns the payoff on exercise at given spots. */
export function payoffAt({ payoff, assets }: Terms, spots: readonly number[]): number {
  const p = new Parameters();
  const names = assets.map((_, i) => assetName(assets.length, i));
  const text = payoffText(payoff, names, p);
  return p.evaluate(text, Object.fromEntries(names.map((name, i) => [name, spots[i]])));
}
