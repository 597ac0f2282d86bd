import type { Device } from "../../device/index.ts";
import { hostReal, type Precision } from "../../kernel/index.ts";
import { EXCHANGE, EXCHANGE_OUTPUTS, exchangeKernel, FLOW_OUTPUTS } from "../../models/index.ts";
import type { Deviation } from "./gaussian.ts";

/** One option of `exchangeKernel`. */
export interface Exchange {
  readonly strike: number;
  readonly sign: 1 | -1;
  readonly kind: (typeof EXCHANGE)[keyof typeof EXCHANGE];
  readonly amounts: readonly number[];
  /** α and β of each flow. */
  readonly deviations: readonly Deviation[];
}

/** The value of an option, with its derivatives by its amounts and by the deviations of its flows. */
export interface Exchanged {
  readonly value: number;
  readonly quadrature: number;
  readonly toStrike: number;
  readonly toFlows: readonly number[];
  readonly toAcross: readonly number[];
  readonly toAlong: readonly number[];
}

/** Options that are priced by one launch. */
export class ExchangeBatch {
  readonly #options: Exchange[] = [];

  add(option: Exchange): void {
    this.#options.push(option);
  }

  /** The options' values in the order in which they were added. */
  async run(device: Device, precision: Precision): Promise<readonly Exchanged[]> {
    const all = this.#options;
    const count = all.length;
    if (count === 0) return [];
    const first = new Int32Array(count + 1);
    all.forEach(({ amounts }, i) => (first[i + 1] = first[i] + amounts.length));
    const total = first[count];
    const options = new Float64Array(3 * count);
    const flows = new Float64Array(3 * total);
    // In units of the largest amount, so that f32 has room for any notional.
    const units = all.map(({ strike, amounts }) => Math.max(Math.abs(strike), ...amounts.map(Math.abs)) || 1);
    all.forEach(({ strike, sign, kind, amounts, deviations }, i) => {
      options[i] = strike / units[i];
      options[count + i] = sign;
      options[2 * count + i] = kind;
      amounts.forEach((amount, j) => {
        const at = first[i] + j;
        flows[at] = amount / units[i];
        [flows[total + at], flows[2 * total + at]] = deviations[j];
      });
    });
    const element = hostReal(precision);
    const kernel = await device.compile(exchangeKernel, { precision });
    using firsts = device.createBuffer("i32", count + 1);
    using inputs = device.createBuffer(element, options.length);
    using legs = device.createBuffer(element, flows.length);
    using values = device.createBuffer(element, EXCHANGE_OUTPUTS * count);
    using slopes = device.createBuffer(element, FLOW_OUTPUTS * total);
    device.write(firsts, first);
    device.write(inputs, options);
    device.write(legs, flows);
    const args = { count, total, first: firsts, options: inputs, flows: legs, values, slopes };
    device.launch(kernel, args, { items: count, microsecondsEach: 2 });
    const found = await device.read(values);
    const slope = await device.read(slopes);
    return all.map(({ kind, amounts }, i) => {
      const value = found[i] * units[i];
      const coarse = found[2 * count + i] * units[i];
      const part = (k: number): number[] => amounts.map((_, j) => slope[k * total + first[i] + j]);
      const scaled = (k: number): number[] => part(k).map((one) => one * units[i]);
      return {
        value,
        // The rule with every other node has twice the step: the error falls with the square of its exponent.
        quadrature: kind === EXCHANGE.twoFactors ? 0.1 * Math.abs(value - coarse) : 0,
        toStrike: found[count + i],
        toFlows: part(0),
        toAcross: scaled(1),
        toAlong: scaled(2),
      };
    });
  }
}
