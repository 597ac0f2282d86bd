import type { SessionOf } from "../backend.ts";
import { spotMoveOf, ResultColumns } from "../columns/result-columns.ts";
import { TradeColumns } from "../columns/trade-columns.ts";
import { closedForm } from "../methods/closed-form/closed-form.ts";
import { type TradeBounds, type Range, UNBOUNDED } from "../plan/kind.ts";
import { type Batch, boundsRounding, type MethodSession, type PricingMethod } from "../plan/method.ts";
import { assetsOf, type Terms, termsOf } from "../terms.ts";
import { RowProblems } from "../trade-problem.ts";
import { averageBounds, basketBounds, lookbackBounds, swingBounds } from "./payoffs.ts";
import {
  assetValues,
  type BoundsAt,
  digitalBounds,
  moneyValues,
  type BoundInputs,
  vanillaBounds,
} from "./bound-inputs.ts";

/**
 * Returns the bounds of options: those of their payoffs (`boundsOf`), and the values of the European options with the
 * same terms.
 */
export async function optionBounds(
  batch: Batch,
  trades: readonly number[],
  sessionOf: SessionOf,
  signal: AbortSignal | undefined,
): Promise<TradeBounds> {
  return boundsWith(batch, await EuropeanCounterparts.of(batch, trades, sessionOf, signal));
}

/**
 * Returns the bounds of options, given the values of the European options with the same terms where these are known.
 */
export function boundsWith({ columns, precision }: Batch, twins: EuropeanCounterparts | undefined): TradeBounds {
  const { cases, dates, scenarios } = columns.cases;
  let last: { readonly trade: number; readonly spots: readonly (readonly number[])[] } | undefined;
  /** The spots of a trade's underlyings, today's before those of the scenarios. */
  const spotsOf = (trade: number): readonly (readonly number[])[] => {
    if (last?.trade !== trade) {
      const underlyings = assetsOf(columns.tradeOf(trade)).map(({ underlying }) => underlying);
      const moved = (scenarios?.spot ?? []).map((move) =>
        underlyings.map(({ spot, name }) => spot * (1 + spotMoveOf(move, name))),
      );
      last = { trade, spots: [underlyings.map(({ spot }) => spot), ...moved] };
    }
    return last.spots;
  };
  return {
    at(trade, k) {
      const { date, shift } = cases[k];
      const then = termsOf(columns.tradeOf(trade), dates[date], shift);
      if (then === undefined) return undefined;
      const bounds = boundsOf(then);
      return (spot) => withTwin(bounds(spotsOf(trade)[spot]), then, twins?.valueOf(trade, k, spot));
    },
    rounding(trade, at, value) {
      const spot = Math.max(...spotsOf(trade)[at]);
      return boundsRounding(precision, spot, value);
    },
  };
}

/** The bounds with what the same trade without early exercise and barriers is worth, where it is known. */
function withTwin(range: Range, { exercise, barriers }: Terms, twin: EuropeanValue | undefined): Range {
  if (twin === undefined) return range;
  const isEarly = exercise.kind !== "european";
  if (isEarly && barriers.length === 0) return { ...range, low: Math.max(range.low, twin.value - twin.error) };
  const isOut = !isEarly && barriers.every(({ rebate }) => rebate === 0);
  return isOut ? { ...range, high: Math.min(range.high, twin.value + twin.error) } : range;
}

/**
 * Returns the function that computes the bounds of a trade's value at given spots. The bounds assume only that
 * discounted spots, with dividends added back, are martingales, or supermartingales where a volatility may grow without
 * bound. They therefore hold with negative rates, local and stochastic volatility and discrete dividends:
 *
 *   European   the no-arbitrage bounds from the forward; Black and Scholes' value itself where it applies
 *   early      at least what exercise pays now and the European bound; at most the largest discounted strike or spot
 *   barriers   at least zero, at most the bound without barriers, and the largest rebate
 */
export function boundsOf(terms: Terms): BoundsAt {
  const { exercise, barriers } = terms;
  const isEarly = exercise.kind !== "european";
  const isExercisableNow =
    exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0));
  const sides: BoundInputs = {
    terms,
    money: moneyValues(terms),
    assets: assetValues(terms),
    isEarly,
    isExercisableNow,
  };
  const plain = plainBounds(sides);
  if (barriers.length === 0) return plain;
  const rebate = rebateOf(sides);
  return (spots) => {
    const { low, high } = plain(spots);
    return { low: low === Number.NEGATIVE_INFINITY ? low : Math.min(low, 0), high: Math.max(high, 0) + rebate };
  };
}

