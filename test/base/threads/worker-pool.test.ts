/** What a pool does when its threads start, end and have nothing to do; they do as they are told here. */
import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { WorkerPool } from "../../../src/base/threads/index.ts";

/** A thread that says what it is told to say, and knows whether it keeps the process alive. */
class ToldThread extends EventEmitter {
  keepsAlive = true;
  readonly jobs: number[] = [];
  readonly #terminated: Promise<number>;
  #resolve: (code: number) => void = () => {};

  constructor() {
    super();
    this.#terminated = new Promise((resolve) => (this.#resolve = resolve));
  }

  ref(): void {
    this.keepsAlive = true;
  }

  unref(): void {
    this.keepsAlive = false;
  }

  postMessage(message: { readonly kind: string; readonly number?: number }): void {
    if (message.kind === "job" && message.number !== undefined) this.jobs.push(message.number);
  }

  terminate(): Promise<number> {
    return this.#terminated;
  }

  end(): void {
    this.#resolve(0);
    this.emit("exit", 0);
  }

  say(message: unknown): void {
    this.emit("message", message);
  }
}

const never = new AbortController().signal;

function poolOf(count: number): {
  readonly threads: readonly ToldThread[];
  readonly pool: WorkerPool<null, number, number>;
} {
  const threads = Array.from({ length: count }, () => new ToldThread());
  return { threads, pool: new WorkerPool(threads.map((thread) => () => thread as EventEmitter as Worker)) };
}

/** Whether a promise has resolved when everything that can happen by itself has happened. */
async function hasResolved(promise: Promise<unknown>): Promise<boolean> {
  let is = false;
  void promise.then(() => (is = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  return is;
}

test("it has started when each thread is ready or has ended, and not before", async () => {
  const { threads, pool } = poolOf(3);
  const started = pool.whenStarted();
  expect(threads.map(({ keepsAlive }) => keepsAlive)).toEqual([true, true, true]);
  threads[0].say({ kind: "ready" });
  expect(await hasResolved(started)).toBe(false);
  threads[2].say({ kind: "ready" });
  expect(await hasResolved(started)).toBe(false);
  threads[1].end();
  expect(await hasResolved(started)).toBe(true);
  expect(pool.freeSlots).toBe(4);
});

test("a thread keeps the process alive as long as it has jobs", async () => {
  const { threads, pool } = poolOf(1);
  threads[0].say({ kind: "ready" });
  await pool.whenStarted();
  expect(threads[0].keepsAlive).toBe(false);
  const answers = [pool.run(1, never), pool.run(2, never)];
  expect(threads[0].keepsAlive).toBe(true);
  for (const [k, number] of threads[0].jobs.entries()) {
    threads[0].say({ kind: "done", number, answer: 10 * k });
    expect(threads[0].keepsAlive).toBe(k === 0);
  }
  expect(await Promise.all(answers)).toEqual([0, 10]);
});

test("it has ended when all threads have, whichever is last", async () => {
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const { threads, pool } = poolOf(3);
    pool[Symbol.dispose]();
    for (const [k, thread] of order.entries()) {
      threads[thread].end();
      expect(await hasResolved(pool.ended)).toBe(k === 2);
    }
  }
});
