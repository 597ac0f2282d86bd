/** Problems for the solver's splits, and how far two splits of one lie apart. Free of the test runner. */
import type { Device } from "../../../src/device/index.ts";
import {
  coefficientCount,
  dividendReals,
  eventReals,
  putCoefficients,
} from "../../../src/pde/fdm/execute/coefficients.ts";
import {
  type Grid,
  grids,
  inwardFirst,
  type KnockOut,
  instance,
  type Instance,
  BatchSolver,
  type InstanceValues,
  type OneFactorProblem,
  type Resolution,
  shiftedProblem,
} from "../../../src/pde/fdm/index.ts";
import { windowOf } from "../../../src/pde/fdm/read/solution.ts";
import { nodeAt } from "../../../src/pde/fdm/mesh/mesh.ts";
import { BARRIERS, DIVIDEND, REFACTOR } from "../../../src/pde/fdm/time/time-grid.ts";
import { mayShare, type Split, teamCapacity, type TeamSplit } from "../../../src/pde/fdm/execute/split.ts";
import { formula, type Precision } from "../../../src/kernel/index.ts";
import { constant, localSurface } from "../../../src/market/index.ts";
import { digitalPayoff, vanillaPayoff } from "../../../src/market/products/index.ts";

export const european: OneFactorProblem = {
  spots: [100, 93, 120],
  expiry: 1.3,
  payoff: vanillaPayoff("put", 105),
  american: false,
  rates: constant(0.04),
  dividendYield: 0.01,
  dividends: [],
  diffusion: { kind: "deterministic", sigma: constant(0.3) },
};
export const american: OneFactorProblem = { ...european, american: true };
const dividends = [
  { time: 0.4, cash: 3, proportional: 0 },
  { time: 0.9, cash: 0, proportional: 0.02 },
];
const stepped = { times: [0.5], values: [0.02, 0.07] };
const steppedVolatility = { kind: "deterministic", sigma: { times: [0.7], values: [0.2, 0.35] } } as const;
const local = { kind: "local", sigma: (spot: number) => 3 / Math.sqrt(spot), shift: 0 } as const;
const sigma = formula("0.2 + 0.1*exp(-S/100) + 0.05*t", ["S", "t"]);

/** Its times fall inside time steps, its spots among the nodes. */
const surface = {
  kind: "surface",
  surface: localSurface(
    [0.1, 0.33, 0.9],
    [60, 85, 97, 110, 150],
    [
      [0.5, 0.35, 0.28, 0.25, 0.26],
      [0.42, 0.33, 0.27, 0.24, 0.24],
      [0.36, 0.3, 0.26, 0.25, 0.24],
    ],
  ),
  shift: 0.01,
} as const;

const bermudan: OneFactorProblem = { ...european, exerciseTimes: [0, 0.2, 0.4, 0.77, 1.1] };
const negative = { rates: constant(-0.01), dividendYield: -0.03 };
const out = (side: "up" | "down", level: number, parts: Partial<KnockOut> = {}): KnockOut => ({
  side,
  level,
  from: 0,
  to: 1.3,
  times: undefined,
  rebate: 0,
  rebateAt: "hit",
  open: false,
  ...parts,
});
/** Spots between them, on one of them, and beyond. */
const double = [out("down", 82, { rebate: 1 }), out("up", 120, { rebate: 2, rebateAt: "expiry" })];
/** Windows that begin and end among the other events, dates, two at one level, and one that no mesh reaches. */
const many = inwardFirst([
  out("down", 85, { from: 0.3, to: 0.9, rebate: 2 }),
  out("down", 70, { times: [0.4, 0.65, 1.3], rebate: 3 }),
  out("down", 70, { from: 0.7, rebate: 1, rebateAt: "expiry" }),
  out("up", 130, { times: [0.1, 0.2, 1.1], rebate: 1 }),
  out("up", 9000),
]);

