/** Launches of the short-rate recursion: instances of one size together, in pieces that fit into memory. */
import type { CompiledKernel, Device, DeviceBuffer } from "../device/index.ts";
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
import { uploaded } from "./uploaded.ts";

/** The fineness of the recursion. */
export interface Fineness {
  /** Nodes in a deviation of a step from one date to the next. */
  readonly density: number;
  /** Deviations on both sides that count. */
  readonly reach: number;
}

/** Most nodes of a date: beyond, two dates are too close to each other for how far away they are. */
export const mostNodes = 16385;
/** Most bytes of node values in one launch. */
const LAUNCH_BYTES = 256 * 2 ** 20;

/** Values of claims with rights on dates under Gaussian short rates, on a device. */
export class ShortRateEngine implements Disposable {
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #element: "f32" | "f64";
  readonly #table: DeviceBuffer;
  #kernel: Promise<CompiledKernel<typeof recursionKernel.params>> | undefined;

  constructor(device: Device, precision: Precision = "f64") {
    this.#device = device;
    this.#precision = precision;
    this.#element = precision === "f32" ? "f32" : "f64";
    this.#table = uploaded(device, this.#element, lagrangeCoefficients());
  }

  /**
   * The values at time 0 of the instances, in the trades' currency.
   * @throws SpecError two dates of a trade are too close to each other; the signal's reason
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
    const kernel = await (this.#kernel ??= device.compile(recursionKernel, {
      precision: this.#precision,
      vectors: 1,
    }));
    const packed = packTrades(trades);
    const packedMarkets = packMarkets(markets);
    using tradeBuffer = uploaded(device, "i32", packed.trades);
    using flows = uploaded(device, real, packed.flows);
    using dates = uploaded(device, real, packed.dates);
    using marketBuffer = uploaded(device, "i32", packedMarkets.markets);
    using parameters = uploaded(device, real, packedMarkets.parameters);
    const values = new Float64Array(instances.length);
    const block = device.backend === "cpu" ? 2 : 32;
    for (const { members, capacity, mostDates } of launchesOf(trades, markets, instances, { density, reach })) {
      signal?.throwIfAborted();
      const count = members.length;
      const size = NODE_ARRAYS * capacity + DATE_RECORD * mostDates;
      const packedBonds = packBonds(trades, markets, instances, members);
      using numbers = uploaded(device, "i32", packedBonds.instances);
      using bonds = uploaded(device, real, packedBonds.bonds);
      using work = device.createBuffer(real, Math.ceil(count / block) * block * size);
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

interface Launch {
  readonly members: readonly number[];
  readonly capacity: number;
  readonly mostDates: number;
}

/** Instances with as many nodes and dates, within a factor of 2, side by side. */
function launchesOf(
  trades: readonly ShortRateTrade[],
  markets: readonly GaussianMarket[],
  instances: readonly ShortRateInstance[],
  fineness: Fineness,
): readonly Launch[] {
  const groups = new Map<number, { members: number[]; capacity: number; mostDates: number }>();
  // Instances that differ in their curve only need the same nodes.
  const dynamics = dynamicsOf(markets);
  let previous: ShortRateInstance | undefined;
  let needed = 0;
  instances.forEach((instance, k) => {
    const { trade, market } = instance;
    const { dates } = trades[trade];
    if (trade !== previous?.trade || dynamics[market] !== dynamics[previous.market])
      needed = nodesNeeded(trades[trade], markets[market], fineness);
    previous = instance;
    if (needed > mostNodes)
      throw new SpecError(
        `trade ${trade}: dates of exercise that are too close to each other: ${needed} nodes, at most ${mostNodes}; ` +
          "leave out some of the dates",
      );
    const capacity = rounded(needed);
    const mostDates = rounded(dates.length);
    const key = capacity * 2 ** 24 + mostDates;
    const group = groups.get(key) ?? { members: [], capacity, mostDates };
    groups.set(key, group);
    group.members.push(k);
  });
  return [...groups.values()].flatMap((group) => {
    const { capacity, mostDates, members } = group;
    const bytes = 8 * (NODE_ARRAYS * capacity + DATE_RECORD * mostDates);
    const most = Math.max(64, Math.floor(LAUNCH_BYTES / bytes));
    const pieces = Math.ceil(members.length / most);
    return Array.from({ length: pieces }, (_, p) => ({ ...group, members: members.slice(p * most, (p + 1) * most) }));
  });
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

/** One more than the next power of 2: odd, as counts of nodes are. */
const rounded = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(count - 1, 8))) + 1;
