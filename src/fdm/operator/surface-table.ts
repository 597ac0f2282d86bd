import type { LocalSurface } from "../../market/index.ts";
import type { Instance } from "../execute/instance.ts";
import { putSlices, sliceWords, surfacePieces } from "./surface.ts";

/**
 * The surfaces of a launch as the solver reads them (`readSurface`): slices once for all instances with the same dates
 * on the same surface and spot.
 */
export class SurfaceTable {
  private readonly instances: readonly Instance[];
  /** The number of each instance's first slice. */
  private readonly firsts: number[] = [];
  /** The first instances that slices are made of. */
  private readonly different: Instance[] = [];

  /** `instances` of one pattern of steps, on surfaces of as many spots. */
  constructor(instances: readonly Instance[]) {
    this.instances = instances;
    const known = new Map<LocalSurface, Map<string, number>>();
    for (const instance of instances) {
      const { time, problem } = instance.grid;
      const surface = surfaceOf(instance);
      let ofSurface = known.get(surface);
      if (ofSurface === undefined) known.set(surface, (ofSurface = new Map<string, number>()));
      const key = `${problem.spots[0]} ${time.dates.join()}`;
      let first = ofSurface.get(key);
      if (first === undefined) {
        ofSurface.set(key, (first = this.different.length * time.factorisations));
        this.different.push(instance);
      }
      this.firsts.push(first);
    }
  }

  words(pitch: number): number {
    return 2 * pitch + 1 + this.different.length * this.wordsOfGrid;
  }

  fill(into: Float64Array | Float32Array, pitch: number): void {
    this.instances.forEach(({ surface }, l) => {
      into[l] = this.firsts[l];
      into[pitch + l] = surface?.shift ?? 0;
    });
    into[2 * pitch] = surfacePieces(surfaceOf(this.instances[0]));
    this.different.forEach((instance, i) => {
      const { problem, time } = instance.grid;
      const of = { surface: surfaceOf(instance), spot: problem.spots[0] };
      putSlices(into, 2 * pitch + 1 + i * this.wordsOfGrid, of, time);
    });
  }

  private get wordsOfGrid(): number {
    const [instance] = this.instances;
    return instance.grid.time.factorisations * sliceWords(surfaceOf(instance));
  }
}

const surfaceOf = ({ surface }: Instance): LocalSurface => surface!.surface;
