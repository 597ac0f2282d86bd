import { createBufferOf, type Device } from "../../device/index.ts";
import { BoundaryCache } from "./boundaries.ts";
import { meetingKernel, BoundaryPairs, PUT_INPUTS } from "./pairs.ts";
import { PREMIUM_OUTPUTS, premiumKernel, premiumValueKernel } from "./premium.ts";
import { SCHEMES } from "./scheme.ts";

/** American puts with strike 1; several may share an exercise boundary. */
export interface Puts {
  /** The logarithm of each put's spot. */
  readonly logSpot: Float64Array;
  /** The time to expiry of each put in years, above 0. */
  readonly expiry: Float64Array;
  /** The index of each put's boundary in `boundaries`. */
  readonly boundary: Int32Array;
  /** The inputs of each boundary, `PUT_INPUTS` numbers one after another. */
  readonly boundaries: ArrayLike<number>;
}

/** The values and derivatives of puts with strike 1, with their error estimates. */
export class PutValues {
  /** The values and derivatives, [put][V, ∂V/∂S, ∂²V/∂S², ∂V/∂σ, ∂V/∂r or ∂V/∂q]. */
  readonly all: Float64Array;
  /** The estimate of the absolute error of each V; infinite before there is one. */
  readonly estimate: Float64Array;
  /** The part of each estimate that is due to changes from the previous scheme. */
  readonly changed: Float64Array;
  /** The change of each number of `all` from the previous scheme. */
  readonly change: Float64Array;

  constructor(count: number) {
    this.all = new Float64Array(count * PREMIUM_OUTPUTS).fill(Number.NaN);
    this.change = new Float64Array(count * PREMIUM_OUTPUTS).fill(Number.NaN);
    this.estimate = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    this.changed = new Float64Array(count);
  }
}

/** Puts whose values differ smoothly, such as those of one option in different markets. */
export interface PutFamily {
  /** The indices of the puts that tell which scheme is fine enough, and what its error is. */
  readonly samples: Int32Array;
  /** The indices of all others. */
  readonly others: Int32Array;
}

/** The part of the change of delta, over one standard deviation of S, that counts as an error of V. */
const OF_DELTA = 0.6;

/**
 * The part of the change of vega, over a change of σ by all of itself, that counts as an error of V. A change between
 * two schemes that vanishes for the spot and σ of an option seldom does so for other spots and other σ at once.
 */
const OF_VEGA = 0.2;

/** The safety factor on the change of V: 1 is not enough for one of QuantLib's random options in the tests. */
const MARGIN = 1.5;

/** What the error of a put may be beside the largest among the samples of its family. */
const OF_SAMPLES = 2;

/** How kernels are compiled. */
const EXACT = { precision: "f64", vectors: 1 } as const;

/** The time that an option takes one core by the finest scheme, about. */
const OPTION_MICROSECONDS = 20;

/** The engine that prices American options on a device by the integral equation of the exercise boundary. */
export class IntegralEngine implements Disposable {
  readonly #device: Device;
  readonly #boundaries: BoundaryCache;
  readonly #pairs: BoundaryPairs;

  constructor(device: Device) {
    this.#device = device;
    this.#boundaries = new BoundaryCache(device);
    this.#pairs = new BoundaryPairs(device);
  }

  /**
   * Prices the puts with the indices `open` by successively finer schemes. After each scheme `isEnough` returns the
   * puts that need a finer one. The result is the indices of the puts that still need a finer scheme than the finest.
   * The error estimate of a value is 1.5 times its change between schemes plus 0.6 standard deviations of S times the
   * change of delta and 0.2 σ times that of vega, since a change may vanish by chance at one spot and σ. It is infinite
   * where a boundary has not converged. @throws the signal's reason
   */
  async solve(
    puts: Puts,
    open: Int32Array,
    values: PutValues,
    isEnough: (open: Int32Array) => Int32Array,
    signal?: AbortSignal,
  ): Promise<Int32Array> {
    const slots = await this.#slotsOf(puts);
    let left = open;
    for (let scheme = 1; scheme < SCHEMES.length && left.length > 0; scheme++) {
      signal?.throwIfAborted();
      await this.#refine(puts, slots, left, scheme, values);
      left = isEnough(left);
    }
    return left;
  }

