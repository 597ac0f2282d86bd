import {
  type AnyTrade,
  type Book,
  failedResult,
  labelsOf,
  type PricedTrade,
  quote,
  type Trade,
  type TradeAsset,
  type TradeResult,
} from "../../book/index.ts";
import { BookError, SpecError } from "../../base/errors.ts";
import { isDoubt } from "../../market/index.ts";
import { kindOf } from "../kinds.ts";
import { marketMoves, withDividends } from "../market-moves.ts";
import type { Greeks } from "../options.ts";
import type { Pair } from "../plan/kind.ts";
import { type Attribution, firstOrder, revaluation } from "./attribution.ts";
import type { Match } from "./match.ts";
import type { AssetTransitionCache } from "./asset-transition.ts";
import { assetsOf, attributeByTransition, isExplainedByTransition } from "./transition-attribution.ts";
import { taylor } from "./taylor.ts";
import type { ExplainedTrade, ExplainMethod, MarketMoves } from "./types.ts";

/**
 * A line of the report that is not priced yet: the trades that must be priced for it, and the function that computes
 * the line from their prices.
 */
export interface Row {
  readonly before: AnyTrade | undefined;
  /** The trade in the later book; for a trade that has matured, the trade as settled. */
  readonly after: AnyTrade | undefined;
  /** The further trades to be priced for the line. */
  readonly views: readonly AnyTrade[];
  /** The sensitivities that the line needs of any of these trades; by default those of the method. */
  readonly greeks?: Greeks | undefined;
  /**
   * Returns the line, from the results of the trade in both books, where it has them, and those of the further trades
   * `views`.
   */
  result(
    before: TradeResult | undefined,
    after: TradeResult | undefined,
    values: readonly TradeResult[],
  ): ExplainedTrade;
}

/** The method of an explanation, and the transitions of underlyings that its lines share. */
export interface RowMethod {
  readonly name: ExplainMethod;
  readonly transitions: AssetTransitionCache;
}

/**
 * Returns the line of a matched trade, with the trades to be priced for it. A line that cannot be explained, such as
 * one with a dividend that pays all of the spot, has its error as result.
 */
export function rowOf(match: Match, later: Book, years: number, method: RowMethod): Row {
  const row = unlabelled(match, later, years, method);
  const labels = labelsOfMatch(match);
  return {
    ...row,
    result(...results) {
      return { ...row.result(...results), ...labels };
    },
  };
}

/** The labels of a line: those of the later trade, or of the earlier one if it is gone. */
function labelsOfMatch(match: Match): Pick<ExplainedTrade, "underlying" | "currency" | "tags"> {
  if (match.kind === "error") return match.tags === undefined ? {} : { tags: match.tags };
  const { before, after } = { before: undefined, after: undefined, ...match };
  const { underlying, currency, tags } = labelsOf(after ?? before);
  return { underlying, currency, ...(tags === undefined ? {} : { tags }) };
}

function unlabelled(match: Match, later: Book, years: number, method: RowMethod): Row {
  try {
    switch (match.kind) {
      case "explained":
        return pairRow(match, "explained", method);
      case "matured":
        if (kindOf(match.before).settlesAtSpot !== true) throw new SpecError(NOT_SETTLED);
        return pairRow(settlement(match.before as OnSpots, later, years), "matured", method);
      case "error":
        return failedRow(match.id, match.error, match.book);
      default:
        return listedRow(match);
    }
  } catch (error) {
    const { before, after } = { before: undefined, after: undefined, ...match };
    return failedRow((before ?? after)?.id, error);
  }
}

const isOption = (trade: AnyTrade): trade is Trade => trade.kind === undefined;

/** A trade in both books. `years` of its life have passed. */
type TradeInBoth<T extends AnyTrade = AnyTrade> = Pick<Pair<T>, "before" | "after" | "years">;

/** @throws SpecError for an option that is not explained */
function refuseKinds({ before, after }: TradeInBoth<Trade>): void {
  const { kind } = before.payoff;
  const isOf = (of: string): boolean =>
    [before, after].some((trade) => assetsOf(trade).some(({ volatility }) => volatility.kind === of));
  if (kind === "average" || kind === "lookback" || kind === "swing" || isOf("gaussianFactors"))
    throw new SpecError(
      "averages, lookbacks, swings and mean-reverting factors are not explained in this version; " +
        "price both books and compare them",
    );
  if (isOf("stochasticLocal"))
    throw new SpecError(
      "stochastic local volatilities are not explained in this version; price both books and compare them",
    );
}

