/** Derivatives along paths by adjoints: against tangents of the same paths, and their errors. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { fn } from "../../src/kernel/index.ts";
import {
  asian,
  basket,
  type Direction,
  european,
  gaussianFactors,
  geometricBrownian,
  heston,
  hullWhite,
  localVolatility,
  lookback,
  modelParams,
  monteCarlo,
  type MonteCarloResult,
  type MonteCarloSettings,
  type Parameter,
  type Parameters,
  pathModel,
  pathProduct,
  productParams,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import { dealt } from "../support/extent.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";
import { normalCdf } from "../support/normal.ts";
import { equalDates } from "./support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

type Directions = Readonly<Record<string, Direction>>;
const STEPS = 6;
const dates = equalDates(STEPS, 1.5);
const none = { model: {}, product: {}, control: {} };
const stepsOf = (f: (n: number) => number) => ({ byStep: Array.from({ length: STEPS }, (_, n) => f(n)) });

/** Directions of a parameter in each step, in the order of steps. */
const byStep = (name: string): Directions =>
  Object.fromEntries(
    dates.map((_, k) => [`${name} ${k}`, { ...none, model: { [name]: stepsOf((n) => Number(n === k)) } }]),
  );
const by = (name: string, speed = 1): Directions => ({ [name]: { ...none, model: { [name]: speed } } });
const ofProduct = (name: string): Directions => ({ [name]: { ...none, product: { [name]: 1 } } });

/** Directions that fill up the list, so that adjoints are taken. */
const more = (name: string): Directions =>
  Object.fromEntries(Array.from({ length: 13 }, (_, k) => [`more ${k}`, { ...none, model: { [name]: k - 3 } }]));

const correlation = [
  [1, 0.4, 0.1],
  [0.4, 1, 0.3],
  [0.1, 0.3, 1],
];
const three = geometricBrownian({
  spots: [100, 90, 110],
  rate: stepsOf((n) => 0.03 - 0.002 * n),
  yields: [0.01, 0.02, 0],
  volatilities: [0.2, stepsOf((n) => 0.3 - 0.01 * n), 0.25],
  correlation,
});
const one = geometricBrownian({
  spots: [100],
  rate: 0.03,
  yields: [0.01],
  volatilities: [stepsOf((n) => 0.2 + 0.01 * n)],
});
const local = localVolatility({
  spot: 100,
  rate: 0.02,
  yield: 0.01,
  volatility: "0.2 + 0.1*exp(-S/100) + 0.02*t",
  isDiscontinuous: false,
});
/** A step that looks up its volatility in the table, in a loop that is not unrolled, and a start with two spots. */
const nodes = pathModel({
  name: "nodes",
  assets: 2,
  state: 2,
  normals: 1,
  uniforms: 1,
  parameters: { spot: 100, level: 0.2, slope: 0.3, rate: stepsOf((n) => 0.01 * n) },
  jumpsWith: [],
  coefficients: {
    count: 42,
    copied: 2,
    function: fn({
      params: modelParams.coefficients,
      body({ p, t, dt, c }, gpu) {
        c[0] = Math.sqrt(dt);
        c[1] = p[3] * dt;
        for (let k = 0; k < 40; k++) c[2 + k] = p[1] + p[2] * (0.02 * gpu.real(k) - t * p[1]);
      },
    }),
  },
  start: fn({
    params: modelParams.start,
    body({ p, state }) {
      state[0] = p[0]!;
      state[1] = 0.01 * p[0] * p[0];
    },
  }),
  step: fn({
    params: modelParams.step,
    body({ state, normals, uniforms, c, tables }, gpu) {
      const place = Math.min(Math.max(0.2 * state[0], 0), 38.9);
      const k = Math.floor(place) | 0;
      const below = tables.values[tables.first + k * tables.stride];
      const above = tables.values[tables.first + (k + 1) * tables.stride];
      const sigma = below + (place - gpu.real(k)) * (above - below);
      let sum = gpu.real(0);
      for (let i = 0; i < 40; i++) sum += sigma * state[1] * 0.01;
      state[0] = state[0] * (1 + c[1] + sigma * c[0] * normals[0]);
      state[1] = state[1] + 0.01 * sum + 0.1 * uniforms[0];
    },
  }),
  observe: fn({
    params: modelParams.observe,
    body({ state, spots }) {
      spots[0] = state[0]!;
      spots[1] = state[0] + state[1];
    },
  }),
});
/** A product with parameters that are read at its start, in each step, and at its end. */
const dated = pathProduct({
  name: "weighted",
  running: 2,
  parameters: { first: 1.5, strike: 90, weight: stepsOf((n) => 0.1 + 0.02 * n) },
  dated: 1,
  isDiscontinuous: false,
  start: fn({
    params: productParams.start,
    body({ running, spots, p }) {
      running[0] = p[0] * spots[0];
      running[1] = 0;
    },
  }),
  update: fn({
    params: productParams.update,
    body({ running, spots, before, p, q, discount }) {
      running[0] = running[0] + q[0] * spots[0] * discount + 0.1 * p[1];
      running[1] = Math.max(running[1], spots[1] - 0.5 * before[1]);
    },
  }),
  payoff: fn({
    params: productParams.payoff,
    body: ({ running, p, discount }) => Math.max(running[0] + running[1] * discount - p[1], 0),
  }),
});

