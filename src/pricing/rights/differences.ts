/** Differences of the values of exercise rights. */
import {
  type DerivativeByDifferences,
  DifferencePlan,
  MOVES,
  type SensitivityFormula,
  UNMOVED,
} from "../../base/differences.ts";
import type { Greeks } from "../options.ts";
import { bumpsOnTrees, lowest, timeStep } from "../plan/bump-sizes.ts";
import {
  DELTA,
  type Differences,
  differencesOf,
  GAMMA,
  RHO,
  THETA,
  type Valuation,
  VEGA,
} from "../plan/differences.ts";
import { bumped, type Terms } from "../terms.ts";
import { varianceAt } from "../variance.ts";
import { datesOf, unitsOf } from "./factors.ts";

/** The names of the measures of a decision today: what it is worth, and the theta after it. */
const DECISION = "decision";
/** What the name of a measure begins with that is the difference of a derivative from one of lower order. */
const REST = "rest of ";
/** The name of the measure of a kink of the value in the rate: half of what the slope changes by. */
const BEND = "bend of rho";
/** The part of that difference that counts as an error, and the error of vega in squares of the relative move. */
const [OF_REST, OF_SQUARE] = [0.2, 3] as const;

/**
 * The moves on convolutions: of a spot and of the forward of the last date in standard deviations of the spot on the
 * first date, which smooths the value's kinks of that date; at most a part of the spot, and an absolute move of rates;
 * of a volatility relative to it, and where there is none.
 */
const MOVE = {
  spot: { deviations: 0.1, most: 0.1 },
  rate: { deviations: 0.02, most: 1e-3 },
  volatility: { relative: 0.01, fromZero: 2e-3 },
} as const;

/** The step of theta as a part of the time to the next date. */
const TIME_STEP = 0.05;

/**
 * Returns the copies and formulas for the sensitivities of rights. `size` is the number of points of a tree, or 0 where
 * values are smooth in all inputs.
 */
export function rightsDifferences(
  today: Valuation,
  size: number,
  greeks: Greeks,
  later: (years: number) => Terms | undefined,
): Differences {
  const { terms } = today;
  const { volatility } = terms.assets[0];
  const dates = datesOf(terms).filter((time) => time > 0);
  const deviationAt = (time = 0): number => Math.sqrt(varianceAt(volatility, time));
  const last = dates[dates.length - 1] ?? 0;
  const differences =
    size > 0
      ? differencesOf(today, bumpsOnTrees(today, { size, deviation: deviationAt(last) }, greeks))
      : smoothDifferences(today, { first: deviationAt(dates[0]), last: last || 1 }, greeks);
  return dates.length === 0 ? differences : withDecisions(today, differences, dates[0], later);
}

/** Returns differences of values that are smooth in all inputs. */
function smoothDifferences(
  today: Valuation,
  widths: { readonly first: number; readonly last: number },
  greeks: Greeks,
): Differences {
  const { terms, spots } = today;
  const plan = new DifferencePlan<Valuation>();
  const width = widths.first > 0 ? widths.first : 1;
  const ofSpot = Math.min(MOVE.spot.deviations * width, MOVE.spot.most) * spots[0];
  const { relative, fromZero } = MOVE.volatility;
  const both = (name: string, order: 1 | 2): readonly DerivativeByDifferences[] => [
    { name, order, moves: MOVES.FIVE },
    { name: REST + name, order, moves: order === 1 ? MOVES.CENTRAL : MOVES.AROUND },
  ];
  plan.addDerivatives(ofSpot, [...both(DELTA(0), 1), ...both(GAMMA(0), 2)], (by) => ({
    terms,
    spots: [spots[0] + by],
  }));
  if (greeks === "all") {
    const sigma = lowest(terms.assets[0].volatility);
    const size = sigma > 0 ? relative * sigma : fromZero;
    const moves = sigma > 0 ? MOVES.CENTRAL : MOVES.BEYOND;
    plan.addDerivatives(size, [{ name: VEGA(0), order: 1, moves }], (by) => ({
      terms: bumped(terms, { kind: "volatility", asset: 0, by }),
      spots,
    }));
    const rate = Math.min(MOVE.rate.most, (MOVE.rate.deviations * width) / widths.last);
    const rates = plan.addDerivatives(rate, both(RHO, 1), (by) => ({
      terms: bumped(terms, { kind: "rate", by }),
      spots,
    }));
    // The best dates may change within the move, as where a rate is zero: a fourth difference is four times the move
    // times half of what a kink changes the slope by.
    const binomial = [1, -4, -4, 1];
    plan.addFormula(BEND, [
      [UNMOVED, 1.5 / rate],
      ...rates.map((copy, i) => [copy, binomial[i] / (4 * rate)] as const),
    ]);
  }
  for (const name of [DELTA(0), GAMMA(0), RHO])
    plan.addFormula(REST + name, [...plan.weightsOf(REST + name), ...negative(plan.weightsOf(name))]);
  const ofVega = OF_SQUARE * relative ** 2;
  return {
    ...plan.movedCopies(),
    bias: (name, found) =>
      OF_REST * found(REST + name) + (name === VEGA(0) ? ofVega * found(name) : name === RHO ? found(BEND) : 0),
  };
}

