/** Black, Derman and Toy's lattice: fitted to yields and their volatilities, and gone back for claims with rights. */
import { fn, i32, kernel, read, real, record, write, hostRealType, type Precision } from "../../kernel/index.ts";
import { InstanceArrays } from "./kink.ts";
import {
  EXERCISE_DATE_REALS,
  FLOW_REALS,
  NO_EXERCISE_PRICE,
  TRADE_INTEGERS,
  packTrades,
  type ShortRateTrade,
} from "./terms.ts";
import { type Device, createBufferOf } from "../../device/index.ts";

/** The number of integers of an instance: trade, first of its yields, periods. */
const LATTICE_WIDTH = 3;
/**
 * The number of arrays with one real a period: state prices from both nodes of year 1, values, the claim, lowest rate,
 * spread.
 */
const LATTICE_ARRAYS = 6;

/** One period: its lowest rate r, and the factor e^{2s} from one rate to the next. */
const Period = record({ lowest: real, factor: real });

/** Σ Qⱼ/(1 + r·fʲ) over j = 0 … i, and its derivatives with respect to ln r and ln f. */
const bondFrom = fn({
  name: "bondFrom",
  params: { room: InstanceArrays, slot: i32, period: i32, rates: Period },
  body({ room: { work, origin, block }, slot, period, rates: { lowest, factor } }, gpu) {
    let rate = lowest;
    let value = 0.0;
    let byLowest = 0.0;
    let byFactor = 0.0;
    for (let j = 0; j <= period; j++) {
      const discount = 1 / (1 + rate);
      const part = work[origin + (slot + j) * block] * discount;
      const slope = -part * discount * rate;
      value += part;
      byLowest += slope;
      byFactor += slope * gpu.real(j);
      rate *= factor;
    }
    return { value, byLowest, byFactor };
  },
});

/** State prices one period later, in place: half of each discounted price goes to each of two nodes. */
const advance = fn({
  name: "advance",
  params: { room: InstanceArrays, slot: i32, period: i32, rates: Period },
  body({ room: { work, origin, block }, slot, period, rates: { lowest, factor } }) {
    let below = 0.0;
    let rate = lowest;
    for (let j = 0; j <= period; j++) {
      const at = origin + (slot + j) * block;
      const half = (0.5 * work[at]) / (1 + rate);
      work[at] = below + half;
      below = half;
      rate *= factor;
    }
    work[origin + (slot + period + 1) * block] = below;
  },
});

/**
 * The kernel of values of claims with rights on whole years in the model of Black, Derman and Toy (1990), as published:
 * periods of a year, probabilities ½, rates r(i, j) = r(i, 0)·e^{2·sᵢ·j} annually compounded.
 *
 * Each period's rates meet the yield yₙ of n = i + 1 years and its volatility σₙ = ½·ln(y_up/y_down). Both bond prices
 * of year 1 follow from these two, and with state prices from both nodes of year 1 (Jamshidian 1991) they are two
 * equations in r(i, 0) and sᵢ, solved by Newton's method. Accuracy: rounding. Cost: about 20·n² operations for n years.
 *
 * One item an instance. `yields` has yₙ and σₙ of each of its periods. `output[l]` is the value, NaN where no lattice
 * meets the yields. `rates` has the lowest
 * rates and the factors, [item][period][2].
 */
