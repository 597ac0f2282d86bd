import { BookError } from "../base/errors.ts";
import { parseJson } from "./json.ts";
import {
  type BookInput,
  isPlainObject,
  bookSchema,
  marketSchema,
  namedScenariosSchema,
  scenariosSchema,
  type ScenariosSpec,
} from "./schema/index.ts";
import type { Book, ParsedTrade, BookContext, Market, Scenarios, SpotMove } from "./types.ts";
import { type ResolvedMarket, resolveMarket } from "./market.ts";
import { reportingMarket } from "./reporting.ts";
import type { MarketFits } from "./moved-quotes.ts";
import { didYouMean, quote, show } from "./names.ts";
import { namedScenarios, scenarioMarket, scenarioYears } from "./named-scenarios.ts";
import { accept, inBook, inRow, type PathOf } from "./paths.ts";
import { type AsOf, isoInstant } from "./time.ts";
import { readTrade } from "./trade.ts";

/** Detects repeated ids. Needs at most 16 bytes per id. */
const MAX_IDS = 1 << 22;

/**
 * A set of trade ids, of which it stores 64-bit hashes only, because a book may have millions. Two different ids among
 * the first four million collide with a probability of 5e-7. Beyond four million, repeated ids are not noticed.
 */
export class SeenIds {
  #count = 0;

  /** The number of ids in the set. */
  get count(): number {
    return this.#count;
  }

  /** Tells whether an id is in the set. */
  has(id: string): boolean {
    const [first, second] = hashOfId(id);
    return this.#slots[this.#find(first, second) + 1] !== 0;
  }

  /** Pairs of 32-bit hashes, open addressing with linear probing; the pair (0, 0) is an empty place. */
  #slots = new Uint32Array(2 * 1024);

  /** Adds an id, and tells whether it was in the set before. */
  seenBefore(id: string): boolean {
    return this.seenHashBefore(...hashOfId(id));
  }

  /** Does the same as `seenBefore` for an id whose hash (`hashOfId`) is known. */
  seenHashBefore(first: number, second: number): boolean {
    const slot = this.#find(first, second);
    if (this.#slots[slot + 1] !== 0) return true;
    if (this.#count >= MAX_IDS) return false;
    this.#put(slot, first, second);
    if (++this.#count * 4 > this.#slots.length) this.#grow();
    return false;
  }

  /** The pair's place, or the empty place where it belongs. */
  #find(first: number, second: number): number {
    const mask = this.#slots.length / 2 - 1;
    let place = first & mask;
    while (
      this.#slots[2 * place + 1] !== 0 &&
      (this.#slots[2 * place] !== first || this.#slots[2 * place + 1] !== second)
    ) {
      place = (place + 1) & mask;
    }
    return 2 * place;
  }

  #put(slot: number, first: number, second: number): void {
    this.#slots[slot] = first;
    this.#slots[slot + 1] = second;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let i = 0; i < old.length; i += 2) {
      if (old[i + 1] !== 0) this.#put(this.#find(old[i], old[i + 1]), old[i], old[i + 1]);
    }
  }
}

/**
 * Returns two 32-bit multiplicative hashes of an id's UTF-16 code units. They are mixed at the end, so that their low
 * bits depend on all bits. The second is never 0.
 */
export function hashOfId(text: string): [number, number] {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 15);
  }
  return [mix(a), mix(b) || 1];
}