/** Events that change the solution, and which nodes are alive, inside its life. */
const eventful: Readonly<Record<string, OneFactorProblem>> = {
  "dates: put": bermudan,
  "dates: call, dividends, descending mesh": {
    ...bermudan,
    payoff: vanillaPayoff("call", 95),
    dividendYield: 0.06,
    dividends,
  },
  "dates: digital, two columns": { ...bermudan, payoff: digitalPayoff("put", 105, 20) },
  "dates: stepped rates": { ...bermudan, rates: stepped },
  "dates: stepped rates, dividends, σ(S)": { ...bermudan, rates: stepped, dividends, diffusion: local },
  "dates: σ(S, t)": { ...bermudan, diffusion: { kind: "formula", sigma, shift: 0 } },
  "dates: surface": { ...bermudan, diffusion: surface },
  "barriers: one": { ...european, barriers: [out("up", 125)] },
  "barriers: two": { ...european, payoff: vanillaPayoff("call", 95), barriers: double },
  "barriers: two, stepped rates": { ...european, barriers: double, rates: stepped },
  "barriers: two, dividends": { ...european, barriers: double, dividends },
  "barriers: two, dividends, σ(S), stepped rates": {
    ...european,
    barriers: double,
    dividends,
    diffusion: local,
    rates: stepped,
  },
  "barriers: windows and dates": { ...european, barriers: many },
  "barriers: windows, dates, surface": { ...european, barriers: many, diffusion: surface },
  "barriers: windows, dates, σ(S, t)": {
    ...european,
    barriers: many,
    diffusion: { kind: "formula", sigma, shift: 0 },
  },
  "barriers: digital that jumps on one": {
    ...european,
    payoff: digitalPayoff("put", 110, 20),
    barriers: [out("up", 110, { times: [0.4, 1.3] })],
  },
  "barriers: Bermudan, windows, dates, dividends": { ...bermudan, barriers: many, dividends },
  "barriers: Bermudan digital, two, stepped rates": {
    ...bermudan,
    payoff: digitalPayoff("put", 105, 20),
    barriers: double,
    rates: stepped,
  },
  "barriers: American, two": { ...american, barriers: double },
  "barriers: American, windows, dates, dividends, negative rates": {
    ...american,
    ...negative,
    barriers: many,
    dividends,
  },
  "barriers: American, two, stepped rates, surface": {
    ...american,
    barriers: double,
    rates: stepped,
    diffusion: surface,
  },
  "barriers: American, two, dividends, stepped rates": { ...american, barriers: double, dividends, rates: stepped },
  "barriers: Bermudan, two": { ...bermudan, barriers: double },
  "barriers: Bermudan, two, dividends, stepped rates": { ...bermudan, barriers: double, dividends, rates: stepped },
};

/** A window alone is read, by kernels of their own. */
const oneSpot: Readonly<Record<string, OneFactorProblem>> = {
  "one spot: European, dividends, stepped rates": { ...european, spots: [100], dividends, rates: stepped },
  "one spot: American, σ(S)": { ...american, spots: [100], diffusion: local },
  "one spot: American, stepped rates": { ...american, spots: [100], rates: stepped },
  "one spot: dates": { ...bermudan, spots: [100] },
  "one spot: policy, exercise region unknown, dividends, stepped rates": {
    ...american,
    spots: [100],
    dividends,
    rates: stepped,
    payoff: { ...vanillaPayoff("put", 105), exerciseSide: "unknown" },
  },
  "one spot: barriers": { ...european, spots: [100], barriers: double },
};