const latticeKernel = kernel({
  name: "Black-Derman-Toy lattice",
  params: {
    count: i32,
    block: i32,
    most: i32,
    instances: read(i32),
    trades: read(i32),
    flows: read(real),
    dates: read(real),
    yields: read(real),
    work: write(real),
    output: write(real),
    rates: write(real),
  },
  env: {
    advance,
    bondFrom,
    LATTICE_ARRAYS,
    LATTICE_WIDTH,
    TRADE_INTEGERS,
    FLOW_REALS,
    EXERCISE_DATE_REALS,
    NO_EXERCISE_PRICE,
  },
  body({ count, block, most, instances, trades, flows, dates, yields, work, output, rates }, gpu, env) {
    const l = gpu.globalId();
    if (l >= count) return;
    const group = (l / block) | 0;
    const origin = group * block * env.LATTICE_ARRAYS * most + (l - group * block);
    const room = { work, origin, block };
    const UP = 0;
    const DOWN = most;
    const VALUE = 2 * most;
    const CLAIM = 3 * most;
    const LOWEST = 4 * most;
    const FACTOR = 5 * most;
    const head = l * env.LATTICE_WIDTH;
    const trade = instances[head] * env.TRADE_INTEGERS;
    const first = instances[head + 1];
    const periods = instances[head + 2];

    // Rates of the first period, and state prices of year 1 from its two nodes.
    const today = yields[first];
    let rate = today;
    let factor = 1.0;
    let isMet = today > 0;
    work[origin + LOWEST * block] = today;
    work[origin + FACTOR * block] = 1.0;
    work[origin + UP * block] = 0.0;
    work[origin + (UP + 1) * block] = 1.0;
    work[origin + DOWN * block] = 1.0;
    work[origin + (DOWN + 1) * block] = 0.0;
    for (let i = 1; i < periods; i++) {
      const yieldToEnd = yields[first + 2 * i];
      const spread = Math.exp(2 * yields[first + 2 * i + 1]);
      const years = gpu.real(i);
      const both = 2 * Math.exp(-(years + 1) * Math.log1p(yieldToEnd)) * (1 + today);
      // The lower yield of year 1: convex and decreasing, so that Newton's method from the left goes to the root.
      let low = yieldToEnd / (spread * spread);
      for (let step = 0; step < 60; step++) {
        const down = Math.exp(-years * Math.log1p(low));
        const up = Math.exp(-years * Math.log1p(low * spread));
        const slope = -years * (down / (1 + low) + (up * spread) / (1 + low * spread));
        low -= (up + down - both) / slope;
      }
      const bondUp = Math.exp(-years * Math.log1p(low * spread));
      const bondDown = Math.exp(-years * Math.log1p(low));
      if (i === 1) {
        rate = low;
        factor = spread;
      }
      let size = 1.0;
      for (let step = 0; step < 100 && size > 1e-15; step++) {
        const at = { lowest: rate, factor };
        const up = env.bondFrom({ room, slot: UP, period: i, rates: at });
        const down = env.bondFrom({ room, slot: DOWN, period: i, rates: at });
        const determinant = up.byLowest * down.byFactor - up.byFactor * down.byLowest;
        const offUp = bondUp - up.value;
        const offDown = bondDown - down.value;
        const byRate = (offUp * down.byFactor - offDown * up.byFactor) / determinant;
        const byFactor = (offDown * up.byLowest - offUp * down.byLowest) / determinant;
        const limit = Math.min(1, 0.5 / Math.max(Math.abs(byRate), Math.abs(byFactor)));
        rate *= Math.exp(limit * byRate);
        factor *= Math.exp(limit * byFactor);
        const now = Math.max(Math.abs(byRate), Math.abs(byFactor));
        // Rounding keeps steps from becoming smaller at some point.
        size = step > 8 && now < 1e-12 ? 0.0 : now;
      }
      isMet = isMet && low > 0 && size < 1e-9 && rate > 0;
      work[origin + (LOWEST + i) * block] = rate;
      work[origin + (FACTOR + i) * block] = factor;
      env.advance({ room, slot: UP, period: i, rates: { lowest: rate, factor } });
      env.advance({ room, slot: DOWN, period: i, rates: { lowest: rate, factor } });
    }
    for (let i = 0; i < periods; i++) {
      rates[2 * (l * most + i)] = work[origin + (LOWEST + i) * block];
      rates[2 * (l * most + i) + 1] = work[origin + (FACTOR + i) * block];
    }

    const firstFlow = trades[trade];
    const firstDate = trades[trade + 2];
    const side = gpu.real(trades[trade + 4]);
    let flow = firstFlow + trades[trade + 1] - 1;
    let date = firstDate + trades[trade + 3] - 1;
    for (let j = 0; j <= periods; j++) {
      work[origin + (VALUE + j) * block] = 0.0;
      work[origin + (CLAIM + j) * block] = 0.0;
    }
    for (let i = periods; i >= 0; i--) {
      const time = gpu.real(i);
      let cash = 0.0;
      while (flow >= firstFlow && flows[flow * env.FLOW_REALS] > time - 0.5) {
        cash += flows[flow * env.FLOW_REALS + 1];
        flow--;
      }
      const hasRight = date >= firstDate && dates[date * env.EXERCISE_DATE_REALS] > time - 0.5;
      const floor = hasRight ? dates[date * env.EXERCISE_DATE_REALS + 3] : -env.NO_EXERCISE_PRICE;
      const cap = hasRight ? dates[date * env.EXERCISE_DATE_REALS + 4] : env.NO_EXERCISE_PRICE;
      if (hasRight) date--;
      let own = i < periods ? work[origin + (LOWEST + i) * block] : 0.0;
      const spread = i < periods ? work[origin + (FACTOR + i) * block] : 1.0;
      for (let j = 0; j <= i; j++) {
        const at = origin + (VALUE + j) * block;
        const other = origin + (CLAIM + j) * block;
        const half = 0.5 / (1 + own);
        const held = i < periods ? half * (work[at] + work[at + block]) : 0.0;
        const claim = i < periods ? half * (work[other] + work[other + block]) : 0.0;
        let exercised = floor;
        if (side !== 0) exercised = hasRight ? side * (claim - floor) : -env.NO_EXERCISE_PRICE;
        work[at] = Math.max(exercised, Math.min(held, cap)) + (side === 0 ? cash : 0.0);
        work[other] = claim + cash;
        own *= spread;
      }
    }
    output[l] = isMet ? work[origin + VALUE * block] : NaN;
  },
});

/** A claim whose dates are whole numbers of years, and the curve to which its lattice is fitted. */
export interface LatticeInstance {
  readonly trade: ShortRateTrade;
  /** The yields, annually compounded, and their volatilities for 1, 2, … years, at least up to the last payment. */
  readonly yields: readonly (readonly [yieldOf: number, volatility: number])[];
}

/** The values of claims and the rates of their lattices. */
interface LatticeValues {
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
    const real = hostRealType(precision);
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
    using instanceBuffer = createBufferOf(device, "i32", Int32Array.from(instances));
    using trades = createBufferOf(device, "i32", packed.trades);
    using flows = createBufferOf(device, real, packed.flows);
    using dates = createBufferOf(device, real, packed.dates);
    using yields = createBufferOf(
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
