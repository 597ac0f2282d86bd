/** Launches of the finite differences of a short rate. */
import { type Device, type DeviceBuffer, maxInstancesPerLaunch, createBufferOf } from "../../device/index.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import { ONE_SECOND, valueAt } from "../../market/index.ts";
import { GRID_ARRAYS, GRID_INTEGERS, gridKernel, MESH_REALS } from "./grid.ts";
import { COARSEST_INTERVALS, type ShortRateGridModel, type GridMesh } from "./grid-market.ts";
import { keyOf } from "../../base/memoize.ts";
import {
  lagrangeCoefficients,
  NO_EXERCISE_PRICE,
  type ShortRateInstance,
  type ShortRateTrade,
  sidesOf,
} from "../../quadrature/rates/index.ts";

/** Steps a year of the coarsest grid. */
const PER_YEAR = 3;
/** An instance, ready to be packed. */
interface Prepared {
  readonly number: number;
  readonly trade: ShortRateTrade;
  readonly market: ShortRateGridModel;
  readonly mesh: GridMesh;
  readonly stops: readonly number[];
  readonly logs: readonly number[];
}

/**
 * An engine on a device that values claims with exercise rights under one-factor short rates, by finite differences.
 */
export class GridEngine implements Disposable {
  readonly #device: Device;
  readonly #precision: Precision;
  readonly #table: DeviceBuffer;

  constructor(device: Device, precision: Precision = "f64") {
    this.#device = device;
    this.#precision = precision;
    this.#table = createBufferOf(device, hostRealType(precision), lagrangeCoefficients());
  }

