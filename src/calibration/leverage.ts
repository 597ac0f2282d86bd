/**
 * Stochastic local volatility on Heston's variance,
 *
 *   dS = (r − q)·S dt + L(S, t)·√v·S dW,   dv = κ(θ − v) dt + σ√v dZ,   dW dZ = ρ dt,
 *
 * with the leverage L² = σ_local²(S, t)/E[v | S] that makes vanillas worth what they are under the local volatility
 * (Gyöngy). The conditional mean is that of particles, which advance together from time to time with the leverage that
 * they have found: Guyon & Henry-Labordère, *Being particular about calibration*, Risk, January 2012.
 */
import { type Device, withDevice } from "../device/index.ts";
import { SpecError } from "../errors.ts";
import { fn, i32, kernel, read, real, write } from "../kernel/index.ts";
import { localSurface, surfaceVolatility } from "../market/index.ts";
import { heston, type HestonSettings, modelParams, type PathModel } from "../montecarlo/index.ts";
import { RandomGenerator, randomSpec } from "../random/index.ts";

/** The settings of `fitLeverage`. */
export interface LeverageSettings {
  /** The device, with f64, which is borrowed. Without one, a device is opened for the call and disposed afterwards. */
  readonly device?: Device | undefined;
  /** Spot, rates and the variance; numbers. Its smile matters only through what is left to the leverage. */
  readonly heston: { readonly [K in keyof HestonSettings]: number };
  /** The local volatility that vanillas are priced with, as a book has it. */
  readonly surface: {
    readonly times: readonly number[];
    readonly spots: readonly number[];
    readonly volatility: readonly (readonly number[])[];
  };
  /** Years; the leverage is constant in time beyond. */
  readonly expiry: number;
  /** The number of time steps to the expiry; 50 a year unless given. */
  readonly steps?: number;
  /** The number of nodes in ln S at each time; 31 unless given. */
  readonly nodes?: number;
  /** The number of particles; 2¹⁵ unless given. */
  readonly particles?: number;
  /** A whole number below 2⁶⁴; 1 unless given. */
  readonly seed?: number | bigint;
  readonly signal?: AbortSignal | undefined;
}

/** The leverage, and the model of paths that has it. */
export interface Leverage {
  readonly times: readonly number[];
  /** ln(S/forward) of the nodes at each time, [time][node]. */
  readonly nodes: readonly Float64Array[];
  /** L at the nodes, [time][node]. */
  readonly leverage: readonly Float64Array[];
  /** The model for `monteCarlo`: take steps of a date that are about as long as those of the leverage. */
  readonly model: PathModel;
}

/** The numbers of a model before those of the leverage: of Heston's, the numbers of times and nodes, and two scales. */
const HEAD = 12;

/** Coefficients of a step before the leverage on the nodes. */
const COEFFICIENTS = 12;

/** The coefficients of a step: those of Andersen's scheme for the variance, and the leverage at its time. */
const coefficients = fn({
  name: "leverageCoefficients",
  params: modelParams.coefficients,
  env: { HEAD, COEFFICIENTS },
  body({ p, t, dt, c }, gpu, { HEAD, COEFFICIENTS }) {
    const kappa = p[4];
    const theta = p[5];
    const sigma = p[6];
    const rho = p[7];
    const decay = Math.exp(-kappa * dt);
    const variance = (sigma * sigma * (1 - decay)) / kappa;
    c[0] = decay;
    c[1] = theta * (1 - decay);
    c[2] = variance * decay;
    c[3] = 0.5 * theta * variance * (1 - decay);
    c[4] = (p[2] - p[1]) * dt;
    c[5] = rho / sigma;
    c[6] = kappa * theta * dt;
    c[7] = kappa;
    c[8] = 1 - rho * rho;
    // The forward of today's spot, and the width of the nodes at this time.
    c[9] = Math.log(p[0]) + (p[2] - p[1]) * t;
    const rows = gpu.i32(p[8]);
    const nodes = gpu.i32(p[9]);
    const each = p[10];
    c[10] = p[11] * Math.sqrt(Math.max(t, each));
    c[11] = gpu.real(nodes - 1);
    const place = Math.min(t / each, gpu.real(rows - 1));
    const row = Math.min(gpu.i32(place + 1e-9), rows - 2);
    const share = place - gpu.real(row);
    for (let j = 0; j < nodes; j++) {
      const at = HEAD + row * nodes + j;
      c[COEFFICIENTS + j] = (1 - share) * p[at] + share * p[at + nodes];
    }
  },
});

/** L at x = ln S, linear between the nodes, from the coefficients of a step. */
const leverageAt = fn({
  name: "leverageAt",
  params: { x: real, c: read(real) },
  env: { COEFFICIENTS },
  body({ x, c }, gpu, { COEFFICIENTS }) {
    const place = (0.5 + (0.5 * (x - c[9])) / c[10]) * c[11];
    const inside = Math.min(Math.max(place, 0), c[11]);
    const cell = Math.min(gpu.i32(inside), gpu.i32(c[11]) - 1);
    const share = inside - gpu.real(cell);
    return (1 - share) * c[COEFFICIENTS + cell] + share * c[COEFFICIENTS + cell + 1];
  },
});

