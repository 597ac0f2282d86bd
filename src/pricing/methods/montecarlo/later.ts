/** A path a day later. */
import type { Payoff } from "../../../book/index.ts";
import { DAY } from "../../plan/bump-sizes.ts";
import type { Terms } from "../../terms.ts";
import type { Path } from "./acceptance.ts";

/** Years that stand for none: the date of a fixing that is passed a day later, whose spot is today's. */
const MOMENT = 1e-9;

/** Returns the terms a day later with as many dates as today, so that its paths use the same random numbers. */
export function onLaterDates(terms: Terms, later: Terms, dates: readonly number[]): Pick<Path, "terms" | "dates"> {
  const earlier = dates.map((date, k) => Math.max(date - DAY, (k + 1) * MOMENT));
  const { barriers, exercise } = terms;
  return {
    terms: { ...later, barriers, exercise, payoff: laterPayoff(terms.payoff, later.payoff, earlier) },
    dates: earlier,
  };
}

/** Fixings that pass within the day are still among the dates. */
function laterPayoff(payoff: Payoff, later: Payoff, dates: readonly number[]): Payoff {
  if (payoff.kind === "average" && payoff.times !== "continuous") return payoff;
  if (payoff.kind !== "lookback" || later.kind !== "lookback") return later;
  if (payoff.times !== "continuous") return payoff;
  return payoff.from > 0 ? { ...payoff, from: dates[0] } : later;
}
