import { type KinkedMesh, nodesOf, nodePositionOf } from "../mesh/mesh.ts";
import { datedCoefficients, dividendReals, eventReals, type InstanceProblem } from "./coefficients.ts";
import {
  blockReals,
  coefficientReals,
  type KernelVolatility,
  kernelVolatility,
  putSurfaceBlock,
} from "../operator/coefficients.ts";
import { forwardOf } from "../time/forward.ts";
import { type Diffusion, volatilityAt } from "../problem/diffusion.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { windowOf } from "../read/solution.ts";
import { Arena } from "../mesh/pinned-mesh.ts";
import type { Grid } from "../mesh/grid.ts";
import type { LocalSurface } from "../../../market/index.ts";
import { BARRIERS, DIVIDEND, REFACTOR, SECOND_FACTORS, type TimeGrid } from "../time/time-grid.ts";

/**
 * A problem and the grid on which it is to be solved, as the solver takes them. An instance is one entry of a launch.
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
  readonly reading: SolutionPart;
  /** True where the value at today's spot is differentiated by the inputs of the scheme, too. */
  readonly differentiated: boolean;
}

/**
 * The part of a solution that is read: the six nodes about today's spot ("window"), the values at the other spots
 * ("points"), or both.
 */
export type SolutionPart = "window" | "points" | "both";

/**
 * Returns the instance in which `problem` is solved on `grid`. The problem may be a shift of the problem for which the
 * grid was made, except in the forward coordinate, where each shift needs its own grid.
 */
