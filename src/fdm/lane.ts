import { SpecError } from "../errors.ts";
import type { PayoffProfile } from "../products/index.ts";
import { Arena } from "./arena.ts";
import { coefficientRows } from "./coefficients.ts";
import { barrierDomain } from "./barrier-domain.ts";
import { aliveBetween, isKnockedIn, isWatched, knockedOutBy, liveSideOf, waitingBetween } from "./barriers.ts";
import { dividendDomain, hasLargeDividends } from "./dividend-domain.ts";
import { domain } from "./domain.ts";
import { type Stencil, WINDOW, windowStart } from "./interpolation.ts";
import { cellOf, coarser, isBeyond, type Mesh, mesh, nodeAt, nodesOf } from "./mesh.ts";
import { pinnedMesh } from "./pinned-mesh.ts";
import { type Diffusion, type OneFactorProblem, volatilityAt } from "./problem.ts";
import { timesOf } from "./problem-times.ts";
import type { ExerciseScheme, SolverVariant } from "./solver/index.ts";
import type { TimeGrid } from "./time-grid.ts";

/** How finely to solve. */
export interface Resolution {
  /** Nodes, 4k + 1. */
  readonly nodes: number;
  /** Time steps, even. */
  readonly steps: number;
}

/** A mesh with everything that does not depend on a shift of volatility or rates. */
export interface Grid {
  readonly problem: OneFactorProblem;
  readonly mesh: Mesh;
  /** Node by node; undefined where mesh and payoff have closed forms, which the device then makes. */
  readonly table: Table | undefined;
  /** Whether the first node is certain to be exercised. */
  readonly fixed: boolean;
  readonly scheme: ExerciseScheme;
  readonly time: TimeGrid;
  readonly today: TodaysWindow;
  /** Lanes of one key and one time grid run in one launch. */
  readonly key: string;
}

/** How today's spot is read, filled in when it first is: the same for all lanes of a grid. */
export interface TodaysWindow {
  isKnown: boolean;
  /** Its first node; undefined where the spot is knocked out, or beyond the mesh, in the exercise region. */
  first: number | undefined;
  stencil: Stencil | undefined;
}

/** What a grid looks like node by node. */
export interface Table {
  readonly nodes: Float64Array;
  /** V(S, T), averaged over cells that hold a kink. */
  readonly initial: Float64Array;
  /** `initial` itself where the two are one function; undefined without early exercise. */
  readonly obstacle: Float64Array | undefined;
}

/** One work item: a grid, and the coefficients of its time steps. */
export interface Lane {
  readonly grid: Grid;
  /** Rows as the solver reads them. */
  readonly coefficients: Float64Array;
  /** σ²S² by node, for the shape "table". */
  readonly variance: Float64Array | undefined;
  readonly formula: SolverVariant["volatility"];
  /** σ(t, S) on a grid, with its parallel move; lanes of one surface share a launch. */
  readonly surface: Extract<Diffusion, { kind: "surface" }> | undefined;
  readonly reading: Reading;
}

/** What is read of a solution: the window of today's spot, the values at the other spots (`points`), or both. */
export type Reading = "window" | "points" | "both";

/** The fine grid of a problem and the coarse one that its error is judged by: every second node, half the time steps. */
export function grids(
  problem: OneFactorProblem,
  resolution: Resolution,
  arena = new Arena(4096),
): readonly [Grid, Grid] {
  const { fine, fixed } = fineMesh(problem, resolution.nodes, arena);
  return gridsOn(problem, fine, resolution, arena, fixed);
}

/** The fine one alone, for a value without an error estimate. */
export function fineGrid(problem: OneFactorProblem, { nodes, steps }: Resolution, arena = new Arena(4096)): Grid {
  const { fine, fixed } = fineMesh(problem, nodes, arena);
  return grid(problem, fine, steps / 2, 2, fixed, arena);
}

