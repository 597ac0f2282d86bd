/** A worker, which takes jobs from the queue one at a time and prices them on one device. */
import type { Job as BullJob, Queue, Worker, Telemetry } from "bullmq";
import { type Pricer, packageIdentity, processName, RunError, StorageError } from "../runs/index.ts";
import { RunRegistry, SILENCE_SECONDS, type WorkerEntry } from "./board.ts";
import { type BullModule, connectionOf, loadBull, KEY_PREFIX, queueName } from "./connect.ts";
import { RunContextCache } from "./contexts.ts";
import { finishJob } from "./finish-job.ts";
import {
  type ChunkJob,
  CHUNK_JOB,
  chunkJobOptions,
  type Job,
  MAX_STALLED_COUNT,
  parentOf,
  RUN_JOB,
  MAX_ATTEMPTS,
} from "./jobs.ts";
import { type Log, Metrics } from "../monitoring/index.ts";
import { priceChunk } from "./price-chunk.ts";
import { sleep } from "./submit.ts";

/** The Prometheus metrics of a worker. */
export interface WorkerMetrics {
  readonly all: Metrics;
  /** Counts a chunk that is done, with its number of trades and its time in seconds. */
  done(outcome: string, trades: number, seconds: number): void;
  /** Counts a chunk that failed. */
  failed(): void;
  /** Adds the lengths of the queue to the metrics. */
  show(queue: Queue): void;
}

/** Creates the Prometheus metrics of a worker. */
export function workerMetrics(): WorkerMetrics {
  const all = new Metrics();
  const chunks = all.counter("feynkac_chunks_total", "Chunks that this worker has done, by outcome.");
  const trades = all.counter("feynkac_trades_total", "Trades that this worker has priced.");
  const seconds = all.histogram(
    "feynkac_chunk_seconds",
    "Time that a chunk took.",
    [0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000],
  );
  return {
    all,
    done: (outcome, count, took) => {
      chunks.add(1, { outcome });
      trades.add(count);
      seconds.observe(took);
    },
    failed: () => chunks.add(1, { outcome: "failed" }),
    show: (queue) =>
      all.gauge("feynkac_queue_jobs", "Jobs in the queue, by state.", async () =>
        Object.entries(await queueLengths(queue)).map(([state, count]) => [{ state }, count] as const),
      ),
  };
}

/** Returns the number of waiting and active jobs in the queue. */
export async function queueLengths(queue: Queue): Promise<{ waiting: number; active: number }> {
  const {
    wait = 0,
    prioritized = 0,
    delayed = 0,
    active = 0,
  } = await queue.getJobCounts("wait", "prioritized", "delayed", "active");
  return { waiting: wait + prioritized + delayed, active };
}

/** The settings of a worker, which prices chunks of trades from a queue. */
export interface WorkerSettings {
  /** The URL of the Redis or Valkey server. */
  readonly queue: string;
  readonly pricer: Pricer;
  /** The time in seconds after which a worker that has not renewed its lock loses its chunk to another worker. */
  readonly lockSeconds: number;
  /** The time in seconds after which pricing a chunk counts as failed. */
  readonly chunkTimeout: number;
  /** The signal that ends the worker. The worker then takes no more jobs, and has `stopSeconds` for the current one. */
  readonly signal: AbortSignal;
  /** The time in seconds that the current job has after the signal. A job that is not done by then is queued again. */
  readonly stopSeconds?: number;
  /** The time in seconds after which a job is tried again if files could not be read or written. */
  readonly storageSeconds?: number;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  /** A function that is called when the worker begins to take jobs, for tests and health checks. */
  readonly onReady?: (state: { readonly isHealthy: () => boolean; readonly queue: Queue }) => void;
}

/** The time limit for the current job after a signal. The worker ends within 10 s, and Kubernetes waits for 30 s. */
const STOP_SECONDS = 7;
const STORAGE_SECONDS = 5;

/** The time in milliseconds between two checks whether the current run was cancelled. */
const CANCEL_LOOK = 2000;

