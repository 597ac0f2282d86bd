/** The same bits on any number of threads, on every device that rounds equally, and in batches of any size. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Device } from "../../src/device/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  asian,
  blackScholes,
  european,
  gaussianFactors,
  geometricBrownian,
  heston,
  longstaffSchwartz,
  lookback,
  monteCarlo,
  type MonteCarloSettings,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { dealt } from "../support/extent.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const reference = new InterpreterDevice();

const spot = blackScholes({ spot: [90, 100, 115], rate: 0.05, yield: 0.01, volatility: [0.2, 0.3, 0.25] });
const barrier = withBarriers({
  product: european({ payoff: "put", strike: 100 }),
  barriers: [{ type: "down-and-out", level: 70 }],
  rebate: 1,
  rebateAt: "breach",
});
const correlation = [
  [1, 0.4],
  [0.4, 1],
];
const two = geometricBrownian({ spots: [100, 90], rate: 0.02, volatilities: [0.2, 0.3], correlation });
const CASES: Readonly<Record<string, MonteCarloSettings>> = {
  "an Asian with a control and Greeks": {
    model: spot,
    product: asian({ payoff: "call", strike: 100 }),
    dates: [0.5, 1],
    paths: 128,
    sensitivities: ["delta", "gamma"],
  },
  "Sobol' points, lookback": {
    model: spot,
    product: lookback({ payoff: "put", strike: "floating" }),
    dates: [1],
    substeps: 2,
    sampling: "sobol",
    scramblings: 8,
  },
  "two assets, reflections": {
    model: two,
    product: european({ payoff: "call", strike: 100 }),
    dates: [1],
    antithetic: true,
  },
  "Heston with a barrier": {
    model: heston({ spot: 100, rate: 0.02, v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.6, rho: -0.5 }),
    product: barrier,
    dates: [0.5],
    substeps: 3,
  },
  "two Gaussian factors": {
    model: gaussianFactors({ spot: 20, alpha: [0.2, 5], sigma: [0.4, 1], rho: -0.1 }),
    product: european({ payoff: "put", strike: 21 }),
    dates: [0.2, 1],
  },
};

const few = { paths: 64, seed: 11 };
const numbersOf = async (device: Device, settings: MonteCarloSettings): Promise<number[]> => {
  const { value, standardError, sensitivities } = await monteCarlo({ device, ...few, ...settings });
  return [value, standardError, ...Object.values(sensitivities).map(({ value }) => value)].flatMap((column) => [
    ...column,
  ]);
};

/** What the interpreter gives, once for all devices. */
const known = new Map<string, Promise<number[]>>();
function expectedOf(settings: MonteCarloSettings, precision: "f32" | "f64"): Promise<number[]> {
  const key = `${Object.values(CASES).indexOf(settings)} ${precision}`;
  const found = known.get(key) ?? numbersOf(reference, { ...settings, precision });
  known.set(key, found);
  return found;
}

const stopping = {
  model: spot,
  product: european({ payoff: "put", strike: 105 }),
  dates: [0.25, 0.5, 1],
  regressionPaths: 64,
  paths: 64,
  upper: { outer: 4, inner: 4 },
} as const;

/** Derivatives of many inputs, which adjoints find: of spots, and of rate and volatilities in each step. */
const many: MonteCarloSettings = {
  model: geometricBrownian({ spots: [100, 90], rate: 0.02, volatilities: [0.2, 0.3], correlation }),
  product: asian({ payoff: "call", strike: 100 }),
  dates: [0.25, 0.5, 0.75, 1],
  paths: 1024,
  directions: Object.fromEntries(
    ["rate", "volatility1", "yield1", "volatility2"].flatMap((name) =>
      [0, 1, 2, 3].map((k) => {
        const model = { [name]: { byStep: [0, 1, 2, 3].map((n) => Number(n === k)) } };
        return [`${name} ${k}`, { model, product: {}, control: {} }];
      }),
    ),
  ),
};

