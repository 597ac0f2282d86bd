/** The interface of a kind of trade, which the pipeline uses; `kinds.ts` has the table of kinds. */
import { BookError } from "../../base/errors.ts";
import type { AnyTrade, Bucket, KeyRate, PricedTrade } from "../../book/index.ts";
import type { SessionOf } from "../backend.ts";
import type { ResultColumns } from "../columns/result-columns.ts";
import type { Direction, MoveSizes } from "./directions.ts";
import type { MovedMarket } from "./moved-market.ts";
import type { Batch, PricingMethod } from "./method.ts";

/** The bounds of the values of a batch's trades of one kind. */
export interface TradeBounds {
  /**
   * Returns the bounds of a trade's value in case k of the scenarios, as a function of the index of a spot, 0 for
   * today's; undefined where nothing is left of the trade.
   */
  at(trade: number, k: number): ((spot: number) => Range & Partial<Bounds>) | undefined;
  /** Returns the rounding error of a value and of its bounds, at the spot with the index `spot`. */
  rounding(trade: number, spot: number, value: number): number;
}

/** The changes of one trade's market inputs between the two dates. @stable */
export interface MarketMoves {
  /** The time in years between the two dates, or to expiry if that is earlier. */
  readonly years: number;
  /** The change of the quoted spot, in the currency. */
  readonly spot: number;
  /** The amount by which dividends paid between the dates reduced the spot. */
  readonly paid: number;
  /**
   * The parallel shift of the volatility that gives the later total variance to expiry. For σ that depends on S, it is
   * its change at the earlier spot. For quotes it is the level's move at the first quoted expiry not before the
   * trade's, or the last one.
   */
  readonly volatility: number;
  /** The parallel shift of the rates that gives the later discount factor to expiry. */
  readonly rate: number;
}

/** A trade in two markets with the same terms. */
export interface Pair<T extends AnyTrade = AnyTrade> {
  readonly before: T;
  /** The trade `before` at the later date, if its own market had followed its forwards. */
  readonly rolled: T;
  readonly after: T;
  readonly years: number;
}

/**
 * Copies of the rolled-forward trade (`Pair.rolled`), one for each part of the market. In each copy only that part has
 * its value at the later date. A copy is undefined if its part has not moved. In `exDividend` the spot is reduced by
 * the dividends paid between the two dates. `credit` is absent for kinds of trades without credit.
 */
export type SingleMoveCopies<T> = {
  readonly [Part in "exDividend" | "spot" | "volatility" | "rate" | "dividends" | "credit"]?: T | undefined;
};

/** How the risk of a kind's trades is split into buckets. */
export interface Buckets<T extends AnyTrade> {
  /**
   * Returns the buckets that follow from a trade's result, such as the sensitivity to the spot, or from closed forms.
   */
  known(trade: T, result: PricedTrade): readonly Bucket[];
  /** Returns the directions of all other buckets. */
  directions(trade: T, sizes: MoveSizes): readonly Direction[];
}

/** How a kind's changes of value are explained by the sensitivities of its results. */
export interface FirstOrder {
  readonly moves: MarketMoves;
  /** Returns the change of ln of the discount factor to t years. */
  logDiscount(t: number): number;
  /** The change of the credit spread or hazard rate. */
  readonly credit: number;
}

/** The derivatives of a value by the rates of one currency. */
export interface RateSlopes {
  /** That by a parallel move of all curves. */
  readonly parallel: number;
  /** Those by zero rates at times in years; undefined where a curve has no such nodes. */
  readonly nodes: readonly KeyRate[] | undefined;
}

/**
 * A kind of trade: its pricing methods, and the functions that bound, check, roll forward and explain the values of its
 * trades.
 */
export interface TradeKind<T extends AnyTrade = AnyTrade> {
  readonly methods: readonly PricingMethod[];
  /** Adds a trade to the batch columns that its methods read. @throws the error of the trade */
  add(batch: Batch, trade: number, terms: T): void;
  /** Returns why no method prices a trade; undefined if the reasons of the single methods say it all. */
  reasonForNone?(terms: T, reasonOf: (method: PricingMethod["name"]) => string): string | undefined;
  /** Returns the target error of a method for a trade, in the currency; NaN if rounding is its only error. */
  targetErrorOf(batch: Batch, trade: number, method: PricingMethod): number;
  /** Returns the bounds of the values of some trades. @throws the signal's reason */
  boundsOf(
    batch: Batch,
    trades: readonly number[],
    sessionOf: SessionOf,
    signal: AbortSignal | undefined,
  ): Promise<TradeBounds>;
  /** Returns warnings about the terms of a trade, such as inputs in another unit. */
  warnings(terms: T): readonly string[];
  /** Returns warnings about the fits to quotes that a trade's value depends on, each of them once. */
  doubts(terms: T): readonly string[];
  /** Widens error estimates by errors of the model that the methods do not see. */
  widen?(batch: Batch, trades: readonly number[], results: ResultColumns): void;
  readonly buckets: Buckets<T>;
  /** Returns the trade `years` later if its own market follows its forwards; undefined where nothing is left of it. */
  rollForward(trade: T, years: number): T | undefined;
  /** Returns the trade in the market of a scenario; undefined where nothing is left of it at the scenario's date. */
  inMarket(trade: T, market: MovedMarket): T | undefined;
  /** True where values at several spots of one market cost hardly more than one, because one solution has them. */
  readonly sharesSpots?: boolean;
  /** True where a trade that expired before a later book was worth its payoff at the spot of that book. */
  readonly settlesAtSpot?: boolean;
  /**
   * Returns the name of the first term in which trades of the kind differ; undefined if they are the same. Fixings and
   * quotes are not terms but market data.
   */
  difference(rolled: T, after: T): string | undefined;
  /** Returns the trade with each part of its market that has moved, each alone. */
  views(pair: Pair<T>): SingleMoveCopies<T>;
  /**
   * Returns the cash that the holder received within the given years; 0 without this function. @throws SpecError where
   * that depends on a fixing that neither book has
   */
  paid?(before: T, years: number): number;
  /** Returns the derivatives of the value by the spots of quoted currency pairs; without it, deltas have them. */
  byPair?(trade: T): ReadonlyMap<string, number>;
  /** Returns the derivatives of the value by the rates of each currency; without it, rho and key rates have them. */
  byRates?(trade: T): ReadonlyMap<string, RateSlopes>;
  /** Returns the moves of the market; a kind without this function is expanded to second order. */
  firstOrder?(pair: Pair<T>): FirstOrder;
}

