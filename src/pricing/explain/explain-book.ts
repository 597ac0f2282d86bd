import { type AnyTrade, type Book, MS_PER_YEAR, type TradeResult } from "../../book/index.ts";
import { type Device, withDevice } from "../../device/index.ts";
import { BookError } from "../../errors.ts";
import { oneOf } from "../../given.ts";
import { checkBook, type Greeks, type BookProgress } from "../options.ts";
import { priceTrades } from "../price-book.ts";
import { matchTrades } from "./match.ts";
import { revaluation } from "./revaluation.ts";
import { type Row, rowOf } from "./row.ts";
import { taylor } from "./taylor.ts";
import { ExplainSums } from "./totals.ts";
import {
  EXPLAIN_TERMS,
  type ExplainedTrade,
  type ExplainMethod,
  type ExplainOptions,
  type ExplainReport,
} from "./types.ts";

/**
 * The sensitivities that each method needs of a trade in the earlier market (`first`) and of all other views (`rest`).
 */
const METHODS = {
  taylor: { attribute: taylor, first: "all", rest: "grid" },
  revaluation: { attribute: revaluation, first: "none", rest: "none" },
} as const satisfies Record<ExplainMethod, { attribute: unknown; first: Greeks; rest: Greeks }>;

/** Trades whose prices are held at once. */
const CHUNK = 4096;

/**
 * Explains why the trades of `before` have another value in `after`. Trades are matched by id. The change of each is
 * split into the effects of time, spot, volatility, rates and dividends. A trade that cannot be explained is a result
 * that says why. docs/explain.md describes the terms.
 *
 * Cost: 2 to 10 prices per trade. Memory: the two books and the report. Verified: test/pricing/explain.test.ts.
 *
 * @param before the earlier book.
 * @param after the later book; its `asOf` is not earlier.
 * @param options the device, the method, and the options of `priceBook`.
 * @returns per trade and per currency: change = after + cash − before = Σ terms + unexplained.
 * @throws BookError if `after` is earlier than `before`; SpecError or PrecisionError as `priceTrades`; the signal's
 *   reason.
 * @example
 * import { explainBook, openDevice, parseBook } from "feynkac";
 *
 * const book = (asOf: string, spot: number) =>
 *   parseBook({
 *     asOf,
 *     market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot, currency: "EUR", volatility: 0.2 } } },
 *     trades: [{ id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: "2027-11-22" }],
 *   });
 * using device = await openDevice({ backend: "cpu" });
 * const { results } = await explainBook(book("2026-11-20", 100), book("2026-11-23", 101), { device });
 * for (const { change, terms } of results) console.log(change?.toFixed(3), terms?.delta?.toFixed(3)); // -0.368 -0.363
 */
export async function explainBook(before: Book, after: Book, options: ExplainOptions = {}): Promise<ExplainReport> {
  oneOf("method", options.method, [undefined, ...Object.keys(METHODS)]);
  checkBook("before", before);
  checkBook("after", after);
  return withDevice(options.device, options, (device) => reportOf(before, after, { ...options, device }));
}

async function reportOf(
  before: Book,
  after: Book,
  options: ExplainOptions & { readonly device: Device },
): Promise<ExplainReport> {
  const { method = "taylor" } = options;
  const years = yearsBetween(before, after);
  const matches = matchTrades(before, after, years);
  const sums = new ExplainSums(EXPLAIN_TERMS[method]);
  const results: ExplainedTrade[] = [];
  for (let first = 0; first < matches.length; first += CHUNK) {
    const rows = matches
      .slice(first, first + CHUNK)
      .map((match) => rowOf(match, after, years, { name: method, attribute: METHODS[method].attribute }));
    const onProgress = progressFrom(first, rows.length, matches.length, options);
    for (const row of await explainRows(rows, after, { ...options, method, onProgress })) {
      sums.add(row.result, row.before, row.after);
      results.push(row.result);
    }
  }
  const { backend, name } = options.device;
  return {
    method,
    asOf: { before: before.asOf, after: after.asOf },
    years,
    device: { backend, name },
    explained: sums.explained,
    failed: sums.failed,
    totals: sums.totals,
    results,
  };
}

/** Trades done, from the part of a chunk's prices that are. */
function progressFrom(first: number, count: number, total: number, { onProgress }: ExplainOptions) {
  return ({ done, total: prices = 0 }: BookProgress): void =>
    onProgress?.({ done: first + Math.floor((count * done) / prices), total });
}

/** @throws BookError the later book is the earlier one */
function yearsBetween(before: Book, after: Book): number {
  const years = (Date.parse(after.asOf) - Date.parse(before.asOf)) / MS_PER_YEAR;
  if (years >= 0) return years;
  throw new BookError("after: asOf", `expected a date not before the first book's, ${before.asOf}, got ${after.asOf}`);
}

async function valuesOf(
  trades: readonly AnyTrade[],
  { asOf, method }: Book,
  options: Parameters<typeof priceTrades>[2],
): Promise<TradeResult[]> {
  const all: TradeResult[] = [];
  const parsed = trades.map((trade) => ({ ok: true, trade }) as const);
  for await (const batch of priceTrades(parsed, { asOf, method, scenarios: undefined }, options))
    for (const result of batch) all.push(result);
  return all;
}

/** The lines of some rows, each from its part of their prices. */
async function explainRows(
  rows: readonly Row[],
  book: Book,
  { method, ...options }: ExplainOptions & { readonly method: ExplainMethod },
): Promise<
  { readonly result: ExplainedTrade; readonly before: AnyTrade | undefined; readonly after: AnyTrade | undefined }[]
> {
  const { first, rest } = METHODS[method];
  const starts = rows.flatMap((row) => row.before ?? []);
  const others = rows.flatMap((row) => [...(row.after === undefined ? [] : [row.after]), ...row.views]);
  const total = starts.length + others.length;
  const onProgress = (earlier: number) => (progress: BookProgress) =>
    options.onProgress?.({ done: earlier + progress.done, total });
  const startValues = await valuesOf(starts, book, { ...options, onProgress: onProgress(0), greeks: first });
  const otherValues = await valuesOf(others, book, { ...options, onProgress: onProgress(starts.length), greeks: rest });
  let [start, other] = [0, 0];
  return rows.map((row) => {
    const from = row.before && startValues[start++];
    const to = row.after && otherValues[other++];
    const values = otherValues.slice(other, (other += row.views.length));
    return { result: row.result(from, to, values), before: row.before, after: row.after };
  });
}
