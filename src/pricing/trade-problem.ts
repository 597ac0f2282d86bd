import { SpecError } from "../base/errors.ts";
import { memoize } from "../base/memoize.ts";
import type { Payoff, Scenarios, Trade } from "../book/index.ts";
import {
  type Diffusion,
  jumpsBetween,
  MIN_JUMP_IN_PRICE,
  type OneFactorProblem,
  type ProblemDifference,
  regimeChanges,
  SAME_DATE,
  shiftedDifference,
  totalVariance,
} from "../pde/fdm/index.ts";
import { formula, formulaVariables, evaluateColumns } from "../kernel/index.ts";
import type { PiecewiseConstant, Volatility } from "../market/index.ts";
import { ScenarioCases } from "./columns/result-columns.ts";
import { EXERCISE, PAYOFF, TradeColumns } from "./columns/trade-columns.ts";
import { withBarriers } from "./trade-barriers.ts";
import { digitalPayoff, functionPayoff, type PayoffProfile, vanillaPayoff } from "../market/products/index.ts";
import { power } from "../base/elementary.ts";

/** The one-factor problems of a batch's rows (a trade in one case of the scenarios), each made on first use. */
export class RowProblems {
  readonly #columns: TradeColumns;
  readonly #known: ProblemDifference[] = [];
  /** Problems without the shifts of cases; that of date d of trade i is at i·dates + d. */
  readonly #unshifted: ProblemDifference[] = [];

  constructor(columns: TradeColumns) {
    this.#columns = columns;
  }

  /**
   * Returns the problem of a row that is not settled. @throws KernelError for a formula that cannot be compiled;
   * BookError for terms that cannot be priced together
   */
  at(row: number): ProblemDifference {
    return (this.#known[row] ??= this.#shiftedAt(row));
  }

  #shiftedAt(row: number): ProblemDifference {
    const { cases, dates, count } = this.#columns.cases;
    const trade = Math.floor(row / count);
    const { date, shift } = cases[row % count];
    const unshifted = (this.#unshifted[trade * dates.length + date] ??= withBarriers(
      plainProblem(this.#columns, row),
      this.#columns,
      row,
    ));
    return shiftedDifference(unshifted, shift);
  }
}

/**
 * Returns the problems of a trade in the unchanged market, with the spots of the scenarios; `index` is the trade's
 * index in the run. @throws as `RowProblems.at`
 */
export function tradeProblems(trade: Trade, index: number, scenarios: Scenarios | undefined): ProblemDifference {
  return new RowProblems(columnsOf(trade, index, scenarios)).at(0);
}

/** Returns the problem of a trade without its barriers. @throws KernelError for a formula that cannot be compiled */
export function tradeProblem(trade: Trade, scenarios: Scenarios | undefined): OneFactorProblem {
  return plainProblem(columnsOf(trade, 0, scenarios), 0);
}

function columnsOf(trade: Trade, index: number, scenarios: Scenarios | undefined): TradeColumns {
  const columns = new TradeColumns([{ ok: true, trade }], new ScenarioCases(scenarios));
  columns.add(0, trade, index);
  return columns;
}

/**
 * A row's problem without its barriers and the shifts of its case.
 * @throws KernelError for a formula that cannot be read
 */
function plainProblem(columns: TradeColumns, row: number): OneFactorProblem {
  const { cases } = columns;
  const trade = Math.floor(row / cases.count);
  const expiry = columns.expiry[row];
  const american = columns.exercise[trade] === EXERCISE.american;
  const early =
    columns.exercise[trade] === EXERCISE.bermudan
      ? columns.exerciseTimesOf(row).filter((time) => time < expiry * (1 - SAME_DATE))
      : [];
  // One paid at expiry itself still comes before the payoff.
  const dividends = columns
    .dividendsOf(row)
    .discrete.filter(({ time }) => time <= expiry)
    .map((dividend) => ({ ...dividend, time: Math.min(dividend.time, expiry * (1 - 1e-7)) }));
  const volatility = columns.unshiftedVolatility(row);
  // All fields are there from the start: added to a copy later, they would give each problem a shape of its own.
  const problem = {
    spots: Array.from({ length: 1 + cases.spots }, (_, k) => columns.spotAt(trade, k)),
    expiry,
    payoff: payoffProfile(columns, trade),
    american,
    exerciseTimes: early.length > 0 ? early : undefined,
    rates: columns.unshiftedRates(row),
    dividendYield: columns.dividendYield[trade],
    dividends,
    diffusion: diffusionOf(volatility, columns.spot[trade], expiry),
    restarts: undefined as readonly number[] | undefined,
    barriers: undefined,
    knockIns: undefined,
  };
  const isJump = american ? movesBoundary : turnsDrift(problem);
  const restarts = regimeChangesOf(problem, volatility, isJump);
  if (restarts.length > 0) problem.restarts = restarts;
  return problem;
}

type IsJump = (before: number, after: number) => boolean;

/** Tells whether a jump of the short rate moves an exercise boundary. */
const movesBoundary: IsJump = (before, after) => Math.abs(after - before) >= RATE_JUMP;

/** Tells whether a jump changes where drift takes the spot by more than diffusion blurs. */
function turnsDrift(problem: OneFactorProblem): IsJump {
  return (before, after) => Math.abs(after - before) * problem.expiry > Math.sqrt(totalVariance(problem));
}

/** A jump of the short rate by a percentage point, or of volatility by 15 %, moves an exercise boundary at once. */
const RATE_JUMP = 0.01;
const VOLATILITY_JUMP = 0.15;

/**
 * The dates without a dividend at which rates or volatility jump by much: the time grid then starts again there, with
 * the damped, short steps that the sudden move of an exercise boundary needs, or drift that turns where there is little
 * else, or diffusion that begins to smooth what it has not smoothed before.
 */
