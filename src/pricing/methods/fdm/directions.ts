/** The directions of a trade's market as moves of its one-factor problems. */
import { BookError } from "../../../base/errors.ts";
import type { Trade } from "../../../book/index.ts";
import {
  type Direction as ProblemDirection,
  hasDerivative,
  type OneFactorProblem,
  type ProblemDifference,
  totalVariance,
} from "../../../pde/fdm/index.ts";
import type { Direction } from "../../plan/directions.ts";
import { tradeProblems } from "../../trade-problem.ts";
import { lessLastDividends } from "./expiry-dividend.ts";

/** The part of its usual size by which an input that may not move to both sides moves to one. */
const TO_ONE_SIDE = 1e-3;

/** A direction with a change of its input that changes the value substantially. */
export interface ScaledDirection extends ProblemDirection {
  readonly scale: number;
}

/**
 * Returns a direction of the market as moves of a trade's problems; undefined where the scheme has no derivative by
 * what moves: nodes of a surface, and dividends that are beside barriers or in the payoff.
 */
export function problemDirection(problems: ProblemDifference, direction: Direction): ScaledDirection | undefined {
  const { size, moves } = direction;
  const isCentral = moves.some((move) => move < 0);
  const by = isCentral ? Math.abs(size) : TO_ONE_SIDE * size;
  const above = movedProblems(direction, by);
  const below = isCentral ? movedProblems(direction, -by) : problems;
  if (above === undefined || below === undefined) return undefined;
  if (![above, below].every((one) => haveDerivatives(problems, one))) return undefined;
  const [up, down] = by > 0 ? [above, below] : [below, above];
  const scale = scaleOf(direction, up.problem, down.problem);
  return { up, down, apart: Math.abs(isCentral ? 2 * by : by), scale };
}

/** Returns the problems in a moved market; undefined for a dividend in the payoff, and without a fit. */
function movedProblems({ factor, moved }: Direction, by: number): ProblemDifference | undefined {
  try {
    const own = tradeProblems(moved(by) as Trade, 0, undefined);
    const solved = lessLastDividends(own);
    const isInPayoff = solved.problem.dividends.length < own.problem.dividends.length;
    return factor === "dividend" && isInPayoff ? undefined : solved;
  } catch (error) {
    if (error instanceof BookError) return undefined;
    throw error;
  }
}

function haveDerivatives(from: ProblemDifference, to: ProblemDifference): boolean {
  const [a, b] = [from.subtracted, to.subtracted];
  if ((a === undefined) !== (b === undefined)) return false;
  return hasDerivative(from.problem, to.problem) && (a === undefined || hasDerivative(a, b!));
}

/** Half a standard deviation of what moves, over the life; of cash, of the spot. */
function scaleOf({ factor, at }: Direction, up: OneFactorProblem, down: OneFactorProblem): number {
  const deviation = Math.sqrt(totalVariance(down));
  if (factor === "volatility") return (0.5 * deviation) / Math.sqrt(down.expiry);
  if (factor !== "dividend" || at === "yield") return (0.5 * deviation) / down.expiry;
  const isCash = up.dividends.some(({ cash }, i) => cash !== down.dividends[i].cash);
  return Math.min(0.5 * deviation, 1) * (isCash ? down.spots[0] : 1);
}
