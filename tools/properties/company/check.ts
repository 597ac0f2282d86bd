/** Random books, each of whose trades is also priced alone, by another process that knows nothing of the book. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Device } from "../../../src/device/index.ts";
import { drawBook, type Extent } from "./books.ts";
import { resultsOf } from "./price.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LARGEST_OUTPUT = 2 ** 30;

/** How many trades of random books were priced, and those whose results are others alone. */
export interface CompanyReport {
  readonly compared: number;
  readonly priced: number;
  /** The seed of the book, the trade, and its results in the book and alone. */
  readonly differences: readonly string[];
}

/** Texts of the results of each trade alone, by another process, in reverse order. */
async function aloneOf(seeds: readonly number[], extent: Extent): Promise<readonly (readonly (string | null)[])[]> {
  const program = fileURLToPath(new URL("alone.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "./scripts/typescript.js", program, extent, ...seeds.map(String)],
    { cwd: ROOT, maxBuffer: LARGEST_OUTPUT },
  );
  return JSON.parse(stdout) as (string | null)[][];
}

/** Compares the results of trades in random books with those of each of them alone. */
export async function checkCompany(
  device: Device,
  { books, seed, extent }: { readonly books: number; readonly seed: number; readonly extent: Extent },
): Promise<CompanyReport> {
  const seeds = Array.from({ length: books }, (_, k) => seed + k);
  const alone = aloneOf(seeds, extent);
  const differences: string[] = [];
  let [compared, priced] = [0, 0];
  const together: (readonly string[] | undefined)[] = [];
  for (const one of seeds) together.push(await resultsOf(drawBook(one, extent), device));
  const single = await alone;
  seeds.forEach((one, b) => {
    const { trades } = drawBook(one, extent);
    together[b]?.forEach((text, k) => {
      compared++;
      if (text.includes('"status":"ok"')) priced++;
      if (text === single[b][k]) return;
      differences.push(`seed ${one}, ${JSON.stringify(trades[k])}\nin the book: ${text}\nalone: ${single[b][k]}`);
    });
  });
  return { compared, priced, differences };
}
