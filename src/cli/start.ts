/**
 * Loads the command line with the code that V8 made of it in an earlier run. Reading and compiling it anew takes longer
 * than pricing a trade. Node's own cache (`module.enableCompileCache`) is not in Node 20, and is no faster.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
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

/**
 * What the CommonJS module in `file` exports. V8 itself checks that kept code is of its own version and flags. Each
 * command has code of its own: of functions that a command has never called there is none.
 */
export function load(file: string, command = process.argv[2] ?? ""): typeof Main {
  const cache = new KernelCache();
  const key = `code of ${buildId()} in ${process.version} ${process.arch} for ${/^[a-z]+$/.test(command) ? command : ""}`;
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
  // By then V8 has compiled what the command needs.
  if (isNew && buildId() !== undefined) process.once("exit", () => cache.store(key, script.createCachedData()));
  return module.exports as typeof Main;
}
