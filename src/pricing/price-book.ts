import { SpecError } from "../base/errors.ts";
import { resultWithin } from "../base/event-loop.ts";
import {
  type Book,
  type BookContext,
  type BookReport,
  namesAndWeights,
  type ParsedTrade,
  Totals,
  type TradeResult,
} from "../book/index.ts";
import { type Device, offeredPrecision, openDevice, withDevice } from "../device/index.ts";
import { Backend } from "./backend.ts";
import { priceBatch } from "./batch.ts";
import { movesQuotes, underMovedQuotes } from "./moved-quotes.ts";
import { checkBook, checkOptions, type NumberedOptions, type PricingOptions, type Settings } from "./options.ts";
import type { PriceScenarios } from "./scenario-values.ts";
import { pricingPoolOf, startPricingPool } from "./workers/pricing-pool.ts";

/**
 * Prices a book in memory. The same book gives the same numbers on any thread.
 *
 * @param book a book from `parseBook`.
 * @param options the device, and optionally precision, accuracy, Greeks, batch size, signal and progress.
 * @returns one result per trade in the order of the book, and totals by currency. Values are per unit of quantity in
 *   the underlying's currency, theta per year, vega and rho per 1.00.
 * @throws as `priceTrades`. A trade that cannot be priced is a result with `status: "error"`.
 * @example
 * import { openDevice, parseBook, priceBook } from "feynkac";
 *
 * const book = parseBook({
 *   asOf: "2026-11-20T16:00:00Z",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [{ id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise: "american" }],
 * });
 * using device = await openDevice({ backend: "cpu" });
 * const { results } = await priceBook(book, { device, accuracy: { relative: 1e-6 } });
 * for (const { value } of results) console.log(value?.toFixed(4)); // 6.0904
 * @stable
 */
export async function priceBook(book: Book, options: PricingOptions = {}): Promise<BookReport> {
  checkOptions(options);
  checkBook("book", book);
  return withDevice(options.device, options, (device) => reportOf(book, { ...options, device }));
}

async function reportOf(book: Book, options: PricingOptions & { readonly device: Device }): Promise<BookReport> {
  const results: TradeResult[] = [];
  for await (const batch of priceTrades(book.trades, book, options)) results.push(...batch);
  const totals = new Totals();
  results.forEach((result, i) => {
    const parsed = book.trades[i];
    totals.add(parsed.ok ? parsed.trade : undefined, result);
  });
  const { backend, name } = options.device;
  return {
    asOf: book.asOf,
    device: { backend, name },
    ...totals.report,
    ...(book.scenarios === undefined ? {} : { scenarios: book.scenarios }),
    ...namesAndWeights(book.scenarioTable),
    results,
  };
}

/** The instances of a trade without scenarios: its value and error on two meshes, its bumps. */
const INSTANCES_A_TRADE = 5;

/**
 * The smallest batch, without scenarios, that is worth its launches. Where threads share the work, such batches fill a
 * device.
 */
const SMALL_BATCH = 512;
/** The largest batch of one thread; of a device that several threads prepare work for, until these have started. */
const LARGEST_BATCH = { alone: 16_384, shared: 2048 };

/** The number of trades priced together by one thread: enough to fill the device twice, few enough to bound memory. */
function usualBatch({ parallelism, parts }: Device): number {
  const most = parts === undefined ? LARGEST_BATCH.alone : LARGEST_BATCH.shared;
  return Math.min(Math.max(SMALL_BATCH, Math.ceil(parallelism * 0.4)), most);
}

/** The instances of a trade under named scenarios count as those of so many cases, if it has as many scenarios. */
const CASES_OF_NAMED = 8;
/**
 * Threads are started sooner where each trade has named scenarios to be priced in: with the batch that has this trade.
 * Batches are small until the threads are there, so that this thread is soon done with what it has begun alone.
 */
const LONG_UNDER_NAMED = 32;
const FIRST_UNDER_NAMED = 16;

