/** `feynkac history`: makes a table of named scenarios from a history of a market's factors. */
import { businessDaysText } from "../../base/business-days.ts";
import { type HistoryOptions, scenariosOfHistory } from "../../book/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { withCommas } from "../format/numbers.ts";
import { openOutput } from "../output.ts";
import { readTableFile } from "../scenario-file.ts";
import type { Terminal } from "../terminal.ts";
import { inFile } from "../whole-file.ts";

/** The options of the command `feynkac history`. */
export interface HistoryCommandOptions extends HistoryOptions {
  /** The path of the table, in CSV or Parquet by its name; undefined for CSV on standard output. */
  readonly output: string | undefined;
}

type Scenarios = ReturnType<typeof scenariosOfHistory>;

/** Runs `feynkac history`. @returns the exit status @throws CliError for a file that is no history */
export async function history(path: string, options: HistoryCommandOptions, terminal: Terminal): Promise<number> {
  const rows = await readTableFile(path);
  const made = await inFile(path, () => scenariosOfHistory(rows, options));
  const output = await openOutput(options.output, terminal.stdout);
  try {
    await output.write(await tableOf(made, options));
    await output.commit();
  } catch (error) {
    await output.discard();
    throw error;
  }
  terminal.stderr.write(summaryOf(made, options.horizon));
  return EXIT_STATUS.ok;
}

async function tableOf(
  { factors, scenarios }: Scenarios,
  { horizon, output: path = "-" }: HistoryCommandOptions,
): Promise<string | Uint8Array> {
  const { beginParquet, csvCell } = await import("../../output/formats/index.ts");
  type Row = Scenarios["scenarios"][number];
  const isWeighted = scenarios[0].weight !== undefined;
  const columns = [
    { name: "name", type: "string", value: ({ name }: Row) => name },
    ...(isWeighted ? [{ name: "weight", type: "number", value: ({ weight }: Row) => weight! } as const] : []),
    { name: "horizon", type: "string", value: () => businessDaysText(horizon) },
    ...factors.map((name, f) => ({ name, type: "number", value: ({ moves }: Row) => moves[f] }) as const),
  ] as const;
  if (path.toLowerCase().endsWith(".parquet")) {
    const table = await beginParquet<Row>(columns, {});
    return Buffer.concat([table.add(scenarios), table.end()]);
  }
  if (path !== "-" && !path.toLowerCase().endsWith(".csv"))
    throw new CliError(`--output: got ${path}, expected a name in .csv or .parquet`);
  const lines = scenarios.map((row) => columns.map(({ value }) => csvCell(value(row))).join(","));
  return `${[columns.map(({ name }) => csvCell(name)).join(","), ...lines].join("\n")}\n`;
}

function summaryOf({ factors, scenarios, skipped, carried }: Scenarios, horizon: number): string {
  const count = (n: number, what: string): string => `${withCommas(n)} ${what}${n === 1 ? "" : "s"}`;
  const [first, last] = [scenarios[0].name, scenarios.at(-1)!.name];
  const lines = [`${count(scenarios.length, "scenario")} of ${count(factors.length, "factor")}, ${first} to ${last}`];
  if (horizon > 1) {
    const apart = Math.max(Math.floor(scenarios.length / horizon), 1);
    lines.push(`moves over ${horizon} dates overlap: they say about as much as ${withCommas(apart)} apart`);
  }
  if (skipped > 0) lines.push(`left out ${count(skipped, "scenario")} that need a missing value`);
  if (carried > 0) lines.push(`took ${count(carried, "missing value")} from the date before`);
  return `${lines.join("\n")}\n`;
}
