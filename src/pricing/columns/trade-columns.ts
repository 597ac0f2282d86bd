import type { AnyTrade, Barrier, Exercise, ParsedTrade, Trade } from "../../book/index.ts";
import {
  type Dividends,
  flatVolatility,
  isStochastic,
  type PiecewiseConstant,
  rollCurve,
  rollDividends,
  rollVolatility,
  shifted,
  shiftedSigma,
  staysZero,
  type Volatility,
} from "../../market/index.ts";
import { memoizeBy } from "../../base/memoize.ts";
import { rollBarriers, rollExercise, rollExpiry } from "../terms.ts";
import { spotMoveOf, type ScenarioCases } from "./result-columns.ts";

/** The codes of the kinds of payoffs. */
export const PAYOFF = { vanilla: 0, digital: 1, expression: 2, basket: 3, average: 4, lookback: 5, swing: 6 } as const;
/** The codes of the kinds of exercise rights. */
export const EXERCISE = { european: 0, american: 1, bermudan: 2 } as const;

/**
 * The terms of a batch's trades and their market as typed arrays, which are the input of pricing methods.
 *
 * Terms that no scenario changes have one entry for each trade. Those that depend on the scenario date have one for
 * each row, a trade in one case of the scenarios: row = trade·cases + case, and case 0 is the unchanged market. Curves,
 * volatilities and dividends as seen from a date are made once however many trades share them. Shifts of rates and
 * volatility belong to the case (`ScenarioCases`).
 */
export class TradeColumns {
  readonly cases: ScenarioCases;

  // One entry a trade. In the order of the batch; `indexInRun` is the trade's index in the run, for messages.
  /** The index of each trade in the run. */
  readonly indexInRun: Int32Array;
  readonly spot: Float64Array;
  readonly dividendYield: Float64Array;
  /** The code of each payoff (`PAYOFF`). */
  readonly payoff: Uint8Array;
  /** The sign: +1 for a call, −1 for a put. */
  readonly sign: Int8Array;
  readonly strike: Float64Array;
  /** The cash amount that a digital pays. */
  readonly cash: Float64Array;
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

  /** Trades in simpler terms of the same value. */
  readonly #replaced = new Map<number, Trade>();
  readonly #batch: readonly ParsedTrade[];
  /** What is left of trade i on date d, at i·dates + d; undefined where it is settled. */
  readonly #left: (Left | undefined)[] = [];
  readonly #rollers: readonly Roller[];
  readonly #shiftedRates = shiftedOnce(shifted);
  readonly #shiftedSigmas = shiftedOnce(shiftedSigma);

  /** Allocates the arrays for a batch, whose trades `add` adds. */
  constructor(batch: readonly ParsedTrade[], cases: ScenarioCases) {
    const trades = batch.length;
    const rows = trades * cases.count;
    this.cases = cases;
    this.#batch = batch;
    this.indexInRun = new Int32Array(trades);
    this.spot = new Float64Array(trades);
    this.dividendYield = new Float64Array(trades);
    this.payoff = new Uint8Array(trades);
    this.sign = new Int8Array(trades);
    this.strike = new Float64Array(trades);
    this.cash = new Float64Array(trades);
    this.exercise = new Uint8Array(trades);
    this.severalFactors = new Uint8Array(trades);
    this.settled = new Uint8Array(rows);
    this.expiry = new Float64Array(rows);
    this.#rollers = cases.dates.map((years) => rollerTo(years));
  }

