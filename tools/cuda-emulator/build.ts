/** Compiles the emulator's two libraries with g++, once for each state of the sources. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));

/** Paths for `dlopen`: the libraries lie in a folder of their own under their usual names. */
export interface CudaEmulatorPaths {
  /** Stands for libcuda.so.1. */
  readonly driver: string;
  /** Stands for libnvrtc.so. */
  readonly nvrtc: string;
}

export interface CudaEmulatorOptions {
  /** Functions of the driver that this build lacks, as an older driver would: `["cuMemAllocAsync"]`. */
  readonly without?: readonly string[];
}

const preludeParts = ["runtime", "core", "vectors", "math", "bits", "atomics", "warp", "launch"];
const driverName = "libcuda.so.1";
const nvrtcName = "libnvrtc.so.13";

/** Builds or finds; undefined where g++ is missing or this is not Linux. */
export async function buildLibraries(options: CudaEmulatorOptions): Promise<CudaEmulatorPaths | undefined> {
  const compiler = process.platform === "linux" ? await compilerVersion() : undefined;
  if (compiler === undefined) return undefined;
  const cache = await cacheFolder();
  const hash = await contentHash([compiler, process.arch]);
  const folder = await once(join(cache, hash), async (draft) => {
    await forgetOld(cache);
    await compileInto(draft, hash);
  });
  const nvrtc = join(folder, nvrtcName);
  const without = [...new Set(options.without)].sort();
  if (without.length === 0) return { driver: join(folder, driverName), nvrtc };
  const variant = createHash("sha256").update(without.join()).digest("hex").slice(0, 8);
  const driver = await once(`${folder}-${variant}`, (draft) => linkWithout(folder, without, draft));
  return { driver: join(driver, driverName), nvrtc };
}

async function compilerVersion(): Promise<string | undefined> {
  try {
    return (await run("g++", ["--version"])).stdout;
  } catch {
    return undefined;
  }
}

async function cacheFolder(): Promise<string> {
  // Not in node_modules, which `npm ci` deletes.
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "feynkac-cuda-emulator");
  try {
    await mkdir(folder, { recursive: true });
    return folder;
  } catch {
    const other = join(tmpdir(), `feynkac-cuda-emulator-${process.getuid?.() ?? 0}`);
    await mkdir(other, { recursive: true });
    return other;
  }
}

/** Builds of other states of the sources go when a week has passed. */
async function forgetOld(cache: string): Promise<void> {
  const limit = Date.now() - 7 * 24 * 3600 * 1000;
  for (const name of await readdir(cache)) {
    const folder = join(cache, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < limit) await rm(folder, { recursive: true, force: true });
  }
}

async function contentHash(words: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of await sources()) {
    hash.update(file);
    hash.update(await readFile(join(here, file)));
  }
  hash.update(await readFile(fileURLToPath(import.meta.url)));
  for (const word of words) hash.update(`\0${word}`);
  return hash.digest("hex").slice(0, 20);
}

async function sources(): Promise<string[]> {
  const files = await readdir(here, { recursive: true });
  return files.filter((file) => /\.(cpp|h)$/.test(file)).sort();
}

/** Has `make` fill a folder; under another name at first, so that processes may do so at the same time. */
async function once(folder: string, make: (draft: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder;
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    await make(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
  return folder;
}

async function compileInto(folder: string, hash: string): Promise<void> {
  await writePrelude(folder);
  await mkdir(join(folder, "objects"));
  const flags = [`-DFKEMU_BUILD="${hash}"`];
  await Promise.all([compile("driver", folder, driverName, flags), compile("nvrtc", folder, nvrtcName, flags)]);
}

async function writePrelude(folder: string): Promise<void> {
  const parts = preludeParts.map((part) => readFile(join(here, "prelude", `${part}.h`), "utf8"));
  const text = (await Promise.all(parts)).join("\n").replaceAll("#pragma once", "");
  await writeFile(join(folder, "prelude.h"), text);
}

async function compile(part: string, folder: string, library: string, defines: readonly string[]): Promise<void> {
  const object = join(folder, `${part}.o`);
  const flags = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden"];
  await run("g++", [...flags, ...defines, "-c", join(here, part, "all.cpp"), "-o", object]);
  await link(object, join(folder, library), []);
}

/** Links the driver again, some of its functions hidden. */
async function linkWithout(base: string, names: readonly string[], folder: string): Promise<void> {
  const script = join(folder, "symbols.map");
  await writeFile(script, `{ global: *; local: ${names.join("; ")}; };\n`);
  await link(join(base, "driver.o"), join(folder, driverName), [`-Wl,--version-script=${script}`]);
}

/** `nodelete`, since signal handlers and other threads may outlive whoever loaded the library. */
async function link(object: string, library: string, flags: readonly string[]): Promise<void> {
  await run("g++", ["-shared", object, "-o", library, "-Wl,-z,nodelete", ...flags, "-ldl", "-pthread"]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
