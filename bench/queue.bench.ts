import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { startRedis } from "../test/service/cluster/redis.ts";
import { random } from "../test/service/runs/killed.ts";
import { writeBook } from "./cluster/books.ts";
import { program, startWorker } from "./cluster/processes.ts";
import { simulate } from "./cluster/simulation.ts";
import type { Benchmark, Context } from "./harness.ts";
import { runProgram } from "./program.ts";

/** What Redis has done so far. */
interface Load {
  readonly seconds: number;
  readonly commands: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

async function loadOf(redis: Redis): Promise<Load> {
  const text = await redis.info();
  const of = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  return {
    seconds: of("used_cpu_user") + of("used_cpu_sys"),
    commands: of("total_commands_processed"),
    bytesIn: of("total_net_input_bytes"),
    bytesOut: of("total_net_output_bytes"),
  };
}

/** What Redis does for one job, from runs of few and of many jobs. */
async function perJob(context: Context): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-queue-"));
  await using server = await startRedis("everysec");
  await using _worker = await startWorker(server.url);
  const redis = new Redis(server.url);
  try {
    const loads: Load[] = [];
    const counts = context.quick ? [20, 120] : [100, 1100];
    for (const count of counts) {
      const book = join(folder, `${count}.ndjson`);
      await writeBook(book, count, 0);
      const before = await loadOf(redis);
      const output = `${join(folder, `run-${count}`)}/`;
      await runProgram(program, ["submit", book, "--queue", server.url, "--output", output, "--chunk-trades", "1"]);
      const after = await loadOf(redis);
      loads.push(difference(after, before));
    }
    const more = difference(loads[1], loads[0]);
    const jobs = counts[1] - counts[0];
    return {
      seconds: more.seconds / jobs,
      commands: more.commands / jobs,
      bytesIn: more.bytesIn / jobs,
      bytesOut: more.bytesOut / jobs,
    };
  } finally {
    redis.disconnect();
    rmSync(folder, { recursive: true });
  }
}

function difference(a: Load, b: Load): Load {
  return {
    seconds: a.seconds - b.seconds,
    commands: a.commands - b.commands,
    bytesIn: a.bytesIn - b.bytesIn,
    bytesOut: a.bytesOut - b.bytesOut,
  };
}

const TRADES = 10_000_000;
const WORKERS = 1000;

/** Books of 10 million trades: the time that a trade takes on a core, how many are in a chunk, and --lock-seconds. */
const BOOKS = [
  { name: "15 µs (European)", each: 15e-6, rows: 16_384, lock: 30 },
  { name: "0.4 ms (American)", each: 4e-4, rows: 2500, lock: 30 },
  { name: "0.4 ms (American)", each: 4e-4, rows: 2500, lock: 5 },
  { name: "10 ms (Monte Carlo)", each: 1e-2, rows: 100, lock: 30 },
  { name: "10 ms (Monte Carlo)", each: 1e-2, rows: 1000, lock: 5 },
];

function simulateBooks(context: Context, redis: number): void {
  for (const { name, each, rows, lock } of BOOKS) {
    const count = Math.ceil(TRADES / rows);
    const times = simulate({
      workers: WORKERS,
      chunks: Array.from({ length: count }, () => each * rows),
      failures: 0.01,
      lock,
      restart: 2,
      redis,
      storage: 0.04,
      spread: 0.3,
      next: random(1),
    });
    const share = (part: number): string => `${((100 * part) / (WORKERS * times.seconds)).toFixed(1)} %`;
    context.note(
      `${name}, ${count} chunks, lock ${lock} s: ${times.seconds.toFixed(1)} s; of the workers' time pricing ${share(times.priced)}, ` +
        `storage ${share(times.stored)}, Redis ${share(times.waited)}, lost ${share(times.lost)}, ` +
        `without work ${share(times.idle)}; Redis busy ${(100 * times.redisBusy).toFixed(1)} %; ${times.failed} failures`,
    );
    context.report({
      device: context.cpu,
      precision: "f64",
      case: `simulated: ${TRADES.toLocaleString("en-US")} trades of ${name}, ${count} chunks, ${WORKERS} workers, lock ${lock} s`,
      figure: times.seconds,
      unit: "s",
      floor: (TRADES * each) / WORKERS,
    });
  }
}

export const benchmark: Benchmark = {
  name: "queue",
  description: "what redis-server does for a job, and a simulation of 1,000 workers with it",
  async run(context) {
    const { seconds, commands, bytesIn, bytesOut } = await perJob(context);
    const common = { device: context.cpu, precision: "f64" } as const;
    context.report({ ...common, case: "processor time of redis-server for a job", figure: 1e3 * seconds, unit: "ms" });
    context.report({ ...common, case: "jobs that one redis-server carries", figure: 1 / seconds, unit: "jobs/s" });
    context.report({
      ...common,
      case: "commands of a job, those inside scripts included",
      figure: commands,
      unit: "commands",
    });
    context.report({ ...common, case: "bytes of a job to Redis", figure: bytesIn, unit: "bytes" });
    context.report({ ...common, case: "bytes of a job from Redis", figure: bytesOut, unit: "bytes" });
    simulateBooks(context, seconds);
  },
};
