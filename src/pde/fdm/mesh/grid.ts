/** The grid of a one-factor problem: its mesh, its time steps, and what is known of both. */
import { certainForward, type Forward, forwardOf, isForward } from "../time/forward.ts";
import { cellOf, everySecondNode, firstNodeFrom, type Mesh, mesh, nodeAt, nodesOf } from "./mesh.ts";
import {
  certainExercise,
  hasAnyBarrier,
  isMonitored,
  priceInside,
  type OneFactorProblem,
} from "../problem/one-factor.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { evaluateColumns } from "../../../kernel/index.ts";
import { checkedVolatility, type Diffusion } from "../problem/diffusion.ts";
import { SpecError } from "../../../base/errors.ts";
import type { PayoffProfile } from "../../../market/products/index.ts";
import { Arena, pinnedMesh } from "./pinned-mesh.ts";
import { barrierMeshSpec, dividendMeshSpec, hasLargeDividends } from "./pinned-domain.ts";
import { meshSpecOf } from "./domain.ts";
import { timesOf } from "../time/nested-times.ts";

/**
 * The treatment of early exercise: by Brennan and Schwartz's projection, by policy iteration, only at the ends of some
 * steps ("dates"), or by projection with a payoff that changes in time in the forward coordinate ("time-dependent").
 * See `solverKernel`.
 */
export type ExerciseScheme = "none" | "brennan-schwartz" | "policy" | "dates" | "time-dependent";

/**
 * The source of σ²: constant in S, a column of the table, a formula in S and t that the kernel evaluates, or a surface
 * with cubics in S for each step, which the instances of one expiry share (`operator/coefficients.ts`).
 */
export type DiffusionShape = "lognormal" | "table" | "formula" | "surface";

/** The interpolation weights of six neighbouring nodes for the value, delta and gamma. */
export interface Stencil {
  /** The six weights of the value. */
  readonly value: readonly number[];
  readonly delta: readonly number[];
  readonly gamma: readonly number[];
}

/**
 * The few neighbouring nodes from which the value at today's spot is interpolated, the same for all instances of a
 * grid.
 */
export interface TodaysWindow {
  /**
   * The index of the cell that contains the spot; undefined where the spot is knocked out, or beyond the mesh in the
   * exercise region.
   */
  readonly cell: number | undefined;
  /** The index of the first of these nodes; undefined where there is no cell. */
  readonly first: number | undefined;
  /** The interpolation weights, computed on first use. */
  stencil: Stencil | undefined;
}

/**
 * The mesh, time grid and terminal values of a problem: everything that a shift of volatility or rates does not change.
 * @experimental
 */
export interface Grid {
  /** The problem for which the grid was made. */
  readonly problem: OneFactorProblem;
  readonly mesh: Mesh;
  /** The payoff at each node; undefined where mesh and payoff have closed forms, which the device then evaluates. */
  readonly table: Table | undefined;
  /** True where the first node is certain to be exercised. */
  readonly firstExercised: boolean;
  /** The method of early exercise. */
  readonly scheme: ExerciseScheme;
  readonly shape: DiffusionShape;
  readonly time: TimeGrid;
  /** The window of today's spot, computed on first use; see `windowOf`. */
  today: TodaysWindow | undefined;
  /** The finer grid of which this one has every second node; undefined for a finest grid. */
  readonly finer: Grid | undefined;
  /** The forward coordinate, if the nodes are values of it; undefined where they are prices. */
  readonly forward: Forward | undefined;
  /** A text that is equal for grids whose instances may share a launch if their time grids are equal too. */
  readonly key: string;
}

/** Prices and times between which every value of a σ(S, t) that was looked at was in order. */
interface Checked {
  readonly prices: readonly [number, number];
  readonly times: readonly [number, number];
}

/**
 * The checks of a formula that are known, which trades share: a mesh inside of one that was checked is not checked
 * again. A pure function's memory.
 */
const known = new WeakMap<Extract<Diffusion, { kind: "formula" }>["sigma"], Checked>();

/**
 * Checks a volatility formula σ(S, t) at every positive node in the middle of every time step, where a kernel evaluates
 * it. Other kinds of volatility are checked where the host evaluates them. Cost: some 10 ns for each node and step,
 * nothing if the formula has been checked on a wider mesh. @throws VolatilityError
 */
function checkFormula(diffusion: Diffusion, mesh: Mesh, { dates, factored }: TimeGrid): void {
  if (diffusion.kind !== "formula") return;
  const nodes = nodesOf(mesh);
  const { sigma, start = 0 } = diffusion;
  const ends = [nodes[0], nodes[nodes.length - 1]] as const;
  const here: Checked = {
    prices: [Math.min(...ends), Math.max(...ends)],
    times: [start, start + dates[dates.length - 1]],
  };
  const before = known.get(sigma);
  if (before !== undefined && contains(before.prices, here.prices) && contains(before.times, here.times)) return;
  const times: number[] = [];
  for (let i = 0; i < factored.length; i += 3) times.push(start + 0.5 * (factored[i + 1] + factored[i + 2]));
  evaluateColumns(sigma, nodes, times, (values, time) => {
    for (let i = 0; i < nodes.length; i++) if (nodes[i] > 0) checkedVolatility(values[i], nodes[i], time);
  });
  known.set(sigma, here);
}

const contains = (outer: readonly [number, number], inner: readonly [number, number]): boolean =>
  outer[0] <= inner[0] && inner[1] <= outer[1];