/** The variance of ln S over a step, for Brownian bridges. */
const variances = fn({
  name: "leverageVariances",
  params: modelParams.variances,
  env: { leverageAt },
  body({ state, c, dt, variances }, _gpu, { leverageAt }) {
    const leverage = leverageAt({ x: state[0], c });
    variances[0] = leverage * leverage * Math.max(state[1], 0) * dt;
  },
});

/**
 * A step: the variance by Andersen's quadratic-exponential law, and ln S given both ends of the variance, with the
 * leverage of the step's start.
 */
const step = fn({
  name: "leverageStep",
  params: modelParams.step,
  env: { leverageAt },
  body({ state, normals, uniforms, c, dt }, gpu, { leverageAt }) {
    const v = state[1];
    const m = v * c[0] + c[1];
    const s2 = v * c[2] + c[3];
    const psi = m > 0 ? s2 / (m * m) : 0;
    const u = uniforms[0];
    let next = gpu.real(0);
    if (m > 0 && psi <= 1.5) {
      const inverse = 2 / Math.max(psi, 1e-30);
      const b2 = inverse - 1 + Math.sqrt(inverse) * Math.sqrt(inverse - 1);
      const root = Math.sqrt(b2) + gpu.inverseNormalCdf(u);
      next = (m / (1 + b2)) * root * root;
    } else if (m > 0) {
      const atom = (psi - 1) / (psi + 1);
      next = u <= atom ? 0 : (m * Math.log((1 - atom) / (1 - u))) / (1 - atom);
    }
    const leverage = leverageAt({ x: state[0], c });
    const total = 0.5 * (v + next) * dt;
    const common = c[5] * (next - v - c[6] + c[7] * total);
    state[0] =
      state[0] + c[4] - 0.5 * leverage * leverage * total + leverage * (common + Math.sqrt(c[8] * total) * normals[0]);
    state[1] = next;
  },
});

/** A step of all particles; `numbers` has two uniform ones of each. */
const particleKernel = kernel({
  name: "particles",
  params: {
    particles: i32,
    t: real,
    dt: real,
    c: read(real),
    numbers: read(real),
    states: write(real),
  },
  env: { step },
  body({ particles, t, dt, c, numbers, states }, gpu, { step }) {
    const i = gpu.globalId();
    if (i >= particles) return;
    const state = gpu.privateReal(2);
    const normals = gpu.privateReal(1);
    const uniforms = gpu.privateReal(1);
    state[0] = states[i];
    state[1] = states[particles + i];
    normals[0] = gpu.inverseNormalCdf(numbers[i]);
    uniforms[0] = numbers[particles + i];
    step({ state, normals, uniforms, c, t, dt });
    states[i] = state[0];
    states[particles + i] = state[1];
  },
});

/** Particles about a node below which the mean of their variances is taken from the next node inwards. */
const FEWEST = 30;
/** The outermost nodes, in standard deviations of the larger of the two volatilities today. */
const DEVIATIONS = 5;

/**
 * The leverage of a stochastic local volatility, by particles.
 *
 * The model's parameters are Heston's and the leverage, which moves with the forward when the spot does.
 *
 * Accuracy: vanillas are priced to some 2e-3 of volatility by 2¹⁵ particles and 50 steps a year. Cost: a launch and a
 * pass over the particles a step. Verified: test/calibration/leverage, by vanillas under flat and skewed local
 * volatilities. Source: above.
 *
 * @param settings Heston's model, the local volatility, and how particles are taken.
 * @throws SpecError | PrecisionError; the signal's reason
 * @example
 * import { fitLeverage } from "feynkac/calibration";
 * import { openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const heston = { spot: 100, rate: 0, yield: 0, v0: 0.04, kappa: 2, theta: 0.04, sigma: 0.5, rho: -0.5 };
 * const surface = { times: [0], spots: [100], volatility: [[0.2]] };
 * const { leverage } = await fitLeverage({ device, heston, surface, expiry: 0.5 });
 * console.log(leverage[0]![15]!.toFixed(2)); // 1.00
 */
export function fitLeverage(settings: LeverageSettings): Promise<Leverage> {
  return withDevice(settings.device, { precision: "f64" }, (device) => fitOn(device, settings));
}

