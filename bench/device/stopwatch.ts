import type { CudaDevice } from "../../src/device/cuda/index.ts";
import type { Device } from "../../src/device/index.ts";
import { median } from "../harness.ts";

/** Times the work that a device does, not the host's part in it. */
export interface Stopwatch {
  readonly device: Device;
  /** What is timed, for the reader. */
  readonly how: string;
  /** Median milliseconds of what `work` records. */
  milliseconds(work: () => void, repetitions: number): Promise<number>;
}

export function stopwatch(device: Device): Stopwatch {
  return device.backend === "cuda" ? byEvents(device as CudaDevice) : bySlope(device);
}

/**
 * An idle H200 took four times as long for the same launch through WebGPU until it had worked for half a second, also
 * after the seconds that compiling takes; its clock, it seems.
 */
const WARM_UP_MS = 1000;
/** Through CUDA the first work of a process needs a part of that, all later work less. */
const WARM_UP_CUDA_MS = [200, 20] as const;
const warmed = new WeakSet<Device>();

function warmUpOfCuda(device: Device): number {
  const [first, again] = WARM_UP_CUDA_MS;
  const min = warmed.has(device) ? again : first;
  warmed.add(device);
  return min;
}

/** By the GPU's own clock, once it has worked for a while. */
function byEvents(device: CudaDevice): Stopwatch {
  return {
    device,
    how: "CUDA events",
    async milliseconds(work, repetitions) {
      const min = warmUpOfCuda(device);
      for (let warm = 0, i = 0; i < 1 || warm < min; i++) warm += await device.timed(work);
      const all: number[] = [];
      for (let i = 0; i < repetitions; i++) all.push(await device.timed(work));
      return median(all);
    },
  };
}

/**
 * WebGPU's clock is quantised for privacy: the difference between one and five times the work, which leaves out the
 * waiting.
 */
function bySlope(device: Device): Stopwatch {
  const wall = async (work: () => void, times: number): Promise<number> => {
    const start = performance.now();
    for (let i = 0; i < times; i++) work();
    await device.finish();
    return performance.now() - start;
  };
  return {
    device,
    how: "wall clock of five launches less that of one",
    async milliseconds(work, repetitions) {
      // The pace of a kernel, by which submissions are cut, is learnt from its first launches, too.
      for (let warm = 0, i = 0; i < 3 || warm < WARM_UP_MS; i++) warm += await wall(work, 5);
      const all: number[] = [];
      for (let i = 0; i < repetitions; i++) {
        const one = await wall(work, 1);
        all.push((await wall(work, 5)) - one);
      }
      return median(all) / 4;
    },
  };
}
