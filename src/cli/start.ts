/**
 * Loads the command line from V8's code cache of an earlier process. Parsing and compiling the code again would take
 * longer than pricing a trade. Node's own cache (`module.enableCompileCache`) is not available in Node 20, and is not
 * faster.
 */
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { buildId, KernelCache } from "../device/index.ts";
import type * as Main from "./main.ts";

/** The functions that run the modules of a part, by names of scripts/lazy-program.js; `entry` runs the program's. */
type Part = Readonly<Record<string, () => unknown>> & { readonly entry: () => typeof Main };

/** The function around a part: its arguments are what Node passes to a module, and the way to other parts. */
type Wrapper = (
  require: NodeJS.Require,
  imported: (specifier: string) => Promise<unknown>,
  address: string,
  part: (name: string) => Part,
) => Part;

/** A program that was loaded from its files. `keep` stores the code that V8 has compiled, unless it is stored. */
export interface LoadedProgram {
  readonly program: typeof Main;
  readonly keep: () => void;
}

/** The bytes of the longest book that counts as brief: it has some 10 trades. */
const BRIEF_BOOK = 4096;

/**
 * How much a WebAssembly function of a brief run executes before V8 compiles it again, optimised: ten times as much as
 * by default, some 10 ms. The compilation takes as long, and Node waits for it at its end.
 */
const BRIEF_BUDGET = 18_000_000;

/** Tells whether all files that the arguments of `price` name are short. */
function hasBriefBook(args: readonly string[]): boolean {
  const files = args.map((path) => statSync(path, { throwIfNoEntry: false })).filter((stat) => stat?.isFile() === true);
  return files.length > 0 && files.every((stat) => stat!.size <= BRIEF_BOOK);
}

/**
 * Loads the program in `folder` for a command and returns its exports. The code that V8 compiles is stored when the
 * process ends, so that later processes start faster.
 */
export function load(folder: string, [command = "", ...args] = process.argv.slice(2)): typeof Main {
  // V8 shares each thread's young garbage among helpers, which many threads at once fight for: 16 of them, all cores
  // busy, take a sixth longer so. Set first, since kept code is of the flags that it was made with.
  setFlagsFromString("--no-parallel-scavenge");
  const isBrief = command === "price" && hasBriefBook(args);
  if (isBrief) setFlagsFromString(`--wasm-tiering-budget=${BRIEF_BUDGET}`);
  const purpose = /^[a-z]+$/.test(command) ? command : "";
  const { program, keep } = loadWithCodeCache(isBrief ? `${purpose}, brief` : purpose, folder);
  process.once("exit", keep); // by then V8 has compiled what the command needs
  return program;
}

/**
 * Loads the program in `folder`, each of its parts when it is first used, with the code that V8 compiled earlier for
 * the same purpose, if it is stored. V8 itself checks that stored code matches its version and flags. Code is stored
 * separately for each purpose, because it lacks the functions that were not called.
 */
export function loadWithCodeCache(purpose: string, folder: string): LoadedProgram {
  const cache = new KernelCache();
  const parts = new Map<string, Part>();
  const made = new Map<string, Script>();
  const required = createRequire(join(folder, "main.cjs"));
  // Where the package's modules would lie: their worker and the data are there.
  const address = pathToFileURL(join(folder, "../chunks/main.js")).href;
  const load = (name: string): Part => {
    const file = join(folder, `${name}.cjs`);
    const key = keyOf(purpose, name);
    const known = buildId() === undefined ? undefined : cache.find(key);
    // ASCII, which is read faster so.
    const script = new Script(readFileSync(file, "latin1"), {
      filename: file,
      ...(known === undefined ? {} : { cachedData: Buffer.from(known.buffer, known.byteOffset, known.byteLength) }),
    });
    if (known === undefined || script.cachedDataRejected === true) made.set(key, script);
    // `import()` in a script needs an experimental feature; here it is the module loader's, from the same folder.
    const part = (script.runInThisContext() as Wrapper)(required, (specifier) => import(specifier), address, partOf);
    parts.set(name, part);
    return part;
  };
  const partOf = (name: string): Part => parts.get(name) ?? load(name);
  const keep = (): void => {
    if (buildId() === undefined) return;
    for (const [key, script] of made) {
      const release = cache.claim(key); // one of many threads keeps it
      if (release === undefined) continue;
      cache.store(key, script.createCachedData());
      release();
    }
  };
  return { program: partOf("main").entry(), keep };
}

const keyOf = (purpose: string, part: string): string =>
  `code of ${part} of ${buildId()} in ${process.version} ${process.arch} for ${purpose}`;
