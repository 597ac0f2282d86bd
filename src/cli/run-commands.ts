/** The commands for runs in parts, as the command line describes them. */
import { type Command, Option } from "commander";
import { share, tableRows, wholeNumber } from "./arguments.ts";
import type { MergeOptions } from "./commands/merge.ts";
import type { VerifyOptions } from "./commands/verify.ts";
import type { Context } from "./main.ts";
import { OUTPUT_FORMATS } from "./output.ts";

export function describeRuns(program: Command, { terminal, signal, engine, done }: Context): void {
  program
    .command("verify")
    .description("check every hash, count and total of a run in parts")
    .argument("<run>", "FOLDER/ or s3://BUCKET/PREFIX, as price --output made it")
    .option("--reprice <share>", "also price a sample again, such as 0.1%, and compare to the bit", share)
    .option("--threads <n>", "CPU threads (every core by default)", wholeNumber)
    .addHelpText("after", "\nExit status: 0 the run is what its manifest says, 1 it is not, 2 there is no run")
    .action(async (run: string, options: VerifyOptions) => {
      const { verify } = await import("./commands/verify.ts");
      done(await verify(run, options, { terminal, signal, openEngine: engine }));
    });
  program
    .command("merge")
    .description("put the parts of a complete run into one file")
    .argument("<run>", "FOLDER/ or s3://BUCKET/PREFIX, as price --output made it")
    .addOption(new Option("--format <name>", "else the output's name tells, or table").choices(OUTPUT_FORMATS))
    .option("-o, --output <file>", "where the results go; the file appears when it is complete")
    .option("--rows <n>", "of the table: all, or how many", tableRows)
    .action(async (run: string, options: MergeOptions) => {
      const { merge } = await import("./commands/merge.ts");
      done(await merge(run, options, terminal, signal));
    });
}
