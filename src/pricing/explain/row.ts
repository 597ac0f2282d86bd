import {
  type AnyTrade,
  type Book,
  failedResult,
  type PricedTrade,
  type Trade,
  type TradeResult,
} from "../../book/index.ts";
import { BookError, SpecError } from "../../errors.ts";
import { laterTrade } from "../later-trade.ts";
import type { Attribution, Pair } from "./attribution.ts";
import type { Match } from "./match.ts";
import { attributeFixedIncome, fixedIncomeMoves, isFixedIncome, laterFixedIncome, paidCash } from "./fixed-income.ts";
import { marketMoves, withDividends } from "./moves.ts";
import type { ExplainedTrade, ExplainMethod, MarketMoves } from "./types.ts";

/**
 * One line of the report before pricing: the trades that must be priced for it, and the function that makes its result
 * from their prices.
 */
export interface Row {
  readonly before: AnyTrade | undefined;
  /** The trade in the later book; for a trade that has matured, the trade as settled. */
  readonly after: AnyTrade | undefined;
  /** The further trades to be priced for the line. */
  readonly views: readonly AnyTrade[];
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

/**
 * Returns the line of a matched trade, with the trades to be priced for it. A line that cannot be explained, such as
 * one with a dividend that pays all of the spot, has its error as result.
 */
export function rowOf(
  match: Match,
  later: Book,
  years: number,
  { name, attribute }: { readonly name: ExplainMethod; readonly attribute: (pair: Pair) => Attribution },
): Row {
  try {
    switch (match.kind) {
      case "explained":
        return pairRow(pairOf(match.before, match.after, match.years), "explained", attribute);
      case "fixedIncome": {
        const { before, after } = match;
        const rolled = laterFixedIncome(before, match.years) ?? before;
        const pair = { before, rolled, after, years: match.years };
        const moves = fixedIncomeMoves(pair);
        const cash = paidCash(before, match.years);
        return attributedRow({ before, after, moves, cash }, attributeFixedIncome(name, pair, moves, cash));
      }
      case "matured":
        if (isFixedIncome(match.before)) throw new SpecError(NOT_SETTLED);
        return pairRow(settlement(match.before, later, years), "matured", attribute);
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

function pairOf(before: Trade, after: Trade, years: number): Pair {
  if (before.assets !== undefined)
    throw new SpecError(
      "trades on several underlyings are not explained in this version; price both books and compare them",
    );
  const { kind } = before.payoff;
  if (kind === "average" || kind === "lookback" || kind === "swing" || before.volatility.kind === "gaussianFactors")
    throw new SpecError(
      "averages, lookbacks, swings and mean-reverting factors are not explained in this version; " +
        "price both books and compare them",
    );
  if ([before, after].some(({ volatility }) => volatility.kind === "stochasticLocal"))
    throw new SpecError(
      "stochastic local volatilities are not explained in this version; price both books and compare them",
    );
  const rolled = laterTrade(before, years) as Trade;
  return { before, rolled, after, moves: marketMoves(before, rolled, after, years) };
}

/**
 * A trade that expired between the dates, as it stood at expiry: at the later book's spot, since no fixing is known.
 */
function settlement(before: Trade, { market }: Book, years: number): Pair {
  const rolled = laterTrade(before, before.expiry) as Trade;
  const later = market.underlyings.get(before.underlying.name);
  if (later === undefined)
    throw new BookError(
      "after: market.underlyings",
      `expected ${JSON.stringify(before.underlying.name)}, whose spot settles a trade that expired between the dates`,
    );
  const since = before.underlying.dividends.discrete.filter(({ time }) => time > before.expiry && time <= years);
  const spot = withDividends(later.spot, since);
  return pairOf(before, { ...rolled, underlying: { ...rolled.underlying, spot } }, before.expiry);
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
  const place = book === undefined ? "" : `${book}: `;
  return {
    id: id ?? null,
    status: "error",
    ...NOTHING,
    error: { code, ...(path === undefined ? {} : { path: place + path }), message: place + message },
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

function pairRow(pair: Pair, status: "explained" | "matured", attribute: (pair: Pair) => Attribution): Row {
  const { before, after, moves } = pair;
  return attributedRow({ before, after, moves, settled: status === "matured" ? after : undefined }, attribute(pair));
}

/** The subject of a row: `cash` was paid in between, or the later trade is what was `settled`. */
interface Attributed {
  readonly before: AnyTrade;
  readonly after: AnyTrade;
  readonly moves: MarketMoves;
  readonly cash?: number;
  readonly settled?: Trade | undefined;
}

function attributedRow({ before, after, moves, cash = 0, settled }: Attributed, attribution: Attribution): Row {
  return {
    before,
    after,
    views: attribution.views,
    result: (from, to, values) =>
      whenPriced(before.id, [from, to, ...values], ["before", "after"], () => {
        const [start, end] = [from, to] as PricedTrade[];
        const matured = settled !== undefined;
        const terms = attribution.terms(start, end, values as PricedTrade[]);
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
          quantityBefore: before.quantity,
          quantityAfter: matured ? null : after.quantity,
          warnings: [...(matured ? [settledAt(settled)] : []), ...warningsOf(matured ? [from] : [from, to])],
        };
      }),
  };
}

function settledAt({ underlying }: Trade): string {
  return `expired between the two dates: settled at the later book's spot, ${underlying.spot}`;
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