const CASES: Readonly<Record<string, Omit<MonteCarloSettings, "dates"> & { readonly directions: Directions }>> = {
  "three assets, rates and volatilities by step": {
    model: three,
    product: basket({ payoff: "call", strike: 100, weights: [0.5, 0.2, 0.3] }),
    directions: {
      ...byStep("rate"),
      ...byStep("volatility2"),
      ...by("spot1"),
      ...by("volatility3", 2),
      ...ofProduct("weight2"),
      both: { model: { spot2: 1, spot3: -1 }, product: { strike: 3 }, control: {} },
    },
  },
  "an average, with reflections": {
    model: one,
    product: asian({ payoff: "call", strike: 100, includesStart: true }),
    antithetic: true,
    control: "none",
    directions: { ...byStep("volatility"), ...byStep("yield"), ...by("spot"), ...ofProduct("strike") },
  },
  "a local volatility, a continuous average in substeps": {
    model: local,
    product: asian({ payoff: "put", strike: 100, average: "geometric", sampling: "continuous" }),
    substeps: 3,
    control: "none",
    directions: {
      ...by("spot"),
      ...by("rate"),
      ...by("yield"),
      ...by("added"),
      ...ofProduct("strike"),
      ...more("spot"),
    },
  },
  "a barrier, by bridges": {
    model: local,
    product: withBarriers({
      product: european({ payoff: "call", strike: 95 }),
      barriers: [{ type: "down-and-out", level: 80 }],
      rebate: 2,
    }),
    substeps: 2,
    directions: { ...by("spot"), ...by("rate"), ...by("added"), ...more("spot") },
  },
  "a drawn minimum": {
    model: one,
    product: lookback({ payoff: "call", strike: "floating" }),
    directions: { ...byStep("volatility"), ...byStep("rate"), ...by("spot") },
  },
  "a stochastic variance": {
    model: heston({ spot: 100, rate: 0.02, v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.3, rho: -0.5 }),
    product: asian({ payoff: "call", strike: 100 }),
    directions: { ...byStep("rate"), ...byStep("rho"), ...by("v0"), ...by("kappa"), ...by("theta"), ...by("sigma") },
  },
  "a discount factor of the path": {
    model: hullWhite({ forward: stepsOf((n) => 0.02 + 0.002 * n), meanReversion: 0.05, volatility: 0.01 }),
    product: pathProduct({
      name: "square",
      running: 0,
      parameters: {},
      isDiscontinuous: false,
      payoff: fn({ params: productParams.payoff, body: ({ spots, discount }) => 1 + spots[0] * spots[0] + discount }),
    }),
    directions: { ...byStep("forward"), ...by("meanReversion"), ...by("volatility"), ...more("volatility") },
  },
  "two factors": {
    model: gaussianFactors({ spot: 20, alpha: [0.2, 5], sigma: [0.4, 1], rho: -0.1 }),
    product: european({ payoff: "put", strike: 21 }),
    directions: { ...by("spot"), ...by("rho"), ...more("spot") },
  },
  "shifted paths": {
    model: one,
    product: european({ payoff: "call", strike: 150 }),
    shifts: [0.3],
    directions: { ...byStep("volatility"), ...byStep("rate"), ...by("spot") },
  },
  "a table that paths look up, parameters of a product by step": {
    model: nodes,
    product: dated,
    directions: {
      ...by("spot"),
      ...by("level"),
      ...by("slope"),
      ...byStep("rate"),
      ...ofProduct("first"),
      ...ofProduct("strike"),
      ...Object.fromEntries(
        dates.map((_, k) => [`weight ${k}`, { ...none, product: { weight: stepsOf((n) => Number(n === k)) } }]),
      ),
    },
  },
};

