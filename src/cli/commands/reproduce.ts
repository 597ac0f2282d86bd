import { didYouMean } from "../../book/index.ts";
import { CliError, EXIT } from "../failure.ts";
import { type ReproduceOptions, type Reproduction, REPRODUCTIONS } from "../../../bench/reproduce/index.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `feynkac reproduce --list`, which prints one line for each published result that can be reproduced. */
export function listReproductions({ stdout }: Terminal): number {
  const width = Math.max(...REPRODUCTIONS.map(({ name }) => name.length)) + 2;
  for (const { name, title, source } of REPRODUCTIONS)
    stdout.write(`${name.padEnd(width)}${title}\n${" ".repeat(width)}${source}\n`);
  return EXIT.ok;
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
  const { title, source, run } = found(name);
  const say = (line: string): void => void stdout.write(`${line}\n`);
  say(`${title[0].toUpperCase()}${title.slice(1)}`);
  say(source);
  await run({ options, signal, say });
  return EXIT.ok;
}

function found(name: string | undefined): Reproduction {
  const names = REPRODUCTIONS.map((one) => one.name);
  const known = `known are ${names.join(", ")}; feynkac reproduce --list says what they are`;
  if (name === undefined) throw new CliError(`reproduce: expected a name; ${known}`);
  const one = REPRODUCTIONS.find((reproduction) => reproduction.name === name);
  if (one === undefined) throw new CliError(`reproduce: got ${name}${didYouMean(name, names)}; ${known}`);
  return one;
}
