/** The market of one scenario: what its date and its moves make of the parts that trades depend on. */
import { BookError } from "../../base/errors.ts";
import { runBlocking } from "../../base/event-loop.ts";
import { type FactorKind, quotedSmile, type ScriptedTrade, type Settlement, type Trade } from "../../book/index.ts";
import {
  combined,
  type ForwardCurve,
  integrate,
  movedByExpiry,
  type PairPower,
  pairRates,
  type PiecewiseConstant,
  type RatesModel,
  rollCurve,
  rollDividends,
  rollVolatility,
  shiftedSigma,
  shiftedVolatility,
  type Underlying,
  type Volatility,
} from "../../market/index.ts";
import { rollSettlement } from "../settlement-moves.ts";
import { type Asset, rollForward } from "../terms.ts";
import { forwardMove, isStill, type MaturityMove, moveAt } from "./moves-by-maturity.ts";

/** The moves of the factors of a market. */
export interface MarketMoves {
  /** Returns the parallel move of a factor: relative for spots and exchange rates, absolute for others; 0 for none. */
  by(kind: FactorKind, of: string): number;
  /** Returns the moves of a factor by maturity, ascending; none for one that does not move so. */
  byMaturity(kind: FactorKind, of: string): readonly MaturityMove[];
}

/** The moves of a market that stays as it is. */
export const STILL: MarketMoves = { by: () => 0, byMaturity: () => [] };

/**
 * The market of a scenario. Its parts are those of today as seen from the scenario's date, at which forward rates,
 * dividends and volatilities have kept their dates, and moved. Each part is made once for all trades that share it; one
 * that nothing moves is the object that it was.
 */
export class MovedMarket {
  /** The years from `asOf` to the scenario's date. */
  readonly years: number;
  readonly #moves: MarketMoves;
  readonly #forwards = new Map<string, PiecewiseConstant>();
  /** Parts by the factor that moves them, because two currencies may share a curve, and by what they are today. */
  readonly #made = new Map<string, Map<object, unknown>>();

  constructor(years: number, moves: MarketMoves) {
    this.years = years;
    this.#moves = moves;
  }