async function fitOn(device: Device, settings: LeverageSettings): Promise<Leverage> {
  const { heston: given, surface, expiry, nodes = 31, particles = 2 ** 15, seed = 1, signal } = settings;
  if (!(expiry > 0 && expiry < Infinity)) throw new SpecError(`expiry: got ${expiry}, expected years above 0`);
  const { steps = Math.max(10, Math.ceil(50 * expiry)) } = settings;
  const wholes = { steps: [steps, 2], nodes: [nodes, 3], particles: [particles, 1000] } as const;
  for (const [name, [value, least]] of Object.entries(wholes))
    if (!(Number.isInteger(value) && value >= least))
      throw new SpecError(`${name}: got ${value}, expected a whole number from ${least} on`);
  const { spot, rate = 0, yield: carry = 0, v0, kappa, theta, sigma, rho } = given;
  const base = heston({ spot, rate, yield: carry, v0, kappa, theta, sigma, rho });
  const local = localSurface(surface.times, surface.spots, surface.volatility);
  const each = expiry / steps;
  const width = DEVIATIONS * Math.max(surfaceVolatility(local, spot, 0), Math.sqrt(v0));
  const table = new Float64Array(HEAD + (steps + 1) * nodes);
  table.set([spot, carry, rate, v0, kappa, theta, sigma, rho, steps + 1, nodes, each, width]);
  const widthAt = (n: number): number => width * Math.sqrt(Math.max(n, 1) * each);
  const nodesAt = (n: number): Float64Array =>
    Float64Array.from({ length: nodes }, (_, j) => widthAt(n) * ((2 * j) / (nodes - 1) - 1));
  const compiled = await device.compile(particleKernel, { precision: "f64", vectors: 1 });
  using generator = await RandomGenerator.create(device, randomSpec({ generator: "philox", seed, precision: "f64" }));
  using states = device.createBuffer("f64", 2 * particles);
  using numbers = device.createBuffer("f64", 2 * particles);
  using c = device.createBuffer("f64", COEFFICIENTS + nodes);
  let now: ArrayLike<number> = new Float64Array(2 * particles).fill(Math.log(spot), 0, particles).fill(v0, particles);
  device.write(states, Float64Array.from(now));
  const row = new Float64Array(COEFFICIENTS + nodes);
  for (let n = 0; n <= steps; n++) {
    signal?.throwIfAborted();
    const t = n * each;
    const forward = spot * Math.exp((rate - carry) * t);
    const means = conditionalMeans(now, Math.log(forward), widthAt(n), nodes);
    const at = HEAD + n * nodes;
    nodesAt(n).forEach(
      (x, j) => (table[at + j] = surfaceVolatility(local, forward * Math.exp(x), t) / Math.sqrt(means[j])),
    );
    if (n === steps) break;
    coefficients({ p: table, t, dt: each, c: row });
    device.write(c, row);
    generator.fill(numbers, { count: 2 * particles, offset: n * 2 * particles });
    device.launch(
      compiled,
      { particles, t, dt: each, c, numbers, states },
      { items: particles, microsecondsEach: 0.1 },
    );
    now = await device.read(states);
  }
  const rows = Array.from({ length: steps + 1 }, (_, n) => n);
  return {
    times: rows.map((n) => n * each),
    nodes: rows.map(nodesAt),
    leverage: rows.map((n) => table.slice(HEAD + n * nodes, HEAD + (n + 1) * nodes)),
    model: {
      ...base,
      name: "Heston with leverage",
      parameters: Object.fromEntries([
        ...Object.entries(base.parameters),
        ...Array.from(table.subarray(8), (value, j) => [`leverage${j}`, value] as const),
      ]),
      coefficients: { count: COEFFICIENTS + nodes, function: coefficients },
      step,
      variances,
      greeks: { delta: ["spot"], gamma: ["spot"], rho: ["rate"] },
    },
  };
}

/** E[v | ln S] at the nodes by hat functions; a node with few particles takes that of the next one inwards. */
function conditionalMeans(states: ArrayLike<number>, center: number, width: number, nodes: number): Float64Array {
  const particles = states.length / 2;
  const [weights, sums] = [new Float64Array(nodes), new Float64Array(nodes)];
  for (let i = 0; i < particles; i++) {
    const place = (0.5 + (0.5 * (states[i] - center)) / width) * (nodes - 1);
    const inside = Math.min(Math.max(place, 0), nodes - 1);
    const cell = Math.min(Math.floor(inside), nodes - 2);
    const share = inside - cell;
    weights[cell] += 1 - share;
    weights[cell + 1] += share;
    sums[cell] += (1 - share) * states[particles + i];
    sums[cell + 1] += share * states[particles + i];
  }
  const middle = (nodes - 1) >> 1;
  const means = new Float64Array(nodes);
  const total = sums.reduce((a, b) => a + b, 0) / particles;
  const set = (j: number, inner: number): void => {
    means[j] = weights[j] >= FEWEST && sums[j] > 0 ? sums[j] / weights[j] : inner;
  };
  set(middle, total);
  for (let j = middle + 1; j < nodes; j++) set(j, means[j - 1]);
  for (let j = middle - 1; j >= 0; j--) set(j, means[j + 1]);
  return means;
}
