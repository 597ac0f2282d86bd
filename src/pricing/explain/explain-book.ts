import { type Book, MS_PER_YEAR, type Trade, type TradeResult } from "../../book/index.ts";
import { BookError } from "../../errors.ts";
import type { Greeks } from "../options.ts";
import { priceTrades } from "../price-trades.ts";
import { matchTrades } from "./match.ts";
import { revaluation } from "./revaluation.ts";
import { type Row, rowOf } from "./row.ts";
import { taylor } from "./taylor.ts";
import { ExplainSums } from "./totals.ts";
import { EXPLAIN_TERMS, type ExplainMethod, type ExplainOptions, type ExplainReport } from "./types.ts";

/** What each method needs of a trade in the earlier market, and of all else. */
const METHODS = {
  taylor: { attribute: taylor, first: "all", rest: "grid" },
  revaluation: { attribute: revaluation, first: "none", rest: "none" },
} as const satisfies Record<ExplainMethod, { attribute: unknown; first: Greeks; rest: Greeks }>;

/**
 * Why the trades of `before` are worth something else in `after`: trades are matched by id, and the change of each is told apart into
 * what time, spot, volatility, rates and dividends did. A trade that cannot be explained is a line that says why.
 *
 * Memory: 2 to 10 prices a trade. Cost: those prices, see `taylor` and `revaluation`.
 * Design: design/explain.md. Verified: test/pricing/explain.test.ts.
 * @throws BookError `after` is earlier than `before`; SpecError | PrecisionError as `priceTrades`; the signal's reason
 */
export async function explainBook(before: Book, after: Book, options: ExplainOptions): Promise<ExplainReport> {
  const years = yearsBetween(before, after);
  const { method = "taylor", ...pricing } = options;
  const { attribute, first, rest } = METHODS[method];
  const rows = matchTrades(before, after, years).map((match) => rowOf(match, after, years, attribute));
  const starts = rows.flatMap((row) => row.before ?? []);
  const others = rows.flatMap((row) => [...(row.after === undefined ? [] : [row.after]), ...row.views]);
  const total = starts.length + others.length;
  const progress = (earlier: number): Pick<ExplainOptions, "onProgress"> => ({
    onProgress: ({ done }) => options.onProgress?.({ done: earlier + done, total }),
  });
  const startValues = await valuesOf(starts, before, { ...pricing, ...progress(0), greeks: first });
  const otherValues = await valuesOf(others, after, { ...pricing, ...progress(starts.length), greeks: rest });
  const { backend, name } = options.device;
  return {
    method,
    asOf: { before: before.asOf, after: after.asOf },
    years,
    device: { backend, name },
    ...summed(rows, new ExplainSums(EXPLAIN_TERMS[method]), startValues, otherValues),
  };
}

/** @throws BookError the later book is the earlier one */
function yearsBetween(before: Book, after: Book): number {
  const years = (Date.parse(after.asOf) - Date.parse(before.asOf)) / MS_PER_YEAR;
  if (years >= 0) return years;
  throw new BookError("after: asOf", `expected a date not before the first book's, ${before.asOf}, got ${after.asOf}`);
}

async function valuesOf(
  trades: readonly Trade[],
  { asOf }: Book,
  options: Parameters<typeof priceTrades>[2],
): Promise<TradeResult[]> {
  const all: TradeResult[] = [];
  const parsed = trades.map((trade) => ({ ok: true, trade }) as const);
  for await (const batch of priceTrades(parsed, { asOf, scenarios: undefined }, options))
    for (const result of batch) all.push(result);
  return all;
}

/** The lines, each from its part of the values, and what they add up to. */
function summed(
  rows: readonly Row[],
  sums: ExplainSums,
  starts: readonly TradeResult[],
  others: readonly TradeResult[],
): Pick<ExplainReport, "explained" | "failed" | "totals" | "results"> {
  let [start, other] = [0, 0];
  const results = rows.map((row) => {
    const from = row.before && starts[start++];
    const to = row.after && others[other++];
    const values = others.slice(other, (other += row.views.length));
    const result = row.result(from, to, values);
    sums.add(result, row.before, row.after);
    return result;
  });
  return { explained: sums.explained, failed: sums.failed, totals: sums.totals, results };
}
