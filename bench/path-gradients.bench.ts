/** Gradients of Monte Carlo values to hundreds of inputs, beside the value: adjoints along paths. */
import { type Device, openDevice } from "../src/device/index.ts";
import { fn } from "../src/kernel/index.ts";
import {
  asian,
  basket,
  geometricBrownian,
  modelParams,
  monteCarlo,
  type MonteCarloSettings,
  pathModel,
  type PathModel,
  type Direction,
} from "../src/montecarlo/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";

const ASSETS = 10;
const MATURITIES = 6;
const STRIKES = 7;
const PILLARS = 7;
const STEPS = 360;
const FACTOR = (ASSETS * (ASSETS + 1)) / 2;
/** The distance of nodes in the logarithm of the spot. */
const WIDTH = 0.25;

/** The Cholesky factor of equal correlations, row by row. */
function factorOf(rho: number): number[] {
  const rows: number[][] = [];
  for (let i = 0; i < ASSETS; i++) {
    const row: number[] = [];
    for (let j = 0; j <= i; j++) {
      const other = i === j ? row : rows[j];
      const rest = (i === j ? 1 : rho) - row.reduce((sum, x, k) => sum + x * other[k], 0);
      row.push(i === j ? Math.sqrt(rest) : rest / rows[j][j]);
    }
    rows.push(row);
  }
  return rows.flat();
}

/** Assets with local volatilities on nodes, linear in the logarithm of the spot and in time: 420 nodes. */
function localVolatilities(): PathModel {
  const spots = Array.from({ length: ASSETS }, (_, i) => 82 + 4 * i);
  const numbered = (name: string, numbers: readonly number[]): Record<string, number> =>
    Object.fromEntries(numbers.map((x, k) => [`${name}${k + 1}`, x]));
  const nodes = spots.flatMap((_, i) =>
    Array.from({ length: MATURITIES * STRIKES }, (_one, k) => {
      const [time, place] = [Math.floor(k / STRIKES), (k % STRIKES) - (STRIKES - 1) / 2];
      return 0.16 + 0.01 * i + 0.004 * time - 0.015 * place + 0.005 * place * place;
    }),
  );
  return pathModel({
    name: "local volatilities on nodes",
    assets: ASSETS,
    state: ASSETS,
    normals: ASSETS,
    uniforms: 0,
    parameters: {
      ...numbered("spot", spots),
      ...numbered("node", nodes),
      ...numbered("centre", spots.map(Math.log)),
      ...numbered("factor", factorOf(0.5)),
      rate: { byStep: Array.from({ length: STEPS }, (_, n) => 0.02 + (0.01 * n) / STEPS) },
    },
    jumpsWith: [],
    // rate·dt, √dt, centres and factor; then the volatilities of the step, which paths look up
    coefficients: {
      count: 2 + ASSETS + FACTOR + ASSETS * STRIKES,
      copied: 2 + ASSETS + FACTOR,
      function: fn({
        name: "nodesAtTime",
        params: modelParams.coefficients,
        env: { A: ASSETS, T: MATURITIES, X: STRIKES, OWN: ASSETS + FACTOR },
        body({ p, t, dt, c }, gpu, { A, T, X, OWN }) {
          const nodes = A * T * X;
          c[0] = p[A + nodes + OWN] * dt;
          c[1] = Math.sqrt(dt);
          for (let j = 0; j < OWN; j++) c[2 + j] = p[A + nodes + j]!;
          const place = Math.min(t * gpu.real(T - 1), gpu.real(T - 1) - 1e-6);
          const k = Math.floor(place) | 0;
          const share = place - gpu.real(k);
          for (let i = 0; i < A; i++)
            for (let x = 0; x < X; x++) {
              const at = A + (i * T + k) * X + x;
              c[2 + OWN + i * X + x] = p[at] + share * (p[at + X] - p[at]);
            }
        },
      }),
    },
    start: fn({
      name: "startOfLogs",
      params: modelParams.start,
      env: { A: ASSETS },
      body({ p, state }, _gpu, { A }) {
        for (let i = 0; i < A; i++) state[i] = Math.log(p[i]);
      },
    }),
    step: fn({
      name: "stepOnNodes",
      params: modelParams.step,
      env: { A: ASSETS, X: STRIKES, INVERSE: 1 / WIDTH },
      body({ state, normals, c, dt, tables }, gpu, { A, X, INVERSE }) {
        let at = 2 + A;
        for (let i = 0; i < A; i++) {
          let sum = gpu.real(0);
          for (let j = 0; j <= i; j++) {
            sum += c[at] * normals[j];
            at += 1;
          }
          const middle = 0.5 * gpu.real(X - 1);
          const place = Math.min(Math.max((state[i] - c[2 + i]) * INVERSE + middle, 0), 2 * middle);
          const k = Math.min(Math.floor(place) | 0, X - 2);
          const share = place - gpu.real(k);
          const first = tables.first + (i * X + k) * tables.stride;
          const below = tables.values[first];
          const sigma = below + share * (tables.values[first + tables.stride] - below);
          state[i] = state[i] + c[0] - 0.5 * sigma * sigma * dt + sigma * c[1] * sum;
        }
      },
    }),
    observe: fn({
      name: "spotsOfLogs",
      params: modelParams.observe,
      env: { A: ASSETS },
      body({ state, spots }, _gpu, { A }) {
        for (let i = 0; i < A; i++) spots[i] = Math.exp(state[i]);
      },
    }),
  });
}

