/** Writes results to one or more outputs, each in its own format. */
import type { OutputHeader, OutputTotals, PricedRow, ResultWriter } from "../output/formats/index.ts";
import { groupWriter, type WorkbookWriter, workbookWriter, writerFor } from "../output/formats/index.ts";
import { tableWriter } from "./format/table.ts";
import type { PriceOptions } from "./options.ts";
import { type FormattedOutput, type Outputs, openOutputs, tableOptions, type Target } from "./output.ts";
import type { Sink } from "./terminal.ts";

interface ResultFile {
  readonly output: FormattedOutput;
  readonly writer: ResultWriter | WorkbookWriter;
}

/** The outputs of a command whose results are priced trades. Every method but `discard` throws a CliError. */
export class ResultFiles {
  readonly #outputs: Outputs;
  readonly #files: readonly ResultFile[];

  private constructor(outputs: Outputs, files: readonly ResultFile[]) {
    this.#outputs = outputs;
    this.#files = files;
  }

  static async open(
    targets: readonly Target[],
    options: Pick<PriceOptions, "rows" | "groupBy">,
    stdout: Sink,
  ): Promise<ResultFiles> {
    const outputs = await openOutputs(targets, stdout);
    return new ResultFiles(
      outputs,
      outputs.all.map((output) => ({ output, writer: resultWriter(output, options) })),
    );
  }

  async begin(header: OutputHeader): Promise<void> {
    for (const { output, writer } of this.#files) await output.write(await writer.begin(header));
  }

  /** Adds results. `beforeWriting` is called unless all formats hold them back. */
  async add(rows: readonly PricedRow[], beforeWriting: () => void = () => {}): Promise<void> {
    const parts = this.#files.map(({ output, writer }) => ({ output, part: writer.rows(rows) }));
    const filled = parts.filter(({ part }) => part.length > 0);
    if (filled.length > 0) beforeWriting();
    for (const { output, part } of filled) await output.write(part);
  }

  /** Ends all outputs, and gives the files their names. */
  async end(totals: OutputTotals): Promise<void> {
    for (const { output, writer } of this.#files) await output.write(await writer.end(totals));
    await this.#outputs.commit();
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.#outputs.discard();
  }
}

/** Returns the writer of an output. Formats with one table have that of groups, if these are asked for. */
function resultWriter(
  { format, sink }: FormattedOutput,
  { rows, groupBy }: Pick<PriceOptions, "rows" | "groupBy">,
): ResultFile["writer"] {
  if (format === "table") return tableWriter(tableOptions(rows, sink));
  if (format === "xlsx") return workbookWriter(groupBy);
  return groupBy === undefined || format === "json" ? writerFor(format) : groupWriter(format, groupBy);
}
