/** Runs in a queue of a real Redis, priced by workers of this process. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  RunRegistry,
  connectionOf,
  runWorker,
  submitRun,
  type SubmitRequest,
  waitForRun,
  workerMetrics,
} from "../../../src/service/cluster/index.ts";
import type { ParsedTrade } from "../../../src/book/index.ts";
import { priorityRangeOf, fairPriority, priorityStrideOf } from "../../../src/service/cluster/jobs.ts";
import { requireManifest, openStore, type Pricer, StorageError, verifyRun } from "../../../src/service/runs/index.ts";
import { jsonLog, startHealthServer } from "../../../src/service/monitoring/index.ts";
import { fakeEngine } from "../../cli/fake-engine.ts";
import { openEngine } from "../../../src/cli/engine.ts";
import { main } from "../../../src/cli/main.ts";
import { feynkac, kept } from "../../cli/in-process.ts";
import { hashesOf } from "../runs/killed.ts";
import { type RedisServer, skipped, startRedis } from "./redis.ts";

let redis: RedisServer;
let folder: string;
let book: string;
const workers: { readonly stop: AbortController; readonly ended: Promise<void> }[] = [];

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};

/** A command whose server does not answer: it waits for ten seconds while the other tests run. */
let unanswered: ReturnType<typeof feynkac>;

beforeAll(async () => {
  unanswered = feynkac(["status", "--queue", "redis://user:never-logged@127.0.0.1:1"]);
  if (!skipped) redis = await startRedis();
});
afterAll(async () => redis?.[Symbol.asyncDispose]());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-cluster-"));
  book = join(folder, "book.ndjson");
  const trades = Array.from({ length: 60 }, (_, i) => {
    const trade = { underlying: "ACME", payoff: "put", strike: 90 + i, expiry: 1, quantity: 1 + (i % 3) };
    return { id: `T${i}`, ...trade };
  });
  writeFileSync(book, [header, ...trades].map((line) => JSON.stringify(line)).join("\n"));
});
afterEach(async () => {
  for (const { stop } of workers) stop.abort();
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  rmSync(folder, { recursive: true });
});

/** A promise that somebody else settles. */
function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

/** A worker of this process; what it says. */
async function startWorker(pricer: Pricer, more: { stopSeconds?: number; chunkTimeout?: number } = {}) {
  const lines: Record<string, unknown>[] = [];
  const stop = new AbortController();
  const metrics = workerMetrics();
  const ready = deferred();
  const ended = runWorker({
    queue: redis.url,
    pricer,
    lockSeconds: 30,
    chunkTimeout: 600,
    storageSeconds: 0.2,
    stopSeconds: 1,
    ...more,
    signal: stop.signal,
    log: jsonLog((line) => lines.push(JSON.parse(line) as Record<string, unknown>)),
    metrics,
    onReady: ({ queue }) => {
      metrics.show(queue);
      ready.resolve();
    },
  });
  ended.catch(ready.reject);
  workers.push({ stop, ended });
  await ready.promise;
  return { lines, metrics, stop: () => (stop.abort(), ended) };
}

async function pricer(change: Partial<Pricer> = {}): Promise<Pricer> {
  const engine = await fakeEngine().open({ backend: "cpu", device: undefined, threads: 1, precision: "f64" });
  return { device: engine.device, priceTrades: engine.priceTrades.bind(engine), ...change };
}

/** A pricer that does something before each chunk. */
async function before(work: (ids: readonly string[], signal: AbortSignal) => Promise<void>): Promise<Pricer> {
  const inner = await pricer();
  return {
    device: inner.device,
    async *priceTrades(trades, context, options) {
      const list: ParsedTrade[] = [];
      for await (const trade of trades) list.push(trade);
      await work(
        list.map((one) => (one.ok ? one.trade.id : "")),
        options.signal,
      );
      async function* again() {
        yield* list;
      }
      yield* inner.priceTrades(again(), context, options);
    },
  };
}

