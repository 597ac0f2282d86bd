import type { Scenarios } from "../book/index.ts";
import { DeviceLostError } from "../errors.ts";
import {
  type Arena,
  knockedOutBy,
  type KnockOut,
  type LaneSolver,
  type OneFactorProblem,
  type PointValue,
  type Resolution,
  Turns,
  volatilityAt,
} from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { pdeTheta } from "./black-scholes.ts";
import { deterministicValuation, deterministicValue } from "./deterministic.ts";
import { type Decay, decayOf } from "./decay.ts";
import { errorEstimate, type Judged, roundingError } from "./error-estimate.ts";
import { Bumps } from "./fdm-bumps.ts";
import { type Case, caseAt, JudgedCase, lanesOf, readSpots, type Solving } from "./fdm-case.ts";
import { knockedOutGreeks } from "./knocked-out.ts";
import type { Settings } from "./options.ts";
import { type Cases, isDeterministic, type ReadCase, scenarioValues, type Valuation } from "./plan.ts";
import { firstResolution, nextResolution } from "./resolution.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** What is solved on one device for trades of one kind. */
export interface FdmSetting {
  readonly scenarios: Scenarios | undefined;
  readonly settings: Settings;
  readonly precision: Precision;
  /** Most nodes that a mesh may have. */
  readonly mostNodes: number;
}

/** f32 cannot do better than a few of these, as a part of the spot; it is not asked to. */
const FINEST_F32 = 1e-5;
const MOST_NODES_F32 = 257;
/** Resolutions that are tried: the first, the one it predicts, and one more where that prediction was wrong. */
const MOST_TRIES = 3;
/** Where the estimate is below this many times the accuracy, √2 times finer will do: errors fall as h² at least. */
const NEARLY = 2.2;

/**
 * A trade on its way through the solver: pass by pass it names the lanes that it wants solved next, until its value is as exact as was
 * asked for.
 *
 *   first    the trade alone, coarsely: its errors in space and in time predict the resolution for the accuracy
 *   second   at that resolution, with vega, rho and the scenarios; where the first was enough, those alone
 *   third    finer once more, if the error estimate is still above the accuracy
 *
 * One solve serves every spot; each time, volatility and rate of the scenarios is a case of its own.
 */
export class FdmTrade {
  private readonly cases: Cases;
  private readonly problem: OneFactorProblem;
  private readonly setting: FdmSetting;
  private readonly arena: Arena;
  private readonly accuracy: number;
  private readonly rounding: number;
  private readonly mostNodes: number;
  private readonly decay: Decay;
  private size: Resolution;
  /** Undefined where the value is known without. */
  private base: JudgedCase | undefined;
  /** The base case at the resolutions tried, the last one last. */
  private readonly tried: (PointValue & Judged)[] = [];
  private bumps: Bumps | undefined;
  /** By case; the base case, those that are known without, and those of settled trades are not there. */
  private shifted: readonly (Case | undefined)[] = [];
  private waiting: readonly Solving[];

  constructor(cases: Cases, setting: FdmSetting, arena: Arena) {
    const { precision, settings } = setting;
    const [problems] = cases;
    this.cases = cases;
    this.problem = problems.problem;
    this.setting = setting;
    this.arena = arena;
    this.accuracy = precision === "f32" ? Math.max(settings.accuracy, FINEST_F32) : settings.accuracy;
    // Finer meshes round more: in f32 they would be worse.
    this.mostNodes = precision === "f32" ? Math.min(setting.mostNodes, MOST_NODES_F32) : setting.mostNodes;
    this.rounding = precision === "f32" ? 2e-6 : 1e-12;
    this.decay = decayOf(problems);
    this.size = firstResolution(this.accuracy, this.decay, settings.greeks !== "none", this.mostNodes);
    this.base = isKnown(problems) ? undefined : new JudgedCase(problems, this.size, arena);
    this.waiting = this.base?.lanes ?? this.scenarioLanes();
  }

  /** What is to be solved next; nothing when the trade is done. */
  get lanes(): readonly Solving[] {
    return this.waiting;
  }

  /** To be called when all `lanes` have their values. */
  advance(): void {
    if (this.base === undefined || this.base.size === this.tried.at(-1)?.size) {
      this.waiting = [];
      return;
    }
    this.tried.push(this.base.judge(this.rounding));
    const first = this.tried.length === 1;
    const refined = this.refined();
    if (refined !== undefined) {
      this.size = refined;
      this.base = new JudgedCase(this.cases[0], refined, this.arena);
    }
    this.waiting = [
      ...(refined === undefined ? [] : this.base.lanes),
      ...(first ? this.bumpLanes(this.base) : []),
      ...(first || refined !== undefined ? this.scenarioLanes() : []),
    ];
  }

