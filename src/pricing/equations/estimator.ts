/** Values of requests by solving their equations. Problems that differ in parameters only are solved together. */
import { type Device, isGpu } from "../../device/index.ts";
import type { AxesDerivatives } from "../../pde/fdm/index.ts";
import { EventLoopYielder, settleAll } from "../../base/event-loop.ts";
import { WARNING } from "../columns/result-columns.ts";
import type { Batch } from "../plan/method.ts";
import type { Greeks } from "../options.ts";
import { bumpsOnGrids } from "../plan/bump-sizes.ts";
import { DELTA, type Differences, differencesOf, RHO, withTodayAmongCopies } from "../plan/differences.ts";
import {
  type Estimator,
  grouped,
  type Measured,
  type Request,
  type RequestSettings,
  together,
} from "../plan/request.ts";
import { isExercisable } from "../terms.ts";
import { shapeOfProblem } from "./expression.ts";
import { payoffOf } from "./equation.ts";
import {
  errorsOf,
  followFromGamma,
  knownMeasures,
  measuresOf,
  type Measures,
  payoffSlopes,
  rhoFollowsFromDelta,
  rhoFromDelta,
  slopesFrom,
  slopesFromGamma,
} from "./measures.ts";
import { knownAt, signedProblemsOf } from "./parts.ts";
import {
  type EquationSolver,
  type GridEstimate,
  solutionOf,
  sumOfSolutions,
  addScaled,
  type EquationTask,
} from "./solver.ts";

/**
 * The largest number of nodes that entries of one call of `solve` have together: their results stand in memory at once.
 */
const MAX_NODES = 1.6e7;
/**
 * The number of solutions at once on a GPU, where each shape is a kernel that takes seconds to compile: others are
 * compiled, or run, in the meantime.
 */
const AT_ONCE_ON_GPUS = 4;

type GridRequest = Request<GridEstimate>;

/** A request at a level, and the problems that it consists of. */
interface Solving<P> {
  readonly request: GridRequest;
  readonly level: number;
  readonly known: GridEstimate["known"];
  tasks: readonly EquationTask<P>[];
}

/** The estimator of values by solving equations on grids, with a given solver. */
export class EquationEstimator<P> implements Estimator<GridEstimate> {
  readonly accuracy: number;
  readonly accuracyOfF32 = 1e-4;
  readonly limited: number;
  readonly servesAllSpots = true;
  readonly findsDifferences = false;
  readonly refinesEach = false;
  readonly #solver: EquationSolver<P>;
  readonly #batch: Batch;
  readonly #device: Device;

  constructor(solver: EquationSolver<P>, batch: Batch, device: Device) {
    this.accuracy = solver.accuracy;
    this.limited = batch.precision === "f32" ? WARNING.beyondF32 : WARNING.inaccurate;
    this.#solver = solver;
    this.#batch = batch;
    this.#device = device;
  }

