import { didYouMean } from "../../book/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import type { ReproduceOptions, Reproduction } from "../reproduction.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Loads the published results, which lie beside the benchmarks. The build puts them into the command line's own file.
 * As a string their path is no part of what is compiled with the sources.
 */
async function reproductions(): Promise<readonly Reproduction[]> {
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- else tsc follows the path out of src
  const module = (await import("../../../bench/reproduce/index.ts" as string)) as {
    readonly REPRODUCTIONS: readonly Reproduction[];
  };
  return module.REPRODUCTIONS;
}

/** Runs `feynkac reproduce --list`, which prints one line for each published result that can be reproduced. */
export async function listReproductions({ stdout }: Terminal): Promise<number> {
  const all = await reproductions();
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  for (const { name, title, source } of all)
    stdout.write(`${name.padEnd(width)}${title}\n${" ".repeat(width)}${source}\n`);
  return EXIT_STATUS.ok;
}

/**
 * Runs `feynkac reproduce`, which computes a published result and measures its speed. Returns the exit status. @throws
 * CliError an unknown name
 */
export async function reproduce(
  name: string | undefined,
  options: ReproduceOptions,
  { stdout }: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { title, source, run } = found(name, await reproductions());
  const say = (line: string): void => void stdout.write(`${line}\n`);
  say(`${title[0].toUpperCase()}${title.slice(1)}`);
  say(source);
  await run({ options, signal, say });
  return EXIT_STATUS.ok;
}

function found(name: string | undefined, all: readonly Reproduction[]): Reproduction {
  const names = all.map((one) => one.name);
  const known = `known are ${names.join(", ")}; feynkac reproduce --list says what they are`;
  if (name === undefined) throw new CliError(`reproduce: expected a name; ${known}`);
  const one = all.find((reproduction) => reproduction.name === name);
  if (one === undefined) throw new CliError(`reproduce: got ${name}${didYouMean(name, names)}; ${known}`);
  return one;
}
