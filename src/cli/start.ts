/**
 * Loads the command line from V8's code cache of an earlier process. Parsing and compiling the code again would take
 * longer than pricing a trade. Node's own cache (`module.enableCompileCache`) is not available in Node 20, and is not
 * faster.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { buildId, KernelCache } from "../device/index.ts";
import type * as Main from "./main.ts";

/**
 * The function that wraps a CommonJS module. Its arguments are those that Node passes to a module, and the function for
 * dynamic imports.
 */
type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: object,
  file: string,
  folder: string,
  imported: (specifier: string) => Promise<unknown>,
) => void;

/**
 * The exports of a program that was loaded from its file. `keep` stores the code that V8 has compiled, unless it was
 * already stored.
 */
export interface LoadedProgram {
  readonly program: typeof Main;
  readonly keep: () => void;
}

/**
 * Loads the CommonJS module in `file` for a command and returns its exports. The code that V8 compiles is stored when
 * the process ends, so that later processes start faster.
 */
export function load(file: string, command = process.argv[2] ?? ""): typeof Main {
  // V8 shares each thread's young garbage among helpers, which many threads at once fight for: 16 of them, all cores
  // busy, take a sixth longer so. Set first, since kept code is of the flags that it was made with.
  setFlagsFromString("--no-parallel-scavenge");
  const { program, keep } = loadWithCodeCache(/^[a-z]+$/.test(command) ? command : "", file);
  process.once("exit", keep); // by then V8 has compiled what the command needs
  return program;
}

/**
 * Loads the CommonJS module in `file` with the code that V8 compiled earlier for the same purpose, if it is stored. V8
 * itself checks that stored code matches its version and flags. Code is stored separately for each purpose, because it
 * lacks the functions that were not called.
 */
export function loadWithCodeCache(purpose: string, file: string): LoadedProgram {
  const cache = new KernelCache();
  const key = `code of ${buildId()} in ${process.version} ${process.arch} for ${purpose}`;
  const known = buildId() === undefined ? undefined : cache.find(key);
  // Already a function of what `Wrapper` says (scripts/bundle.js). ASCII, which is read faster so.
  const script = new Script(readFileSync(file, "latin1"), {
    filename: file,
    ...(known === undefined ? {} : { cachedData: Buffer.from(known.buffer, known.byteOffset, known.byteLength) }),
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as Wrapper;
  // `import()` in a script needs an experimental feature; here it is the module loader's, from the same folder.
  run(module.exports, createRequire(file), module, file, dirname(file), (specifier) => import(specifier));
  const isNew = known === undefined || script.cachedDataRejected === true;
  const keep = (): void => {
    // One of many threads keeps it.
    const release = isNew && buildId() !== undefined ? cache.claim(key) : undefined;
    if (release === undefined) return;
    cache.store(key, script.createCachedData());
    release();
  };
  return { program: module.exports as typeof Main, keep };
}
