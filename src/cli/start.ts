/**
 * Loads the command line with the code that V8 made of it in an earlier run. Reading and compiling it anew takes longer
 * than pricing a trade. Node's own cache (`module.enableCompileCache`) is not in Node 20, and is no faster.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { buildId, KernelCache } from "../device/index.ts";
import type * as Main from "./main.ts";

/** A CommonJS module as a function, of what Node gives such a module and what loads others on demand. */
type Wrapper = (
  exports: object,
  require: NodeJS.Require,
  module: object,
  file: string,
  folder: string,
  imported: (specifier: string) => Promise<unknown>,
) => void;

/** A program, and how to keep the code that V8 has made of it by then; nothing is done where there is code already. */
export interface Loaded {
  readonly program: typeof Main;
  readonly keep: () => void;
}

/**
 * Loads the CommonJS module in `file` and returns what it exports, for the command given; its code is kept when the
 * process ends.
 */
export function load(file: string, command = process.argv[2] ?? ""): typeof Main {
  // V8 shares each thread's young garbage among helpers, which many threads at once fight for: 16 of them, all cores
  // busy, take a sixth longer so. Set first, since kept code is of the flags that it was made with.
  setFlagsFromString("--no-parallel-scavenge");
  const { program, keep } = loadFor(/^[a-z]+$/.test(command) ? command : "", file);
  process.once("exit", keep); // by then V8 has compiled what the command needs
  return program;
}

/**
 * Loads the CommonJS module in `file` and returns what it exports. V8 itself checks that kept code is of its own
 * version and flags. Each purpose has code of its own: of functions that it has never called there is none.
 */
export function loadFor(purpose: string, file: string): Loaded {
  const cache = new KernelCache();
  const key = `code of ${buildId()} in ${process.version} ${process.arch} for ${purpose}`;
  const known = buildId() === undefined ? undefined : cache.find(key);
  const text = readFileSync(file, "latin1"); // ASCII, which is read faster so
  const script = new Script(`(function(exports,require,module,__filename,__dirname,imported){${text}\n})`, {
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