const negative = (weights: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] =>
  weights.map(([copy, weight]) => [copy, -weight]);

/** Returns the name of the theta after the decision that is best today, of all measures that were found. */
export function decisionOf(found: ReadonlyMap<string, number>): string {
  const worth = (k: number): number => found.get(`${DECISION} ${k}`) ?? Number.NEGATIVE_INFINITY;
  return `${THETA} ${worth(1) > worth(0) ? 1 : 0}`;
}

/**
 * Returns the differences with those in time, one for each decision that may be taken today: a swing with a right today
 * is looked at without it, taken or not, since a difference in time is no exercise.
 */
function withDecisions(
  { terms, spots }: Valuation,
  { copies, formulas, bias }: Differences,
  next: number,
  later: (years: number) => Terms | undefined,
): Differences {
  const all = [...copies];
  const add = (own: Terms): number => all.push({ terms: own, spots });
  const years = Math.min(timeStep(terms), TIME_STEP * next);
  const times = [later(years), later(2 * years)].filter((one) => one !== undefined);
  if (times.length < 2) return { copies, formulas, bias };
  const decision = (k: number, added: number, now: number, after: readonly number[]): readonly SensitivityFormula[] => {
    const of = (name: string, byTime: readonly number[], more = {}): SensitivityFormula => {
      const weights = new Array<number>(all.length + 1).fill(0);
      [now, ...after].forEach((copy, i) => (weights[copy] += byTime[i] ?? 0));
      return { name, weights, ...more };
    };
    return [
      of(`${DECISION} ${k}`, [1], { added }),
      of(`${THETA} ${k}`, [-1.5 / years, 2 / years, -0.5 / years]),
      of(`${REST}${THETA} ${k}`, [0.5 / years, -1 / years, 0.5 / years]),
    ];
  };
  const { payoff } = terms;
  if (payoff.kind !== "swing" || payoff.times[0] > 0) {
    const after = times.map(add);
    return { copies: all, formulas: [...formulas, ...decision(0, 0, 0, after)], bias };
  }
  const { min, max } = unitsOf(terms);
  const count = payoff.times.length - 1;
  const decisions = [0, 1].flatMap((taken) => {
    const left = { min: Math.max(min - taken, 0), max: max - taken };
    if (left.min > count || left.max < 0) return [];
    const without = (own: Terms): Terms => {
      if (own.payoff.kind !== "swing") return own;
      // Later the right of today is gone by itself.
      const own_times = own.payoff.times.slice(own.payoff.times.length - count);
      return { ...own, payoff: { ...own.payoff, times: own_times, ...left } };
    };
    const gain = payoff.right === "call" ? spots[0] - payoff.strike : payoff.strike - spots[0];
    const now = add(without(terms));
    return decision(
      taken,
      taken * gain,
      now,
      times.map((one) => add(without(one))),
    );
  });
  return { copies: all, formulas: [...formulas, ...decisions], bias };
}
