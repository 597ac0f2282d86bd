import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { requireManifest, openStore } from "../src/service/runs/index.ts";
import { type RedisServer, startRedis } from "../test/service/cluster/redis.ts";
import { writeBook } from "./cluster/books.ts";
import { program, startWorker } from "./cluster/processes.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { runProgram } from "./program.ts";

const WORKERS = 2;

interface Scene {
  readonly context: Context;
  readonly folder: string;
  readonly redis: RedisServer;
  /** Seconds to price `book` by the workers, planning and waiting included. */
  submit(book: string, options?: readonly string[]): Promise<number>;
}

/** What the queue costs: two workers of one thread against one process of two threads, which get the same files. */
async function againstOneProcess({ context, folder, submit }: Scene): Promise<void> {
  const count = context.quick ? 2000 : 100_000;
  const book = join(folder, "book.ndjson");
  await writeBook(book, count, 10);
  const runs = context.quick ? 1 : 3;
  const seconds: { readonly queue: number; readonly process: number }[] = [];
  for (let i = 0; i < runs; i++) {
    const output = `${join(folder, "alone")}/`;
    const { seconds: alone } = await runProgram(program, ["price", book, "--threads", "2", "--output", output]);
    rmSync(output, { recursive: true });
    seconds.push({ queue: await submit(book), process: alone });
  }
  const ratios = seconds.map((one) => one.queue / one.process);
  context.note(`time by the queue over that of one process, each time: ${ratios.map((x) => x.toFixed(2)).join(", ")}`);
  const common = { device: context.cpu, precision: "f64" } as const;
  const name = `${count.toLocaleString("en-US")} trades, one in ten American, all Greeks, a run in parts`;
  context.report({
    ...common,
    case: `${name}, ${WORKERS} workers of one thread, submit to complete`,
    figure: median(seconds.map((one) => one.queue)),
    unit: "s",
    peers: { "one process of two threads": median(seconds.map((one) => one.process)) },
  });
}

/** Parts of one trade each: all that a job costs, its part and receipt on the disk included. */
async function perJob({ context, folder, submit }: Scene): Promise<void> {
  const [few, many] = context.quick ? [50, 150] : [200, 1200];
  const seconds: number[] = [];
  for (const count of [few, many]) {
    const book = join(folder, `tiny-${count}.ndjson`);
    await writeBook(book, count, 0);
    seconds.push(await submit(book, ["--chunk-trades", "1"]));
  }
  // Each worker has half of the jobs.
  const each = (1000 * WORKERS * (seconds[1] - seconds[0])) / (many - few);
  const name = `a job of one European trade, part and receipt written, ${WORKERS} workers at once`;
  context.report({ device: context.cpu, precision: "f64", case: name, figure: each, unit: "ms" });
}

/**
 * A book far larger than memory would like: planned and put into the queue, priced for a while, and submitted again.
 * Pricing all of it would show nothing more, because no chunk knows of the others.
 */
async function large({ context, folder, redis }: Scene): Promise<void> {
  const count = context.quick ? 20_000 : 10_000_000;
  const book = join(folder, "large.ndjson");
  await writeBook(book, count, 0);
  const output = `${join(folder, "large")}/`;
  const args = ["submit", book, "--greeks", "none", "--output", output, "--queue", redis.url, "--detach"];
  const name = `${count.toLocaleString("en-US")} European trades`;
  const common = { device: context.cpu, precision: "f64" } as const;
  const told = (what: string, { seconds, peakMiB }: { readonly seconds: number; readonly peakMiB: number }): void => {
    context.report({ ...common, case: `${name}, ${what}`, figure: seconds, unit: "s" });
    context.report({ ...common, case: `${name}, ${what}`, figure: peakMiB, unit: "MiB peak" });
  };
  told("planned and put into the queue", await runProgram(program, args));
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(redis.url)));
  await sleep(context.quick ? 2000 : 60_000);
  const peak = Math.max(...workers.map((worker) => worker.peakMiB()));
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  context.report({ ...common, case: `${name}, a worker in its first minute`, figure: peak, unit: "MiB peak" });
  told("submitted again with --resume", await runProgram(program, [...args, "--resume"]));
  const { trades } = await requireManifest(await openStore(output));
  if (trades !== count) throw new Error(`${trades} trades planned of ${count}`);
}

export const benchmark: Benchmark = {
  name: "cluster",
  description: "runs in parts by workers of a queue, redis-server on the same cores",
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), "feynkac-cluster-"));
    await using redis = await startRedis("everysec");
    const submit = async (book: string, options: readonly string[] = []): Promise<number> => {
      const output = `${join(folder, "run")}/`;
      const args = ["submit", book, "--queue", redis.url, "--output", output, ...options];
      const { seconds } = await runProgram(program, args);
      rmSync(output, { recursive: true });
      return seconds;
    };
    const scene = { context, folder, redis, submit };
    try {
      {
        await using _one = await startWorker(redis.url);
        await using _other = await startWorker(redis.url);
        await perJob(scene);
        await againstOneProcess(scene);
      }
      await large(scene);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
