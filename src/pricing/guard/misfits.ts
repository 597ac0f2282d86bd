/** The difference between local-volatility prices and the fitted smile, which is added to error estimates. */
import type { Trade } from "../../book/index.ts";
import { LocalMisfit, type Misfit, expectationMisfit } from "../../calibration/index.ts";
import { discountFactor, type Smile, smileVariance, type Volatility } from "../../market/index.ts";
import { type ResultColumns, type ResultMethod, STATUS, WARNING } from "../columns/result-columns.ts";
import { PAYOFF, type TradeColumns } from "../columns/trade-columns.ts";
import { affineAt, smileOf } from "../methods/closed-form/smile.ts";
import type { Batch } from "../plan/method.ts";
import { payoffProfile } from "../trade-problem.ts";

/** The methods whose values follow a local volatility. */
const LOCAL: readonly ResultMethod[] = ["fdm", "adi", "sparse-grid", "montecarlo", "quantization"];

/** The error of a misfit, which a coarse grid finds: parts of itself, and of the largest at any strike. */
const [OF_ITSELF, OF_ALL] = [0.25, 0.25] as const;

/** The standard deviations on either side of a strike within which the largest misfit counts. */
const WINDOW = 0.5;

/**
 * Adds to the error estimates of trades on one fitted smile the misfit of its local volatility: that of the European
 * option with the same payoff and expiry, whose price the smile gives. Early exercise and barriers usually reduce the
 * misfit, but they depend on other strikes as well, so the largest misfit at nearby strikes is used. For the amounts
 * that barriers pay or cancel, the misfit of the probability of a breach is added.
 */
export function addMisfits({ columns }: Batch, trades: readonly number[], results: ResultColumns): void {
  for (const trade of trades) {
    if (results.status[trade] !== STATUS.priced || !LOCAL.includes(results.methodOf(trade))) continue;
    const volatility = columns.unshiftedVolatility(columns.rowOf(trade));
    if (volatility.kind !== "surface" || volatility.smile === undefined) continue;
    if (columns.severalFactors[trade] !== 0 || columns.tradeOf(trade).assets !== undefined) continue;
    if (typeof smileOf(columns, trade) === "string") continue;
    const misfit = misfitOfTrade(columns, trade, volatility);
    results.errorEstimate[trade] += misfit;
    if (misfit > results.targetErrors[trade]) results.warnings[trade] |= WARNING.smileMissed;
    if (columns.cases.scenarios !== undefined) addToScenarios(columns, trade, misfit, results);
  }
}

/** The misfit vanishes in proportion to the time that is left. */
function addToScenarios(columns: TradeColumns, trade: number, misfit: number, results: ResultColumns): void {
  const first = columns.rowOf(trade);
  for (let row = first; row < first + columns.cases.count; row++)
    if (columns.settled[row] === 0)
      results.scenarioErrors[row] += (columns.expiry[row] / columns.expiry[first]) * misfit;
}

type FittedSurface = Extract<Volatility, { kind: "surface" }>;

/** The misfits of each fitted volatility; all trades on it have the market that it was fitted in. */
const misfitsOf = new WeakMap<FittedSurface, LocalMisfit>();

function misfitOfTrade(columns: TradeColumns, trade: number, volatility: FittedSurface): number {
  const row = columns.rowOf(trade);
  const expiry = columns.expiry[row];
  const { barriers } = columns.tradeOf(trade);
  const at = (time: number): MisfitAt => misfitAt(columns, trade, volatility, time);
  return barriers.reduce(
    (sum, barrier) => sum + misfitAtBarrier(columns, trade, barrier, at(Math.min(barrier.to, expiry))),
    misfitOfPayoff(columns, trade, at(expiry)),
  );
}

/** The misfit of a fitted volatility at one time, in the market of a trade. */
interface MisfitAt {
  readonly misfit: Misfit;
  readonly forward: number;
  readonly cash: number;
  readonly discount: number;
  /** Returns the strikes κ nearby: half a standard deviation on either side of a spot that is above the cash. */
  readonly near: (spot: number) => readonly [number, number];
}

