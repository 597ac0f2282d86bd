import { BookError } from "../../base/errors.ts";
import { formatOfName, parseJson, startsAsWorkbook } from "../../book/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { openOutput } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { inFile, readBytes } from "../whole-file.ts";
import { plainBookOf, workbookOf } from "../workbook/index.ts";
import { TEMPLATE } from "../workbook/template.ts";

/**
 * Runs `feynkac convert`, which writes a book as a workbook or as JSON; without a book, a template. @returns the exit
 * status @throws CliError for a file that is no book, or a name of another format
 */
export async function convert(path: string | undefined, to: string, terminal: Terminal): Promise<number> {
  const format = formatOfName(to);
  if (format !== "json" && format !== "xlsx")
    throw new CliError(`--output: got ${to}, expected a name in .xlsx or .json`);
  const book = path === undefined ? TEMPLATE : await inFile(path, () => readPlain(path, terminal));
  const output = await openOutput(to, terminal.stdout);
  try {
    await output.write(
      format === "json"
        ? `${JSON.stringify(book, undefined, 2)}\n`
        : await inFile(path ?? to, () => workbookOf(book, path === undefined)),
    );
    await output.commit();
    return EXIT_STATUS.ok;
  } catch (error) {
    await output.discard();
    throw error;
  }
}

async function readPlain(path: string, terminal: Terminal): Promise<Record<string, unknown>> {
  const bytes = await readBytes(path, terminal);
  if (startsAsWorkbook(bytes)) return plainBookOf(bytes);
  const book = parseJson(new TextDecoder().decode(bytes));
  if (typeof book !== "object" || book === null || Array.isArray(book))
    throw new BookError("", "expected a book, an object with asOf, market and trades");
  return book as Record<string, unknown>;
}