function fineMesh(problem: OneFactorProblem, count: number, arena: Arena): { fine: Mesh; fixed: boolean } {
  if (hasLevels(problem)) return { fine: pinnedMesh(barrierDomain(problem, count), arena), fixed: false };
  if (hasLargeDividends(problem)) {
    const { nodes } = pinnedMesh(dividendDomain(problem, count), arena);
    return {
      fine: { count, nodes: problem.payoff.exerciseSide === "high" ? nodes.reverse() : nodes },
      fixed: false,
    };
  }
  const spec = domain(problem, count);
  return { fine: mesh(spec, arena), fixed: spec.fixed };
}

/** The same on a mesh that was made for another problem. */
export function gridsOn(
  problem: OneFactorProblem,
  fine: Mesh,
  resolution: Resolution,
  arena = new Arena(4096),
  fixed = false,
): readonly [Grid, Grid] {
  const steps = resolution.steps / 2;
  return [grid(problem, fine, steps, 2, fixed, arena), grid(problem, coarser(fine, arena), steps, 1, fixed, arena)];
}

function grid(
  problem: OneFactorProblem,
  mesh: Mesh,
  coarsestSteps: number,
  refinement: number,
  fixed: boolean,
  arena: Arena,
): Grid {
  const { payoff } = problem;
  const time = timesOf(problem, coarsestSteps, refinement);
  const scheme = exerciseScheme(problem);
  const closed = !("nodes" in mesh) && payoff.vanillaSign !== undefined;
  const table = closed ? undefined : makeTable(mesh, problem, arena);
  return {
    problem,
    mesh,
    table,
    fixed,
    scheme,
    time,
    today: { isKnown: false, first: undefined, stencil: undefined },
    key: keyOf(problem, scheme, mesh.count, fixed, table),
  };
}

/** The fine grid of `resolution` with the time steps of the coarse one: between the two of `grids`, it tells the error in time from that in space. */
export function coarserInTime(fine: Grid, resolution: Resolution): Grid {
  return { ...fine, time: timesOf(fine.problem, resolution.steps / 2, 1) };
}

const hasLevels = ({ barriers, knockIns }: OneFactorProblem): boolean =>
  barriers !== undefined || knockIns !== undefined;

/** The window of today's spot. */
export function windowOf(grid: Grid): TodaysWindow {
  const { problem, mesh, today } = grid;
  const [spot] = problem.spots;
  if (today.isKnown) return today;
  const isRead = !isBeyond(mesh, spot) && !(hasLevels(problem) && knockedOutBy(problem, spot) !== undefined);
  today.first = isRead ? windowStart(mesh, spot, ...readableFrom(grid)(spot)) : undefined;
  today.isKnown = true;
  return today;
}

/**
 * The first and the last node that a spot may be read from: live ones only, for the solution bends at a barrier that is watched today, and none beyond a kink at which it bends.
 */
export function readableFrom({ problem, mesh, time: { dates } }: Grid): (spot: number) => readonly [number, number] {
  const all = [0, mesh.count - 1] as const;
  if (!hasLevels(problem)) return (spot) => betweenKinks(problem, mesh, spot) ?? all;
  const between = ({ down, up }: ReturnType<typeof waitingBetween>): readonly [number, number] => [
    down === undefined ? all[0] : firstFrom(mesh, down.level),
    up === undefined ? all[1] : firstFrom(mesh, up.level),
  ];
  const alive = between(aliveBetween(problem, 0, dates[1]));
  const waiting = problem.knockIns === undefined ? alive : between(waitingBetween(problem, 0, dates[1]));
  return (spot) => (isKnockedIn(problem, spot) ? alive : waiting);
}

/**
 * The nodes that a spot may be read from. A formula that is exercised up to a kink bends the solution there (a cap, a jump): none beyond the kinks
 * beside the spot, if that leaves enough of them.
 */
function betweenKinks(
  { american, payoff }: OneFactorProblem,
  mesh: Mesh,
  spot: number,
): readonly [number, number] | undefined {
  if (!american || payoff.exerciseSide !== "unknown") return undefined;
  const below = payoff.kinks.findLast((kink) => kink < spot);
  const above = payoff.kinks.find((kink) => kink > spot);
  const lowest = below === undefined ? 0 : firstFrom(mesh, below);
  const highest = above === undefined ? mesh.count - 1 : firstFrom(mesh, above);
  return highest + 1 - lowest < WINDOW || payoff.kinks.includes(spot) ? undefined : [lowest, highest];
}

