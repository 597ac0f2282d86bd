import { type Device, createBufferOf } from "../../../device/index.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { EXCHANGE, EXCHANGE_OUTPUTS, exchangeKernel, FLOW_OUTPUTS } from "../../../market/models/index.ts";

/**
 * The values of options that exchange flows for a fixed amount, and their derivatives with respect to the amounts and
 * the standard deviations of the flows. Options and flows are given by index.
 */
export interface ExchangeValues {
  /** Returns the value of an option. */
  readonly value: (option: number) => number;
  /** Returns the error estimate of the quadrature for an option. */
  readonly quadrature: (option: number) => number;
  /** Returns the derivative of an option's value with respect to its fixed amount. */
  readonly toStrike: (option: number) => number;
  /**
   * Returns the derivative with respect to the amount of a flow. `toAcross` and `toAlong` return the derivatives with
   * respect to its two standard deviations, across and along the direction of the inner integral.
   */
  readonly toFlow: (option: number, flow: number) => number;
  readonly toAcross: (option: number, flow: number) => number;
  readonly toAlong: (option: number, flow: number) => number;
}

/** The options that are priced by one launch of `exchangeKernel`. */
export class ExchangeBatch {
  /** The strike, the sign, the kind and the unit of each option. */
  readonly #strikes: number[] = [];
  readonly #signs: number[] = [];
  readonly #kinds: number[] = [];
  readonly #units: number[] = [];
  readonly #first: number[] = [0];
  /** The amount of each flow and its deviations α and β. */
  readonly #amounts: number[] = [];
  readonly #across: number[] = [];
  readonly #along: number[] = [];

  get count(): number {
    return this.#strikes.length;
  }

  /** Adds a flow of the option that the next call of `add` adds. */
  addFlow(amount: number, across: number, along: number): void {
    this.#amounts.push(amount);
    this.#across.push(across);
    this.#along.push(along);
  }

  add(strike: number, sign: 1 | -1, kind: (typeof EXCHANGE)[keyof typeof EXCHANGE]): void {
    // In units of the largest amount, so that f32 has room for any notional.
    let unit = Math.abs(strike);
    for (let j = this.#first[this.count]; j < this.#amounts.length; j++)
      unit = Math.max(unit, Math.abs(this.#amounts[j]));
    this.#strikes.push(strike);
    this.#signs.push(sign);
    this.#kinds.push(kind);
    this.#units.push(unit || 1);
    this.#first.push(this.#amounts.length);
  }

  /** Prices the options; their indices are the order in which they were added. */
  async run(device: Device, precision: Precision): Promise<ExchangeValues> {
    const [count, total] = [this.count, this.#amounts.length];
    const [units, kinds, firsts] = [this.#units, this.#kinds, this.#first];
    const options = new Float64Array(3 * count);
    const flows = new Float64Array(3 * total);
    for (let i = 0; i < count; i++) {
      options[i] = this.#strikes[i] / units[i];
      for (let j = firsts[i]; j < firsts[i + 1]; j++) flows[j] = this.#amounts[j] / units[i];
    }
    options.set(this.#signs, count);
    options.set(kinds, 2 * count);
    flows.set(this.#across, total);
    flows.set(this.#along, 2 * total);
    const packed = { first: Int32Array.from(firsts), options, flows };
    const [found, slope] = await launchOptions(device, precision, EXCHANGES, packed);
    const toFlow = (k: number, i: number, j: number): number => slope[k * total + firsts[i] + j];
    const value = (i: number): number => found[i] * units[i];
    return {
      value,
      // The rule with every other node has twice the step: the error falls with the square of its exponent.
      quadrature: (i) =>
        kinds[i] === EXCHANGE.twoFactors ? 0.1 * Math.abs(value(i) - found[2 * count + i] * units[i]) : 0,
      toStrike: (i) => found[count + i],
      toFlow: (i, j) => toFlow(0, i, j),
      toAcross: (i, j) => toFlow(1, i, j) * units[i],
      toAlong: (i, j) => toFlow(2, i, j) * units[i],
    };
  }
}

/**
 * A kernel that prices options on flows, with the numbers of its outputs for each option and each flow, and its
 * expected cost for each option in microseconds.
 */
export interface OptionKernel {
  readonly kernel: typeof exchangeKernel;
  readonly outputs: number;
  readonly flowOutputs: number;
  readonly microseconds: number;
}

const EXCHANGES: OptionKernel = {
  kernel: exchangeKernel,
  outputs: EXCHANGE_OUTPUTS,
  flowOutputs: FLOW_OUTPUTS,
  microseconds: 2,
};

interface Packed {
  readonly first: Int32Array;
  readonly options: Float64Array;
  readonly flows: Float64Array;
}

/** Runs a kernel that prices options on flows, and returns its arrays `values` and `slopes`. */
export async function launchOptions(
  device: Device,
  precision: Precision,
  { kernel, outputs, flowOutputs, microseconds }: OptionKernel,
  packed: Packed,
) {
  const [count, total] = [packed.first.length - 1, packed.flows.length / 3];
  if (count === 0) return [new Float64Array(0), new Float64Array(0)] as const;
  const element = hostRealType(precision);
  const compiled = await device.compile(kernel, { precision });
  using first = createBufferOf(device, "i32", packed.first);
  using options = createBufferOf(device, element, packed.options);
  using flows = createBufferOf(device, element, packed.flows);
  using values = device.createBuffer(element, outputs * count);
  using slopes = device.createBuffer(element, flowOutputs * total);
  const args = { count, total, first, options, flows, values, slopes };
  device.launch(compiled, args, { items: count, microsecondsEach: microseconds });
  return [await device.read(values), await device.read(slopes)] as const;
}
