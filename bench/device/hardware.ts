/** What the hardware gives to kernels in the kernel language: memory bandwidth and arithmetic. */
import type { Device } from "../../src/device/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import type { Context } from "../harness.ts";
import { COPIED, copy, flopsPerRound, multiplyAdd, stridedCopy } from "./kernels.ts";
import { memcpyBytesPerSecond } from "./driver.ts";
import { floorOn, H200 } from "./h200.ts";
import { type Stopwatch, stopwatch } from "./stopwatch.ts";

type Real = "f64" | "f32";

export async function hardware(device: Device, context: Context): Promise<void> {
  const watch = stopwatch(device);
  for (const precision of ["f64", "f32"] as const) {
    if (!device.precisions.includes(precision)) continue;
    await bandwidth(watch, precision, context);
    await arithmetic(watch, precision, context);
  }
}

async function bandwidth(watch: Stopwatch, precision: Real, context: Context): Promise<void> {
  const { device } = watch;
  const bytes = context.quick ? 2 ** 24 : 2 ** 30;
  const length = bytes / (precision === "f64" ? 8 : 4);
  using from = filled(device, precision, length);
  using to = device.createBuffer(precision, length);
  const neighbours = await device.compile(copy, { precision });
  const strided = await device.compile(stridedCopy, { precision });
  const stride = length / 4;
  const patterns = [
    { name: "copy kernel", launch: () => device.launch(strided, { stride, from, to }, { items: stride }) },
    {
      name: "copy kernel, neighbours",
      launch: () => device.launch(neighbours, { from, to }, { groups: length / COPIED }),
    },
  ];
  const peers =
    device.backend === "cuda"
      ? { peers: { cuMemcpyDtoD: await memcpyBytesPerSecond(bytes, context.quick ? 3 : 21) } }
      : {};
  for (const { name, launch } of patterns) {
    device.write(to, precision === "f64" ? new Float64Array(3) : new Float32Array(3), length - 3);
    const ms = await watch.milliseconds(launch, context.quick ? 3 : 21);
    const seen = await device.read(to, length - 3, 3);
    if (seen.join() !== "3,2,1") throw new Error(`${name}: ${seen.join()} arrived, 3,2,1 were sent`);
    context.report({
      case: `${name}, ${bytes / 2 ** 20} MiB, bytes read and written; ${watch.how}`,
      device: device.name,
      precision,
      figure: (2 * bytes) / (ms / 1e3),
      unit: "B/s",
      ...floorOn(device, H200.copy),
      ...peers,
    });
  }
}

function filled(device: Device, precision: Real, length: number) {
  const buffer = device.createBuffer(precision, length);
  device.write(buffer, precision === "f64" ? new Float64Array([3, 2, 1]) : new Float32Array([3, 2, 1]), length - 3);
  return buffer;
}

async function arithmetic(watch: Stopwatch, precision: Precision & Real, context: Context): Promise<void> {
  const { device } = watch;
  const items = context.quick ? 2 ** 14 : 2 ** 20;
  const rounds = context.quick ? 4 : 2048;
  const compiled = await device.compile(multiplyAdd, { precision });
  using out = device.createBuffer(precision, items);
  const [a, b] = [0.5, 0.25]; // x ← x/2 + 1/4 has its fixed point at 1/2
  const launch = (): void => device.launch(compiled, { rounds, a, b, out }, { items });
  const ms = await watch.milliseconds(launch, context.quick ? 3 : 11);
  const [sum] = await device.read(out, items - 1, 1);
  if (Math.abs(sum - 4) > 1e-5) throw new Error(`fused multiply-adds: ${sum}, expected 4`);
  context.report({
    case: `a·x + b in registers, ${items.toLocaleString("en-US")} items; ${watch.how}`,
    device: device.name,
    precision,
    figure: (flopsPerRound * rounds * items) / (ms / 1e3),
    unit: "flop/s",
    ...floorOn(device, H200.flops[precision]),
  });
}
