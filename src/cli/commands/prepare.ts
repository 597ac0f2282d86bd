/** `feynkac doctor --prepare`: compiles the kernels that books need, and stores them in the kernel cache on disk. */
import { readdirSync } from "node:fs";
import { settleAll } from "../../base/event-loop.ts";
import { readBook } from "../../book/index.ts";
import { type BackendName, buildId, type Device, isGpu, KernelCache, openDevice } from "../../device/index.ts";
import { DeviceUnavailableError } from "../../base/errors.ts";
import { priceBook } from "../../pricing/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { ProgressBar } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import { type SampleBook, sampleBooks } from "./prepare-book.ts";

/** The number of kinds of trades that are priced concurrently, so that several kernels are compiled in parallel. */
const AT_ONCE = 16;

/**
 * The work items that a GPU says that it holds, so that a few instances fill it, as the many of a long book do: the
 * fewest of a GPU (`isGpu`). Instances then share a subgroup from some 32 on.
 */
const SMALL = 8192;

/**
 * Runs `feynkac prepare`, which prices sample trades of every kind on the CPU and, if there is one, on an NVIDIA GPU,
 * so that later commands find compiled kernels. The kernels of users' formulas and of accuracies beyond the default are
 * not included. @throws CliError if kernels are not stored, because the program runs from its sources or has no folder
 * for them
 */
export async function prepare(
  terminal: Terminal,
  signal: AbortSignal,
  folder = buildId() === undefined ? undefined : new KernelCache().directory,
  kinds: readonly SampleBook[] = sampleBooks(),
): Promise<number> {
  if (folder === undefined)
    throw new CliError(
      "--prepare: no kernel is kept on disk here; use a built package, and a home folder or XDG_CACHE_HOME",
    );
  let status: number = EXIT_STATUS.ok;
  for (const backend of ["cpu", "cuda"] as const) {
    const line = await prepareOn(backend, { folder, kinds, terminal, signal });
    terminal.stdout.write(`${line.text}\n`);
    if (!line.ok) status = EXIT_STATUS.failedTrades;
  }
  return status;
}

interface Setting {
  readonly folder: string;
  readonly kinds: readonly SampleBook[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function prepareOn(
  backend: BackendName,
  { folder, kinds, terminal, signal }: Setting,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const start = performance.now();
  const before = kernelsIn(folder);
  try {
    using device = await openDevice({ backend, precision: "f64", share: "always" });
    const bar = new ProgressBar(terminal.stderr);
    const waiting = [...kinds];
    const failed: string[] = [];
    let done = 0;
    const work = async (): Promise<void> => {
      for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
        if (!(await compileFor(kind, device, signal))) failed.push(kind.name);
        bar.update({ done: ++done, fraction: done / kinds.length });
      }
    };
    try {
      await settleAll(Array.from({ length: AT_ONCE }, work));
    } finally {
      bar.clear();
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const made = kernelsIn(folder) - before;
    const text = `${device.name}: ${made} kernels compiled in ${seconds} s, kept in ${folder}`;
    return failed.length === 0
      ? { ok: true, text }
      : { ok: false, text: `${text}; not priced: ${[...new Set(failed)].join("; ")}` };
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
    return { ok: true, text: `${backend}: not here, nothing to prepare` };
  }
}

/**
 * Compiles the kernels of a kind of trades on a device: those that sample books need, in launches of few and of many
 * instances, and those that are likely to follow them. @returns false if a trade cannot be priced
 */
export async function compileFor({ books }: SampleBook, device: Device, signal: AbortSignal): Promise<boolean> {
  const following: Promise<unknown>[] = [];
  const compile: Device["compile"] = async (kernel, { followers, ...options }) => {
    const compiled = device.compile(kernel, options);
    following.push(...(followers?.() ?? []).map((next) => device.compile(next, options)));
    return compiled;
  };
  const sizes = isGpu(device) ? [device.parallelism, SMALL] : [device.parallelism];
  let failed = 0;
  for (const parallelism of sizes) {
    const own: Readonly<Record<string | symbol, unknown>> = { compile, parallelism };
    const preparing = new Proxy(device, { get: (of, name) => own[name] ?? memberOf(of, name) });
    for (const book of books) failed += (await priceBook(readBook(book), { device: preparing, signal })).failed;
  }
  await settleAll(following);
  return failed === 0;
}

/** Returns a member of a device; its methods remain its own. */
function memberOf(device: Device, name: string | symbol): unknown {
  const member: unknown = Reflect.get(device, name, device);
  return typeof member === "function" ? (member.bind(device) as unknown) : member;
}

const kernelsIn = (folder: string): number => {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".kernel")).length;
  } catch {
    return 0; // not made yet
  }
};
