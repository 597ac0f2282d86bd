import { type KinkedMesh, nodesOf, placeOf } from "../mesh/mesh.ts";
import { datedCoefficients } from "./coefficients.ts";
import { type KernelVolatility, kernelVolatility } from "../operator/read-volatility.ts";
import { forwardOf } from "../time/forward.ts";
import { type Diffusion, volatilityAt } from "../problem/diffusion.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { windowOf } from "../read/window.ts";
import { Arena } from "../mesh/arena.ts";
import type { Grid } from "../mesh/grid.ts";

/**
 * A grid and a problem to be solved on it, in the form in which the solver takes them; an instance is one entry of a
 * launch.
 */
export interface Instance {
  readonly grid: Grid;
  /** The problem that is solved: that of the grid, or a shift of it. */
  readonly problem: OneFactorProblem;
  /**
   * The coefficients in the solver's layout, where they depend on time and launches compare them; undefined where they
   * are computed when the launch is prepared.
   */
  readonly coefficients: Float64Array | undefined;
  /** The variance σ²S² at each node, for the diffusion shape "table". */
  readonly variance: Float64Array | undefined;
  /** The volatility formula. Instances whose formulas differ only in literals share a launch. */
  readonly formula: KernelVolatility | undefined;
  /** The volatility surface σ(t, S) with its parallel shift. Surfaces with the same number of spots share a launch. */
  readonly surface: Extract<Diffusion, { kind: "surface" }> | undefined;
  readonly reading: Reading;
}

/**
 * The part of a solution to read: the six nodes about today's spot ("window"), the values at the other spots
 * ("points"), or both.
 */
export type Reading = "window" | "points" | "both";

/**
 * Returns the instance that solves `problem` on a grid. The problem may be a shift of the grid's own; in the forward
 * coordinate a shift has a grid of its own.
 */
export function instance(
  base: Grid,
  problem: OneFactorProblem = base.problem,
  arena = new Arena(512),
  reading: Reading = "both",
): Instance {
  const grid = base.forward === undefined || problem === base.problem ? base : movedGrid(base, problem);
  const { diffusion } = problem;
  return {
    grid,
    problem,
    coefficients: grid.time.homogeneous ? undefined : datedCoefficients({ grid, problem }, arena),
    variance: diffusion.kind === "local" ? localVariances(problem, nodesOf(grid.mesh, arena)) : undefined,
    formula: diffusion.kind === "formula" ? kernelVolatility(diffusion.sigma) : undefined,
    surface: diffusion.kind === "surface" ? diffusion : undefined,
    reading,
  };
}

/**
 * A shift of rates moves the kink of the first payoff, and its mesh. Read on the same nodes if the spot is between them
 * still, for then the difference to the base is that of the solutions alone.
 */
function movedGrid(base: Grid, problem: OneFactorProblem): Grid {
  const forward = forwardOf(problem);
  const mesh = { ...(base.mesh as KinkedMesh), kink: forward.flat.payoff.kinks[0] };
  const today = windowOf(base);
  const spot = problem.spots[0];
  const moved = Math.abs((placeOf(mesh, spot) ?? 0) - (placeOf(base.mesh, spot) ?? 0));
  return {
    ...base,
    mesh,
    forward,
    today: moved < 1 ? { ...today, stencil: undefined } : undefined,
    finer: undefined,
  };
}

/** A node at a jump of σ(S) has that of either side at this part of its price from it. */
const BESIDE = 1e-9;

/**
 * σ(S)²S² node by node; none at S = 0, where the spot stays. At a node where σ(S) jumps the cell's two halves have one
 * each, h₋ and h₊ wide, and in all (h₋ + h₊)/(h₋/σ₋² + h₊/σ₊²): time passes as the
 * reciprocal of σ² does.
 */
function localVariances({ diffusion }: OneFactorProblem, nodes: Float64Array): Float64Array {
  const jumps = diffusion.kind === "local" ? (diffusion.jumps ?? []) : [];
  const varianceAt = (spot: number): number => volatilityAt(diffusion, spot, 0) ** 2;
  const last = nodes.length - 1;
  return nodes.map((spot, i) => {
    if (spot <= 0) return 0;
    if (i === 0 || i === last || !jumps.some((jump) => Math.abs(jump - spot) < BESIDE * spot))
      return varianceAt(spot) * spot * spot;
    const [below, above] = [varianceAt(spot * (1 - 2 * BESIDE)), varianceAt(spot * (1 + 2 * BESIDE))];
    if (below === 0 || above === 0) return 0;
    const [before, after] = [Math.abs(spot - nodes[i - 1]), Math.abs(nodes[i + 1] - spot)];
    const [down, up] = nodes[i + 1] > spot ? [before, after] : [after, before];
    return ((down + up) / (down / below + up / above)) * spot * spot;
  });
}