  /** Once it is done. */
  valuation(): Valuation {
    const { scenarios } = this.setting;
    const read: ReadCase = (index, column) => this.readCase(index, column);
    const ladder = scenarios === undefined ? {} : { scenarios: scenarioValues(scenarios, this.cases, read) };
    if (this.base === undefined) return { ...deterministicValuation([this.cases[0]], undefined), ...ladder };
    return { ...this.solvedValuation(), ...ladder };
  }

  private solvedValuation(): Valuation {
    const { settings, precision } = this.setting;
    const point = this.tried[this.tried.length - 1];
    const { vega = null, rho = null } = this.bumps?.read(this.rounding) ?? {};
    const below = precision === "f32" && settings.accuracy < FINEST_F32;
    const paid = this.paidNow;
    return {
      value: point.value,
      ...sensitivities(this.problem, settings, point),
      vega,
      rho,
      errorEstimate: this.estimate() + roundingError(precision, this.problem.spots[0], point.value),
      method: "fdm",
      ...(paid === undefined ? {} : knockedOutGreeks(this.problem, paid)),
      warnings: [
        ...(point.driftDominated ? ["drift dominates diffusion: the scheme is of first order"] : []),
        ...(below ? [`accuracy ${settings.accuracy} of the spot is beyond f32: see errorEstimate`] : []),
      ],
    };
  }

  /** The barrier that today's spot has hit; scenarios' spots may have not. */
  private get paidNow(): KnockOut | undefined {
    return knockedOutBy(this.problem, this.problem.spots[0]);
  }

  /** The error estimate of the last resolution, without rounding. */
  private estimate(): number {
    if (this.paidNow !== undefined) return 0;
    const [before, last] = [this.tried[this.tried.length - 2], this.tried[this.tried.length - 1]];
    return errorEstimate(last, before, this.decay, this.problem.spots[0]);
  }

  /** The resolution to go on to, if the last one was not enough. */
  private refined(): Resolution | undefined {
    const last = this.tried[this.tried.length - 1];
    const excess = this.estimate() / (this.accuracy * this.problem.spots[0]);
    if (this.tried.length >= MOST_TRIES || excess <= 1) return undefined;
    const next = nextResolution(last.size, last.observed, this.accuracy, this.decay, excess < NEARLY, this.mostNodes);
    return next.nodes === last.size.nodes && next.steps === last.size.steps ? undefined : next;
  }

  private bumpLanes({ pairs }: JudgedCase): readonly Solving[] {
    if (this.setting.settings.greeks !== "all" || this.paidNow !== undefined) return [];
    this.bumps = new Bumps(pairs, this.cases[0], this.setting.precision, this.arena);
    return this.bumps.lanes;
  }

  /** The scenarios' cases, the base case left out, on meshes of their own. */
  private scenarioLanes(): readonly Solving[] {
    const [, ...others] = this.cases;
    this.shifted = others.map((one) =>
      one === undefined || isKnown(one) ? undefined : caseAt(one, this.size, this.arena, "points"),
    );
    return this.shifted.flatMap((one) => (one === undefined ? [] : lanesOf(one)));
  }

  /** The values of a case that is not settled, at its spots after today's. */
  private readCase(index: number, column: Float64Array): void {
    const solved = index === 0 ? this.base?.pairs : this.shifted[index - 1];
    const one = this.cases[index] ?? this.cases[0];
    if (solved !== undefined) readSpots(solved, column);
    else for (let k = 0; k < column.length; k++) column[k] = deterministicValue(one, one.problem.spots[k + 1]);
    if (index === 0 && solved !== undefined) this.keepToday(column);
  }

  /** The scenario that moves nothing is the trade's value, to the last bit: not another reading of the same solution. */
  private keepToday(column: Float64Array): void {
    const [today, ...spots] = this.problem.spots;
    const { value } = this.tried[this.tried.length - 1];
    for (let k = 0; k < column.length; k++) if (spots[k] === today) column[k] = value;
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
 * Solves all trades' lanes together, pass by pass; each result is a function that reads it, or throws what went wrong. If solving them
 * together fails for another reason than the device's loss, each goes on by itself: one bad formula must not take the others along.
 */
export async function fdmValuations(
  trades: readonly FdmTrade[],
  solver: LaneSolver,
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
  solver: LaneSolver,
  signal: AbortSignal | undefined,
): Promise<void> {
  const turns = new Turns(signal);
  for (let going = trades; going.length > 0; going = going.filter(({ lanes }) => lanes.length > 0)) {
    const waiting = going.flatMap(({ lanes }) => lanes);
    const values = await solver.solve(
      waiting.map(({ lane }) => lane),
      signal,
    );
    waiting.forEach((one, i) => (one.values = values[i]));
    for (const trade of going) {
      trade.advance();
      if (turns.due) await turns.take();
    }
  }
}
