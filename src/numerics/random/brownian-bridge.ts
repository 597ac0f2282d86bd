/** Brownian motion from its end inwards, so that the first coordinates of a Sobol' point determine most of a path. */
import {
  compileExact,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  createBufferOf,
} from "../../device/index.ts";
import { ShapeError, SpecError } from "../../base/errors.ts";
import { fn, hostRealType, i32, kernel, type Precision, read, real, record, write } from "../../kernel/index.ts";

/**
 * A Brownian bridge inside a kernel: for each step three positions (its own, the left and the right one) and three
 * weights (of the left and the right value, and the standard deviation).
 * @stable
 */
export const Bridge = record({ steps: i32, places: read(i32), weights: read(real) });

/**
 * Writes a path of Brownian motion, W(t₁) … W(tₙ), from n standard normal numbers: W(tₙ) first, then the middle of the
 * widest gap, and so on,
 *
 *   W(t) = w₁·W(l) + w₂·W(r) + s·z,   w₁ = (r − t)/(r − l),   w₂ = (t − l)/(r − l),   s² = (t − l)·(r − t)/(r − l)
 *
 * Cost: 3 products per step. Source: R. E. Caflisch and B. Moskowitz (1995); P. Glasserman, Monte Carlo Methods in
 * Financial Engineering (2004), section 3.1. Verified: test/numerics/random/brownian-bridge.test.ts.
 *
 * @param bridge the tables of `bridgePlan`, in buffers.
 * @param normals number i is at start + i·stride.
 * @param path W(t) of time i goes to start + i·stride; another array than `normals`.
 * @param start the index of the path's first element in both arrays.
 * @param stride the distance from one number of the path to the next.
 * @example
 * import { bridgePath, bridgePlan } from "feynkac/random";
 *
 * const { places, weights } = bridgePlan([1, 2]);
 * const path = new Float64Array(2);
 * const normals = Float64Array.of(1, 1);
 * bridgePath({ bridge: { steps: 2, places, weights }, normals, path, start: 0, stride: 1 });
 * console.log([...path].map((w) => w.toFixed(4)).join(" ")); // 1.4142 1.4142
 * @stable
 */
export const bridgePath = fn({
  name: "bridgePath",
  params: { bridge: Bridge, normals: read(real), path: write(real), start: i32, stride: i32 },
  body({ bridge: { steps, places, weights }, normals, path, start, stride }) {
    path[start + places[0] * stride] = weights[2] * normals[start];
    for (let i = 1; i < steps; i++) {
      const left = weights[3 * i] * path[start + places[3 * i + 1] * stride];
      const right = weights[3 * i + 1] * path[start + places[3 * i + 2] * stride];
      path[start + places[3 * i] * stride] = left + right + weights[3 * i + 2] * normals[start + i * stride];
    }
  },
});

/** The tables that `bridgePath` reads, for given times. @stable */
export interface BridgePlan {
  /** The index of each step's time, and those of the two times around it. */
  readonly places: Int32Array;
  /** The weights of the two surrounding times at each step, and the standard deviation. */
  readonly weights: Float64Array;
}

/**
 * Returns the order and the weights of a Brownian bridge: the last time first, then the middle time of each gap, with
 * all gaps of a level before those of the next level. A gap that begins at time 0, where W is 0, has the left weight 0.
 *
 * @param times increasing, from above 0.
 * @throws SpecError if there are none, or if they do not increase.
 * @example
 * import { bridgePlan } from "feynkac/random";
 *
 * const { places } = bridgePlan([0.25, 0.5, 0.75, 1]);
 * console.log([0, 3, 6, 9].map((k) => places[k]).join(" ")); // 3 1 0 2
 * @stable
 */
export function bridgePlan(times: readonly number[]): BridgePlan {
  const wrong = times.findIndex((t, k) => !(t > (k === 0 ? 0 : times[k - 1])) || t === Infinity);
  if (wrong >= 0)
    throw new SpecError(
      `bridgePlan: times[${wrong}]: got ${times[wrong]}, expected more than the time before it, or 0`,
    );
  const last = times.length - 1;
  if (last < 0) throw new SpecError("bridgePlan: times: got none, expected at least one");
  const places = [last, last, last];
  const weights = [0, 0, Math.sqrt(times[last])];
  // Gaps (left, right) with at least one time between; −1 is time 0.
  const gaps: (readonly [number, number])[] = [[-1, last]];
  for (const [left, right] of gaps) {
    if (right - left < 2) continue;
    const middle = (left + right + 1) >> 1;
    const start = left < 0 ? 0 : times[left];
    const [before, after] = [times[middle] - start, times[right] - times[middle]];
    places.push(middle, left < 0 ? right : left, right);
    weights.push(left < 0 ? 0 : after / (before + after), before / (before + after));
    weights.push(Math.sqrt((before * after) / (before + after)));
    gaps.push([left, middle], [middle, right]);
  }
  return { places: Int32Array.from(places), weights: Float64Array.from(weights) };
}