/**
 * Reduces a number of trades so that their instances stay as many: each further case of the scenarios adds two
 * instances.
 */
function withScenarios(trades: number, { scenarios, scenarioTable }: BookContext): number {
  const { time, volatility, rate } = scenarios ?? { time: [0], volatility: [0], rate: [0] };
  const cases =
    time.length * volatility.length * rate.length + Math.min(scenarioTable?.names.length ?? 0, CASES_OF_NAMED);
  const instances = INSTANCES_A_TRADE + 2 * (cases - 1);
  return Math.ceil((trades * INSTANCES_A_TRADE) / instances);
}

/** The number of batches under way at once: one is prepared while the device works on the one before. */
const BATCHES_UNDER_WAY = 2;

/**
 * A run is long once it has taken this many small batches: some 4,000 trades, which cost one core as much as it costs
 * to start two threads that share the host's work (0.35 s each, most of it kernels and cold JavaScript). Started
 * sooner, the threads make books of a few thousand trades more expensive, and slower where no core is idle.
 */
const LONG_RUN = 8;

/**
 * Prices a stream of trades in bounded memory, and yields results in the order of the trades, one batch at a time.
 *
 * * Memory depends on the batch and the number of threads, not on the length of the stream.
 * * Trades are taken from the stream one or two batches ahead of the results.
 * * In a long run on the CPU in Node, worker threads share the host's work. They are started by the first long run on a
 *   device and end with the device. Two batches are then under way for each of them.
 * * A trade that cannot be priced yields a failed result, and the run goes on.
 *
 * @param trades the trades, from `readTrades`, `Book.trades` or an async source of your own.
 * @param context `asOf` and scenarios; a `Book` or a `BookHeader` is one.
 * @param options the device, and optionally precision, accuracy, Greeks, batch size, signal and progress.
 * @throws SpecError or PrecisionError for options that cannot be met; the signal's reason once it is aborted; whatever
 *   `trades` throws.
 * @example
 * import { openDevice, parseBook, priceTrades, type BookProgress } from "feynkac";
 *
 * const book = parseBook({
 *   asOf: "2026-11-20T16:00:00Z",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [{ id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise: "american" }],
 * });
 * using device = await openDevice({ backend: "cpu" });
 * const controller = new AbortController();
 * const onProgress = ({ done, total }: BookProgress) => {
 *   console.log(`${done} of ${total}`); // 1 of 1
 * };
 * const options = { device, batchSize: 1000, signal: controller.signal, onProgress };
 * for await (const batch of priceTrades(book.trades, book, options))
 *   for (const result of batch) console.log(result.id, result.value?.toFixed(3)); // T1 6.090
 * @stable
 */
