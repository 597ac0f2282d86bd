/** Estimates of rights, and their sensitivities by differences of values on the same tree or grid. */
import { bumpsOnTrees, timeStep } from "../plan/bump-sizes.ts";
import { sensitivityOf, type SensitivityFormula } from "../../base/differences.ts";
import { type Differences, differencesOf, THETA, type Valuation } from "../plan/differences.ts";
import type { Estimate, Estimator, Measured, Request } from "../plan/request.ts";
import type { Terms } from "../terms.ts";
import { varianceAt } from "../variance.ts";
import { datesOf, unitsOf } from "./factors.ts";

/** The estimate of a swing option, or of another contract with exercise rights on given dates. */
export interface ExerciseRightsEstimate extends Estimate {
  /** The number of points of the finer tree; 0 for a value that needed no tree. */
  readonly size: number;
}

/** The names of the measures of a decision today: what it is worth, and the theta after it. */
const DECISION = "decision";

/** A level takes about so many times as long as the one before. */
const GROWTH = 4;

/** The members of an `Estimator` that all methods for exercise rights on dates share. */
export const rightsEstimator: Omit<
  Estimator<ExerciseRightsEstimate>,
  "accuracy" | "limited" | "finerLevel" | "estimate"
> = {
  accuracyOfF32: 0,
  servesAllSpots: false,
  findsDifferences: false,
  refinesEach: false,
  growth: (_, from, to) => GROWTH ** (to - from),
  copyLevel: ({ level }) => level,
  differencesOf({ terms, spots: [spots], estimate }, greeks, later) {
    const today = { terms, spots };
    const dates = datesOf(terms);
    const deviation = Math.sqrt(varianceAt(terms.assets[0].volatility, dates[dates.length - 1] ?? 0));
    const { copies, formulas: measures } = differencesOf(
      today,
      bumpsOnTrees(today, { size: estimate!.size, deviation }, greeks),
    );
    return withDecisions(today, { copies, formulas: measures }, later);
  },
  measuresOf(today, { formulas: measures }, copies) {
    const failed = copies.find(({ failure }) => failure !== undefined);
    if (failed !== undefined) throw failed.failure;
    const values = [today, ...copies].map(({ estimate }) => estimate!.values[0]);
    const found = new Map(measures.map((measure) => [measure.name, sensitivityOf(measure, values)]));
    const decisions = [0, 1].filter((k) => found.has(`${DECISION} ${k}`));
    const [best] = decisions.toSorted((a, b) => found.get(`${DECISION} ${b}`)! - found.get(`${DECISION} ${a}`)!);
    found.set(THETA, best === undefined ? 0 : found.get(`${THETA} ${best}`)!);
    return new Map([...found].map(([name, value]): [string, Measured] => [name, { value, error: Number.NaN }]));
  },
};

/**
 * The differences with those in time, one for each decision that may be taken today: a swing with a right today is
 * looked at without it, taken or not, since a difference in time is no exercise.
 */
function withDecisions(
  { terms, spots }: Valuation,
  { copies, formulas: measures }: Differences,
  later: (years: number) => Terms | undefined,
): Differences {
  const all = [...copies];
  const add = (own: Terms): number => all.push({ terms: own, spots });
  if (!datesOf(terms).some((time) => time > 0)) return { copies, formulas: measures };
  const years = timeStep(terms);
  const then = later(years);
  if (then === undefined) return { copies, formulas: measures };
  const decision = (k: number, added: number, now: number, after: number): readonly SensitivityFormula[] => {
    const weightsOf = (weights: ReadonlyMap<number, number>): readonly number[] =>
      Array.from({ length: Math.max(now, after) + 1 }, (_, v) => weights.get(v) ?? 0);
    return [
      { name: `${DECISION} ${k}`, weights: weightsOf(new Map([[now, 1]])), added },
      {
        name: `${THETA} ${k}`,
        weights: weightsOf(
          new Map([
            [after, 1 / years],
            [now, -1 / years],
          ]),
        ),
      },
    ];
  };
  const { payoff } = terms;
  if (payoff.kind !== "swing" || payoff.times[0] > 0)
    return { copies: all, formulas: [...measures, ...decision(0, 0, 0, add(then))] };
  const { min, max } = unitsOf(terms);
  const count = payoff.times.length - 1;
  const decisions = [0, 1].flatMap((taken) => {
    const left = { min: Math.max(min - taken, 0), max: max - taken };
    if (left.min > count || left.max < 0) return [];
    const without = (own: Terms): Terms => {
      if (own.payoff.kind !== "swing") return own;
      // Later the right of today is gone by itself.
      const times = own.payoff.times.slice(own.payoff.times.length - count);
      return { ...own, payoff: { ...own.payoff, times, ...left } };
    };
    const gain = payoff.right === "call" ? spots[0] - payoff.strike : payoff.strike - spots[0];
    return decision(taken, taken * gain, add(without(terms)), add(without(then)));
  });
  return { copies: all, formulas: [...measures, ...decisions] };
}

/** A request for the value of rights on one underlying. */
export type RightsRequest = Request<ExerciseRightsEstimate>;