/** Plans a run of six chunks, of which some may be priced already, and puts it into the queue. */
async function submit(name: string, change: Partial<SubmitRequest> = {}, priced: readonly number[] = []) {
  const output = join(folder, name);
  const planned = await feynkac(["price", book, "--output", `${output}/`, "--chunk-trades", "10"]);
  expect(planned.status).toBe(0);
  const whole = hashesOf(output);
  const store = await openStore(output);
  const { chunks, timings, ...rest } = await requireManifest(store);
  const pending = {
    ...rest,
    status: "running",
    chunks: chunks.map((chunk, i) => (priced.includes(i) ? chunk : { ...chunk, outcome: undefined })),
    timings: { ...timings, chunks: timings.chunks.map((timing, i) => (priced.includes(i) ? timing : null)) },
  };
  const kept = new Set(pending.chunks.map(({ outcome }) => outcome?.part));
  for (const part of readdirSync(join(output, "parts")))
    if (!kept.has(`parts/${part}`)) rmSync(join(output, "parts", part));
  writeFileSync(join(output, "manifest.json"), JSON.stringify(pending));
  const manifest = await requireManifest(store);
  const entry = await submitRun({
    queue: redis.url,
    manifest,
    output,
    maxWorkers: 1024,
    level: "normal",
    share: 1,
    ...change,
  });
  return { entry, output, store, whole };
}

const wait = (entry: Awaited<ReturnType<typeof submit>>["entry"]): Promise<void> =>
  waitForRun(redis.url, entry, AbortSignal.timeout(40_000), () => undefined);

