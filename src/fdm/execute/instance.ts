import { SpecError } from "../../errors.ts";
import type { PayoffProfile } from "../../products/index.ts";
import { type KernelVolatility, kernelVolatility } from "../operator/read-volatility.ts";
import { Arena } from "./arena.ts";
import { coefficientCount, putCoefficients } from "../operator/coefficients.ts";
import { barrierDomain } from "../mesh/barrier-domain.ts";
import {
  aliveBetween,
  isKnockedIn,
  isMonitored,
  knockedOutBy,
  liveSideOf,
  dormantBetween,
} from "../problem/barriers.ts";
import { dividendDomain, hasLargeDividends } from "../mesh/dividend-domain.ts";
import { certainExercise, domain } from "../mesh/domain.ts";
import { certainForward, type Forward, forwardOf, isForward } from "../problem/forward.ts";
import { type Stencil, WINDOW, windowStart } from "../read/interpolation.ts";
import { cellOf, coarser, isBeyond, type KinkedMesh, type Mesh, mesh, nodeAt, nodesOf, placeOf } from "../mesh/mesh.ts";
import { pinnedMesh } from "../mesh/pinned-mesh.ts";
import { type Diffusion, type OneFactorProblem, volatilityAt } from "../problem/one-factor.ts";
import { timesOf } from "../time/nested-times.ts";
import type { ExerciseScheme, SolverVariant } from "./variant.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { checkFormula } from "../problem/volatility-check.ts";

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
  readonly firstExercised: boolean;
  readonly scheme: ExerciseScheme;
  readonly time: TimeGrid;
  /** Filled in when it is first asked for, see `windowOf`. */
  today: TodaysWindow | undefined;
  /** The grid every second node of which these are. */
  readonly finer: Grid | undefined;
  /** The coordinate of the nodes, where they are not prices at all times. */
  readonly forward: Forward | undefined;
  /** Instances of one key and one time grid run in one launch. */
  readonly key: string;
}

