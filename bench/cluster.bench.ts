import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needManifest, openStore } from "../src/runs/index.ts";
import { type RedisServer, startRedis } from "../test/cluster/redis.ts";
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

/** A book far larger than memory would like: planned, submitted, priced, and resumed once complete. */
async function large({ context, folder, redis }: Scene): Promise<void> {
  const count = context.quick ? 20_000 : 10_000_000;
  const book = join(folder, "large.ndjson");
  await writeBook(book, count, 0);
  const output = `${join(folder, "large")}/`;
  const options = [book, "--greeks", "none", "--output", output];
  const name = `${count.toLocaleString("en-US")} European trades without Greeks`;
  const common = { device: context.cpu, precision: "f64" } as const;
  const told = (what: string, seconds: number, peakMiB: number): void => {
    context.report({ ...common, case: `${name}, ${what}`, figure: seconds, unit: "s" });
    context.report({ ...common, case: `${name}, ${what}`, figure: peakMiB, unit: "MiB peak" });
  };
  const queue = ["--queue", redis.url];
  const planned = await runProgram(program, ["submit", ...options, ...queue, "--detach"]);
  told("planned and put into the queue", planned.seconds, planned.peakMiB);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(redis.url)));
  const waited = await runProgram(program, ["submit", ...options, ...queue, "--resume"]);
  const peaks = workers.map((worker) => worker.peakMiB());
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  told("submitted again with --resume while none was priced, to complete", waited.seconds, waited.peakMiB);
  context.report({ ...common, case: `${name}, the larger worker`, figure: Math.max(...peaks), unit: "MiB peak" });
  const resumed = await runProgram(program, ["price", ...options, "--threads", "1", "--resume"]);
  told("resumed when all parts are there", resumed.seconds, resumed.peakMiB);
  const { priced } = await needManifest(await openStore(output));
  if (priced !== count) throw new Error(`${priced} trades priced of ${count}`);
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
