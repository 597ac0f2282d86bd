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

/** An idle H200 took four times as long for the same launch through WebGPU until it had worked for half a second; its clock, it seems. */
const WARM_UP_MS = 1000;
/** Of that, what is enough for a device that has worked in this process before. */
const WARM_AGAIN = 0.1;
const warmed = new WeakSet<Device>();

/** Milliseconds that `device` is to work before it is timed. */
function warmUp(device: Device, first: number): number {
  const again = warmed.has(device);
  warmed.add(device);
  return again ? WARM_AGAIN * first : first;
}

/** By the GPU's own clock, once it has worked for a while. */
function byEvents(device: CudaDevice): Stopwatch {
  return {
    device,
    how: "CUDA events",
    async milliseconds(work, repetitions) {
      const least = warmUp(device, 0.2 * WARM_UP_MS);
      for (let warm = 0, i = 0; i < 1 || warm < least; i++) warm += await device.timed(work);
      const all: number[] = [];
      for (let i = 0; i < repetitions; i++) all.push(await device.timed(work));
      return median(all);
    },
  };
}

/** WebGPU's clock is quantised for privacy: the difference between one and five times the work, which leaves out the waiting. */
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
      const least = warmUp(device, WARM_UP_MS);
      for (let warm = 0, i = 0; i < 3 || warm < least; i++) warm += await wall(work, 5);
      const all: number[] = [];
      for (let i = 0; i < repetitions; i++) {
        const one = await wall(work, 1);
        all.push((await wall(work, 5)) - one);
      }
      return median(all) / 4;
    },
  };
}
