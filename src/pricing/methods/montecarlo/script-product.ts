/** Scripts of instances as a product of the path engine, with a column for each number. */
import { discountFactor, type PiecewiseConstant } from "../../../market/index.ts";
import { ALIVE, PAID, type Program } from "../../../market/scripts/index.ts";
import { afterDate, type PathProduct, scripted } from "../../../montecarlo/index.ts";
import type { ScriptDateTerms, ScriptPayoff } from "../../../book/index.ts";
import type { Terms } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";

/** Returns the product of instances of one program, for paths with a number of steps between dates. */
export function scriptProduct(paths: readonly SimulationInstance[], program: Program, substeps: number): PathProduct {
  const payoffs = paths.map(({ terms }) => scriptOf(terms));
  const column = (of: (payoff: ScriptPayoff, i: number) => number): Float64Array => Float64Array.from(payoffs, of);
  const carried = paths.map(({ terms, spots }) => carriedFromToday(terms, spots));
  const later = paths.map(({ terms }) =>
    scriptOf(terms)
      .dates.filter(({ time }) => time > 0)
      .map((date) => withDiscounts(program, date, terms.rates)),
  );
  return scripted({
    program,
    running: carried[0].map((_, k) => column((_one, i) => carried[i][k])),
    scalars: program.scalars.map((_, k) => column(({ scalars }) => scalars[k])),
    dated: program.columns.map((_, c) => later[0].map((_date, k) => column((_one, i) => later[i][k][c]))),
    substeps,
  });
}

/** Returns what a script is worth where no later date decides any more; undefined where one does. */
export function knownOfScript(terms: Terms, spots: readonly number[]): number | undefined {
  const { dates } = scriptOf(terms);
  const carried = carriedFromToday(terms, spots);
  return carried[ALIVE] === 0 || dates.every(({ time }) => time <= 0) ? carried[PAID] : undefined;
}

function scriptOf({ payoff }: Terms): ScriptPayoff {
  if (payoff.kind === "script") return payoff;
  throw new Error(`no script of a ${payoff.kind}`);
}

/** The carried numbers after today's events; what is paid are the discounted payments that are known. */
function carriedFromToday(terms: Terms, spots: readonly number[]): readonly number[] {
  const { program, running, owed, dates, scalars } = scriptOf(terms);
  const due = owed.reduce((sum, { time, amount }) => sum + amount * discountFactor(terms.rates, Math.max(time, 0)), 0);
  let carried: readonly number[] = running.map((value, k) => (k === PAID ? due : value));
  for (const date of dates) {
    if (date.time > 0) break;
    carried = afterDate(program, carried, { spots, scalars, dated: withDiscounts(program, date, terms.rates) });
  }
  return carried;
}

/** The numbers of a date, with the discount factors from it to later payments in place of their times. */
const withDiscounts = ({ columns }: Program, { time, dated }: ScriptDateTerms, rates: PiecewiseConstant) =>
  dated.map((value, c) =>
    columns[c].kind === "delay"
      ? discountFactor(rates, Math.max(value, 0)) / discountFactor(rates, Math.max(time, 0))
      : value,
  );
