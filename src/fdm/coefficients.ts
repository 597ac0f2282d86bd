import { integrate, type PiecewiseConstant } from "../market/index.ts";
import type { DiscreteDividend } from "../market/index.ts";
import { putBarriers } from "./barrier-rows.ts";
import type { Mesh } from "./mesh.ts";
import type { OneFactorProblem } from "./problem.ts";
import { putKnockIns } from "./knock-in-rows.ts";
import type { Rows } from "./rows.ts";
import { BARRIERS, barrierWords, coefficientWords, DIVIDEND, knockInWords, REFACTOR } from "./solver/index.ts";
import type { TimeGrid } from "./time-grid.ts";

/** How many rows of coefficients a lane has; `steady`: see `putCoefficients`. */
export function coefficientCount(
  { factorisations, dividends, barrierDates }: TimeGrid,
  problem: OneFactorProblem,
  steady = false,
): number {
  const words = coefficientWords(problem.diffusion.kind === "formula");
  const rates = steady ? words + factorisations - 1 : words * factorisations;
  return rates + 2 * dividends + (barrierDates + 1) * eventWords(problem);
}

/**
 * Puts a lane's rows of coefficients, as the solver reads them: h, h·σ², h·(r − q), h·r at each factorisation, with exact means of the
 * rates and of σ² over the step, what barriers knock out, and what a dividend leaves of the spot. `steady`: h alone after the first factorisation
 * (`SolverVariant`).
 */
export function putCoefficients(
  rows: Rows,
  time: TimeGrid,
  mesh: Mesh,
  problem: OneFactorProblem,
  steady = false,
): void {
  const { steps, flags, eventful, dates, factored } = time;
  const barred = eventWords(problem) > 0;
  // Barriers speak at expiry, too.
  if (barred) putEvent(rows, problem, mesh, dates[dates.length - 1], dates[dates.length - 2]);
  const putFactorisation = time.homogeneous ? putConstant : putMeans;
  let next = 0;
  for (const i of eventful) {
    const flag = flags[i];
    if ((flag & REFACTOR) !== 0) {
      if (steady && next > 0) rows.put(factored[next]);
      else putFactorisation(rows, problem, factored[next], factored[next + 1], factored[next + 2]);
      next += 3;
    }
    if ((flag & (BARRIERS | DIVIDEND)) === 0) continue;
    const { segment } = steps[i];
    if (barred && (flag & BARRIERS) !== 0) putEvent(rows, problem, mesh, dates[segment], dates[segment - 1]);
    if ((flag & DIVIDEND) !== 0) {
      const { proportional, cash } = time.events[segment - 1].dividend as DiscreteDividend;
      rows.put(1 - proportional);
      rows.put(cash / problem.spots[0]);
    }
  }
}

/** Words at an event of a problem with barriers, and at expiry; 0 without any. */
export function eventWords({ barriers, knockIns }: OneFactorProblem): number {
  const count = barriers?.length ?? 0;
  return barrierWords(count) + knockInWords(count, knockIns?.levels.length ?? 0);
}

function putEvent(rows: Rows, problem: OneFactorProblem, mesh: Mesh, time: number, before: number): void {
  if (problem.knockIns !== undefined) putKnockIns(rows, problem, mesh, time, before);
  if (problem.barriers !== undefined) putBarriers(rows, problem, mesh, time, before);
}

/** Of rates and volatility that are the same at all times. */
function putConstant(rows: Rows, { rates, diffusion, dividendYield }: OneFactorProblem, h: number): void {
  const rate = h * rates.values[0];
  rows.put(h);
  rows.put(diffusion.kind === "deterministic" ? h * square(diffusion.sigma.values[0]) : h);
  rows.put(rate - h * dividendYield);
  rows.put(rate);
}

function putMeans(
  rows: Rows,
  { rates, diffusion, dividendYield }: OneFactorProblem,
  h: number,
  from: number,
  to: number,
): void {
  const rate = h * mean(rates, from, to, false);
  rows.put(h);
  rows.put(diffusion.kind === "deterministic" ? h * mean(diffusion.sigma, from, to, true) : h);
  rows.put(rate - h * dividendYield);
  rows.put(rate);
  if (diffusion.kind !== "formula") return;
  rows.put((diffusion.start ?? 0) + 0.5 * (from + to));
  rows.put(diffusion.shift);
}

const square = (x: number): number => x * x;

/** The mean of f, or of f², over (from, to): exactly a piece's own value where that lies in one piece. */
function mean(f: PiecewiseConstant, from: number, to: number, squared: boolean): number {
  const { times, values } = f;
  let piece = 0;
  while (piece < times.length && times[piece] < to) piece++;
  if (piece === 0 || times[piece - 1] <= from) return squared ? square(values[piece]) : values[piece];
  const g = squared ? square : undefined;
  return (integrate(f, to, g) - integrate(f, from, g)) / (to - from);
}
