/** `feynkac reverse`: by how much of a scenario a book loses an amount. */
import { didYouMean, factorKey, quote } from "../../book/index.ts";
import type { BookRisk } from "../../pricing/index.ts";
import type { OpenEngine } from "../engine.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { type ReverseStress, reverseText } from "../format/reverse.ts";
import { Warnings } from "../format/warnings.ts";
import type { PriceOptions } from "../options.ts";
import { openScenarioBook, readTrades, revalue, writeAnswer } from "../revaluation.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac reverse`. */
export interface ReverseOptions extends PriceOptions {
  /** The name of the scenario. */
  readonly scenario: string;
  /** The amount that is lost, in the currency of the book's risk. */
  readonly loss: number;
  /** The largest multiple that is looked at. */
  readonly most: number;
}

/**
 * Runs `feynkac reverse`. @returns the exit status, 1 also where no multiple has the loss @throws CliError | BookError
 * for a book or a scenario that cannot be used
 */
export async function reverseStress(
  path: string,
  options: ReverseOptions,
  terminal: Terminal,
  signal: AbortSignal,
  openEngine: OpenEngine,
): Promise<number> {
  const { scenario, loss, groupBy = [] } = options;
  const { input, table } = await openScenarioBook(path, options, terminal, signal);
  try {
    const at = table.names.indexOf(scenario);
    if (at < 0) throw new CliError(`no scenario has the name ${quote(scenario)}${didYouMean(scenario, table.names)}`);
    const { firstMultiple, largestMultiple, multiplesOf, RiskCollector } = await import("../../pricing/index.ts");
    const most = Math.min(options.most, largestMultiple(table, at));
    const trades = await readTrades(input);
    await using engine = await openEngine(options);
    const revaluation = { engine, input, options, terminal, signal };
    let failed = 0;
    let warnings = new Warnings();
    const under = async (multiples: readonly number[]) => {
      const scaled = multiplesOf(table, at, multiples);
      const collector = new RiskCollector(scaled, { groupBy: ["underlying", ...groupBy], keepTrades: false });
      failed = 0;
      warnings = new Warnings();
      await revalue(trades(), scaled, revaluation, (result) => {
        warnings.add(result);
        if (result.status === "ok") collector.add(result);
        else failed++;
      });
      return collector;
    };
    const lossesAt = async (multiples: readonly number[]) => (await under(multiples)).losses;
    const found = await firstMultiple(lossesAt, loss, most);
    const multiple = found?.multiple ?? most;
    // One scenario is the tail at any confidence.
    const { currency, valueAtRisk, components } = (await under([multiple])).risk(0.5);
    const moves = table.factors.flatMap((factor, f): readonly (readonly [string, number])[] => {
      const by = table.moves[f * table.names.length + at];
      return Number.isNaN(by) ? [] : [[factorKey(factor), multiple * by]];
    });
    const answer: ReverseStress = {
      scenario,
      loss,
      currency,
      most,
      found,
      moves: Object.fromEntries(moves),
      lost: valueAtRisk.value,
      errorEstimate: valueAtRisk.errorEstimate,
      parts: partsOf(components.groups),
    };
    terminal.stderr.write(warnings.block());
    await writeAnswer({ asOf: input.asOf, ...answer, failed }, () => reverseText(answer, failed), options, terminal);
    return failed > 0 || found === undefined ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
  } finally {
    input.close();
  }
}

/** The losses of groups in the one scenario, the largest first. */
const partsOf = (groups: BookRisk["components"]["groups"]): ReverseStress["parts"] =>
  Object.fromEntries(
    Object.entries(groups).map(([by, parts]) => [
      by,
      parts.map(({ name, valueAtRisk }) => ({ name, loss: valueAtRisk })).sort((a, b) => b.loss - a.loss),
    ]),
  );
