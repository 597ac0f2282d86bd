import { type CpuDevice, createCpuDevice } from "../src/device/cpu/index.ts";
import {
  type GeneratorName,
  RandomGenerator,
  randomNumbers,
  type RandomSettings,
  randomSpec,
} from "../src/numerics/random/index.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";
import { type NumpyPeer, openNumpy, openRandomPeer, type RandomPeer } from "./peers/random.ts";

const GENERATORS: readonly GeneratorName[] = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];
type Kind = Required<Pick<RandomSettings, "distribution" | "bits" | "method">> & { readonly precision: "f64" | "f32" };

const KINDS: readonly Kind[] = [
  { distribution: "bits", bits: 32, method: "inverse", precision: "f32" },
  { distribution: "uniform", bits: 24, method: "inverse", precision: "f32" },
  { distribution: "uniform", bits: 32, method: "inverse", precision: "f64" },
  { distribution: "uniform", bits: 53, method: "inverse", precision: "f64" },
  { distribution: "normal", bits: 32, method: "inverse", precision: "f32" },
  { distribution: "normal", bits: 53, method: "inverse", precision: "f64" },
  { distribution: "normal", bits: 53, method: "box-muller", precision: "f64" },
];

interface Peers {
  readonly c: RandomPeer | undefined;
  readonly numpy: NumpyPeer | undefined;
  /** Bytes per second that one thread writes. */
  readonly bandwidth: number | undefined;
}

async function numbers(
  device: CpuDevice,
  generator: GeneratorName,
  kind: Kind,
  count: number,
  context: Context,
  peers: Peers,
): Promise<void> {
  const { distribution, bits, method, precision } = kind;
  using random = await RandomGenerator.create(device, randomSpec({ generator, seed: 1, ...kind }));
  using buffer = device.createBuffer(random.element, count);
  const seconds = await medianSeconds(context.quick ? 3 : 11, async () => {
    random.fill(buffer, { count });
    await device.finish();
  });
  const bytes = random.element === "f64" ? 8 : 4;
  const c = distribution === "uniform" && bits === 32 ? peers.c?.perSecond(generator, count) : undefined;
  const isNumpys = generator === "philox" && distribution !== "bits" && method === "inverse" && bits !== 32;
  const numpy = isNumpys ? peers.numpy?.perSecond(distribution, precision, count) : undefined;
  const { threads } = device;
  const measured = {
    ...(c === undefined || threads > 1 ? {} : { "C loop": c }),
    ...(numpy === undefined || threads > 1 ? {} : { numpy }),
  };
  context.report({
    case: `${generator}, ${distribution}${distribution === "bits" ? "" : ` of ${bits} bits`}${
      method === "box-muller" ? ", Box–Muller" : ""
    }, ${threads === 1 ? "one thread" : `${threads} threads`}`,
    device: context.cpu,
    precision,
    figure: count / seconds,
    unit: "numbers/s",
    ...(peers.bandwidth === undefined ? {} : { floor: peers.bandwidth / bytes }),
    ...(Object.keys(measured).length === 0 ? {} : { peers: measured }),
  });
}

/** From no device to numbers on the host: threads started, kernel compiled, numbers made and read. */
async function wholeCall(generator: GeneratorName, count: number, context: Context): Promise<void> {
  const seconds = await medianSeconds(context.quick ? 2 : 7, async () => {
    using device = createCpuDevice({ threads: 1 });
    await randomNumbers({ device, generator, seed: 1, distribution: "normal", count });
  });
  context.report({
    case: `${generator}, ${count.toExponential(0)} normals of a new device on the host, compiled and read, one thread`,
    device: context.cpu,
    precision: "f64",
    figure: seconds,
    unit: "s",
  });
}

async function run(context: Context): Promise<void> {
  const count = context.quick ? 2 ** 20 : 2 ** 24;
  const c = openRandomPeer((text) => context.note(text));
  const numpy = openNumpy((text) => context.note(text));
  const doubles = c?.perSecond("memset", count);
  const bandwidth = doubles === undefined ? undefined : 8 * doubles;
  context.note(
    bandwidth === undefined
      ? "floor: none"
      : `floor: bytes written at the speed of memset in one thread, ${(bandwidth / 1e9).toPrecision(3)} GB/s`,
  );
  for (const threads of context.quick ? [1] : [1, 2]) {
    using device = createCpuDevice({ threads });
    for (const generator of GENERATORS)
      for (const kind of KINDS) {
        if (generator === "sobol" && (kind.bits === 53 || kind.method === "box-muller")) continue;
        await numbers(device, generator, kind, count, context, { c, numpy, bandwidth });
      }
  }
  for (const generator of GENERATORS) await wholeCall(generator, context.quick ? 1e5 : 1e7, context);
}

export const benchmark: Benchmark = {
  name: "random",
  description: "random numbers on the CPU: every generator and distribution, beside plain C loops and numpy",
  run,
};