function regimeChangesOf(problem: OneFactorProblem, volatility: Volatility, isRateJump: IsJump): readonly number[] {
  const { dividends, rates, expiry, american } = problem;
  const dates = jumps(rates, isRateJump);
  if (volatility.kind === "deterministic" && american)
    dates.push(
      ...jumps(
        volatility.sigma,
        (before, after) => Math.abs(after - before) >= VOLATILITY_JUMP * Math.min(before, after),
      ),
    );
  dates.push(...regimeChanges(problem));
  const isNew = (time: number, i: number): boolean =>
    time < expiry &&
    dates.indexOf(time) === i &&
    !dividends.some((dividend) => Math.abs(dividend.time - time) < 1e-6 * expiry);
  return dates.filter(isNew).sort((a, b) => a - b);
}

function jumps({ times, values }: PiecewiseConstant, isJump: IsJump): number[] {
  return times.filter((_, i) => isJump(values[i], values[i + 1]));
}

/** Returns the payoff of a trade at expiry as a function of the spot. */
export function payoffProfile(columns: TradeColumns, trade: number): PayoffProfile {
  if (columns.payoff[trade] === PAYOFF.expression)
    return expressionPayoff(columns.tradeOf(trade).payoff as ExpressionPayoff);
  const right = columns.sign[trade] > 0 ? "call" : "put";
  const strike = columns.strike[trade];
  return columns.payoff[trade] === PAYOFF.vanilla
    ? vanillaPayoff(right, strike)
    : digitalPayoff(right, strike, columns.cash[trade]);
}

const MAX_FORMULAS = 512;
/** Formulas compile once however many trades carry them; bounded, since a stream may bring new ones for ever. */
const formulas = memoize((text: string) => formula(text, ["S"]), MAX_FORMULAS);

type ExpressionPayoff = Payoff & { kind: "expression" };

function expressionPayoff({ expression, kinks, place: path = "payoff" }: ExpressionPayoff): PayoffProfile {
  const evaluate = formulas(expression);
  return functionPayoff((spot) => evaluate(spot), kinks, `${path}: "${expression}"`);
}

const localVolatilities = memoize((text: string): Extract<Diffusion, { kind: "local" | "formula" }> => {
  const sigma = formula(text, ["S", "t"]);
  if (formulaVariables(text, ["S", "t"]).has("t")) return { kind: "formula", sigma, shift: 0 };
  return { kind: "local", sigma: (spot) => sigma(spot, 0), shift: 0 };
}, MAX_FORMULAS);

/** Prices at which σ(S) is looked at for jumps: parts of the spot, from 1/LOOKED_UP_TO to as many times it. */
const LOOKED_UP_TO = 32;
const LOOKS = Float64Array.from({ length: 513 }, (_, i) => power(LOOKED_UP_TO, i / 256 - 1));
/** The prices around a spot, the same array for it: compiled formulas keep their values at one whatever the time. */
const pricesAround = memoize((spot: number) => LOOKS.map((part) => part * spot), 256);
/** Times at which σ(S, t) is looked at for jumps, parts of the life. */
const FEW_MOMENTS = [0.02, 0.27, 0.52, 0.77, 0.98];

/** The prices at which σ(S) jumps, or whether σ(S, t) does at any, by formula and spot. */
const jumpsInPrice = memoize((text: string, spot: number, start: number, life: number): readonly number[] => {
  const diffusion = localVolatilities(text);
  const prices = pricesAround(spot);
  if (diffusion.kind === "local") return jumpsBetween(diffusion.sigma, prices, MIN_JUMP_IN_PRICE);
  const times = FEW_MOMENTS.map((part) => start + part * life);
  const jumps: number[] = [];
  const look = (values: Float64Array, time: number): void => {
    jumps.push(...jumpsBetween((price) => diffusion.sigma(price, time), prices, MIN_JUMP_IN_PRICE, values));
  };
  evaluateColumns(diffusion.sigma, prices, times, look, true);
  return jumps;
}, MAX_FORMULAS);

function localDiffusion(
  { expression, added = 0, start = 0 }: Volatility & { kind: "local" },
  spot: number,
  expiry: number,
): Diffusion {
  const diffusion = localVolatilities(expression);
  if (diffusion.kind === "local") return { ...diffusion, shift: added, jumps: jumpsInPrice(expression, spot, 0, 0) };
  const jumps = jumpsInPrice(expression, spot, start, expiry).length > 0;
  return { ...diffusion, shift: added, start, jumps };
}

/** Returns the diffusion of a volatility for the one-factor solver. @throws SpecError a stochastic volatility */
export function diffusionOf(volatility: Volatility, spot: number, expiry: number): Diffusion {
  switch (volatility.kind) {
    case "deterministic":
      return { kind: "deterministic", sigma: volatility.sigma };
    case "cev": {
      const { sigma, beta, added = 0 } = volatility;
      return { kind: "local", sigma: (spot) => sigma * power(spot, beta - 1), shift: added };
    }
    case "displaced": {
      const { sigma, shift, added = 0 } = volatility;
      return { kind: "local", sigma: (spot) => (sigma * (spot + shift)) / spot, shift: added };
    }
    case "surface":
      return { kind: "surface", surface: volatility.surface, shift: volatility.added ?? 0 };
    case "local":
      return localDiffusion(volatility, spot, expiry);
    case "heston":
    case "sabr":
    case "gaussianFactors":
    case "stochasticLocal":
      throw new SpecError(`volatility.${volatility.kind}: a factor of its own, which no equation of one factor has`);
    default:
      return volatility satisfies never;
  }
}
