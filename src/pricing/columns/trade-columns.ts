import type { AnyTrade, ParsedTrade, Payoff, Trade } from "../../book/index.ts";
import {
  type Dividends,
  flatVolatility,
  isStochastic,
  rollCurve,
  rollDividends,
  rollVolatility,
  type PiecewiseConstant,
  shifted,
  shiftedSigma,
  staysZero,
  type Volatility,
} from "../../market/index.ts";
import { rollBarriers, rollExercise, rollExpiry } from "../roll-forward.ts";
import { BarrierColumns, CONTINUOUS } from "./barrier-columns.ts";
import { DatedTable } from "./dated-table.ts";
import { moveOf, type ScenarioCases } from "./scenario-cases.ts";

/** The codes of the kinds of payoffs. */
export const PAYOFF = { vanilla: 0, digital: 1, expression: 2, basket: 3, average: 4, lookback: 5, swing: 6 } as const;
/** The codes of the kinds of exercise rights. */
export const EXERCISE = { european: 0, american: 1, bermudan: 2 } as const;

/**
 * The terms of a batch's trades and their market as typed arrays, which are the input of pricing methods.
 *
 * Terms that no scenario changes have one entry for each trade. Those that depend on the scenario date have one for
 * each row, a trade in one case of the scenarios: row = trade·cases + case, and case 0 is the unchanged market. Curves,
 * volatilities, dividends, lists of dates and formulas are in tables to which the arrays refer by number. Shifts of
 * rates and volatility belong to the case (`ScenarioCases`).
 */
export class TradeColumns {
  readonly cases: ScenarioCases;

  // One entry a trade. In the order of the batch; `place` is the trade's index in the run, for messages.
  /** The index of each trade in the run. */
  readonly place: Int32Array;
  readonly spot: Float64Array;
  readonly dividendYield: Float64Array;
  /** The code of each payoff (`PAYOFF`). */
  readonly payoff: Uint8Array;
  /** The sign: +1 for a call, −1 for a put. */
  readonly sign: Int8Array;
  readonly strike: Float64Array;
  /** The cash amount that a digital pays. */
  readonly cash: Float64Array;
  /** The number of the payoff's formula, for payoffs given as an expression; see `expressionOf`. */
  readonly expression: Int32Array;
  /** The code of each exercise right (`EXERCISE`). */
  readonly exercise: Uint8Array;

  /**
   * The flags (1) of trades with several factors: several underlyings, a stochastic volatility, or a stochastic short
   * rate.
   */
  readonly severalFactors: Uint8Array;

  /** Why equations of one spot do not price the trade, if so: what it depends on beside, or how it moves. */
  readonly #beyondEquations = new Map<number, string>();

  // One entry a row.
  /**
   * The flags (1) of rows whose trade is settled before the date of the case. Its value is 0, and its other entries are
   * meaningless.
   */
  readonly settled: Uint8Array;
  /** The time to expiry in years from the date of the case. */
  readonly expiry: Float64Array;
  /** The number of each row's curve of short rates, as seen from the date of the case and before its shift. */
  readonly rates: Int32Array;
  /** The number of each row's volatility, likewise. */
  readonly volatility: Int32Array;
  /** The number of each row's dividends, likewise. */
  readonly dividends: Int32Array;
  /** The number of the list of a Bermudan's exercise dates (`schedule`). */
  readonly exerciseDates: Int32Array;
  /** The index in `barriers` of each row's first barrier. */
  readonly firstBarrier: Int32Array;
  /** The number of each row's barriers. */
  readonly barrierCount: Int32Array;

  readonly barriers: BarrierColumns;
  /** Trades in simpler terms of the same value. */
  readonly #replaced = new Map<number, Trade>();
  readonly #batch: readonly ParsedTrade[];
  readonly #rates: DatedTable<PiecewiseConstant>;
  readonly #volatilities: DatedTable<Volatility>;
  readonly #dividends: DatedTable<Dividends>;
  readonly #schedules: (readonly number[])[] = [];
  readonly #expressions: Extract<Payoff, { kind: "expression" }>[] = [];
  readonly #shiftedRates: ShiftedCurves;
  readonly #shiftedSigmas: ShiftedCurves;