  /** Returns the move of a factor, the same for all maturities. @throws BookError for one that moves by maturity */
  by(kind: FactorKind, of: string): number {
    if (this.#moves.byMaturity(kind, of).length > 0)
      throw new BookError("", `a move of ${kind}.${of} by maturity: this trade takes parallel ones`);
    return this.#moves.by(kind, of);
  }

  /** Returns the move of the forward rates of a currency from the scenario's date on. */
  forwards(currency: string): PiecewiseConstant {
    let move = this.#forwards.get(currency);
    if (move === undefined) {
      move = forwardMove(this.#moves.by("rate", currency), this.#moves.byMaturity("rate", currency));
      this.#forwards.set(currency, move);
    }
    return move;
  }

  /** Returns a part of the market that a named factor moves, which is made once of what the part is today. */
  once<T extends object>(factor: string, today: T, make: () => T): T {
    let parts = this.#made.get(factor);
    if (parts === undefined) this.#made.set(factor, (parts = new Map<object, unknown>()));
    let made = parts.get(today) as T | undefined;
    if (made === undefined) parts.set(today, (made = make()));
    return made;
  }

  /** Returns a curve of a currency's rates. */
  curve(currency: string, today: ForwardCurve): ForwardCurve {
    const move = this.forwards(currency);
    if (isStill(move) && this.years === 0) return today;
    return this.once(`rate ${currency}`, today, () => ({
      ...today,
      ...combined(rollCurve(today, this.years), move, (rate, by) => rate + by),
    }));
  }

  /**
   * Returns a volatility of an underlying, given the underlying where it is its own. @throws BookError for a move by
   * expiry or of the skew that this volatility does not have; SpecError for calendar arbitrage
   */
  volatility(name: string, today: Volatility, underlying?: Underlying): Volatility {
    const { years } = this;
    const by = this.#moves.by("volatility", name);
    const byExpiry = this.#moves.byMaturity("volatility", name);
    const skew = this.#moves.by("skew", name);
    if (by === 0 && byExpiry.length === 0 && skew === 0 && years === 0) return today;
    return this.once(`volatility ${name}`, today, () => {
      const roll = (one: Volatility): Volatility => (years === 0 ? one : rollVolatility(one, years));
      if (byExpiry.length === 0 && skew === 0) return by === 0 ? roll(today) : shiftedVolatility(roll(today), by);
      if (today.kind === "deterministic" && skew === 0)
        return { kind: "deterministic", sigma: this.#sigma(name, today.sigma) };
      const smile = underlying && quotedSmile(underlying);
      if (underlying === undefined || smile === undefined)
        throw new BookError(
          "",
          skew === 0
            ? `volatility.${name} moves by expiry: expected a number, a term structure or quotes, or a parallel move`
            : `skew.${name} moves: expected an underlying with quotes, whose volatilities move by their strikes`,
        );
      const moves = smile.quotes.map(({ time, strike, forward }) => {
        const ofExpiry = byExpiry.length === 0 ? 0 : moveAt(byExpiry, Math.max(time - years, 0));
        return by + ofExpiry + skew * Math.log(strike / forward);
      });
      const gone = smile.quotes.find(({ implied }, i) => implied + moves[i] <= 0);
      if (gone !== undefined)
        throw new BookError("", `the quote of ${name} at ${gone.expiry}, ${gone.strike} moves to 0 or below`);
      const fitted = runBlocking(() => smile.refit({ carry: underlying, keep: "strike", moves }));
      if (fitted === undefined) throw new BookError("", `the moved quotes of ${name} have no fit`);
      return roll(fitted);
    });
  }

  /** Returns a model of the rates of a currency. */
  ratesModel(currency: string, today: RatesModel): RatesModel {
    const { years } = this;
    const [rate, volatility] = [this.forwards(currency), this.by("rateVolatility", currency)];
    if (years === 0 && isStill(rate) && volatility === 0) return today;
    return this.once(`model ${currency}`, today, () => ({ ...today, moved: { years, rate, volatility } }));
  }

  /** Returns the factor by which the spot of a pair moves, given the quoted pairs from which it follows. */
  exchange(quoted: readonly PairPower[]): number {
    return quoted.reduce((all, { pair, power }) => all * (1 + this.by("fx", pair)) ** power, 1);
  }

  /** Returns an underlying of a trade that does not take its volatility, which may be one that cannot move so. */
  carry(today: Underlying): Underlying {
    return this.once("carry", today, () => this.#carry(today));
  }

  /** Returns an underlying, with the volatility that it has in the scenario. */
  #underlying(today: Underlying): Underlying {
    return this.once("underlying", today, () => {
      const then = this.carry(today);
      const volatility = today.volatility && this.volatility(today.name, today.volatility, today);
      return then === today && volatility === today.volatility ? today : { ...then, volatility };
    });
  }

  #carry(today: Underlying): Underlying {
    const { name, spot, currency, rates, pair, dividends } = today;
    // The rates of a pair less its yield are its drift, and the yield is the last foreign rate.
    const yields = pair === undefined ? this.by("dividend", name) : this.forwards(pair.base).values.at(-1)!;
    const factor = pair === undefined ? 1 + this.by("spot", name) : this.exchange(pair.quoted);
    const both = pair && {
      ...pair,
      domestic: this.curve(currency, pair.domestic),
      foreign: this.curve(pair.base, pair.foreign),
    };
    const then = rollDividends(dividends, this.years);
    const moved = yields === 0 ? then : { ...then, yield: then.yield + yields };
    const isStillPair = both?.domestic === pair?.domestic && both?.foreign === pair?.foreign;
    const ofPair = both && !isStillPair ? pairRates(both, moved.yield) : rates;
    const curve = both === undefined ? this.curve(currency, rates) : ofPair;
    if (this.years === 0 && factor === 1 && yields === 0 && curve === rates) return today;
    return {
      ...today,
      spot: spot * factor,
      rates: curve,
      dividends: moved,
      volatility: undefined,
      ...(both === undefined ? {} : { pair: both }),
    };
  }

  /** Returns how an option is paid. */
  settlement(today: Settlement): Settlement {
    const { currency, discount, exchange } = today;
    return {
      ...rollSettlement(today, this.years),
      discount: this.curve(currency, discount),
      exchange: exchange.map((rate) => {
        if (rate === undefined) return undefined;
        const factor = this.exchange(rate.quoted);
        // Spot prices are for the spot date: in today's money they move with both rates.
        const [paid, own] = [currency, rate.currency].map((one) => integrate(this.forwards(one), rate.lag));
        return {
          ...rate,
          spot: rate.spot * factor,
          rate: rate.rate * factor ** rate.power * Math.exp(own - paid),
          sigma: this.#sigma(rate.pair, rate.sigma),
        };
      }),
    };
  }

  /** A volatility σ(t) of an underlying, or of an exchange rate by the name of its pair among the underlyings. */
  #sigma(name: string, today: PiecewiseConstant): PiecewiseConstant {
    const then = rollCurve(today, this.years);
    const by = this.#moves.by("volatility", name);
    const byExpiry = this.#moves.byMaturity("volatility", name);
    if (byExpiry.length === 0) return shiftedSigma(then, by);
    const times = byExpiry.map(({ at }) => at);
    return movedByExpiry(then, times, (time) => by + moveAt(byExpiry, time));
  }

  /** Returns an underlying of a trade with its volatility, which may be the trade's own. */
  asset({ underlying, volatility }: Asset): Asset {
    if (volatility !== underlying.volatility)
      return { underlying: this.carry(underlying), volatility: this.volatility(underlying.name, volatility) };
    const then = this.#underlying(underlying);
    return { underlying: then, volatility: then.volatility ?? volatility };
  }

  /** Returns a trade on underlyings; undefined where nothing is left of it. */
  onUnderlyings<T extends Trade | ScriptedTrade>(trade: T): T | undefined {
    const then = rollForward(trade, this.years);
    if (then === undefined) return undefined;
    const { assets, settlement } = trade;
    return {
      ...then,
      ...this.asset(trade),
      ...(settlement === undefined ? {} : { settlement: this.settlement(settlement) }),
      ...(assets === undefined ? {} : { assets: assets.map((asset) => this.asset(asset)) }),
    };
  }
}