/** Returns the cheapest of some methods for a trade; undefined where none accepts it. */
export function cheapest(
  methods: readonly PricingMethod[],
  batch: Batch,
  trade: number,
  failed?: PricingMethod,
): PricingMethod | undefined {
  let best: PricingMethod | undefined;
  let cost = Number.POSITIVE_INFINITY;
  for (const method of methods) {
    if (method === failed || method.minCost >= cost) continue;
    const answer = method.accepts(batch, trade);
    if (typeof answer === "number" && answer < cost) [best, cost] = [method, answer];
  }
  return best;
}

/**
 * Returns the cheapest method of a kind for a trade, or of those with the requested name, which several may share.
 * @throws BookError where there is none
 */
export function methodFor(kind: TradeKind, batch: Batch, trade: number): PricingMethod {
  const { columns, settings } = batch;
  const asked = settings.method;
  const { methods } = kind;
  const offered = asked === "auto" ? methods : methods.filter(({ name, alias }) => name === asked || alias === asked);
  const best = cheapest(offered, batch, trade);
  if (best !== undefined) return best;
  const quoted = (names: Iterable<string>): readonly string[] => Array.from(new Set(names), (name) => `"${name}"`);
  const answers = methods.map((method) => ({ method, name: method.name, answer: method.accepts(batch, trade) }));
  const refuse = (why: string): BookError => new BookError(`trades[${columns.indexInRun[trade]}]`, why);
  if (asked === "auto") {
    const reasons = answers.map(({ name, answer }) => `"${name}": it has ${answer}`);
    const reasonOf = (of: string): string => String(answers.find(({ name }) => name === of)!.answer);
    const why = kind.reasonForNone?.(columns.givenOf(trade), reasonOf) ?? "no method prices this trade";
    throw refuse(`${why}; the methods and what they do not price: ${reasons.join("; ")}`);
  }
  const others = answers.filter(({ answer }) => typeof answer === "number").map(({ name }) => name);
  const own = answers.filter(({ method }) => offered.includes(method)).map(({ answer }) => answer);
  const reason = own.length === 0 ? "this kind of trade" : `this trade, it has ${[...new Set(own)].join(" and ")}`;
  throw refuse(
    `method "${asked}" does not price ${reason}; expected method ${quoted(["auto", ...others]).join(" or ")}`,
  );
}

/** The lower and upper bound of a value. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Bounds of a trade's value, each with its reason, a phrase that completes "the worth of …". */
export interface Bounds extends Range {
  readonly lowIs: string;
  readonly highIs: string;
}

/** The range that contains all numbers. */
export const UNBOUNDED: Range = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** Returns the distance of a value from a range: 0 inside; NaN if the value is NaN. */
export function distanceFromRange({ low, high }: Range, value: number): number {
  return value < low ? low - value : value > high ? value - high : value - value;
}

/**
 * A value may be this many error estimates outside and still be let out, with an estimate that reaches to the bound:
 * one that is further out is wrong. Monte Carlo's estimate is an interval that some values miss.
 */
const WITHIN = 2;

/**
 * Tells whether a value at distance `far` from its bounds may be reported, given the distance `allowed` by its error
 * estimate.
 */
export const isWithinEstimate = (far: number, allowed: number): boolean => far <= WITHIN * allowed;

/** Returns the error message for a value that lies outside its bounds. */
export function boundsMessage(
  method: string,
  value: number,
  { low, high, ...reasons }: Range & Partial<Bounds>,
): string {
  const isLow = value < low;
  const [bound, than] = isLow ? [low, "less"] : [high, "more"];
  const why = isLow ? reasons.lowIs : reasons.highIs;
  const reason = why === undefined ? "" : ` (${why})`;
  const most = isLow ? "least" : "most";
  return `method "${method}" gives ${value}, ${than} than ${bound}, which it is worth at ${most}${reason}`;
}