  /** Allocates the arrays for a batch, whose trades `add` adds. */
  constructor(batch: readonly ParsedTrade[], cases: ScenarioCases) {
    const trades = batch.length;
    const rows = trades * cases.count;
    this.cases = cases;
    this.#batch = batch;
    this.place = new Int32Array(trades);
    this.spot = new Float64Array(trades);
    this.dividendYield = new Float64Array(trades);
    this.payoff = new Uint8Array(trades);
    this.sign = new Int8Array(trades);
    this.strike = new Float64Array(trades);
    this.cash = new Float64Array(trades);
    this.expression = new Int32Array(trades);
    this.exercise = new Uint8Array(trades);
    this.severalFactors = new Uint8Array(trades);
    this.settled = new Uint8Array(rows);
    this.expiry = new Float64Array(rows);
    this.rates = new Int32Array(rows);
    this.volatility = new Int32Array(rows);
    this.dividends = new Int32Array(rows);
    this.exerciseDates = new Int32Array(rows);
    this.firstBarrier = new Int32Array(rows);
    this.barrierCount = new Int32Array(rows);
    this.barriers = new BarrierColumns(barriersOf(batch) * cases.dates.length);
    this.#rates = new DatedTable(cases.dates, rollCurve);
    this.#volatilities = new DatedTable(cases.dates, rollVolatility);
    this.#dividends = new DatedTable(cases.dates, rollDividends);
    this.#shiftedRates = new ShiftedCurves(shifted);
    this.#shiftedSigmas = new ShiftedCurves(shiftedSigma);
  }

  /** Adds the trade with index `trade` in the batch and index `place` in the run. */
  add(trade: number, given: Trade, place: number): void {
    const terms = this.#withoutVariance(given);
    if (terms !== given) this.#replaced.set(trade, terms);
    const { underlying, payoff, exercise } = terms;
    this.place[trade] = place;
    this.spot[trade] = underlying.spot;
    this.dividendYield[trade] = underlying.dividends.yield;
    this.payoff[trade] = PAYOFF[payoff.kind];
    this.exercise[trade] = EXERCISE[exercise.kind];
    const isSeveral = terms.correlations !== undefined || isStochastic(terms.volatility);
    this.severalFactors[trade] = isSeveral ? 1 : 0;
    const beyond = beyondEquations(terms);
    if (beyond !== undefined) this.#beyondEquations.set(trade, beyond);
    if (payoff.kind === "expression") this.expression[trade] = this.#expressions.push(payoff) - 1;
    else {
      this.sign[trade] = payoff.right === "call" ? 1 : -1;
      this.strike[trade] = payoff.strike;
      this.cash[trade] = payoff.kind === "digital" ? payoff.cash : 0;
    }
    this.#addRows(trade, terms);
  }

  /** Returns a trade of any kind as it was read. @throws the error of one that was not */
  givenOf(trade: number): AnyTrade {
    const parsed = this.#batch[trade];
    if (!parsed.ok) throw parsed.error;
    return parsed.trade;
  }

  /** Returns the terms of an added trade as an object, for methods that price trades one after another. */
  tradeOf(trade: number): Trade {
    return this.#replaced.get(trade) ?? (this.givenOf(trade) as Trade);
  }

