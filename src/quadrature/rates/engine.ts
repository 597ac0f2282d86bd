/** Launches of the short-rate recursion: instances of one size together, in pieces that fit into memory. */
import {
  type Device,
  type DeviceBuffer,
  maxInstancesPerLaunch,
  TemporaryBuffers,
  createBufferOf,
} from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import { hostRealType, type Kernel, type Precision } from "../../kernel/index.ts";
import { keyOf } from "../../base/memoize.ts";
import { lagrangeCoefficients } from "./kink.ts";
import { DATE_REALS, NODE_ARRAYS, dateNodes, inductionKernel } from "./recursion.ts";
import {
  type GaussianMarket,
  MAX_LOG_CHANGE,
  type ShortRateInstance,
  packBonds,
  packMarkets,
  packTrades,
  type ShortRateTrade,
} from "./terms.ts";
import { decayIntegral, stepVariance } from "./gaussian.ts";

/** The resolution of the grid of a backward induction. */
export interface InductionResolution {
  /** The number of nodes per standard deviation of a step between dates. */
  readonly density: number;
  /** The number of standard deviations included on each side. */
  readonly reach: number;
}

/**
 * The maximum number of nodes at a date. It is exceeded if two dates are too close to each other relative to their
 * distance from today.
 */
export const MAX_DATE_NODES = 16385;

/** The sizes of an instance; those of the same sizes share a launch. */
interface RecursionSizes {
  /** The room for nodes by the names of the kernel's parameters, and in all. */
  readonly room: Readonly<Record<string, number>>;
  readonly nodes: number;
  readonly mostDates: number;
}

/** A backward induction from date to date under one kind of short rate. */
export interface BackwardInduction<M> {
  readonly kernel: Kernel;
  /** The number of reals kept for a date. */
  readonly record: number;
  /** The computing time of a node at a date, in microseconds. */
  readonly microseconds: number;
  /** Returns the markets' arrays by the names of the kernel's parameters. */
  readonly packed: (markets: readonly M[]) => { readonly markets?: Int32Array; readonly parameters: Float64Array };
  /** Returns the function that computes the sizes of an instance. */
  readonly sizesIn: (
    trades: readonly ShortRateTrade[],
    markets: readonly M[],
    resolution: InductionResolution,
  ) => (instance: ShortRateInstance) => RecursionSizes;
}

/**
 * An engine on a device that values bonds and options with exercise dates under a Gaussian short rate, by backward
 * induction from date to date.
 */
export class BackwardInductionEngine<M extends Pick<GaussianMarket, "logDiscount">> implements Disposable {
  readonly #recursion: BackwardInduction<M>;
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #table: DeviceBuffer;

  constructor(recursion: BackwardInduction<M>, device: Device, precision: Precision = "f64") {
    this.#recursion = recursion;
    this.#device = device;
    this.#precision = precision;
    this.#table = createBufferOf(device, hostRealType(precision), lagrangeCoefficients());
  }

