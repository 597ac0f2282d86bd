import { CliError, EXIT_STATUS } from "../failure.ts";
import { withCommas } from "../format/numbers.ts";
import { NotImported } from "../ore/fields.ts";
import { type ImportedTrade, importPortfolio } from "../ore/portfolio.ts";
import { parseXml } from "../ore/xml.ts";
import { openOutput } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { readText } from "../whole-file.ts";

/** The options of the command `feynkac import`. */
export interface ImportOptions {
  /** The path of the trades; undefined for standard output. */
  readonly output: string | undefined;
  /** The path of a list of what was left out, as JSON. */
  readonly leftOut: string | undefined;
}

/**
 * Runs `feynkac import`, which writes the trades of ORE's portfolio as NDJSON. @returns the exit status, 1 if trades or
 * terms were left out @throws CliError a file that is no portfolio
 */
export async function importTrades(path: string, options: ImportOptions, terminal: Terminal): Promise<number> {
  const imported = await readPortfolio(path, terminal);
  const trades = imported.flatMap((one) => one.trades ?? []);
  const lines = trades.map((trade) => `${JSON.stringify(trade)}\n`).join("");
  const left = imported.flatMap(leftOutOf);
  await write(options.output, lines, terminal);
  if (options.leftOut !== undefined) await write(options.leftOut, `${JSON.stringify(left, undefined, 2)}\n`, terminal);
  for (const { id, kind, reason } of left) terminal.stderr.write(`${id} (${kind}): ${reason}\n`);
  const without = imported.filter((one) => one.trades === undefined).length;
  terminal.stderr.write(`${withCommas(imported.length - without)} of ${withCommas(imported.length)} trades imported\n`);
  return left.length > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

async function readPortfolio(path: string, terminal: Terminal): Promise<ImportedTrade[]> {
  try {
    return importPortfolio(await parseXml(await readText(path, terminal)));
  } catch (error) {
    if (error instanceof NotImported) throw new CliError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** What of a trade is left out: all of it, or terms. */
function leftOutOf(one: ImportedTrade): { readonly id: string; readonly kind: string; readonly reason: string }[] {
  const { id, kind } = one;
  return one.trades === undefined
    ? [{ id, kind, reason: one.reason }]
    : one.notes.map((reason) => ({ id, kind, reason }));
}

async function write(path: string | undefined, text: string, { stdout }: Terminal): Promise<void> {
  const output = await openOutput(path, stdout);
  try {
    await output.write(text);
    await output.commit();
  } catch (error) {
    await output.discard();
    throw error;
  }
}
