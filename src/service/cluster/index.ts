/** Pricing on several machines: runs are submitted to a BullMQ queue, and workers price their chunks. */
export { Board, type LogLine, type RunEntry, type WorkerEntry } from "./board.ts";
export { connectionOf, loadBull, PREFIX, queueName, withoutSecrets } from "./connect.ts";
export { LEVELS, type Level, MAX_SHARE } from "./jobs.ts";
export { type RunState, stateOf, type SubmitRequest, submitRun, waitForRun } from "./submit.ts";
export { type Supervised, supervise } from "./supervisor.ts";
export { runWorker, type WorkerRequest, lengthsOf, type WorkerMetrics, workerMetrics } from "./worker.ts";
