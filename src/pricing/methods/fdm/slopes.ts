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
import type { Measured } from "../../columns/result-columns.ts";
import { movesOnMeshes } from "../../plan/bump-sizes.ts";
import type { Direction } from "../../plan/directions.ts";
import { problemDirection, type ScaledDirection } from "./directions.ts";

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

/** The slopes of a trade's value: vega, rho, and those along directions of its market. */
export class TradeSlopes {
  /** Vega and rho first, then those along directions. */
  readonly slopes: Slopes;
  /** The directions; undefined for one that is left to moved copies of the trade. */
  readonly #along: readonly (ScaledDirection | undefined)[];

  /**
   * Names what has to be solved for a trade whose first pair of solutions has the pool index `pairs`. Where rounding
   * allows, vega and rho are told by two moved solutions on the same mesh, which take less time than one that goes back
   * through its steps. In f32, and with directions, it goes back, but where a trade waits to be knocked in, or where
   * the device has no room for items of this size, which alone go back: in f32 moves are wide there, and error
   * estimates say so.
   */
  constructor(
    batch: AdaptiveBatch,
    problems: ProblemDifference,
    pairs: number,
    device: Device,
    { precision, tellsErrors }: { readonly precision: Precision; readonly tellsErrors: boolean },
    wanted: readonly Direction[],
  ) {
    const { problem } = problems;
    const { mesh, scheme } = batch.pool.instance(pairs).grid;
    const hasRoom = !needsItems(problem) && mesh.count <= largestDifferentiated(device, precision, scheme);
    const along = hasRoom ? wanted.map((direction) => problemDirection(problems, direction)) : [];
    const further = along.filter((direction) => direction !== undefined);
    const goesBack = hasRoom && (precision === "f32" || further.length > 0);
    const isWide = precision === "f32" && !goesBack;
    const sizes = movesOnMeshes(problem, goesBack ? "derivatives" : isWide ? "f32" : "solutions");
    const parallel = INPUTS.map((input) => {
      const size = sizes[input];
      const by = (move: number) => shiftedDifference(problems, { volatility: 0, rate: 0, [input]: move });
      return isWide
        ? { up: by(size), down: by(-size), apart: 2 * size }
        : { up: by(size), down: problems, apart: size };
    });
    this.#along = along;
    this.slopes = new Slopes(batch, pairs, problems, [...parallel, ...further], { moves: !goesBack, tellsErrors });
  }

  /** Returns the slopes along the directions, with their errors given that of the value. */
  along(estimate: number): readonly (Measured | undefined)[] {
    let k = INPUTS.length;
    return this.#along.map((direction) => {
      if (direction === undefined) return undefined;
      const [value, error] = [this.slopes.slope(k), this.slopes.error(k, estimate, direction.scale)];
      k++;
      return { value, error };
    });
  }
}
