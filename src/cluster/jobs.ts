/** The entries of the queue: small, because workers read the book and the manifest themselves. */
import type { JobsOptions } from "bullmq";
import { PREFIX } from "./connect.ts";

export const CHUNK = "chunk";
export const RUN = "run";

/** The properties that all jobs of a run share. */
export interface RunJob {
  readonly run: string;
  /** The place of the run: a folder that all workers see, or S3. */
  readonly output: string;
  /** Hash of the plan: a worker that finds another manifest there refuses. */
  readonly plan: string;
  readonly chunks: number;
  readonly trades: number;
  /** The number of chunks in the queue at once, and therefore workers on the run, at most. */
  readonly window: number;
  /** The priority of the first chunk; see `fairPriority`. */
  readonly priority: number;
  readonly stride: number;
}

/** One chunk of a run. */
export interface ChunkJob extends RunJob {
  readonly chunk: number;
}

export type Job = RunJob | ChunkJob;

/** The number of tries of a chunk that fails by itself. */
export const TRIES = 3;

/**
 * The number of times that a chunk's worker may die under it, before its trades are errors: as often as it may fail.
 */
export const MAX_STALLED = TRIES - 1;

/** The time in seconds for which finished runs are known. */
export const REMEMBERED = 7 * 24 * 3600;

/** Priorities that BullMQ knows. */
const HIGHEST = 2 ** 21 - 1;
export const LEVELS = ["high", "normal", "low"] as const;
export type Level = (typeof LEVELS)[number];
const BAND = Math.floor(HIGHEST / LEVELS.length);

/** The number of steps between chunks of a run with the smallest share; a larger share takes smaller steps. */
export const MAX_SHARE = 12;

/** The first and the last priority of a level. */
export function bandOf(level: Level): { readonly first: number; readonly last: number } {
  const first = 1 + LEVELS.indexOf(level) * BAND;
  return { first, last: first + BAND - 1 };
}

export function strideOf(share: number): number {
  return Math.max(1, Math.round(MAX_SHARE / share));
}

/**
 * The priority of a chunk, of which the smallest goes first. Runs of one level begin where the queue stands when they
 * are submitted and take equal steps from there, so that chunks of several runs alternate (start-time fair queueing,
 * Goyal, Vin & Cheng 1996).
 */
export function fairPriority({ priority, stride }: RunJob, chunk: number): number {
  const last = Math.ceil(priority / BAND) * BAND;
  return Math.min(priority + chunk * stride, last);
}

export function chunkId(run: string, chunk: number): string {
  return `${run}-${chunk}`;
}

/** The options of a chunk's job. A chunk that has failed does not stop the others. */
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

export function parentOf(run: string, queue: string): { readonly id: string; readonly queue: string } {
  return { id: run, queue: `${PREFIX}:${queue}` };
}
