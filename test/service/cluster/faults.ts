/** Runs in a queue while workers are killed, hang, lose the network or the disk, and Redis is started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectionOf, submitRun, waitForRun } from "../../../src/service/cluster/index.ts";
import { KEY_PREFIX } from "../../../src/service/cluster/connect.ts";
import { CHUNK_JOB, type RunJob, MAX_ATTEMPTS } from "../../../src/service/cluster/jobs.ts";
import { openStore, requireManifest } from "../../../src/service/runs/index.ts";
import { hashesOf, random, runOrKill } from "../runs/killed.ts";
import { bundled } from "../../support/program.ts";
import { startProxy } from "./proxy.ts";
import { startRedis } from "./redis.ts";

export const FAULTS = [
  "kill a worker",
  "stop a worker for a while",
  "start Redis again",
  "kill Redis",
  "stop Redis for a while",
  "cut the network",
  "fill the disk",
  "damage a part",
  "two workers on one chunk",
] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultsRequest {
  /** Where everything may be written. */
  readonly folder: string;
  /** Where programs may be written, inside the project. */
  readonly programs: string;
  readonly runs: number;
  /** No run begins after so many seconds. */
  readonly seconds?: number;
  readonly seed: number;
  readonly report?: (line: string) => void;
}

export interface FaultsOutcome {
  readonly runs: number;
  /** Faults that happened, by kind. */
  readonly happened: Readonly<Record<Fault, number>>;
  /** Runs that did not end with the bytes of a run without faults. */
  readonly wrong: readonly number[];
}

const TRADES = 1500;
const CHUNK_TRADES = 40;
const WORKERS = 2;

/** Clocks of workers are wrong by so much. Milliseconds. */
const SKEWS = [3_600_000, -3_600_000];

