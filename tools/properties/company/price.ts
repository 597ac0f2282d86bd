/** Prices books, and each of their trades alone, as texts that are equal only for results with the same bits. */
import type { Device } from "../../../src/device/index.ts";
import { BookError } from "../../../src/base/errors.ts";
import { priceBook, readBook } from "../../../src/index.ts";
import type { Book, Json } from "./books.ts";

/** A result as text, in which all numbers differ by their bits. Places in the book are left out. */
const textOf = (result: unknown): string =>
  JSON.stringify(result, (_, value: unknown) =>
    typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
      ? `number ${Object.is(value, -0) ? "-0" : value}`
      : value,
  ).replaceAll(/trades\[\d+\]/g, "trades[]");

/** Returns the results of a book's trades as texts; undefined for a book that cannot be read. */
export async function resultsOf(book: Json, device: Device): Promise<readonly string[] | undefined> {
  try {
    const { results } = await priceBook(readBook(book), { device, accuracy: { relative: 1e-3 } });
    return results.map(textOf);
  } catch (error) {
    // A neighbour of a market may be outside of what a model allows.
    if (error instanceof BookError) return undefined;
    throw error;
  }
}

/** Returns the book of one of the trades alone, with no more of the market than it needs. */
export function aloneIn(book: Book, k: number): Json {
  const trade = book.trades[k];
  const { rates, underlyings, credit, correlations } = book.market as {
    readonly [part in "rates" | "credit"]: Json;
  } & {
    readonly underlyings: Readonly<Record<string, Json>>;
    readonly correlations: readonly (readonly [string, string, number])[];
  };
  const names = [trade.underlying, ...((trade.underlyings ?? []) as unknown[])].filter((name) => name !== undefined);
  const only = <T>(all: Readonly<Record<string, T>>, wanted: readonly unknown[]): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => wanted.includes(name)));
  const own = only(underlyings, names);
  const market = {
    rates: only(rates, [trade.currency, ...Object.values(own).map(({ currency }) => currency)]),
    underlyings: own,
    credit: only(credit, names),
    correlations: correlations.filter(([one, other]) => names.includes(one) && names.includes(other)),
  };
  return { ...book, market, trades: [trade] };
}
