/** One worker of a worker pool: a thread that prices whole batches on its own part of a device. */
import { parentPort, workerData } from "node:worker_threads";
import { BookError } from "../../errors.ts";
import type { ParsedTrade } from "../../book/index.ts";
import { openDevice } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import { Engine } from "../backend.ts";
import { priceBatch } from "../batch.ts";
import { type FromWorker, type Job, type WorkerData, packResults, type ToWorker } from "./messages.ts";

const port = parentPort as NonNullable<typeof parentPort>;
const device = await openDevice(workerData as WorkerData);
const engines = new Map<Precision, Engine>();
/** Jobs to come and under way, by number; one at a time is worked on. */
const stops = new Map<number, AbortController>();
let last: Promise<void> = Promise.resolve();

function say(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

port.on("message", (message: ToWorker) => {
  if (message.kind === "stop") stops.get(message.number)?.abort();
  else {
    const { number, job } = message;
    const stop = new AbortController();
    stops.set(number, stop);
    last = last.then(() => work(number, job, stop.signal)).finally(() => stops.delete(number));
  }
});

async function work(number: number, job: Job, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    const setting = { ...job, engine: engineFor(job.precision), signal };
    const results = await priceBatch(parsedTrades(job), job.firstIndex, setting);
    const packed = packResults(results, job.scenarios);
    say({ kind: "done", number, packed }, [packed.scenarios.buffer]);
  } catch {
    say({ kind: "failed", number });
  }
}

function engineFor(precision: Precision): Engine {
  let engine = engines.get(precision);
  if (engine === undefined) engines.set(precision, (engine = new Engine(device, precision)));
  return engine;
}

/** The error of a trade that could not be read stays with who read it. */
function parsedTrades({ trades, indices, firstIndex }: Job): ParsedTrade[] {
  return trades.map((trade, i) => {
    const index = indices[i] ?? firstIndex + i;
    return trade === undefined
      ? { ok: false, id: undefined, index, error: new BookError("", "not read") }
      : { ok: true, trade, index };
  });
}

say({ kind: "ready" });
