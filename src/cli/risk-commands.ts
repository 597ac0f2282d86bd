/** Command-line definitions of the commands for the risk of a book under scenarios. */
import { type Command, Option } from "commander";
import type { MethodName } from "../book/index.ts";
import { parseConfidence, parseFraction, parseHorizon, parseNames, parsePositive } from "./arguments.ts";
import type { HistoryCommandOptions } from "./commands/history.ts";
import type { ReverseOptions } from "./commands/reverse.ts";
import type { VarOptions } from "./commands/var.ts";
import { CliError } from "./failure.ts";
import {
  type Flags,
  addAccuracyOptions,
  addFormatOptions,
  addMethodOption,
  addStrictOption,
  OTHER_STATUS,
  priceOptions,
  SCENARIOS_HELP,
} from "./options.ts";
import type { CommandContext } from "./run-commands.ts";

/** Adds the commands `var`, `reverse` and `history` to the command line. */
export function addRiskCommands(program: Command, context: CommandContext): void {
  describeVar(program, context);
  describeReverse(program, context);
  describeHistory(program, context);
}

function describeVar(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("var")
    .description("value at risk and expected shortfall of a book under scenarios, and the parts of its trades")
    .argument("<book>", "BOOK.json, .ndjson or .xlsx, TRADES.csv or .parquet; - reads standard input")
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades")
    .option("--scenarios <file>", SCENARIOS_HELP)
    .option("--confidence <part>", "of both measures, such as 0.99 or 99%", parseConfidence, 0.99)
    .option(
      "--horizon <days>",
      "business days of the losses, such as 10d or 2w: scaled by the square root of time from what the scenarios span",
      parseHorizon,
    )
    .addOption(
      new Option(
        "--approximate [only]",
        "approximate profits by the sensitivities of today, too, and compare; only: do nothing else, which is fast",
      ).choices(["only"]),
    )
    .option("--group-by <names>", "parts by currency or tags, beside those by underlying: desk,tag.trader", parseNames)
    .option(
      "--report <file>",
      "write a report as well, one HTML file: the distribution, the parts, the worst scenarios",
    )
    .option("--pnl <file>", "write the profits of each trade under all scenarios, PNL.parquet")
    .addHelpText("after", `\nExit status: 0 all trades priced, 1 some were not, ${OTHER_STATUS}`);
  type Given = Flags &
    Pick<VarOptions, "approximate" | "confidence" | "horizon" | "pnl" | "report"> & { readonly method?: MethodName };
  addStrictOption(addAccuracyOptions(addMethodOption(addFormatOptions(command)))).action(
    async (path: string, flags: Given) => {
      const { valueAtRisk } = await import("./commands/var.ts");
      const options = { ...priceOptions({ ...flags, greeks: "none" }), method: flags.method };
      const { approximate, confidence, horizon, pnl, report } = flags;
      const own = { approximate, confidence, horizon, pnl, report };
      done(await valueAtRisk(path, { ...options, ...own }, terminal, signal, engine));
    },
  );
}

function describeReverse(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("reverse")
    .description("find by how much of a scenario a book loses an amount: the first multiple of all its moves")
    .argument("<book>", "BOOK.json, .ndjson or .xlsx, TRADES.csv or .parquet; - reads standard input")
    .requiredOption("--scenario <name>", "the scenario whose moves are multiplied; its date stays")
    .requiredOption(
      "--loss <amount>",
      "the loss, in the currency of the trades or the reporting currency",
      parsePositive,
    )
    .option("--most <multiple>", "the largest multiple that is looked at", parsePositive, 10)
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades")
    .option("--scenarios <file>", SCENARIOS_HELP)
    .option("--group-by <names>", "parts by currency or tags, beside those by underlying: desk,tag.trader", parseNames)
    .addHelpText("after", `\nExit status: 0 found, 1 no such multiple or trades without a value, ${OTHER_STATUS}`);
  type Given = Flags & Pick<ReverseOptions, "scenario" | "loss" | "most"> & { readonly method?: MethodName };
  addStrictOption(addAccuracyOptions(addMethodOption(addFormatOptions(command)))).action(
    async (path: string, flags: Given) => {
      const { reverseStress } = await import("./commands/reverse.ts");
      const { scenario, loss, most, method } = flags;
      const options = { ...priceOptions({ ...flags, greeks: "none" }), method, scenario, loss, most };
      done(await reverseStress(path, options, terminal, signal, engine));
    },
  );
}

function describeHistory(program: Command, { terminal, done }: CommandContext): void {
  type Given = Pick<HistoryCommandOptions, "horizon" | "missing" | "from" | "to" | "output"> & {
    readonly weights: "equal" | "exponential";
    readonly decay?: number;
  };
  program
    .command("history")
    .description("make a table of scenarios from a history: the moves of its factors, for price and var --scenarios")
    .argument("<history>", "HISTORY.csv or HISTORY.parquet: a row for each date, columns date, spot.SAP, rate.EUR, …")
    .option("-o, --output <file>", "SCENARIOS.csv or SCENARIOS.parquet; CSV on standard output by default")
    .option("--horizon <days>", "business days that a move spans, such as 10d or 2w; moves overlap", parseHorizon, 1)
    .addOption(new Option("--weights <name>", "of the scenarios").choices(["equal", "exponential"]).default("equal"))
    .option("--decay <part>", "exponential weights: that of a date, as a part of the next date's (0.97)", parseFraction)
    .addOption(
      new Option("--missing <rule>", "values: error; skip the scenarios that need one; take the previous date's")
        .choices(["error", "skip", "previous"])
        .default("error"),
    )
    .option("--from <date>", "the first date of the history that is used")
    .option("--to <date>", "the last date that is used")
    .action(async (path: string, { weights, decay, ...rest }: Given) => {
      if (decay !== undefined && weights === "equal") throw new CliError("--decay needs --weights exponential");
      const { history } = await import("./commands/history.ts");
      const options = { ...rest, output: rest.output, decay: weights === "equal" ? undefined : (decay ?? 0.97) };
      done(await history(path, options, terminal));
    });
}