export async function* priceTrades(
  trades: AsyncIterable<ParsedTrade> | Iterable<ParsedTrade>,
  context: BookContext,
  options: PricingOptions = {},
): AsyncGenerator<readonly TradeResult[], void, undefined> {
  checkOptions(options);
  const settings = settingsOf({ ...options, accuracy: options.accuracy?.relative }, context);
  const { precision: wanted } = options;
  const opening = wanted === undefined ? {} : { precision: wanted };
  using own = options.device === undefined ? await openDevice(opening) : undefined;
  const device = options.device ?? own!;
  const precision = await offeredPrecision(device, wanted ?? (device.precisions.includes("f64") ? "f64" : "f32"));
  const backend = new Backend(device, precision, options.openFallback);
  const closing = new AbortController();
  const signal = options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]);
  const { scenarios } = context;
  let pool = pricingPoolOf(device);
  const small = withScenarios(SMALL_BATCH, context);
  const isNamed = context.scenarioTable !== undefined;
  const usual = isNamed ? Math.ceil(small / 2) : withScenarios(usualBatch(device), context);
  const long = isNamed ? LONG_UNDER_NAMED : LONG_RUN * small;
  let taken = 0;
  const price = async (batch: readonly ParsedTrade[]): Promise<TradeResult[]> => {
    const firstIndex = taken;
    taken += batch.length;
    // Workers know the numbers of a market, but not the quotes and nodes that these come from.
    if (!settings.buckets && firstIndex + (isNamed ? batch.length : 0) >= long) pool ??= startPricingPool(device);
    const results = await underMovedQuotes(
      batch,
      firstIndex,
      { scenarios, greeks: settings.greeks },
      async (trades, under) => {
        const own = { ...settings, ...under };
        const shared = settings.buckets
          ? undefined
          : await pool?.price({ ...own, trades, firstIndex, precision }, signal);
        return shared ?? backend.run((engine) => priceBatch(trades, firstIndex, { ...own, engine, signal }));
      },
    );
    const named = await underScenarios(batch, results, firstIndex, context, (job, priceHere) => {
      const own = { ...settings, scenarios: undefined };
      const here = () => backend.run((engine) => priceHere({ ...job, setting: { ...own, engine, signal } }));
      const shared = movesQuotes(batch, job.table)
        ? undefined
        : pool?.priceScenarios({ ...own, ...job, named: job, precision }, signal);
      return shared === undefined ? here() : shared.then((cube) => cube ?? here());
    });
    return inReportingCurrency(batch, named, context);
  };
  const underWay = (): number => Math.max(pool?.room ?? 0, BATCHES_UNDER_WAY);
  // The end of a run waits for the last of many threads. Smaller batches shorten that, though each costs a little more.
  const size = (): number => {
    if (options.batchSize !== undefined) return options.batchSize;
    if ((pool?.room ?? 0) > 0) return Math.ceil(small / 2);
    const startsThreads = isNamed && device.parts !== undefined && (pool !== undefined || taken < long);
    return startsThreads ? Math.min(FIRST_UNDER_NAMED, usual) : usual;
  };
  const all = lookAhead(batches(trades, size), underWay, price);
  let done = 0;
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      const { value: results, done: ended } = await all.next();
      if (ended === true) break;
      done += results.length;
      options.onProgress?.({ done, total: Array.isArray(trades) ? trades.length : undefined });
      yield results;
    }
  } finally {
    closing.abort();
    await all.return();
    backend.dispose();
  }
}

/** Returns results with their values under the named scenarios of a book; most books load nothing for them. */
export async function underScenarios(
  batch: readonly ParsedTrade[],
  results: TradeResult[],
  firstIndex: number,
  { scenarioTable }: BookContext,
  price: PriceScenarios,
): Promise<TradeResult[]> {
  if (scenarioTable === undefined) return results;
  const { withScenarioValues } = await import("./scenario-values.ts");
  return withScenarioValues(batch, results, firstIndex, scenarioTable, price);
}

/** Returns results with their numbers in the reporting currency of their book; most books load nothing for it. */
export async function inReportingCurrency(
  batch: readonly ParsedTrade[],
  results: TradeResult[],
  context: Pick<BookContext, "scenarios" | "scenarioTable">,
): Promise<TradeResult[]> {
  if (!batch.some((parsed) => parsed.ok && parsed.reporting !== undefined)) return results;
  const { withReporting } = await import("./reporting.ts");
  return withReporting(batch, results, context);
}

/**
 * A batch that is not full is closed after so long without another trade: who types them sees each result.
 * Milliseconds.
 */
const QUIET = 200;