/** How today's spot is read: the same for all instances of a grid. */
export interface TodaysWindow {
  /** The spot's cell; undefined where it is knocked out, or beyond the mesh, in the exercise region. */
  readonly cell: number | undefined;
  /** The window's first node, if it has one. */
  readonly first: number | undefined;
  /** Filled in when it is first read. */
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
export interface Instance {
  readonly grid: Grid;
  /** What is solved: the grid's own problem, or a shift of it. */
  readonly problem: OneFactorProblem;
  /**
   * Rows as the solver reads them, where they depend on time and a launch compares them; else it makes them as it is
   * packed.
   */
  readonly coefficients: Float64Array | undefined;
  /** σ²S² by node, for the shape "table". */
  readonly variance: Float64Array | undefined;
  /** Instances whose formulas have one shape share a launch. */
  readonly formula: KernelVolatility | undefined;
  /** σ(t, S) on a grid, with its parallel move; instances of one surface share a launch. */
  readonly surface: Extract<Diffusion, { kind: "surface" }> | undefined;
  readonly reading: Reading;
}

/** What is read of a solution: the window of today's spot, the values at the other spots (`points`), or both. */
export type Reading = "window" | "points" | "both";

/**
 * The fine grid of a problem and the coarse one that its error is judged by: every second node, half the time steps.
 */
export function grids(
  problem: OneFactorProblem,
  resolution: Resolution,
  arena = new Arena(4096),
): readonly [Grid, Grid] {
  const forward = forwardFor(problem);
  const { fine, firstExercised } = fineMesh(problem, resolution.nodes, arena, forward);
  return gridsOn(problem, fine, resolution, arena, firstExercised, forward);
}

/** The fine one alone, for a value without an error estimate. */
export function fineGrid(problem: OneFactorProblem, { nodes, steps }: Resolution, arena = new Arena(4096)): Grid {
  const forward = forwardFor(problem);
  const { fine, firstExercised } = fineMesh(problem, nodes, arena, forward);
  const { fine: time } = timesOf(forward?.flat ?? problem, steps / 2);
  return grid(problem, fine, undefined, time, schemeOf(problem, forward), firstExercised, forward, arena);
}

const forwardFor = (problem: OneFactorProblem): Forward | undefined =>
  isForward(problem) && exerciseScheme(problem) !== "policy" ? forwardOf(problem) : undefined;

function schemeOf(problem: OneFactorProblem, forward: Forward | undefined): ExerciseScheme {
  return forward !== undefined && problem.american ? "time-dependent" : exerciseScheme(problem);
}

function fineMesh(
  problem: OneFactorProblem,
  count: number,
  arena: Arena,
  forward: Forward | undefined,
): { fine: Mesh; firstExercised: boolean } {
  if (hasLevels(problem)) return { fine: pinnedMesh(barrierDomain(problem, count), arena), firstExercised: false };
  if (hasLargeDividends(problem)) {
    const { nodes } = pinnedMesh(dividendDomain(problem, count), arena);
    return {
      fine: { count, nodes: problem.payoff.exerciseSide === "high" ? nodes.reverse() : nodes },
      firstExercised: false,
    };
  }
  const spec =
    forward === undefined
      ? domain(problem, count, certainExercise(problem))
      : domain(forward.flat, count, certainForward(problem));
  const fine = mesh(spec, arena);
  // σ by node or by formula wants nodes in a table, not in closed form.
  const tabled = problem.diffusion.kind === "local" || problem.diffusion.kind === "formula";
  return { fine: tabled ? { count, nodes: nodesOf(fine, arena) } : fine, firstExercised: spec.firstExercised };
}

/** The same on a mesh that was made for another problem. */
export function gridsOn(
  problem: OneFactorProblem,
  mesh: Mesh,
  resolution: Resolution,
  arena = new Arena(4096),
  firstExercised = false,
  forward?: Forward,
): readonly [Grid, Grid] {
  const times = timesOf(forward?.flat ?? problem, resolution.steps / 2);
  const scheme = schemeOf(problem, forward);
  const fine = grid(problem, mesh, undefined, times.fine, scheme, firstExercised, forward, arena);
  return [fine, grid(problem, coarser(mesh, arena), fine, times.coarse, scheme, firstExercised, forward, arena)];
}

function grid(
  problem: OneFactorProblem,
  mesh: Mesh,
  finer: Grid | undefined,
  time: TimeGrid,
  scheme: ExerciseScheme,
  firstExercised: boolean,
  forward: Forward | undefined,
  arena: Arena,
): Grid {
  const closed = !("nodes" in mesh) && problem.payoff.vanillaSign !== undefined;
  if (finer === undefined) checkFormula(problem.diffusion, mesh, time);
  const table = closed ? undefined : makeTable(mesh, problem, arena);
  return {
    problem,
    mesh,
    table,
    firstExercised,
    scheme,
    time,
    today: undefined,
    finer,
    forward,
    key: keyOf(problem, scheme, mesh.count, firstExercised, table),
  };
}

/**
 * The fine grid of `resolution` with the time steps of the coarse one: between the two of `grids`, it tells the error
 * in time from that in space.
 */
export function coarserInTime(fine: Grid, resolution: Resolution): Grid {
  return { ...fine, time: timesOf(fine.forward?.flat ?? fine.problem, resolution.steps / 2).coarse };
}

const hasLevels = ({ barriers, knockIns }: OneFactorProblem): boolean =>
  barriers !== undefined || knockIns !== undefined;

/** The window of today's spot. */
export function windowOf(grid: Grid): TodaysWindow {
  return (grid.today ??= findWindow(grid));
}

function findWindow(grid: Grid): TodaysWindow {
  const { problem, mesh } = grid;
  const cell = todaysCell(grid);
  if (cell === undefined) return { cell, first: undefined, stencil: undefined };
  const spot = problem.spots[0];
  const isBent = hasLevels(problem) || bendsInside(problem);
  const [lowest, highest] = isBent ? readableFrom(grid)(spot) : [0, mesh.count - 1];
  return { cell, first: windowStart(mesh, spot, lowest, highest, cell), stencil: undefined };
}

/**
 * Node i of a mesh of every second node is node 2i of the finer one, to the bit: where the spot is need be found but
 * once.
 */
function todaysCell({ problem, mesh, finer }: Grid): number | undefined {
  if (finer !== undefined) {
    const { cell } = windowOf(finer);
    return cell === undefined ? undefined : cell >> 1;
  }
  const spot = problem.spots[0];
  const place = placeOf(mesh, spot);
  if (isBeyond(mesh, spot, place) || knockedOutBy(problem, spot) !== undefined) return undefined;
  return cellOf(mesh, spot, place);
}

/**
 * The first and the last node that a spot may be read from: live ones only, for the solution bends at a barrier that is
 * monitored today, and none beyond a kink at which it bends.
 */
export function readableFrom({ problem, mesh, time: { dates } }: Grid): (spot: number) => readonly [number, number] {
  const all = [0, mesh.count - 1] as const;
  if (!hasLevels(problem)) return (spot) => betweenKinks(problem, mesh, spot, all);
  const between = ({ down, up }: ReturnType<typeof dormantBetween>): readonly [number, number] => [
    down === undefined ? all[0] : firstFrom(mesh, down.level),
    up === undefined ? all[1] : firstFrom(mesh, up.level),
  ];
  const alive = between(aliveBetween(problem, 0, dates[1]));
  const dormant = problem.knockIns === undefined ? alive : between(dormantBetween(problem, 0, dates[1]));
  return (spot) => (isKnockedIn(problem, spot) ? betweenKinks(problem, mesh, spot, alive) : dormant);
}

/**
 * The nodes, of those that are alive, that a spot may be read from. What is exercised up to a kink bends the solution
 * there (a cap, a jump): none beyond the kinks
 * beside the spot, if that leaves enough of them.
 */
function betweenKinks(
  problem: OneFactorProblem,
  mesh: Mesh,
  spot: number,
  alive: readonly [number, number],
): readonly [number, number] {
  if (!bendsInside(problem)) return alive;
  const { payoff } = problem;
  const below = payoff.kinks.findLast((kink) => kink < spot);
  const above = payoff.kinks.find((kink) => kink > spot);
  const lowest = below === undefined ? alive[0] : Math.max(firstFrom(mesh, below), alive[0]);
  const highest = above === undefined ? alive[1] : Math.min(firstFrom(mesh, above), alive[1]);
  return highest + 1 - lowest < WINDOW || payoff.kinks.includes(spot) ? alive : [lowest, highest];
}

/** Whether early exercise ends at kinks of the payoff, of a mesh that ascends. */
const bendsInside = ({ american, payoff, barriers, knockIns }: OneFactorProblem): boolean =>
  american &&
  (payoff.exerciseSide === "unknown" || (payoff.jumps && (barriers !== undefined || knockIns !== undefined)));

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
  // A continuous payoff with its kinks on nodes is its own average; on dates it is exercised as it is at expiry, by its
  // average.
  if (payoff.exercised === payoff.value || !(american || payoff.jumps)) return { nodes, initial, obstacle: initial };
  const obstacle = nodes.map((spot) => payoff.exercised(spot));
  if (american) for (let i = 0; i < initial.length; i++) initial[i] = Math.max(initial[i], obstacle[i]);
  return { nodes, initial, obstacle };
}

