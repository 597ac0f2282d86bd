/** Launches of Black, Derman and Toy's lattice. */
import { type Device, uploaded } from "../../device/index.ts";
import { hostReal, type Precision } from "../../kernel/index.ts";
import { LATTICE_ARRAYS, latticeKernel } from "./lattice.ts";
import { packTrades, type ShortRateTrade } from "./terms.ts";

/** A claim whose dates are whole numbers of years, and the curve to which its lattice is fitted. */
export interface LatticeInstance {
  readonly trade: ShortRateTrade;
  /** The yields, annually compounded, and their volatilities for 1, 2, … years, at least up to the last payment. */
  readonly yields: readonly (readonly [yieldOf: number, volatility: number])[];
}

/** The values of claims and the rates of their lattices. */
export interface LatticeValues {
  /** The values, NaN where no lattice reproduces the yields. */
  readonly values: Float64Array;
  /** Returns the lowest rate of each period of an instance, and the ratio of successive rates. */
  readonly ratesOf: (instance: number) => readonly (readonly [lowest: number, factor: number])[];
}

/** An engine that values claims on whole years in the model of Black, Derman and Toy, on a device. */
export class LatticeEngine {
  readonly #device: Device;
  readonly #precision: Precision;

  constructor(device: Device, precision: Precision = "f64") {
    this.#device = device;
    this.#precision = precision;
  }

  async values(list: readonly LatticeInstance[]): Promise<LatticeValues> {
    const device = this.#device;
    const precision = this.#precision;
    const real = hostReal(precision);
    const kernel = await device.compile(latticeKernel, { precision, vectors: 1 });
    const packed = packTrades(list.map(({ trade }) => trade));
    const periods = list.map(({ trade: { flows } }) => Math.round(flows[flows.length - 1][0]));
    const most = Math.max(1, ...periods) + 1;
    let next = 0;
    const instances = periods.flatMap((count, k) => {
      const first = next;
      next += 2 * count;
      return [k, first, count];
    });
    const count = list.length;
    const block = device.backend === "cpu" ? 2 : 32;
    using instanceBuffer = uploaded(device, "i32", Int32Array.from(instances));
    using trades = uploaded(device, "i32", packed.trades);
    using flows = uploaded(device, real, packed.flows);
    using dates = uploaded(device, real, packed.dates);
    using yields = uploaded(
      device,
      real,
      Float64Array.from(list.flatMap(({ yields: all }, k) => all.slice(0, periods[k]).flat())),
    );
    using work = device.createBuffer(real, Math.ceil(Math.max(count, 1) / block) * block * LATTICE_ARRAYS * most);
    using output = device.createBuffer(real, Math.max(count, 1));
    using rates = device.createBuffer(real, Math.max(count, 1) * 2 * most);
    device.launch(
      kernel,
      { count, block, most, instances: instanceBuffer, trades, flows, dates, yields, work, output, rates },
      { items: count, microsecondsEach: 0.3 * most * most },
    );
    const values = Float64Array.from(await device.read(output));
    const all = await device.read(rates);
    const ratesOf = (k: number): (readonly [number, number])[] =>
      Array.from({ length: periods[k] }, (_, i) => [all[2 * (k * most + i)], all[2 * (k * most + i) + 1]] as const);
    return { values, ratesOf };
  }
}