export const problems: Readonly<Record<string, OneFactorProblem>> = {
  European: european,
  "European call, stepped rates": { ...european, payoff: vanillaPayoff("call", 95), rates: stepped },
  "European, dividends": { ...european, dividends },
  "European, σ(S)": { ...european, diffusion: local },
  "European, σ(S), stepped rates": { ...european, diffusion: local, rates: stepped },
  "European, σ(S, t)": { ...european, diffusion: { kind: "formula", sigma, shift: 0.01 } },
  "European, surface": { ...european, diffusion: surface },
  "American call, dividends, surface": {
    ...american,
    payoff: vanillaPayoff("call", 95),
    dividends,
    diffusion: surface,
  },
  "policy: surface": { ...american, ...negative, diffusion: surface },
  "American put": american,
  "American call, descending mesh": { ...american, payoff: vanillaPayoff("call", 95), dividendYield: 0.06 },
  "American put, stepped rates and volatility": { ...american, rates: stepped, diffusion: steppedVolatility },
  "American call, descending mesh, stepped volatility": {
    ...american,
    payoff: vanillaPayoff("call", 95),
    dividendYield: 0.06,
    diffusion: steppedVolatility,
  },
  "American, dividends, stepped volatility": {
    ...american,
    dividends,
    diffusion: steppedVolatility,
  },
  "American, dividends, σ(S)": { ...american, dividends, diffusion: local },
  "American, σ(S), stepped rates": { ...american, diffusion: local, rates: stepped },
  "American, σ(S, t)": { ...american, diffusion: { kind: "formula", sigma, shift: 0 } },
  "policy: negative rates": { ...american, ...negative },
  "policy: exercise region unknown, dividends": {
    ...american,
    dividends,
    payoff: { ...vanillaPayoff("put", 105), exerciseSide: "unknown" },
  },
  ...eventful,
  ...oneSpot,
};

/** Whether two options of a problem may share a subgroup. */
export const mayBePaired = (problem: OneFactorProblem, size: Resolution, precision: Precision): boolean =>
  grids(problem, size).every((grid) => mayShare(instance(grid), precision));

/** Whether a device solves a problem in a split: what is not for it would be solved one item an option, and agree. */
export function isSolvedBy(
  split: TeamSplit,
  device: Device,
  precision: Precision,
  problem: OneFactorProblem,
  size: Resolution,
): boolean {
  if (teamCapacity(device, precision, size.nodes, split) === undefined) return false;
  return split !== "half-subgroup" || mayBePaired(problem, size, precision);
}

/**
 * The six values of an instance's window and those at the other spots, −1 where exercise is optimal at once; in the
 * currency.
 */
export function valuesAt({ problem }: Grid, values: InstanceValues): number[] {
  const others = new Float64Array(problem.spots.length - 1);
  values.spots(others);
  return [...values.window.slice(0, 6), ...others.map((value) => (value === Infinity ? -1 : value))];
}

/**
 * Instances of a problem: shifts of volatility, and a tenth of them of the rates, which share a launch; on the fine
 * grid, and on the coarse one.
 */
interface Instances {
  readonly shifts: readonly number[];
  readonly grids: number;
}

const ALL: Instances = { shifts: [0, 0.02, -0.03], grids: 2 };
/** For the interpreter: as many as may meet. */
export const TWO_LANES: Instances = { shifts: [0, 0.02], grids: 1 };
/** Of which the last has no other beside it in its subgroup. */
export const THREE_LANES: Instances = { shifts: [0, 0.02, -0.03], grids: 1 };

/**
 * Values in the windows of the fine and coarse grids of a problem and shifts of it, the nodes there, and the values at
 * the other spots, over spot.
 */
export async function solved(
  device: Device,
  precision: Precision,
  problem: OneFactorProblem,
  size: Resolution,
  split: Split,
  { shifts, grids: count } = ALL,
): Promise<number[]> {
  using solver = new BatchSolver(device, precision, split);
  const problems = shifts.map((volatility) => shiftedProblem(problem, { volatility, rate: volatility / 10 }));
  const made = grids(problem, size).slice(0, count);
  const instances = made.flatMap((grid) => problems.map((shifted) => instance(grid, shifted)));
  const values = await solver.solve(instances);
  return values.flatMap((all, l) => {
    const { grid } = instances[l];
    const first = windowOf(grid).first ?? 0;
    // The nodes that a device made come after the values; elsewhere they are the mesh's.
    const made = all.window.slice(6);
    const nodes = made.length > 0 ? made : [0, 1, 2, 3, 4, 5].map((k) => nodeAt(grid.mesh, first + k));
    return [...valuesAt(grid, all), ...nodes].map((value) => value / problem.spots[0]);
  });
}

