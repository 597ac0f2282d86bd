/**
 * The connection to the queue, which is BullMQ on Redis or Valkey. The packages are loaded only by commands that use
 * the queue.
 */
import type * as Bull from "bullmq";
import type { Redis } from "ioredis";
import { type Manifest, packageIdentity, RunError } from "../runs/index.ts";

/** The module of the npm package BullMQ. */
export type BullModule = typeof Bull;

/** The parameters of a connection to Redis, in the form that BullMQ expects. */
export interface RedisConnection {
  readonly url: string;
  readonly maxRetriesPerRequest: null;
  readonly retryStrategy: (times: number) => number;
}

/** The prefix of all keys in Redis. */
export const KEY_PREFIX = "feynkac";

/** Loads the npm package BullMQ. @throws RunError if it is not installed */
export async function loadBull(): Promise<BullModule> {
  try {
    const [bull] = await Promise.all([import("bullmq"), import("ioredis")]);
    return bull;
  } catch (cause) {
    throw new RunError("a queue needs the packages bullmq and ioredis: npm install bullmq ioredis", { cause });
  }
}

/**
 * Returns the name of the queue for one version of the package. Workers of another version never see its jobs, because
 * their results may differ in the last digits.
 */
export function queueName({ version, commit }: Manifest["feynkac"] = packageIdentity()): string {
  return commit === undefined ? version : `${version}-${commit.slice(0, 12)}`;
}

/** Returns a Redis URL without user name and password. */
export function withoutSecrets(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return "the URL of the queue";
  }
}

/** The maximum time between two attempts to connect, in milliseconds. */
const LONGEST_WAIT = 2000;

/** Returns the parameters of the connection to a Redis URL. @throws RunError an invalid URL */
export function connectionOf(url: string): RedisConnection {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    throw new RunError("--queue: expected redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT");
  return {
    url,
    // A restart of Redis is waited for.
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(50 * 2 ** times, LONGEST_WAIT),
  };
}

/**
 * Opens a connection to Redis for data that BullMQ does not manage. `patience` is the time in milliseconds within which
 * the server must answer. @throws RunError if it does not, or if a package is not installed
 */
export async function connectRedis(url: string, patience = 10_000): Promise<Redis> {
  const { url: _, ...options } = connectionOf(url);
  await loadBull();
  const { Redis: Client } = await import("ioredis");
  const client = new Client(url, options);
  let last: Error | undefined;
  client.on("error", (error: Error) => (last = error));
  const timer = new AbortController();
  try {
    await Promise.race([client.ping(), late(patience, timer.signal)]);
    return client;
  } catch (cause) {
    client.disconnect();
    const reason = last === undefined ? (cause as Error).message : last.message || (last as NodeJS.ErrnoException).code;
    throw new RunError(`cannot reach ${withoutSecrets(url)}: ${reason}`, { cause });
  } finally {
    timer.abort();
  }
}

function late(patience: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${patience / 1000} s`)), patience);
    signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