function misfitAt(columns: TradeColumns, trade: number, volatility: FittedSurface, time: number): MisfitAt {
  const smile = volatility.smile as Smile;
  const horizon = smile.forwards[smile.forwards.length - 1].time;
  let all = misfitsOf.get(volatility);
  if (all === undefined) {
    all = new LocalMisfit({ smile, surface: volatility.surface, affine: affineAt(columns, trade, horizon) });
    misfitsOf.set(volatility, all);
  }
  const misfit = all.at(time);
  const affine = affineAt(columns, trade, Math.max(horizon, time));
  const { scale, cash } = affine.at(time);
  const forward = scale * affine.start;
  const near = (spot: number): readonly [number, number] => {
    const kappa = (spot - cash) / forward;
    const { variance } = smileVariance(smile, Math.log(kappa), time);
    const width = WINDOW * Math.sqrt(Math.max(variance, 0));
    return [kappa * Math.exp(-width), kappa * Math.exp(width)];
  };
  const discount = discountFactor(columns.unshiftedRates(columns.rowOf(trade)), time);
  return { misfit, forward, cash, discount, near };
}

function misfitOfPayoff(columns: TradeColumns, trade: number, at: MisfitAt): number {
  const { misfit, forward, cash, discount, near } = at;
  if (columns.payoff[trade] === PAYOFF.expression) {
    const { value } = payoffProfile(columns, trade);
    const { sum, size } = expectationMisfit(misfit, (kappa) => value(forward * kappa + cash));
    return discount * widened(sum, size);
  }
  // Strikes that float are near the spot.
  const strike = columns.strike[trade] > 0 ? columns.strike[trade] : columns.spot[trade];
  if (!(strike > cash)) return 0;
  const [size, unit] =
    columns.payoff[trade] === PAYOFF.digital
      ? [steepest, hits(columns, trade) * Math.abs(columns.cash[trade])]
      : ([largest, forward] as const);
  return discount * unit * widened(size(misfit, near(strike)), size(misfit, EVERYWHERE));
}

/** By reflection a level is met about twice as often as the spot ends beyond it. */
const REFLECTED = 2;

/**
 * How often a digital pays for each time that the spot ends beyond its strike: it is met early if it may be exercised.
 */
const hits = (columns: TradeColumns, trade: number): number =>
  columns.tradeOf(trade).exercise.kind === "european" ? 1 : REFLECTED;

/** What a barrier pays or takes away, by the misfit of the probability that it is met. */
function misfitAtBarrier(
  columns: TradeColumns,
  trade: number,
  { level, rebate }: Trade["barriers"][number],
  at: MisfitAt,
): number {
  const { misfit, cash, discount, near } = at;
  if (!(level > cash)) return 0;
  const isPlain = columns.payoff[trade] <= PAYOFF.expression;
  const jump = rebate + (isPlain ? Math.abs(payoffProfile(columns, trade).value(level)) : 0);
  return Math.max(discount, 1) * REFLECTED * jump * (1 + OF_ITSELF) * steepest(misfit, near(level));
}

const EVERYWHERE = [0, Number.POSITIVE_INFINITY] as const;

const widened = (misfit: number, all: number): number => (1 + OF_ITSELF) * Math.abs(misfit) + OF_ALL * all;

/** The largest size of a misfit of calls from one strike to another. */
function largest({ kappa, calls }: Misfit, [from, to]: readonly [number, number]): number {
  let size = 0;
  for (let j = 1; j < kappa.length; j++) {
    if (kappa[j] < from || kappa[j - 1] > to) continue;
    const at = (x: number): number => {
      const share = Math.min(Math.max((x - kappa[j - 1]) / (kappa[j] - kappa[j - 1]), 0), 1);
      return Math.abs(calls[j - 1] + share * (calls[j] - calls[j - 1]));
    };
    size = Math.max(size, at(from), at(to));
  }
  return size;
}

/** The largest slope of a misfit of calls from one strike to another: that of the probability to be above it. */
function steepest({ kappa, calls }: Misfit, [from, to]: readonly [number, number]): number {
  let size = 0;
  for (let j = 1; j < kappa.length; j++) {
    if (kappa[j] < from || kappa[j - 1] > to) continue;
    size = Math.max(size, Math.abs((calls[j] - calls[j - 1]) / (kappa[j] - kappa[j - 1])));
  }
  return size;
}
