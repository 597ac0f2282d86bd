/** A run that is killed at random moments, as by a power cut, and resumed until it is complete. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Runs a program; kills it after so many milliseconds, unless it has ended by then. */
export function runOrKill(program: string, args: readonly string[], killAfter?: number): Promise<number | "killed"> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfter);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve("killed");
      else if (code !== 0) reject(new Error(`exit ${code}: ${stderr}`));
      else resolve(code);
    });
  });
}

/** Hashes of a run's files by their names; of its manifest, all but timings. */
export function hashesOf(run: string): Record<string, string> {
  const files = readdirSync(run, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      const bytes = readFileSync(path);
      const counted = file.name === "manifest.json" ? withoutTimings(bytes.toString()) : bytes;
      return [path.slice(run.length + 1), createHash("sha256").update(counted).digest("hex")];
    }),
  );
}

function withoutTimings(text: string): string {
  const { timings: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(rest);
}

/** Numbers from 0 to 1 from a seed (mulberry32): a failure can be repeated. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Prices until the run is complete, killed `kills` times on the way, each at a moment from 0 to `longest` ms.
 * @returns how many of the kills came before the program had ended
 */
export async function priceKilled(
  program: string,
  args: readonly string[],
  { kills, longest, random: next }: { readonly kills: number; readonly longest: number; readonly random: () => number },
): Promise<number> {
  let killed = 0;
  for (let i = 0; i < kills; i++)
    if ((await runOrKill(program, [...args, "--resume"], next() * longest)) === "killed") killed++;
  await runOrKill(program, [...args, "--resume"]);
  return killed;
}