/** Prices one book again and again, each time under random faults. */
export async function runFaults({
  folder,
  programs,
  runs,
  seconds = Infinity,
  seed,
  report,
}: FaultsRequest): Promise<FaultsOutcome> {
  const program = bundled('import { runFromShell } from "./src/cli/main.ts";\nawait runFromShell();', programs);
  const book = join(folder, "book.ndjson");
  writeBook(book);
  const whole = join(folder, "whole");
  const options = ["--chunk-trades", String(CHUNK_TRADES)];
  await runOrKill(program, ["price", book, ...options, "--threads", "1", "--output", `${whole}/`]);
  const expected = hashesOf(whole);
  const plan = await requireManifest(await openStore(whole));
  const next = random(seed);
  const happened = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;
  const wrong: number[] = [];
  await using redis = await startRedis();
  await using proxy = await startProxy(redis.port);
  await using workers = new Workers(program, proxy.url);
  const start = performance.now();
  let i = 0;
  for (; i < runs && performance.now() - start < 1000 * seconds; i++) {
    const output = join(folder, `run-${i}`);
    mkdirSync(output);
    writeFileSync(join(output, "manifest.json"), pending(plan));
    const manifest = await requireManifest(await openStore(output));
    const request = { queue: redis.url, manifest, output, maxWorkers: 1024, level: "normal", share: 1 } as const;
    const entry = await submitRun(request);
    const began = performance.now();
    const waited = new AbortController();
    const complete = waitForRun(redis.url, entry, waited.signal, () => undefined);
    const faults = 1 + Math.floor(next() * 3);
    const state = { isComplete: false };
    const end = (): void => void (state.isComplete = true);
    complete.then(end, end);
    for (let k = 0; k < faults && !state.isComplete; k++) {
      // By progress, not by time: on a fast machine a run is over before a clock would begin its faults.
      const due = Math.floor((next() * entry.chunks) / 2);
      while (!state.isComplete && receiptsIn(output).length < due) await sleep(5);
      const fault = FAULTS[Math.floor(next() * FAULTS.length)];
      if (state.isComplete) break;
      happened[fault]++;
      await cause(fault, { output, redis, proxy, workers, next, entry });
    }
    await complete;
    const found = hashesOf(output);
    const isRight = JSON.stringify(sorted(found)) === JSON.stringify(sorted(expected));
    if (!isRight) wrong.push(i);
    else rmSync(output, { recursive: true });
    report?.(`run ${i}: ${isRight ? "right" : "WRONG"}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  return { runs: i, happened, wrong };
}

const sorted = (hashes: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(hashes).sort(([a], [b]) => (a < b ? -1 : 1));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Scene {
  readonly output: string;
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
  readonly proxy: Awaited<ReturnType<typeof startProxy>>;
  readonly workers: Workers;
  readonly next: () => number;
  readonly entry: Awaited<ReturnType<typeof submitRun>>;
}

async function cause(fault: Fault, scene: Scene): Promise<void> {
  const { output, redis, proxy, workers, next } = scene;
  switch (fault) {
    case "kill a worker":
      return workers.kill(Math.floor(next() * WORKERS));
    case "stop a worker for a while":
      return workers.stop(Math.floor(next() * WORKERS), 1000 + next() * 3000);
    case "start Redis again":
      return redis.restart(next() * 1000);
    case "kill Redis":
      return redis.restart(next() * 1000, "SIGKILL");
    case "stop Redis for a while":
      return redis.pause(1000 + next() * 3000);
    case "cut the network":
      return proxy.cut(next() * 2000);
    case "fill the disk":
      return fillDisk(output, next() * 1500);
    case "damage a part":
      return damage(output, next);
    case "two workers on one chunk":
      return priceTwice(scene);
    default:
      return fault satisfies never;
  }
}

/** For a while nothing can be written there: a file stands where the folder of parts was. */
async function fillDisk(output: string, pause: number): Promise<void> {
  const [parts, aside] = [join(output, "parts"), join(output, "aside")];
  if (!existsSync(parts)) return;
  renameSync(parts, aside);
  try {
    writeFileSync(parts, "");
    await sleep(pause);
    rmSync(parts, { force: true, recursive: true });
  } finally {
    renameSync(aside, parts);
  }
}

/** A receipt goes missing, as if its machine had lost power before the disk had it. */
async function damage(output: string, next: () => number): Promise<void> {
  const receipts = receiptsIn(output);
  if (receipts.length > 0)
    rmSync(join(output, "parts", receipts[Math.floor(next() * receipts.length)]), { force: true });
}

/** The names of the receipts of the chunks that are done. */
function receiptsIn(output: string): string[] {
  const parts = join(output, "parts");
  const isFolder = statSync(parts, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? readdirSync(parts).filter((name) => name.endsWith(".json")) : [];
}

/** Two more jobs of one chunk go first, so that both workers take it at the same time. */
async function priceTwice({ redis, entry, next }: Scene): Promise<void> {
  const { Queue } = await import("bullmq");
  const queue = new Queue(entry.queue, { connection: connectionOf(redis.url), prefix: KEY_PREFIX });
  queue.on("error", () => undefined);
  try {
    const run = await queue.getJob(entry.run);
    const chunk = Math.floor(next() * entry.chunks);
    const again = { ...(run?.data as RunJob), window: entry.chunks, chunk };
    const jobs = await Promise.all(
      [0, 1].map(() => queue.add(CHUNK_JOB, again, { priority: 1, attempts: MAX_ATTEMPTS })),
    );
    const isOver = async (job: (typeof jobs)[number]) => ["completed", "failed"].includes(await job.getState());
    while (!(await Promise.all(jobs.map(isOver))).every(Boolean)) await sleep(50);
  } finally {
    await queue.close();
  }
}

/** Workers that are always there, whatever is done to them. */
class Workers implements AsyncDisposable {
  readonly #program: string;
  readonly #url: string;
  readonly #running: ChildProcess[] = [];
  #isEnding = false;

  constructor(program: string, url: string) {
    this.#program = program;
    this.#url = url;
    for (let i = 0; i < WORKERS; i++) this.#start(i);
  }

  #start(i: number): void {
    const skew = `const now = Date.now; Date.now = () => now() + ${SKEWS[i]};`;
    const child = spawn(
      process.execPath,
      [
        "--import",
        `data:text/javascript,${encodeURIComponent(skew)}`,
        this.#program,
        "worker",
        "--backend",
        "cpu",
        "--threads",
        "1",
        "--lock-seconds",
        "2",
      ],
      { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, FEYNKAC_QUEUE: this.#url } },
    );
    child.once("exit", () => {
      if (!this.#isEnding) this.#start(i);
    });
    this.#running[i] = child;
  }

  async kill(i: number): Promise<void> {
    this.#running[i].kill("SIGKILL");
  }

  async stop(i: number, pause: number): Promise<void> {
    const child = this.#running[i];
    child.kill("SIGSTOP");
    await sleep(pause);
    child.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await Promise.all(
      this.#running.map(
        (child) =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) resolve();
            child.once("exit", () => resolve());
            child.kill("SIGKILL");
          }),
      ),
    );
  }
}

function writeBook(path: string): void {
  const header = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
  };
  const trades = Array.from({ length: TRADES }, (_, i) => {
    const [payoff, strike, expiry] = [i % 2 === 0 ? "put" : "call", 80 + (i % 41), 0.25 + (i % 17) / 8];
    const exercise = i % 10 === 0 ? "american" : "european";
    return { id: `T${i}`, underlying: "ACME", payoff, strike, expiry, exercise, quantity: 1 + (i % 3) };
  });
  writeFileSync(path, [header, ...trades].map((line) => JSON.stringify(line)).join("\n"));
}

/** The manifest of a run that has only been planned. */
function pending(plan: Awaited<ReturnType<typeof requireManifest>>): string {
  const { priced: _, failed: __, totals: ___, devices: ____, ...rest } = plan;
  const chunks = plan.chunks.map(({ outcome: _outcome, ...chunk }) => chunk);
  const timings = { started: plan.timings.started, chunks: chunks.map(() => null) };
  return JSON.stringify({ ...rest, status: "running", chunks, timings });
}