  /**
   * Answers requests. The first answer to a request includes a solution on a coarser grid; the distance of the values
   * is part of the error estimate.
   */
  async estimate(requests: readonly GridRequest[], settings: RequestSettings): Promise<void> {
    const { levelsBelow } = this.#solver;
    const coarser = new Map<GridRequest, NonNullable<GridEstimate["coarser"]>>();
    for (const request of requests) if (request.estimate !== undefined) coarser.set(request, request.estimate);
    const first = requests.filter((one) => one.original === undefined && one.estimate === undefined);
    if (levelsBelow > 0)
      for (const { request, level, point, solved } of await this.#solve(first, -levelsBelow, settings))
        coarser.set(request, { level, point, solved });
    for (const { request, ...solved } of await this.#solve(requests, 0, settings))
      request.estimate = this.#estimateOf(request, solved, levelsBelow > 0 ? coarser.get(request) : undefined);
  }

  finerLevel({ terms, level }: GridRequest, ratio: number): number {
    return this.#solver.refined(terms, level, ratio);
  }

  growth({ terms }: GridRequest, from: number, to: number): number {
    return this.#solver.costRatio(terms, from, to);
  }

  copyLevel({ terms, level }: GridRequest): number {
    return this.#solver.bumpLevel(terms, level);
  }

  differencesOf(request: GridRequest, greeks: Greeks): Differences {
    const { terms, spots, level, estimate } = request;
    const isBumped = greeks === "all" && estimate!.known[0] === undefined && !followFromGamma(terms);
    if (!isBumped) return { copies: [], formulas: [] };
    const today = { terms, spots: spots[0] };
    const sizes = bumpsOnGrids(terms, this.#batch.precision, !rhoFollowsFromDelta(terms));
    const differences = differencesOf(today, sizes);
    // The mesh of a value is that of its copies only at their level, and if it has no further spots.
    const isShared = spots.length === 1 && level === this.copyLevel(request);
    return isShared ? differences : withTodayAmongCopies(differences, today);
  }

  measuresOf(
    today: GridRequest,
    differences: Differences,
    copies: readonly GridRequest[],
  ): ReadonlyMap<string, Measured> {
    const { terms, spots, estimate } = today;
    const {
      known,
      point,
      coarser,
      level,
      errors: [error],
    } = estimate!;
    const [spot] = spots;
    if (known[0] !== undefined) {
      const bends = payoffSlopes(terms, spot, known[0]);
      return measured(
        knownMeasures(terms, spot, known[0]),
        (name) => bends.find((_, i) => name === DELTA(i))?.error ?? 0,
      );
    }
    const isImplied = followFromGamma(terms);
    const knowsRho = rhoFollowsFromDelta(terms);
    const slopesOf = (from: AxesDerivatives, at: (copy: GridEstimate) => number): Measures => {
      if (isImplied) return slopesFromGamma(terms, from, spot);
      const slopes = slopesFrom(differences, [today, ...copies], at);
      return knowsRho ? new Map([...slopes, [RHO, rhoFromDelta(terms, from, spot)]]) : slopes;
    };
    const slopes = slopesOf(point, (copy) => copy.point.value);
    const found = measuresOf(terms, point, spot, slopes);
    const { corrections } = point;
    if (!this.#batch.settings.sensitivityErrorEstimates || corrections.length === 0)
      return measured(found, () => Number.NaN);
    const moves = corrections.map((moved, c) => ({
      moved,
      slopes: slopesOf(moved, (copy) => copy.point.corrections[c].value),
    }));
    const isCompared = coarser !== undefined && coarser.level < level;
    if (isCompared) {
      const moved = addScaled(point, coarser.point, -1);
      moves.push({ moved, slopes: slopesOf(moved, () => 0) });
    }
    return measured(found, errorsOf(terms, spot, { moves, isCompared, error }, found));
  }

  #estimateOf(
    { terms, spots, original }: GridRequest,
    { level, known, point, solved, correction }: Solved,
    coarser: GridEstimate["coarser"],
  ): GridEstimate {
    const mesh = original?.terms ?? terms;
    const distance = coarser === undefined ? 0 : largestDistance(solved, coarser.solved);
    const isCompared = coarser !== undefined && coarser.level !== level;
    const estimated = isCompared
      ? this.#solver.estimate(mesh, correction, distance, { level, levels: level - coarser.level })
      : correction;
    const paid = isExercisable(terms) ? payoffOf(terms) : () => Number.NEGATIVE_INFINITY;
    const values = spots.map((spot, k) => known[k]?.value ?? Math.max(solved[k], paid(spot)));
    return {
      values,
      errors: known.map((one) => (one === undefined ? estimated : 1e-14 * Math.abs(one.value))),
      method: known[0]?.method ?? this.#solver.name,
      warnings:
        known[0] !== undefined && payoffSlopes(terms, spots[0], known[0]).some(({ isBent }) => isBent)
          ? WARNING.bentAtSpot
          : 0,
      level,
      known,
      point,
      solved,
      coarser,
    };
  }

  /** Solves requests at their levels, `more` levels above or below. */
  async #solve(
    requests: readonly GridRequest[],
    more: number,
    settings: RequestSettings,
  ): Promise<readonly (Solved & { readonly request: GridRequest })[]> {
    const yielder = new EventLoopYielder(settings.signal);
    const all: Solving<P>[] = [];
    for (const request of requests) {
      if (yielder.isDue) await yielder.yieldNow();
      const known = request.spots.map((one) => knownAt(request.terms, one));
      const solving: Solving<P> = { request, level: request.level + more, known, tasks: [] };
      all.push(solving);
      try {
        if (known.includes(undefined)) solving.tasks = this.#tasksOf(solving);
      } catch (error) {
        request.failure ??= error;
      }
    }
    const tasks = all.flatMap(({ request, tasks: own }) => own.map((task) => ({ request, task })));
    const atOnce = isGpu(this.#device) ? AT_ONCE_ON_GPUS : 1;
    const calls = grouped(tasks, ({ task }) => task.shape.key).flatMap((group) => {
      const size = Math.max(1, Math.floor(MAX_NODES / (atOnce * group[0].task.built.nodes)));
      return Array.from({ length: Math.ceil(group.length / size) }, (_, k) => group.slice(k * size, (k + 1) * size));
    });
    const next = calls.values();
    const work = async (): Promise<void> => {
      for (const call of next)
        await together(
          call,
          ({ request }) => request,
          settings,
          (some) => this.#solveGroup(some, settings),
        );
    };
    await settleAll(Array.from({ length: atOnce }, work));
    // In one order, whatever was ready first, so that sums have the same bits.
    return all.map(({ request, level, known, tasks: own }) => ({
      request,
      level,
      known,
      ...sumOfSolutions(own, request.spots.length),
    }));
  }

  /** @throws what is wrong with the trade */
  #tasksOf({ request, level, known }: Solving<P>): readonly EquationTask<P>[] {
    const { trade, terms, spots, original } = request;
    const byAsset = terms.assets.map((_, i) => spots.map((one) => one[i]));
    const parts = signedProblemsOf(terms, spots, `trades[${this.#batch.columns.indexInRun[trade]}]`);
    return parts.map((part) => {
      const built = this.#solver.build(terms, original?.terms ?? terms, byAsset, part, level);
      return { terms, spots, known, part, built, shape: shapeOfProblem(built.problem), solution: undefined };
    });
  }

  /** Solves problems that differ in their parameters alone. */
  async #solveGroup(
    group: readonly { readonly request: GridRequest; readonly task: EquationTask<P> }[],
    { precision, signal }: RequestSettings,
  ): Promise<void> {
    const [{ problem, functions, columns }] = group.map(({ task }) => task.shape);
    const parameters = Object.fromEntries(
      columns.map((_, k) => [`p${k}`, group.map(({ task }) => task.shape.columns[k])]),
    );
    const on = { precision, device: this.#device, signal };
    const entries = await this.#solver.solve(problem, { parameters, functions, ...on });
    group.forEach(({ request, task }, i) => {
      try {
        task.solution = solutionOf(task, entries[i]);
      } catch (error) {
        request.failure ??= error;
      }
    });
  }
}

/** A request's solution. */
type Solved = Pick<GridEstimate, "level" | "known" | "point" | "solved"> & { readonly correction: number };

const largestDistance = (values: Float64Array, others: Float64Array): number =>
  values.reduce((most, value, k) => Math.max(most, Math.abs(value - others[k])), 0);

/** Values by the names of their measures, with their errors. */
const measured = (
  values: ReadonlyMap<string, number>,
  errorOf: (measure: string) => number,
): ReadonlyMap<string, Measured> =>
  new Map([...values].map(([name, value]) => [name, { value, error: errorOf(name) }]));
