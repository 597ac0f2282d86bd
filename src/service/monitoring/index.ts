/** Metrics, health checks and logs of long-running processes. */
export { type HealthServer, startHealthServer } from "./health.ts";
export { jsonLog, type Log, type LogLevel } from "./log.ts";
export { type Counter, type Histogram, Metrics, METRICS_TYPE } from "./metrics.ts";
