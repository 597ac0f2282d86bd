import { openDevice, type Device } from "../src/device/index.ts";
import { DeviceUnavailableError } from "../src/base/errors.ts";
import { hardware } from "./device/hardware.ts";
import { KINDS, options, type Peers } from "./device/options.ts";
import { starts } from "./device/process.ts";
import type { Benchmark, Context } from "./harness.ts";

/** Opens a back end; says why if it is not here. */
async function opened(backend: "cuda" | "webgpu", context: Context): Promise<Device | undefined> {
  try {
    return await openDevice({ backend });
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
    context.note(`${backend}: ${error.message}`);
    return undefined;
  }
}

/** What has events inside its life in each split by itself: what teams gain there. */
const SPLITS = ["item", "half-subgroup", "subgroup", "workgroup"] as const;
/** One option a subgroup or two: which of them is chosen depends on how many there are. */
const PAIRS = ["half-subgroup", "subgroup"] as const;

async function run(context: Context): Promise<void> {
  using cpu = await openDevice({ backend: "cpu" });
  const peers: Peers = new Map();
  await options(cpu, "f64", context.quick ? [64] : [8192], context, cpu, peers);
  const eventful = [KINDS.bermudan, KINDS.knockOut];
  await options(cpu, "f64", context.quick ? [64] : [8192], context, cpu, peers, eventful);
  for (const backend of ["cuda", "webgpu"] as const) {
    using device = await opened(backend, context);
    if (device === undefined) continue;
    await hardware(device, context);
    for (const precision of ["f64", "f32"] as const) {
      if (!device.precisions.includes(precision)) continue;
      await options(device, precision, context.quick ? [64] : [2048, 8192, 131_072], context, cpu, peers);
      const { americanTimes, europeanTimes, dividendsTimes, american512 } = KINDS;
      await options(device, precision, context.quick ? [64] : [2048, 8192], context, cpu, peers, [
        americanTimes,
        europeanTimes,
        dividendsTimes,
      ]);
      await options(
        device,
        precision,
        context.quick ? [64] : [512, 2048, 8192],
        context,
        cpu,
        peers,
        [KINDS.american, KINDS.european],
        PAIRS,
      );
      await options(device, precision, context.quick ? [64] : [8192, 32_768], context, cpu, peers, [american512]);
      await options(device, precision, context.quick ? [64] : [8192], context, cpu, peers, eventful, SPLITS);
    }
    if (backend === "cuda") starts(device.name, context);
  }
}

export const benchmark: Benchmark = {
  name: "device",
  description: "what GPUs give to kernels of the kernel language, and how fast they price books of options",
  run,
};
