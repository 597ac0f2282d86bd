/** Trades with barriers: on the spots themselves, so that barriers are parallel to the axes. */
import type { AnySparseProblem, SparseAxis } from "../../../sparsegrid/index.ts";
import type { Terms } from "../../terms.ts";
import { assetName, factorEquation } from "../several/equation.ts";
import {
  axisBarriers,
  exerciseOf,
  isAtExpiry,
  isWhole,
  knockOutOf,
  type Level,
  lessText,
  type Part,
  rebateText,
} from "../several/parts.ts";
import { atExpiry, payoffText } from "../several/payoff.ts";
import type { Built } from "../several/engine.ts";
import { Parameters } from "../several/text.ts";
import { widened } from "../several/row.ts";
import { type Fineness, nodesOf, OF_BARRIER, OF_DATES, restarts } from "./fineness.ts";

/** The width of the dense part of an axis that `assetRange` has: one standard deviation. */
const WIDTH = 0.4;

/** The problem of a part on the axes Sᵢ; correlations are mixed derivatives. */
export function bySpot(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { knockOuts, less }: Part,
  { level, initial, steps }: Fineness,
): Built<AnySparseProblem> {
  const p = new Parameters();
  const { factors, coefficients } = factorEquation(terms, from, spots, p);
  const { expiry, exercise, assets } = terms;
  const names = assets.map((_, i) => assetName(assets.length, i));
  const rebate = (level: Level): string => rebateText(level, terms, p);
  const axes: Record<string, SparseAxis> = {};
  const boundaries: Record<string, NonNullable<AnySparseProblem["boundaries"]>[string]> = {};
  factors.forEach(({ name, range: whole, today }, k) => {
    const { range, low, high } = axisBarriers(whole, knockOuts, k, expiry);
    const { from: lower, to: upper, width, coordinate } = range;
    const isInside = today > lower && today < upper;
    axes[name] = {
      from: p.add(lower, "from"),
      to: p.add(upper, "to"),
      // Beyond a barrier today, and read at the spots of scenarios.
      points: [p.add(isInside ? today : 0.5 * (lower + upper), "at")],
      width: p.add(WIDTH * width, "width"),
      coordinate,
      initialLevel: initial[k],
    };
    boundaries[name] = {
      ...(low === undefined ? {} : { low: { kind: "dirichlet", value: rebate(low) } }),
      ...(high === undefined ? {} : { high: { kind: "dirichlet", value: rebate(high) } }),
    };
  });
  const dated = knockOuts.filter((one) => !isWhole(one, expiry));
  const last = dated.filter(({ times }) => times!.some((time) => isAtExpiry(time, terms.expiry)));
  const paid = lessText(payoffText(terms.payoff, atExpiry(terms, names, p), p), less, p);
  const exercised = exerciseOf(exercise, expiry, payoffText(terms.payoff, names, p), p);
  const knockedOut = dated.flatMap((one) =>
    beforeExpiry(one, terms).map((early) => knockOutOf(early, names, rebate(one), p)),
  );
  const irregular = knockedOut.length > 0 ? OF_DATES.knockOut : exercised.length > 0 ? OF_DATES.exercise : OF_BARRIER;
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    // Averaged over cells, unlike conditions.
    terminal: last.reduce((text, one) => `(${hitText(one, names, p)} ? ${rebate(one)} : ${text})`, paid),
    expiry: p.add(expiry, "T"),
    boundaries,
    conditions: [...exercised, ...knockedOut, ...restarts(terms, names[0], p)],
    level,
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    parameters: p,
    nodes: nodesOf({ level, initial, steps }),
    read: (entry, at) => widened(entry.at(Object.fromEntries(names.map((name, i) => [name, at[i]]))), irregular),
  };
}

/** A barrier on its dates before expiry, if there are some. */
function beforeExpiry(level: Level, terms: Terms): readonly Level[] {
  const times = level.times!.filter((time) => time > 0 && !isAtExpiry(time, terms.expiry));
  return times.length === 0 ? [] : [{ ...level, times }];
}

const hitText = ({ asset, side, level }: Level, names: readonly string[], p: Parameters): string =>
  `${names[asset]} ${side === "up" ? ">=" : "<="} ${p.add(level, "H")}`;
