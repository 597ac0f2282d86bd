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
 * relative to the project's folder, and `feynkac` and its entries are their sources, by tsconfig.json. With `splitting`
 * what it imports by `import()` has files of its own: esbuild 0.28 loses a `using` at the top of a module inside one.
 */
export function bundled(code: string, folder: string, name = "program", splitting = false): string {
  buildSync({
    stdin: { contents: code, resolveDir: root, loader: "ts" },
    outdir: folder,
    entryNames: name,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting,
    format: "esm",
    platform: "node",
    target: "node20.19",
    packages: "external",
    // A program is run for its side effects, which package.json says the sources have none of.
    ignoreAnnotations: true,
    logLevel: "error",
  });
  return join(folder, `${name}.mjs`);
}