function mix(value: number): number {
  let x = value ^ (value >>> 16);
  x = Math.imul(x, 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * The parts of a book that all its trades share, with the functions that read its trades one by one: from the book's
 * own list (`readTrades`), or from separate rows (`readRow`).
 * @stable
 */
export interface BookHeader extends BookContext {
  readonly market: ResolvedMarket;
  /** The entries of the book's list of trades, not yet read. */
  readonly trades: readonly unknown[];
  /**
   * Reads trade number `index` (from 0) of the book's list. `repeated` tells whether an earlier trade has its id. By
   * default the header itself remembers the ids that it has read.
   */
  readonly readEntry: (value: unknown, index: number, repeated?: boolean) => ParsedTrade;
  /**
   * Reads trade number `index` from a separate row. `where` is the row's position, such as `line 17`, for error
   * messages. `repeated` is as for `readEntry`.
   */
  readonly readRow: (value: unknown, index: number, where: string, repeated?: boolean) => ParsedTrade;
}

/**
 * Reads a book's `asOf`, `market`, `scenarios`, `method` and `seed`, and leaves its trades unread.
 *
 * @param value the book as plain data; its `trades` may be missing.
 * @returns the header, to be given to `readTrades` and `priceTrades`.
 * @throws BookError if the value is not an object, has unknown fields, or has no usable `asOf`, `market`, `scenarios`,
 *   `method` or `seed`.
 * @example
 * import { readHeader } from "feynkac";
 *
 * const market = { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } };
 * const header = readHeader({ asOf: "2026-11-20", market });
 * const row = { id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1 };
 * const parsed = header.readRow(row, 0, "row 1");
 * console.log(parsed.ok && parsed.trade.expiry); // 1
 * @stable
 */
export function readHeader(value: unknown): BookHeader {
  return readHeaderWith(value, undefined);
}

/**
 * Reads a header as `readHeader` does. Underlyings in `fits` get the volatilities that another thread has fitted to
 * their quotes. @throws as `readHeader`
 */
export function readHeaderWith(value: unknown, fits: MarketFits | undefined): BookHeader {
  if (!isPlainObject(value))
    throw new BookError("", `expected a book (an object with asOf, market and trades), got ${show(value)}`);
  const fields = Object.keys(bookSchema.shape);
  for (const field of Object.keys(value)) {
    if (!fields.includes(field))
      throw new BookError(field, `unknown field${didYouMean(field, fields) || `; known are ${fields.join(", ")}`}`);
  }
  const asOf = accept(bookSchema.shape.asOf, value.asOf, inBook("asOf"));
  if (value.market === undefined)
    throw new BookError("market", "expected an object with rates and underlyings, got nothing");
  const pathOf = inBook("market");
  const spec = accept(marketSchema, value.market, pathOf);
  const resolved = resolveMarket(spec, asOf, pathOf, fits);
  const isNamed = Array.isArray(value.scenarios);
  const inScenarios = inBook("scenarios");
  const scenarios =
    value.scenarios === undefined || isNamed
      ? undefined
      : completeScenarios(accept(scenariosSchema, value.scenarios, inScenarios), asOf, resolved);
  const scenarioTable = isNamed
    ? namedScenarios(
        accept(namedScenariosSchema, value.scenarios, inScenarios),
        asOf,
        scenarioMarket(resolved),
        inScenarios,
      )
    : undefined;
  const market =
    spec.reporting === undefined
      ? resolved
      : { ...resolved, reporting: reportingMarket(spec.reporting, resolved, pathOf) };
  const method = accept(bookSchema.shape.method, value.method, inBook("method"));
  const seed = accept(bookSchema.shape.seed, value.seed, inBook("seed"));
  return {
    asOf: isoInstant(asOf),
    market,
    scenarios,
    ...(scenarioTable === undefined ? {} : { scenarioTable }),
    ...(method === undefined ? {} : { method }),
    ...(seed === undefined ? {} : { seed }),
    trades: readList(value.trades),
    ...readers(asOf, market),
  };
}

function readList(trades: unknown): readonly unknown[] {
  if (trades === undefined) return [];
  if (!Array.isArray(trades)) throw new BookError("trades", `expected a list of trades, got ${show(trades)}`);
  return trades;
}

function completeScenarios(
  { time, spot = [0], volatility = [0], rate = [0], quotes }: ScenariosSpec,
  asOf: AsOf,
  market: Market,
): Scenarios {
  const years = time?.map((date, i) => scenarioYears(date, asOf, inBook("scenarios")("time", i))) ?? [0];
  const moves = Array.isArray(spot) ? spot : spotMoves(spot, market);
  return { time: years, spot: moves, volatility, rate, ...(quotes === undefined ? {} : { quotes }) };
}

/** All combinations of the spot shifts of several underlyings. The shifts of the last underlying vary fastest. */
function spotMoves(lists: ReadonlyMap<string, readonly number[]>, { underlyings }: Market): readonly SpotMove[] {
  let moves: readonly Readonly<Record<string, number>>[] = [{}];
  for (const [name, list] of lists) {
    if (!underlyings.has(name))
      throw new BookError(
        inBook("scenarios")("spot", name),
        `unknown underlying ${quote(name)}${didYouMean(name, underlyings.keys())}`,
      );
    moves = moves.flatMap((others) => list.map((move) => ({ ...others, [name]: move })));
  }
  return moves;
}

function readers(asOf: AsOf, market: ResolvedMarket): Pick<BookHeader, "readEntry" | "readRow"> {
  const seen = new SeenIds();
  const reader = { asOf, market, seenBefore: (id: string) => seen.seenBefore(id) };
  const [taken, free] = [true, false].map((repeated) => ({ asOf, market, seenBefore: () => repeated }));
  const read = (value: unknown, index: number, pathOf: PathOf, repeated: boolean | undefined): ParsedTrade =>
    readTrade(value, index, pathOf, repeated === undefined ? reader : repeated ? taken : free);
  return {
    readEntry: (value, index, repeated) => read(value, index, inBook("trades", index), repeated),
    readRow: (value, index, where, repeated) => read(value, index, inRow(where), repeated),
  };
}

/** Returns the parts of a book that all its trades share, without the functions that read trades. */
export function contextOf({
  asOf,
  market,
  scenarios,
  scenarioTable,
  method,
  seed,
}: BookHeader): BookContext & { readonly market: Market } {
  return {
    asOf,
    market,
    scenarios,
    ...(scenarioTable === undefined ? {} : { scenarioTable }),
    ...(method === undefined ? {} : { method }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/**
 * Returns a book's header with the market of a separate file, `beside`, in place of its own. At least one of the two
 * must be given; if only one is, it is returned.
 */
export function underMarket(own: BookHeader | undefined, beside: BookHeader | undefined): BookHeader {
  if (own === undefined || beside === undefined) return (own ?? beside) as BookHeader;
  return { ...beside, trades: own.trades };
}

/**
 * Reads a market from a separate file, for trades that come from a stream or a table. The file must not contain trades.
 */
export function readMarketFile(value: unknown, fits?: MarketFits): BookHeader {
  const header = readHeaderWith(value, fits);
  if (header.trades.length > 0)
    throw new BookError(
      "trades",
      `expected none in a market file, got ${show(header.trades)}; ${quote("trades")} come from the other file`,
    );
  return header;
}

/**
 * Reads a book from its JSON text, or from a plain object of the same form. docs/book.md describes the format.
 *
 * A trade with an error is in the result with that error, and does not affect the other trades. Nothing is guessed:
 * unknown fields and duplicate names are errors.
 *
 * @param book JSON text, or a plain object. Times are dates or years from `asOf` (Act/365F). Rates and volatilities are
 * decimals per year and per √year.
 * @returns the book with all times in years, curves and volatilities resolved, and each trade or its error.
 * @throws BookError if the text is not JSON (with line and column), or if `asOf`, `market`, `scenarios` or the list of
 * trades cannot be used.
 *
 * @example
 * import { parseBook } from "feynkac";
 *
 * const book = parseBook({
 *   asOf: "2026-11-20T16:00:00Z",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [
 *     { id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1 },
 *     { id: "T2", underlying: "ACME", payoff: "put", strike: -5, expiry: 1 },
 *   ],
 * });
 * for (const parsed of book.trades) console.log(parsed.ok ? parsed.trade.id : parsed.error.message);
 * // T1; then trades[1].strike: expected a positive number, got -5
 * @stable
 */
export function parseBook(book: string | BookInput): Book {
  return readBook(typeof book === "string" ? parseJson(book) : book);
}

/**
 * Reads a book from plain data of unknown type, as `JSON.parse` returns it. `parseBook` does the same for data whose
 * type TypeScript knows.
 *
 * @param value the book.
 * @returns as `parseBook`.
 * @throws BookError as `parseBook`.
 * @example
 * import { readBook } from "feynkac";
 *
 * const text = `{ "asOf": "2026-11-20", "market": { "rates": {}, "underlyings": {} }, "trades": [] }`;
 * console.log(readBook(JSON.parse(text)).asOf); // 2026-11-20T00:00:00.000Z
 * @stable
 */
export function readBook(value: unknown): Book {
  const header = readWholeBook(value);
  return { ...contextOf(header), trades: [...readTrades(header)] };
}

/**
 * Reads the market and the other common parts of a book. The book must have a list of trades, which may be empty and is
 * not read yet.
 */
export function readWholeBook(value: unknown): BookHeader {
  const header = readHeader(value);
  if (isPlainObject(value) && value.trades === undefined)
    throw new BookError("trades", "expected a list of trades, got nothing");
  return header;
}

/**
 * Reads the trades of a book one by one, so that a long list need not be parsed at once. Pass the generator to
 * `priceTrades`.
 *
 * @param header the result of `readHeader`: the market, and the trades that are not yet read.
 * @returns each trade, or its error, in the order of the book.
 *
 * @example
 * import { openDevice, priceTrades, readHeader, readTrades } from "feynkac";
 *
 * const header = readHeader({
 *   asOf: "2026-11-20",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [80, 100].map((strike) => ({ id: `K${strike}`, underlying: "ACME", payoff: "call", strike, expiry: 1 })),
 * });
 * using device = await openDevice({ backend: "cpu" });
 * for await (const batch of priceTrades(readTrades(header), header, { device }))
 *   for (const { id, value } of batch) console.log(id, value?.toFixed(4)); // K80 24.5888; then K100 10.4506
 * @stable
 */
export function* readTrades(header: BookHeader): Generator<ParsedTrade> {
  for (const [index, entry] of header.trades.entries()) yield header.readEntry(entry, index);
}