/** The objects that a job needs. */
interface WorkerResources extends WorkerSettings {
  readonly bull: BullModule;
  readonly board: RunRegistry;
  readonly contexts: RunContextCache;
  readonly jobs: Queue;
  readonly name: string;
  /** A signal that is aborted when the current job must end. */
  readonly stop: AbortSignal;
}

/**
 * Takes jobs from a queue and executes them until the signal is aborted. @throws RunError if no server answers at the
 * beginning, or if packages are not installed
 */
export async function runWorker(request: WorkerSettings): Promise<void> {
  const { queue: url, signal, log, pricer } = request;
  const bull = await loadBull();
  await using board = await RunRegistry.open(url);
  await using contexts = new RunContextCache();
  const name = queueName();
  const common = { connection: connectionOf(url), prefix: KEY_PREFIX, ...(await telemetryOf()) };
  const jobs = new bull.Queue(name, common);
  const stop = new AbortController();
  const resources: WorkerResources = { ...request, bull, board, contexts, jobs, name, stop: stop.signal };
  const entry = {
    name: processName(),
    queue: name,
    device: `${pricer.device.backend}: ${pricer.device.name}`,
    started: new Date().toISOString(),
  };
  const worker: Worker<Job> = new bull.Worker<Job>(name, (job, token) => work(job, token ?? "", resources), {
    ...common,
    name: entry.name,
    concurrency: 1,
    lockDuration: 1000 * request.lockSeconds,
    stalledInterval: 1000 * request.lockSeconds,
    maxStalledCount: MAX_STALLED_COUNT,
  });
  hear(worker, jobs, log);
  const heartbeat = beat(board, entry, log);
  try {
    await worker.waitUntilReady();
    log("info", "takes jobs", { ...entry, version: packageIdentity() });
    request.onReady?.({ isHealthy: () => board.isConnected && worker.isRunning(), queue: jobs });
    await sleep(2 ** 31 - 1, signal);
    log("info", "ends: takes no more jobs");
    const timer = setTimeout(() => stop.abort(new Stopped()), 1000 * (request.stopSeconds ?? STOP_SECONDS));
    await worker.close();
    clearTimeout(timer);
  } finally {
    clearInterval(heartbeat);
    await board.leave(entry).catch(() => undefined);
    await jobs.close().catch(() => undefined);
  }
}

/** The error of a job that is aborted because the worker ends. The job is returned to the queue. */
class Stopped extends Error {}

/** The error of a job that is aborted because its run was cancelled. */
class Cancelled extends Error {}

function hear(worker: Worker<Job>, jobs: Queue, log: Log): void {
  // BullMQ connects again by itself; Redis says the same again and again while it is away.
  let said = "";
  const say = (error: Error): void => {
    const text = error.message || (error as NodeJS.ErrnoException).code || error.name;
    if (text !== said) log("warn", "queue", { error: text });
    said = text;
  };
  worker.on("error", say);
  jobs.on("error", say);
  worker.on("ready", () => (said = ""));
  worker.on("stalled", (id) => log("warn", "a worker has lost this job; another one takes it", { job: id }));
}

function beat(board: RunRegistry, entry: WorkerEntry, log: Log): NodeJS.Timeout {
  const announce = (): void => {
    board.announce(entry).catch((error: Error) => log("warn", "queue", { error: error.message }));
  };
  announce();
  return setInterval(announce, (1000 * SILENCE_SECONDS) / 3);
}

async function work(job: BullJob<Job>, token: string, resources: WorkerResources): Promise<string> {
  const { board, contexts, log, name, jobs, bull } = resources;
  const { run } = job.data;
  if (await board.isCancelled(run)) return "cancelled";
  try {
    if (job.name === RUN_JOB) return await finishJob(job, token, { bull, jobs, queue: name, contexts, log });
    return await workOnChunk(job as BullJob<ChunkJob>, resources);
  } catch (error) {
    if (error instanceof Cancelled) return "cancelled";
    if (error instanceof Stopped) await putBack(job, token, resources);
    if (error instanceof StorageError) {
      await tell(resources, job, "cannot read or write; tries again", error);
      await sleep(1000 * (resources.storageSeconds ?? STORAGE_SECONDS), resources.signal);
      await putBack(job, token, resources);
    }
    throw error;
  }
}

