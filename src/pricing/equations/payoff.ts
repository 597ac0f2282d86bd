/** Payoffs of several underlyings. */
import type { Payoff } from "../../book/index.ts";
import { SAME_DATE } from "../../pde/fdm/index.ts";
import type { Terms } from "../terms.ts";
import { assetName } from "./equation.ts";
import { apply, applyFormula, evaluate, type Expression, plus, times } from "./expression.ts";

/** Returns the spots that the payoff uses at expiry, after a dividend on that day. */
export function atExpiry({ assets, expiry }: Terms, spots: readonly Expression[]): readonly Expression[] {
  return assets.map(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time >= expiry * (1 - SAME_DATE) && time <= expiry)
      .reduce(
        (spot, { cash, proportional }) =>
          apply((S, kept, paid) => Math.max(S * kept - paid, 0), spot, 1 - proportional, cash),
        spots[i],
      ),
  );
}

/** Returns the amount that exercise pays, as an expression of the spots. */
export function payoffOn(payoff: Payoff, spots: readonly Expression[]): Expression {
  if (payoff.kind === "expression")
    return applyFormula(
      payoff.expression,
      Object.fromEntries(spots.map((spot, i) => [assetName(spots.length, i), spot])),
    );
  const { strike } = payoff;
  const index = payoff.kind === "basket" ? indexOf(payoff, spots) : spots[0];
  const [more, less] = payoff.right === "call" ? [index, strike] : [strike, index];
  if (payoff.kind !== "digital") return apply((a, b) => Math.max(a - b, 0), more, less);
  return apply((a, b, cash) => (a > b ? cash : a === b ? 0.5 * cash : 0), more, less, payoff.cash);
}

const JOINED = {
  product: times,
  sum: plus,
  max: (one: Expression, other: Expression) => apply((a, b) => Math.max(a, b), one, other),
  min: (one: Expression, other: Expression) => apply((a, b) => Math.min(a, b), one, other),
};

function indexOf({ of, weights }: Extract<Payoff, { kind: "basket" }>, spots: readonly Expression[]): Expression {
  const weighted = spots.map((spot, i) =>
    of === "product" ? apply((S, w) => S ** w, spot, weights[i]) : times(weights[i], spot),
  );
  return weighted.reduce(JOINED[of]);
}

/** Returns the amount that exercise pays at given spots. */
export function payoffAt({ payoff, assets }: Terms, spots: readonly number[]): number {
  const names = assets.map((_, i) => assetName(assets.length, i));
  return evaluate(payoffOn(payoff, names), Object.fromEntries(names.map((name, i) => [name, spots[i]])));
}
