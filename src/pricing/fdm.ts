import type { Scenarios } from "../book/index.ts";
import { DeviceLostError } from "../errors.ts";
import {
  type Arena,
  isRough,
  knockedOutBy,
  type KnockOut,
  type BatchSolver,
  type OneFactorProblem,
  type PointValue,
  type Resolution,
  volatilityAt,
} from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { Turns } from "../turns.ts";
import { pdeTheta } from "./black-scholes.ts";
import { errorModelOf } from "./error-model.ts";
import { deterministicValuation, knownValues } from "./deterministic.ts";
import { roundingError } from "./error-estimate.ts";
import { Bumps } from "./fdm-bumps.ts";
import type { Solving } from "./fdm-case.ts";
import { knockedOutGreeks } from "./knocked-out.ts";
import type { Settings } from "./options.ts";
import { type Cases, isDeterministic, ladderOf, type ReadCase, type Valuation } from "./plan.ts";
import { firstResolution } from "./resolution.ts";
import { SolvedCase, type Wanted } from "./solved-case.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** What is solved on one device for trades of one kind. */
export interface FdmSetting {
  readonly scenarios: Scenarios | undefined;
  readonly settings: Settings;
  readonly precision: Precision;
  /** Most nodes that a mesh may have. */
  readonly maxNodes: number;
}

/** f32 cannot do better than a few of these, relative to spot; it is not asked to. */
const FINEST_F32 = 1e-5;
const MAX_NODES_F32 = 257;

/**
 * A trade on its way through the solver: pass by pass it names the instances that it wants solved next, until its values
 * are as exact as was
 * asked for.
 *
 *   first    the trade alone, coarsely: its errors in space and in time predict the resolution for the accuracy
 *   second   at that resolution, with vega and rho, and every case of the scenarios; where the first was enough, those alone
 *   then     finer once more each case whose error estimate is still above the accuracy
 *
 * One solve serves every spot; each time, volatility and rate of the scenarios is a case of its own, and as exact as a
 * trade would be.
 */
export class FdmTrade {
  private readonly cases: Cases;
  private readonly problem: OneFactorProblem;
  private readonly setting: FdmSetting;
  private readonly arena: Arena;
  private readonly wanted: Wanted;
  /** Undefined where the value is known without. */
  private readonly base: SolvedCase | undefined;
  private bumps: Bumps | undefined;
  /**
   * By case after the base; those that are known without, and those of settled trades are not there. Made once the base
   * has been assessed.
   */
  private shifted: readonly (SolvedCase | undefined)[] | undefined;
  private pending: readonly Solving[];

  constructor(cases: Cases, setting: FdmSetting, arena: Arena) {
    const { precision, settings } = setting;
    const [problems] = cases;
    this.cases = cases;
    this.problem = problems.problem;
    this.setting = setting;
    this.arena = arena;
    this.wanted = {
      accuracy: precision === "f32" ? Math.max(settings.accuracy, FINEST_F32) : settings.accuracy,
      rounding: precision === "f32" ? 2e-6 : 1e-12,
      // Finer meshes round more: in f32 they would be worse.
      maxNodes: precision === "f32" ? Math.min(setting.maxNodes, MAX_NODES_F32) : setting.maxNodes,
      errorModel: errorModelOf(problems),
    };
    const size = this.firstSize;
    this.base = isKnown(problems) ? undefined : new SolvedCase(problems, size, this.wanted, arena, "both");
    this.pending = this.base?.instances ?? this.startShifted(size);
  }

  /** What is to be solved next; nothing when the trade is done. */
  get instances(): readonly Solving[] {
    return this.pending;
  }

  /** To be called when all `instances` have their values. */
  advance(): void {
    const { base, shifted } = this;
    base?.advance();
    shifted?.forEach((one) => one?.advance());
    const first = shifted === undefined && base !== undefined ? this.start(base) : [];
    this.pending = [...(base?.instances ?? []), ...first, ...(shifted ?? []).flatMap((one) => one?.instances ?? [])];
  }

  /** Once it is done. */
  valuation(): Valuation {
    const { scenarios } = this.setting;
    const read: ReadCase = (index, column) => this.readCase(index, column);
    const ladder = scenarios === undefined ? {} : ladderOf(scenarios, this.cases, read);
    const value =
      this.base === undefined ? deterministicValuation([this.cases[0]], undefined) : this.solvedValuation(this.base);
    return { ...value, ...ladder };
  }

  private get firstSize(): Resolution {
    const { accuracy, errorModel, maxNodes } = this.wanted;
    return firstResolution(accuracy, errorModel, this.setting.settings.greeks !== "none", maxNodes);
  }

  private solvedValuation(base: SolvedCase): Valuation {
    const { settings, precision } = this.setting;
    const point = base.today;
    const { vega = null, rho = null } = this.bumps?.read(this.wanted.rounding) ?? {};
    const paid = this.paidNow;
    const spot = this.problem.spots[0];
    const estimate = base.estimate();
    return {
      value: point.value,
      ...sensitivities(this.problem, settings, point),
      vega,
      rho,
      errorEstimate: estimate + roundingError(precision, spot, point.value),
      method: "fdm",
      ...(paid === undefined ? {} : knockedOutGreeks(this.problem, paid)),
      warnings: [
        ...(point.driftDominated && (this.isRough || estimate > this.wanted.accuracy * spot) ? [this.firstOrder] : []),
        ...(precision === "f32" && settings.accuracy < FINEST_F32
          ? [`accuracy ${settings.accuracy} of the spot is beyond f32: see errorEstimate`]
          : []),
      ],
    };
  }

