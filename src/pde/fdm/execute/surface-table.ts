import type { LocalSurface } from "../../../market/index.ts";
import type { Instance } from "./instance.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { blockWords, putBlock } from "../operator/surface.ts";

/**
 * The volatility surfaces of a launch in the layout of `readSurface`, with one block for all instances that share
 * dates, surface and spot.
 */
export class SurfaceTable {
  private readonly instances: readonly Instance[];
  /** The number of each instance's block. */
  private readonly blocks: number[] = [];
  /** The first instance of each block. */
  private readonly different: Instance[] = [];

  /** `instances` of one pattern of steps, on surfaces of as many spots. */
  constructor(instances: readonly Instance[]) {
    this.instances = instances;
    const known = new Map<LocalSurface, { readonly time: TimeGrid; readonly spot: number; readonly block: number }[]>();
    for (const instance of instances) {
      const { time, problem } = instance.grid;
      const surface = surfaceOf(instance);
      let ofSurface = known.get(surface);
      if (ofSurface === undefined) known.set(surface, (ofSurface = []));
      const [spot] = problem.spots;
      let block = ofSurface.find((one) => one.spot === spot && isSameTime(one.time, time))?.block;
      if (block === undefined) {
        block = this.different.length;
        ofSurface.push({ time, spot, block });
        this.different.push(instance);
      }
      this.blocks.push(block);
    }
  }

  /** Returns the number of reals of the table for launches with `pitch` columns. */
  words(pitch: number): number {
    return 2 * pitch + 2 + this.different.length * this.wordsOfBlock;
  }

  /** Writes the surfaces into a launch's table with `pitch` columns. */
  fill(into: Float64Array | Float32Array, pitch: number): void {
    this.instances.forEach(({ surface }, l) => {
      into[l] = this.blocks[l];
      into[pitch + l] = surface?.shift ?? 0;
    });
    const size = 2 * pitch;
    into[size] = surfaceOf(this.instances[0]).spots.length;
    into[size + 1] = this.wordsOfBlock;
    this.different.forEach((instance, i) => {
      const { problem, time } = instance.grid;
      const of = { surface: surfaceOf(instance), spot: problem.spots[0] };
      putBlock(into, size + 2 + i * this.wordsOfBlock, of, time);
    });
  }

  private get wordsOfBlock(): number {
    const [instance] = this.instances;
    return blockWords(surfaceOf(instance), instance.grid.time.factorisations);
  }
}

/** Tells whether grids of one pattern of steps have the same steps. */
const isSameTime = (a: TimeGrid, b: TimeGrid): boolean =>
  a === b || (a.clock === b.clock && a.dates.every((date, i) => date === b.dates[i]));

const surfaceOf = ({ surface }: Instance): LocalSurface => surface!.surface;