const bridgePaths = kernel({
  name: "bridgePaths",
  params: { steps: i32, factors: i32, places: read(i32), weights: read(real), normals: read(real), paths: write(real) },
  env: { bridgePath },
  body({ steps, factors, places, weights, normals, paths }, gpu, { bridgePath }): undefined {
    const row = (gpu.globalId() / factors) | 0;
    const start = row * steps * factors + (gpu.globalId() % factors);
    bridgePath({ bridge: { steps, places, weights }, normals, path: paths, start, stride: factors });
  },
});

/** The settings of a bridge. @stable */
export interface BridgeSettings {
  /** The times in years, increasing, from above 0. */
  readonly times: readonly number[];
  /** The number of Brownian motions of a path, 1 by default. */
  readonly factors?: number;
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
}

/** The buffers of input normal numbers and output paths, both [count, steps, factors]. @stable */
export interface BridgeArguments {
  readonly normals: DeviceBuffer;
  readonly paths: DeviceBuffer;
  readonly count: number;
}

/**
 * A generator of paths of Brownian motion on a device by the Brownian bridge; see `bridgePath`.
 *
 * Row k of `normals` has the numbers in the order in which the bridge uses them, all factors of its first step before
 * those of the next; row k of `paths` has W at the times. With interleaved Sobol' points of steps·factors dimensions
 * the first dimensions determine the ends of paths. Cost: 5 words read or written per step.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { BrownianBridge, RandomGenerator, randomSpec } from "feynkac/random";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const points = { generator: "sobol", seed: 42, distribution: "normal", streams: 4, order: "interleaved" } as const;
 * using sobol = await RandomGenerator.create(device, randomSpec(points));
 * using bridge = await BrownianBridge.create(device, { times: [0.25, 0.5, 0.75, 1] });
 * using normals = device.createBuffer("f64", 4 * 1024);
 * using paths = device.createBuffer("f64", 4 * 1024);
 * sobol.fill(normals, { count: 1024 });
 * bridge.run({ normals, paths, count: 1024 });
 * const w = await device.read(paths);
 * let variance = 0;
 * for (let k = 3; k < w.length; k += 4) variance += w[k]! ** 2 / 1024;
 * console.log(variance.toFixed(2)); // 1.00
 * @stable
 */
export class BrownianBridge implements Disposable {
  readonly device: Device;
  readonly steps: number;
  readonly factors: number;
  readonly #kernel: CompiledKernel<(typeof bridgePaths)["params"]>;
  readonly #element: "f64" | "f32";
  readonly #places: DeviceBuffer;
  readonly #weights: DeviceBuffer;

  private constructor(device: Device, settings: Required<BridgeSettings>, plan: BridgePlan, compiled: CompiledKernel) {
    this.device = device;
    this.steps = settings.times.length;
    this.factors = settings.factors;
    this.#kernel = compiled as CompiledKernel<(typeof bridgePaths)["params"]>;
    this.#element = hostRealType(settings.precision);
    this.#places = createBufferOf(device, "i32", plan.places);
    this.#weights = createBufferOf(device, this.#element, plan.weights);
  }

  /** Creates a generator of paths. @throws SpecError | PrecisionError */
  static async create(device: Device, settings: BridgeSettings): Promise<BrownianBridge> {
    const { times, factors = 1, precision = "f64" } = settings;
    const plan = bridgePlan(times);
    if (!Number.isInteger(factors) || factors < 1)
      throw new SpecError(`BrownianBridge: factors: got ${factors}, expected a positive whole number`);
    const compiled = await compileExact(device, bridgePaths, precision);
    return new BrownianBridge(device, { times, factors, precision }, plan, compiled);
  }

  /**
   * Records the paths; buffers are borrowed.
   * @throws ShapeError (a buffer that is too short, or of another type) | DisposedError
   */
  run({ normals, paths, count }: BridgeArguments): void {
    const { steps, factors } = this;
    const needed = count * steps * factors;
    for (const [name, buffer] of [
      ["normals", normals],
      ["paths", paths],
    ] as const)
      if (buffer.length < needed || buffer.element !== this.#element)
        throw new ShapeError(
          `BrownianBridge: ${name}: got ${buffer.length} elements of ${buffer.element}, expected at least ${needed} of ` +
            `${this.#element} (count × steps × factors)`,
        );
    if (count === 0) return;
    const args = { steps, factors, places: this.#places, weights: this.#weights, normals, paths };
    this.device.launch(this.#kernel, args, { items: count * factors });
  }

  [Symbol.dispose](): void {
    this.#places[Symbol.dispose]();
    this.#weights[Symbol.dispose]();
  }
}
