import { openDevice } from "../../device/index.ts";
import { DeviceUnavailableError } from "../../base/errors.ts";
import { openBook } from "../runs/index.ts";
import { serveJobs } from "../../base/threads/index.ts";
import { ChunkPricer } from "./chunk-pricer.ts";
import type { ChunkTask, PipelineSetup, WrittenChunk, WorkerData } from "./setting.ts";

/**
 * Makes this thread a worker of a pipeline, which reads, prices and writes chunks on its own share of a device.
 * `afterFirst` is called after the first chunk.
 */
export async function servePipeline(afterFirst: () => void): Promise<void> {
  const { workerData } = process.getBuiltinModule("node:worker_threads");
  const device = await openDevice(workerData as WorkerData);
  let isFirst = true;
  serveJobs<PipelineSetup, ChunkTask, WrittenChunk>(async ({ source, header, fits, setting }) => {
    const { book } = await openBook(source, header, fits);
    // A lost device is lost for all threads: the one that has the pipeline opens another.
    const openFallback = (): Promise<never> => Promise.reject(new DeviceUnavailableError("lost"));
    const pricer = new ChunkPricer(book, setting, device, openFallback);
    return async (chunk, signal) => {
      const answer = await pricer.price(chunk, signal);
      if (isFirst) afterFirst();
      isFirst = false;
      return { answer, transfer: [answer.text.buffer, answer.ids.buffer] };
    };
  });
}