  /**
   * Returns the values at time 0 of the instances, in the trades' currency. @throws SpecError two dates of a trade are
   * too close to each other; the signal's reason
   */
  async values(
    trades: readonly ShortRateTrade[],
    markets: readonly M[],
    instances: readonly ShortRateInstance[],
    resolution: InductionResolution,
    signal?: AbortSignal,
  ): Promise<Float64Array> {
    const device = this.#device;
    const precision = this.#precision;
    const real = hostRealType(precision);
    const { kernel: recursion, record, microseconds, packed, sizesIn } = this.#recursion;
    const kernel = await device.compile(recursion, { precision, vectors: 1 });
    using shared = new TemporaryBuffers(device);
    const { trades: claims, flows, dates } = packTrades(trades);
    const { markets: heads, parameters } = packed(markets);
    const terms = {
      trades: shared.filled("i32", claims),
      flows: shared.filled(real, flows),
      dates: shared.filled(real, dates),
      parameters: shared.filled(real, parameters),
      table: this.#table,
      ...(heads === undefined ? {} : { markets: shared.filled("i32", heads) }),
    };
    const values = new Float64Array(instances.length);
    const block = device.backend === "cpu" ? 2 : 32;
    const { density, reach } = resolution;
    const realsOf = ({ nodes, mostDates }: RecursionSizes): number => NODE_ARRAYS * nodes + record * mostDates;
    for (const { members, sizes } of launchesOf(device, instances, sizesIn(trades, markets, resolution), realsOf)) {
      signal?.throwIfAborted();
      const count = members.length;
      const { room, nodes, mostDates } = sizes;
      const own = packBonds(trades, markets, instances, members);
      using list = createBufferOf(device, "i32", own.instances);
      using bonds = createBufferOf(device, real, own.bonds);
      using work = device.createBuffer(real, Math.ceil(count / block) * block * realsOf(sizes));
      using output = device.createBuffer(real, count);
      device.launch(
        kernel,
        { count, block, ...room, mostDates, density, reach, ...terms, instances: list, bonds, work, output },
        { items: count, microsecondsEach: microseconds * nodes * (1 + mostDates) },
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
  readonly sizes: RecursionSizes;
}

/** Groups instances of the same sizes into launches that fit into memory, given the reals that each takes. */
function launchesOf(
  device: Device,
  instances: readonly ShortRateInstance[],
  sizesOf: (instance: ShortRateInstance) => RecursionSizes,
  realsOf: (sizes: RecursionSizes) => number,
): readonly Launch[] {
  const groups = new Map<string, { members: number[]; sizes: RecursionSizes }>();
  let previous: RecursionSizes | undefined;
  let key = "";
  for (let k = 0; k < instances.length; k++) {
    const sizes = sizesOf(instances[k]);
    // The instances of a trade mostly share one object.
    if (sizes !== previous) [key, previous] = [keyOf(sizes), sizes];
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [k], sizes });
    else group.members.push(k);
  }
  return [...groups.values()].flatMap(({ members, sizes }) => {
    const most = Math.max(64, maxInstancesPerLaunch(device, 8 * realsOf(sizes)));
    const pieces = Math.ceil(members.length / most);
    return Array.from({ length: pieces }, (_, p) => ({ sizes, members: members.slice(p * most, (p + 1) * most) }));
  });
}

/** The backward induction under Gaussian short rates of one factor. */
export const oneFactorInduction: BackwardInduction<GaussianMarket> = {
  kernel: inductionKernel,
  record: DATE_REALS,
  microseconds: 0.02,
  packed: packMarkets,
  sizesIn,
};

/** The nodes and dates of an instance, within a factor of 2. @throws SpecError dates too close to each other */
function sizesIn(
  trades: readonly ShortRateTrade[],
  markets: readonly GaussianMarket[],
  resolution: InductionResolution,
): (instance: ShortRateInstance) => RecursionSizes {
  // Instances that differ in their curve only need the same nodes.
  const dynamics = dynamicsOf(markets);
  let previous: ShortRateInstance | undefined;
  let sizes: RecursionSizes = { room: {}, nodes: 0, mostDates: 0 };
  return (instance) => {
    const { trade, market } = instance;
    if (trade === previous?.trade && dynamics[market] === dynamics[previous.market]) return sizes;
    const needed = maxNodesOf(trades[trade], markets[market], resolution);
    previous = instance;
    if (needed > MAX_DATE_NODES)
      throw new SpecError(
        `trade ${trade}: dates of exercise that are too close to each other: ${needed} nodes, at most ${MAX_DATE_NODES}; ` +
          "leave out some of the dates",
      );
    const capacity = roundedNodeCount(needed);
    sizes = { room: { capacity }, nodes: capacity, mostDates: roundedNodeCount(trades[trade].dates.length) };
    return sizes;
  };
}

/** Returns the maximum number of nodes at any date of a trade, by the functions of the kernel. */
export function maxNodesOf(
  { dates, flows }: ShortRateTrade,
  market: GaussianMarket,
  { density, reach }: InductionResolution,
): number {
  const { markets, parameters } = packMarkets([market]);
  const packed = { parameters, start: markets[0], pieces: markets[1] };
  const a = market.meanReversion;
  const terminal = flows[flows.length - 1][0];
  let most = 3;
  let [before, variance, step] = [0, 0, 0];
  /** Counts the nodes at the last date, given the deviation and the decay of the step after it. */
  const count = (after: number): void => {
    if (before <= 0) return;
    const weight = decayIntegral(a, terminal - before);
    const width = Math.min(step, after, MAX_LOG_CHANGE / Math.max(Math.abs(weight), 1e-30)) / density;
    most = Math.max(most, dateNodes({ variance, width, difference: weight, reach, capacity: 2 ** 30 + 1 }).count);
  };
  for (const { time } of dates) {
    const decay = Math.exp(-a * (time - before));
    const own = stepVariance({ market: packed, t: before, s: time });
    count(Math.sqrt(own) / decay);
    variance = decay * decay * variance + own;
    step = Math.sqrt(own);
    before = time;
  }
  count(Number.POSITIVE_INFINITY);
  return most;
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

/**
 * Returns the smallest power of 2 plus one that is at least `count`; it is odd, as numbers of nodes are, and at least
 * 9.
 */
export const roundedNodeCount = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(count - 1, 8))) + 1;
