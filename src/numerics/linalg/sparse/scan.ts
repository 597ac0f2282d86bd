/** Exclusive prefix sums on a device, which turn counts into positions. */
import type { DeviceBuffer } from "../../../device/index.ts";
import { i32, kernel, read, write } from "../../../kernel/index.ts";
import { compileFor, type ComputeTarget } from "./product.ts";

/** Item c adds the counts of its chunk. */
const sumChunks = kernel({
  name: "sumChunks",
  params: { count: i32, chunk: i32, counts: read(i32), sums: write(i32) },
  body({ count, chunk, counts, sums }, gpu) {
    const c = gpu.globalId();
    const end = Math.min(count, (c + 1) * chunk);
    let sum = 0;
    for (let i = c * chunk; i < end; i++) sum += counts[i];
    sums[c] = sum;
  },
});

const scanSums = kernel({
  name: "scanSums",
  params: { chunks: i32, sums: write(i32) },
  body({ chunks, sums }) {
    let before = 0;
    for (let c = 0; c < chunks; c++) {
      const sum = sums[c];
      sums[c] = before;
      before += sum;
    }
    sums[chunks] = before;
  },
});

/** Item c writes the starts of its chunk; the last one also writes the sum of all counts. */
const scanChunks = kernel({
  name: "scanChunks",
  params: { count: i32, chunk: i32, counts: read(i32), sums: read(i32), starts: write(i32) },
  body({ count, chunk, counts, sums, starts }, gpu) {
    const c = gpu.globalId();
    const end = Math.min(count, (c + 1) * chunk);
    let at = sums[c];
    for (let i = c * chunk; i < end; i++) {
      starts[i] = at;
      at += counts[i];
    }
    if (end === count) starts[count] = at;
  },
});

/**
 * Computes starts[i] = counts[0] + … + counts[i − 1] for i = 0 … count, in three launches of √count items with √count
 * counts each. Bytes per count: 12.
 */
export async function exclusiveScan(setting: ComputeTarget, counts: DeviceBuffer): Promise<DeviceBuffer<"i32">> {
  const { device } = setting;
  const count = counts.length;
  const chunk = Math.max(1, Math.ceil(Math.sqrt(count)));
  const chunks = Math.max(1, Math.ceil(count / chunk));
  const starts = device.createBuffer("i32", count + 1);
  using sums = device.createBuffer("i32", chunks + 1);
  device.launch(await compileFor(setting, sumChunks), { count, chunk, counts, sums }, { items: chunks });
  device.launch(await compileFor(setting, scanSums), { chunks, sums }, { items: 1 });
  device.launch(await compileFor(setting, scanChunks), { count, chunk, counts, sums, starts }, { items: chunks });
  return starts;
}
