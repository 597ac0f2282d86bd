/** Reads tables of option prices: options as in a table of trades, each with its price. */
import { type BookHeader, type ParsedTrade, readMarketFile, type TableOptions } from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import { CliError } from "./failure.ts";
import { type InputRequest, openInput } from "./input.ts";

/** The columns of a table of prices besides those of trades, and other names for those of trades. */
const NAMES = {
  type: "payoff",
  right: "payoff",
  style: "exercise",
  price: "tag.price",
  bid: "tag.bid",
  ask: "tag.ask",
  priceError: "tag.priceError",
  spot: "tag.spot",
  rate: "tag.rate",
  dividend: "tag.dividend",
} as const satisfies TableOptions["also"];

/** The numbers of a row that are no terms of the option. */
const NUMBERS = ["price", "bid", "ask", "priceError", "spot", "rate", "dividend"] as const;
type Numbers = Readonly<Partial<Record<(typeof NUMBERS)[number], number>>>;

/** A row of a table of prices: the option or its error, and its prices. */
export interface QuotedRow {
  readonly parsed: ParsedTrade;
  /** The price, or the mean of bid and ask. */
  readonly price: number | undefined;
  readonly bid: number | undefined;
  readonly ask: number | undefined;
  /** The distance up to which the true price may differ from the written one. */
  readonly priceError: number;
}

/** The options of a table of prices, in the order of its rows, and the names of their tags. */
export interface QuotedTable {
  readonly asOf: string;
  readonly rows: readonly QuotedRow[];
  readonly tags: readonly string[];
}

/** The request for a table of prices. */
export interface QuotesRequest extends Omit<InputRequest, "also" | "readBy"> {
  /** The date of the prices, where there is no market. */
  readonly asOf: string | undefined;
  /** The error of all prices; by default half a unit of the last decimal of the prices on the same underlying. */
  readonly priceError: number | undefined;
}

