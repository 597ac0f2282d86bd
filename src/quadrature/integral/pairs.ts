import type { Device } from "../../device/index.ts";
import { BoundaryCache } from "./boundaries.ts";
import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { BOUNDARY_INPUTS, chebyshevSeriesAt } from "./boundary.ts";

/** The inputs of the exercise boundaries of some puts, including the lower boundary of those that have two. */
interface Expanded {
  /** The `BOUNDARY_INPUTS` of each boundary, one after another: first the given ones, then the lower ones. */
  readonly inputs: Float64Array;
  /** The index in `inputs` of the lower boundary of each given boundary; −1 where there is only one. */
  readonly lower: Int32Array;
}

/** A time to expiry for which both boundaries have been solved: how far they have moved together, in ln S. */
interface Trial {
  readonly time: number;
  readonly moved: number;
}

/** The search for the time at which the boundaries of a model meet. */
interface Search {
  readonly key: string;
  readonly inputs: readonly number[];
  /** The time to try next. */
  readonly time: number;
  /** The last two times at which they are apart, the latest first. */
  readonly apart: readonly Trial[];
  /** A time at which they have met, or beyond which the upper one is not found. */
  readonly high: number;
}

/** The number of inputs of a put's boundary: r, q, σ, the longest expiry, and 1 for ∂/∂r or −1 for ∂/∂q. */
export const PUT_INPUTS = 5;

/** Horizons kept. */
const USUAL = 4096;

/** Times tried for each model; three to five are usual. */
const STAGES = 20;

/** Boundaries are solved until they have moved by up to this multiple of their distance at expiry. */
const PAST = 1.1;

/**
 * A solver of pairs of exercise boundaries, which puts have where q < r < 0. For σ > |√(−2r) − √(−2q)| the boundaries
 * meet, and for longer times to expiry there is no early exercise. Beyond that time the equation of the upper boundary
 * can be solved only for a while. Both boundaries are therefore solved until the requested expiry or until shortly
 * after they meet, which the secant method finds with the coarsest scheme. `premiumKernel` then finds the meeting time
 * for its own scheme's boundaries.
 */
export class BoundaryPairs implements Disposable {
  readonly #trials: BoundaryCache;
  readonly #horizons = new Map<string, number>();

  constructor(device: Device) {
    this.#trials = new BoundaryCache(device);
  }

  /**
   * Returns the inputs of all boundaries of puts whose boundaries have the given inputs, `PUT_INPUTS` numbers each.
   */
  async expand(boundaries: ArrayLike<number>): Promise<Expanded> {
    const count = boundaries.length / PUT_INPUTS;
    const lower = new Int32Array(count).fill(-1);
    const pairs: (readonly number[])[] = [];
    for (let i = 0; i < count; i++)
      if (boundaries[i * PUT_INPUTS] < 0 && boundaries[i * PUT_INPUTS + 1] < boundaries[i * PUT_INPUTS]) {
        lower[i] = count + pairs.length;
        pairs.push(Array.from({ length: PUT_INPUTS }, (_, k) => boundaries[i * PUT_INPUTS + k]));
      }
    if (pairs.length > 0) await this.#search(pairs);
    const inputs = new Float64Array((count + pairs.length) * BOUNDARY_INPUTS);
    for (let i = 0; i < count; i++) {
      const at = i * BOUNDARY_INPUTS;
      for (let k = 0; k < PUT_INPUTS; k++) inputs[at + k] = boundaries[i * PUT_INPUTS + k];
      inputs[at + PUT_INPUTS] = 1;
      if (lower[i] < 0) continue;
      const one = pairs[lower[i] - count];
      inputs[at + 3] = this.#horizons.get(keyOf(one))!;
      inputs.set(lowerOf(one, inputs[at + 3]), lower[i] * BOUNDARY_INPUTS);
    }
    return { inputs, lower };
  }

  /** Finds the horizons that are not known; NaN where there is no boundary to be sure of. */
  async #search(pairs: readonly (readonly number[])[]): Promise<void> {
    if (this.#horizons.size > USUAL) this.#horizons.clear();
    const unknown = new Map(pairs.map((inputs) => [keyOf(inputs), inputs]));
    let open = Array.from(unknown, ([key, inputs]): Search => ({
      key,
      inputs,
      apart: [],
      high: Infinity,
      time: first(inputs),
    }));
    open = open.filter(({ key }) => !this.#horizons.has(key));
    for (let stage = 0; stage < STAGES && open.length > 0; stage++) {
      const slots = this.#trials.slotsOf(
        open.flatMap(({ inputs, time }) => [...upperOf(inputs, time), ...lowerOf(inputs, time)]),
      );
      await this.#trials.solve(new Set(slots), 0);
      open = open.flatMap((search, i) => {
        const found = this.#narrow(search, slots[2 * i], slots[2 * i + 1]);
        if (typeof found === "object") return [found];
        this.#horizons.set(search.key, found);
        return [];
      });
    }
    for (const { key } of open) this.#horizons.set(key, Number.NaN);
  }

