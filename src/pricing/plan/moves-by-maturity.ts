/** Moves of curves and volatilities that differ by maturity. */
import { constant, type PiecewiseConstant } from "../../market/index.ts";

/** The move at a maturity, in years from the scenario's date. */
export interface MaturityMove {
  readonly at: number;
  readonly by: number;
}

/**
 * Returns the move of forward rates by those of zero rates z at ascending maturities t, and by a parallel one. The move
 * of z·t is linear in t between maturities, as curves are; z moves as at the first one before it, and forward rates as
 * z at the last one after it.
 */
export function forwardMove(parallel: number, moves: readonly MaturityMove[]): PiecewiseConstant {
  if (moves.length === 0) return constant(parallel);
  const values = moves.map(({ at, by }, i) => {
    const before = moves[i - 1] ?? { at: 0, by: 0 };
    return parallel + (at * by - before.at * before.by) / (at - before.at);
  });
  return { times: moves.map(({ at }) => at), values: [...values, parallel + moves.at(-1)!.by] };
}

/** Returns the move at a time: linear between ascending maturities, at least one, and flat outside. */
export function moveAt(moves: readonly MaturityMove[], time: number): number {
  const after = moves.findIndex(({ at }) => time <= at);
  if (after <= 0) return moves.at(after)!.by;
  const [from, to] = [moves[after - 1], moves[after]];
  return from.by + ((to.by - from.by) * (time - from.at)) / (to.at - from.at);
}

/** Tells whether a move changes nothing. */
export const isStill = ({ values }: PiecewiseConstant): boolean => values.every((by) => by === 0);
