import type { LocalSurface } from "../../market/index.ts";
import type { Instance } from "../execute/instance.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { putSlices, sliceWords, surfacePieces, surfaceRows } from "./surface.ts";

/**
 * The surface of a launch as the solver reads it (`readSurface`): slices once for all instances with the same dates.
 */
export class SurfaceTable {
  private readonly instances: readonly Instance[];
  private readonly surface: LocalSurface;
  /** The number of each instance's first slice. */
  private readonly firsts: number[] = [];
  /** The time grids that differ, each with its slices. */
  private readonly times: TimeGrid[] = [];

  /** `instances` of one pattern of steps, on one surface and one spot. */
  constructor(instances: readonly Instance[], surface: LocalSurface) {
    this.instances = instances;
    this.surface = surface;
    const known = new Map<string, number>();
    for (const { grid } of instances) {
      const dates = grid.time.dates.join();
      let first = known.get(dates);
      if (first === undefined) {
        known.set(dates, (first = this.times.length * grid.time.factorisations));
        this.times.push(grid.time);
      }
      this.firsts.push(first);
    }
  }

  words(pitch: number): number {
    return 2 * pitch + 1 + this.times.length * this.wordsOfGrid;
  }

  fill(into: Float64Array | Float32Array, pitch: number): void {
    this.instances.forEach(({ surface }, l) => {
      into[l] = this.firsts[l];
      into[pitch + l] = surface?.shift ?? 0;
    });
    into[2 * pitch] = surfacePieces(this.surface);
    const [{ grid }] = this.instances;
    const of = { surface: this.surface, rows: surfaceRows(this.surface, grid.problem.spots[0]) };
    this.times.forEach((time, i) => putSlices(into, 2 * pitch + 1 + i * this.wordsOfGrid, of, time));
  }

  private get wordsOfGrid(): number {
    return this.instances[0].grid.time.factorisations * sliceWords(this.surface);
  }
}