async function* batches(
  trades: AsyncIterable<ParsedTrade> | Iterable<ParsedTrade>,
  size: () => number,
): AsyncGenerator<ParsedTrade[]> {
  let batch: ParsedTrade[] = [];
  for await (const trade of Symbol.asyncIterator in trades ? orQuiet(trades) : trades) {
    if (trade !== QUIETLY) batch.push(trade);
    if (batch.length >= (trade === QUIETLY ? 1 : size())) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Says that no item has come for a while. */
const QUIETLY = Symbol("quiet");

/** The items of a source, and a word whenever it is quiet after one. */
async function* orQuiet<T>(source: AsyncIterable<T>): AsyncGenerator<T | typeof QUIETLY> {
  const iterator = source[Symbol.asyncIterator]();
  let next = iterator.next();
  let pending = false;
  let open = true;
  try {
    for (
      let item: IteratorResult<T> | undefined = await next;
      item?.done !== true;
      item = await resultWithin(QUIET, next)
    ) {
      pending = item === undefined;
      if (item === undefined) {
        yield QUIETLY;
        item = await next;
        pending = false;
        if (item.done === true) break;
      }
      yield item.value;
      next = iterator.next();
    }
    open = false;
  } finally {
    // A source that waits for its own input answers when that comes: nobody waits for it any more.
    if (open) {
      const closed = iterator.return?.();
      if (pending) closed?.catch(() => undefined);
      else await closed;
    }
  }
}

/** The seed for books that name none; results report it. */
const DEFAULT_SEED = 1;

/** Returns the options with all defaults applied. @throws SpecError */
export function settingsOf(
  {
    greeks = "all",
    sensitivityErrorEstimates = false,
    method,
    accuracy,
    timePerTrade,
    strict = false,
    batchSize = 1,
  }: NumberedOptions,
  context: BookContext,
): Settings {
  if (accuracy !== undefined && !(accuracy >= 1e-8 && accuracy <= 1e-3))
    throw new SpecError(
      `accuracy.relative: got ${accuracy}, expected a number from 1e-8 to 1e-3, relative to the spot`,
    );
  if (timePerTrade !== undefined && !(timePerTrade > 0))
    throw new SpecError(`timePerTrade: expected a number of seconds above 0, got ${timePerTrade}`);
  if (!(Number.isInteger(batchSize) && batchSize >= 1))
    throw new SpecError(`batchSize: expected a whole number from 1, got ${batchSize}`);
  return {
    greeks: greeks === "buckets" ? "all" : greeks,
    buckets: greeks === "buckets",
    sensitivityErrorEstimates,
    method: method ?? context.method ?? "auto",
    accuracy,
    timePerTrade,
    strict,
    seed: context.seed ?? DEFAULT_SEED,
    isUnderNamed: context.scenarioTable !== undefined,
  };
}

/**
 * Yields the results of the asynchronous function `work` on the items of a source, in the items' order, with at most
 * `max()` calls in progress at a time. A result is yielded without waiting for the next item of the source.
 *
 * @throws what the source throws, once the results of all items before are yielded; what `work` throws; in both cases
 * after all calls in progress have ended
 */
export async function* lookAhead<T, R>(
  source: AsyncIterable<T>,
  max: () => number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const running: Promise<R>[] = [];
  let next: Promise<IteratorResult<T>> | undefined;
  let open = true;
  let failure: { readonly error: unknown } | undefined;
  try {
    for (;;) {
      if (open && running.length < max()) next ??= iterator.next();
      if (next === undefined && running.length === 0) break;
      if (await comesFirst(next, running[0])) {
        try {
          const item = await (next as NonNullable<typeof next>);
          if (item.done === true) open = false;
          else running.push(handled(work(item.value)));
        } catch (error) {
          failure = { error };
          open = false;
        }
        next = undefined;
      } else yield await (running.shift() as Promise<R>);
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    await Promise.allSettled(running);
    // A source that is waiting for its own input answers when that comes: nobody waits for it any more.
    if (next !== undefined) void handled(next);
    if (open) {
      const closed = iterator.return?.();
      if (closed !== undefined) await (next === undefined ? closed : void handled(closed));
    }
  }
}

/** Tells whether `next` settles before `result`; true if both have settled. */
async function comesFirst(next: Promise<unknown> | undefined, result: Promise<unknown> | undefined): Promise<boolean> {
  const settled = (promise: Promise<unknown>, isNext: boolean): Promise<boolean> =>
    promise.then(
      () => isNext,
      () => isNext,
    );
  if (next === undefined) return false;
  if (result === undefined) return true;
  return Promise.race([settled(next, true), settled(result, false)]);
}

/** Its failure is thrown where it is awaited, and is unhandled nowhere before. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
