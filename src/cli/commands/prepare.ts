/** `feynkac doctor --prepare`: compiles the kernels that books need, and stores them in the kernel cache on disk. */
import { readdirSync } from "node:fs";
import { settleAll } from "../../base/event-loop.ts";
import { readBook } from "../../book/index.ts";
import { type BackendName, buildId, KernelCache, openDevice } from "../../device/index.ts";
import { DeviceUnavailableError } from "../../base/errors.ts";
import { priceBook } from "../../pricing/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { ProgressBar } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import { type SampleBook, sampleBooks } from "./prepare-book.ts";

/** The number of kinds of trades that are priced concurrently, so that several kernels are compiled in parallel. */
const AT_ONCE = 8;

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
        for (const book of [kind.book, kind.ladder]) {
          if (book === undefined) continue;
          const { failed: count } = await priceBook(readBook(book), { device, signal });
          if (count > 0) failed.push(kind.name);
        }
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

const kernelsIn = (folder: string): number => {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".kernel")).length;
  } catch {
    return 0; // not made yet
  }
};
