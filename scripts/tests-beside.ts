/** The tests that `npm run check` runs for a file. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** What every page is tested for. */
const OF_PAGES = ["test/documents/language.test.ts", "test/documents/links.test.ts"];

/**
 * Returns the tests beside a file, which may be gone: itself, the one of its name, or those in the folder of `test`
 * that is named like its own, or the nearest one. Folders of `src` and `tools` are named there without these.
 */
export function testsBeside(file: string): string[] {
  if (file.endsWith(".md")) return OF_PAGES;
  if (/^test\/.*\.test\.ts$/.test(file)) return existsSync(file) ? [file] : [];
  const inside = file.replace(/^(?:src|test|tools)\//, "");
  const ofItsName = join("test", inside.replace(/\.\w+$/, ".test.ts"));
  if (existsSync(ofItsName)) return [ofItsName];
  for (let folder = dirname(inside); folder !== "."; folder = dirname(folder)) {
    const tests = testsIn(join("test", folder));
    if (tests.length > 0) return tests;
  }
  return [];
}

const testsIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => join(folder, name))
    : [];
