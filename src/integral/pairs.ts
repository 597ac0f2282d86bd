import type { Device } from "../device/index.ts";
import { Boundaries } from "./boundaries.ts";

/** The inputs of all boundaries of some puts. */
export interface Expanded {
  /** `BOUNDARY_INPUTS` numbers each: those of the puts, and after them the lower ones. */
  readonly inputs: readonly (readonly number[])[];
  /** The number of the lower boundary of each of the puts' boundaries; −1 where there is one boundary. */
  readonly lower: Int32Array;
}

/** A model with two boundaries whose meeting time lies between `low` and the largest of `rungs`. */
interface Search {
  readonly key: string;
  readonly inputs: readonly number[];
  readonly low: number;
  readonly rungs: readonly number[];
}

/** Horizons kept. */
const USUAL = 4096;

/** Finer and finer searches, each between two neighbours of the one before. */
const STAGES = 4;

/** Boundaries are solved for no more than this multiple of the time at which they meet. */
const CLOSE = 1.25;

/**
 * Puts with two boundaries, q < r < 0. For σ > |√(−2r) − √(−2q)| they meet, and there is no early exercise longer
 * before expiry. Beyond that time the equation of the upper one has a solution only for a while, so that both are
 * solved as far as they go: until the expiry asked for, or shortly after they meet, which a search by the coarsest
 * scheme finds. Where they meet by a scheme, `premiumKernel` finds in its own boundaries.
 */
export class Pairs implements Disposable {
  readonly #trials: Boundaries;
  readonly #horizons = new Map<string, number>();

  constructor(device: Device) {
    this.#trials = new Boundaries(device);
  }

  /** All boundaries of puts with those given: r, q, σ, the longest expiry, and the sign of `boundaryKernel`. */
  async expand(boundaries: readonly (readonly number[])[]): Promise<Expanded> {
    const pairs = boundaries.filter(isPair);
    if (pairs.length > 0) await this.#search(pairs);
    const lower = new Int32Array(boundaries.length).fill(-1);
    const upperInputs: (readonly number[])[] = [];
    const lowerInputs: (readonly number[])[] = [];
    boundaries.forEach((one, i) => {
      const horizon = isPair(one) ? this.#horizons.get(keyOf(one))! : one[3];
      upperInputs.push(upperOf(one, horizon));
      if (isPair(one)) lower[i] = boundaries.length + lowerInputs.push(lowerOf(one, horizon)) - 1;
    });
    return { inputs: [...upperInputs, ...lowerInputs], lower };
  }

  /** Finds the horizons that are not known; NaN where there is no boundary to be sure of. */
  async #search(pairs: readonly (readonly number[])[]): Promise<void> {
    if (this.#horizons.size > USUAL) this.#horizons.clear();
    const unknown = new Map(pairs.map((inputs) => [keyOf(inputs), inputs]));
    let open = Array.from(unknown, ([key, inputs]): Search => ({ key, inputs, low: 0, rungs: firstRungs(inputs) }));
    open = open.filter(({ key }) => !this.#horizons.has(key));
    for (let stage = 0; stage < STAGES && open.length > 0; stage++) {
      const slots = this.#trials.slotsOf(
        open.flatMap(({ inputs, rungs }) => rungs.flatMap((rung) => [upperOf(inputs, rung), lowerOf(inputs, rung)])),
      );
      await this.#trials.solve(new Set(slots), 0);
      let next = 0;
      open = open.flatMap((search) => {
        const own = slots.subarray(next, (next += 2 * search.rungs.length));
        const found = this.#narrow(search, own);
        if (typeof found === "object") return [found];
        this.#horizons.set(search.key, found);
        return [];
      });
    }
    for (const { key } of open) this.#horizons.set(key, Number.NaN);
  }

  /** A horizon, or a search between two rungs. */
  #narrow({ key, inputs, low: from, rungs }: Search, slots: Int32Array): number | Search {
    const trials = this.#trials;
    const { lastDistances } = trials.scheme(0);
    let low = from;
    for (const [k, rung] of rungs.entries()) {
      const [upper, lower] = [slots[2 * k], slots[2 * k + 1]];
      const isSolved = trials.hasConverged(upper, 0) && trials.hasConverged(lower, 0);
      const meets = isSolved && lastDistances[upper] + lastDistances[lower] >= apart(inputs);
      if (meets && rung <= CLOSE * low) return rung;
      if (!isSolved || meets) return { key, inputs, low, rungs: between(low > 0 ? low : rung / 4 ** 8, rung) };
      low = rung;
    }
    return low;
  }

  [Symbol.dispose](): void {
    this.#trials[Symbol.dispose]();
  }
}

const isPair = ([r, q]: readonly number[]): boolean => r < 0 && q < r;
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
const apart = ([r, q]: readonly number[]): number => Math.log(q / r);

/** Times in steps of a factor of four from one at which the boundaries are well apart. */
function firstRungs(inputs: readonly number[]): readonly number[] {
  const [, , sigma, longest] = inputs;
  const rungs = [longest];
  const first = (apart(inputs) / sigma) ** 2 / 2 ** 14;
  for (let rung = longest / 4; rung > first; rung /= 4) rungs.unshift(rung);
  return rungs;
}

/** Seven times between two, and the last. */
const between = (low: number, high: number): readonly number[] =>
  Array.from({ length: 8 }, (_, k) => low * (high / low) ** ((k + 1) / 8));
