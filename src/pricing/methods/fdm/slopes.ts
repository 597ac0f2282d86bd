import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import {
  type AdaptiveBatch,
  largestDifferentiated,
  largestNodes,
  needsItems,
  type OneFactorProblem,
  type ProblemDifference,
  shiftedDifference,
  Slopes,
} from "../../../pde/fdm/index.ts";
import { movesOnMeshes } from "../../plan/bump-sizes.ts";

/** Finer meshes round more: in f32 they would be worse. */
const MAX_NODES_F32 = 257;

/** Returns the largest number of nodes that a mesh of a trade may have. */
export function maxNodesOf(device: Device, precision: Precision, problem: OneFactorProblem, inItems: boolean): number {
  const max = largestNodes(device, precision, schemeOf(problem), inItems ? ["item"] : undefined);
  return precision === "f32" ? Math.min(max, MAX_NODES_F32) : max;
}

/** The exercise scheme that takes the most memory of those that a problem may be solved by. */
function schemeOf({ american, exerciseTimes, knockIns }: OneFactorProblem): "policy" | "dates" | "none" {
  return american || knockIns !== undefined ? "policy" : exerciseTimes !== undefined ? "dates" : "none";
}

/** The inputs in whose directions slopes are told, and their numbers. */
const INPUTS = ["volatility", "rate"] as const;
/** The number of vega among the slopes of a trade. */
export const VEGA = 0;
/** The number of rho. */
export const RHO = 1;

/**
 * Returns vega and rho of a trade, whose first pair of solutions has the pool index `pairs`. Where rounding allows they
 * are told by two moved solutions on the same mesh, which take less time than one that goes back through its steps. In
 * f32 it goes back, but where a trade waits to be knocked in, or where the device has no room for items of this size,
 * which alone go back: moves are wide there, and error estimates say so.
 */
export function vegaAndRho(
  batch: AdaptiveBatch,
  problems: ProblemDifference,
  pairs: number,
  device: Device,
  { precision, tellsErrors }: { readonly precision: Precision; readonly tellsErrors: boolean },
): Slopes {
  const { problem } = problems;
  const { mesh, scheme } = batch.pool.instance(pairs).grid;
  const goesBack =
    precision === "f32" && !needsItems(problem) && mesh.count <= largestDifferentiated(device, precision, scheme);
  const isWide = precision === "f32" && !goesBack;
  const sizes = movesOnMeshes(problem, goesBack ? "derivatives" : isWide ? "f32" : "solutions");
  const directions = INPUTS.map((input) => {
    const size = sizes[input];
    const by = (move: number) => shiftedDifference(problems, { volatility: 0, rate: 0, [input]: move });
    return isWide ? { up: by(size), down: by(-size), apart: 2 * size } : { up: by(size), down: problems, apart: size };
  });
  return new Slopes(batch, pairs, problems, directions, { moves: !goesBack, tellsErrors });
}
