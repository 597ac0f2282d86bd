/** Submits a run to the queue, and waits for it. */
import { randomBytes } from "node:crypto";
import type { FlowJob, Queue } from "bullmq";
import { type Manifest, RunError } from "../runs/index.ts";
import { RunRegistry, type RunEntry } from "./board.ts";
import { connectionOf, loadBull, KEY_PREFIX, queueName } from "./connect.ts";
import {
  priorityRangeOf,
  CHUNK_JOB,
  chunkJobOptions,
  type PriorityLevel,
  RETENTION_SECONDS,
  RUN_JOB,
  type RunJob,
  priorityStrideOf,
  MAX_ATTEMPTS,
} from "./jobs.ts";
import { planHash } from "./plan-hash.ts";

/** A run to be submitted to the queue, with its priority and its share of the workers. */
export interface SubmitRequest {
  /** The URL of the Redis or Valkey server. */
  readonly queue: string;
  readonly manifest: Manifest;
  /** The location of the results, as a path or URL that workers can open. */
  readonly output: string;
  /** The maximum number of the run's chunks in the queue, and therefore of workers on the run. */
  readonly maxWorkers: number;
  readonly level: PriorityLevel;
  /** The run's share of the workers, relative to other runs of the same level: 2 gets twice as much as 1. */
  readonly share: number;
}

/**
 * Puts a run into the queue and returns its entry. @throws RunError if no server answers, or if packages are not
 * installed
 */
export async function submitRun(request: SubmitRequest): Promise<RunEntry> {
  const { queue: url, manifest, output, maxWorkers, level, share } = request;
  await using board = await RunRegistry.open(url);
  const queue = queueName(manifest.feynkac);
  const { first, last } = priorityRangeOf(level);
  const job: RunJob = {
    run: `r${randomBytes(4).toString("hex")}`, // BullMQ wants no whole number
    output,
    plan: planHash(manifest),
    chunks: manifest.chunks.length,
    trades: manifest.trades,
    window: maxWorkers,
    priority: (await board.nextPriority(queue, first, last)) ?? first,
    stride: priorityStrideOf(share),
  };
  const submitted = new Date().toISOString();
  const entry = { run: job.run, queue, output, chunks: job.chunks, trades: job.trades, submitted };
  await board.add(entry);
  await addFlow(url, queue, job);
  return entry;
}

/**
 * Adds the jobs of a run to the queue: those of its first chunks, and a final one that waits for all chunks. Each
 * completed chunk adds the job of a later one.
 */
async function addFlow(url: string, queue: string, job: RunJob): Promise<void> {
  const { FlowProducer } = await loadBull();
  const flow = new FlowProducer({ connection: connectionOf(url), prefix: KEY_PREFIX });
  flow.on("error", () => undefined); // it connects again
  try {
    await flow.add(flowOf(queue, job));
  } finally {
    await flow.close();
  }
}

function flowOf(queue: string, job: RunJob): FlowJob {
  const first = Array.from({ length: Math.min(job.window, job.chunks) }, (_, chunk) => chunk);
  return {
    name: RUN_JOB,
    queueName: queue,
    data: job,
    opts: {
      jobId: job.run,
      priority: 1,
      attempts: MAX_ATTEMPTS,
      removeOnComplete: { age: RETENTION_SECONDS },
      removeOnFail: { age: RETENTION_SECONDS },
    },
    children: first.map((chunk) => {
      const data = { ...job, chunk };
      return { name: CHUNK_JOB, queueName: queue, data, opts: chunkJobOptions(job, chunk) };
    }),
  };
}

/** The state of a run in the queue. */
export interface RunState {
  /** The state. It is "lost" if Redis does not know the run any more, as after a restart without persistence. */
  readonly state: "waiting" | "running" | "complete" | "cancelled" | "failed" | "lost";
  /** The number of chunks that are priced. */
  readonly done: number;
  /** The reason of a failure. */
  readonly reason: string | undefined;
}

/** Returns the state of a run, read from Redis. */
export async function runStateOf(queue: Queue, board: RunRegistry, { run }: RunEntry): Promise<RunState> {
  const [job, done, cancelled] = await Promise.all([queue.getJob(run), board.doneCount(run), board.isCancelled(run)]);
  const state = job === undefined ? "lost" : await job.getState();
  const plain = { done, reason: undefined };
  if (state === "failed") return { ...plain, state, reason: job?.failedReason ?? "" };
  if (cancelled) return { ...plain, state: "cancelled" };
  if (state === "completed") return { ...plain, state: "complete" };
  if (state === "lost" || state === "unknown") return { ...plain, state: "lost" };
  return { ...plain, state: done > 0 ? "running" : "waiting" };
}

/** The time between two queries of the state of a run, in milliseconds. */
const LOOK = 250;

/**
 * Waits until a run is complete, even through interruptions of Redis. `onState` is called when the state changes.
 * @throws RunError if the run failed, was cancelled, or was lost by Redis; the signal's reason
 */
export async function waitForRun(
  url: string,
  entry: RunEntry,
  signal: AbortSignal,
  onState: (state: RunState) => void,
): Promise<void> {
  const { Queue: BullQueue } = await loadBull();
  await using board = await RunRegistry.open(url);
  const queue = new BullQueue(entry.queue, { connection: connectionOf(url), prefix: KEY_PREFIX });
  queue.on("error", () => undefined); // it connects again
  const aborted = abortOf(signal);
  try {
    for (;;) {
      signal.throwIfAborted();
      const looked = runStateOf(queue, board, entry);
      looked.catch(() => undefined);
      // A server that is away answers much later.
      const state = await Promise.race([looked, aborted]);
      onState(state);
      if (state.state === "complete") return;
      if (state.state === "failed") throw new RunError(`run ${entry.run}: ${state.reason}`);
      if (state.state === "cancelled")
        throw new RunError(`run ${entry.run} was cancelled; submit with --resume to continue`);
      if (state.state === "lost")
        throw new RunError(`run ${entry.run}: Redis has lost it; nothing that is priced is lost: submit with --resume`);
      await sleep(LOOK, signal);
    }
  } finally {
    await queue.close().catch(() => undefined);
  }
}

/** A promise that rejects with the signal's reason when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  aborted.catch(() => undefined);
  return aborted;
}

/** Waits for a number of milliseconds, or until the signal. It never rejects. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
