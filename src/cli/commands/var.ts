/** `feynkac var`: value at risk and expected shortfall of a book by full revaluation under named scenarios. */
import { type ScenarioTable, spotsOf } from "../../book/index.ts";
import type { RiskCollector, RiskHorizon } from "../../pricing/index.ts";
import type { OpenEngine } from "../engine.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { escapeControls } from "../format/columns.ts";
import { RISK_ROWS, riskText } from "../format/risk.ts";
import { Warnings } from "../format/warnings.ts";
import type { OpenInput } from "../input.ts";
import type { PriceOptions } from "../options.ts";
import { outputToFile } from "../output.ts";
import { openScenarioBook, revalue, writeAnswer } from "../revaluation.ts";
import type { Terminal } from "../terminal.ts";

/** The most trades without a value whose reasons are shown. */
const SHOWN = 10;

/** The options of the command `feynkac var`. */
export interface VarOptions extends PriceOptions {
  readonly confidence: number;
  /** The business days that losses are for; those that the scenarios span by default. */
  readonly horizon?: number | undefined;
  /** The path of an HTML report. */
  readonly report?: string | undefined;
  /** The path of a Parquet file for the profits of each trade. */
  readonly pnl?: string | undefined;
}

/**
 * Runs `feynkac var`. @returns the exit status @throws CliError | BookError for a book or scenarios that cannot be used
 */
export async function valueAtRisk(
  path: string,
  options: VarOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const { confidence, groupBy = [] } = options;
  const { input, table } = await openScenarioBook(path, options, terminal, signal);
  try {
    const { horizonFields, RiskCollector, riskHorizon } = await import("../../pricing/index.ts");
    const horizon = riskHorizon(options.horizon, table.horizon);
    const collector = new RiskCollector(table, { groupBy: ["underlying", ...groupBy], scale: horizon.scale });
    await using engine = await openEngine(options);
    const reporter = options.report === undefined ? undefined : await startReport(options, path, input, table, horizon);
    const failures: string[] = [];
    const warnings = new Warnings();
    await revalue(input.trades, table, { engine, input, options, terminal, signal }, (result) => {
      reporter?.summary.add(undefined, result);
      warnings.add(result);
      if (result.status === "ok") collector.add(result);
      else failures.push(result.error.message);
    });
    for (const text of failures.slice(0, SHOWN)) terminal.stderr.write(`${escapeControls(text)}\n`);
    terminal.stderr.write(warnings.block());
    const failed = failures.length;
    const rows = options.rows === "all" ? Infinity : (options.rows ?? RISK_ROWS);
    const risk = collector.risk(confidence, rows);
    const { asOf } = input;
    const fields = horizonFields(horizon);
    await reporter?.write(engine.device.name, terminal);
    if (options.pnl !== undefined)
      await writeProfits(options.pnl, collector, { asOf, ...fields, scenarioNames: table.names });
    const answer = { asOf, ...fields, ...risk, failed };
    await writeAnswer(answer, () => riskText(risk, { failed, horizon, rows }), options, terminal);
    return failed > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
  } finally {
    input.close();
  }
}

/** Starts an HTML report. The code for it is loaded only when it is requested. */
async function startReport(
  { report, groupBy, confidence, scenarios, market }: VarOptions,
  path: string,
  input: OpenInput,
  named: ScenarioTable,
  horizon: RiskHorizon,
) {
  const [{ reportHtml, ReportSummary }, { sha256Of, writeReport }, { packageVersion }] = await Promise.all([
    import("../../output/report/index.ts"),
    import("./report.ts"),
    import("../../output/formats/index.ts"),
  ]);
  const summary = new ReportSummary({ groupBy, spots: spotsOf(input.market), named, scale: horizon.scale });
  const write = async (device: string, terminal: Terminal): Promise<void> => {
    const files = [path, market, scenarios].filter((name) => name !== undefined);
    const html = reportHtml(summary, {
      title: `Value at risk of ${path === "-" ? "standard input" : path}`,
      asOf: input.asOf,
      version: packageVersion(),
      device,
      scenarios: undefined,
      confidence,
      horizon,
      market: input.market,
      settings: [],
      inputs: await Promise.all(files.map(async (name) => ({ name, sha256: await sha256Of(name) }))),
    });
    await writeReport(report!, html, terminal);
  };
  return { summary, write };
}

/** Writes the profits of each trade under all scenarios as Parquet. `about` is metadata. */
async function writeProfits(
  file: string,
  { profits }: RiskCollector,
  about: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!file.toLowerCase().endsWith(".parquet")) throw new CliError(`--pnl: got ${file}, expected a name in .parquet`);
  const { beginParquet } = await import("../../output/formats/index.ts");
  type Row = (typeof profits)[number];
  const table = await beginParquet<Row>(
    [
      { name: "id", type: "string", value: ({ id }) => id },
      { name: "value", type: "number", value: ({ value }) => value },
      { name: "pnl", type: "numbers", value: (row) => Array.from(row.profits) },
    ],
    about,
  );
  const output = await outputToFile(file);
  await output.write(table.add(profits));
  await output.write(table.end());
  await output.commit();
}
