/**
 * Stochastic local volatility on the variance of Heston's model or of SABR,
 *
 *   dS = (r − q)·S dt + L(S, t)·√v·S dW,   dW dZ = ρ dt,
 *   dv = κ(θ − v) dt + σ√v dZ (Heston)  or  d√v = ν√v dZ (SABR, whose α and β become part of the leverage),
 *
 * with the leverage L² = σ_local²(S, t)/E[v | S] with which vanillas have the same prices as under the local volatility
 * (Gyöngy). The conditional mean is estimated from simulated particles, which advance together from time to time under
 * the leverage estimated so far: Guyon & Henry-Labordère, *Being particular about calibration*, Risk, January 2012.
 */
import { type Device, withDevice } from "../device/index.ts";
import { SpecError } from "../base/errors.ts";
import { hostRealType, i32, kernel, type Precision, read, real, write } from "../kernel/index.ts";
import { memoize } from "../base/memoize.ts";
import {
  localSurface,
  type LocalSurface,
  type StochasticVolatility,
  surfaceVolatility,
  varianceOf,
} from "../market/index.ts";
import { type PathModel, stochasticLocal } from "../montecarlo/index.ts";
import { RandomGenerator, randomSpec } from "../numerics/random/index.ts";

/** The spot and the rates of a leverage. */
interface LeverageMarket {
  /** The spot today. */
  readonly spot: number;
  /** The rate per year, continuously compounded; 0 by default. */
  readonly rate?: number;
  /** The dividend yield per year, continuously compounded; 0 by default. */
  readonly yield?: number;
}

