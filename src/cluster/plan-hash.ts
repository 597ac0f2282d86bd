import { hashOf, type Manifest } from "../runs/index.ts";

/** Returns a hash that identifies what is to be priced and how: two plans with one hash give the same parts. */
export function planHash({ feynkac, book, market, options, scenarios, seed, chunks }: Manifest): string {
  const places = chunks.map((chunk) => ({ ...chunk, outcome: undefined }));
  return hashOf(
    JSON.stringify([feynkac, book.sha256, book.keep ?? [], market.sha256, options, scenarios ?? null, seed, places]),
  );
}
