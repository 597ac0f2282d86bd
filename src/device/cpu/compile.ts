/**
 * Compiles WebAssembly modules. Browsers forbid long synchronous compilation on the page's main thread; everywhere else
 * it is faster.
 */
const LONGEST_ON_PAGE = 4096;

/**
 * Compiles a WebAssembly module. It does so asynchronously if the module is too large for a browser page to compile
 * synchronously.
 */
export async function compileModule(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  const page = typeof document !== "undefined";
  return page && bytes.length > LONGEST_ON_PAGE ? WebAssembly.compile(bytes) : new WebAssembly.Module(bytes);
}
