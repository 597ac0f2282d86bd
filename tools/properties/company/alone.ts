// Prices each trade of random books alone, the last one first, and prints their results: EXTENT SEED …
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { drawBook, type Extent } from "./books.ts";
import { aloneIn, resultsOf } from "./price.ts";

const [extent, ...seeds] = process.argv.slice(2);
using device = createCpuDevice({ threads: 1 });
const all: (string | null)[][] = [];
for (const seed of seeds.toReversed()) {
  const book = drawBook(Number(seed), extent as Extent);
  const texts: (string | null)[] = [];
  for (const k of [...book.trades.keys()].toReversed())
    texts.push((await resultsOf(aloneIn(book, k), device))?.[0] ?? null);
  all.push(texts.toReversed());
}
process.stdout.write(JSON.stringify(all.toReversed()));