  /**
   * Prices families of puts by successively finer schemes: the samples of each as `solve` does, until `isEnough` is
   * true for all of them, and then the other puts by that scheme, without derivatives. Their error estimate is twice
   * the largest of the samples'. It is infinite for puts whose boundaries have not converged, and where no scheme is
   * fine enough. @throws the signal's reason
   */
  async solveFamilies(
    puts: Puts,
    families: readonly PutFamily[],
    values: PutValues,
    isEnough: (put: number) => boolean,
    signal?: AbortSignal,
  ): Promise<void> {
    const slots = await this.#slotsOf(puts);
    let left = families;
    for (let scheme = 1; scheme < SCHEMES.length && left.length > 0; scheme++) {
      signal?.throwIfAborted();
      await this.#refine(puts, slots, Int32Array.from(left.flatMap(({ samples }) => [...samples])), scheme, values);
      const isDone = ({ samples }: PutFamily): boolean => samples.every(isEnough);
      const done = left.filter(isDone);
      left = left.filter((family) => !isDone(family));
      await this.#valueOthers(puts, slots, done, scheme, values);
    }
  }

  /** Values of the puts of some families that are no samples, by the scheme that is fine enough for these. */
  async #valueOthers(
    puts: Puts,
    slots: Slots,
    families: readonly PutFamily[],
    scheme: number,
    values: PutValues,
  ): Promise<void> {
    const open = Int32Array.from(families.flatMap(({ others }) => [...others]));
    if (open.length === 0) return;
    const read = await this.#valuesBy(scheme, puts, open, await this.#slotsFor(slots, open, scheme), false);
    open.forEach((put, l) => (values.all[put * PREMIUM_OUTPUTS] = read[l]));
    for (const { samples, others } of families) {
      const estimate = OF_SAMPLES * samples.reduce((most, put) => Math.max(most, values.estimate[put]), 0);
      for (const put of others)
        values.estimate[put] = this.#hasConverged(slots, put, scheme) ? estimate : Number.POSITIVE_INFINITY;
    }
  }

  /** Returns the slots of all boundaries of puts. */
  async #slotsOf(puts: Puts): Promise<Slots> {
    const { inputs, lower } = await this.#pairs.expand(puts.boundaries);
    const all = this.#boundaries.slotsOf(inputs);
    const slotOf = (number: number): number => (number < 0 ? -1 : all[number]);
    return {
      upper: puts.boundary.map(slotOf),
      lower: puts.boundary.map((number) => (number < 0 ? -1 : slotOf(lower[number]))),
    };
  }

  /** Solves the boundaries of some puts by a scheme, and returns their slots. */
  async #slotsFor(slots: Slots, open: Int32Array, scheme: number): Promise<Slots> {
    const upper = open.map((put) => slots.upper[put]);
    const lower = open.map((put) => slots.lower[put]);
    const needed = new Set(upper);
    for (const slot of lower) if (slot >= 0) needed.add(slot);
    await this.#boundaries.solve(needed, scheme);
    return { upper, lower };
  }

  #hasConverged({ upper, lower }: Slots, put: number, scheme: number): boolean {
    const boundaries = this.#boundaries;
    return (
      boundaries.hasConverged(upper[put], scheme) && (lower[put] < 0 || boundaries.hasConverged(lower[put], scheme))
    );
  }

  /**
   * Values of some puts by a scheme, and their change from the one before, whose values are there from the second on.
   */
  async #refine(puts: Puts, slots: Slots, open: Int32Array, scheme: number, values: PutValues): Promise<void> {
    const count = open.length;
    // Compiled while the boundaries are solved.
    const [own] = await Promise.all([this.#slotsFor(slots, open, scheme), this.#device.compile(premiumKernel, EXACT)]);
    if (scheme === 1) store(values.all, open, await this.#valuesBy(0, puts, open, own));
    const after = await this.#valuesBy(scheme, puts, open, own);
    open.forEach((put, l) => {
      const at = put * PREMIUM_OUTPUTS;
      for (let k = 0; k < PREMIUM_OUTPUTS; k++) values.change[at + k] = after[k * count + l] - values.all[at + k];
      const sigma = puts.boundaries[PUT_INPUTS * puts.boundary[put] + 2];
      const deviation = sigma * Math.sqrt(puts.expiry[put]) * Math.exp(puts.logSpot[put]);
      const changed =
        MARGIN * Math.abs(values.change[at]) +
        OF_DELTA * deviation * Math.abs(values.change[at + 1]) +
        OF_VEGA * sigma * Math.abs(values.change[at + 3]);
      const estimate = SCHEMES[scheme].leastError + changed;
      const hasConverged = this.#hasConverged(slots, put, scheme - 1) && this.#hasConverged(slots, put, scheme);
      const isKnown = hasConverged && estimate >= 0;
      values.changed[put] = changed;
      values.estimate[put] = isKnown ? estimate : Number.POSITIVE_INFINITY;
    });
    store(values.all, open, after);
  }

  /** The outputs of `premiumKernel` for some puts, given their slots, by one scheme. */
  async #valuesBy(
    scheme: number,
    puts: Puts,
    open: Int32Array,
    { upper, lower }: Slots,
    hasDerivatives = true,
  ): Promise<Float64Array> {
    const device = this.#device;
    const boundaries = this.#boundaries;
    const count = open.length;
    const compiled = await device.compile(hasDerivatives ? premiumKernel : premiumValueKernel, EXACT);
    const { table, tableBuffer, series } = boundaries.scheme(scheme);
    const { nodes, premium } = table.size;
    const { capacity, model } = boundaries;
    using boundary = device.createBuffer("i32", 2 * count);
    device.write(boundary, upper);
    device.write(boundary, lower, count);
    using option = createBufferOf(device, "f64", optionsOf(puts, open));
    const known = { count, boundaries: capacity, nodes, model, series, boundary, option };
    if (lower.some((slot) => slot >= 0)) {
      const meeting = await device.compile(meetingKernel, EXACT);
      device.launch(meeting, known, { items: count, microsecondsEach: OPTION_MICROSECONDS });
    }
    using output = device.createBuffer("f64", (hasDerivatives ? PREMIUM_OUTPUTS : 1) * count);
    device.launch(
      compiled,
      { ...known, points: premium, rule: table.premium, table: tableBuffer, output },
      { items: count, microsecondsEach: OPTION_MICROSECONDS },
    );
    return await device.read(output);
  }

  [Symbol.dispose](): void {
    this.#boundaries[Symbol.dispose]();
    this.#pairs[Symbol.dispose]();
  }
}

/** The slots of the boundaries of puts; −1 where there is none. */
interface Slots {
  readonly upper: Int32Array;
  readonly lower: Int32Array;
}

function store(all: Float64Array, puts: Int32Array, output: Float64Array): void {
  puts.forEach((put, l) => {
    for (let k = 0; k < PREMIUM_OUTPUTS; k++) all[put * PREMIUM_OUTPUTS + k] = output[k * puts.length + l];
  });
}

function optionsOf({ logSpot, expiry }: Puts, open: Int32Array): Float64Array {
  const options = new Float64Array(3 * open.length);
  open.forEach((put, l) => {
    options[l] = logSpot[put];
    options[open.length + l] = expiry[put];
    options[2 * open.length + l] = expiry[put];
  });
  return options;
}
