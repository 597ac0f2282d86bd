import { type CpuDevice, createCpuDevice } from "../src/device/cpu/index.ts";
import { DeviceArray, Matmul, matmulSpec } from "../src/numerics/linalg/index.ts";
import { type Benchmark, clockGHz, type Context, medianSeconds } from "./harness.ts";
import { type Blas, openBlas } from "./peers/blas.ts";

/**
 * Flops a cycle of a core that issues two 128-bit products and two 128-bit sums, as x86 and ARM of the last decade do;
 * WebAssembly's SIMD has no fused multiply-add.
 */
const flopsPerCycle = { f64: 8, f32: 16 } as const;

async function product(
  device: CpuDevice,
  precision: "f64" | "f32",
  n: number,
  context: Context,
  peer: Blas | undefined,
): Promise<void> {
  const values = Array.from({ length: n * n }, (_, k) => Math.fround(Math.sin(k)));
  using a = await DeviceArray.create(device, [n, n], { precision, values });
  using b = await DeviceArray.create(device, [n, n], { precision, values: values.toReversed() });
  using c = await DeviceArray.create(device, [n, n], { precision });
  using multiply = await Matmul.create(device, matmulSpec({ rows: n, inner: n, columns: n, precision }));
  const seconds = await medianSeconds(context.quick ? 3 : 15, async () => {
    multiply.run({ a, b, c });
    await device.finish();
  });
  const got = await c.download();
  let error = 0;
  for (let k = 0; k < n * n; k += 997) {
    const [i, j] = [Math.floor(k / n), k % n];
    let sum = 0;
    for (let p = 0; p < n; p++) sum += values[i * n + p] * values[n * n - 1 - (p * n + j)];
    error = Math.max(error, Math.abs(sum - got[k]));
  }
  const flops = (2 * n ** 3) / seconds;
  const blas = peer?.flops(n, precision);
  context.report({
    case: `C = A·B, ${n}³, ${device.threads === 1 ? "one thread" : `${device.threads} threads`}`,
    device: context.cpu,
    precision,
    figure: flops,
    unit: "flop/s",
    floor: device.threads * clockGHz() * 1e9 * flopsPerCycle[precision],
    error,
    ...(blas === undefined ? {} : { peers: { [peer!.library]: blas } }),
  });
}

async function run(context: Context): Promise<void> {
  context.note("floor: two 128-bit products and two 128-bit sums a cycle at the clock measured then");
  const peer = openBlas((text) => context.note(text));
  for (const threads of context.quick ? [1] : [1, 2]) {
    using device = createCpuDevice({ threads });
    for (const precision of ["f64", "f32"] as const)
      for (const n of context.quick ? [128] : [64, 256, 512, 1024])
        await product(device, precision, n, context, threads === 1 ? peer : undefined);
  }
}

export const benchmark: Benchmark = {
  name: "dense",
  description:
    "matrix products on the CPU, beside the floor and the machine's BLAS (GPUs: bench/device/main.ts device-dense)",
  run,
};