/**
 * Where a payoff jumps at the very barrier that is monitored on the last date, the solver wants its value on the living
 * side.
 */
function takeLiveSides(initial: Float64Array, mesh: Mesh, { payoff, barriers = [], expiry }: OneFactorProblem): void {
  for (const barrier of barriers) {
    if (barrier.times === undefined || !isMonitored(barrier, expiry, expiry)) continue;
    const node = firstFrom(mesh, barrier.level);
    if (nodeAt(mesh, node) === barrier.level) initial[node] = payoff.value(liveSideOf(barrier));
  }
}

const SCHEMES = [
  "none",
  "brennan-schwartz",
  "policy",
  "dates",
  "time-dependent",
] as const satisfies readonly ExerciseScheme[];
const SHAPES = ["lognormal", "table", "formula", "surface"] as const satisfies readonly SolverVariant["shape"][];
/** Strings by number: made once for all grids alike, and then compared by address. A pure function's memory. */
const keys = new Map<number, string>();
const MAX_KEYS = 4096;
/** Schemes, shapes, whether the first node is fixed, none to two columns. */
const MAX_KINDS = SCHEMES.length * SHAPES.length * 2 * 3;

function keyOf(
  problem: OneFactorProblem,
  scheme: ExerciseScheme,
  nodes: number,
  firstExercised: boolean,
  table: Table | undefined,
): string {
  const shape = shapeOf(problem);
  const spots = problem.spots.length;
  const barriers = problem.barriers?.length ?? 0;
  const columns = table === undefined ? 0 : hasObstacle(table) ? 2 : 1;
  const kinds =
    ((SCHEMES.indexOf(scheme) * SHAPES.length + SHAPES.indexOf(shape)) * 2 + (firstExercised ? 1 : 0)) * 3 + columns;
  const code = ((barriers * 4096 + spots) * 65_536 + nodes) * MAX_KINDS + kinds;
  let key = keys.get(code);
  if (key === undefined) {
    if (keys.size >= MAX_KEYS) keys.clear();
    keys.set(code, (key = `${scheme} ${shape} ${nodes} ${firstExercised} ${columns} ${spots} ${barriers}`));
  }
  return problem.knockIns === undefined ? key : `${key} ${problem.knockIns.levels.length}`;
}

