/** Records of runs and workers in Redis, which exist besides the jobs of the queue. */
import type { Redis } from "ioredis";
import { connectRedis, KEY_PREFIX } from "./connect.ts";
import { RETENTION_SECONDS } from "./jobs.ts";

/** The maximum number of lines that are kept of the log of a run. */
const LOG_LINES = 10_000;

/** The time in seconds without a sign of life after which a worker counts as gone. */
export const SILENCE_SECONDS = 15;

/** The entry of a run in Redis. A run is a book that workers price in chunks. */
export interface RunEntry {
  /** The id of the run. */
  readonly run: string;
  /** The name of the queue of its jobs. */
  readonly queue: string;
  /** The folder of its results. */
  readonly output: string;
  readonly chunks: number;
  readonly trades: number;
  /** The time of submission in ISO format. */
  readonly submitted: string;
}

/** The entry of a worker process in Redis. */
export interface WorkerEntry {
  readonly name: string;
  readonly queue: string;
  readonly device: string;
  readonly started: string;
}

/** A log message of a worker, with additional fields. */
export interface LogLine {
  readonly time: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

const RUNS = `${KEY_PREFIX}:runs`;
const keyOf = (run: string, what: string): string => `${KEY_PREFIX}:run:${run}:${what}`;

/** The entries of runs and workers and the workers' messages, in Redis, where all processes can read them. */
export class RunRegistry implements AsyncDisposable {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Connects to Redis. @throws RunError if no server answers */
  static async open(url: string): Promise<RunRegistry> {
    return new RunRegistry(await connectRedis(url));
  }

  /** True while the server answers. */
  get isConnected(): boolean {
    return this.#redis.status === "ready";
  }

  async add(entry: RunEntry): Promise<void> {
    await this.#redis
      .multi()
      .set(keyOf(entry.run, "entry"), JSON.stringify(entry), "EX", RETENTION_SECONDS)
      .zadd(RUNS, Date.parse(entry.submitted), entry.run)
      .exec();
  }

  /** Returns the runs that are still stored, the latest first. */
  async runs(): Promise<RunEntry[]> {
    const names = await this.#redis.zrevrange(RUNS, 0, -1);
    const entries = await Promise.all(names.map((run) => this.run(run)));
    const forgotten = names.filter((_, i) => entries[i] === undefined);
    if (forgotten.length > 0) await this.#redis.zrem(RUNS, ...forgotten);
    return entries.filter((entry) => entry !== undefined);
  }

  async run(run: string): Promise<RunEntry | undefined> {
    const text = await this.#redis.get(keyOf(run, "entry"));
    return text === null ? undefined : (JSON.parse(text) as RunEntry);
  }

  /** Counts a chunk as done, once. */
  async countDone(run: string, chunk: number): Promise<void> {
    const key = keyOf(run, "done");
    await this.#redis.multi().sadd(key, String(chunk)).expire(key, RETENTION_SECONDS).exec();
  }

  doneCount(run: string): Promise<number> {
    return this.#redis.scard(keyOf(run, "done"));
  }

  async cancel(run: string): Promise<void> {
    await this.#redis.set(keyOf(run, "cancelled"), "1", "EX", RETENTION_SECONDS);
  }

  async isCancelled(run: string): Promise<boolean> {
    return (await this.#redis.exists(keyOf(run, "cancelled"))) === 1;
  }

  async log(run: string, line: LogLine): Promise<void> {
    const key = keyOf(run, "log");
    await this.#redis
      .multi()
      .rpush(key, JSON.stringify(line))
      .ltrim(key, -LOG_LINES, -1)
      .expire(key, RETENTION_SECONDS)
      .exec();
  }

  async logs(run: string, from = 0): Promise<LogLine[]> {
    const lines = await this.#redis.lrange(keyOf(run, "log"), from, -1);
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  /** Announces a worker. It must be repeated before `SILENCE_SECONDS` have passed. */
  async announce(worker: WorkerEntry): Promise<void> {
    await this.#redis.set(`${KEY_PREFIX}:worker:${worker.name}`, JSON.stringify(worker), "EX", SILENCE_SECONDS);
  }

  async leave(worker: WorkerEntry): Promise<void> {
    await this.#redis.del(`${KEY_PREFIX}:worker:${worker.name}`);
  }

  async workers(): Promise<WorkerEntry[]> {
    const entries: WorkerEntry[] = [];
    let cursor = "0";
    do {
      const [next, keys] = await this.#redis.scan(cursor, "MATCH", `${KEY_PREFIX}:worker:*`, "COUNT", 1000);
      const texts = keys.length === 0 ? [] : await this.#redis.mget(...keys);
      entries.push(...texts.filter((text) => text !== null).map((text) => JSON.parse(text) as WorkerEntry));
      cursor = next;
    } while (cursor !== "0");
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the priority of the next job whose priority is from `first` to `last`; undefined if no such job waits. */
  async nextPriority(queue: string, first: number, last: number): Promise<number | undefined> {
    // BullMQ's score of a job with priority p: p·2³² + a counter.
    const [, score] = await this.#redis.zrangebyscore(
      `${KEY_PREFIX}:${queue}:prioritized`,
      first * 2 ** 32,
      (last + 1) * 2 ** 32 - 1,
      "WITHSCORES",
      "LIMIT",
      0,
      1,
    );
    return score === undefined ? undefined : Math.floor(Number(score) / 2 ** 32);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect();
  }
}
