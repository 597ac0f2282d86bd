/** What a GPU's memory gives to kernels that do nothing else: the floor of what is limited by bytes. */
import type { Precision } from "../../src/kernel/index.ts";
import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";
import type { Stopwatch } from "./stopwatch.ts";

/** Elements of a work item: with one, starting workgroups would take longer than their bytes. */
const WRITTEN = 64;
/** Elements that an item reads before it writes the first. Of 4 to 64, 4 were fastest on an H200. */
const COPIED = 4;

const copy = kernel({
  name: "copy",
  params: { step: i32, x: read(real), y: write(real) },
  groupSize: 128,
  env: { COPIED },
  body({ step, x, y }, gpu, { COPIED }): undefined {
    const own = gpu.privateReal(COPIED);
    for (let k = 0; k < COPIED; k++) own[k] = x[gpu.globalId() + k * step];
    for (let k = 0; k < COPIED; k++) y[gpu.globalId() + k * step] = own[k];
  },
});

const fill = kernel({
  name: "fill",
  params: { step: i32, y: write(real) },
  env: { WRITTEN },
  body({ step, y }, gpu, { WRITTEN }): undefined {
    for (let k = 0; k < WRITTEN; k++) y[gpu.globalId() + k * step] = 1;
  },
});

const repetitions = (isQuick: boolean): number => (isQuick ? 2 : 9);
const elements = (isQuick: boolean): number => (isQuick ? 2 ** 17 : 2 ** 27);
const bytesOf = (precision: Precision): number => (precision === "f64" ? 8 : 4);

/** Bytes read and written a second. */
export async function copySpeed(watch: Stopwatch, precision: "f64" | "f32", isQuick: boolean): Promise<number> {
  const { device } = watch;
  const count = elements(isQuick);
  const compiled = await device.compile(copy, { precision });
  using x = device.createBuffer(precision, count);
  using y = device.createBuffer(precision, count);
  const step = count / COPIED;
  const ms = await watch.milliseconds(
    () => device.launch(compiled, { step, x, y }, { items: step }),
    repetitions(isQuick),
  );
  return (2 * bytesOf(precision) * count) / (ms / 1e3);
}

/** Bytes written a second. */
export async function writeSpeed(watch: Stopwatch, isQuick: boolean): Promise<number> {
  const { device } = watch;
  const count = elements(isQuick);
  const compiled = await device.compile(fill, { precision: "f32" });
  using y = device.createBuffer("f32", count);
  const step = count / WRITTEN;
  const ms = await watch.milliseconds(
    () => device.launch(compiled, { step, y }, { items: step }),
    repetitions(isQuick),
  );
  return (4 * count) / (ms / 1e3);
}
