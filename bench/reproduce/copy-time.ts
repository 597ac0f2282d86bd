import type { Device } from "../../src/device/index.ts";
import { i32, kernel, type Precision, read, real, write } from "../../src/kernel/index.ts";

const copy = kernel({
  name: "copy",
  params: { count: i32, from: read(real), to: write(real) },
  body({ count, from, to }, gpu) {
    const i = gpu.globalId();
    if (i < count) to[i] = from[i];
  },
});

/** The number of copies per measurement, and the number of measurements. */
const [COPIES, TIMES] = [4, 5];

/** Measures the time in seconds that a kernel takes to copy `count` numbers: the minimum of several measurements. */
export async function copyTime(device: Device, count: number, precision: Precision): Promise<number> {
  const element = precision === "f32" ? "f32" : "f64";
  using from = device.createBuffer(element, count);
  using to = device.createBuffer(element, count);
  const compiled = await device.compile(copy, { precision });
  let shortest = Infinity;
  // The first time loads the kernel and touches the memory.
  for (let k = 0; k <= TIMES; k++) {
    const start = performance.now();
    for (let n = 0; n < COPIES; n++) device.launch(compiled, { count, from, to }, { items: count });
    await device.finish();
    if (k > 0) shortest = Math.min(shortest, (performance.now() - start) / 1e3 / COPIES);
  }
  return shortest;
}
