import type { LocalSurface } from "../../market/index.ts";
import type { Instance } from "../execute/instance.ts";
import { surfacePieces, surfaceSlices } from "./surface.ts";

/**
 * The surface of a launch as the solver reads it (`readSurface`): slices once for all instances with the same dates.
 */
export class SurfaceTable {
  private readonly instances: readonly Instance[];
  private readonly pieces: number;
  /** The number of each instance's first slice. */
  private readonly firsts: number[] = [];
  private readonly slices: Float64Array[] = [];

  /** `instances` of one pattern of steps, on one surface and one spot. */
  constructor(instances: readonly Instance[], surface: LocalSurface) {
    this.instances = instances;
    this.pieces = surfacePieces(surface);
    const known = new Map<string, number>();
    for (const { grid } of instances) {
      const { time, problem } = grid;
      const dates = time.dates.join();
      let first = known.get(dates);
      if (first === undefined) {
        known.set(dates, (first = this.slices.length * time.factorisations));
        this.slices.push(surfaceSlices(surface, time, problem.spots[0]));
      }
      this.firsts.push(first);
    }
  }

  words(pitch: number): number {
    return 2 * pitch + 1 + this.slices.reduce((sum, { length }) => sum + length, 0);
  }

  fill(into: Float64Array | Float32Array, pitch: number): void {
    this.instances.forEach(({ surface }, l) => {
      into[l] = this.firsts[l];
      into[pitch + l] = surface?.shift ?? 0;
    });
    into[2 * pitch] = this.pieces;
    let at = 2 * pitch + 1;
    for (const slices of this.slices) {
      into.set(slices, at);
      at += slices.length;
    }
  }
}
