/** Launches of the recursion in two factors. */
import { type Device, type DeviceBuffer, uploaded } from "../device/index.ts";
import { SpecError } from "../errors.ts";
import { hostReal, type Precision } from "../kernel/index.ts";
import { type Fineness, launchesOf, rounded } from "./engine.ts";
import { decayIntegral } from "./gaussian.ts";
import { lagrangeCoefficients } from "./kink.ts";
import { frameOf, planeNodes, stepCovariance, stepFrom } from "./plane.ts";
import { PLANE_RECORD, planeKernel } from "./plane-recursion.ts";
import { NODE_ARRAYS } from "./recursion.ts";
import { packBonds, packTrades, type ShortRateInstance, type ShortRateTrade } from "./terms.ts";

/** A market with two Gaussian factors, r = x + y + α(t), fitted to discount factors (G2++). */
export interface PlaneMarket {
  /** The mean reversion and volatility of x, then of y, and their correlation. */
  readonly parameters: readonly [a: number, sigma: number, b: number, eta: number, rho: number];
  /** Returns ln P(0, t). */
  readonly logDiscount: (t: number) => number;
}

/** Most nodes of a date. */
const MOST_NODES = 2 ** 18;

/** An engine that values claims with rights on dates in two factors, on a device. */
export class PlaneEngine implements Disposable {
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #table: DeviceBuffer;

  constructor(device: Device, precision: Precision = "f64") {
    this.#device = device;
    this.#precision = precision;
    this.#table = uploaded(device, hostReal(precision), lagrangeCoefficients());
  }

  /** Returns the values at time 0 of the instances, in the trades' currency. @throws the signal's reason */
  async values(
    trades: readonly ShortRateTrade[],
    markets: readonly PlaneMarket[],
    instances: readonly ShortRateInstance[],
    fineness: Fineness,
    signal?: AbortSignal,
  ): Promise<Float64Array> {
    const device = this.#device;
    const precision = this.#precision;
    const real = hostReal(precision);
    const kernel = await device.compile(planeKernel, { precision, vectors: 1 });
    const packed = packTrades(trades);
    using tradeBuffer = uploaded(device, "i32", packed.trades);
    using flows = uploaded(device, real, packed.flows);
    using dates = uploaded(device, real, packed.dates);
    const numbers = Float64Array.from(markets.flatMap(({ parameters: own }) => own));
    using parameters = uploaded(device, real, numbers);
    const values = new Float64Array(instances.length);
    const block = device.backend === "cpu" ? 2 : 32;
    const sizesOf = ({ trade, market }: ShortRateInstance): readonly [number, number, number] => {
      const [rows, columns] = planeNeeded(trades[trade], markets[market], fineness);
      return [rounded(rows), rounded(columns), rounded(trades[trade].dates.length)];
    };
    const realsOf = ([rows, columns, mostDates]: readonly [number, number, number]): number =>
      NODE_ARRAYS * rows * columns + PLANE_RECORD * mostDates;
    for (const { members, sizes } of launchesOf(device, instances, sizesOf, realsOf)) {
      signal?.throwIfAborted();
      const count = members.length;
      const [rows, columns, mostDates] = sizes;
      const packedBonds = packBonds(trades, markets, instances, members);
      using list = uploaded(device, "i32", packedBonds.instances);
      using bonds = uploaded(device, real, packedBonds.bonds);
      using work = device.createBuffer(real, Math.ceil(count / block) * block * realsOf(sizes));
      using output = device.createBuffer(real, count);
      const { density, reach } = fineness;
      const terms = { instances: list, trades: tradeBuffer, flows, dates, parameters, bonds, table: this.#table };
      device.launch(
        kernel,
        { count, block, rows, columns, mostDates, density, reach, ...terms, work, output },
        { items: count, microsecondsEach: 0.5 * rows * columns * (1 + mostDates) },
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

/** Checks that a claim does not need too many nodes. @throws SpecError the dates for which it does */
export function checkOnPlane(trade: ShortRateTrade, market: PlaneMarket, fineness: Fineness): void {
  const [rows, columns] = planeNeeded(trade, market, fineness);
  if (rows * columns > MOST_NODES)
    throw new SpecError(
      `dates of exercise too close to each other for how far away they are, or rho too close to ±1: ${rows} × ` +
        `${columns} nodes, at most ${MOST_NODES}; leave some of the dates out, or write hullWhite`,
    );
}

/** The most rows and columns of nodes at any date of a trade, by the functions of the kernel. */
function planeNeeded(
  { dates, flows }: ShortRateTrade,
  { parameters }: PlaneMarket,
  { density, reach }: Fineness,
): readonly [rows: number, columns: number] {
  const [a, , b] = parameters;
  const terminal = flows[flows.length - 1][0];
  const market = { parameters: Float64Array.from(parameters), start: 0 };
  let covariance = { xx: 0, xy: 0, yy: 0 };
  const points = dates.map(({ time }, k) => {
    const years = time - (k === 0 ? 0 : dates[k - 1].time);
    const [dx, dy] = [Math.exp(-a * years), Math.exp(-b * years)];
    const step = stepCovariance({ market, years });
    const { xx, xy, yy } = covariance;
    covariance = { xx: dx * dx * xx + step.xx, xy: dx * dy * xy + step.xy, yy: dy * dy * yy + step.yy };
    const [wx, wy] = [decayIntegral(a, terminal - time), decayIntegral(b, terminal - time)];
    return { time, dx, dy, wx, wy, covariance, frame: frameOf({ step, wx, wy }) };
  });
  let [rows, columns] = [3, 3];
  points.forEach(({ time, wx, wy, covariance: own, frame }, k) => {
    if (time <= 0) return;
    const { frame: following, dx, dy } = points[k + 1] ?? { frame, dx: 1, dy: 1 };
    const next = stepFrom({ frame: following, dx, dy });
    const capacity = { rows: 2 ** 20 + 1, columns: 2 ** 20 + 1 };
    const nodes = planeNodes({ frame, covariance: own, next, wx, wy, density, reach, ...capacity });
    rows = Math.max(rows, nodes.rows);
    columns = Math.max(columns, nodes.columns);
  });
  return [rows, columns];
}
