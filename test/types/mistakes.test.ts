/**
 * The compiler finds what is wrong in mistakes.ts, line by line, says what helps, and objects to nothing else: not to
 * the example books either. Both are one program, since the compiler checks all sources for each.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const examples = here("../../examples");

/** The example books as a module of typed values. */
function typedBooks(): string {
  const paths = readdirSync(examples, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("/book.json"),
  );
  expect(paths.length).toBeGreaterThan(4);
  const lines = paths.map(
    (path, i) => `export const book${i}: BookInput = ${readFileSync(join(examples, path), "utf8").trim()};`,
  );
  return ['import type { BookInput } from "../../../src/book/index.ts";', ...lines].join("\n");
}

/** What the compiler says, by line of mistakes.ts; of other files at 0. */
function complaints(): Map<number, string> {
  const folder = mkdtempSync(here("./.typed-"));
  try {
    writeFileSync(join(folder, "books.ts"), typedBooks());
    const config = { extends: "../tsconfig.json", include: ["../mistakes.ts", "books.ts"], exclude: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = here("../../node_modules/typescript/bin/tsc");
    const args = [tsc, "-p", folder, "--noEmit", "--pretty", "false"];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: here(".") });
    const found = new Map<number, string>();
    for (const text of stdout.split(/\n(?=\S)/)) {
      const [, file, line] = /^(.*?)\((\d+),\d+\): error/.exec(text) ?? [];
      const key = file === "mistakes.ts" ? Number(line) : 0;
      if (file !== undefined) found.set(key, `${found.get(key) ?? ""}${text}\n`);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("every mistake is an error of the compiler, with a message that helps", () => {
  const found = complaints();
  const lines = readFileSync(here("mistakes.ts"), "utf8").split("\n");
  const expected = lines.flatMap((line, k) => {
    const [, message] = /^ *\/\/ error: (.*)$/.exec(line) ?? [];
    return message === undefined ? [] : [[k + 2, message] as const];
  });
  expect(expected.length).toBeGreaterThan(25);
  const unsaid = expected.filter(([line, message]) => found.get(line)?.includes(message) !== true);
  expect(unsaid.map(([line, message]) => ({ line, message, got: found.get(line) }))).toEqual([]);
  expect([...found.values()].filter((message) => /[zZ]od/.test(message))).toEqual([]);
  const others = [...found.keys()].filter((line) => !expected.some(([at]) => at === line));
  expect(others.map((line) => found.get(line))).toEqual([]);
});
