import type { CompiledKernel, Device, DeviceBuffer, LaunchSize } from "../../device/index.ts";
import type { Kernel } from "../../kernel/index.ts";
import { bytesOf, elementOf, type Method, type Problem, type System } from "./method.ts";
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
  readonly size: LaunchSize;
}

/**
 * Thomas' algorithm on a CPU in a cache-friendly order: by tiles of contiguous systems, by strips of interleaved ones.
 */
export class CpuThomas implements Method {
  readonly #compiled: CompiledKernel;
  readonly #problem: Problem;
  readonly #size: LaunchSize;
  readonly #work: DeviceBuffer;

  private constructor(compiled: CompiledKernel, problem: Problem, size: LaunchSize, work: DeviceBuffer) {
    this.#compiled = compiled;
    this.#problem = problem;
    this.#size = size;
    this.#work = work;
  }

  /**
   * Creates the method; undefined where `Thomas` solves the problem: on other devices, for one matrix for all, other
   * placements, or batches of too few strips to occupy every core.
   */
  static create(device: Device, problem: Problem): Promise<CpuThomas> | undefined {
    if (device.backend !== "cpu" || problem.shared) return undefined;
    const layout = layoutOf(problem);
    if (layout === "contiguous") return CpuThomas.#make(device, problem, tiles(device, problem));
    const strips = layout === "interleaved" && problem.batch >= 8 * device.parallelism;
    return strips ? CpuThomas.#make(device, problem, interleaved(device, problem)) : undefined;
  }

  static async #make(
    device: Device,
    problem: Problem,
    { kernel, vectors, work, size }: ThomasPlan,
  ): Promise<CpuThomas> {
    const { rows, batch, precision } = problem;
    const options = vectors === undefined ? { precision } : { precision, vectors };
    const compiled = await device.compile(kernel, options);
    const words = Math.max(1, work * rows * batch);
    return new CpuThomas(compiled, problem, size, device.createBuffer(elementOf(precision), words));
  }

  solve(system: System): void {
    const { rows, batch } = this.#problem;
    const work = this.#work;
    work.device.launch(this.#compiled, { rows, batch, work, ...system }, this.#size);
  }

  [Symbol.dispose](): void {
    this.#work[Symbol.dispose]();
  }
}

function tiles(device: Device, problem: Problem): ThomasPlan {
  const { rows, batch, precision } = problem;
  const lanes = VECTOR / bytesOf(precision);
  const together = lanes * TOGETHER;
  const capacity = privateCapacity(rows, 2, device, problem);
  const kernel = thomasTilesKernel({ together, line: LINE / bytesOf(precision), tile: lanes, capacity });
  const size = { groups: Math.ceil(batch / together) };
  return { kernel, vectors: TOGETHER, work: capacity > 0 ? 0 : 2, size };
}

function interleaved(device: Device, problem: Problem): ThomasPlan {
  const { rows, batch, precision } = problem;
  const capacity = privateCapacity(rows, 1, device, problem);
  const kernel = thomasStripsKernel({ strip: STRIP, line: LINE / bytesOf(precision), capacity });
  return { kernel, work: capacity > 0 ? 0 : 1, size: { groups: Math.ceil(batch / STRIP) } };
}