  /** Adds the trade with index `trade` in the batch and index `indexInRun` in the run. */
  add(trade: number, given: Trade, indexInRun: number): void {
    const terms = this.#withoutVariance(given);
    if (terms !== given) this.#replaced.set(trade, terms);
    const { underlying, payoff, exercise } = terms;
    this.indexInRun[trade] = indexInRun;
    this.spot[trade] = underlying.spot;
    this.dividendYield[trade] = underlying.dividends.yield;
    this.payoff[trade] = PAYOFF[payoff.kind];
    this.exercise[trade] = EXERCISE[exercise.kind];
    const isSeveral = terms.correlations !== undefined || isStochastic(terms.volatility);
    this.severalFactors[trade] = isSeveral ? 1 : 0;
    const beyond = beyondEquations(terms);
    if (beyond !== undefined) this.#beyondEquations.set(trade, beyond);
    if (payoff.kind !== "expression") {
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
    return today * (1 + (typeof move === "number" ? move : spotMoveOf(move, this.tradeOf(trade).underlying.name)));
  }

  /** Returns the short rates of a row from the date of its case on, before the shift of the case. */
  unshiftedRates(row: number): PiecewiseConstant {
    return this.#at(row).rates;
  }

  /** Returns the short rates of a row with the shift of its case. */
  ratesOf(row: number): PiecewiseConstant {
    return this.#shiftedRates(this.#at(row).rates, this.cases.cases[row % this.cases.count].shift.rate);
  }

  /** Returns the volatility of a row before the shift of its case. */
  unshiftedVolatility(row: number): Volatility {
    return this.#at(row).volatility;
  }

  /** Returns σ(t) of a row, shifted; undefined where the volatility depends on the spot. */
  sigmaOf(row: number): PiecewiseConstant | undefined {
    const { volatility } = this.#at(row);
    if (volatility.kind !== "deterministic") return undefined;
    return this.#shiftedSigmas(volatility.sigma, this.cases.cases[row % this.cases.count].shift.volatility);
  }

  /** Returns the dividends after the date of a row's case, including those after expiry. */
  dividendsOf(row: number): Dividends {
    return this.#at(row).dividends;
  }

  /** Returns the exercise dates of a row's Bermudan in years from the date of its case; none for other rights. */
  exerciseTimesOf(row: number): readonly number[] {
    const { exercise } = this.#at(row);
    return exercise.kind === "bermudan" ? exercise.times : [];
  }

  /** Returns the barriers of a row that are still monitored, with times in years from the date of its case. */
  barriersOf(row: number): readonly Barrier[] {
    return this.#at(row).barriers;
  }

  #at(row: number): Left {
    const { cases, dates, count } = this.cases;
    return this.#left[Math.floor(row / count) * dates.length + cases[row % count].date]!;
  }

  #addRows(trade: number, terms: Trade): void {
    const { cases, dates } = this.cases;
    const { underlying, volatility, expiry, exercise, barriers } = terms;
    const lives = dates.map((years, d) => {
      const life = rollExpiry(expiry, years);
      const roll = this.#rollers[d];
      if (life !== undefined)
        this.#left[trade * dates.length + d] = {
          rates: roll.rates(underlying.rates),
          volatility: roll.volatility(volatility),
          dividends: roll.dividends(underlying.dividends),
          exercise: rollExercise(exercise, years),
          barriers: rollBarriers(barriers, years),
        };
      return life;
    });
    const first = this.rowOf(trade);
    cases.forEach(({ date }, i) => {
      const life = lives[date];
      if (life === undefined) this.settled[first + i] = 1;
      else this.expiry[first + i] = life;
    });
  }
}

/** The market and the terms of a trade as seen from a date. */
interface Left {
  readonly rates: PiecewiseConstant;
  readonly volatility: Volatility;
  readonly dividends: Dividends;
  readonly exercise: Exercise;
  readonly barriers: readonly Barrier[];
}

/** Functions that return market data as seen from a date, each once however many trades share it. */
interface Roller {
  readonly rates: (curve: PiecewiseConstant) => PiecewiseConstant;
  readonly volatility: (volatility: Volatility) => Volatility;
  readonly dividends: (dividends: Dividends) => Dividends;
}

function rollerTo(years: number): Roller {
  const once = <T extends object>(roll: (of: T, years: number) => T): ((of: T) => T) =>
    years === 0 ? (of) => of : memoizeBy((of) => roll(of, years));
  return { rates: once(rollCurve), volatility: once(rollVolatility), dividends: once(rollDividends) };
}

/** Returns a function for curves under parallel shifts, each made once. */
function shiftedOnce(shift: (curve: PiecewiseConstant, by: number) => PiecewiseConstant) {
  const known = new Map<number, (curve: PiecewiseConstant) => PiecewiseConstant>();
  return (curve: PiecewiseConstant, by: number): PiecewiseConstant => {
    if (by === 0) return curve;
    let own = known.get(by);
    if (own === undefined) known.set(by, (own = memoizeBy((of) => shift(of, by))));
    return own(curve);
  };
}

function beyondEquations({ payoff, volatility, assets }: Trade): string | undefined {
  if (payoff.kind === "average") return "an average of the spot";
  if (payoff.kind === "lookback") return "an extreme of the spot";
  if (payoff.kind === "swing") return "swing rights";
  const all = [volatility, ...(assets ?? []).map((asset) => asset.volatility)];
  if (all.some(({ kind }) => kind === "stochasticLocal")) return "a stochastic local volatility";
  return all.some(({ kind }) => kind === "gaussianFactors") ? "mean-reverting factors" : undefined;
}
