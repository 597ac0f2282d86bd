import type { Queue } from "bullmq";
import { Metrics } from "../serving/index.ts";

/** The counters of a worker. */
export interface WorkerMetrics {
  readonly all: Metrics;
  done(outcome: string, trades: number, seconds: number): void;
  failed(): void;
  /** Shows the lengths of the queue, too, from now on. */
  show(queue: Queue): void;
}

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
        Object.entries(await lengthsOf(queue)).map(([state, count]) => [{ state }, count] as const),
      ),
  };
}

/** The number of jobs in the queue: those that wait and those under way. */
export async function lengthsOf(queue: Queue): Promise<{ waiting: number; active: number }> {
  const {
    wait = 0,
    prioritized = 0,
    delayed = 0,
    active = 0,
  } = await queue.getJobCounts("wait", "prioritized", "delayed", "active");
  return { waiting: wait + prioritized + delayed, active };
}