export function instance(
  base: Grid,
  problem: OneFactorProblem = base.problem,
  arena = new Arena(512),
  reading: SolutionPart = "both",
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
    differentiated: false,
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
  const moved = Math.abs((nodePositionOf(mesh, spot) ?? 0) - (nodePositionOf(base.mesh, spot) ?? 0));
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
 * Returns σ(S)²S² node by node; none at S = 0, where the spot stays. At a node where σ(S) jumps the cell's two halves
 * have one each, h₋ and h₊ wide, and in all (h₋ + h₊)/(h₋/σ₋² + h₊/σ₊²): time passes as the reciprocal of σ² does.
 */
export function localVariances({ diffusion }: OneFactorProblem, nodes: Float64Array): Float64Array {
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

/** The volatility surfaces of a launch in the layout of `readSurface`, for launches with `pitch` columns. */
export interface SurfaceTable {
  /** Returns the number of reals of the table. */
  readonly words: (pitch: number) => number;
  readonly fill: (into: Float64Array | Float32Array, pitch: number) => void;
}

/**
 * Returns the surface table of instances that have the same pattern of steps and surfaces with equally many spots.
 * Instances that share dates, surface and spot share a block.
 */
export function surfaceTable(instances: readonly Instance[]): SurfaceTable {
  const [first] = instances;
  const size = blockReals(surfaceOf(first), first.grid.time.factorisations);
  /** The first instance of each block. */
  const different: Instance[] = [];
  const blocks = instances.map((instance) => {
    const { time, problem } = instance.grid;
    const found = different.findIndex(
      (one) =>
        surfaceOf(one) === surfaceOf(instance) &&
        one.grid.problem.spots[0] === problem.spots[0] &&
        isSameTime(one.grid.time, time),
    );
    return found < 0 ? different.push(instance) - 1 : found;
  });
  return {
    words: (pitch) => 2 * pitch + 2 + different.length * size,
    fill(into, pitch) {
      instances.forEach(({ surface }, l) => {
        into[l] = blocks[l];
        into[pitch + l] = surface?.shift ?? 0;
      });
      into[2 * pitch] = surfaceOf(first).spots.length;
      into[2 * pitch + 1] = size;
      different.forEach((instance, i) => {
        const { problem, time } = instance.grid;
        putSurfaceBlock(into, 2 * pitch + 2 + i * size, { surface: surfaceOf(instance), spot: problem.spots[0] }, time);
      });
    },
  };
}

/** Tells whether grids of one pattern of steps have the same steps. */
const isSameTime = (a: TimeGrid, b: TimeGrid): boolean =>
  a === b || (a.clock === b.clock && a.dates.every((date, i) => date === b.dates[i]));

const surfaceOf = ({ surface }: Instance): LocalSurface => surface!.surface;

/** The number of rows of coefficients a step has, by what its flag says. */
function rowsOf(flag: number, perFactorisation: number, perBarrierDate: number, perDividend: number): number {
  return (
    ((flag & REFACTOR) !== 0 ? perFactorisation : 0) +
    ((flag & BARRIERS) !== 0 ? perBarrierDate : 0) +
    ((flag & DIVIDEND) !== 0 ? perDividend : 0)
  );
}

function perBarrierDate({ grid }: Instance): number {
  return eventReals(grid.problem);
}

function perFactorisation({ grid }: Instance): number {
  return coefficientReals(grid.problem.diffusion.kind === "formula");
}

/**
 * Returns the flags of the time steps. `REFACTOR` is cleared where the factorisation would equal the previous one in
 * every instance.
 */
export function neededFlags(instances: readonly Instance[]): Int32Array {
  const { time } = instances[0].grid;
  const rows = perFactorisation(instances[0]);
  if (time.homogeneous || instances[0].formula !== undefined || instances[0].surface !== undefined) return time.flags;
  const barrierRows = perBarrierDate(instances[0]);
  let [row, before] = [barrierRows, -1];
  return time.flags.map((flag, step) => {
    // After a date of barriers other nodes are cut off.
    const cut = step > 0 && (time.flags[step - 1] & BARRIERS) !== 0;
    const repeats =
      before >= 0 && !cut && instances.every(({ coefficients }) => sameRows(coefficients as Float64Array, before, row));
    before = row;
    row += rowsOf(flag, rows, barrierRows, dividendReals(instances[0].grid.problem));
    return repeats ? flag & ~REFACTOR : flag;
  });
}

function sameRows(coefficients: Float64Array, before: number, row: number): boolean {
  for (let k = 0; k < 4; k++) if (coefficients[before + k] !== coefficients[row + k]) return false;
  return true;
}

/**
 * Returns the indices of the coefficients that a launch with the given step flags reads of an instance; undefined for
 * an instance without time-dependent coefficients.
 */
export function keptRows(instance: Instance, flags: Int32Array): readonly number[] | undefined {
  if (instance.coefficients === undefined) return undefined;
  const barrierRows = perBarrierDate(instance);
  const kept = Array.from({ length: barrierRows }, (_, k) => k);
  let row = barrierRows;
  instance.grid.time.flags.forEach((flag, step) => {
    const own = (flag & REFACTOR) !== 0 ? perFactorisation(instance) : 0;
    const count = rowsOf(flag, own, barrierRows, dividendReals(instance.grid.problem));
    const read = (flags[step] & REFACTOR) === 0 ? 0 : own;
    for (let k = 0; k < count; k++) if (k < read || k >= own) kept.push(row + k);
    row += count;
  });
  return kept;
}

/**
 * Returns the step flags of a time-homogeneous solver that keeps two factorisations (`SolverVariant`): REFACTOR where
 * it makes one, replacing the less recently used, and SECOND_FACTORS where a step uses the second. This pays where
 * dates are a month apart, because the intervals between them have few different lengths, so that their matrices recur.
 *
 * A factorisation is reused only if h is equal to the bit in all instances (`TimeGrid.factored`). It is never reused
 * where a barrier is monitored between dates, because the live nodes and held values change from interval to interval.
 */
export function flagsOfKept(instances: readonly InstanceProblem[]): Int32Array {
  const times = new Set<TimeGrid>();
  for (const { grid } of instances) times.add(grid.time);
  const [{ flags }] = times;
  const hasBarrier = instances[0].problem.barriers !== undefined; // as all instances of a launch are
  if (hasBarrier && instances.some(isMonitoredBetweenDates)) return flags;
  const all = [...times];
  const isSame = (a: number, b: number): boolean => all.every(({ factored }) => factored[3 * a] === factored[3 * b]);
  const kept: number[] = []; // by place, which factorisation
  let place = 1;
  let factorisation = -1;
  let isAnyKept = false;
  const needs = flags.map((flag) => {
    let needed = flag;
    if ((flag & REFACTOR) !== 0) {
      factorisation++;
      const found = kept.findIndex((one) => isSame(one, factorisation));
      place = found < 0 ? 1 - place : found;
      if (found < 0) kept[place] = factorisation;
      else {
        needed &= ~REFACTOR;
        isAnyKept = true;
      }
    }
    return place === 1 ? needed | SECOND_FACTORS : needed;
  });
  // In one place factors stay nearer.
  return isAnyKept ? needs : flags;
}

const isMonitoredBetweenDates = ({ problem }: InstanceProblem): boolean =>
  problem.barriers?.some(({ times }) => times === undefined) ?? false;
