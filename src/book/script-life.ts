/** The life of a script: dates whose fixings are known have run, and what they decided remains. */
import { ONE_SECOND } from "../market/index.ts";
import { ALIVE, PAID } from "../market/scripts/index.ts";
import { afterDate } from "../montecarlo/index.ts";
import type { ScriptDateTerms, ScriptPayoff } from "./script-types.ts";

/**
 * Returns what is left of a script some years later. `spotsAt` returns the fixings of a date that has passed, and
 * undefined for one that is still to come. Payments before then are over, also those of passed dates.
 */
export function passScriptDates(
  payoff: ScriptPayoff,
  years: number,
  spotsAt: (date: ScriptDateTerms) => readonly number[] | undefined,
): ScriptPayoff {
  const { program, scalars, dates } = payoff;
  const owed = [...payoff.owed];
  let { running } = payoff;
  let passed = 0;
  for (const date of dates) {
    const spots = running[ALIVE] === 0 ? undefined : spotsAt(date);
    if (spots === undefined) break;
    passed++;
    const before = running;
    /** The numbers after the date; later payments count only if they are made at one site, and then in full. */
    const runWith = (site: number): readonly number[] => {
      const dated = date.dated.map((value, c) => {
        const column = program.columns[c];
        return column.kind === "delay" ? Number(column.site === site) : value;
      });
      return afterDate(program, before, { spots, scalars, dated });
    };
    const after = runWith(-1);
    owed.push({ time: date.time, amount: after[PAID], rate: undefined });
    program.columns.forEach((column, c) => {
      if (column.kind !== "delay") return;
      const { rate } = program.sites[column.site];
      const paid = runWith(column.site)[PAID] - after[PAID];
      const amount = rate === undefined ? paid : paid / spots[rate.asset] ** rate.power;
      owed.push({ time: date.dated[c], amount, rate });
    });
    running = after.map((value, k) => (k === PAID ? 0 : value));
  }
  const isOver = running[ALIVE] === 0;
  const shifted = (time: number): number => (time < years + ONE_SECOND ? 0 : time - years);
  return {
    ...payoff,
    running,
    owed: owed.flatMap((one) =>
      one.amount === 0 || one.time < years - ONE_SECOND ? [] : [{ ...one, time: shifted(one.time) }],
    ),
    dates: isOver
      ? []
      : dates.slice(passed).map(({ time, dated }) => ({
          time: shifted(time),
          dated: dated.map((value, c) => (program.columns[c].kind === "delay" ? shifted(value) : value)),
        })),
  };
}
