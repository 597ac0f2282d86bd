/**
 * Random numbers on a GPU, in bulk: device time, beside the time that writing the bytes takes.
 *
 * npx tsx bench/device/main.ts device-random
 */
import { type CudaDevice, type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import {
  type GeneratorName,
  RandomGenerator,
  type RandomSettings,
  randomSpec,
} from "../../src/numerics/random/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { CuRand, isCuRands } from "./curand.ts";
import { writeSpeed } from "./memory.ts";
import { type Stopwatch, stopwatch } from "./stopwatch.ts";

const GENERATORS: readonly GeneratorName[] = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];
/** Enough streams to keep a GPU's memory busy, where streams lie side by side. */
const STREAMS = 2 ** 15;

type Kind = Pick<RandomSettings, "distribution" | "bits" | "method"> & { readonly precision: "f64" | "f32" };

const KINDS: readonly Kind[] = [
  { distribution: "uniform", precision: "f32" },
  { distribution: "bits", precision: "f32" },
  { distribution: "uniform", bits: 32, precision: "f64" },
  { distribution: "normal", precision: "f32" },
  { distribution: "normal", bits: 32, precision: "f64" },
  { distribution: "normal", method: "box-muller", precision: "f32" },
];

/** Numbers a second of cuRAND, where it has the generator. */
async function curand(
  watch: Stopwatch,
  generator: GeneratorName,
  count: number,
  context: Context,
): Promise<{ readonly cuRAND?: number }> {
  if (watch.device.backend !== "cuda" || !isCuRands(generator)) return {};
  const device = watch.device as CudaDevice;
  using peer = CuRand.open(device, generator, (text) => context.note(text));
  if (peer === undefined) return {};
  using buffer = device.createBuffer("f32", count);
  const ms = await watch.milliseconds(() => peer.fill(buffer, count), context.quick ? 2 : 9);
  return { cuRAND: count / (ms / 1e3) };
}

async function numbers(
  watch: Stopwatch,
  settings: Kind & Pick<RandomSettings, "order" | "streams"> & { readonly generator: GeneratorName },
  count: number,
  context: Context,
  bandwidth: number,
  peers: { readonly cuRAND?: number } = {},
): Promise<void> {
  const { device, how } = watch;
  const spec = randomSpec({ seed: 1, ...settings });
  using random = await RandomGenerator.create(device, spec);
  const total = spec.streams * count;
  using buffer = device.createBuffer(random.element, total);
  const ms = await watch.milliseconds(() => random.fill(buffer, { count }), context.quick ? 2 : 9);
  const kind = spec.distribution === "bits" ? "bits" : `${spec.distribution} of ${spec.bits} bits`;
  const bytes = random.element === "f64" ? 8 : 4;
  context.report({
    case: `${spec.generator}, ${kind}${spec.method === "box-muller" ? ", Box–Muller" : ""}, ${spec.order}; ${how}`,
    device: device.name,
    precision: settings.precision,
    figure: total / (ms / 1e3),
    unit: "numbers/s",
    floor: bandwidth / bytes,
    ...(Object.keys(peers).length === 0 ? {} : { peers }),
  });
}

async function onDevice(device: Device, context: Context): Promise<void> {
  const watch = stopwatch(device);
  const total = context.quick ? 2 ** 20 : 2 ** 28;
  const bandwidth = await writeSpeed(watch, context.quick);
  context.note(
    `floor: bytes written by a kernel that does nothing else, ${(bandwidth / 1e12).toPrecision(3)} TB/s; ` +
      `2^${Math.log2(total)} numbers`,
  );
  for (const kind of KINDS) {
    if (kind.distribution !== "bits" && !device.precisions.includes(kind.precision)) continue;
    for (const generator of GENERATORS) {
      if (generator === "sobol" && kind.method === "box-muller") continue;
      const isPeers = kind.distribution === "uniform" && kind.precision === "f32";
      const peers = isPeers ? await curand(watch, generator, total, context) : {};
      await numbers(watch, { generator, ...kind, order: "by-stream", streams: 1 }, total, context, bandwidth, peers);
      const streams = generator === "sobol" ? 1024 : Math.min(STREAMS, total / 16);
      await numbers(watch, { generator, ...kind, order: "interleaved", streams }, total / streams, context, bandwidth);
    }
  }
}

async function run(context: Context): Promise<void> {
  for (const backend of ["cuda", "webgpu"] as const) {
    try {
      using device = await openDevice({ backend });
      await onDevice(device, context);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(`${backend}: ${error.message}`);
    }
  }
}

export const benchmark: Benchmark = {
  name: "device-random",
  description: "random numbers on GPUs: every generator and distribution, beside the time of writing them",
  run,
};
