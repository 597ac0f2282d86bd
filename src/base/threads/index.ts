/** Pools of Node worker threads that share the work of a process. */
export { type JobResult, serveJobs } from "./serve-jobs.ts";
export { workerStarters, type StartWorker, WorkerPool } from "./worker-pool.ts";
