/**
 * European options on a fitted smile, priced by its implied volatilities: Black's formula for calls and puts, the slope
 * of a call in its strike for digitals, and for formulas the expectation under the density that the smile has.
 */
import { butterflyFunction } from "../../../calibration/index.ts";
import {
  affineSpot,
  discountFactor,
  quotedVariance,
  type Smile,
  smileVariance,
  type VarianceAt,
} from "../../../market/index.ts";
import { hostNormalCdf, logNormalOption } from "../../../market/models/index.ts";
import { gaussLegendre } from "../../../numerics/linalg/index.ts";
import type { Trade } from "../../../book/index.ts";
import { type Measured, type ResultColumns, STATUS } from "../../columns/result-columns.ts";
import { PAYOFF, type TradeColumns } from "../../columns/trade-columns.ts";
import { type Direction, MOVED_BIAS, slopeAlong } from "../../plan/directions.ts";
import { type Batch, type MethodPlan, type MethodSession, readEach } from "../../plan/method.ts";
import { payoffProfile } from "../../trade-problem.ts";
import { costOf } from "../fdm/cost.ts";

/** A value and an estimate of its error. */
export interface ValueWithError {
  readonly value: number;
  readonly error: number;
}

/** Rounding errors of a value, relative to the sizes that it is a sum of. */
const ROUNDING = 1e-14;

/** Differences of forwards that rounding explains. */
const SAME = 1e-12;

/**
 * Returns the fitted smile that prices a European trade, or the reason why there is none, as text that completes the
 * sentence "it has …". A smile holds in the market that it was fitted in, and knows the dividends up to its last
 * expiry.
 */
export function smileOf(columns: TradeColumns, trade: number): Smile | string {
  const row = columns.rowOf(trade);
  const volatility = columns.unshiftedVolatility(row);
  if (volatility.kind !== "surface" || volatility.smile === undefined) return "a volatility that depends on the spot";
  const { smile } = volatility;
  const { forwards } = smile;
  const horizon = forwards[forwards.length - 1].time;
  const isLater = ({ time, cash }: { readonly time: number; readonly cash: number }): boolean =>
    cash > 0 && time > horizon && time <= columns.expiry[row];
  if (columns.dividendsOf(row).discrete.some(isLater)) return "cash dividends after the last quote";
  if (columns.spot[trade] !== smile.spot) return MOVED;
  const affine = affineAt(columns, trade, horizon);
  const isSame = forwards.every(({ time, forward }) => {
    const { scale, cash } = affine.at(time);
    return Math.abs(scale * affine.start + cash - forward) <= SAME * forward;
  });
  return isSame ? smile : MOVED;
}

const MOVED = "a volatility fitted to quotes at another spot or other rates";

/**
 * Returns the spot of a trade as an affine function of a martingale (`affineSpot`), with the dividends up to the time
 * `horizon`.
 */
export const affineAt = (columns: TradeColumns, trade: number, horizon: number): ReturnType<typeof affineSpot> => {
  const row = columns.rowOf(trade);
  const { discrete } = columns.dividendsOf(row);
  const dividends = { yield: columns.dividendYield[trade], discrete };
  return affineSpot({ spot: columns.spot[trade], rates: columns.unshiftedRates(row), dividends }, horizon);
};

/**
 * Returns the present value of a European trade on a smile, in the market of today. Its error estimate is the misfit of
 * the smile to the quotes, and to their slope, at the strikes of the trade.
 */
export function valueOnSmile(columns: TradeColumns, trade: number, smile: Smile): ValueWithError {
  const { expiry, cash, forward, discount } = forwardOf(columns, trade, smile);
  const at = new SmileAt({ cash, forward, of: (k) => smileVariance(smile, k, expiry) });
  const quoted = new SmileAt({ cash, forward, of: (k) => quotedVariance(smile, k, expiry) });
  const { value, error } = undiscounted(columns, trade, at, quoted);
  return { value: discount * value, error: discount * (error + ROUNDING * (forward + cash)) };
}

/** The forward of a trade's expiry without the cash to come, and the discount factor. */
function forwardOf(columns: TradeColumns, trade: number, { forwards }: Smile) {
  const row = columns.rowOf(trade);
  const expiry = columns.expiry[row];
  const affine = affineAt(columns, trade, Math.max(forwards[forwards.length - 1].time, expiry));
  const { scale, cash } = affine.at(expiry);
  return { expiry, cash, forward: scale * affine.start, discount: discountFactor(columns.unshiftedRates(row), expiry) };
}