type Directions = Readonly<Record<string, Direction>>;

/** A direction in which parameters of the model move. */
const ofModel = (model: Direction["model"]): Direction => ({ model, product: {}, control: {} });
const named = (names: readonly string[]): Directions =>
  Object.fromEntries(names.map((name) => [name, ofModel({ [name]: 1 })]));
const strike: Directions = { strike: { model: {}, product: { strike: 1 }, control: {} } };

/** Hat functions of time for the pillars of a rate that is linear between them. */
const pillars = (): Directions =>
  Object.fromEntries(
    Array.from({ length: PILLARS }, (_, k) => {
      const hat = (n: number): number => Math.max(0, 1 - Math.abs(((PILLARS - 1) * n) / (STEPS - 1) - k));
      return [`pillar${k + 1}`, ofModel({ rate: { byStep: Array.from({ length: STEPS }, (_one, n) => hat(n)) } })];
    }),
  );

interface Case {
  readonly name: string;
  readonly settings: MonteCarloSettings;
  readonly directions: Directions;
  /** The inputs whose derivatives are compared with differences of the same paths. */
  readonly compared: readonly string[];
}

function cases(quick: boolean): readonly Case[] {
  const model = localVolatilities();
  const ofBasket = Object.keys(model.parameters).filter((name) => /^(spot|node)/.test(name));
  const days = Array.from({ length: 252 }, (_, n) => (n + 1) / 252);
  const volatility = { byStep: days.map((t) => 0.2 + 0.05 * t) };
  const byDay = (name: string): Directions =>
    Object.fromEntries(
      days.map((_, k) => [`${name} ${k}`, ofModel({ [name]: { byStep: days.map((_one, n) => Number(n === k)) } })]),
    );
  const rate = { byStep: days.map((t) => 0.03 + 0.01 * t) };
  return [
    {
      name: "basket of 10 local volatilities, 438 inputs, 10,000 paths, 360 steps",
      settings: {
        model,
        product: basket({ payoff: "call", strike: 100, weights: Array.from({ length: ASSETS }, () => 0.1) }),
        dates: [1],
        substeps: STEPS,
        paths: quick ? 1024 : 10_000,
      },
      directions: { ...named(ofBasket), ...pillars(), ...strike },
      compared: ["spot1", "spot10", "node4", "node130", "node256", "node418"],
    },
    {
      name: "Asian of 252 dates, volatility and rate of each day and two more, 506 inputs, 65,536 paths",
      settings: {
        model: geometricBrownian({ spots: [100], rate, volatilities: [volatility] }),
        product: asian({ payoff: "call", strike: 100 }),
        dates: days,
        paths: quick ? 1024 : 65_536,
        control: "none",
      },
      directions: { ...byDay("volatility"), ...byDay("rate"), ...named(["spot"]), ...strike },
      compared: ["spot"],
    },
  ];
}

async function onDevice(device: Device, name: string, context: Context): Promise<void> {
  for (const precision of ["f64", "f32"] as const) {
    if (!device.precisions.includes(precision)) continue;
    for (const { name: what, settings, directions, compared } of cases(context.quick)) {
      const all = { ...settings, device, precision };
      const seconds = async (along: Directions): Promise<number> => {
        const start = performance.now();
        await monteCarlo({ ...all, directions: along });
        return (performance.now() - start) / 1e3;
      };
      await seconds({});
      await seconds(directions);
      const rounds: { readonly value: number; readonly gradient: number }[] = [];
      for (let k = 0; k < (context.quick ? 1 : 5); k++)
        rounds.push({ value: await seconds({}), gradient: await seconds(directions) });
      const value = median(rounds.map((round) => round.value));
      const gradient = median(rounds.map((round) => round.gradient));
      const common = { device: name, precision } as const;
      context.report({ ...common, case: `${what}: value`, figure: 1e3 * value, unit: "ms" });
      const { sensitivities } = await monteCarlo({ ...all, directions });
      const bumps = await monteCarlo({ ...all, sensitivities: compared, sensitivityMethod: "bump" });
      const errors = compared.map((one) => {
        const [found, bump] = [sensitivities[one], bumps.sensitivities[one]];
        context.note(
          `${one}: ${found.value[0].toFixed(6)} ± ${found.errorEstimate[0].toFixed(6)} (${found.method}), ` +
            `by bumps ${bump.value[0].toFixed(6)}`,
        );
        return Math.abs(found.value[0] - bump.value[0]);
      });
      context.report({
        ...common,
        case: `${what}: gradient`,
        figure: 1e3 * gradient,
        unit: "ms",
        error: Math.max(...errors),
      });
      context.report({
        ...common,
        case: `${what}: gradient beside the value`,
        figure: gradient / value,
        unit: "times",
      });
    }
  }
}

async function run(context: Context): Promise<void> {
  {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    await onDevice(device, `${context.cpu}, one thread`, context);
  }
  try {
    using device = await openDevice({ backend: "cuda" });
    await onDevice(device, device.name, context);
  } catch (error) {
    context.note(`CUDA: ${(error as Error).message.split("\n")[0]}`);
  }
}

export const benchmark: Benchmark = {
  name: "path-gradients",
  description: "Monte Carlo: gradients to hundreds of inputs beside the value, by adjoints along paths",
  run,
};