/**
 * Largest difference, over spot, between one instance and its copies, in two runs: more than 0 where what items
 * exchange depends on when they do it.
 */
export async function differenceOfCopies(
  device: Device,
  precision: Precision,
  problem: OneFactorProblem,
  size: Resolution,
  split: Split,
  copies = 1024,
): Promise<number> {
  using solver = new BatchSolver(device, precision, split);
  const [fine] = grids(problem, size);
  const instances = Array.from({ length: copies }, () => instance(fine));
  const runs = [await solver.solve(instances), await solver.solve(instances)].flat().map((all) => all.window.slice());
  const apart = (window: readonly number[]): number =>
    Math.max(...window.map((value, k) => (value === runs[0][k] ? 0 : Math.abs(value - runs[0][k]))));
  return Math.max(...runs.map(apart)) / problem.spots[0];
}

/**
 * Largest difference, over spot, between an option that has its subgroup to itself and the same option beside another
 * one, as the first of the two and as the second. How far scans reach is the larger of what the two need, so that this
 * is a rounding, not nothing.
 * @throws Error (the two do not share a launch)
 */
export async function differenceBeside(
  device: Device,
  precision: Precision,
  [problem, other]: readonly [OneFactorProblem, OneFactorProblem],
  size: Resolution,
): Promise<number> {
  const [one, neighbour] = [problem, other].map((each) => grids(each, size)[0]);
  if (one.key !== neighbour.key || one.time.key !== neighbour.time.key) throw new Error("no launch in common");
  using solver = new BatchSolver(device, precision, "half-subgroup");
  const [alone] = await solver.solve([instance(one)]);
  const beside = await solver.solve([one, neighbour, neighbour, one, one].map((grid) => instance(grid)));
  const expected = valuesAt(one, alone);
  const apart = [0, 3, 4].flatMap((l) => valuesAt(one, beside[l]).map((value, k) => Math.abs(value - expected[k])));
  if (!apart.every(Number.isFinite)) throw new Error("there are values that are not finite");
  return Math.max(...apart) / problem.spots[0];
}

/**
 * Two splits of a problem, over spot: their largest difference, and what the coarse mesh differs by from the fine one
 * at the spots after the first.
 */
export interface Comparison {
  readonly difference: number;
  readonly discretisation: number;
}

/** @throws Error (a number of values that is not expected, or one that is not finite) */
export async function compared(
  device: Device,
  precision: Precision,
  problem: OneFactorProblem,
  size: Resolution,
  split: TeamSplit = "workgroup",
  instances = ALL,
): Promise<Comparison> {
  // Side by side: where kernels take a second to compile, one does for another.
  const [one, other] = await Promise.all([
    solved(device, precision, problem, size, "item", instances),
    solved(device, precision, problem, size, split, instances),
  ]);
  return {
    difference: largestDifference(problem, one, other, instances),
    discretisation: instances.grids === 2 ? discretisation(problem, one) : 0,
  };
}

/** Largest difference between two splits of a problem, over spot; throws as `compared` does. */
export async function difference(...args: Parameters<typeof compared>): Promise<number> {
  return (await compared(...args)).difference;
}

/**
 * From the values of the fine grid's instances and, after them, the coarse one's, those that are not exercised at once.
 */
function discretisation({ spots }: OneFactorProblem, values: readonly number[]): number {
  const half = values.length / 2;
  const ofInstance = 12 + spots.length - 1;
  const apart = values.slice(0, half).map((fine, i) => {
    const isSpot = i % ofInstance >= 6 && i % ofInstance < ofInstance - 6;
    return isSpot && fine >= 0 && values[half + i] >= 0 ? Math.abs(fine - values[half + i]) : 0;
  });
  return Math.max(...apart);
}

/**
 * Whether teams hold what elimination leaves above thresholds of the obstacle alone: with constant coefficients the
 * exercise region shrinks on the way to today. On coarse meshes a node may be exercised again that has been let go, and
 * then what is left of a premium there shows, a small part of the discretisation's error (design/early-exercise.md).
 */