  /**
   * Returns the values at time 0 of the instances on the mesh of a level; each level halves the steps of the one
   * before. NaN where the model's positive rates cannot reach the forward rate of a step. @throws SpecError errors of
   * `checkOnGrid`; the signal's reason
   */
  async values(
    trades: readonly ShortRateTrade[],
    markets: readonly ShortRateGridModel[],
    instances: readonly ShortRateInstance[],
    level: number,
    signal?: AbortSignal,
  ): Promise<Float64Array> {
    const values = new Float64Array(instances.length);
    const all = instances.map(({ trade, market }, number): Prepared => {
      const [claim, at] = [trades[trade], markets[market]];
      const mesh = at.mesh(claim.flows[claim.flows.length - 1][0], COARSEST_INTERVALS * 2 ** level);
      return { number, trade: claim, market: at, mesh, ...timesOf(claim, at, level) };
    });
    for (const launch of launchesOf(this.#device, all)) {
      signal?.throwIfAborted();
      const found = await this.#launch(launch);
      launch.forEach(({ number }, l) => (values[number] = found[l]));
    }
    return values;
  }

  async #launch(all: readonly Prepared[]): Promise<ArrayLike<number>> {
    const device = this.#device;
    const [{ market }] = all;
    const kernel = await device.compile(gridKernel(market.diffusion), { precision: this.#precision, vectors: 1 });
    const block = device.backend === "cpu" ? 2 : 32;
    const count = all.length;
    const capacity = Math.max(...all.map(({ mesh }) => mesh.nodes));
    const mostSteps = Math.max(...all.map(({ logs }) => logs.length));
    let [stop, step, parameter] = [0, 0, 0];
    const instances = all.flatMap(({ trade, market: { parameters }, mesh, stops, logs }) => {
      const own = stops.length / STOP_REALS;
      const { side, isSum } = sidesOf(trade.kind);
      const head = [stop, own, step, parameter, mesh.nodes, mesh.first, side, isSum ? 1 : 0];
      stop += own;
      step += logs.length;
      parameter += MESH_REALS + parameters.length;
      return head;
    });
    const real = hostRealType(this.#precision);
    const packed = (values: readonly (readonly number[])[]): DeviceBuffer =>
      createBufferOf(device, real, Float64Array.from(values.flat()));
    using numbers = createBufferOf(device, "i32", Int32Array.from(instances));
    using stops = packed(all.map((one) => one.stops));
    using logs = packed(all.map((one) => one.logs));
    using parameters = packed(
      all.map(({ mesh: { low, step: width, bend, centre, second, third }, market: { parameters: own } }) => [
        low,
        width,
        bend,
        centre,
        second,
        third,
        ...own,
      ]),
    );
    const size = GRID_ARRAYS * capacity + mostSteps;
    using work = device.createBuffer(real, Math.ceil(count / block) * block * size);
    using output = device.createBuffer(real, count);
    const args = { count, block, capacity, mostSteps, isFitted: market.isFitted, instances: numbers, stops, logs };
    device.launch(
      kernel,
      { ...args, parameters, table: this.#table, work, output },
      { items: count, microsecondsEach: 0.3 * capacity * mostSteps },
    );
    return Float64Array.from(await device.read(output));
  }

  [Symbol.dispose](): void {
    this.#table[Symbol.dispose]();
  }
}

/** Time, steps, σ, cash, floor, cap. */
const STOP_REALS = GRID_INTEGERS - 2;

/** The stops of a claim in a market, and ln P(0, t + h)/P(0, t) of each step of h years. */
function timesOf(
  { flows, dates }: ShortRateTrade,
  { volatility, logDiscount, breaks, inTime }: ShortRateGridModel,
  level: number,
): Pick<Prepared, "stops" | "logs"> {
  const last = flows[flows.length - 1][0];
  const ends = [...breaks, ...(inTime?.breaks(last) ?? [])];
  const inside = ends.filter((time) => time > ONE_SECOND && time < last - ONE_SECOND);
  const all = [...flows.map(([time]) => time), ...dates.map(({ time }) => time), ...inside].sort((a, b) => a - b);
  const times = all.filter((time, i) => i === 0 || time - all[i - 1] >= ONE_SECOND);
  const isAt = (a: number, b: number): boolean => Math.abs(a - b) < ONE_SECOND;
  let before = 0;
  let logBefore = 0;
  let [flow, date] = [0, 0];
  const logs: number[] = [];
  const stops = times.flatMap((time) => {
    const years = time - before;
    // The first steps are a third of the time that has passed, since state prices begin at one point.
    const least = Math.max(1, Math.ceil(years * PER_YEAR - 1e-9), Math.ceil((3 * years) / time - 1e-9));
    const coarsest = inTime?.steps(before, time, least) ?? least;
    const steps = years > 0 ? coarsest * 2 ** level : 0;
    const sigma = valueAt(volatility, before + 0.5 * years);
    for (let k = 1; k <= steps; k++) {
      const log = logDiscount(before + (years * k) / steps);
      logs.push(log - logBefore);
      logBefore = log;
    }
    before = time;
    let cash = 0;
    for (; flow < flows.length && isAt(flows[flow][0], time); flow++) cash += flows[flow][1];
    const { floor = -NO_EXERCISE_PRICE, cap = NO_EXERCISE_PRICE } =
      date < dates.length && isAt(dates[date].time, time) ? dates[date++] : {};
    return [time, steps, sigma, cash, floor, cap];
  });
  return { stops, logs };
}

/** Instances of one diffusion with about as many nodes and steps, side by side. */
function launchesOf(device: Device, all: readonly Prepared[]): readonly (readonly Prepared[])[] {
  const groups = new Map<string, Prepared[]>();
  for (const one of all) {
    const { market, mesh, logs } = one;
    const [nodes, steps] = [mesh.nodes, logs.length].map((n) => Math.ceil(2 * Math.log2(n)));
    // A diffusion is its functions: two of one name may have other formulas.
    const key = keyOf([market.diffusion, market.isFitted, nodes, steps]);
    const own = groups.get(key) ?? [];
    groups.set(key, own);
    own.push(one);
  }
  return [...groups.values()].flatMap((group) => {
    const size = Math.max(...group.map(({ mesh, logs }) => GRID_ARRAYS * mesh.nodes + logs.length));
    const most = Math.max(64, maxInstancesPerLaunch(device, 8 * size));
    return Array.from({ length: Math.ceil(group.length / most) }, (_, p) => group.slice(p * most, (p + 1) * most));
  });
}
