/** One worker of a pricing pool: a thread that prices whole batches on its own part of a device. */
import { workerData } from "node:worker_threads";
import { BookError } from "../../base/errors.ts";
import type { ParsedTrade } from "../../book/index.ts";
import { openDevice } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import { Engine } from "../backend.ts";
import { priceBatch } from "../batch.ts";
import { type JobResult, serveJobs } from "../../base/threads/index.ts";
import { type Answer, type Job, packResults, type WorkerData } from "./messages.ts";

const device = await openDevice(workerData as WorkerData);
const engines = new Map<Precision, Engine>();

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

async function price(job: Job, signal: AbortSignal): Promise<JobResult<Answer>> {
  const setting = { ...job, engine: engineFor(job.precision), signal };
  if (job.named !== undefined) {
    const { priceScenarios } = await import("../scenarios/price-scenarios.ts");
    const batch = { ...job.named, trades: parsedTrades(job), firstIndex: job.firstIndex, setting };
    const answer = await priceScenarios(batch);
    return { answer, transfer: [answer.values.buffer, answer.errors.buffer] };
  }
  const results = await priceBatch(parsedTrades(job), job.firstIndex, setting);
  const answer = packResults(results, job.scenarios);
  return { answer, transfer: [answer.scenarios.buffer] };
}

serveJobs<undefined, Job, Answer>(() => price);
