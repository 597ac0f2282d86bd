/** Books of Asians, baskets and swings: the whole command, from its start to its exit. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, type Context, median } from "./harness.ts";
import { WRONG, writePathBook } from "./paths-book.ts";
import { runProgram } from "./program.ts";

const program = join(import.meta.dirname, "..", "bin/feynkac.js");

/** @throws Error unless each trade has its result, and exactly those have errors that should */
function check(output: string, count: number): void {
  const lines = readFileSync(output, "utf8").trim().split("\n");
  const failed = lines.filter((line) => line.includes('"status":"error"')).length;
  const ok = lines.filter((line) => line.includes('"status":"ok"')).length;
  if (failed !== Math.floor(count / WRONG) || ok + failed !== count)
    throw new Error(`${count} trades: ${ok} priced, ${failed} with errors`);
}

async function run(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-paths-"));
  const [book, output] = [join(folder, "book.ndjson"), join(folder, "out.ndjson")];
  const common = { device: context.cpu, precision: "f64" } as const;
  try {
    for (const count of context.quick ? [100] : [1000, 100_000])
      for (const threads of new Set(count > 1000 ? [availableParallelism()] : [1, availableParallelism()])) {
        await writePathBook(book, count);
        const times = count > 1000 || context.quick ? 1 : 3;
        const runs: { readonly seconds: number; readonly peakMiB: number }[] = [];
        for (let i = 0; i < times; i++) {
          // Code 1: some trades have errors.
          runs.push(
            await runProgram(program, ["price", book, "--output", output, "--threads", String(threads)], [0, 1]),
          );
          check(output, count);
        }
        const name = `${count.toLocaleString("en-US")} Asians, baskets and swings, all Greeks, ${threads} thread${threads === 1 ? "" : "s"}, from start to exit`;
        context.report({ ...common, case: name, figure: median(runs.map(({ seconds }) => seconds)), unit: "s" });
        context.report({ ...common, case: name, figure: Math.max(...runs.map(({ peakMiB }) => peakMiB)), unit: "MiB" });
      }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "paths",
  description: "books of Asians, baskets and swings at the default accuracy, the whole command: time and memory",
  run,
};
