/** Batches priced on several threads of the host. */
export { type WorkerPool, workerPoolOf, startWorkerPool } from "./worker-pool.ts";