/** The settings of `fitLeverage`. @experimental */
export interface LeverageSettings {
  /**
   * The device, which must have f64; it is not disposed. Without one, a device is opened for the call and disposed
   * afterwards.
   */
  readonly device?: Device | undefined;
  /** The spot, the rates and the parameters of Heston's variance, whose smile the leverage corrects. */
  readonly heston?: LeverageMarket & Readonly<Record<"v0" | "kappa" | "theta" | "sigma" | "rho", number>>;
  /** The spot, the rates and the parameters of SABR's volatility, as an alternative to `heston`. */
  readonly sabr?: LeverageMarket & Readonly<Record<"nu" | "rho", number>>;
  /** The local volatility whose vanilla prices the model reproduces: times in years, spots, and σ as [time][spot]. */
  readonly surface: Pick<LocalSurface, "times" | "spots" | "volatility">;
  /** The last time of the leverage in years; after it, the leverage is constant in time. */
  readonly expiry: number;
  /** The number of time steps up to `expiry`; 50 per year by default. */
  readonly steps?: number;
  /** The number of nodes in ln S at each time, 41 by default. */
  readonly nodes?: number;
  /** The number of particles, 2¹⁵ by default. */
  readonly particles?: number;
  /** The seed of the particles' random numbers, a whole number below 2⁶⁴; 1 by default. */
  readonly seed?: number | bigint;
  /** A signal that ends the computation; `fitLeverage` then throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The leverage function at one time: its values on equidistant nodes in ln S, linear between them and constant outside.
 * @experimental
 */
export interface LeverageRow {
  /** The logarithm of the spot at the middle node. */
  readonly center: number;
  /** The distance between neighbouring nodes in ln S. */
  readonly width: number;
  /** The leverage L at the nodes. */
  readonly values: Float64Array;
}

/** The leverage function of a stochastic local volatility. @experimental */
export interface Leverage {
  /** The times of `rows`, in years. */
  readonly times: readonly number[];
  /** The leverage at each time. */
  readonly rows: readonly LeverageRow[];
  /** Returns the leverage at a time in years. */
  readonly rowAt: (t: number) => LeverageRow;
  /**
   * Returns the model for `monteCarlo`, given the dates of the simulation in years and the number of steps between
   * them.
   */
  readonly model: (paths: { readonly dates: readonly number[]; readonly substeps: number }) => PathModel;
}

const NOTHING = { spot: 1, sigma: 1, rho: 0, center: 0, width: 1, leverage: [] } as const;

/** A step of all particles; `numbers` has two uniform ones of each. */
const particleKernel = memoize((variance: "heston" | "sabr") =>
  kernel({
    name: "particles",
    params: { count: i32, t: real, dt: real, c: read(real), numbers: read(real), states: write(real) },
    env: { step: stochasticLocal({ variance, ...NOTHING }).step },
    body({ count, t, dt, c, numbers, states }, gpu, { step }) {
      const i = gpu.globalId();
      if (i >= count) return;
      const state = gpu.privateReal(2);
      const normals = gpu.privateReal(1);
      const uniforms = gpu.privateReal(1);
      state[0] = states[i];
      state[1] = states[count + i];
      normals[0] = gpu.inverseNormalCdf(numbers[i]);
      uniforms[0] = numbers[count + i];
      step({ state, normals, uniforms, c, t, dt, tables: { values: c, first: 0, stride: 1 } });
      states[i] = state[0];
      states[count + i] = state[1];
    },
  }),
);
const coefficientCount = (nodes: number): number =>
  stochasticLocal({ variance: "heston", ...NOTHING, leverage: new Array<number>(nodes).fill(1) }).coefficients!.count;

/** The number of particles that outweigh the penalty on steps of the conditional mean. */
const PENALTY = 10;
/** The least conditional mean, relative to the mean. */
const LEAST = 0.01;
/** The outermost nodes, in standard deviations of ln S. */
const DEVIATIONS = 5;
/** A volatility of variance below which the variance is as good as known. */
const MIN_SIGMA = 1e-6;

/**
 * Computes the leverage function L(S, t) of a stochastic local volatility, with which the model reproduces the vanilla
 * prices of a local volatility. It uses simulated particles (Guyon & Henry-Labordère 2012).
 *
 * L is a function of spot and time; it does not change when `model` is given another spot.
 *
 * Accuracy: with 2¹⁵ particles and 50 steps per year, the implied volatilities of vanillas have errors of about 2e-3.
 * Cost: a launch and a pass over the particles for each step. Verified: test/calibration/leverage, by vanillas under
 * flat and skewed local volatilities. Source: Guyon & Henry-Labordère, *Being particular about calibration*, Risk,
 * January 2012.
 *
 * @param settings the variance, the local volatility, and the particles.
 * @throws SpecError | PrecisionError; the signal's reason
 * @example
 * import { fitLeverage } from "feynkac/calibration";
 * import { openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const heston = { spot: 100, rate: 0, yield: 0, v0: 0.04, kappa: 2, theta: 0.04, sigma: 0.5, rho: -0.5 };
 * const surface = { times: [0], spots: [100], volatility: [[0.2]] };
 * const { rows } = await fitLeverage({ device, heston, surface, expiry: 0.5 });
 * console.log(rows[0]!.values[20]!.toFixed(2)); // 1.00
 * @experimental
 */
export async function fitLeverage(settings: LeverageSettings): Promise<Leverage> {
  const { heston, sabr, surface: given, expiry } = settings;
  const market = heston ?? sabr;
  if (market === undefined || (heston !== undefined && sabr !== undefined))
    throw new SpecError('got none or both of "heston" and "sabr", expected one of them');
  const { spot, rate = 0, yield: carry = 0 } = market;
  return withDevice(settings.device, { precision: "f64" }, (device) =>
    leverageOf(device, {
      ...settings,
      steps: settings.steps ?? Math.max(10, Math.ceil(50 * expiry)),
      spot,
      growth: (t) => rate * t,
      yield: carry,
      variance: heston === undefined ? { kind: "sabr", alpha: 1, beta: 1, ...sabr! } : { kind: "heston", ...heston },
      surface: localSurface(given.times, given.spots, given.volatility),
    }),
  );
}

/** The specification of a leverage function, from `fitLeverage` or from a book. */
interface LeverageProblem extends Pick<LeverageSettings, "expiry" | "nodes" | "particles" | "seed" | "signal"> {
  readonly spot: number;
  /** Returns ∫r dt from today to a time in years. */
  readonly growth: (t: number) => number;
  /** The dividend yield per year. */
  readonly yield: number;
  readonly variance: StochasticVolatility;
  readonly surface: LocalSurface;
  /** The shift added to the local volatility, with the sum bounded below by 0. */
  readonly added?: number;
  /** The number of time steps up to `expiry`. */
  readonly steps: number;
  readonly precision?: Precision;
}

/** Returns the parameters of a variance process in the form that `stochasticLocal` expects. */
export function varianceParameters(variance: StochasticVolatility) {
  const sigma = Math.max(variance.kind === "heston" ? variance.sigma : variance.nu, MIN_SIGMA);
  const { rho } = variance;
  if (variance.kind === "sabr") return { variance: "sabr", v0: 1, kappa: 0, theta: 0, sigma, rho } as const;
  const { kappa, theta } = variance;
  return { variance: "heston", v0: varianceOf(variance), kappa, theta, sigma, rho } as const;
}

/** Computes the leverage function of a problem on a device. @throws SpecError; the signal's reason */
export async function leverageOf(device: Device, problem: LeverageProblem): Promise<Leverage> {
  const { spot, growth, yield: carry, surface, added = 0, expiry, steps, precision = "f64" } = problem;
  const { nodes = 41, particles = 2 ** 15, seed = 1, signal } = problem;
  if (!(expiry > 0 && expiry < Infinity)) throw new SpecError(`expiry: got ${expiry}, expected years above 0`);
  const wholes = { steps: [steps, 2], nodes: [nodes, 3], particles: [particles, 1000] } as const;
  for (const [name, [value, least]] of Object.entries(wholes))
    if (!(Number.isInteger(value) && value >= least))
      throw new SpecError(`${name}: got ${value}, expected a whole number from ${least} on`);
  const own = varianceParameters(problem.variance);
  if (!(own.v0 > 0)) throw new SpecError(`v0: got ${own.v0}, expected a variance above 0`);
  const localAt = (S: number, t: number): number => Math.max(surfaceVolatility(surface, S, t) + added, 0);
  const each = expiry / steps;
  const element = hostRealType(precision);
  const compiled = await device.compile(particleKernel(own.variance), { precision, vectors: 1 });
  using generator = await RandomGenerator.create(device, randomSpec({ generator: "philox", seed, precision }));
  using states = device.createBuffer(element, 2 * particles);
  using numbers = device.createBuffer(element, 2 * particles);
  using c = device.createBuffer(element, coefficientCount(nodes));
  const made = element === "f32" ? Float32Array : Float64Array;
  let now: Float32Array | Float64Array = new made(2 * particles)
    .fill(Math.log(spot), 0, particles)
    .fill(own.v0, particles);
  device.write(states, now);
  const rows: LeverageRow[] = [];
  for (let n = 0; n <= steps; n++) {
    signal?.throwIfAborted();
    const t = n * each;
    const center = Math.log(spot) + growth(t) - carry * t;
    const wide = DEVIATIONS * Math.max(deviation(now, center), Math.sqrt(each) * Math.max(localAt(spot, t), 1e-3));
    const values = conditionalMeans(now, center, wide, nodes).map(
      (mean, j) => localAt(Math.exp(center + wide * ((2 * j) / (nodes - 1) - 1)), t) / Math.sqrt(mean),
    );
    rows.push({ center, width: wide, values });
    if (n === steps) break;
    const { parameters, coefficients } = stochasticLocal({
      ...own,
      spot,
      rate: (growth(t + each) - growth(t)) / each,
      yield: carry,
      center,
      width: wide,
      leverage: Array.from(values),
    });
    const row = new made(c.length);
    coefficients!.function({ p: Float64Array.from(Object.values(parameters), Number), t, dt: each, c: row });
    device.write(c, row);
    generator.fill(numbers, { count: 2 * particles, offset: n * 2 * particles });
    const launched = { count: particles, t, dt: each, c, numbers, states };
    device.launch(compiled, launched, { items: particles, microsecondsEach: 0.1 });
    now = await device.read(states);
  }
  const rowAt = (t: number): LeverageRow => {
    const n = Math.min(Math.floor(t / each + 1e-9), steps - 1);
    const share = Math.min(Math.max(t / each - n, 0), 1);
    const mean = (a: number, b: number): number => (1 - share) * a + share * b;
    const [a, b] = [rows[n], rows[n + 1]];
    return {
      center: mean(a.center, b.center),
      width: mean(a.width, b.width),
      values: a.values.map((value, j) => mean(value, b.values[j])),
    };
  };
  const model: Leverage["model"] = ({ dates, substeps }) => {
    const starts = dates.flatMap((date, k) => {
      const from = k === 0 ? 0 : dates[k - 1];
      return Array.from({ length: substeps }, (_, s) => from + (s / substeps) * (date - from));
    });
    const at = starts.map(rowAt);
    const last = dates[dates.length - 1];
    return stochasticLocal({
      ...own,
      spot,
      rate: growth(last) / last,
      yield: carry,
      center: { byStep: at.map((row) => row.center) },
      width: { byStep: at.map((row) => row.width) },
      leverage: Array.from({ length: nodes }, (_, j) => ({ byStep: at.map(({ values }) => values[j]) })),
    });
  };
  return { times: rows.map((_, n) => n * each), rows, rowAt, model };
}

/** The standard deviation of the particles' ln S about the center. */
function deviation(states: ArrayLike<number>, center: number): number {
  const particles = states.length / 2;
  let sum = 0;
  for (let i = 0; i < particles; i++) sum += (states[i] - center) ** 2;
  return Math.sqrt(sum / particles);
}

/**
 * E[v | ln S] at the nodes: the piecewise linear function that is nearest to the variances of the particles, by least
 * squares, with a penalty on its steps that decides where there are few particles.
 */
function conditionalMeans(states: ArrayLike<number>, center: number, width: number, nodes: number): Float64Array {
  const particles = states.length / 2;
  const [diagonal, upper, means] = [new Float64Array(nodes), new Float64Array(nodes), new Float64Array(nodes)];
  let mean = 0;
  for (let i = 0; i < particles; i++) {
    const place = (0.5 + (0.5 * (states[i] - center)) / width) * (nodes - 1);
    const inside = Math.min(Math.max(place, 0), nodes - 1);
    const cell = Math.min(Math.floor(inside), nodes - 2);
    const share = inside - cell;
    const v = states[particles + i];
    mean += v / particles;
    diagonal[cell] += (1 - share) ** 2;
    diagonal[cell + 1] += share * share;
    upper[cell] += share * (1 - share);
    means[cell] += (1 - share) * v;
    means[cell + 1] += share * v;
  }
  for (let j = 0; j < nodes; j++) {
    diagonal[j] += j === 0 || j === nodes - 1 ? PENALTY : 2 * PENALTY;
    upper[j] -= PENALTY;
  }
  // Thomas' algorithm: the matrix is symmetric and positive definite.
  for (let j = 1; j < nodes; j++) {
    const factor = upper[j - 1] / diagonal[j - 1];
    diagonal[j] -= factor * upper[j - 1];
    means[j] -= factor * means[j - 1];
  }
  for (let j = nodes - 1; j >= 0; j--)
    means[j] = (means[j] - (j < nodes - 1 ? upper[j] * means[j + 1] : 0)) / diagonal[j];
  return means.map((one) => Math.max(one, LEAST * mean));
}
