import type { Device } from "../../../device/index.ts";
import { hostReal, type Kernel } from "../../../kernel/index.ts";
import { bytesOf, type Method, type Problem } from "./method.ts";
import { layoutOf } from "./place.ts";
import { privateCapacity } from "./thomas.ts";
import { thomasStripsKernel } from "./thomas-strips.ts";
import { thomasTilesKernel } from "./thomas-tiles.ts";

/** The number of bytes of a vector, and of a line of the cache, on every CPU that has 128-bit SIMD. */
const VECTOR = 16;
const LINE = 64;
/** The number of vectors of contiguous systems side by side; see `sideBySide`. */
const TOGETHER = 2;
/** The number of systems of a strip. */
const STRIP = 64;

interface ThomasPlan {
  readonly kernel: Kernel;
  readonly vectors?: typeof TOGETHER;
  /** The number of words of workspace a row. */
  readonly work: number;
  readonly groups: number;
}

/**
 * Prepares Thomas' algorithm on a CPU in a cache-friendly order, by tiles of contiguous systems or strips of
 * interleaved ones. Returns undefined where `thomas` solves the problem: on other devices, for one matrix for all,
 * other placements, or batches of too few strips to occupy every core.
 */
export function thomasOnCpu(device: Device, problem: Problem): Promise<Method> | undefined {
  if (device.backend !== "cpu" || problem.shared) return undefined;
  const layout = layoutOf(problem);
  if (layout === "contiguous") return prepared(device, problem, tiles(device, problem));
  const hasStrips = layout === "interleaved" && problem.batch >= 8 * device.parallelism;
  return hasStrips ? prepared(device, problem, strips(device, problem)) : undefined;
}

async function prepared(device: Device, problem: Problem, plan: ThomasPlan): Promise<Method> {
  const { rows, batch, precision } = problem;
  const { kernel, groups, work: words, ...vectors } = plan;
  const compiled = await device.compile(kernel, { precision, ...vectors });
  const work = device.createBuffer(hostReal(precision), Math.max(1, words * rows * batch));
  return {
    solve: (system) => device.launch(compiled, { rows, batch, work, ...system }, { groups }),
    [Symbol.dispose]: () => work[Symbol.dispose](),
  };
}

function tiles(device: Device, problem: Problem): ThomasPlan {
  const { rows, batch, precision } = problem;
  const lanes = VECTOR / bytesOf(precision);
  const together = lanes * TOGETHER;
  const capacity = privateCapacity(rows, 2, device, problem);
  const kernel = thomasTilesKernel({ together, line: LINE / bytesOf(precision), tile: lanes, capacity });
  return { kernel, vectors: TOGETHER, work: capacity > 0 ? 0 : 2, groups: Math.ceil(batch / together) };
}

function strips(device: Device, problem: Problem): ThomasPlan {
  const { rows, batch, precision } = problem;
  const capacity = privateCapacity(rows, 1, device, problem);
  const kernel = thomasStripsKernel({ strip: STRIP, line: LINE / bytesOf(precision), capacity });
  return { kernel, work: capacity > 0 ? 0 : 1, groups: Math.ceil(batch / STRIP) };
}
