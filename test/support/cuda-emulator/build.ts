/** Compiles the emulator's two libraries with g++, once for each state of the sources. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = fileURLToPath(new URL(".", import.meta.url));
const project = fileURLToPath(new URL("../../../", import.meta.url));

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
  const without = [...new Set(options.without)].sort();
  const folder = join(await cacheFolder(), await contentHash([compiler, process.arch, ...without]));
  if (!(await exists(join(folder, driverName)))) await buildInto(folder, without);
  return { driver: join(folder, driverName), nvrtc: join(folder, nvrtcName) };
}

async function compilerVersion(): Promise<string | undefined> {
  try {
    return (await run("g++", ["--version"])).stdout;
  } catch {
    return undefined;
  }
}

async function cacheFolder(): Promise<string> {
  const folder = join(project, "node_modules", ".cache", "feynkac-cuda-emulator");
  try {
    await mkdir(folder, { recursive: true });
    return folder;
  } catch {
    const other = join(tmpdir(), `feynkac-cuda-emulator-${process.getuid?.() ?? 0}`);
    await mkdir(other, { recursive: true });
    return other;
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

/** Everything is made under another name and then renamed, so that processes may build at the same time. */
async function buildInto(folder: string, without: readonly string[]): Promise<void> {
  const draft = await mkdtemp(`${folder}.draft-`);
  try {
    await writePrelude(draft);
    await mkdir(join(draft, "objects"));
    await Promise.all([
      compile(join("driver", "all.cpp"), join(draft, driverName), await hiddenSymbols(draft, without)),
      compile(join("nvrtc", "all.cpp"), join(draft, nvrtcName), []),
    ]);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(join(folder, driverName)))) throw error;
  }
}

async function writePrelude(folder: string): Promise<void> {
  const parts = preludeParts.map((part) => readFile(join(here, "prelude", `${part}.h`), "utf8"));
  const text = (await Promise.all(parts)).join("\n").replaceAll("#pragma once", "");
  await writeFile(join(folder, "prelude.h"), text);
}

async function hiddenSymbols(folder: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const script = join(folder, "symbols.map");
  await writeFile(script, `{ global: *; local: ${names.join("; ")}; };\n`);
  return [`-Wl,--version-script=${script}`];
}

/** `nodelete`, since signal handlers and other threads may outlive whoever loaded the library. */
async function compile(source: string, library: string, flags: readonly string[]): Promise<void> {
  const fixed = ["-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,nodelete"];
  await run("g++", [...fixed, ...flags, join(here, source), "-o", library, "-ldl", "-pthread"]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