/** Returns a job to the queue for another worker. This does not count as a failure of the job. */
async function putBack(job: BullJob<Job>, token: string, { bull, log }: WorkerResources): Promise<never> {
  await job.moveToWait(token);
  log("info", "gives its job back", { run: job.data.run, job: job.id });
  throw new bull.WaitingError();
}

async function tell(
  { board, log }: WorkerResources,
  { data, name }: BullJob<Job>,
  message: string,
  error: unknown,
): Promise<void> {
  const what = name === CHUNK_JOB ? { chunk: (data as ChunkJob).chunk } : {};
  const fields = { ...what, by: processName(), error: error instanceof Error ? error.message : String(error) };
  log("error", message, { run: data.run, ...fields });
  await board.log(data.run, { time: new Date().toISOString(), message, ...fields });
}

async function workOnChunk(job: BullJob<ChunkJob>, resources: WorkerResources): Promise<string> {
  const { board, contexts, log, metrics, pricer } = resources;
  const { run, chunk } = job.data;
  const began = performance.now();
  try {
    const context = await contexts.get(job.data);
    const outcome = await limited(job, resources, (signal) => priceChunk(context, chunk, pricer, signal));
    const seconds = (performance.now() - began) / 1000;
    metrics.done(outcome, outcome === "priced" ? context.manifest.chunks[chunk].rows : 0, seconds);
    log("info", outcome, { run, chunk, trades: context.manifest.chunks[chunk].rows, seconds });
  } catch (error) {
    if (error instanceof StorageError || error instanceof Stopped || error instanceof Cancelled) throw error;
    const tries = job.attemptsMade + 1;
    metrics.failed();
    await tell(resources, job, tries < MAX_ATTEMPTS ? "failed; is tried again" : "failed; is given up", error);
    if (tries >= MAX_ATTEMPTS) await next(job, resources);
    throw error;
  }
  await board.countDone(run, chunk);
  await next(job, resources);
  return "done";
}

/** Runs a task that is aborted when the worker ends, the run is cancelled, or the time limit is reached. */
async function limited<T>(
  { data: { run, chunk } }: BullJob<ChunkJob>,
  { board, stop, chunkTimeout }: WorkerResources,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const look = setInterval(() => {
    void board.isCancelled(run).then(
      (isCancelled) => isCancelled && ending.abort(new Cancelled()),
      () => undefined, // Redis is away
    );
  }, CANCEL_LOOK);
  const late = new RunError(`chunk ${chunk} took longer than ${chunkTimeout} s (--chunk-timeout)`);
  const timer = setTimeout(() => ending.abort(late), Math.min(1000 * chunkTimeout, 2 ** 31 - 1));
  try {
    return await task(AbortSignal.any([ending.signal, stop]));
  } finally {
    clearInterval(look);
    clearTimeout(timer);
  }
}

/**
 * Adds the job of a later chunk after that of `job` has ended. Hence the queue contains at most `window` chunks of a
 * run.
 */
async function next(job: BullJob<ChunkJob>, { jobs, name }: WorkerResources): Promise<void> {
  const { chunk: last, ...run } = job.data;
  const chunk = last + run.window;
  if (chunk >= run.chunks) return;
  const parent = parentOf(run.run, name);
  await jobs.add(CHUNK_JOB, { ...run, chunk }, { ...chunkJobOptions(run, chunk), parent });
}

/**
 * Returns OpenTelemetry tracing for BullMQ if the environment variables of OpenTelemetry ask for it, otherwise an empty
 * object. The exporter must be registered by the caller: `NODE_OPTIONS="--import
 * @opentelemetry/auto-instrumentations-node/register"`.
 * @throws RunError a package that is not installed
 */
async function telemetryOf(): Promise<{ readonly telemetry?: Telemetry }> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER } = process.env;
  if (OTEL_EXPORTER_OTLP_ENDPOINT === undefined && OTEL_TRACES_EXPORTER === undefined) return {};
  try {
    const { BullMQOtel } = await import("bullmq-otel");
    return { telemetry: new BullMQOtel({ tracerName: "feynkac" }) };
  } catch (cause) {
    throw new RunError("traces need the package bullmq-otel: npm install bullmq-otel", { cause });
  }
}
