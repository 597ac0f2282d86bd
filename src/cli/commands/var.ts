/** `feynkac var`: value at risk and expected shortfall of a book by full revaluation under named scenarios. */
import { type ScenarioTable, spotsOf } from "../../book/index.ts";
import type { ApproximateRisk, RiskCollector, RiskHorizon } from "../../pricing/index.ts";
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
  /** True to approximate values by sensitivities as well, "only" to do nothing else. */
  readonly approximate?: boolean | "only" | undefined;
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
  const { confidence, groupBy = [], approximate = false } = options;
  const { input, table } = await openScenarioBook(path, options, terminal, signal);
  try {
    const pricing = await import("../../pricing/index.ts");
    const horizon = pricing.riskHorizon(options.horizon, table.horizon);
    const collector = () =>
      new pricing.RiskCollector(table, { groupBy: ["underlying", ...groupBy], scale: horizon.scale });
    const full = approximate === "only" ? undefined : collector();
    const expansion = approximate === false ? undefined : new pricing.Approximation(table);
    const approximated = expansion && collector();
    await using engine = await openEngine(options);
    const reporter = options.report === undefined ? undefined : await startReport(options, path, input, table, horizon);
    const failures: string[] = [];
    const warnings = new Warnings();
    const greeks = expansion === undefined ? "none" : "all";
    const revaluation = { engine, input, options: { ...options, greeks } as const, terminal, signal };
    await revalue(input.trades, full && table, revaluation, (result, trade) => {
      const near = result.status === "ok" ? expansion?.resultOf(trade, result) : undefined;
      reporter?.summary.add(undefined, full === undefined ? (near ?? result) : result);
      warnings.add(result);
      if (near !== undefined) approximated?.add(near);
      if (result.status === "ok") full?.add(result);
      else failures.push(result.error.message);
    });
    for (const text of failures.slice(0, SHOWN)) terminal.stderr.write(`${escapeControls(text)}\n`);
    terminal.stderr.write(warnings.block());
    const failed = failures.length;
    const rows = options.rows === "all" ? Infinity : (options.rows ?? RISK_ROWS);
    const risk = (full ?? approximated!).risk(confidence, rows);
    const compared = { confidence, listed: rows };
    const approximation = expansion && {
      missing: expansion.missing,
      beside: full && pricing.comparedRisk(full, approximated!, table.names, compared),
    };
    const about = { asOf: input.asOf, ...pricing.horizonFields(horizon) };
    await reporter?.write(engine.device.name, terminal, approximation);
    if (options.pnl !== undefined)
      await writeProfits(options.pnl, { full, approximated }, { ...about, scenarioNames: table.names });
    const answer = {
      ...about,
      method: full === undefined ? "approximation" : "revaluation",
      ...risk,
      failed,
      ...(approximation === undefined ? {} : { approximation: approximationFields(approximation) }),
    };
    await writeAnswer(answer, () => riskText(risk, { failed, horizon, rows, approximation }), options, terminal);
    return failed > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
  } finally {
    input.close();
  }
}

/** Returns an approximation as JSON has it. */
const approximationFields = ({ missing, beside }: ApproximateRisk): object =>
  beside === undefined ? { missing } : { ...beside.risk, error: beside.error, missing };

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
  const write = async (device: string, terminal: Terminal, approximation: ApproximateRisk | undefined) => {
    const files = [path, market, scenarios].filter((name) => name !== undefined);
    const html = reportHtml(summary, {
      title: `Value at risk of ${path === "-" ? "standard input" : path}`,
      asOf: input.asOf,
      version: packageVersion(),
      device,
      scenarios: undefined,
      confidence,
      horizon,
      approximation,
      market: input.market,
      settings: [],
      inputs: await Promise.all(files.map(async (name) => ({ name, sha256: await sha256Of(name) }))),
    });
    await writeReport(report!, html, terminal);
  };
  return { summary, write };
}

/**
 * Writes the profits of each trade under all scenarios as Parquet: by full revaluation, by approximation, or both.
 * `about` is metadata.
 */
async function writeProfits(
  file: string,
  {
    full,
    approximated,
  }: { readonly full?: RiskCollector | undefined; readonly approximated?: RiskCollector | undefined },
  about: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!file.toLowerCase().endsWith(".parquet")) throw new CliError(`--pnl: got ${file}, expected a name in .parquet`);
  const { beginParquet } = await import("../../output/formats/index.ts");
  const [exact, near] = [full?.profits, approximated?.profits];
  const trades = (exact ?? near)!;
  type Profits = typeof trades;
  const columnOf = (name: string, of: Profits | undefined) =>
    of === undefined ? [] : [{ name, type: "numbers", value: (t: number) => Array.from(of[t].profits) } as const];
  const table = await beginParquet<number>(
    [
      { name: "id", type: "string", value: (t) => trades[t].id },
      { name: "value", type: "number", value: (t) => trades[t].value },
      ...columnOf("pnl", exact),
      ...columnOf("approximation", near),
    ],
    about,
  );
  const output = await outputToFile(file);
  await output.write(table.add(trades.map((_, t) => t)));
  await output.write(table.end());
  await output.commit();
}
