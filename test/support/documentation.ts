/** The examples of a page of docs, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../../", import.meta.url);

/** The code blocks of a page, `docs/random.md`. */
export const examplesOf = (page: string): readonly string[] =>
  [...readFileSync(new URL(page, root), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

/** What an example's comments say that it prints, what it does print, and its errors. */
export function runExample(code: string) {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-docs-"));
  try {
    const path = join(folder, "example.mts");
    const door = (name: string): string => JSON.stringify(new URL(`src${name}/index.ts`, root).href);
    writeFileSync(
      path,
      code.replaceAll(/"feynkac(\/\w+)"/g, (_found, name: string) => door(name)),
    );
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), path], {
      encoding: "utf8",
    });
    const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    return { said, printed: stdout.split("\n").filter((line) => line !== ""), errors: stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
