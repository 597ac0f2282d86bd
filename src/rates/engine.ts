/** Launches of the short-rate recursion: instances of one size together, in pieces that fit into memory. */
import { type Device, type DeviceBuffer, instancesThatFit, uploaded } from "../device/index.ts";
import { SpecError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import { lagrangeCoefficients } from "./kink.ts";
import { DATE_RECORD, NODE_ARRAYS, recursionKernel } from "./recursion.ts";
import {
  type GaussianMarket,
  type ShortRateInstance,
  packBonds,
  packMarkets,
  packTrades,
  type ShortRateTrade,
} from "./terms.ts";
import { nodesNeeded } from "./sizes.ts";

/** The fineness of the recursion. */
export interface Fineness {
  /** The number of nodes per standard deviation of a step between dates. */
  readonly density: number;
  /** The number of standard deviations included on each side. */
  readonly reach: number;
}

/**
 * The maximum number of nodes of a date, exceeded when two dates are too close to each other relative to their distance
 * from today.
 */
export const mostNodes = 16385;

/** An engine that values claims with rights on dates under Gaussian short rates, on a device. */
export class ShortRateEngine implements Disposable {
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #element: "f32" | "f64";
  readonly #table: DeviceBuffer;

  constructor(device: Device, precision: Precision = "f64") {
    this.#device = device;
    this.#precision = precision;
    this.#element = precision === "f32" ? "f32" : "f64";
    this.#table = uploaded(device, this.#element, lagrangeCoefficients());
  }

  /**
   * Returns the values at time 0 of the instances, in the trades' currency. @throws SpecError two dates of a trade are
   * too close to each other; the signal's reason
   */
  async values(
    trades: readonly ShortRateTrade[],
    markets: readonly GaussianMarket[],
    instances: readonly ShortRateInstance[],
    { density, reach }: Fineness,
    signal?: AbortSignal,
  ): Promise<Float64Array> {
    const device = this.#device;
    const real = this.#element;
    const kernel = await device.compile(recursionKernel, { precision: this.#precision, vectors: 1 });
    const packed = packTrades(trades);
    const packedMarkets = packMarkets(markets);
    using tradeBuffer = uploaded(device, "i32", packed.trades);
    using flows = uploaded(device, real, packed.flows);
    using dates = uploaded(device, real, packed.dates);
    using marketBuffer = uploaded(device, "i32", packedMarkets.markets);
    using parameters = uploaded(device, real, packedMarkets.parameters);
    const values = new Float64Array(instances.length);
    const block = device.backend === "cpu" ? 2 : 32;
    const sizesOf = sizesIn(trades, markets, { density, reach });
    const realsOf = ([capacity, mostDates]: readonly [number, number]): number =>
      NODE_ARRAYS * capacity + DATE_RECORD * mostDates;
    for (const { members, sizes } of launchesOf(device, instances, sizesOf, realsOf)) {
      signal?.throwIfAborted();
      const count = members.length;
      const [capacity, mostDates] = sizes;
      const packedBonds = packBonds(trades, markets, instances, members);
      using numbers = uploaded(device, "i32", packedBonds.instances);
      using bonds = uploaded(device, real, packedBonds.bonds);
      using work = device.createBuffer(real, Math.ceil(count / block) * block * realsOf(sizes));
      using output = device.createBuffer(real, count);
      device.launch(
        kernel,
        {
          count,
          block,
          capacity,
          mostDates,
          density,
          reach,
          instances: numbers,
          trades: tradeBuffer,
          flows,
          dates,
          markets: marketBuffer,
          parameters,
          bonds,
          table: this.#table,
          work,
          output,
        },
        { items: count, microsecondsEach: 0.02 * capacity * (1 + mostDates) },
      );
      const read = await device.read(output);
      for (let l = 0; l < count; l++) values[members[l]] = read[l];
    }
    return values;
  }

  [Symbol.dispose](): void {
    this.#table[Symbol.dispose]();
  }
}

interface Launch<S> {
  readonly members: readonly number[];
  readonly sizes: S;
}

/** Groups instances of the same sizes into launches that fit into memory, given the reals that each takes. */
export function launchesOf<S extends readonly number[]>(
  device: Device,
  instances: readonly ShortRateInstance[],
  sizesOf: (instance: ShortRateInstance) => S,
  realsOf: (sizes: S) => number,
): readonly Launch<S>[] {
  const groups = new Map<number, { members: number[]; sizes: S }>();
  for (let k = 0; k < instances.length; k++) {
    const sizes = sizesOf(instances[k]);
    let key = 0;
    for (const size of sizes) key = key * 2 ** 17 + size;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [k], sizes });
    else group.members.push(k);
  }
  return [...groups.values()].flatMap(({ members, sizes }) => {
    const most = Math.max(64, instancesThatFit(device, 8 * realsOf(sizes)));
    const pieces = Math.ceil(members.length / most);
    return Array.from({ length: pieces }, (_, p) => ({ sizes, members: members.slice(p * most, (p + 1) * most) }));
  });
}

/** The nodes and dates of an instance, within a factor of 2. @throws SpecError dates too close to each other */
function sizesIn(
  trades: readonly ShortRateTrade[],
  markets: readonly GaussianMarket[],
  fineness: Fineness,
): (instance: ShortRateInstance) => readonly [capacity: number, mostDates: number] {
  // Instances that differ in their curve only need the same nodes.
  const dynamics = dynamicsOf(markets);
  let previous: ShortRateInstance | undefined;
  let sizes: readonly [number, number] = [0, 0];
  return (instance) => {
    const { trade, market } = instance;
    if (trade === previous?.trade && dynamics[market] === dynamics[previous.market]) return sizes;
    const needed = nodesNeeded(trades[trade], markets[market], fineness);
    previous = instance;
    if (needed > mostNodes)
      throw new SpecError(
        `trade ${trade}: dates of exercise that are too close to each other: ${needed} nodes, at most ${mostNodes}; ` +
          "leave out some of the dates",
      );
    sizes = [rounded(needed), rounded(trades[trade].dates.length)];
    return sizes;
  };
}

/** Numbers of the mean reversions and volatilities of markets: one for those that agree. */
function dynamicsOf(markets: readonly GaussianMarket[]): readonly number[] {
  const known = new Map<string, number>();
  return markets.map(({ meanReversion, volatility: { times, values } }) => {
    const key = `${meanReversion} ${times.join()} ${values.join()}`;
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  });
}

/** Returns the next power of 2 plus one, since numbers of nodes are odd. */
export const rounded = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(count - 1, 8))) + 1;
