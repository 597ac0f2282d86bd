/** Pools of Node worker threads that share the work of a process. */
export { type Answered, serveJobs } from "./serve-jobs.ts";
export { startsFrom, type StartWorker, WorkerPool } from "./worker-pool.ts";