/** The terminal values and the exercise payoff at each node of a grid. */
export interface Table {
  readonly nodes: Float64Array;
  /** The terminal values V(S, T), averaged over cells that hold a kink. */
  readonly initial: Float64Array;
  /**
   * The exercise payoff: the array `initial` itself where both are the same function, undefined without early exercise.
   */
  readonly obstacle: Float64Array | undefined;
}

/** Tells whether the exercise payoff has an array of its own, different from the terminal values. */
export function hasObstacle(table: Table | undefined): boolean {
  return table?.obstacle !== undefined && table.obstacle !== table.initial;
}

/** Evaluates the payoff and the obstacle on a grid. @throws SpecError a payoff that is not a number */
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
 * Sets initial values to those on the living side where a payoff jumps at the very barrier that is monitored on the
 * last date: the solver wants them so.
 */
function takeLiveSides(initial: Float64Array, mesh: Mesh, { payoff, barriers = [], expiry }: OneFactorProblem): void {
  for (const barrier of barriers) {
    if (barrier.times === undefined || !isMonitored(barrier, expiry, expiry)) continue;
    const node = firstNodeFrom(mesh, barrier.level);
    if (nodeAt(mesh, node) === barrier.level) initial[node] = payoff.value(priceInside(barrier));
  }
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
 * The part of a kink on the node itself in the mean of its cell, which another kink is in, too. Where each is alone in
 * its cell it is left out, so it is here: the meshes that extrapolation compares have to treat a kink in the same way.
 */
function bendOf({ kinks, value }: PayoffProfile, kink: number, left: number, right: number): number {
  const nearest = Math.min(...kinks.filter((other) => other !== kink).map((other) => Math.abs(other - kink)));
  const bump = Math.min(1e-4 * kink, 0.5 * nearest);
  const bend = (value(kink + bump) - 2 * value(kink) + value(kink - bump)) / bump;
  return (0.25 * bend * ((right - kink) ** 2 + (kink - left) ** 2)) / (right - left);
}

/** The number of mesh nodes and of time steps of a solution. */
export interface Resolution {
  /** The number of nodes, 4k + 1. */
  readonly nodes: number;
  /** The number of time steps, even. */
  readonly steps: number;
}

/**
 * Returns the fine grid of a problem, and the coarse one for extrapolation and its error estimate, which has every
 * second node and half the time steps.
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

/** Returns only the fine grid of a problem, for a value without an error estimate. */
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
  if (hasAnyBarrier(problem))
    return { fine: pinnedMesh(barrierMeshSpec(problem, count), arena), firstExercised: false };
  if (hasLargeDividends(problem)) {
    const { nodes } = pinnedMesh(dividendMeshSpec(problem, count), arena);
    return {
      fine: { count, nodes: problem.payoff.exerciseSide === "high" ? nodes.reverse() : nodes },
      firstExercised: false,
    };
  }
  const spec =
    forward === undefined
      ? meshSpecOf(problem, count, certainExercise(problem))
      : meshSpecOf(forward.flat, count, certainForward(problem));
  const fine = mesh(spec, arena);
  // σ by node or by formula wants nodes in a table, not in closed form.
  const tabled = problem.diffusion.kind === "local" || problem.diffusion.kind === "formula";
  return { fine: tabled ? { count, nodes: nodesOf(fine, arena) } : fine, firstExercised: spec.firstExercised };
}

/** Returns the fine and the coarse grid of a problem on a mesh that was made for another problem. */
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
  return [
    fine,
    grid(problem, everySecondNode(mesh, arena), fine, times.coarse, scheme, firstExercised, forward, arena),
  ];
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
  const shape = shapeOf(problem);
  const columns = table === undefined ? 0 : hasObstacle(table) ? 2 : 1;
  const [barriers, knockIns] = [problem.barriers, problem.knockIns?.levels].map((levels) => levels?.length ?? 0);
  return {
    problem,
    mesh,
    table,
    firstExercised,
    scheme,
    shape,
    time,
    today: undefined,
    finer,
    forward,
    key: `${scheme} ${shape} ${mesh.count} ${firstExercised} ${columns} ${problem.spots.length} ${barriers} ${knockIns}`,
  };
}

/**
 * Returns the fine mesh of `resolution` with the time steps of the coarse grid. Its solution separates the error in
 * time from that in space.
 */
export function coarserInTime(fine: Grid, resolution: Resolution): Grid {
  return { ...fine, time: timesOf(fine.forward?.flat ?? fine.problem, resolution.steps / 2).coarse };
}

/**
 * Brennan and Schwartz' elimination is exact if the exercise region is one interval at the mesh's first nodes. Negative
 * rates (puts) and yields (calls) can make it two intervals (Battauz, De Donno & Sbuelz 2015), formulas anything.
 */
function exerciseScheme(problem: OneFactorProblem): ExerciseScheme {
  const { american, exerciseTimes = [], payoff, rates, dividendYield } = problem;
  if (!american) return exerciseTimes.length > 0 ? "dates" : "none";
  // A rebate may be worth more than exercise at one end of the mesh.
  if (hasAnyBarrier(problem) || payoff.exerciseSide === "unknown") return "policy";
  const { values } = rates;
  const minRate = values.length === 1 ? values[0] : Math.min(...values);
  if (payoff.exerciseSide === "low" || payoff.jumps) return minRate >= 0 ? "brennan-schwartz" : "policy";
  return dividendYield >= 0 ? "brennan-schwartz" : "policy";
}

function shapeOf({ diffusion }: OneFactorProblem): DiffusionShape {
  switch (diffusion.kind) {
    case "deterministic":
      return "lognormal";
    case "local":
      return "table";
    default:
      return diffusion.kind;
  }
}
