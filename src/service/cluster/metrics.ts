import type { Queue } from "bullmq";
import { Metrics } from "../monitoring/index.ts";

/** The Prometheus metrics of a worker. */
export interface WorkerMetrics {
  readonly all: Metrics;
  /** Counts a chunk that is done, with its number of trades and the seconds that it took. */
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
        Object.entries(await lengthsOf(queue)).map(([state, count]) => [{ state }, count] as const),
      ),
  };
}

/** Returns the number of waiting and active jobs in the queue. */
export async function lengthsOf(queue: Queue): Promise<{ waiting: number; active: number }> {
  const {
    wait = 0,
    prioritized = 0,
    delayed = 0,
    active = 0,
  } = await queue.getJobCounts("wait", "prioritized", "delayed", "active");
  return { waiting: wait + prioritized + delayed, active };
}