  private get isRough(): boolean {
    return isRough(this.problem);
  }

  /** Why the scheme is of first order. */
  private get firstOrder(): string {
    return this.isRough
      ? "volatility is 0, or jumps, where the spot may come: the scheme is of first order, see errorEstimate"
      : "drift dominates diffusion: the scheme is of first order, see errorEstimate";
  }

  /** The barrier that today's spot has hit; scenarios' spots may have not. */
  private get paidNow(): KnockOut | undefined {
    return knockedOutBy(this.problem, this.problem.spots[0]);
  }

  /** What is solved beside the base case once that has been assessed. */
  private start(base: SolvedCase): readonly Solving[] {
    return [...this.startBumps(base), ...this.startShifted(base.size)];
  }

  private startBumps({ assessed }: SolvedCase): readonly Solving[] {
    if (this.setting.settings.greeks !== "all" || this.paidNow !== undefined) return [];
    this.bumps = new Bumps(assessed.pairs, this.cases[0], this.setting.precision, this.arena);
    return this.bumps.instances;
  }

  /** The scenarios' cases, the base case left out, on meshes of their own. */
  private startShifted(size: Resolution): readonly Solving[] {
    const [, ...others] = this.cases;
    this.shifted = others.map((one) =>
      one === undefined || isKnown(one) ? undefined : new SolvedCase(one, size, this.wanted, this.arena, "points"),
    );
    return this.shifted.flatMap((one) => one?.instances ?? []);
  }

  /**
   * The values of a case that is not settled, at its spots after today's; returns the largest of their error estimates.
   */
  private readCase(index: number, column: Float64Array): number {
    const solved = index === 0 ? this.base : this.shifted?.[index - 1];
    const one = this.cases[index] ?? this.cases[0];
    if (solved === undefined) return knownValues(one, column);
    column.set(solved.values);
    let largest = 0;
    for (let k = 0; k < column.length; k++) {
      const spot = one.problem.spots[k + 1];
      largest = Math.max(largest, solved.estimateAt(k) + roundingError(this.setting.precision, spot, column[k]));
    }
    if (index === 0) this.keepToday(column);
    return largest;
  }

  /** The scenario that moves nothing is the trade's value, to the last bit: not another reading of the same solution. */
  private keepToday(column: Float64Array): void {
    const [today, ...spots] = this.problem.spots;
    const value = this.base?.today.value;
    for (let k = 0; k < column.length; k++) if (spots[k] === today && value !== undefined) column[k] = value;
  }
}

/** Whether a trade's value needs no solver: nothing moves at random, or every spot has hit a barrier. */
function isKnown({ problem }: TradeProblems): boolean {
  return isDeterministic(problem) || problem.spots.every((spot) => knockedOutBy(problem, spot) !== undefined);
}

function sensitivities(
  problem: OneFactorProblem,
  { greeks }: Settings,
  point: PointValue,
): Pick<Valuation, "delta" | "gamma" | "theta"> {
  if (greeks === "none") return { delta: null, gamma: null, theta: null };
  const { value, delta, gamma, exercised } = point;
  const sigma = volatilityAt(problem.diffusion, problem.spots[0], 0);
  return { delta, gamma, theta: exercised ? 0 : pdeTheta(problem, value, delta, gamma, sigma) };
}

/**
 * Solves all trades' instances together, pass by pass; each result is a function that reads it, or throws what went wrong. If solving them
 * together fails for another reason than the device's loss, each goes on by itself: one bad formula must not take the others along.
 */
export async function fdmValuations(
  trades: readonly FdmTrade[],
  solver: BatchSolver,
  signal: AbortSignal | undefined,
): Promise<(() => Valuation)[]> {
  if (trades.length === 0) return [];
  try {
    await solveAll(trades, solver, signal);
    return trades.map((trade) => () => trade.valuation());
  } catch (error) {
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    if (trades.length === 1) return [() => rethrow(error)];
    const alone: (() => Valuation)[] = [];
    for (const trade of trades) alone.push(...(await fdmValuations([trade], solver, signal)));
    return alone;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

async function solveAll(
  trades: readonly FdmTrade[],
  solver: BatchSolver,
  signal: AbortSignal | undefined,
): Promise<void> {
  const turns = new Turns(signal);
  for (let going = trades; going.length > 0; going = going.filter(({ instances }) => instances.length > 0)) {
    const pending = going.flatMap(({ instances }) => instances);
    const values = await solver.solve(
      pending.map(({ instance }) => instance),
      signal,
    );
    pending.forEach((one, i) => (one.values = values[i]));
    for (const trade of going) {
      trade.advance();
      if (turns.due) await turns.take();
    }
  }
}