/**
 * Returns the slopes of the value of a European trade along moves of its smile; undefined along other moves. The error
 * estimates are those of the differences alone.
 */
function slopesOnSmile(
  columns: TradeColumns,
  trade: number,
  smile: Smile,
  directions: readonly Direction[],
): readonly (Measured | undefined)[] {
  const { expiry, cash, forward, discount } = forwardOf(columns, trade, smile);
  const given = columns.tradeOf(trade);
  const valueOn = (of: Smile): number => {
    const at = new SmileAt({ cash, forward, of: (k) => smileVariance(of, k, expiry) });
    return discount * undiscounted(columns, trade, at, at).value;
  };
  const smileAfter = ({ volatility }: Trade): Smile | undefined =>
    volatility.kind === "surface" ? volatility.smile : undefined;
  return directions.map((direction) => {
    const { factor, of, size, moves, moved } = direction;
    if (factor !== "volatility" || of !== given.underlying.name) return undefined;
    const first = smileAfter(moved(moves[0] * size) as Trade);
    if (first === undefined) return undefined;
    if (isSameAt(smile, first, expiry)) return { value: 0, error: 0 };
    const value = slopeAlong(direction, given, (one) => valueOn(smileAfter(one) ?? smile));
    return { value, error: MOVED_BIAS.exact * Math.abs(value) + (1e-13 * (forward + cash)) / Math.abs(size) };
  });
}

/** Tells whether two smiles have the same curves on both sides of an expiry, between which nothing else matters. */
function isSameAt({ slices, cubics }: Smile, other: Smile, expiry: number): boolean {
  if (cubics !== undefined) return false;
  const next = slices.findIndex(({ time }) => time >= expiry);
  const late = next < 0 ? slices.length - 1 : next;
  return [Math.max(late - 1, 0), late].every((i) => slices[i].curve === other.slices[i]?.curve);
}

function undiscounted(columns: TradeColumns, trade: number, at: SmileAt, quoted: SmileAt): ValueWithError {
  const [strike, right] = [columns.strike[trade], columns.sign[trade] > 0 ? "call" : "put"] as const;
  if (columns.payoff[trade] === PAYOFF.vanilla) {
    const value = at.option(strike, right);
    return { value, error: Math.abs(value - quoted.option(strike, right)) };
  }
  if (columns.payoff[trade] === PAYOFF.expression) {
    const { value, kinks } = payoffProfile(columns, trade);
    const found = at.expectation((spot) => value(spot), kinks);
    return { value: found.value, error: found.error + missedAtKinks({ value, kinks }, at, quoted) };
  }
  const above = at.above(strike);
  const cash = columns.cash[trade];
  const error = Math.abs(cash) * (ROUNDING + missedAbove(strike, at, quoted));
  return { value: cash * (right === "call" ? above : 1 - above), error };
}

/** What the probability to end above a strike misses of the quotes; they may have arbitrage. */
const missedAbove = (strike: number, at: SmileAt, quoted: SmileAt): number =>
  Math.min(Math.abs(at.above(strike) - quoted.above(strike)), 1);

/** Parts of a kink within which a formula is looked at for its jump and its change of slope. */
const BESIDE = 1e-6;

/** What the expectation of a formula misses of the quotes, by its jumps and changes of slope at its kinks. */
function missedAtKinks(
  { value, kinks }: { readonly value: (spot: number) => number; readonly kinks: readonly number[] },
  at: SmileAt,
  quoted: SmileAt,
): number {
  return kinks.reduce((sum, kink) => {
    const h = BESIDE * kink;
    const [farther, below, above, farthest] = [kink - 2 * h, kink - h, kink + h, kink + 2 * h].map(value);
    const [left, right] = [(below - farther) / h, (farthest - above) / h];
    const jump = Math.abs(above - right * h - (below + left * h));
    const bend = Math.abs(right - left) * Math.abs(at.option(kink, "call") - quoted.option(kink, "call"));
    return sum + bend + jump * missedAbove(kink, at, quoted);
  }, 0);
}

/** The distribution of the spot at one expiry: its cash dividends to come, its forward without them, and w(k). */
interface Distribution {
  readonly cash: number;
  readonly forward: number;
  readonly of: (k: number) => VarianceAt;
}

/** The order of the quadrature, the deepest bisection, and the reach of an expectation in standard deviations. */
const [ORDER, DEEPEST, REACH] = [16, 12, 10] as const;
/** The first panels of an expectation for each standard deviation, and the largest relative error of one. */
const [PANELS, TOLERANCE] = [1, 1e-12] as const;

/** European options on a spot S = X + cash at one expiry, X with a smile in k = ln((S − cash)/forward). */
class SmileAt {
  readonly #of: Distribution;

