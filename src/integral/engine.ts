import type { CompiledKernel, Device, DeviceBuffer } from "../device/index.ts";
import { BOUNDARY_INPUTS, BOUNDARY_OUTPUTS, boundaryKernel, LAST_STEP } from "./boundary.ts";
import { PREMIUM_OUTPUTS, premiumKernel } from "./premium.ts";
import { SCHEMES, type SchemeTable, schemeTable } from "./scheme.ts";

/** American puts on a strike of 1, an entry each; boundaries are shared. */
export interface Puts {
  /** ln S. */
  readonly logSpot: Float64Array;
  /** Years, above 0. */
  readonly expiry: Float64Array;
  /** The number of each one's boundary. */
  readonly boundary: Int32Array;
  /** `BOUNDARY_INPUTS` numbers of each boundary: r, q, σ, its longest expiry, and the sign of `boundaryKernel`. */
  readonly boundaries: readonly (readonly number[])[];
}

/** Values and derivatives on a strike of 1, with their error estimates. */
export class PutValues {
  /** [put][V, ∂V/∂S, ∂²V/∂S², ∂V/∂σ, ∂V/∂r or ∂V/∂q]. */
  readonly all: Float64Array;
  /** The error of V, absolute; infinite as long as there is none. */
  readonly estimate: Float64Array;
  /** The differences from the scheme before, entry by entry of `all`. */
  readonly change: Float64Array;

  constructor(count: number) {
    this.all = new Float64Array(count * PREMIUM_OUTPUTS).fill(Number.NaN);
    this.change = new Float64Array(count * PREMIUM_OUTPUTS).fill(Number.NaN);
    this.estimate = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  }
}

/** How much of the change of delta, over one standard deviation of S, counts as an error of V. */
const OF_DELTA = 0.6;

/** How many times the change of V counts: once is not enough for one of QuantLib's random options in the tests. */
const MARGIN = 1.5;

/** What a boundary and an option take one core by the finest scheme, about. */
const BOUNDARY_MICROSECONDS = 500;
const OPTION_MICROSECONDS = 20;

interface OpenScheme {
  readonly table: SchemeTable;
  readonly buffer: DeviceBuffer;
}

/** What a device needs to price American options by the integral equation. */
export class IntegralEngine implements Disposable {
  readonly #device: Device;
  readonly #schemes: (OpenScheme | undefined)[] = [];
  #kernels: Promise<readonly [CompiledKernel, CompiledKernel]> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /**
   * Prices those puts that `open` names, from a scheme to the next finer one, until `isEnough` is said of each or there
   * is none finer; gives those that are left. The error of a value is estimated as its change from one scheme to the
   * next 1.5 times, and 0.6 standard deviations of S times that of delta, since a change may vanish by chance at one
   * spot; where a boundary has not converged, nothing is known.
   * @throws the signal's reason
   */
  async solve(
    puts: Puts,
    open: Int32Array,
    values: PutValues,
    isEnough: (open: Int32Array) => Int32Array,
    signal?: AbortSignal,
  ): Promise<Int32Array> {
    let left = open;
    for (let scheme = 1; scheme < SCHEMES.length && left.length > 0; scheme++) {
      signal?.throwIfAborted();
      await this.#refine(puts, left, scheme, values);
      left = isEnough(left);
    }
    return left;
  }

