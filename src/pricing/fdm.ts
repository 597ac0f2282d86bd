import type { Scenarios } from "../book/index.ts";
import { DeviceLostError } from "../errors.ts";
import {
  type Arena,
  grids,
  hasLargeDividends,
  type LaneSolver,
  type OneFactorProblem,
  type PointValue,
  type Resolution,
  volatilityAt,
} from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { pdeTheta } from "./black-scholes.ts";
import { deterministicValuation, deterministicValue } from "./deterministic.ts";
import { errorEstimate, type Judged, type Kind, roundingError } from "./error-estimate.ts";
import { Bumps } from "./fdm-bumps.ts";
import { JudgedCase, lanesOf, type Pair, pairOn, readPair, type Solving } from "./fdm-case.ts";
import type { Settings } from "./options.ts";
import { type Cases, isDeterministic, scenarioValues, type Valuation } from "./plan.ts";
import { firstResolution, nextResolution } from "./resolution.ts";

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

/** A shift of the market: solved on two meshes, or without volatility and so by its deterministic path. */
type Shifted = { readonly kind: "solved"; readonly pair: Pair } | { readonly kind: "deterministic" };

/** A trade on its way through the solver. */
export interface SolvedTrade {
  /** What is to be solved next; nothing when the trade is done. */
  readonly lanes: readonly Solving[];
  /** To be called when all `lanes` have their values. */
  advance(): void;
  /** Once it is done. */
  valuation(): Valuation;
}

/**
 * A trade without barriers or dates of exercise: pass by pass it names the lanes that it wants solved next, until its value is as exact as was
 * asked for.
 *
 *   first    the trade alone, coarsely: its errors in space and in time predict the resolution for the accuracy
 *   second   at that resolution, with vega, rho and the scenarios; where the first was enough, those alone
 *   third    finer once more, if the error estimate is still above the accuracy
 *
 * One solve serves every spot; each time, volatility and rate of the scenarios is a problem of its own.
 */
export class FdmTrade implements SolvedTrade {
  private readonly cases: Cases;
  private readonly problem: OneFactorProblem;
  private readonly setting: FdmSetting;
  private readonly arena: Arena;
  private readonly accuracy: number;
  private readonly rounding: number;
  private readonly mostNodes: number;
  private size: Resolution;
  /** Undefined without volatility. */
  private base: JudgedCase | undefined;
  /** The base case at the resolutions tried, the last one last. */
  private readonly tried: (PointValue & Judged)[] = [];
  private bumps: Bumps | undefined;
  /** By case; the base case, and those of settled trades, are not there. */
  private shifted: readonly (Shifted | undefined)[] = [];
  private waiting: readonly Solving[];

  constructor(cases: Cases, setting: FdmSetting, arena: Arena) {
    const { precision, settings } = setting;
    const [{ problem }] = cases;
    this.cases = cases;
    this.problem = problem;
    this.setting = setting;
    this.arena = arena;
    this.accuracy = precision === "f32" ? Math.max(settings.accuracy, FINEST_F32) : settings.accuracy;
    // Finer meshes round more: in f32 they would be worse.
    this.mostNodes = precision === "f32" ? Math.min(setting.mostNodes, MOST_NODES_F32) : setting.mostNodes;
    this.rounding = precision === "f32" ? 2e-6 : 1e-12;
    const rough = this.kind.cash || (problem.american && settings.greeks !== "none");
    // A mesh that is dense about several prices needs more nodes, however little is asked for.
    const asked = this.kind.large === true ? Math.min(this.accuracy, 5e-5) : this.accuracy;
    this.size = firstResolution(asked, rough || this.kind.large === true, this.mostNodes);
    this.base = isDeterministic(problem) ? undefined : new JudgedCase(problem, this.size, arena);
    this.waiting = this.base?.lanes ?? this.scenarioLanes();
  }