  constructor(of: Distribution) {
    this.#of = of;
  }

  /** Returns E[max(φ·(S − strike), 0)]. */
  option(strike: number, right: "call" | "put"): number {
    const { forward, cash, of } = this.#of;
    const own = strike - cash;
    if (!(own > 0)) return right === "call" ? forward - own : 0;
    const variance = Math.max(of(Math.log(own / forward)).variance, 0);
    return logNormalOption(right, own, Math.log(forward) - 0.5 * variance, variance);
  }

  /** Returns the probability of S > strike, less the slope of a call in its strike: N(d₂) − φ(d₂)·∂√w/∂k. */
  above(strike: number): number {
    const { forward, cash, of } = this.#of;
    const own = strike - cash;
    if (!(own > 0)) return 1;
    const k = Math.log(own / forward);
    const { variance, slope } = of(k);
    if (!(variance > 0)) return k < 0 ? 1 : k > 0 ? 0 : 0.5;
    const deviation = Math.sqrt(variance);
    const d2 = -k / deviation - 0.5 * deviation;
    return hostNormalCdf(d2) - (normalDensity(d2) * 0.5 * slope) / deviation;
  }

  /**
   * Returns E[f(S)]. Between kinks f is a line, whose expectation options give, and a rest that is integrated under the
   * density ∂²C/∂K².
   */
  expectation(f: (spot: number) => number, kinks: readonly number[]): ValueWithError {
    const { cash, forward } = this.#of;
    const ends = [cash, ...kinks.filter((kink) => kink > cash), Number.POSITIVE_INFINITY];
    let [value, error] = [0, 0];
    for (let i = 0; i < ends.length - 1; i++) {
      const [from, to] = [ends[i], ends[i + 1]];
      const width = Number.isFinite(to) ? to - from : Math.max(from - cash, forward);
      const [a, b] = [from + 0.25 * width, from + 0.75 * width];
      const slope = (f(b) - f(a)) / (b - a);
      const line = (spot: number): number => f(a) + slope * (spot - a);
      const beyond = (spot: number): number =>
        Number.isFinite(spot) ? this.option(spot, "call") * slope + line(spot) * this.above(spot) : 0;
      const rest = this.#integral((spot) => f(spot) - line(spot), from, to);
      value += beyond(from) - beyond(to) + rest.value;
      error += rest.error + ROUNDING * (Math.abs(line(from)) + Math.abs(slope) * forward);
    }
    return { value, error };
  }

  /** E[g(S)] for S between two spots, by adaptive Gauss–Legendre quadrature in k. */
  #integral(g: (spot: number) => number, low: number, high: number): ValueWithError {
    const { forward, cash, of } = this.#of;
    const size = Math.max(Math.abs(g(low + 1e-3 * forward)), forward);
    const density = (k: number): number => {
      const at = of(k);
      if (!(at.variance > 0)) return 0;
      const deviation = Math.sqrt(at.variance);
      return (butterflyFunction({ k, ...at }) * normalDensity(-k / deviation - 0.5 * deviation)) / deviation;
    };
    const integrand = (k: number): number => {
      const spot = forward * Math.exp(k) + cash;
      const value = g(spot);
      // Rounding of a line is no rest.
      return Math.abs(value) <= 1e-13 * (size + spot) ? 0 : value * density(k);
    };
    const { variance } = of(0);
    const deviation = Math.sqrt(variance);
    const reach = REACH * deviation + variance;
    const from = Math.max(low > cash ? Math.log((low - cash) / forward) : -Infinity, -reach);
    const to = Math.min(Number.isFinite(high) ? Math.log((high - cash) / forward) : Infinity, reach);
    if (!(to > from)) return { value: 0, error: 0 };
    const panels = Math.max(Math.ceil((PANELS * (to - from)) / deviation), 1);
    const width = (to - from) / panels;
    let [value, error] = [0, 0];
    for (let i = 0; i < panels; i++) {
      const own = adaptive(integrand, [from + i * width, from + (i + 1) * width], size);
      value += own.value;
      error += own.error;
    }
    // Beyond the reach the integrand goes on to fall, within a deviation at least.
    const tails =
      (low > cash ? 0 : Math.abs(integrand(-reach))) + (Number.isFinite(high) ? 0 : Math.abs(integrand(reach)));
    return { value, error: error + tails * deviation };
  }
}

const normalDensity = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