  /** Values of some puts by a scheme, and their change from the one before. */
  async #refine(puts: Puts, open: Int32Array, scheme: number, values: PutValues): Promise<void> {
    const [boundaryCode, premiumCode] = await this.#compiled();
    const device = this.#device;
    const count = open.length;
    const { model, numbers, inputs } = boundariesOf(puts, open);
    using modelBuffer = device.createBuffer("f64", inputs.length);
    using boundary = device.createBuffer("i32", count);
    using option = device.createBuffer("f64", 2 * count);
    using coarseSeries = device.createBuffer("f64", model.length * BOUNDARY_OUTPUTS);
    using series = device.createBuffer("f64", model.length * BOUNDARY_OUTPUTS);
    using coarseOutput = device.createBuffer("f64", PREMIUM_OUTPUTS * count);
    using output = device.createBuffer("f64", PREMIUM_OUTPUTS * count);
    device.write(modelBuffer, inputs);
    device.write(boundary, numbers);
    device.write(option, optionsOf(puts, open));
    const launch = (at: number, from: DeviceBuffer, fromNodes: number, to: DeviceBuffer, into: DeviceBuffer): void => {
      const { table, buffer } = this.#scheme(at);
      const { nodes, points, premium, lastStep } = table.size;
      device.launch(
        boundaryCode,
        {
          count: model.length,
          nodes,
          points,
          roots: table.roots,
          quadrature: table.quadrature,
          interpolation: table.interpolation,
          coefficients: table.coefficients,
          lastStep,
          table: buffer,
          input: modelBuffer,
          fromNodes,
          from,
          output: to,
        },
        { items: model.length, microsecondsEach: BOUNDARY_MICROSECONDS },
      );
      device.launch(
        premiumCode,
        {
          count,
          boundaries: model.length,
          nodes,
          points: premium,
          rule: table.premium,
          table: buffer,
          model: modelBuffer,
          series: to,
          boundary,
          option,
          output: into,
        },
        { items: count, microsecondsEach: OPTION_MICROSECONDS },
      );
    };
    launch(scheme - 1, series, 0, coarseSeries, coarseOutput);
    launch(scheme, coarseSeries, SCHEMES[scheme - 1].nodes, series, output);
    const [before, after] = [await device.read(coarseOutput), await device.read(output)];
    const [coarseSteps, steps] = [await device.read(coarseSeries), await device.read(series)];
    const hasConverged = (number: number): boolean => {
      const at = number * BOUNDARY_OUTPUTS + LAST_STEP;
      return coarseSteps[at] <= SCHEMES[scheme - 1].lastStep && steps[at] <= SCHEMES[scheme].lastStep;
    };
    open.forEach((put, l) => {
      for (let k = 0; k < PREMIUM_OUTPUTS; k++) {
        values.all[put * PREMIUM_OUTPUTS + k] = after[k * count + l];
        values.change[put * PREMIUM_OUTPUTS + k] = after[k * count + l] - before[k * count + l];
      }
      const deviation = model[numbers[l]][2] * Math.sqrt(puts.expiry[put]) * Math.exp(puts.logSpot[put]);
      const estimate =
        SCHEMES[scheme].leastError +
        MARGIN * Math.abs(after[l] - before[l]) +
        OF_DELTA * deviation * Math.abs(after[count + l] - before[count + l]);
      values.estimate[put] = hasConverged(numbers[l]) && estimate >= 0 ? estimate : Number.POSITIVE_INFINITY;
    });
  }

  #compiled(): Promise<readonly [CompiledKernel, CompiledKernel]> {
    const device = this.#device;
    this.#kernels ??= Promise.all([
      // Large kernels for few items: on CPUs one vector at a time is compiled fastest, and runs as fast as more.
      device.compile(boundaryKernel, { precision: "f64", vectors: 1 }),
      device.compile(premiumKernel, { precision: "f64", vectors: 1 }),
    ]);
    return this.#kernels;
  }

  #scheme(number: number): OpenScheme {
    const known = this.#schemes[number];
    if (known !== undefined) return known;
    const table = schemeTable(SCHEMES[number]);
    const buffer = this.#device.createBuffer("f64", table.values.length);
    this.#device.write(buffer, table.values);
    return (this.#schemes[number] = { table, buffer });
  }

  [Symbol.dispose](): void {
    for (const scheme of this.#schemes) scheme?.buffer[Symbol.dispose]();
  }
}

/** The boundaries that some puts need, and the number that each one's has among them. */
function boundariesOf({ boundary, boundaries }: Puts, open: Int32Array) {
  const numberOf = new Int32Array(boundaries.length).fill(-1);
  const model: (readonly number[])[] = [];
  const numbers = open.map((put) => {
    const own = boundary[put];
    if (numberOf[own] < 0) numberOf[own] = model.push(boundaries[own]) - 1;
    return numberOf[own];
  });
  const inputs = new Float64Array(BOUNDARY_INPUTS * model.length);
  model.forEach((one, l) => {
    for (let k = 0; k < BOUNDARY_INPUTS; k++) inputs[k * model.length + l] = one[k];
  });
  return { model, numbers, inputs };
}

function optionsOf({ logSpot, expiry }: Puts, open: Int32Array): Float64Array {
  const options = new Float64Array(2 * open.length);
  open.forEach((put, l) => {
    options[l] = logSpot[put];
    options[open.length + l] = expiry[put];
  });
  return options;
}
