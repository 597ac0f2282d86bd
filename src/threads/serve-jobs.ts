/** The worker's side of a `WorkerPool`. */
import type { FromWorker, ToWorker } from "./messages.ts";

/** An answer, with the memory that is transferred to the pool. */
export interface Answered<Answer> {
  readonly answer: Answer;
  readonly transfer?: ArrayBuffer[];
}

/** A function that does one job. */
export type Work<Job, Answer> = (job: Job, signal: AbortSignal) => Promise<Answered<Answer>>;

/**
 * Does the jobs that arrive, one at a time, after `begin` has received their common setup. A failed job is returned to
 * the pool, which repeats it and meets the error. An error of `begin` ends the thread.
 */
export function serveJobs<Setup, Job, Answer>(
  begin: (setup: Setup) => Work<Job, Answer> | Promise<Work<Job, Answer>>,
): void {
  const port = process.getBuiltinModule("node:worker_threads").parentPort!;
  const say = (message: FromWorker<Answer>, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  /** Jobs to come and under way, by number. */
  const stops = new Map<number, AbortController>();
  let work: Work<Job, Answer>;
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
