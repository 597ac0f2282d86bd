/** Problems for `solve` from the terms of a row. */
import type { Ends } from "./conditions.ts";
import type { Fineness } from "./fineness.ts";
import type { Payoff } from "../../../book/index.ts";
import { type AnyProblem, type Condition, SAME_DATE } from "../../../fdm/index.ts";
import type { Terms } from "../../terms.ts";
import { assetName, axisOf, factorEquation } from "../several/equation.ts";
import {
  axisBarriers,
  exerciseOf,
  isWhole,
  knockOutOf,
  type Level,
  lessText,
  type Part,
  rebateText,
} from "../several/parts.ts";
import { atExpiry, payoffText } from "../several/payoff.ts";
import type { Range } from "../several/domain.ts";
import type { Built } from "../several/engine.ts";
import { Parameters } from "../several/text.ts";
import { widened } from "../several/row.ts";
import { restarts, SPLITTING } from "./conditions.ts";
import { correctionOf, isPlainAmerican } from "./estimate.ts";

/**
 * The safety factor of error estimates in Heston's model: corrections in space and in time may cancel, and their order
 * is not two where paths stay near v = 0. Without it 4 % of 150 checks on random trades were beyond, by up to 5.8
 * times; American ones were so only far from Feller's condition. The factors were chosen on those trades.
 */
function varianceSafety({ assets, exercise }: Terms): number {
  const feller = assets.flatMap(({ volatility }) =>
    volatility.kind === "heston" ? [(2 * volatility.kappa * volatility.theta) / volatility.sigma ** 2] : [],
  );
  if (feller.length === 0) return 1;
  if (exercise.kind !== "american") return 2;
  return feller.some((ratio) => ratio < FAR_FROM_FELLER) ? 3 : 1;
}

const FAR_FROM_FELLER = 0.1;

/** The problem of a part. `from`: the terms whose mesh it has. */
export function build(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { knockOuts, less }: Part,
  { nodes, steps }: Fineness,
): Built<AnyProblem> {
  const p = new Parameters();
  const equation = factorEquation(terms, from, spots, p);
  const { expiry, exercise, assets } = terms;
  const T = p.add(expiry, "T");
  const axes: Record<string, ReturnType<typeof axisOf>> = {};
  const boundaries: Record<string, Ends> = {};
  const rebate = (level: Level): string => rebateText(level, terms, p);
  equation.factors.forEach((factor, k) => {
    const barriers = k < assets.length ? knockOuts : [];
    const { range, low, high, inner } = axisBarriers(factor.range, barriers, k, expiry);
    const strike = k === 0 && assets.length === 1 ? strikeOf(terms.payoff) : undefined;
    const points = [
      ...(strike !== undefined && strike > range.from && strike < range.to
        ? [{ at: p.add(strike, "K"), align: terms.payoff.kind === "digital" ? ("midway" as const) : ("none" as const) }]
        : []),
      ...inner.map((level) => ({
        at: p.add(level.level, "H"),
        align: level.times === undefined ? ("node" as const) : ("midway" as const),
      })),
    ];
    axes[factor.name] = axisOf({ ...factor, range }, nodes[k], points, p);
    boundaries[factor.name] = {
      ...(low === undefined ? lowEnd(factor.range) : { low: { kind: "dirichlet", value: rebate(low) } }),
      ...(high === undefined ? {} : { high: { kind: "dirichlet", value: rebate(high) } }),
    };
  });
  const names = assets.map((_, i) => assetName(assets.length, i));
  const payoff = payoffText(terms.payoff, names, p);
  // A jump needs Rannacher's steps; a kink, averaged over cells, is better without them (design/factors.md).
  const mayJump = terms.payoff.kind === "digital" || terms.payoff.kind === "expression" || knockOuts.length > 0;
  const isRough = mayJump || exercise.kind === "american";
  const problem: AnyProblem = {
    axes: Object.fromEntries(inSweepOrder(equation.factors, assets.length).map(({ name }) => [name, axes[name]])),
    equation: equation.coefficients,
    terminal: lessText(payoffText(terms.payoff, atExpiry(terms, names, p), p), less, p),
    expiry: T,
    boundaries,
    conditions: [
      ...exerciseOf(exercise, expiry, payoff, p),
      ...knockOuts
        .filter((level) => !isWhole(level, expiry))
        .map((level) => knockOutOf(level, names, rebate(level), p)),
      ...jumpsOf(terms, names, axes, p),
      ...restarts(terms, names[0], p),
    ],
    steps,
    extrapolate: "both",
    ...(isRough ? {} : { scheme: { kind: "modified-craig-sneyd", rannacherSteps: 0 } }),
  };
  const { factors } = equation;
  const safety = varianceSafety(terms);
  return {
    problem,
    parameters: p,
    nodes: nodes.reduce((product, count) => product * count, 1),
    read: (entry, at) => {
      const point = entry.at(Object.fromEntries(factors.map(({ name, today }, i) => [name, at[i] ?? today])));
      const wide = widened(point, safety * (exercise.kind === "american" ? SPLITTING : 1));
      return isPlainAmerican(terms) ? { ...wide, errorEstimate: correctionOf(wide) } : wide;
    },
  };
}

/**
 * Axes in the order that `solve` needs, which sweeps along the last of them first. Volatilities come before assets, so
 * that their sweeps are the last ones. Diffusion of S vanishes at v = 0. Steps grow there if what the mixed derivative
 * makes at v > 0 comes to v = 0 before the diffusion of S has damped it (design/factors.md).
 */
function inSweepOrder<T>(factors: readonly (T & { readonly driver: number })[], assets: number): readonly T[] {
  const own = factors.slice(0, assets);
  const others = factors.slice(assets);
  return [
    ...others.filter(({ driver }) => driver < assets),
    ...own,
    ...others.filter(({ driver }) => driver >= assets),
  ];
}

/** A first node above zero has a mixed derivative. */
const lowEnd = ({ firstNode = 0 }: Range): Ends => (firstNode > 0 ? { low: { kind: "zero-curvature" } } : {});

const strikeOf = (payoff: Payoff): number | undefined =>
  payoff.kind === "expression" ? payoff.kinks[0] : payoff.strike;

/** Dividends before expiry: the spot falls, and never below the end of its axis. */
function jumpsOf(
  { assets, expiry }: Terms,
  names: readonly string[],
  axes: Readonly<Record<string, { readonly from: number | string }>>,
  p: Parameters,
): readonly Condition<string>[] {
  return assets.flatMap(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE))
      .map(({ time, cash, proportional }) => ({
        kind: "jump" as const,
        axis: names[i],
        at: [p.add(time, "t")],
        to: `max(${names[i]}*${p.add(1 - proportional)} - ${p.add(cash)}, ${axes[names[i]].from})`,
      })),
  );
}