/** The first node at or above a price, of a mesh that ascends. */
function firstFrom(mesh: Mesh, price: number): number {
  const cell = cellOf(mesh, price);
  return nodeAt(mesh, cell) >= price ? cell : cell + 1;
}

/** Whether V(S, T) and the obstacle are two columns. */
export function hasObstacle(table: Table | undefined): boolean {
  return table?.obstacle !== undefined && table.obstacle !== table.initial;
}

/** @throws SpecError a payoff that is not a number */
function makeTable(mesh: Mesh, problem: OneFactorProblem, arena: Arena): Table {
  const { payoff, american, exerciseTimes = [] } = problem;
  const nodes = nodesOf(mesh, arena);
  const initial = averagedPayoff(payoff, nodes, arena);
  if (payoff.jumps) takeLiveSides(initial, mesh, problem);
  if (!american && exerciseTimes.length === 0) return { nodes, initial, obstacle: undefined };
  // A continuous payoff with its kinks on nodes is its own average; on dates it is exercised as it is at expiry, by its average.
  if (payoff.exercised === payoff.value || !(american || payoff.jumps)) return { nodes, initial, obstacle: initial };
  const obstacle = nodes.map((spot) => payoff.exercised(spot));
  if (american) for (let i = 0; i < initial.length; i++) initial[i] = Math.max(initial[i], obstacle[i]);
  return { nodes, initial, obstacle };
}

/** Where a payoff jumps at the very barrier that is watched on the last date, the solver wants its value on the living side. */
function takeLiveSides(initial: Float64Array, mesh: Mesh, { payoff, barriers = [], expiry }: OneFactorProblem): void {
  for (const barrier of barriers) {
    if (barrier.times === undefined || !isWatched(barrier, expiry, expiry)) continue;
    const node = firstFrom(mesh, barrier.level);
    if (nodeAt(mesh, node) === barrier.level) initial[node] = payoff.value(liveSideOf(barrier));
  }
}

const SCHEMES = ["none", "brennan-schwartz", "policy", "dates"] as const satisfies readonly ExerciseScheme[];
const SHAPES = ["lognormal", "table", "formula", "surface"] as const satisfies readonly SolverVariant["shape"][];
/** Strings by number: made once for all grids alike, and then compared by address. A pure function's memory. */
const keys = new Map<number, string>();
const MOST_KEYS = 4096;

function keyOf(
  problem: OneFactorProblem,
  scheme: ExerciseScheme,
  nodes: number,
  fixed: boolean,
  table: Table | undefined,
): string {
  const shape = shapeOf(problem);
  const spots = problem.spots.length;
  const barriers = problem.barriers?.length ?? 0;
  const columns = table === undefined ? 0 : hasObstacle(table) ? 2 : 1;
  const kinds = ((SCHEMES.indexOf(scheme) * 4 + SHAPES.indexOf(shape)) * 2 + (fixed ? 1 : 0)) * 3 + columns;
  const code = ((barriers * 4096 + spots) * 65_536 + nodes) * 96 + kinds;
  let key = keys.get(code);
  if (key === undefined) {
    if (keys.size >= MOST_KEYS) keys.clear();
    keys.set(code, (key = `${scheme} ${shape} ${nodes} ${fixed} ${columns} ${spots} ${barriers}`));
  }
  return problem.knockIns === undefined ? key : `${key} ${problem.knockIns.levels.length}`;
}

/**
 * The payoff on the nodes; cells that hold a kink get the payoff's mean over the cell, unless the node is the kink and the
 * payoff continuous: then its values already have the second difference of the true kink (Pooley, Vetzal & Forsyth 2003).
 * A payoff that names no kinks may have some: all its cells are averaged.
 * @throws SpecError a value that is not a number
 */
