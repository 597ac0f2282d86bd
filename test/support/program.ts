/**
 * Programs of tests that start processes, each in one file: loading the sources one by one takes a process 2 s of a
 * core, loading one file 0.3 s.
 */
import { buildSync } from "esbuild";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** An empty folder where `bundled` may write, as deep in the project as one of `src`; the caller's to remove. */
export function programFolder(): string {
  const build = join(root, "build");
  mkdirSync(build, { recursive: true });
  return mkdtempSync(join(build, "program-"));
}

/**
 * Writes TypeScript into `folder` as one file for Node, with the sources that it imports; where it lies. Imports are
 * relative to the project's folder, and `feynkac` and its entries are their sources, by tsconfig.json.
 */
export function bundled(code: string, folder: string, name = "program"): string {
  const outfile = join(folder, `${name}.mjs`);
  buildSync({
    stdin: { contents: code, resolveDir: root, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    // A program is run for its side effects, which package.json says the sources have none of.
    ignoreAnnotations: true,
    logLevel: "error",
  });
  return outfile;
}