function gauss(f: (x: number) => number, from: number, to: number): number {
  const { nodes, weights } = gaussLegendre(ORDER);
  const [centre, half] = [0.5 * (from + to), 0.5 * (to - from)];
  let sum = 0;
  for (let i = 0; i < ORDER; i++) sum += weights[i] * f(centre + half * nodes[i]);
  return half * sum;
}

function adaptive(
  f: (x: number) => number,
  [from, to]: readonly [number, number],
  size: number,
  whole = gauss(f, from, to),
  depth = 0,
): ValueWithError {
  const middle = 0.5 * (from + to);
  const [left, right] = [gauss(f, from, middle), gauss(f, middle, to)];
  const error = Math.abs(left + right - whole);
  if (error <= TOLERANCE * size || depth === DEEPEST) return { value: left + right, error };
  const a = adaptive(f, [from, middle], size, left, depth + 1);
  const b = adaptive(f, [middle, to], size, right, depth + 1);
  return { value: a.value + b.value, error: a.error + b.error };
}

/** Microseconds that a value takes on one core. */
const COST = 1;

/** Tells whether a trade is worth more than one number: its Greeks and scenarios move the market of its smile. */
const isMoved = ({ columns, settings }: Batch): boolean =>
  settings.greeks !== "none" || columns.cases.scenarios !== undefined;

/** Returns the expected cost of a European trade on a fitted smile, in microseconds of one core. */
export const smileCost = (batch: Batch, trade: number): number =>
  isMoved(batch) ? costOf(batch.columns, trade) : COST;

/**
 * European trades on fitted smiles. Their values are those of the implied volatilities. Greeks and scenarios are
 * differences of finite-difference values under the local volatility of the same fit. Today's misfit of that local
 * volatility is subtracted at all spots, in proportion to the remaining time.
 */
export class SmilePlan implements MethodPlan {
  readonly #columns: TradeColumns;
  readonly #trades: readonly number[];
  readonly #moved: MethodPlan | undefined;
  readonly #directionsOf: Batch["directionsOf"];

  private constructor({ columns, directionsOf }: Batch, trades: readonly number[], moved: MethodPlan | undefined) {
    this.#columns = columns;
    this.#directionsOf = directionsOf;
    this.#trades = trades;
    this.#moved = moved;
  }

  /** Prepares trades; `sessionOf` opens finite differences where they are needed. @throws the signal's reason */
  static async of(
    batch: Batch,
    trades: readonly number[],
    sessionOf: () => MethodSession,
    signal: AbortSignal | undefined,
  ): Promise<SmilePlan> {
    const { directionsOf: _, ...withoutDirections } = batch;
    const moved = isMoved(batch) ? await sessionOf().plan(withoutDirections, trades, signal) : undefined;
    return new SmilePlan(batch, trades, moved);
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    await this.#moved?.run(signal);
  }

  async read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    await this.#moved?.read(results, signal);
    await readEach(this.#trades, results, signal, (trade) => this.#readTrade(trade, results));
  }

  [Symbol.dispose](): void {
    this.#moved?.[Symbol.dispose]();
  }

  #readTrade(trade: number, results: ResultColumns): void {
    if (results.status[trade] === STATUS.failed) return;
    const columns = this.#columns;
    const smile = smileOf(columns, trade) as Smile;
    const { value, error } = valueOnSmile(columns, trade, smile);
    if (this.#directionsOf !== undefined)
      results.slopes.set(trade, slopesOnSmile(columns, trade, smile, this.#directionsOf(trade)));
    const misfit = value - results.value[trade];
    results.value[trade] = value;
    results.errorEstimate[trade] = error;
    if (this.#moved !== undefined) {
      results.theta[trade] -= misfit / columns.expiry[columns.rowOf(trade)];
      if (columns.cases.scenarios !== undefined) this.#takeOff(misfit, trade, results);
    }
    results.priced(trade, "implied-volatility");
  }

  #takeOff(misfit: number, trade: number, { value, scenarioValues, scenarioErrors }: ResultColumns): void {
    const columns = this.#columns;
    const { count, spots } = columns.cases;
    const first = columns.rowOf(trade);
    for (let row = first; row < first + count; row++) {
      if (columns.settled[row] !== 0) continue;
      const left = columns.expiry[row] / columns.expiry[first];
      for (let k = 0; k < spots; k++) scenarioValues[row * spots + k] += left * misfit;
      scenarioErrors[row] += left * Math.abs(misfit);
    }
    // The scenario that moves nothing is the trade's value, to the last bit.
    for (let k = 0; k < spots; k++)
      if (columns.spotAt(trade, k + 1) === columns.spot[trade]) scenarioValues[first * spots + k] = value[trade];
  }
}
