import { WINDOW } from "./interpolation.ts";
import type { Grid } from "./lane.ts";
import type { LaneValues } from "./launch.ts";

/** The solution at one spot. */
export interface PointValue {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  /** Whether exercise is optimal at once: the value is then the payoff. */
  readonly exercised: boolean;
}

/** Reads window `w` of a lane's values at the grid's w-th spot; `rounding` is the relative rounding of the values. */
export function pointValue(grid: Grid, values: LaneValues, w: number, rounding: number): PointValue {
  const stencil = grid.stencils[w];
  const { obstacle, problem } = grid;
  if (
    stencil === undefined ||
    (obstacle !== undefined && onObstacle(stencil.first, values, w, obstacle, rounding * problem.spots[0]))
  ) {
    return exercisedNow(grid, w);
  }
  let [value, delta, gamma] = [0, 0, 0];
  for (let k = 0; k < WINDOW; k++) {
    const v = values[w * WINDOW + k];
    value += stencil.value[k] * v;
    delta += stencil.delta[k] * v;
    gamma += stencil.gamma[k] * v;
  }
  if (obstacle !== undefined) value = Math.max(value, problem.payoff.exercised(problem.spots[w]));
  return { value, delta, gamma, exercised: false };
}

/** Whether the two nodes about the spot, and a payoff worth something there, say that exercise is optimal. */
function onObstacle(first: number, values: LaneValues, w: number, obstacle: Float64Array, tolerance: number): boolean {
  return [2, 3].every((k) => {
    const payoff = obstacle[first + k];
    return payoff > 0 && values[w * WINDOW + k] <= payoff + tolerance;
  });
}

function exercisedNow({ problem }: Grid, w: number): PointValue {
  const { payoff } = problem;
  const spot = problem.spots[w];
  const bump = 1e-5 * spot;
  const here = payoff.exercised(spot);
  return {
    value: here,
    delta: (payoff.exercised(spot + bump) - payoff.exercised(spot - bump)) / (2 * bump),
    gamma: 0,
    exercised: true,
  };
}