describe.each(devices)("$label", ({ device, label, missing }) => {
  // One thread has all cases, WebGPU one part of them, CUDA and several threads the other.
  const hand = devices.findIndex((each) => each.label === label);
  const own = hand === 0 ? Object.entries(CASES) : dealt(Object.entries(CASES), hand, 2);
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));
  const precision = device?.backend === "webgpu" ? "f32" : "f64";

  test.skipIf(device === undefined).each(own)("%s, as the interpreter", async (_, settings) => {
    if (device === undefined) throw new Error(missing);
    const found = await numbersOf(device, { ...settings, precision });
    const expected = await expectedOf(settings, precision);
    expect(found.length).toBe(expected.length);
    // WGSL leaves divisions and contractions open.
    if (precision === "f64") expect(found).toEqual(expected);
    else
      found.forEach((x, k) =>
        expect(Math.abs(x - expected[k])).toBeLessThan(1e-3 * Math.max(1, Math.abs(expected[k]))),
      );
  });

  test.skipIf(device === undefined)("adjoints of many inputs, as the interpreter", async () => {
    if (device === undefined) throw new Error(missing);
    const { sensitivities } = await monteCarlo({ device, ...few, ...many, precision });
    expect(new Set(Object.values(sensitivities).map(({ method }) => method))).toEqual(new Set(["adjoint"]));
    const found = await numbersOf(device, { ...many, precision });
    const expected = await numbersOf(reference, { ...many, precision });
    if (precision === "f64") expect(found).toEqual(expected);
    else
      found.forEach((x, k) =>
        expect(Math.abs(x - expected[k])).toBeLessThan(1e-3 * Math.max(1, Math.abs(expected[k]))),
      );
  });

  test.skipIf(device === undefined)("early exercise, as the interpreter", async () => {
    if (device === undefined) throw new Error(missing);
    const found = await longstaffSchwartz({ device, ...stopping, precision });
    const expected = await longstaffSchwartz({ device: reference, ...stopping, precision });
    for (const pick of ["value", "standardError"] as const) {
      const [mine, theirs] = [found, expected].map((one) => [
        ...one[pick],
        ...one.regression[pick],
        ...one.upper![pick],
      ]);
      if (precision === "f64") expect(mine).toEqual(theirs);
      else mine.forEach((x, k) => expect(Math.abs(x - theirs[k])).toBeLessThan(2e-2 * Math.abs(theirs[k])));
    }
  });
});

describe("one thread", () => {
  const device = createCpuDevice({ threads: 1 });
  afterAll(() => device[Symbol.dispose]());

  test("f32 is f64 up to its rounding", async () => {
    for (const settings of Object.values(CASES)) {
      const [single, double] = [
        await numbersOf(device, { ...settings, sensitivities: [], precision: "f32" }),
        await numbersOf(device, { ...settings, sensitivities: [] }),
      ];
      single.forEach((x, k) => expect(Math.abs(x - double[k])).toBeLessThan(2e-4 * Math.max(1, Math.abs(double[k]))));
    }
  });

  test("an instance of a batch is the instance alone, to the bit, and so is every length of a launch", async () => {
    const strikes = Float64Array.from({ length: 37 }, (_, i) => 80 + i);
    const settings = {
      model: blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 }),
      dates: [0.5, 1],
      paths: 2 ** 14,
      seed: 5,
    };
    const batch = await monteCarlo({ device, ...settings, product: asian({ payoff: "put", strike: strikes }) });
    for (const i of [0, 17, 36]) {
      const product = asian({ payoff: "put", strike: strikes[i] });
      const alone = await monteCarlo({ device, ...settings, product, streams: [i] });
      expect(batch.value[i]).toBe(alone.value[0]);
      expect(batch.standardError[i]).toBe(alone.standardError[0]);
    }
  });

  test("equal streams have common random numbers, other seeds and streams others", async () => {
    const settings = { model: spot, product: european({ payoff: "call", strike: 1e-9 }), dates: [1], paths: 64 };
    const same = blackScholes({ spot: [100, 100], volatility: 0.2 });
    const [a, b] = (await monteCarlo({ device, ...settings, model: same, streams: [4, 4] })).value;
    expect(a).toBe(b);
    const [c, d] = (await monteCarlo({ device, ...settings, model: same, streams: [4, 5] })).value;
    expect(c).toBe(a);
    expect(d).not.toBe(a);
    const [e] = (await monteCarlo({ device, ...settings, model: same, streams: [4, 5], seed: 2 })).value;
    expect(e).not.toBe(a);
  });
});
