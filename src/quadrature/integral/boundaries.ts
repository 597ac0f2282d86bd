import { type Device, type DeviceBuffer, createBufferOf } from "../../device/index.ts";
import { BOUNDARY_INPUTS, boundaryKernel, boundaryOutputs } from "./boundary.ts";
import { TupleNumbers } from "./tuples.ts";
import { SCHEMES, type SchemeTable, schemeTable } from "./scheme.ts";

/** Boundaries kept at first, unless a batch has more: up to 1 MB for each of the usual schemes. */
const USUAL = 4096;
/** Boundaries kept once a batch has more than the usual, as under many scenarios, whose boundaries are used again. */
const MOST = 65_536;

/** The time that a boundary takes one core by the finest scheme, about. */
const BOUNDARY_MICROSECONDS = 500;

/** A scheme on the device, with the boundaries that it has solved. */
interface OpenScheme {
  readonly table: SchemeTable;
  readonly tableBuffer: DeviceBuffer;
  readonly series: DeviceBuffer;
  /** The size of Newton's last step by slot; NaN where a boundary is not solved. */
  readonly lastSteps: Float64Array;
  /** ln(B(0)/B(T)) by slot. */
  readonly lastDistances: Float64Array;
}

/**
 * A cache of exercise boundaries on the device. Each boundary is solved once with each scheme, from the coarsest to the
 * finest. Each scheme starts from the result of the one before, so that a boundary does not depend on other requests.
 * The cache is cleared when it has too many boundaries.
 */
export class BoundaryCache implements Disposable {
  readonly #device: Device;
  #capacity = 0;
  /** The slot of each boundary, by its inputs. */
  #slots = new TupleNumbers(BOUNDARY_INPUTS);
  #model: DeviceBuffer | undefined;
  #schemes: OpenScheme[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  /** The largest number of boundaries in the cache, which is the distance between columns of `model`. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The inputs of all boundaries: `BOUNDARY_INPUTS` columns, indexed by the boundary's slot. */
  get model(): DeviceBuffer {
    return this.#model!;
  }

  /**
   * Returns the index in the cache (slot) of each boundary with given inputs, `BOUNDARY_INPUTS` numbers each.
   * Boundaries that are not in the cache are added. Slots returned earlier may become invalid.
   */
  slotsOf(boundaries: ArrayLike<number>): Int32Array {
    const count = boundaries.length / BOUNDARY_INPUTS;
    const slots = new Int32Array(count);
    let missing = 0;
    for (let i = 0; i < count; i++) {
      slots[i] = this.#slots.find(boundaries, i * BOUNDARY_INPUTS);
      if (slots[i] < 0) missing++;
    }
    if (this.#slots.size + missing > this.#capacity) {
      this.#reset(count);
      slots.fill(-1);
    }
    const first = this.#slots.size;
    /** The indices of those that are added, in the order of their slots. */
    const added: number[] = [];
    for (let i = 0; i < count; i++) {
      if (slots[i] >= 0) continue;
      slots[i] = this.#slots.add(boundaries, i * BOUNDARY_INPUTS);
      if (slots[i] === first + added.length) added.push(i);
    }
    for (let k = 0; k < BOUNDARY_INPUTS && added.length > 0; k++) {
      const column = Float64Array.from(added, (i) => boundaries[i * BOUNDARY_INPUTS + k]);
      this.#device.write(this.model, column, k * this.#capacity + first);
    }
    return slots;
  }

  /** Solves boundaries with a scheme and all coarser ones, unless they are solved already. */
  async solve(slots: ReadonlySet<number>, scheme: number): Promise<void> {
    for (let at = 0; at <= scheme; at++) {
      const { lastSteps } = this.scheme(at);
      const missing: number[] = [];
      for (const slot of slots) if (Number.isNaN(lastSteps[slot])) missing.push(slot);
      if (missing.length > 0) await this.#solve(Int32Array.from(missing), at);
    }
  }

  /** Tells whether Newton's method has converged for a boundary with a scheme that was solved. */
  hasConverged(slot: number, scheme: number): boolean {
    return this.scheme(scheme).lastSteps[slot] <= SCHEMES[scheme].lastStep;
  }

  scheme(number: number): OpenScheme {
    for (let next = this.#schemes.length; next <= number; next++) this.#schemes.push(this.#open(next));
    return this.#schemes[number];
  }

  async #solve(slots: Int32Array, scheme: number): Promise<void> {
    const device = this.#device;
    // One vector at a time is compiled fastest, and runs as fast as more: it is a large kernel for few items.
    const compiled = await device.compile(boundaryKernel, { precision: "f64", vectors: 1 });
    const { table, tableBuffer, series, lastSteps, lastDistances } = this.scheme(scheme);
    const before = scheme === 0 ? undefined : this.scheme(scheme - 1);
    const { nodes, points, lastStep } = table.size;
    using items = createBufferOf(device, "i32", slots);
    using steps = device.createBuffer("f64", 2 * slots.length);
    const { roots, quadrature, interpolation, coefficients } = table;
    const sizes = { nodes, points, roots, quadrature, interpolation, coefficients, lastStep };
    device.launch(
      compiled,
      {
        ...sizes,
        count: slots.length,
        stride: this.#capacity,
        slots: items,
        table: tableBuffer,
        input: this.model,
        fromNodes: before?.table.size.nodes ?? 0,
        fromRoot: before?.table.values[before.table.roots] ?? 0,
        from: before?.series ?? tableBuffer, // with `fromNodes` 0 nothing is read from it
        output: series,
        steps,
      },
      { items: slots.length, microsecondsEach: BOUNDARY_MICROSECONDS },
    );
    const last = await device.read(steps);
    slots.forEach((slot, i) => {
      lastSteps[slot] = last[i];
      lastDistances[slot] = last[slots.length + i];
    });
  }

  #open(number: number): OpenScheme {
    const device = this.#device;
    const table = schemeTable(number);
    const tableBuffer = createBufferOf(device, "f64", table.values);
    const series = device.createBuffer("f64", this.#capacity * boundaryOutputs(table.size.nodes));
    const lastSteps = new Float64Array(this.#capacity).fill(Number.NaN);
    return { table, tableBuffer, series, lastSteps, lastDistances: new Float64Array(this.#capacity) };
  }

  #reset(needed: number): void {
    this[Symbol.dispose]();
    this.#slots = new TupleNumbers(BOUNDARY_INPUTS);
    this.#capacity = Math.max(needed > USUAL ? MOST : USUAL, 2 ** Math.ceil(Math.log2(needed)));
    this.#model = this.#device.createBuffer("f64", BOUNDARY_INPUTS * this.#capacity);
  }

  [Symbol.dispose](): void {
    this.#model?.[Symbol.dispose]();
    for (const { tableBuffer, series } of this.#schemes) {
      tableBuffer[Symbol.dispose]();
      series[Symbol.dispose]();
    }
    this.#schemes = [];
  }
}