/**
 * The payoff on the nodes; cells that hold a kink get the payoff's mean over the cell, unless the node is the kink and
 * the payoff continuous: then its values already have the second difference of the true kink (Pooley, Vetzal & Forsyth
 * 2003). A payoff that names no kinks may have some: all its cells are averaged.
 * @throws SpecError a value that is not a number
 */
function averagedPayoff(payoff: PayoffProfile, nodes: Float64Array, arena: Arena): Float64Array {
  const { kinks } = payoff;
  const values = arena.take(nodes.length);
  for (let i = 0; i < nodes.length; i++) values[i] = payoff.value(nodes[i]);
  if (kinks.length === 0) for (let i = 1; i + 1 < nodes.length; i++) averageCell(values, nodes, i, payoff);
  for (const kink of kinks) {
    const cell = cellOf({ count: nodes.length, nodes }, kink);
    averageCell(values, nodes, cell, payoff);
    averageCell(values, nodes, cell + 1, payoff);
  }
  for (let i = 0; i < nodes.length; i++)
    if (!Number.isFinite(values[i]))
      throw new SpecError(
        `${payoff.name ?? "payoff"}: ${values[i]} at S = ${Number(nodes[i].toPrecision(6))}; ` +
          "expected a finite number at every price the mesh reaches: guard the formula there, as max(S, 1) does",
      );
  return values;
}

/** The mean over a node's cell, which at the ends is half a one, for its value, if that is wanted there. */
function averageCell(values: Float64Array, nodes: Float64Array, i: number, payoff: PayoffProfile): void {
  const node = nodes[i];
  const left = i === 0 ? node : 0.5 * (nodes[i - 1] + node);
  const right = i === nodes.length - 1 ? node : 0.5 * (node + nodes[i + 1]);
  if (!isAveraged(payoff, node, left, right)) return;
  const [low, high] = [Math.min(left, right), Math.max(left, right)];
  values[i] = payoff.average(low, high);
  if (!payoff.jumps && payoff.kinks.includes(node)) values[i] -= bendOf(payoff, node, low, high);
}

function isAveraged({ kinks, jumps }: PayoffProfile, node: number, left: number, right: number): boolean {
  for (const kink of kinks) if ((kink - left) * (kink - right) < 0 && node > 0 && (jumps || kink !== node)) return true;
  // Beside the node at zero there is a cell that is far from symmetric, as the half cell at an end is: its mean is not
  // the node's.
  const [before, after] = [Math.abs(node - left), Math.abs(right - node)];
  return kinks.length === 0 && after > 0.25 * before && before > 0.25 * after;
}

/**
 * What a kink on the node itself adds to the mean of its cell, which another kink is in, too. Where each is alone in
 * its cell it is left out, so it is here: the meshes that extrapolation compares have to treat a kink alike.
 */
function bendOf({ kinks, value }: PayoffProfile, kink: number, left: number, right: number): number {
  const nearest = Math.min(...kinks.filter((other) => other !== kink).map((other) => Math.abs(other - kink)));
  const bump = Math.min(1e-4 * kink, 0.5 * nearest);
  const bend = (value(kink + bump) - 2 * value(kink) + value(kink - bump)) / bump;
  return (0.25 * bend * ((right - kink) ** 2 + (kink - left) ** 2)) / (right - left);
}

/**
 * Brennan and Schwartz' elimination is exact if the exercise region is one interval at the mesh's first nodes. Negative
 * rates (puts) and yields (calls) can make it two intervals (Battauz, De Donno & Sbuelz 2015), formulas anything.
 */
function exerciseScheme(problem: OneFactorProblem): ExerciseScheme {
  const { american, exerciseTimes = [], payoff, rates, dividendYield } = problem;
  if (!american) return exerciseTimes.length > 0 ? "dates" : "none";
  // A rebate may be worth more than exercise at one end of the mesh.
  if (hasLevels(problem) || payoff.exerciseSide === "unknown") return "policy";
  const { values } = rates;
  const minRate = values.length === 1 ? values[0] : Math.min(...values);
  if (payoff.exerciseSide === "low" || payoff.jumps) return minRate >= 0 ? "brennan-schwartz" : "policy";
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

/**
 * The instance that solves `problem`, which may be a shift of the grid's own, on the grid; in the forward's coordinate
 * a shift has a grid of its own.
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
    coefficients: grid.time.homogeneous ? undefined : coefficientRows(grid, problem, arena),
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

function coefficientRows(grid: Grid, problem: OneFactorProblem, arena: Arena): Float64Array {
  const rows = arena.take(coefficientCount(grid.time, problem));
  putCoefficients(rows, 1, [{ grid, problem }]);
  return rows;
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
