/** The worker thread's side of a `WorkerPool`. */
import type { FromWorker, ToWorker } from "./messages.ts";

/** The answer to a job, and the buffers in it that are transferred to the pool instead of being copied. */
export interface JobResult<Answer> {
  readonly answer: Answer;
  readonly transfer?: ArrayBuffer[];
}

/** A function that does one job. The signal is aborted when the answer is no longer needed. */
export type JobFunction<Job, Answer> = (job: Job, signal: AbortSignal) => Promise<JobResult<Answer>>;

/**
 * Serves the jobs of a `WorkerPool` in a worker thread, one at a time. `begin` is called once, with the setup that all
 * jobs share, and returns the function that does a job. If a job fails, the pool is told so, and its caller repeats the
 * job to get the error. An error of `begin` ends the thread.
 */
export function serveJobs<Setup, Job, Answer>(
  begin: (setup: Setup) => JobFunction<Job, Answer> | Promise<JobFunction<Job, Answer>>,
): void {
  const port = process.getBuiltinModule("node:worker_threads").parentPort!;
  const say = (message: FromWorker<Answer>, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  /** The controllers that abort the jobs that have not ended, by job number. */
  const stops = new Map<number, AbortController>();
  let work: JobFunction<Job, Answer>;
  let last: Promise<void> = Promise.resolve();

  async function answer(number: number, job: Job, signal: AbortSignal): Promise<void> {
    try {
      signal.throwIfAborted();
      const done = await work(job, signal);
      say({ kind: "done", number, answer: done.answer }, done.transfer);
    } catch {
      say({ kind: "failed", number });
    }
  }

  port.on("message", (message: ToWorker<Setup, Job>) => {
    if (message.kind === "stop") stops.get(message.number)?.abort();
    else if (message.kind === "begin")
      last = last.then(async () => {
        work = await begin(message.setup);
        say({ kind: "ready" });
      });
    else {
      const { number, job } = message;
      const stop = new AbortController();
      stops.set(number, stop);
      last = last.then(() => answer(number, job, stop.signal)).finally(() => stops.delete(number));
    }
  });
}