/** The derivatives of the same paths by tangents, in parts that are too small for adjoints. */
async function byTangents(settings: MonteCarloSettings & { readonly directions: Directions }) {
  const all = Object.entries(settings.directions);
  const parts: MonteCarloResult[] = [];
  for (let k = 0; k < all.length; k += 12)
    parts.push(await monteCarlo({ ...settings, directions: Object.fromEntries(all.slice(k, k + 12)) }));
  const sensitivities: MonteCarloResult["sensitivities"] = Object.assign(
    {},
    ...parts.map((part) => part.sensitivities),
  );
  return { ...parts[0], sensitivities };
}

/** A device that says it is a GPU, and has so little memory that launches have a few blocks. */
function otherDevice(backend: Device["backend"], maxBufferBytes: number): Device {
  const limits = { ...device.limits, maxBufferBytes };
  return new Proxy<Device>(device, {
    get(target, key): unknown {
      if (key === "backend") return backend;
      if (key === "limits") return limits;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

const numbersOf = ({ value, standardError, sensitivities }: MonteCarloResult): number[] =>
  [value, standardError, ...Object.values(sensitivities).flatMap((each) => [each.value, each.standardError])].flatMap(
    (column) => [...column],
  );

describe.each(Object.entries(CASES))("%s", (name, settings) => {
  const all = { device, dates, paths: 4096, seed: 3, ...settings };
  const hand = Object.keys(CASES).indexOf(name);

  test("the value is that without derivatives, and derivatives are tangents of the same paths", async () => {
    const found = await monteCarlo(all);
    const expected = await byTangents(all);
    expect(found.value).toEqual(expected.value);
    expect(found.standardError).toEqual(expected.standardError);
    for (const [name, { value, standardError, method }] of Object.entries(found.sensitivities)) {
      const other = expected.sensitivities[name];
      expect([name, method, other.method]).toEqual([name, "adjoint", "pathwise"]);
      const size = Math.max(Math.abs(other.value[0]), other.standardError[0]);
      const apart = Math.abs(value[0] - other.value[0]);
      // Of 64 blocks, or 32 with reflections: the scatter's own error is 9 to 13 %.
      const ratio = other.standardError[0] > 0 ? standardError[0] / other.standardError[0] : 1;
      expect({ name, ratio, apart }).toSatisfy(() => apart <= 1e-10 * size && ratio > 0.55 && ratio < 1.8);
    }
  });

  // Of two cases one has other devices, and one the other precision.
  test.runIf(dealt([0], hand, 2).length > 0)(
    "threads, launches of few blocks, and a work item for each path change no bit",
    async () => {
      const expected = numbersOf(await monteCarlo(all));
      using several = createCpuDevice({ threads: 3, share: "always" });
      for (const other of [several, otherDevice("cpu", 2 ** 17), otherDevice("cuda", 2 ** 18)])
        expect(numbersOf(await monteCarlo({ ...all, device: other }))).toEqual(expected);
    },
  );

  test.runIf(dealt([0], hand + 1, 2).length > 0)("in f32, up to its rounding", async () => {
    const [single, double] = [await monteCarlo({ ...all, precision: "f32" }), await monteCarlo(all)];
    for (const [name, { value, standardError, method }] of Object.entries(double.sensitivities)) {
      const found = single.sensitivities[name];
      expect([found.method, method]).toEqual(["adjoint", "adjoint"]);
      // A path on the other side of a kink in f32 changes the mean by much less than the sampling error.
      const most = 2e-4 * Math.abs(value[0]) + 0.02 * standardError[0];
      expect({ name, apart: found.value[0] - value[0] }).toSatisfy(({ apart }) => Math.abs(apart) <= most);
    }
  });
});

/** Parameters that moved along a direction; those of these cases are numbers or have one for each step. */
const moved = (parameters: Parameters, along: Parameters, size: number): Parameters => {
  const at = (x: Parameter = 0, n: number): number => Number(typeof x === "object" && "byStep" in x ? x.byStep[n] : x);
  return Object.fromEntries(
    Object.entries(parameters).map(([name, x]) => {
      const isOne = typeof x === "number" && typeof (along[name] ?? 0) === "number";
      return [name, isOne ? x + size * at(along[name], 0) : stepsOf((n) => at(x, n) + size * at(along[name], n))];
    }),
  );
};

test.each([
  "three assets, rates and volatilities by step",
  "a table that paths look up, parameters of a product by step",
])("differences on the same paths agree: %s", async (name) => {
  const { directions, ...settings } = CASES[name];
  const all = { ...settings, device, dates, paths: 4096, seed: 3 };
  const { sensitivities } = await monteCarlo({ ...all, directions });
  const h = 1e-7;
  for (const [key, along] of Object.entries(directions)) {
    const [up, down] = await Promise.all(
      [h, -h].map(async (size) => {
        const model = { ...settings.model, parameters: moved(settings.model.parameters, along.model, size) };
        const product = { ...settings.product, parameters: moved(settings.product.parameters, along.product, size) };
        return (await monteCarlo({ ...all, model, product })).value[0];
      }),
    );
    const { value, standardError } = sensitivities[key];
    // A path that crosses a kink within the step, and rounding over the step.
    const most = 1e-6 * Math.abs(value[0]) + 1e-4 * standardError[0] + 1e-6;
    const apart = (up - down) / (2 * h) - value[0];
    expect({ key, apart }).toSatisfy(() => Math.abs(apart) <= most);
  }
});

test("the interpreter finds no access beyond an array, no race and no value that is not set", async () => {
  const interpreter = new InterpreterDevice();
  const settings = CASES["a table that paths look up, parameters of a product by step"];
  const all = { ...settings, dates: dates, paths: 1024, seed: 5 };
  const found = await monteCarlo({ ...all, device: interpreter });
  expect(numbersOf(found)).toEqual(numbersOf(await monteCarlo({ ...all, device })));
  expect(Object.values(found.sensitivities).every(({ method }) => method === "adjoint")).toBe(true);
});

test("closed forms within their errors, and errors that are the scatter of seeds", async () => {
  const [S, K, r, v, T] = [100, 105, 0.03, 0.25, 1.5];
  const d = (Math.log(S / K) + (r + 0.5 * v * v) * T) / (v * Math.sqrt(T));
  const vega = (S * Math.sqrt(T) * Math.exp((-d * d) / 2)) / Math.sqrt(2 * Math.PI);
  const rho = K * T * Math.exp(-r * T) * normalCdf(d - v * Math.sqrt(T));
  const model = geometricBrownian({ spots: [S], rate: r, volatilities: [v] });
  const directions = { ...byStep("volatility"), ...byStep("rate"), ...by("spot") };
  const product = european({ payoff: "call", strike: K });
  const runs: MonteCarloResult[] = [];
  for (let seed = 1; seed <= 60; seed++)
    runs.push(await monteCarlo({ device, model, product, dates, paths: 2048, seed, directions, control: "none" }));
  const exact: Record<string, number> = { spot: normalCdf(d) };
  for (let k = 0; k < STEPS; k++) {
    exact[`volatility ${k}`] = vega / STEPS;
    exact[`rate ${k}`] = rho / STEPS;
  }
  for (const [name, value] of Object.entries(exact)) {
    const of = runs.map(({ sensitivities }) => sensitivities[name]);
    const covered = of.filter((one) => Math.abs(one.value[0] - value) <= one.errorEstimate[0]).length;
    // Of 60 intervals of 95 %, fewer than 50 cover with a probability of 2e-4.
    const squares = of.reduce((sum, one) => sum + (one.value[0] - value) ** 2, 0) / of.length;
    const said = of.reduce((sum, one) => sum + one.standardError[0] ** 2, 0) / of.length;
    const ratio = Math.sqrt(squares / said);
    expect({ name, covered, ratio }).toSatisfy(() => covered >= 50 && ratio > 0.65 && ratio < 1.4);
  }
});

describe("where adjoints are not taken", () => {
  const many = { ...by("spot"), ...byStep("rate"), ...byStep("volatility"), ...more("spot"), ...byStep("yield") };
  const product = european({ payoff: "call", strike: 100 });

  test("Sobol' points have tangents, 32 at a time", async () => {
    const settings = { device, model: one, product, dates, sampling: "sobol", scramblings: 8, paths: 4096 } as const;
    const all = { ...many, ...Object.fromEntries(Object.entries(more("rate")).map(([k, x]) => [`r ${k}`, x])) };
    expect(Object.keys(all).length).toBeGreaterThan(32);
    const found = await monteCarlo({ ...settings, directions: all });
    const expected = await byTangents({ ...settings, directions: all });
    expect(numbersOf(found)).toEqual(numbersOf(expected));
  });

  test("a model whose loop ends where the path says has tangents", async () => {
    const model = pathModel({
      ...nodes,
      step: fn({
        params: modelParams.step,
        body({ state, normals, c }) {
          let x = state[0];
          while (x > 150) x = 0.9 * x;
          state[0] = x * (1 + c[1] + 0.2 * c[0] * normals[0]);
        },
      }),
    });
    const directions = { ...by("spot"), ...byStep("rate"), ...more("spot") };
    const settings = {
      device,
      model,
      product: european({ payoff: "call", strike: 90 }),
      dates,
      paths: 2048,
      directions,
    };
    const found = await monteCarlo(settings);
    expect(Object.values(found.sensitivities).map(({ method }) => method)).toEqual(
      Object.keys(directions).map(() => "pathwise"),
    );
    expect(numbersOf(found)).toEqual(numbersOf(await byTangents(settings)));
  });
});

test("a control's mean moves as fast as its parameters", async () => {
  const model = geometricBrownian({ spots: [100], rate: 0.03, volatilities: [0.25] });
  const settings = { device, model, product: asian({ payoff: "call", strike: 100 }), dates, paths: 4096 };
  const of = (speed: number) => ({
    spot: { ...none, model: { spot: speed } },
    volatility: { ...none, model: { volatility: speed } },
  });
  const [once, thrice] = [
    await monteCarlo({ ...settings, directions: of(1) }),
    await monteCarlo({ ...settings, directions: of(3) }),
  ];
  expect(once.control).toBeDefined();
  for (const name of ["spot", "volatility"])
    expect(thrice.sensitivities[name].value[0] / once.sensitivities[name].value[0]).toBeCloseTo(3, 6);
  expect(once.sensitivities["volatility"].value[0]).toBeGreaterThan(0);
});
