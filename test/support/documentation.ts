/** The examples of a page of docs, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { bundled, programFolder } from "./program.ts";

const root = new URL("../../", import.meta.url);

/** The code blocks of a page, `docs/random.md`. */
export const examplesOf = (page: string): readonly string[] =>
  [...readFileSync(new URL(page, root), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

/** What an example's comments say that it prints, what it does print, its errors and its exit status. */
export function runExample(code: string) {
  const folder = programFolder();
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bundled(code, folder)], { encoding: "utf8" });
    const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    return { said, printed: stdout.split("\n").filter((line) => line !== ""), errors: stderr, status };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