describe.skipIf(skipped)("a queue", () => {
  test("gives the bytes of one process, whoever prices", async () => {
    const { entry, output, whole } = await submit("run");
    await Promise.all([startWorker(await pricer()), startWorker(await pricer())]);
    await wait(entry);
    expect(hashesOf(output)).toEqual(whole);
  });

  test("feynkac submit, status and logs", async () => {
    await startWorker(await pricer());
    const output = join(folder, "run");
    const args = ["submit", book, "--queue", redis.url, "--chunk-trades", "7", "--output", `${output}/`];
    const { status, stderr } = await feynkac(args);
    expect(stderr).toContain("60 trades priced, 0 not priced, by fake");
    expect(status).toBe(0);
    const table = await feynkac(["status", "--queue", redis.url]);
    expect(table.stdout).toMatch(/complete\s+9\/9\s+60/);
    expect(table.stdout).toContain("cpu: fake");
    const again = await feynkac(args);
    expect(again).toMatchObject({ status: 2 });
    expect(again.stderr).toContain("--resume continues it");
    expect((await feynkac([...args, "--resume"])).status).toBe(0);
    const { stdout } = await feynkac(["status", "--queue", redis.url, "--format", "json"]);
    const [{ run }] = (JSON.parse(stdout) as { runs: { run: string }[] }).runs;
    expect((await feynkac(["logs", run, "--queue", redis.url])).status).toBe(0);
    expect((await feynkac(["logs", "none", "--queue", redis.url])).stderr).toContain("there is no run");
  });

  test("workers price under the scenarios that were submitted, though the table is gone", async () => {
    const table = join(folder, "scenarios.csv");
    writeFileSync(table, "name,spot.*,volatility.ACME\nup,0.1,-0.01\ndown,-0.1,0.02\n");
    const args = [book, "--scenarios", table, "--chunk-trades", "20"];
    const [one, output] = [join(folder, "one"), join(folder, "run")];
    const { signal } = new AbortController();
    const alone = ["price", ...args, "--threads", "1", "--output", `${one}/`];
    expect(await main(alone, kept().terminal, signal, openEngine)).toBe(0);
    const submitted = await feynkac(["submit", ...args, "--queue", redis.url, "--output", `${output}/`, "--detach"]);
    expect(submitted.status).toBe(0);
    rmSync(table);
    await using engine = await openEngine({ backend: "cpu", device: undefined, threads: 1, precision: "f64" });
    const { stop } = await startWorker(engine);
    await using registry = await RunRegistry.open(redis.url);
    await wait((await registry.run(submitted.stdout.trim()))!);
    await stop();
    expect(hashesOf(output)).toEqual(hashesOf(one));
  });

  test("a chunk that always fails is tried three times; its trades are errors with the reason", async () => {
    const tried: string[] = [];
    const failing = await before(async (ids) => {
      if (!ids.includes("T25")) return;
      tried.push(ids[0]);
      throw new Error("the pricer has no idea");
    });
    const { lines } = await startWorker(failing);
    // With one chunk in the queue at a time, the chunk that is given up has to bring the next one.
    const { entry, store } = await submit("run", { maxWorkers: 1 });
    await wait(entry);
    expect(tried).toEqual(["T20", "T20", "T20"]);
    expect(lines.filter(({ message }) => message === "chunks are missing; they are priced again")).toEqual([]);
    const manifest = await requireManifest(store);
    expect(manifest).toMatchObject({ status: "complete", priced: 50, failed: 10 });
    const errors: string[] = [];
    const { problems } = await verifyRun(store, manifest, new AbortController().signal, (_, rows) => {
      for (const { result } of rows)
        if (result.status === "error") errors.push(`${result.id}: ${result.error.message}`);
    });
    expect(problems).toEqual([]);
    expect(errors).toHaveLength(10);
    expect(errors[0]).toBe(
      "T20: chunk 2 of the run could not be priced, each time it was tried: the pricer has no idea",
    );
    const logs = await feynkac(["logs", entry.run, "--queue", redis.url]);
    expect(logs.stdout.match(/the pricer has no idea/g)).toHaveLength(3);
    const fates = lines.filter(({ error }) => error === "the pricer has no idea").map(({ message }) => message);
    expect(fates).toEqual(["failed; is tried again", "failed; is tried again", "failed; is given up"]);
  });

  test("prices nothing of a chunk that is priced already", async () => {
    const seen: string[] = [];
    const { lines } = await startWorker(await before(async (ids) => void seen.push(...ids)));
    const { entry, output, whole } = await submit("run", {}, [2]);
    await wait(entry);
    expect(hashesOf(output)).toEqual(whole);
    expect(seen).toHaveLength(50);
    expect(seen.filter((id) => /^T2\d$/.test(id))).toEqual([]);
    expect(lines.filter(({ message }) => message === "known").map(({ chunk }) => chunk)).toEqual([2]);
  });

  test("a full disk is waited for, and costs no tries", async () => {
    let failures = 8;
    const { lines, metrics } = await startWorker(
      await before(async () => {
        if (failures-- > 0) throw new StorageError("cannot write part: no space left on device");
      }),
    );
    const { entry, output, whole } = await submit("run");
    await wait(entry);
    expect(hashesOf(output)).toEqual(whole);
    expect(lines.filter(({ message }) => message === "cannot read or write; tries again")).toHaveLength(8);
    const chunks = (await metrics.all.text()).match(/^feynkac_chunks_total.*$/gm);
    expect(chunks).toEqual(['feynkac_chunks_total{outcome="priced"} 6']);
  });

  test("a hung chunk ends at its limit", async () => {
    let hangs = 1;
    const hanging = await before(async (_, signal) => {
      if (hangs-- <= 0) return;
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    const { lines } = await startWorker(hanging, { chunkTimeout: 0.3 });
    const { entry, output, whole } = await submit("run");
    await wait(entry);
    expect(hashesOf(output)).toEqual(whole);
    expect(lines.some(({ error }) => error === "chunk 0 took longer than 0.3 s (--chunk-timeout)")).toBe(true);
  });

  test("a worker that is asked to end gives its chunk back", async () => {
    const began = deferred();
    const slow = await before(async (_, signal) => {
      began.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    const first = await startWorker(slow, { stopSeconds: 0.1 });
    const { entry, output, whole } = await submit("run");
    await began.promise;
    await first.stop();
    expect(first.lines.some(({ message }) => message === "gives its job back")).toBe(true);
    await startWorker(await pricer());
    await wait(entry);
    expect(hashesOf(output)).toEqual(whole);
  });

  test("--max-workers bounds the workers of a run", async () => {
    let [now, most, begun] = [0, 0, 0];
    const beginnings = Array.from({ length: 6 }, deferred);
    const counting = await before(async () => {
      most = Math.max(most, ++now);
      const i = begun++;
      beginnings[i].resolve();
      // Every other chunk waits for the one after it: two workers price to the end, and not at the beginning only.
      await beginnings[i | 1].promise;
      await new Promise((resolve) => setTimeout(resolve, 30));
      now--;
    });
    for (let i = 0; i < 4; i++) await startWorker(counting);
    const { entry } = await submit("run", { maxWorkers: 2 });
    await wait(entry);
    expect([most, begun]).toEqual([2, 6]);
  });

  test("runs of one level alternate, by their shares; a higher level goes first", async () => {
    const order: string[] = [];
    const { entry: a } = await submit("a");
    const { entry: b } = await submit("b", { share: 2 });
    const { entry: c } = await submit("c", { level: "high" });
    const recording = await pricer();
    const { lines } = await startWorker(recording);
    await Promise.all([wait(a), wait(b), wait(c)]);
    const names = new Map([
      [a.run, "a"],
      [b.run, "b"],
      [c.run, "c"],
    ]);
    for (const { message, run } of lines) if (message === "priced") order.push(names.get(run as string) ?? "?");
    expect(order.slice(0, 6).join("")).toBe("cccccc");
    expect(order.slice(6, 12).filter((name) => name === "b")).toHaveLength(4);
  });

  test("a run that comes later begins beside the chunks that are next, not before all that wait", async () => {
    const { entry: a } = await submit("a");
    const coming = deferred();
    let b: typeof a | undefined;
    const { lines } = await startWorker(
      await before(async (ids) => {
        if (ids[0] !== "T30" || b !== undefined) return;
        ({ entry: b } = await submit("b"));
        coming.resolve();
      }),
    );
    await coming.promise;
    await Promise.all([wait(a), wait(b!)]);
    const order = lines.filter(({ message }) => message === "priced").map(({ run }) => (run === a.run ? "a" : "b"));
    expect(order.slice(0, 4).join("")).toBe("aaaa");
    expect(order.slice(4, 8).filter((name) => name === "a")).toHaveLength(2);
  });

  test("feynkac cancel ends a run, and what is priced stays", async () => {
    const began = deferred();
    const slow = await before(async (ids, signal) => {
      if (ids[0] === "T0") return;
      began.resolve();
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    });
    await startWorker(slow);
    const { entry, output } = await submit("run");
    await began.promise;
    const { status, stderr } = await feynkac(["cancel", entry.run, "--queue", redis.url]);
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining("is cancelled") as string });
    await expect(wait(entry)).rejects.toThrow("was cancelled; submit with --resume to continue");
    expect(readdirSync(join(output, "parts")).filter((name) => name.endsWith(".parquet"))).toHaveLength(1);
  });

  test("a run of another version waits for workers of that version", async () => {
    const { entry: own, store, output } = await submit("own", { level: "low" });
    const manifest = { ...(await requireManifest(store)), feynkac: { version: "9.9.9" } };
    const request = { queue: redis.url, manifest, output, maxWorkers: 1, level: "normal", share: 1 } as const;
    const entry = await submitRun(request);
    const { lines } = await startWorker(await pricer());
    // The worker would take the other run first, whose level is higher.
    await wait(own);
    const aborted = waitForRun(redis.url, entry, AbortSignal.timeout(500), () => undefined);
    await expect(aborted).rejects.toThrow("The operation was aborted due to timeout");
    expect(lines.filter(({ run }) => run === entry.run)).toEqual([]);
    await feynkac(["cancel", entry.run, "--queue", redis.url]);
  });

  test("a run whose folder has another run is refused", async () => {
    const { entry, output } = await submit("run");
    const { store } = await submit("more");
    const other = { ...(await requireManifest(store)), seed: 2 };
    writeFileSync(join(output, "manifest.json"), JSON.stringify(other));
    await startWorker(await pricer());
    await expect(wait(entry)).rejects.toThrow("has another run than the one that was submitted");
  });

  test("health and metrics", async () => {
    const { metrics } = await startWorker(await pricer());
    const { entry } = await submit("run");
    await wait(entry);
    await using server = await startHealthServer({
      port: 0,
      host: "127.0.0.1",
      metrics: metrics.all,
      isHealthy: () => true,
    });
    const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
    expect(text).toContain('feynkac_chunks_total{outcome="priced"} 6\n');
    expect(text).toContain("feynkac_trades_total 60\n");
    expect(text).toMatch(/feynkac_queue_jobs\{state="waiting"\} \d+\n/);
    expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${server.port}/else`)).status).toBe(404);
  });

  test("Redis that was emptied is told apart from a run that goes on", async () => {
    const { entry } = await submit("run");
    const board = await RunRegistry.open(redis.url);
    await board[Symbol.asyncDispose]();
    const { Redis } = await import("ioredis");
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
    await expect(wait(entry)).rejects.toThrow(
      "Redis has lost it; nothing that is priced is lost: submit with --resume",
    );
  });
});

test("a server that does not answer is an error without secrets", async () => {
  const { status, stderr } = await unanswered;
  expect(stderr).toMatch(/cannot reach redis:\/\/127\.0\.0\.1:1: /);
  expect(stderr).not.toContain("never-logged");
  expect(status).toBe(2);
});

test.each(["http://127.0.0.1", "127.0.0.1:6379", "redis://"])("%s is no queue", (url) => {
  if (url === "redis://") expect(connectionOf(url).url).toBe(url);
  else expect(() => connectionOf(url)).toThrow("--queue: expected redis://HOST:PORT");
});

test("priorities stay within their level", () => {
  for (const level of ["high", "normal", "low"] as const) {
    const { first, last } = priorityRangeOf(level);
    const job = {
      run: "",
      output: "",
      plan: "",
      chunks: 1e6,
      trades: 0,
      window: 1,
      priority: first,
      stride: priorityStrideOf(1),
    };
    expect(fairPriority(job, 0)).toBe(first);
    expect(fairPriority(job, 1e6)).toBe(last);
    expect(last).toBeLessThan(2 ** 21);
  }
});
