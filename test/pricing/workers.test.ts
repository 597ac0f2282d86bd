import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ParsedTrade, Scenarios, TradeResult } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { BookError } from "../../src/base/errors.ts";
import { type BatchOf, PricingPool } from "../../src/pricing/workers/pricing-pool.ts";
import { packResults, unpackResults } from "../../src/pricing/workers/messages.ts";
import { priceTrades } from "../../src/pricing/index.ts";
import { WorkerPool } from "../../src/base/threads/index.ts";
import { dealt, everything } from "../support/extent.ts";
import { bundled, programFolder } from "../support/program.ts";
import { formulas } from "./formula-trades.ts";
import { referenceTrades, trade } from "./reference.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
let programs: string;
let workerFile: string;
beforeAll(() => {
  programs = programFolder();
  workerFile = bundled('import "./src/pricing/workers/worker.ts";', programs);
});
afterAll(() => rmSync(programs, { recursive: true }));

const settings = {
  greeks: "all",
  sensitivityErrorEstimates: false,
  method: "auto",
  accuracy: 1e-5,
  timePerTrade: undefined,
  strict: false,
  seed: 1,
  precision: "f64",
} as const;
const never = new AbortController().signal;

/** Workers from source, memoize so that a test can end one. */
const workers: Worker[] = [];
const workerData = { backend: "cpu", threads: 1 };
const startWorker = (): Worker => {
  const worker = new Worker(workerFile, { workerData });
  workers.push(worker);
  return worker;
};
const workerPoolOf = (count: number): PricingPool => new PricingPool(new Array(count).fill(startWorker));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const ok = (...trades: ReturnType<typeof trade>[]): ParsedTrade[] => trades.map((one) => ({ ok: true, trade: one }));
const batchOf = (trades: readonly ParsedTrade[], scenarios?: Scenarios): BatchOf<readonly ParsedTrade[]> => ({
  ...settings,
  trades,
  firstIndex: 0,
  scenarios,
});

/** By one thread. */
async function alone(trades: readonly ParsedTrade[], scenarios?: Scenarios): Promise<TradeResult[]> {
  using device = createCpuDevice({ threads: 1 });
  const all: TradeResult[] = [];
  const context = { asOf: "2026-01-01T00:00:00Z", scenarios };
  for await (const batch of priceTrades(trades, context, { device })) all.push(...batch);
  return all;
}

describe("a worker pool", () => {
  let pool: PricingPool;
  beforeAll(async () => {
    pool = workerPoolOf(2);
    expect(pool.room).toBe(0); // nothing is asked of it before a worker is ready
    await until(() => pool.room === 4);
  });
  afterAll(() => pool[Symbol.dispose]());

  it("prices trades of every kind as one thread does, to the bit", async () => {
    const unread: ParsedTrade = {
      ok: false,
      id: "U",
      index: 1,
      error: new BookError("trades[1].strike", "expected 1"),
    };
    const references = dealt(referenceTrades(), 0, 4).map((one) => one.trade);
    const trades = ok(...references, ...formulas);
    trades.splice(1, 0, unread, ...ok(trade({ payoff: { kind: "expression", expression: "1/(S-S)", kinks: [] } })));
    const [shared, expected] = await Promise.all([pool.price(batchOf(trades), never), alone(trades)]);
    expect(shared).toEqual(expected);
    expect(shared?.[1]).toMatchObject({ status: "error", id: "U", error: { path: "trades[1].strike" } });
    expect(shared?.[2].status).toBe("error");
  });

  it("brings ladders back whole", async () => {
    const scenarios = { time: [0, 0.5], spot: [-0.1, 0, 0.2], volatility: [0, 0.05], rate: [0, 0.01] };
    const trades = ok(trade(), trade({ exercise: { kind: "american" } }), trade({ expiry: 0.25 }));
    expect(await pool.price(batchOf(trades, scenarios), never)).toEqual(await alone(trades, scenarios));
  });

  it("shares batches out, and each gets its own", async () => {
    const trades = [90, 95, 100, 105, 110].map((strike) =>
      ok(trade({ exercise: { kind: "american" }, payoff: { kind: "vanilla", right: "put", strike } })),
    );
    const shared = await Promise.all(trades.map((one) => pool.price(batchOf(one), never)));
    expect(shared).toEqual(await Promise.all(trades.map((one) => alone(one))));
  });

  it("lets a run that is stopped go at once, and works on", async () => {
    const stop = new AbortController();
    const many = ok(...Array.from({ length: 400 }, (_, i) => trade({ id: `T${i}`, exercise: { kind: "american" } })));
    const runs = Array.from({ length: 12 }, () => pool.price(batchOf(many), stop.signal));
    stop.abort(new Error("enough"));
    for (const run of runs) await expect(run).rejects.toThrow("enough");
    await expect(pool.price(batchOf(many), stop.signal)).rejects.toThrow("enough");
    const next = ok(trade());
    expect(await pool.price(batchOf(next), never)).toEqual(await alone(next));
  });

  it("says so where it cannot: a trade that another thread cannot be sent", async () => {
    const odd = trade();
    expect(await pool.price(batchOf(ok({ ...odd, id: (() => "T") as never })), never)).toBeUndefined();
  });
});