  /** A horizon, or the search with its next time. */
  #narrow(search: Search, upper: number, lower: number): number | Search {
    const { inputs, time, apart, high } = search;
    const trials = this.#trials;
    const { lastDistances } = trials.scheme(0);
    const moved = lastDistances[upper] + lastDistances[lower];
    const isSolved = trials.hasConverged(upper, 0) && trials.hasConverged(lower, 0);
    const distance = distanceOf(inputs);
    if (isSolved && moved < distance) {
      if (time === inputs[3]) return time;
      const known = [{ time, moved }, ...apart.slice(0, 1)];
      return { ...search, apart: known, time: between(known, high, inputs) };
    }
    if (isSolved && moved <= PAST * distance) return time;
    return { ...search, high: time, time: between(apart, time, inputs) };
  }

  [Symbol.dispose](): void {
    this.#trials[Symbol.dispose]();
  }
}

const keyOf = (inputs: readonly number[]): string => inputs.slice(0, 4).join();
const upperOf = ([r, q, sigma, , by]: readonly number[], horizon: number): readonly number[] => [
  r,
  q,
  sigma,
  horizon,
  by,
  1,
];
/** The lower boundary is that of a put with both rates exchanged. */
const lowerOf = ([r, q, sigma, , by]: readonly number[], horizon: number): readonly number[] => [
  q,
  r,
  sigma,
  horizon,
  -by,
  0,
];

/** The distance of the boundaries at expiry, in ln S. */
const distanceOf = ([r, q]: readonly number[]): number => Math.log(q / r);

/** The approximate time at which they meet, where σ is well above the least for which they do. */
const first = (inputs: readonly number[]): number => Math.min(inputs[3], (distanceOf(inputs) / inputs[2]) ** 2 / 12);

/** The next time to try: how far they have moved is about a power of time, √τ at first. */
function between([last, before]: readonly Trial[], high: number, inputs: readonly number[]): number {
  if (last === undefined) return high / 16;
  const slope = before === undefined ? 0.45 : Math.log(last.moved / before.moved) / Math.log(last.time / before.time);
  const wanted = Math.log((0.5 * (1 + PAST) * distanceOf(inputs)) / last.moved) / Math.max(slope, 0.05);
  const guess = last.time * Math.min(Math.exp(wanted), 16);
  return guess < 0.95 * high ? Math.min(guess, inputs[3]) : Math.sqrt(last.time * high);
}

/**
 * The kernel that finds the time to expiry T at which the two boundaries of an option meet, by the secant method:
 *
 *   ln(B(0)/B(T)) + ln(Y(T)/Y(0)) = ln(q/r)
 *
 * Its parameters are those of `premiumKernel`. `option[2·count + l]` holds the time to expiry of option l. It is
 * replaced by the meeting time if that is shorter, and by NaN if none is found. Options with one boundary keep theirs.
 */
export const meetingKernel = kernel({
  name: "where two boundaries meet",
  params: {
    count: i32,
    boundaries: i32,
    nodes: i32,
    model: read(real),
    series: read(real),
    boundary: read(i32),
    option: write(real),
  },
  env: { chebyshevSeriesAt },
  body({ count, boundaries, nodes: degree, model, series, boundary, option }, gpu, { chebyshevSeriesAt }) {
    const l = gpu.globalId();
    if (l >= count) return;
    const upper = boundary[l];
    const lower = boundary[count + l];
    if (lower < 0) return;
    const apart = Math.log(model[boundaries + upper] / model[upper]);
    const longest = model[3 * boundaries + upper];
    const expiry = option[count + l];
    // In z = 2√(τ/T) − 1; if they do not meet before expiry or the end of the series, the first gap is negative.
    let z = Math.min(2 * Math.sqrt(expiry / longest) - 1, 1);
    let next = z - 0.02 * (1 + z);
    let before = 0.0;
    let gap = 1.0;
    for (let k = 0; k < 10; k++) {
      const high = chebyshevSeriesAt({ series, start: upper * 3 * (degree + 1), degree, z });
      const low = chebyshevSeriesAt({ series, start: lower * 3 * (degree + 1), degree, z });
      const found = Math.sqrt(Math.max(high, 0)) + Math.sqrt(Math.max(low, 0)) - apart;
      if (k === 0 && found <= 0 && expiry <= longest) return;
      if (k > 0) {
        const rise = found - gap;
        const step = rise !== 0 ? (found * (z - before)) / rise : 0.0;
        next = Math.min(Math.max(z - step, 0.5 * z - 0.5), 1.1);
      }
      before = z;
      gap = found;
      z = next;
    }
    const root = 0.5 * (1 + before);
    option[2 * count + l] = Math.abs(gap) < 1e-7 * apart ? Math.min(longest * root * root, expiry) : NaN;
  },
});
