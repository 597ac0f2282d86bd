import { integrate, type PiecewiseConstant } from "../market/index.ts";
import type { DiscreteDividend } from "../market/index.ts";
import type { Arena } from "./arena.ts";
import { barrierRow } from "./barrier-rows.ts";
import type { Mesh } from "./mesh.ts";
import type { OneFactorProblem } from "./problem.ts";
import { knockInRow } from "./knock-in-rows.ts";
import { BARRIERS, barrierWords, coefficientWords, DIVIDEND, knockInWords, REFACTOR } from "./solver/index.ts";
import type { TimeGrid } from "./time-grid.ts";

/**
 * A lane's rows of coefficients, as the solver reads them: h, h·σ², h·(r − q), h·r at each factorisation, with exact means of the
 * rates and of σ² over the step, what barriers knock out, and what a dividend leaves of the spot.
 */
export function coefficientRows(time: TimeGrid, mesh: Mesh, problem: OneFactorProblem, arena: Arena): Float64Array {
  const { rates, diffusion, dividendYield } = problem;
  const { steps, flags, eventful, dates, factored } = time;
  const isFormula = diffusion.kind === "formula";
  const words = eventWords(problem);
  const rows = arena.take(
    time.factorisations * coefficientWords(isFormula) +
      2 * time.dividends +
      (words === 0 ? 0 : words * (time.barrierDates + 1)),
  );
  let row = 0;
  // Barriers speak at expiry, too.
  if (words > 0) row = eventRow(rows, row, problem, mesh, dates[dates.length - 1], dates[dates.length - 2]);
  const steadyRate = time.homogeneous ? rates.values[0] : undefined;
  const steadyVariance =
    time.homogeneous && diffusion.kind === "deterministic" ? square(diffusion.sigma.values[0]) : undefined;
  let next = 0;
  for (const i of eventful) {
    const flag = flags[i];
    if ((flag & REFACTOR) !== 0) {
      const h = factored[next++];
      const from = factored[next++];
      const to = factored[next++];
      const rate = h * (steadyRate ?? mean(rates, from, to, false));
      rows[row++] = h;
      rows[row++] =
        diffusion.kind === "deterministic" ? h * (steadyVariance ?? mean(diffusion.sigma, from, to, true)) : h;
      rows[row++] = rate - h * dividendYield;
      rows[row++] = rate;
      if (isFormula) {
        rows[row++] = (diffusion.start ?? 0) + 0.5 * (from + to);
        rows[row++] = diffusion.shift;
      }
    }
    if ((flag & (BARRIERS | DIVIDEND)) === 0) continue;
    const { segment } = steps[i];
    if (words > 0 && (flag & BARRIERS) !== 0)
      row = eventRow(rows, row, problem, mesh, dates[segment], dates[segment - 1]);
    if ((flag & DIVIDEND) !== 0) {
      const { proportional, cash } = time.events[segment - 1].dividend as DiscreteDividend;
      rows[row++] = 1 - proportional;
      rows[row++] = cash / problem.spots[0];
    }
  }
  return rows;
}

/** Words at an event of a problem with barriers, and at expiry; 0 without any. */
export function eventWords({ barriers = [], knockIns }: OneFactorProblem): number {
  return barrierWords(barriers.length) + knockInWords(barriers.length, knockIns?.levels.length ?? 0);
}

function eventRow(
  rows: Float64Array,
  row: number,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
  before: number,
): number {
  const next = problem.knockIns === undefined ? row : knockInRow(rows, row, problem, mesh, time, before);
  return problem.barriers === undefined ? next : barrierRow(rows, next, problem, mesh, time, before);
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