describe("a worker that is lost", () => {
  it("leaves its batches to who asked, and the others their own", async () => {
    workers.length = 0;
    using pool = workerPoolOf(2);
    await until(() => pool.room === 4);
    const many = ok(...Array.from({ length: 300 }, (_, i) => trade({ id: `T${i}`, exercise: { kind: "american" } })));
    const [lost, kept] = [pool.price(batchOf(many), never), pool.price(batchOf(ok(trade())), never)];
    await workers[0].terminate();
    expect(await lost).toBeUndefined();
    expect(await kept).toHaveLength(1);
    expect(pool.room).toBe(2);
  });

  it("is none where it never started", async () => {
    const broken = (): Worker => new Worker("throw new Error('no start')", { eval: true });
    using pool = new PricingPool([broken]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(pool.room).toBe(0);
    expect(await pool.price(batchOf(ok(trade())), never)).toBeUndefined();
  });
});

describe("threads that are refused", () => {
  it("are workers less, none if all are", async () => {
    let asked = 0;
    const startSome = (): Worker => {
      if (++asked > 1) throw new Error("no more threads");
      return startWorker();
    };
    using pool = new PricingPool(new Array(3).fill(startSome));
    await until(() => pool.room === 2);
    expect(await pool.price(batchOf(ok(trade())), never)).toHaveLength(1);
    using nobody = new PricingPool(new Array(3).fill(startSome));
    expect(await nobody.price(batchOf(ok(trade())), never)).toBeUndefined();
  });
});

describe("scenario values on their way", () => {
  it("keep what could not be priced, and trades that have none", () => {
    const scenarios = { time: [0], spot: [0, 1], volatility: [0], rate: [0, 0.5] };
    const result = {
      id: "T",
      status: "ok",
      value: 1,
      scenarios: [[[[1, null]], [[-0.5, 3]]]],
    } as unknown as TradeResult;
    const plain = { id: "P", status: "ok", value: 2 } as unknown as TradeResult;
    const packed = packResults([plain, result, plain, result], scenarios);
    expect(packed.results[1]).toMatchObject({ scenarios: [] });
    expect(unpackResults(structuredClone(packed), scenarios)).toEqual([plain, result, plain, result]);
  });
});

// What `npm ci` builds: the thread's file stands beside what starts it there, and nowhere else.
const built = existsSync(`${root}dist/chunks/worker.js`);

interface Case {
  readonly batchSize?: number;
  /** Threads for batches cannot be had. */
  readonly refused?: boolean;
}

describe.skipIf(!built)("the package as built", () => {
  const program = (trades: number, { batchSize, refused }: Case): string => `
    import { openDevice, parseBook, priceBook } from ${JSON.stringify(`file://${root}dist/index.js`)};
    let started = 0;
    const threads = process.getBuiltinModule("node:worker_threads");
    threads.Worker = class extends threads.Worker {
      constructor(file, options) {
        const ofCrew = String(file).endsWith("/worker.js");
        if (ofCrew && ${refused === true}) throw new Error("refused");
        super(file, options);
        if (ofCrew) started++;
      }
    };
    const book = parseBook(JSON.stringify({
      asOf: "2026-01-01T00:00:00Z",
      market: { rates: { EUR: 0.03 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
      trades: Array.from({ length: ${trades} }, (_, i) => ({
        id: "T" + i, underlying: "A", payoff: "put", strike: 80 + (i % 40), expiry: 1, exercise: i % 20 ? "european" : "american",
      })),
    }));
    const values = async (threads) => {
      const device = await openDevice({ backend: "cpu", threads });
      const before = started;
      const options = { device, greeks: "none", accuracy: { relative: 1e-3 }, batchSize: ${batchSize} };
      const first = await priceBook(book, options);
      const second = await priceBook(book, options);
      device[Symbol.dispose]();
      const said = [first, second].map(({ results }) => results.map(({ value }) => value));
      return { said, started: started - before };
    };
    const [one, three] = [await values(1), await values(3)];
    console.log(JSON.stringify({ one: one.started, three: three.started, same: JSON.stringify(one.said) === JSON.stringify(three.said), last: one.said[0].at(-1) }));`;

  const run = (trades: number, how: Case = {}) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program(trades, how)], {
      encoding: "utf8",
    });
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as { one: number; three: number; same: boolean; last: number };
  };

  it("shares a long book among as many threads as its device has, once for all runs, and ends by itself", () => {
    const { one, three, same, last } = run(6000);
    expect(last).toBeGreaterThan(0);
    expect({ one, same }).toEqual({ one: 0, same: true });
    expect(three).toBe(3);
  });

  it("starts no threads for a short one", () => {
    if (everything) expect(run(3000)).toMatchObject({ one: 0, three: 0, same: true });
    expect(run(600, { batchSize: 16 })).toMatchObject({ one: 0, three: 0, same: true });
  });

  // What a pool does then stands above.
  it.skipIf(!everything)("prices a long book all the same where threads are refused", () => {
    expect(run(6000, { refused: true })).toMatchObject({ one: 0, three: 0, same: true });
  });
});

it(
  "a job that fails in a thread is given back to its caller, and the thread goes on",
  { timeout: 20_000 },
  async () => {
    const file = bundled('import "./test/pricing/job-worker.ts";', programs, "job-worker");
    using jobs = new WorkerPool<number, number, number>([() => new Worker(file)]);
    jobs.begin(3);
    await jobs.whenStarted();
    expect(await jobs.run(7, never)).toBe(21);
    expect(await jobs.run(-1, never)).toBeUndefined();
    expect(await jobs.run(8, never)).toBe(24);
  },
);
