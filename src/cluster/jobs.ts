/** The entries of the queue: small, because workers read the book and the manifest themselves. */
import type { JobsOptions } from "bullmq";
import { PREFIX } from "./connect.ts";

/** The name of jobs for chunks. */
export const CHUNK = "chunk";
/** The name of jobs that complete a run. */
export const RUN = "run";

/** The properties that all jobs of a run share. */
export interface RunJob {
  readonly run: string;
  /** The place of the run: a folder that all workers can access, or S3. */
  readonly output: string;
  /** The hash of the plan; a worker that finds another manifest rejects the job. */
  readonly plan: string;
  readonly chunks: number;
  readonly trades: number;
  /** The maximum number of chunks in the queue, and so of workers on the run. */
  readonly window: number;
  /** The priority of the first chunk; see `fairPriority`. */
  readonly priority: number;
  readonly stride: number;
}

/** The job of one chunk of a run. */
export interface ChunkJob extends RunJob {
  readonly chunk: number;
}

/** A job in the queue. */
export type Job = RunJob | ChunkJob;

/** The number of tries of a chunk that fails. */
export const TRIES = 3;

/** The number of times that a chunk's worker may die before its trades become errors. */
export const MAX_STALLED = TRIES - 1;

/** The seconds for which finished runs are remembered. */
export const REMEMBERED = 7 * 24 * 3600;

/** Priorities that BullMQ knows. */
const HIGHEST = 2 ** 21 - 1;
/** The levels of priority. */
export const LEVELS = ["high", "normal", "low"] as const;
/** A level of priority. */
export type Level = (typeof LEVELS)[number];
const BAND = Math.floor(HIGHEST / LEVELS.length);

/** The number of steps between chunks of a run with the smallest share; a larger share takes smaller steps. */
export const MAX_SHARE = 12;

/** Returns the first and the last priority of a level. */
export function bandOf(level: Level): { readonly first: number; readonly last: number } {
  const first = 1 + LEVELS.indexOf(level) * BAND;
  return { first, last: first + BAND - 1 };
}

/** Returns the number of steps between chunks of a run with a share. */
export function strideOf(share: number): number {
  return Math.max(1, Math.round(MAX_SHARE / share));
}

/**
 * Returns the priority of a chunk; the smallest goes first. Runs of one level begin at the queue's current position and
 * take equal steps from there, so that chunks of several runs alternate (start-time fair queueing, Goyal, Vin & Cheng
 * 1996).
 */
export function fairPriority({ priority, stride }: RunJob, chunk: number): number {
  const last = Math.ceil(priority / BAND) * BAND;
  return Math.min(priority + chunk * stride, last);
}

/** Returns the id of a chunk's job. */
export function chunkId(run: string, chunk: number): string {
  return `${run}-${chunk}`;
}

/** Returns the options of a chunk's job, whose failure does not stop the others. */
export function chunkOptions(job: RunJob, chunk: number): JobsOptions {
  return {
    jobId: chunkId(job.run, chunk),
    priority: fairPriority(job, chunk),
    attempts: TRIES,
    ignoreDependencyOnFailure: true,
    removeOnComplete: true,
    removeOnFail: { age: REMEMBERED },
  };
}

/** Returns the parent of a run's chunks in the queue. */
export function parentOf(run: string, queue: string): { readonly id: string; readonly queue: string } {
  return { id: run, queue: `${PREFIX}:${queue}` };
}
