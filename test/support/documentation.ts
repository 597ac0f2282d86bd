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

interface Outcome {
  /** What an example's comments say that it prints. */
  readonly said: readonly string[];
  readonly printed: readonly string[];
  readonly errors: string;
  readonly status: number | null;
}

const commentsOf = (code: string): readonly string[] =>
  [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

function printedBy(write: (folder: string) => string): { stdout: string; stderr: string; status: number | null } {
  const folder = programFolder();
  try {
    return spawnSync(process.execPath, [bundled(write(folder), folder)], { encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs an example. */
export function runExample(code: string): Outcome {
  const { status, stdout, stderr } = printedBy(() => code);
  return { said: commentsOf(code), printed: linesOf(stdout), errors: stderr, status };
}

const BEGINS = "# example ";

/** Runs examples one after another in one process: to load the sources takes one half a second. */
export function runExamples(codes: readonly string[]): readonly Outcome[] {
  const { status, stdout, stderr } = printedBy((folder) => {
    const from = relative(fileURLToPath(root), folder);
    return codes
      .map((code, i) => {
        writeFileSync(join(folder, `example-${i}.ts`), `${code}\nexport {};\n`);
        return `console.log("${BEGINS}${i}"); await import("./${from}/example-${i}.ts");`;
      })
      .join("\n");
  });
  const printed = stdout.split(new RegExp(`^${BEGINS}\\d+$`, "m")).slice(1);
  return codes.map((code, i) => ({
    said: commentsOf(code),
    printed: linesOf(printed[i] ?? ""),
    errors: stderr,
    status,
  }));
}