/** Bounds of a trade without its barriers. */
function plainBounds(sides: BoundInputs): BoundsAt {
  const { payoff, assets } = sides.terms;
  switch (payoff.kind) {
    case "vanilla":
      return assets.length === 1 ? vanillaBounds(sides, payoff) : unbounded;
    case "digital":
      return assets.length === 1 ? digitalBounds(sides, payoff) : unbounded;
    case "basket":
      return basketBounds(sides, payoff);
    case "average":
      return averageBounds(sides, payoff);
    case "lookback":
      return lookbackBounds(sides, payoff);
    case "swing":
      return swingBounds(sides, payoff);
    case "expression":
      return constantBounds(sides, Number(payoff.expression));
    case "script":
      return unbounded;
    default:
      return payoff satisfies never;
  }
}

/** The bounds of a payoff that is a constant, as one-touches and no-touches have. */
function constantBounds({ money, isEarly }: BoundInputs, paid: number): BoundsAt {
  if (!Number.isFinite(paid)) return unbounded;
  const value = paid === 0 ? 0 : paid * (isEarly ? money.largest : money.atExpiry);
  return () => ({ low: Math.min(value, 0), high: Math.max(value, 0) });
}

const unbounded: BoundsAt = () => UNBOUNDED;

/** The most that rebates are worth: the largest, if it is paid at the dearest time. */
function rebateOf({ terms: { barriers }, money }: BoundInputs): number {
  let largest = 0;
  for (const { type, rebate, rebateAt } of barriers) {
    const atExpiry = type.endsWith("-in") || rebateAt === "expiry";
    if (rebate > 0) largest = Math.max(largest, rebate * (atExpiry ? money.atExpiry : money.largest));
  }
  return largest;
}

/** A European value and its error estimate. */
export interface EuropeanValue {
  readonly value: number;
  readonly error: number;
}

/**
 * The values of European options with the same terms as the American trades of a batch in Heston's model, in all of its
 * scenarios. They are lower bounds of the American values.
 */
export class EuropeanCounterparts {
  readonly #results: ResultColumns;
  readonly #columns: TradeColumns;
  /** The index of a trade's European counterpart in the results, by the index of the trade. */
  readonly #number: ReadonlyMap<number, number>;

  private constructor(results: ResultColumns, columns: TradeColumns, number: ReadonlyMap<number, number>) {
    this.#results = results;
    this.#columns = columns;
    this.#number = number;
  }

  /**
   * Prices the European counterparts of those trades that are American in Heston's model; undefined if there are none.
   */
  static async of(
    batch: Batch,
    trades: readonly number[],
    sessionOf: (method: PricingMethod) => MethodSession,
    signal: AbortSignal | undefined,
  ): Promise<EuropeanCounterparts | undefined> {
    const { columns } = batch;
    const wanted = trades.filter((trade) => hasEuropeanCounterpart(columns, trade));
    if (wanted.length === 0) return undefined;
    const twins = wanted.map((trade) => {
      const plain = { exercise: { kind: "european" }, barriers: [] } as const;
      return { ok: true, trade: { ...columns.tradeOf(trade), ...plain } } as const;
    });
    const own = new TradeColumns(twins, columns.cases);
    twins.forEach((twin, i) => own.add(i, twin.trade, columns.indexInRun[wanted[i]]));
    const settings = { ...batch.settings, greeks: "none", sensitivityErrorEstimates: false } as const;
    const twinBatch = { ...batch, columns: own, problems: new RowProblems(own), settings };
    const accepted = [...twins.keys()].filter((i) => typeof closedForm.accepts(twinBatch, i) === "number");
    if (accepted.length === 0) return undefined;
    const results = new ResultColumns(twins.length, columns.cases);
    using plan = await sessionOf(closedForm).plan(twinBatch, accepted, signal);
    await plan.run(signal);
    await plan.read(results, signal);
    return new EuropeanCounterparts(results, own, new Map(accepted.map((i) => [wanted[i], i])));
  }

  /**
   * Returns the value of a trade's European twin in case k of the scenarios at the spot with index `spot`, 0 for
   * today's; undefined without a twin.
   */
  valueOf(trade: number, k: number, spot: number): EuropeanValue | undefined {
    const i = this.#number.get(trade);
    if (i === undefined) return undefined;
    const { value, errorEstimate, scenarioValues, scenarioErrors } = this.#results;
    if (spot === 0) return { value: value[i], error: errorEstimate[i] };
    const row = this.#columns.rowOf(i) + k;
    return { value: scenarioValues[row * this.#columns.cases.spots + spot - 1], error: scenarioErrors[row] };
  }
}

function hasEuropeanCounterpart(columns: TradeColumns, trade: number): boolean {
  if (columns.severalFactors[trade] === 0) return false;
  const { volatility, payoff, exercise, barriers, assets, underlying } = columns.tradeOf(trade);
  if (volatility.kind !== "heston" || assets !== undefined || underlying.shortRate !== undefined) return false;
  return (
    (payoff.kind === "vanilla" || payoff.kind === "digital") && (exercise.kind !== "european" || barriers.length > 0)
  );
}
