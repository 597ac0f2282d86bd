/** The jobs in the queue. They contain little data, because workers read the book and the manifest from storage. */
import type { JobsOptions } from "bullmq";
import { KEY_PREFIX } from "./connect.ts";

/** The name of the jobs that price a chunk of trades. */
export const CHUNK_JOB = "chunk";
/** The name of the jobs that complete a run. */
export const RUN_JOB = "run";

/** The data that all jobs of a run contain. */
export interface RunJob {
  /** The id of the run. */
  readonly run: string;
  /** The location of the results: a folder that all workers can access, or S3. */
  readonly output: string;
  /** The hash of the manifest. A worker that finds another manifest rejects the job. */
  readonly plan: string;
  /** The number of chunks of the run. */
  readonly chunks: number;
  /** The number of trades of the run. */
  readonly trades: number;
  /** The maximum number of the run's chunks in the queue, and therefore of workers on the run. */
  readonly window: number;
  /** The priority of the first chunk; see `fairPriority`. */
  readonly priority: number;
  /** The difference between the priorities of consecutive chunks. */
  readonly stride: number;
}

/** The data of a job that prices one chunk of a run. `chunk` is the chunk's number. */
export interface ChunkJob extends RunJob {
  readonly chunk: number;
}

/** The data of a job in the queue. */
export type Job = RunJob | ChunkJob;

/** The maximum number of attempts to price a chunk. */
export const MAX_ATTEMPTS = 3;

/** The number of times that the worker of a chunk may die before the chunk's trades get errors as results. */
export const MAX_STALLED_COUNT = MAX_ATTEMPTS - 1;

/** The time in seconds for which finished runs are kept in Redis. */
export const RETENTION_SECONDS = 7 * 24 * 3600;

/** The highest priority number that BullMQ allows. */
const HIGHEST = 2 ** 21 - 1;
/** The priority levels of runs. Chunks of a higher level are priced first. */
export const PRIORITY_LEVELS = ["high", "normal", "low"] as const;
/** The priority level of a run. */
export type PriorityLevel = (typeof PRIORITY_LEVELS)[number];
const BAND = Math.floor(HIGHEST / PRIORITY_LEVELS.length);

/**
 * The largest share of the workers that a run may ask for. It is also the difference between the priorities of
 * consecutive chunks of a run with share 1; a run with a larger share has smaller differences.
 */
export const MAX_SHARE = 12;

/** Returns the first and the last BullMQ priority of a priority level. Smaller priorities are served first. */
export function priorityRangeOf(level: PriorityLevel): { readonly first: number; readonly last: number } {
  const first = 1 + PRIORITY_LEVELS.indexOf(level) * BAND;
  return { first, last: first + BAND - 1 };
}

/**
 * Returns the difference between the priorities of consecutive chunks for a run with the given share of the workers.
 */
export function priorityStrideOf(share: number): number {
  return Math.max(1, Math.round(MAX_SHARE / share));
}

/**
 * Returns the BullMQ priority of a chunk, by start-time fair queueing (Goyal, Vin & Cheng 1996). The chunk with the
 * smallest priority is served first. A run begins at the present front of its level, and its priorities grow by a
 * constant stride from chunk to chunk, so that chunks of several runs alternate.
 */
export function fairPriority({ priority, stride }: RunJob, chunk: number): number {
  const last = Math.ceil(priority / BAND) * BAND;
  return Math.min(priority + chunk * stride, last);
}

/** Returns the id of the job that prices a chunk. */
export function chunkJobId(run: string, chunk: number): string {
  return `${run}-${chunk}`;
}

/** Returns BullMQ's options for the job that prices a chunk. Its failure does not stop other jobs. */
export function chunkJobOptions(job: RunJob, chunk: number): JobsOptions {
  return {
    jobId: chunkJobId(job.run, chunk),
    priority: fairPriority(job, chunk),
    attempts: MAX_ATTEMPTS,
    ignoreDependencyOnFailure: true,
    removeOnComplete: true,
    removeOnFail: { age: RETENTION_SECONDS },
  };
}

/** Returns the BullMQ parent of a run's chunks: the job that completes the run. */
export function parentOf(run: string, queue: string): { readonly id: string; readonly queue: string } {
  return { id: run, queue: `${KEY_PREFIX}:${queue}` };
}