  /** A variance that is 0 and stays 0 is no factor: its equation has kinks that nothing smooths. */
  #withoutVariance(terms: Trade): Trade {
    const { volatility, assets } = terms;
    if (volatility.kind !== "heston" || assets !== undefined || !staysZero(volatility)) return terms;
    const mayRise = this.cases.cases.some(({ shift }) => shift.volatility > 0);
    return mayRise ? terms : { ...terms, volatility: flatVolatility(0) };
  }

  /**
   * Returns the feature of a trade that neither finite differences nor closed forms can price, as text that completes
   * the sentence "it has …"; undefined if there is none.
   */
  beyondEquations(trade: number): string | undefined {
    return this.#beyondEquations.get(trade);
  }

  /** Returns the first row of a trade. */
  rowOf(trade: number): number {
    return trade * this.cases.count;
  }

  /** Returns the spot with index k at which a trade is valued: today's for k = 0, then those of the scenarios. */
  spotAt(trade: number, k: number): number {
    const today = this.spot[trade];
    if (k === 0) return today;
    const move = this.cases.scenarios!.spot[k - 1];
    return today * (1 + (typeof move === "number" ? move : moveOf(move, this.tradeOf(trade).underlying.name)));
  }

  /** Returns the short rates of a row from the date of its case on, before the shift of the case. */
  unshiftedRates(row: number): PiecewiseConstant {
    return this.#rates.at(this.rates[row]);
  }

  /** Returns the short rates of a row with the shift of its case. */
  ratesOf(row: number): PiecewiseConstant {
    const { rate } = this.cases.cases[row % this.cases.count].shift;
    return rate === 0
      ? this.unshiftedRates(row)
      : this.#shiftedRates.of(this.rates[row], this.unshiftedRates(row), rate);
  }

  /** Returns the volatility of a row before the shift of its case. */
  unshiftedVolatility(row: number): Volatility {
    return this.#volatilities.at(this.volatility[row]);
  }

  /** Returns σ(t) of a row, shifted; undefined where the volatility depends on the spot. */
  sigmaOf(row: number): PiecewiseConstant | undefined {
    const unshifted = this.unshiftedVolatility(row);
    if (unshifted.kind !== "deterministic") return undefined;
    const { volatility } = this.cases.cases[row % this.cases.count].shift;
    return volatility === 0
      ? unshifted.sigma
      : this.#shiftedSigmas.of(this.volatility[row], unshifted.sigma, volatility);
  }

  /** Returns the dividends after the date of a row's case, including those after expiry. */
  dividendsOf(row: number): Dividends {
    return this.#dividends.at(this.dividends[row]);
  }

  /** Returns a list of dates by its number, in years from the date of the case that refers to it. */
  schedule(number: number): readonly number[] {
    return this.#schedules[number];
  }

  /** Returns the payoff of a trade that is given as a formula. */
  expressionOf(trade: number): Extract<Payoff, { kind: "expression" }> {
    return this.#expressions[this.expression[trade]];
  }

  #addRows(trade: number, terms: Trade): void {
    const { cases, dates } = this.cases;
    const { underlying } = terms;
    const rates = this.#rates.numberOf(underlying.rates);
    const volatility = this.#volatilities.numberOf(terms.volatility);
    const dividends = this.#dividends.numberOf(underlying.dividends);
    const first = this.rowOf(trade);
    let before = 0;
    this.#addDate(first, terms, 0);
    for (let i = 0; i < cases.length; i++) {
      const row = first + i;
      const { date } = cases[i];
      this.rates[row] = rates + date;
      this.volatility[row] = volatility + date;
      this.dividends[row] = dividends + date;
      if (date === 0) this.#copyDate(first, row);
      else if (date === before) this.#copyDate(row - 1, row);
      else this.#addDate(row, terms, dates[date]);
      before = date;
    }
  }

  /** Fills in the columns of a row that depend on its date alone. */
  #addDate(row: number, { expiry, exercise, barriers }: Trade, years: number): void {
    const left = rollExpiry(expiry, years);
    if (left === undefined) {
      this.settled[row] = 1;
      return;
    }
    this.expiry[row] = left;
    const held = rollExercise(exercise, years);
    if (held.kind === "bermudan") this.exerciseDates[row] = this.#addSchedule(held.times);
    this.firstBarrier[row] = this.barriers.count;
    for (const barrier of rollBarriers(barriers, years)) {
      const { monitoring } = barrier;
      this.barriers.add(barrier, monitoring.kind === "continuous" ? CONTINUOUS : this.#addSchedule(monitoring.times));
    }
    this.barrierCount[row] = this.barriers.count - this.firstBarrier[row];
  }

  #addSchedule(times: readonly number[]): number {
    return this.#schedules.push(times) - 1;
  }

  #copyDate(from: number, to: number): void {
    this.settled[to] = this.settled[from];
    this.expiry[to] = this.expiry[from];
    this.exerciseDates[to] = this.exerciseDates[from];
    this.firstBarrier[to] = this.firstBarrier[from];
    this.barrierCount[to] = this.barrierCount[from];
  }
}

function beyondEquations({ payoff, volatility, assets }: Trade): string | undefined {
  if (payoff.kind === "average") return "an average of the spot";
  if (payoff.kind === "lookback") return "an extreme of the spot";
  if (payoff.kind === "swing") return "swing rights";
  const all = [volatility, ...(assets ?? []).map((asset) => asset.volatility)];
  if (all.some(({ kind }) => kind === "stochasticLocal")) return "a stochastic local volatility";
  return all.some(({ kind }) => kind === "gaussianFactors") ? "mean-reverting factors" : undefined;
}

/** Curves under parallel shifts, each computed once. */
class ShiftedCurves {
  readonly #shift: (curve: PiecewiseConstant, by: number) => PiecewiseConstant;
  /** The shifted curves, by shift, then by the curve's number. */
  readonly #known = new Map<number, Map<number, PiecewiseConstant>>();

  constructor(shift: (curve: PiecewiseConstant, by: number) => PiecewiseConstant) {
    this.#shift = shift;
  }

  of(number: number, curve: PiecewiseConstant, by: number): PiecewiseConstant {
    let ofShift = this.#known.get(by);
    if (ofShift === undefined) this.#known.set(by, (ofShift = new Map()));
    let moved = ofShift.get(number);
    if (moved === undefined) ofShift.set(number, (moved = this.#shift(curve, by)));
    return moved;
  }
}

/** A trade that is not as it should be is reported when it is added. */
function barriersOf(batch: readonly ParsedTrade[]): number {
  let count = 0;
  for (const parsed of batch)
    if (parsed.ok && parsed.trade.kind === undefined) count += parsed.trade.barriers?.length ?? 0;
  return count;
}
