/** The moves of correlations for differences, within the matrices that are valid. */
import { limitedMoves, MOVES, type MoveLimits } from "../../base/differences.ts";
import type { Terms } from "../terms.ts";
import type { Pair, Step } from "./differences.ts";

/** A move of rates, volatilities and correlations that tells the slope of a discrete solution in f64. */
export const TINY = 1e-6;

/** The moves of correlations: to both sides and to one side on grids, and on paths. */
const OF_CORRELATION = { grid: 1e-2, beside: 5e-3, path: 0.02 } as const;
/** The share of its distance to the end of its range that a correlation moves by on grids, and the least move. */
const ROOM = 0.2;
const MIN_CORRELATION = 2e-4;
/** A driver with less variance than this of its own is one of the others. */
const SINGULAR = 1e-9;

/**
 * Two moves of a correlation within what the others allow it. Values bend the more the nearer its range ends, since the
 * volatility of a spread is a root of the distance.
 */
export function correlationStep(matrix: readonly (readonly number[])[], pair: Pair, isTiny: boolean): Step {
  const { up, down } = correlationRoom(matrix, pair);
  const { grid, beside } = OF_CORRELATION;
  const limits = { least: MIN_CORRELATION, beside, share: 1 };
  const { by, side } = limitedMoves(grid, { up: ROOM * up, down: ROOM * down }, limits);
  if (side === 0 && isTiny) return { by: TINY, moves: MOVES.FORWARD };
  // At an end of the range all to the one side that there is.
  return side === 0 ? { by, moves: MOVES.CENTRAL } : { by: side * Math.max(by, MIN_CORRELATION), moves: MOVES.BEYOND };
}

/**
 * Returns the relative error that the bumps of a correlation leave in a slope: the variance of a spread, of which the
 * value is a function like a root, vanishes where its volatilities are equal and the range ends. `deviations` are those
 * of the assets' logarithms.
 */
export function correlationBias({ correlations }: Terms, pair: Pair, deviations: readonly number[]): number {
  const { by, moves } = correlationStep(correlations, pair, false);
  if (moves !== MOVES.BEYOND) return 0.01;
  return Math.max(0.01, 2 * Math.min((by / distanceToEnd(correlations, pair, deviations)) ** 2, 1));
}

/** Returns the distance of a correlation to where a spread of two assets has no variance. */
export function distanceToEnd(
  matrix: readonly (readonly number[])[],
  pair: Pair,
  deviations: readonly number[],
): number {
  const { up, down } = correlationRoom(matrix, pair);
  // An axis that is no asset's is a rate's.
  const [a, b] = pair.map((asset) => deviations[asset] ?? 0);
  return Math.min(up, down) + (a > 0 && b > 0 ? (a - b) ** 2 / (2 * a * b) : 1);
}

/** Returns how far a correlation can move up and down while the matrix stays one of correlations. */
export function correlationRoom(matrix: readonly (readonly number[])[], [i, j]: Pair): MoveLimits {
  // What the other drivers leave of the two: the Schur complement.
  const rest = matrix.map((row) => [...row]);
  matrix.forEach((_, k) => {
    if (k === i || k === j || rest[k][k] < SINGULAR) return;
    const row = [...rest[k]];
    for (const a of rest.keys()) {
      const share = rest[a][k] / row[k];
      for (const b of rest.keys()) rest[a][b] -= share * row[b];
    }
  });
  const half = Math.sqrt(Math.max(rest[i][i] * rest[j][j], 0));
  return { up: half - rest[i][j], down: half + rest[i][j] };
}

/** The distance to the ends of its range from which a correlation is smooth enough for a derivative along paths. */
const INSIDE = 1e-3;

/** Tells whether a correlation is clear of the ends of its range, where a spread has no variance. */
export function isInside({ correlations }: Terms, pair: Pair): boolean {
  const { up, down } = correlationRoom(correlations, pair);
  return Math.min(up, down) > INSIDE;
}

/** The move of a correlation on paths: towards 0, and to the other side where the others leave no room. */
export function correlationMove(matrix: readonly (readonly number[])[], pair: Pair): number {
  const room = correlationRoom(matrix, pair);
  const towards = matrix[pair[0]][pair[1]] > 0 ? "down" : "up";
  const side = room[towards] >= OF_CORRELATION.path ? towards : room.up > room.down ? "up" : "down";
  return (side === "up" ? 1 : -1) * Math.min(OF_CORRELATION.path, room[side]);
}

/** Returns the move of a correlation on paths to one side; undefined where the others leave it no room. */
export function correlationStepOnPaths(matrix: readonly (readonly number[])[], pair: Pair): Step | undefined {
  const by = correlationMove(matrix, pair);
  return Math.abs(by) < MIN_CORRELATION ? undefined : { by, moves: MOVES.FORWARD };
}
