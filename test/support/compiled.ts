/**
 * The sources as a few files of JavaScript, one for each part of `src`, which Node loads by itself: for the test
 * runner, which takes 1 to 3 s of a core to hand the 900 modules to a test file one by one.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build as bundleBy, type Plugin, version } from "vite";
import { parts } from "../architecture/layers.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const source = join(root, "src");
/** What a command loads from outside of the sources. */
const besides = join(root, "bench/reproduce");
const cache = join(root, ".cache/sources");
/** Where test files find the kernels that others have compiled from the same sources. */
export const COMPILED_KERNELS = join(root, ".cache/kernels");
const DAY = 86_400_000;

/** Matches what this folder holds: the test runner leaves it to Node. */
export const COMPILED = /\/\.cache\/sources\//;

/** Programs of their own, which do their work when they are loaded: no modules that a test imports. */
const PROGRAMS: readonly string[] = ["pricing/workers/worker.ts", "cli/pipeline-worker.ts"];

/** The parts of `src` that make a program of a kernel's text. */
const COMPILER = /^(base|device|kernel)\//;

/** Has each import of a file of `src` find the compiled one. */
export function compiledSources(): Plugin {
  let compiling: Promise<string> | undefined;
  let folder = "";
  return {
    name: "compiled sources",
    enforce: "pre",
    async buildStart() {
      folder = await (compiling ??= compile());
    },
    resolveId(id, importer) {
      if (!id.endsWith(".ts") || (!id.startsWith(".") && !id.startsWith("/"))) return undefined;
      const path = relative(source, join(id.startsWith("/") ? "/" : dirname(importer ?? ""), id));
      return path.startsWith("..") || PROGRAMS.includes(path) ? undefined : join(folder, path.replace(/ts$/, "js"));
    },
  };
}

/** Compiles the sources unless they have been; where they lie. */
async function compile(): Promise<string> {
  const paths = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !PROGRAMS.includes(path))
    .sort();
  const files = [
    ...paths.map((path) => join(source, path)),
    ...readdirSync(besides).map((name) => join(besides, name)),
  ];
  const folder = join(cache, hashOf([fileURLToPath(import.meta.url), ...files]));
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    if (Date.now() - statSync(join(cache, name)).mtimeMs > DAY) rmSync(join(cache, name), { recursive: true });
  }
  const made = `${folder}.${process.pid}`;
  const compiler = paths.filter((path) => COMPILER.test(path)).map((path) => join(source, path));
  await bundle(paths, made, hashOf([join(root, "package-lock.json"), ...compiler]));
  // Another run may have made the same meanwhile.
  if (existsSync(folder)) rmSync(made, { recursive: true });
  else renameSync(made, folder);
  return folder;
}

/** A hash of these files, and of what compiles them. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256").update(version);
  for (const path of paths.toSorted()) hash.update(`${relative(root, path)}\n`).update(readFileSync(path));
  return hash.digest("hex").slice(0, 16);
}

/** Each path becomes a file that exports what the file of its folder has of it. `build` names what compiles kernels. */
async function bundle(paths: readonly string[], outDir: string, build: string): Promise<void> {
  // A lower layer is first to take what is its own, so that no file of a folder holds a part of another folder.
  const groups = parts.map((name, k) => ({
    name,
    priority: k,
    test: new RegExp(`/src/${name}${name.endsWith(".ts") ? "$" : "/"}`),
  }));
  await bundleBy({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [ownAddresses],
    ssr: { noExternal: ["zod"] },
    define: { FEYNKAC_BUILD: JSON.stringify(build) },
    build: {
      ssr: true,
      outDir,
      minify: false,
      target: "node20.19",
      rolldownOptions: {
        input: Object.fromEntries(paths.map((path) => [path.slice(0, -".ts".length), join(source, path)])),
        preserveEntrySignatures: "strict",
        // Kernels are read from the text of their functions, which stays as it is written.
        treeshake: false,
        optimization: { inlineConst: false },
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: "folders/[name].js",
          codeSplitting: { groups },
          minify: false,
        },
      },
    },
  });
}

/** A module that reads a file beside itself finds it where the sources lie. */
const ownAddresses: Plugin = {
  name: "own addresses",
  enforce: "pre",
  transform(code, id) {
    if (!code.includes("import.meta.url")) return undefined;
    return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
  },
};