export const isShrinking = ({
  american: early,
  payoff,
  dividends: paid,
  barriers,
  rates,
  dividendYield,
  diffusion,
}: OneFactorProblem): boolean =>
  early &&
  payoff.exerciseSide !== "unknown" &&
  paid.length === 0 &&
  barriers === undefined &&
  rates.times.length === 0 &&
  (diffusion.kind === "deterministic" ? diffusion.sigma.times.length === 0 : diffusion.kind === "local") &&
  (payoff.exerciseSide === "low" || payoff.jumps ? rates.values[0] >= 0 : dividendYield >= 0);

/**
 * What an American option's splits may differ by on a coarse mesh: a twentieth of the discretisation's error, if that
 * is more than rounding.
 */
export function allowed(precision: Precision, { discretisation }: Comparison): number {
  return Math.max(TOLERANCE[precision], 0.05 * discretisation);
}

/** @throws as `compared` */
export function largestDifference(
  problem: OneFactorProblem,
  one: readonly number[],
  other: readonly number[],
  { shifts, grids: count } = ALL,
): number {
  const expected = count * shifts.length * (12 + problem.spots.length - 1);
  if (one.length !== expected || other.length !== expected)
    throw new Error(`${one.length} and ${other.length} values, expected ${expected}`);
  if (!one.every(Number.isFinite)) throw new Error("there are values that are not finite");
  return Math.max(...one.map((value, i) => Math.abs(value - other[i])));
}

/** Nodes at and beyond which an instance is knocked out, in the second half of its life and in the first. */
export type Ends = readonly [low: number, high: number, lowBefore: number, highBefore: number];

/**
 * Every pair of ends, those of the first half of the life in another order; at most `most` of them, all over the
 * square.
 */
export function everyEnds(nodes: number, max = Infinity): Ends[] {
  const some = Array.from({ length: nodes + 2 }, (_, k) => k - 1);
  const pairs = some.flatMap((low) => some.map((high) => [low, high] as const));
  const all = pairs.map((pair, k): Ends => [...pair, ...pairs[(7 * k + 3) % pairs.length]]);
  return all.filter((_, k) => (1009 * k) % pairs.length < max);
}

/** Two barriers whose windows begin and end at half of the life. */
const halves = [out("down", 82, { to: 0.6 }), out("up", 120, { from: 0.6 })];
export const movable: Readonly<Record<string, OneFactorProblem>> = {
  European: { ...european, barriers: halves },
  "European, stepped rates": { ...european, barriers: halves, rates: stepped },
  "Bermudan, dividends": { ...bermudan, barriers: halves, dividends },
  American: { ...american, barriers: halves },
};

/**
 * Largest difference between two splits of a problem with two barriers, over spot, on all nodes of its fine and its
 * coarse mesh, when its ends are moved to where no mesh has them: to any node of an item's run, both into one run, past
 * each other, off the mesh.
 */
export async function differenceOfEnds(
  device: Device,
  precision: Precision,
  problem: OneFactorProblem,
  size: Resolution,
  ends: readonly Ends[],
  split: TeamSplit,
): Promise<number> {
  const instances = grids(problem, size).flatMap((grid) => {
    const read = onAllNodes(grid);
    return ends.map((moved, k) => ({ ...withEnds(grid, moved, k), grid: read }));
  });
  using items = new BatchSolver(device, precision, "item");
  using teams = new BatchSolver(device, precision, split);
  const [one, other] = await Promise.all([items.solve(instances), teams.solve(instances)]);
  const valuesOf = (all: readonly InstanceValues[]): number[] =>
    all.flatMap((values, l) => valuesAt(instances[l].grid, values));
  const [a, b] = [valuesOf(one), valuesOf(other)];
  if (a.length === 0 || !a.every(Number.isFinite)) throw new Error("there are values that are not finite");
  return a.reduce((max, value, k) => Math.max(max, Math.abs(value - b[k])), 0) / problem.spots[0];
}