/** Reads a table of prices. @throws CliError | BookError for a table that cannot be used */
export async function readQuotes({ asOf, priceError, ...request }: QuotesRequest): Promise<QuotedTable> {
  const numbers: (Numbers & { readonly decimals: number })[] = [];
  const readBy = (market: BookHeader | undefined): BookHeader => {
    if (market !== undefined && asOf !== undefined) throw new CliError("--as-of: the market has its own date");
    return withPrices(market, asOf, numbers);
  };
  const opened = await openInput({ ...request, also: NAMES, readBy });
  try {
    const parsed: ParsedTrade[] = [];
    for await (const trade of opened.trades) {
      request.signal.throwIfAborted();
      numbers[parsed.length] ??= { decimals: 0 };
      parsed.push(trade);
    }
    const rounding = roundings(parsed, numbers);
    const rows = parsed.map((one, i): QuotedRow => {
      const { bid, ask, price = bid === undefined || ask === undefined ? undefined : 0.5 * (bid + ask) } = numbers[i];
      return { parsed: one, price, bid, ask, priceError: numbers[i].priceError ?? priceError ?? rounding[i] };
    });
    const own: readonly string[] = NUMBERS;
    return { asOf: opened.asOf, rows, tags: (opened.tags ?? []).filter((name) => !own.includes(name)) };
  } finally {
    opened.close();
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** The header that reads rows of options, and keeps their numbers by the number of the row. */
function withPrices(
  market: BookHeader | undefined,
  asOf: string | undefined,
  numbers: (Numbers & { readonly decimals: number })[],
): BookHeader {
  // Dates are refused where there is none that they could be counted from.
  const date = asOf ?? "2000-01-01";
  const header = market ?? readMarketFile({ asOf: date, market: { rates: {} } });
  const markets = new Map<string, BookHeader>();
  return {
    ...header,
    readRow: (value, index, where, repeated) => {
      const { tags, ...option } = value as Fields & { readonly tags?: Fields };
      const own = numbersOf(tags ?? {}, where);
      numbers[index] = own;
      const rest = Object.entries(tags ?? {}).filter(([name]) => !(NUMBERS as readonly string[]).includes(name));
      const trade: Fields = {
        id: String(index + 1),
        ...option,
        // It stands for the volatility to be found.
        volatility: 0.2,
        ...(rest.length === 0 ? {} : { tags: Object.fromEntries(rest) }),
      };
      if (market !== undefined) return market.readRow(withoutMarket(trade, own, where), index, where, repeated);
      const { underlying = "spot" } = trade as { readonly underlying?: string };
      checkDates(trade, asOf, where);
      const { spot, rate = 0, dividend = 0 } = own;
      if (spot === undefined) throw new BookError(`${where}: spot`, "expected a number, got nothing; or give --market");
      const key = `${spot} ${rate} ${dividend} ${underlying}`;
      let its = markets.get(key);
      if (its === undefined) markets.set(key, (its = marketOf(underlying, { spot, rate, dividend }, date, where)));
      return its.readRow({ ...trade, underlying }, index, where, repeated);
    },
  };
}

/** The market of a row that has its own. @throws BookError with the position of the row */
function marketOf(
  underlying: string,
  { spot, rate, dividend }: Required<Pick<Numbers, "spot" | "rate" | "dividend">>,
  asOf: string,
  where: string,
): BookHeader {
  const on = { spot, currency: CURRENCY, dividends: { yield: dividend }, volatility: 0.2 };
  try {
    return readMarketFile({ asOf, market: { rates: { [CURRENCY]: rate }, underlyings: { [underlying]: on } } });
  } catch (error) {
    if (error instanceof BookError) throw new BookError(where, error.message, { cause: error });
    throw error;
  }
}

/** The currency of options whose table has their spots; no result names it. */
const CURRENCY = "XXX";

function withoutMarket(trade: Fields, { spot, rate, dividend }: Numbers, where: string): Fields {
  if (spot !== undefined || rate !== undefined || dividend !== undefined)
    throw new BookError(where, "spot, rate and dividend are those of --market; leave out the columns, or the market");
  return trade;
}

function checkDates({ expiry }: Fields, asOf: string | undefined, where: string): void {
  if (asOf === undefined && typeof expiry === "string" && Number.isNaN(Number(expiry)))
    throw new BookError(`${where}: expiry`, "is a date, which needs the date of the prices: --as-of 2026-11-20");
}

function numbersOf(tags: Fields, where: string): Numbers & { readonly decimals: number } {
  const found: Partial<Record<(typeof NUMBERS)[number], number>> = {};
  let decimals = 0;
  for (const name of NUMBERS) {
    if (!Object.hasOwn(tags, name)) continue;
    const text = String(tags[name]);
    const value = Number(text);
    if (!Number.isFinite(value)) throw new BookError(`${where}: ${name}`, `expected a number, got "${text}"`);
    found[name] = value;
    if (name === "price" || name === "bid" || name === "ask") decimals = Math.max(decimals, decimalsOf(text));
  }
  return { ...found, decimals };
}

/** The number of decimals that a number is written with. */
function decimalsOf(text: string): number {
  const [, fraction = "", exponent = "0"] = /^[-+]?\d*\.?(\d*)(?:e([-+]?\d+))?$/i.exec(text) ?? [];
  return Math.max(fraction.length - Number(exponent), 0);
}

/** Half a unit of the last decimal that any price on the same underlying has, for each row. */
function roundings(parsed: readonly ParsedTrade[], numbers: readonly { readonly decimals: number }[]): number[] {
  const most = new Map<string | undefined, number>();
  const names = parsed.map((one) => (one.ok && "underlying" in one.trade ? one.trade.underlying.name : undefined));
  names.forEach((name, i) => most.set(name, Math.max(most.get(name) ?? 0, numbers[i].decimals)));
  return names.map((name) => 0.5 * 10 ** -(most.get(name) ?? 0));
}