/** A trade of a kind that settles at the spot (`TradeKind.settlesAtSpot`), whether it has a volatility or not. */
type OnSpots = AnyTrade & Pick<Trade, "underlying" | "volatility" | "assets">;

/**
 * A trade that expired between the dates, as it stood at expiry: at the later book's spot, since no fixing is known.
 */
function settlement(before: OnSpots, { market }: Book, years: number): TradeInBoth {
  const rolled = kindOf(before).rollForward(before, before.expiry) as OnSpots;
  const paying = assetsOf(before).map(({ underlying }) => underlying.dividends.discrete);
  const settled = ({ underlying, volatility }: TradeAsset, i: number): TradeAsset => {
    const later = market.underlyings.get(underlying.name);
    if (later === undefined)
      throw new BookError(
        "after: market.underlyings",
        `expected ${quote(underlying.name)}, whose spot settles a trade that expired between the dates`,
      );
    const since = paying[i].filter(({ time }) => time > before.expiry && time <= years);
    return { underlying: { ...underlying, spot: withDividends(later.spot, since) }, volatility };
  };
  const assets = assetsOf(rolled).map(settled);
  const after = { ...rolled, ...assets[0], ...(rolled.assets === undefined ? {} : { assets }) };
  return { before, after, years: before.expiry };
}

const NOTHING = {
  before: null,
  after: null,
  cash: null,
  change: null,
  terms: null,
  unexplained: null,
  moves: null,
  quantityBefore: null,
  quantityAfter: null,
  errorEstimate: null,
  warnings: [],
} as const satisfies Partial<ExplainedTrade>;

function failedRow(id: string | undefined, error: unknown, book?: "before" | "after"): Row {
  return { before: undefined, after: undefined, views: [], result: () => failedTrade(id, error, book) };
}

function failedTrade(id: string | undefined, error: unknown, book?: "before" | "after"): ExplainedTrade {
  const { code, path, message } = failedResult({ id }, error).error;
  const prefix = book === undefined ? "" : `${book}: `;
  return {
    id: id ?? null,
    status: "error",
    ...NOTHING,
    error: { code, ...(path === undefined ? {} : { path: prefix + path }), message: prefix + message },
  };
}

/** A trade with nothing to explain: in one book only, or on other terms. */
function listedRow(match: Extract<Match, { kind: "new" | "gone" | "changed" }>): Row {
  const before = match.kind === "new" ? undefined : match.before;
  const after = match.kind === "gone" ? undefined : match.after;
  const id = (before ?? after)?.id ?? null;
  return {
    before,
    after,
    views: [],
    result: (from, to) =>
      whenPriced(id, [from, to], ["before", "after"], () => ({
        id,
        status: match.kind,
        ...NOTHING,
        before: from?.value ?? null,
        after: to?.value ?? null,
        quantityBefore: before?.quantity ?? null,
        quantityAfter: after?.quantity ?? null,
        errorEstimate: (from?.errorEstimate ?? 0) + (to?.errorEstimate ?? 0),
        warnings: warningsOf([from, to]),
        ...(match.kind === "changed" ? { reason: match.reason } : {}),
      })),
  };
}

const NOT_SETTLED =
  "trades on rates and convertible bonds that end between the two dates are not explained in this version; " +
  "their last payments and rights need fixings that neither book has";

function pairRow(both: TradeInBoth, status: "explained" | "matured", { name, transitions: paths }: RowMethod): Row {
  const { before, after, years } = both;
  const settled = status === "matured" ? after : undefined;
  const isOptions = isOption(before) && isOption(after);
  if (isOptions) {
    refuseKinds({ before, after, years });
    if (isExplainedByTransition(before) || isExplainedByTransition(after))
      return pathRow({ before, after, years }, settled, name, paths);
  }
  const kind = kindOf(before);
  const pair = { before, rolled: kind.rollForward(before, years) ?? before, after, years };
  const cash = kind.paid?.(before, years) ?? 0;
  const known = kind.firstOrder?.(pair);
  const moves = known?.moves ?? marketMoves(pair as Pair<Trade>);
  const subject = { before, after, moves, settled, cash };
  if (name === "revaluation")
    return attributedRow(subject, revaluation(years === 0 ? undefined : pair.rolled, kind.views(pair), cash));
  return attributedRow(subject, known === undefined ? taylor(pair as Pair<Trade>, moves) : firstOrder(known));
}

