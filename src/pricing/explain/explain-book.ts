import { type AnyTrade, type Book, MS_PER_YEAR, type TradeResult } from "../../book/index.ts";
import { type Device, withDevice } from "../../device/index.ts";
import { BookError } from "../../base/errors.ts";
import { checkOneOf } from "../../base/argument-checks.ts";
import { checkBook, type Greeks, type BookProgress } from "../options.ts";
import { priceTrades } from "../price-book.ts";
import { EventLoopYielder } from "../../base/event-loop.ts";
import { AssetTransitionCache } from "./asset-transition.ts";
import { matchTrades } from "./match.ts";
import { type Row, rowOf } from "./row.ts";
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
  taylor: { first: "all", rest: "grid" },
  revaluation: { first: "none", rest: "none" },
} as const satisfies Record<ExplainMethod, { first: Greeks; rest: Greeks }>;

/** Trades whose prices are held at once. */
const CHUNK = 4096;

/**
 * Explains why the trades of `before` have another value in `after`. Trades are matched by id. The change of each is
 * split into the effects of time, spot, volatility, rates and dividends. A trade that cannot be explained is a result
 * that says why. docs/explain.md describes the terms.
 *
 * Cost: 2 to 10 prices per trade, on quotes and several underlyings 15 to 20 and three for each expiry of the quotes.
 * Memory: the two books and the report. Verified: test/pricing/explain.test.ts, test/pricing/explain-quotes.test.ts.
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
 * @stable
 */
export async function explainBook(before: Book, after: Book, options: ExplainOptions = {}): Promise<ExplainReport> {
  checkOneOf("method", options.method, [undefined, ...Object.keys(METHODS)]);
  checkOneOf("sticky", options.sticky, [undefined, "strike", "delta"]);
  checkBook("before", before);
  checkBook("after", after);
  return withDevice(options.device, options, (device) => reportOf(before, after, { ...options, device }));
}

async function reportOf(
  before: Book,
  after: Book,
  { method = "taylor", sticky = "strike", groupBy, ...options }: ExplainOptions & { readonly device: Device },
): Promise<ExplainReport> {
  const years = yearsBetween(before, after);
  const matches = matchTrades(before, after, years);
  const paths = new AssetTransitionCache(sticky);
  const yielder = new EventLoopYielder(options.signal);
  const sums = new ExplainSums(EXPLAIN_TERMS[method], groupBy);
  const results: ExplainedTrade[] = [];
  for (let first = 0; first < matches.length; first += CHUNK) {
    const rows: Row[] = [];
    for (const match of matches.slice(first, first + CHUNK)) {
      rows.push(rowOf(match, after, years, { name: method, transitions: paths }));
      // Fits of moved quotes may take long.
      if (yielder.isDue) await yielder.yieldNow();
    }
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
    ...(groupBy === undefined ? {} : { groups: sums.groups }),
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

/** A trade to be priced for a line, with the sensitivities that are needed of it. */
interface Job {
  readonly trade: AnyTrade;
  readonly greeks: Greeks;
}

/** A line of the report, with its trade in both books. */
interface ExplainedRow {
  readonly result: ExplainedTrade;
  readonly before: AnyTrade | undefined;
  readonly after: AnyTrade | undefined;
}

/** The lines of some rows, each from its part of their prices. */
async function explainRows(
  rows: readonly Row[],
  book: Book,
  { method, ...options }: Omit<ExplainOptions, "sticky" | "groupBy"> & { readonly method: ExplainMethod },
): Promise<ExplainedRow[]> {
  const jobs = rows.map(({ before, after, views, greeks }): Job[] => {
    const { first = greeks, rest = greeks } = greeks === undefined ? METHODS[method] : {};
    return [
      ...(before === undefined ? [] : [{ trade: before, greeks: first! }]),
      ...[...(after === undefined ? [] : [after]), ...views].map((trade) => ({ trade, greeks: rest! })),
    ];
  });
  const values = await valuesOf(jobs.flat(), book, options);
  let next = 0;
  return rows.map((row, i) => {
    const own = values.slice(next, (next += jobs[i].length));
    const from = row.before && own.shift();
    const to = row.after && own.shift();
    return { result: row.result(from, to, own), before: row.before, after: row.after };
  });
}

/** The results of some trades, in their order. Those that need the same sensitivities are priced together. */
async function valuesOf(
  jobs: readonly Job[],
  { asOf, method, seed }: Book,
  { onProgress, ...options }: NonNullable<Parameters<typeof priceTrades>[2]>,
): Promise<TradeResult[]> {
  const all: TradeResult[] = [];
  let done = 0;
  for (const greeks of ["all", "grid", "none"] as const) {
    const places = jobs.flatMap((job, i) => (job.greeks === greeks ? [i] : []));
    if (places.length === 0) continue;
    const trades = places.map((i) => ({ ok: true, trade: jobs[i].trade }) as const);
    const earlier = done;
    const progress = (own: BookProgress): void => onProgress?.({ done: earlier + own.done, total: jobs.length });
    for await (const batch of priceTrades(
      trades,
      { asOf, method, seed, scenarios: undefined },
      { ...options, greeks, onProgress: progress },
    ))
      for (const result of batch) all[places[done++ - earlier]] = result;
  }
  return all;
}