function averagedPayoff(payoff: PayoffProfile, nodes: Float64Array, arena: Arena): Float64Array {
  const { kinks, jumps } = payoff;
  const last = nodes.length - 1;
  const values = arena.take(nodes.length);
  let left = nodes[0];
  for (let i = 0; i <= last; i++) {
    const node = nodes[i];
    const right = i === last ? node : 0.5 * (node + nodes[i + 1]);
    // At an end there is half a cell only, and beside the node at zero one that is far from symmetric: their means are not the node's.
    const symmetric = i > 0 && i < last && Math.abs(right - node) > 0.25 * Math.abs(node - left);
    let averaged = kinks.length === 0 && symmetric && Math.abs(node - left) > 0.25 * Math.abs(right - node);
    for (let k = 0; k < kinks.length; k++)
      if (node > 0 && (kinks[k] - left) * (kinks[k] - right) < 0 && (jumps || kinks[k] !== node)) averaged = true;
    values[i] = averaged ? payoff.average(Math.min(left, right), Math.max(left, right)) : payoff.value(node);
    if (averaged && !jumps && kinks.includes(node))
      values[i] -= bendOf(payoff, node, Math.min(left, right), Math.max(left, right));
    left = right;
    if (!Number.isFinite(values[i]))
      throw new SpecError(
        `payoff: ${values[i]} at S = ${node}; expected a finite number at every price the mesh reaches`,
      );
  }
  return values;
}

/**
 * What a kink on the node itself adds to the mean of its cell, which another kink is in, too. Where each is alone in its cell it is left out, so it is here: the meshes
 * that extrapolation compares have to treat a kink alike.
 */
function bendOf({ kinks, value }: PayoffProfile, kink: number, left: number, right: number): number {
  const nearest = Math.min(...kinks.filter((other) => other !== kink).map((other) => Math.abs(other - kink)));
  const bump = Math.min(1e-4 * kink, 0.5 * nearest);
  const bend = (value(kink + bump) - 2 * value(kink) + value(kink - bump)) / bump;
  return (0.25 * bend * ((right - kink) ** 2 + (kink - left) ** 2)) / (right - left);
}

/**
 * Brennan and Schwartz' elimination is exact if the exercise region is one interval at the mesh's first nodes. Negative rates
 * (puts) and yields (calls) can make it two intervals (Battauz, De Donno & Sbuelz 2015), formulas anything.
 */
function exerciseScheme(problem: OneFactorProblem): ExerciseScheme {
  const { american, exerciseTimes = [], payoff, rates, dividendYield } = problem;
  if (!american) return exerciseTimes.length > 0 ? "dates" : "none";
  // A rebate may be worth more than exercise at one end of the mesh.
  if (hasLevels(problem) || payoff.exerciseSide === "unknown") return "policy";
  const leastRate = Math.min(...rates.values);
  if (payoff.exerciseSide === "low" || payoff.jumps) return leastRate >= 0 ? "brennan-schwartz" : "policy";
  return dividendYield >= 0 ? "brennan-schwartz" : "policy";
}

function shapeOf({ diffusion }: OneFactorProblem): SolverVariant["shape"] {
  switch (diffusion.kind) {
    case "deterministic":
      return "lognormal";
    case "local":
      return "table";
    default:
      return diffusion.kind;
  }
}

/** The lane that solves `problem`, which may be a shift of the grid's own, on the grid. */
export function lane(
  grid: Grid,
  problem: OneFactorProblem = grid.problem,
  arena = new Arena(512),
  reading: Reading = "both",
): Lane {
  const { diffusion } = problem;
  return {
    grid,
    coefficients: coefficientRows(grid.time, grid.mesh, problem, arena),
    variance:
      diffusion.kind === "local" ? nodesOf(grid.mesh, arena).map((spot) => localVariance(problem, spot)) : undefined,
    formula: diffusion.kind === "formula" ? diffusion.sigma : undefined,
    surface: diffusion.kind === "surface" ? diffusion : undefined,
    reading,
  };
}

/** σ(S)²S²; none at S = 0, where the spot stays. */
function localVariance({ diffusion }: OneFactorProblem, spot: number): number {
  if (spot <= 0) return 0;
  const deviation = volatilityAt(diffusion, spot, 0) * spot;
  return deviation * deviation;
}
