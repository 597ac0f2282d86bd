/** Pricing on several machines: runs are submitted to a BullMQ queue, and workers price their chunks. */
export { RunRegistry, type LogLine, type RunEntry, type WorkerEntry } from "./board.ts";
export { connectionOf, loadBull, KEY_PREFIX, queueName, withoutSecrets } from "./connect.ts";
export { PRIORITY_LEVELS, type PriorityLevel, MAX_SHARE } from "./jobs.ts";
export { type RunState, runStateOf, type SubmitRequest, submitRun, waitForRun } from "./submit.ts";
export { type SupervisedProcess, supervise } from "./supervisor.ts";
export { runWorker, type WorkerSettings, queueLengths, type WorkerMetrics, workerMetrics } from "./worker.ts";
