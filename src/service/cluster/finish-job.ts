/** The last job of a run, which completes its manifest after every chunk was tried. */
import type { Job as BullJob, Queue } from "bullmq";
import { checkBook, finishRun, type Receipts, readReceipts } from "../runs/index.ts";
import type { BullModule } from "./connect.ts";
import type { RunContextCache } from "./contexts.ts";
import { CHUNK_JOB, chunkJobId, chunkJobOptions, type Job, parentOf } from "./jobs.ts";
import type { Log } from "../monitoring/index.ts";
import { giveUpChunk } from "./price-chunk.ts";

interface JobResources {
  readonly bull: BullModule;
  readonly jobs: Queue;
  readonly queue: string;
  readonly contexts: RunContextCache;
  readonly log: Log;
}

/**
 * Completes a run after its last chunk. The trades of failed chunks get errors as results. Missing chunks are queued
 * again, and this job waits for them. @throws RunError if the book has changed meanwhile; StorageError
 */
export async function finishJob(job: BullJob<Job>, token: string, resources: JobResources): Promise<string> {
  const { contexts, log, bull } = resources;
  const context = await contexts.get(job.data);
  const { store, manifest } = context;
  await checkBook(manifest, await context.book());
  let known = await readReceipts(store, manifest, { trust: true });
  const failures = await failuresOf(job);
  for (const chunk of missingOf(known)) {
    const reason = failures.get(chunk);
    if (reason !== undefined) await giveUpChunk(context, chunk, reason);
  }
  if (failures.size > 0) known = await readReceipts(store, manifest, { trust: true });
  const missing = missingOf(known);
  if (missing.length > 0) {
    log("warn", "chunks are missing; they are priced again", { run: job.data.run, chunks: missing.length });
    await addAgain(job, missing, resources);
    if (await job.moveToWaitingChildren(token)) throw new bull.WaitingChildrenError();
    // They are done already: this job is tried again, as after a failure.
    throw new Error("the missing chunks came while they were put into the queue");
  }
  await finishRun(store, manifest, known);
  log("info", "complete", { run: job.data.run, output: job.data.output });
  return "complete";
}

function missingOf(known: Receipts): number[] {
  return known.flatMap((receipt, chunk) => (receipt === undefined ? [chunk] : []));
}

/** The error messages of the chunks that failed, by chunk number. */
async function failuresOf(job: BullJob<Job>): Promise<ReadonlyMap<number, string>> {
  const failures = Object.entries(await job.getIgnoredChildrenFailures());
  const begin = chunkJobId(job.data.run, 0).length - 1;
  return new Map(
    failures.map(([key, reason]) => [Number(key.slice(key.lastIndexOf(":") + 1 + begin)), reason] as const),
  );
}

async function addAgain(job: BullJob<Job>, missing: readonly number[], { jobs, queue }: JobResources): Promise<void> {
  const { run } = job.data;
  const parent = parentOf(run, queue);
  // All of them at once: none shall bring another.
  const data = { ...job.data, window: Number.MAX_SAFE_INTEGER };
  for (const chunk of missing)
    await jobs.add(CHUNK_JOB, { ...data, chunk }, { ...chunkJobOptions(job.data, chunk), parent });
}
