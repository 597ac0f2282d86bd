/** Records of runs and workers in Redis, which exist besides the jobs of the queue. */
import type { Redis } from "ioredis";
import { connect, PREFIX } from "./connect.ts";
import { REMEMBERED } from "./jobs.ts";

/** The maximum number of lines that are kept of the log of a run. */
const LOG_LINES = 10_000;

/** The number of seconds without a sign of life after which a worker counts as gone. */
export const SILENCE = 15;

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

const RUNS = `${PREFIX}:runs`;
const keyOf = (run: string, what: string): string => `${PREFIX}:run:${run}:${what}`;

/** The entries of runs and workers and the workers' messages, which all processes share in Redis. */
export class Board implements AsyncDisposable {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Opens the board. @throws RunError no server that answers */
  static async open(url: string): Promise<Board> {
    return new Board(await connect(url));
  }

  /** True while the server answers. */
  get isConnected(): boolean {
    return this.#redis.status === "ready";
  }

  async add(entry: RunEntry): Promise<void> {
    await this.#redis
      .multi()
      .set(keyOf(entry.run, "entry"), JSON.stringify(entry), "EX", REMEMBERED)
      .zadd(RUNS, Date.parse(entry.submitted), entry.run)
      .exec();
  }

  /** Returns the remembered runs, the latest first. */
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
  async done(run: string, chunk: number): Promise<void> {
    const key = keyOf(run, "done");
    await this.#redis.multi().sadd(key, String(chunk)).expire(key, REMEMBERED).exec();
  }

  doneCount(run: string): Promise<number> {
    return this.#redis.scard(keyOf(run, "done"));
  }

  async cancel(run: string): Promise<void> {
    await this.#redis.set(keyOf(run, "cancelled"), "1", "EX", REMEMBERED);
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
      .expire(key, REMEMBERED)
      .exec();
  }

  async logs(run: string, from = 0): Promise<LogLine[]> {
    const lines = await this.#redis.lrange(keyOf(run, "log"), from, -1);
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  /** Announces a worker, to be repeated before `SILENCE` has passed. */
  async announce(worker: WorkerEntry): Promise<void> {
    await this.#redis.set(`${PREFIX}:worker:${worker.name}`, JSON.stringify(worker), "EX", SILENCE);
  }

  async leave(worker: WorkerEntry): Promise<void> {
    await this.#redis.del(`${PREFIX}:worker:${worker.name}`);
  }

  async workers(): Promise<WorkerEntry[]> {
    const entries: WorkerEntry[] = [];
    let cursor = "0";
    do {
      const [next, keys] = await this.#redis.scan(cursor, "MATCH", `${PREFIX}:worker:*`, "COUNT", 1000);
      const texts = keys.length === 0 ? [] : await this.#redis.mget(...keys);
      entries.push(...texts.filter((text) => text !== null).map((text) => JSON.parse(text) as WorkerEntry));
      cursor = next;
    } while (cursor !== "0");
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the priority of the next job between `first` and `last`; undefined where none waits. */
  async headOf(queue: string, first: number, last: number): Promise<number | undefined> {
    // BullMQ's score of a job with priority p: p·2³² + a counter.
    const [, score] = await this.#redis.zrangebyscore(
      `${PREFIX}:${queue}:prioritized`,
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