/**
 * The grid, read in the middle of every cell that has two on either side, by six nodes wherever the barriers are: at
 * the ends weights of ten would magnify rounding.
 */
function onAllNodes(grid: Grid): Grid {
  const { mesh, problem } = grid;
  const node = (i: number): number => nodeAt(mesh, i);
  const middles = Array.from({ length: mesh.count - 5 }, (_, i) => 0.5 * (node(i + 2) + node(i + 3)));
  const barriers = problem.barriers?.map((barrier) => ({ ...barrier, times: [] }));
  return { ...grid, problem: { ...problem, spots: [problem.spots[0], ...middles], ...(barriers && { barriers }) } };
}

/** Words of events as `putBarriers` writes them: what each barrier knocks out, then the ends. */
function withEnds(grid: Grid, [low, high, lowBefore, highBefore]: Ends, k: number): Instance {
  const made = instance(grid);
  const coefficients = made.coefficients?.slice() ?? new Float64Array(coefficientCount(grid.time, grid.problem));
  if (made.coefficients === undefined) putCoefficients(coefficients, 1, [made]);
  eventRows(grid).forEach((row, event) => {
    const [down, up] = event === 0 ? [low, high] : [lowBefore, highBefore];
    // There is nothing to hold where there is no end.
    const lowHeld = down >= 0 ? k & 1 : 0;
    const highHeld = up < grid.mesh.count ? (k >> 1) & 1 : 0;
    coefficients.set([down, -1, 0.01, 0.3, 0.02, up, 1, 0.03, 0.6, 0.05], row);
    coefficients.set([down, lowHeld, 0.04 * lowHeld, up, highHeld, 0.06 * highHeld], row + 10);
  });
  return { ...made, coefficients };
}

/** First rows of the coefficients of events, that at expiry first. */
function eventRows({ problem, time }: Grid): number[] {
  const words = eventReals(problem);
  const rows = [0];
  let row = words;
  for (const flag of time.flags) {
    if ((flag & REFACTOR) !== 0) row += 4;
    if ((flag & DIVIDEND) !== 0) row += dividendReals(problem);
    if ((flag & BARRIERS) !== 0) rows.push((row += words) - words);
  }
  return rows;
}

const wild = {
  rates: constant(0.01),
  dividendYield: 0,
  diffusion: { kind: "deterministic", sigma: constant(1.1) },
} as const;
/** Options of one launch that have little in common: strikes, volatilities, calls and puts, where exercise begins. */
export const strangers: Readonly<Record<string, readonly [OneFactorProblem, OneFactorProblem]>> = {
  European: [european, { ...european, ...wild, payoff: vanillaPayoff("call", 900) }],
  American: [american, { ...american, ...wild, payoff: vanillaPayoff("put", 900) }],
  "American, dividends, σ(S)": [
    { ...american, dividends, diffusion: local },
    {
      ...american,
      dividends,
      payoff: vanillaPayoff("put", 400),
      diffusion: { ...local, sigma: (spot: number) => 9 / Math.sqrt(spot) },
    },
  ],
  "American, σ(S), stepped rates": [
    { ...american, diffusion: local, rates: stepped },
    {
      ...american,
      rates: { ...stepped, values: [0.2, 0.1] },
      payoff: vanillaPayoff("put", 400),
      diffusion: { ...local, sigma: (spot: number) => 9 / Math.sqrt(spot) },
    },
  ],
  "time-dependent obstacles": [
    { ...american, rates: stepped },
    { ...american, rates: stepped, payoff: vanillaPayoff("put", 900), diffusion: wild.diffusion },
  ],
  dates: [bermudan, { ...bermudan, ...wild, payoff: vanillaPayoff("call", 900) }],
};

/** Rounding, accumulated over some 60 steps, over spot: 3e-15, 2e-6 and 3e-14 are the most observed. */
export const TOLERANCE = { f64: 1e-12, f32: 4e-6, f32x2: 1e-11 } as const;
