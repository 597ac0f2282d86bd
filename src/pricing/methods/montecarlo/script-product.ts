/** Scripts of instances as a product of the path engine, with a column for each number. */
import { discountFactor, integrate, type PiecewiseConstant } from "../../../market/index.ts";
import { ALIVE, type Conversion, PAID, type Program } from "../../../market/scripts/index.ts";
import { afterDate, type Basis, type PathProduct, scripted } from "../../../montecarlo/index.ts";
import type { ScriptDateTerms, ScriptPayoff } from "../../../book/index.ts";
import { curvesOf, type Terms } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";

/**
 * Returns the product of instances of one program, for paths with a number of steps between dates. `reads` has the
 * index of the carried number of which the mean is wanted, in place of what is paid.
 */
export function scriptProduct(
  paths: readonly SimulationInstance[],
  program: Program,
  substeps: number,
  reads?: Float64Array,
): PathProduct {
  const payoffs = paths.map(({ terms }) => scriptOf(terms));
  const column = (of: (payoff: ScriptPayoff, i: number) => number): Float64Array => Float64Array.from(payoffs, of);
  const carried = paths.map(({ terms, spots }) => carriedFromToday(terms, spots));
  const later = paths.map(({ terms }) =>
    scriptOf(terms)
      .dates.filter(({ time }) => time > 0)
      .map((date) => withDiscounts(terms, date)),
  );
  return scripted({
    program,
    running: carried[0].map((_, k) => column((_one, i) => carried[i][k])),
    scalars: program.scalars.map((_, k) => column(({ scalars }) => scalars[k])),
    dated: program.columns.map((_, c) => later[0].map((_date, k) => column((_one, i) => later[i][k][c]))),
    substeps,
    ...(reads === undefined ? {} : { reads }),
  });
}

/** Returns what a script is worth where no later date decides any more; undefined where one does. */
export function knownOfScript(terms: Terms, spots: readonly number[]): number | undefined {
  const { dates } = scriptOf(terms);
  const carried = carriedFromToday(terms, spots);
  if (carried[ALIVE] !== 0 && dates.some(({ time }) => time > 0)) return undefined;
  const today = rightToday(terms, spots);
  return today === undefined || today.side * (today.stopped - carried[PAID]) <= 0 ? carried[PAID] : today.stopped;
}

/** Returns an early right of today: whose it is, as in `EarlyRight`, and what the script is worth if it is used. */
export function rightToday(
  terms: Terms,
  spots: readonly number[],
): { readonly side: number; readonly stopped: number } | undefined {
  const { rightAt } = scriptOf(terms).program;
  if (rightAt === undefined) return undefined;
  const carried = carriedFromToday(terms, spots);
  return carried[rightAt] === 0 ? undefined : { side: carried[rightAt], stopped: carried[rightAt + 1] };
}

/**
 * Returns what the value of going on is regressed on: the spots, the states, and the spots of the last event where the
 * script reads them. Spots of several underlyings are compared by their performances since the start, in order.
 */
export function scriptBasis({ states, initialAt, lastAt, letters }: Program, assets: number): Basis {
  const indices = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, k) => from + k);
  const carried = states.flatMap(({ at, count }) => indices(at, count));
  const running = lastAt === undefined ? carried : [...carried, ...indices(lastAt, letters.length)];
  // Exchange rates have no performance.
  if (initialAt === undefined || letters.length === 1 || assets > letters.length) return { kind: "auto", running };
  return { kind: "auto", running, relativeTo: initialAt, order: "descending" };
}

function scriptOf({ payoff }: Terms): ScriptPayoff {
  if (payoff.kind === "script") return payoff;
  throw new Error(`no script of a ${payoff.kind}`);
}

/** Returns the carried numbers after today's events; what is paid are the discounted payments that are known. */
export function carriedFromToday(terms: Terms, spots: readonly number[]): readonly number[] {
  const { program, running, owed, dates, scalars } = scriptOf(terms);
  const due = owed.reduce((sum, { time, amount, rate }) => {
    const spot = rate === undefined ? 1 : spots[rate.asset] ** rate.power;
    return sum + amount * spot * paidFrom(terms, rate, 0, time);
  }, 0);
  let carried: readonly number[] = running.map((value, k) => (k === PAID ? due : value));
  for (const date of dates) {
    if (date.time > 0) break;
    carried = afterDate(program, carried, { spots, scalars, dated: withDiscounts(terms, date) });
  }
  return carried;
}

/** The numbers of a date, with the discount factors from it to later payments in place of their times. */
function withDiscounts(terms: Terms, { time, dated }: ScriptDateTerms): readonly number[] {
  const { columns, sites } = scriptOf(terms).program;
  return dated.map((value, c) => {
    const column = columns[c];
    return column.kind === "delay" ? paidFrom(terms, sites[column.site].rate, time, value) : value;
  });
}

/**
 * The discount factor from a date to that of a payment, in its currency. A spot is delivered some days later, so that
 * one of another currency is worth it at the rates of both until then.
 */
function paidFrom(terms: Terms, rate: Conversion | undefined, from: number, to: number): number {
  const [start, end] = [Math.max(from, 0), Math.max(to, 0)];
  const between = (curve: PiecewiseConstant, a: number, b: number): number => integrate(curve, b) - integrate(curve, a);
  if (rate === undefined) return discountFactor(terms.rates, end) / discountFactor(terms.rates, start);
  const { own, other } = curvesOf(terms.assets, rate);
  const delivered = start + terms.assets[rate.asset].underlying.pair!.lag;
  const days = between(own, start, delivered) - between(other, start, delivered);
  return Math.exp(-days - between(other, start, end) - terms.rateMove * (end - start));
}
