/**
 * Plants one bug after another in a copy of the sources, and runs the tests beside it: `npm run check:planted`. Words
 * choose the folders of `src` whose bugs are planted. Prints the table of design/planted.md.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bug, bugs } from "./bugs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What the tests of a folder read. */
const COPIED = ["bench", "bin", "docs", "examples", "schema", "scripts", "src", "test"] as const;
const FILES = ["package.json", "tsconfig.json", "vitest.config.ts", "README.md", "FEATURES.md", "LIMITATIONS.md"];

const copy = mkdtempSync(join(tmpdir(), "feynkac-planted-"));
for (const path of [...COPIED, ...FILES]) cpSync(join(root, path), join(copy, path), { recursive: true });
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
symlinkSync(join(root, "dist"), join(copy, "dist"));

/** Whether the tests pass. */
function passes(tests: readonly string[]): boolean {
  const arguments_ = ["node_modules/vitest/vitest.mjs", "run", "--bail", "1", "--reporter", "dot", ...tests];
  const { status } = spawnSync(process.execPath, arguments_, { cwd: copy, stdio: "ignore" });
  // Each state of the sources is compiled once.
  rmSync(join(copy, ".cache"), { recursive: true, force: true });
  return status === 0;
}

/** Whether a bug that has been planted makes a test fail. */
function isFound({ file, from, to, tests }: Bug): boolean {
  const path = join(copy, "src", file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`src/${file}: expected "${from}" once`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    return !passes(tests);
  } finally {
    writeFileSync(path, text);
  }
}

try {
  const words = process.argv.slice(2);
  const chosen = bugs.filter(({ file }) => words.length === 0 || words.some((word) => file.startsWith(word)));
  const rows = chosen.map((bug, i) => {
    const found = isFound(bug);
    const cells = [bug.file, `\`${bug.from}\``, `\`${bug.to}\``, found ? "found" : "**survives**"];
    console.log(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
    // A bug is found by tests that pass without it.
    const isLast = chosen[i + 1]?.tests !== bug.tests;
    if (isLast && !passes(bug.tests)) throw new Error(`${bug.tests.join(", ")} fail without a bug`);
    return found;
  });
  const count = rows.filter(Boolean).length;
  console.log(`\n${count} of ${rows.length} found, ${((100 * count) / rows.length).toFixed(1)} %`);
  process.exitCode = count >= 0.95 * rows.length ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true });
}
