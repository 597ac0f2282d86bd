/** The examples of a page of docs, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundled, programFolder } from "./program.ts";

const root = new URL("../../", import.meta.url);

/** The code blocks of a page, `docs/random.md`. */
export const examplesOf = (page: string): readonly string[] =>
  [...readFileSync(new URL(page, root), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

export interface Outcome {
  /** What an example's comments say that it prints. */
  readonly said: readonly string[];
  readonly printed: readonly string[];
  readonly errors: string;
  readonly status: number | null;
}

const commentsOf = (code: string): readonly string[] =>
  [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

const BEGINS = "# example ";

/** Runs examples one after another in one process: to bundle and load the sources takes one a second of a core. */
export function runExamples(codes: readonly string[]): readonly Outcome[] {
  const folder = programFolder();
  try {
    const from = relative(fileURLToPath(root), folder);
    const imports = codes.map((code, i) => {
      writeFileSync(join(folder, `example-${i}.ts`), `${code}\nexport {};\n`);
      return `console.log("${BEGINS}${i}"); await import("./${from}/example-${i}.ts");`;
    });
    const program = bundled(imports.join("\n"), folder, "program", true);
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8" });
    const printed = stdout.split(new RegExp(`^${BEGINS}\\d+$`, "m")).slice(1);
    return codes.map((code, i) => ({
      said: commentsOf(code),
      printed: linesOf(printed[i] ?? ""),
      errors: stderr,
      status,
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