/** The row of an option whose market is followed from one book to the other (`path-attribution.ts`). */
function pathRow(
  both: TradeInBoth<Trade>,
  settled: AnyTrade | undefined,
  method: ExplainMethod,
  paths: AssetTransitionCache,
): Row {
  const { before, after, years } = both;
  const ends = assetsOf(after);
  const assets = assetsOf(before).map((asset, i) => paths.between(asset, ends[i], years, after.expiry));
  const moves = assets.map((asset) => asset.movesTo(after.expiry));
  const byName = Object.fromEntries(assets.map((asset, i) => [asset.name, moves[i]]));
  const stated = before.assets === undefined ? { moves: moves[0] } : { moves: null, assetMoves: byName };
  return attributedRow({ before, after, settled, ...stated }, attributeByTransition(method, { ...both, assets }));
}

/** The subject of a row: `cash` was paid in between, or the later trade is what was `settled`. */
interface Attributed {
  readonly before: AnyTrade;
  readonly after: AnyTrade;
  readonly moves: MarketMoves | null;
  readonly assetMoves?: ExplainedTrade["assetMoves"];
  readonly cash?: number;
  readonly settled?: AnyTrade | undefined;
}

function attributedRow(
  { before, after, moves, assetMoves, cash = 0, settled }: Attributed,
  attribution: Attribution,
): Row {
  return {
    before,
    after,
    views: attribution.views,
    greeks: attribution.greeks,
    result: (from, to, values) =>
      whenPriced(before.id, [from, to, ...values], ["before", "after"], () => {
        const [start, end] = [from, to] as PricedTrade[];
        const matured = settled !== undefined;
        const terms = attribution.terms(start, end, values as PricedTrade[]);
        const smile = attribution.smile?.(start, values as PricedTrade[]) ?? [];
        const paid = matured ? end.value : cash;
        const change = (matured ? 0 : end.value) + paid - start.value;
        return {
          id: before.id,
          status: matured ? "matured" : "explained",
          before: start.value,
          after: matured ? 0 : end.value,
          cash: paid,
          change,
          terms,
          unexplained: change - Object.values(terms).reduce((sum, term) => sum + term, 0),
          errorEstimate: start.errorEstimate + end.errorEstimate,
          moves,
          ...(assetMoves === undefined ? {} : { assetMoves }),
          ...(smile.length === 0 ? {} : { smile }),
          quantityBefore: before.quantity,
          quantityAfter: matured ? null : after.quantity,
          warnings: [
            ...(matured ? [settledAt(settled)] : []),
            ...warningsOf(matured ? [from] : [from, to]),
            ...doubtsOnTheWay([from, to], values),
          ],
        };
      }),
  };
}

function settledAt(trade: AnyTrade): string {
  const spots = assetsOf(trade as Trade).map(({ underlying }) => underlying.spot);
  const what = spots.length > 1 ? "spots" : "spot";
  return `expired between the two dates: settled at the later book's ${what}, ${spots.join(", ")}`;
}

/** Doubts about fits that the terms depend on, beyond those about the fits of the two books. */
function doubtsOnTheWay(ends: readonly (TradeResult | undefined)[], values: readonly TradeResult[]): string[] {
  const known = warningsOf(ends);
  const doubts = warningsOf(values).filter((warning) => isDoubt(warning) && !known.includes(warning));
  return doubts.map((doubt) => `between the two markets: ${doubt}`);
}

/** `make`'s row, or that of the first result that has failed. */
function whenPriced(
  id: string | null,
  results: readonly (TradeResult | undefined)[],
  names: readonly string[],
  make: () => ExplainedTrade,
): ExplainedTrade {
  const at = results.findIndex((result) => result?.status === "error");
  const failed = results[at];
  if (failed?.status !== "error") return make();
  const { error } = failed;
  const place = names[at] ?? "between the two markets";
  return { id, status: "error", ...NOTHING, error: { ...error, message: `${place}: ${error.message}` } };
}

function warningsOf(results: readonly (TradeResult | undefined)[]): string[] {
  return [...new Set(results.flatMap((result) => result?.warnings ?? []))];
}