  get lanes(): readonly Solving[] {
    return this.waiting;
  }

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
      this.base = new JudgedCase(this.problem, refined, this.arena);
    }
    this.waiting = [
      ...(refined === undefined ? [] : this.base.lanes),
      ...(first ? this.bumpLanes(this.base) : []),
      ...(first || refined !== undefined ? this.scenarioLanes() : []),
    ];
  }

  valuation(): Valuation {
    const { scenarios } = this.setting;
    const values = (index: number, spot: number): number => this.caseValue(index, spot);
    const ladder = scenarios === undefined ? {} : { scenarios: scenarioValues(scenarios, this.cases, values) };
    if (this.base === undefined) return { ...deterministicValuation([this.cases[0]], undefined), ...ladder };
    return { ...this.solvedValuation(), ...ladder };
  }

  private solvedValuation(): Valuation {
    const { settings, precision } = this.setting;
    const point = this.tried[this.tried.length - 1];
    const { vega = null, rho = null } = this.bumps?.read(this.rounding) ?? {};
    const below = precision === "f32" && settings.accuracy < FINEST_F32;
    return {
      value: point.value,
      ...sensitivities(this.problem, settings, point),
      vega,
      rho,
      errorEstimate: this.estimate() + roundingError(precision, this.problem.spots[0], point.value),
      method: "fdm",
      warnings: [
        ...(point.driftDominated ? ["drift dominates diffusion: the scheme is of first order"] : []),
        ...(below ? [`accuracy ${settings.accuracy} of the spot is beyond f32: see errorEstimate`] : []),
      ],
    };
  }

  private get kind(): Kind {
    const { american, dividends } = this.problem;
    return { early: american, cash: dividends.some(({ cash }) => cash > 0), large: hasLargeDividends(this.problem) };
  }

  /** The error estimate of the last resolution, without rounding. */
  private estimate(): number {
    const [before, last] = [this.tried[this.tried.length - 2], this.tried[this.tried.length - 1]];
    return errorEstimate(last, before, this.kind, this.problem.spots[0]);
  }

  /** The resolution to go on to, if the last one was not enough. */
  private refined(): Resolution | undefined {
    const last = this.tried[this.tried.length - 1];
    const excess = this.estimate() / (this.accuracy * this.problem.spots[0]);
    if (this.tried.length >= MOST_TRIES || excess <= 1) return undefined;
    const next = nextResolution(last.size, last.observed, this.accuracy, this.kind, excess < NEARLY, this.mostNodes);
    return next.nodes === last.size.nodes && next.steps === last.size.steps ? undefined : next;
  }

  private bumpLanes({ pair }: JudgedCase): readonly Solving[] {
    if (this.setting.settings.greeks !== "all") return [];
    this.bumps = new Bumps(pair, this.problem, this.setting.precision, this.arena);
    return this.bumps.lanes;
  }

  /** The scenarios' cases, the base case left out, on meshes of their own. */
  private scenarioLanes(): readonly Solving[] {
    const [, ...others] = this.cases;
    this.shifted = others.map((one): Shifted | undefined => {
      if (one === undefined || isDeterministic(one.problem)) return one && { kind: "deterministic" };
      const { problem } = one;
      const [fine, coarse] = grids(problem, this.size, this.arena);
      return { kind: "solved", pair: pairOn(fine, coarse, problem, this.arena) };
    });
    return this.shifted.flatMap((one) => (one?.kind === "solved" ? lanesOf(one.pair) : []));
  }

  /** The value of a case that is not settled, at one of its spots. */
  private caseValue(index: number, spot: number): number {
    const pair = index === 0 ? this.base?.pair : pairOf(this.shifted[index - 1]);
    if (pair !== undefined) return readPair(pair, spot, this.rounding).value;
    const one = this.cases[index] ?? this.cases[0];
    return deterministicValue(one, one.problem.spots[spot]);
  }
}

function pairOf(shifted: Shifted | undefined): Pair | undefined {
  return shifted?.kind === "solved" ? shifted.pair : undefined;
}

export function sensitivities(
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
  trades: readonly SolvedTrade[],
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
  trades: readonly SolvedTrade[],
  solver: LaneSolver,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let going = trades; going.length > 0; going = going.filter(({ lanes }) => lanes.length > 0)) {
    const waiting = going.flatMap(({ lanes }) => lanes);
    const values = await solver.solve(
      waiting.map(({ lane }) => lane),
      signal,
    );
    waiting.forEach((one, i) => (one.values = values[i]));
    for (const trade of going) trade.advance();
  }
}
