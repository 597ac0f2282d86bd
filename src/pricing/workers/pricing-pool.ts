/** Threads that price whole batches of trades, each on its own part of a device. */
import { workerStarters, type StartWorker, WorkerPool } from "../../base/threads/index.ts";
import { type ParsedTrade, type TradeResult, unreadResult } from "../../book/index.ts";
import type { Device, PartsUser } from "../../device/index.ts";
import type { ScenarioCube } from "../scenarios/cube.ts";
import { type Answer, type Job, type PackedResults, unpackResults } from "./messages.ts";

/** A batch and its settings, as a pricing pool takes it; T is the type of its trades. */
export type BatchOf<T> = Omit<Job, "trades" | "indices"> & { readonly trades: T };

/**
 * A pool of worker threads that price batches in parallel. It pays on a CPU device, because preparing trades and
 * reading results takes the host longer than a core takes to solve them. Results are bit for bit those of one thread.
 */
export class PricingPool implements PartsUser {
  readonly #workers: WorkerPool<undefined, Job, Answer>;

  constructor(starts: readonly StartWorker[]) {
    this.#workers = new WorkerPool(starts);
    this.#workers.begin(undefined);
  }

  get ended(): Promise<unknown> {
    return this.#workers.ended;
  }

  /** The number of further batches that the pool currently accepts. */
  get room(): number {
    return this.#workers.freeSlots;
  }

  /** Prices a batch; undefined where no worker could (`WorkerPool.run`). @throws the signal's reason */
  async price(batch: BatchOf<readonly ParsedTrade[]>, signal: AbortSignal): Promise<TradeResult[] | undefined> {
    const { trades, scenarios } = batch;
    const packed = await this.#workers.run(jobOf(batch), signal);
    if (packed === undefined) return undefined;
    return unpackResults(packed as PackedResults, scenarios).map((result, i) => {
      const parsed = trades[i];
      return parsed.ok ? result : unreadResult(parsed);
    });
  }

  /** Prices a batch under named scenarios; undefined where no worker could. @throws the signal's reason */
  async priceScenarios(
    batch: BatchOf<readonly ParsedTrade[]> & Required<Pick<Job, "named">>,
    signal: AbortSignal,
  ): Promise<ScenarioCube | undefined> {
    return (await this.#workers.run(jobOf(batch), signal)) as ScenarioCube | undefined;
  }

  [Symbol.dispose](): void {
    this.#workers[Symbol.dispose]();
  }
}

/** Returns a batch as the message to a worker. */
const jobOf = (batch: BatchOf<readonly ParsedTrade[]>): Job => ({
  ...batch,
  trades: batch.trades.map((parsed) => (parsed.ok ? parsed.trade : undefined)),
  indices: batch.trades.map(({ index }) => index),
});

/** Pricing pools by their device; a pool ends when its device does. */
const pools = new WeakMap<Device, PricingPool>();

/** Returns the running pricing pool of a device, if any. */
export function pricingPoolOf(device: Device): PricingPool | undefined {
  return pools.get(device);
}

/**
 * Returns the pricing pool of a device, which is started if needed. It is undefined with one thread, or where there is
 * no file to start workers from.
 */
export function startPricingPool(device: Device): PricingPool | undefined {
  const known = pools.get(device);
  const { parts } = device;
  if (known !== undefined || parts === undefined) return known;
  const starts = workerStarters(new URL("./worker.js", import.meta.url), parts.options);
  if (starts === undefined) return undefined;
  const pool = new PricingPool(starts);
  pools.set(device, pool);
  parts.keep(pool);
  return pool;
}
