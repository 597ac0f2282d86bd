import { type CpuDevice, createCpuDevice } from "../src/device/cpu/index.ts";
import {
  asian,
  basket,
  blackScholes,
  european,
  geometricBrownian,
  heston,
  longstaffSchwartz,
  monteCarlo,
} from "../src/montecarlo/index.ts";
import { type Benchmark, type Context, inTurns, median, medianSeconds } from "./harness.ts";
import { type Answer, openQuantLib, type QuantLib } from "./peers/quantlib.ts";

const days = (years: number): number => Math.round(365 * years) / 365;
const seconds = async (run: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1e3;
};
const only = async (peer: QuantLib, job: Parameters<QuantLib["price"]>[0][number]): Promise<Answer> => {
  const [answer] = await peer.price([job]);
  return answer;
};

/** The paper's put: 100,000 paths and 50 dates. Exact prices: LSM-O-01 and -02 of test/fixtures/reference. */
async function earlyExercise(device: CpuDevice, peer: QuantLib | undefined, context: Context): Promise<void> {
  const paths = context.quick ? 2 ** 13 : 100_000;
  const dates = Array.from({ length: 50 }, (_, k) => (k + 1) / 50);
  const product = european({ payoff: "put", strike: 40 });
  for (const [volatility, exact] of [
    [0.2, 4.477811111140544],
    [0.4, 7.101265449935223],
  ] as const) {
    const model = blackScholes({ spot: 36, rate: 0.06, volatility });
    const run = () => longstaffSchwartz({ device, model, product, dates, paths });
    const { value, standardError } = await run();
    const option = {
      type: "put",
      exercise: "american",
      spot: 36,
      strike: 40,
      rate: 0.06,
      yield: 0,
      maturity: 1,
    } as const;
    const job = {
      ...option,
      engine: "mc-american",
      vol: volatility,
      paths,
      steps: 50,
      calibration: 4096,
      seed: 1,
    } as const;
    const common = { device: context.cpu, precision: "f64", unit: "s" } as const;
    const what = `Longstaff-Schwartz, ${paths.toLocaleString("en-US")} paths, 50 dates, volatility ${volatility}, one thread`;
    context.note(
      `${what}: ${value[0].toFixed(4)}, standard error ${standardError[0].toFixed(4)}, exact ${exact.toFixed(4)}`,
    );
    if (peer === undefined) {
      context.report({ ...common, case: what, figure: await medianSeconds(3, run), error: standardError[0] });
      continue;
    }
    const theirs = await only(peer, { ...job, repetitions: 0 });
    context.note(`QuantLib: ${theirs.price.toFixed(4)}, standard error ${theirs.standardError?.toFixed(4)}`);
    const timed = async (): Promise<number> => (await only(peer, { ...job, repetitions: 1 })).seconds;
    const { one, other } = await inTurns(context.quick ? 0 : 5000, () => seconds(run), timed);
    const peers = { "QuantLib MCAmericanEngine": other };
    context.report({ ...common, case: what, figure: one, peers, error: standardError[0] });
  }
}

/** A 12-date arithmetic Asian with a control, both with Sobol' points: errors over five strikes beside times. */
async function asians(device: CpuDevice, peer: QuantLib | undefined, context: Context): Promise<void> {
  const dates = Array.from({ length: 12 }, (_, k) => days((k + 1) / 12));
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
  const strikes = [90, 95, 100, 105, 110];
  const job = {
    engine: "mc-asian",
    type: "call",
    exercise: "european",
    spot: 100,
    rate: 0.05,
    yield: 0,
    vol: 0.2,
  } as const;
  const rootMeanSquare = (errors: readonly number[]): number =>
    Math.sqrt(errors.reduce((sum, x) => sum + x * x, 0) / errors.length);
  const exact: number[] = [];
  const theirs: number[] = [];
  if (peer !== undefined)
    for (const strike of strikes) {
      const option = { ...job, strike, maturity: 1, fixings: dates, repetitions: 0 };
      exact.push((await only(peer, { ...option, paths: 2 ** (context.quick ? 14 : 20) - 1 })).price);
      theirs.push((await only(peer, { ...option, paths: 8191 })).price);
    }
  for (const [precision, paths] of [
    ["f64", 8192],
    ["f64", 16_384],
    ["f32", 16_384],
  ] as const) {
    // Few scramblings have longer sequences each, and so the smaller error; reflections cost a third of a path.
    const how = { sampling: "sobol", scramblings: 8, antithetic: true, paths, precision } as const;
    const settings = (strike: number, seed: number) =>
      ({ model, product: asian({ payoff: "call", strike }), dates, seed, ...how }) as const;
    const errors: number[] = [];
    const seeds = peer === undefined ? 0 : context.quick ? 2 : 16;
    for (const [i, strike] of strikes.entries())
      for (let seed = 0; seed < seeds; seed++)
        errors.push((await monteCarlo({ ...settings(strike, seed), device })).value[0] - exact[i]);
    const run = () => monteCarlo({ ...settings(100, 1), device });
    const common = { device: context.cpu, precision, unit: "s" } as const;
    const what = `Asian, 12 dates, ${paths} Sobol' paths and reflections with control, one thread`;
    if (peer === undefined) {
      context.report({ ...common, case: what, figure: await medianSeconds(9, run) });
      continue;
    }
    const timed = async (): Promise<number> =>
      (await only(peer, { ...job, strike: 100, maturity: 1, fixings: dates, paths: 8191, repetitions: 5 })).seconds;
    const { one, other } = await inTurns(context.quick ? 0 : 5000, () => medianSeconds(5, run), timed);
    const peers = { "QuantLib, 8191 paths": other };
    context.report({ ...common, case: what, figure: one, peers, error: rootMeanSquare(errors) });
  }
  if (peer !== undefined)
    context.note(
      `root mean square error of QuantLib's 8191 paths: ${rootMeanSquare(theirs.map((x, i) => x - exact[i])).toExponential(1)}`,
    );
}

/** A step of a path, of each kind. */
async function steps(device: CpuDevice, context: Context): Promise<void> {
  const paths = context.quick ? 2 ** 12 : 2 ** 15;
  const dates = Array.from({ length: 50 }, (_, k) => (k + 1) / 50);
  const call = european({ payoff: "call", strike: 100 });
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
  const correlation = [1, 2, 3, 4, 5].map((i) => [1, 2, 3, 4, 5].map((j) => (i === j ? 1 : 0.3)));
  const five = { spots: [100, 100, 100, 100, 100], rate: 0.05, volatilities: [0.2, 0.2, 0.3, 0.3, 0.4], correlation };
  const basketOfFive = basket({ payoff: "put", strike: 100, weights: [0.2, 0.2, 0.2, 0.2, 0.2] });
  const hestonModel = heston({ spot: 100, rate: 0.03, v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7 });
  const cases = {
    "Black-Scholes": { model, product: call },
    "Black-Scholes, arithmetic average with control": { model, product: asian({ payoff: "call", strike: 100 }) },
    "Black-Scholes, delta and gamma by bumps": {
      model,
      product: call,
      sensitivities: ["delta", "gamma"],
      sensitivityMethod: "bump" as const,
    },
    "five correlated assets": { model: geometricBrownian(five), product: basketOfFive },
    "Heston, QE-M": { model: hestonModel, product: call },
  };
  const threads = device.threads === 1 ? "one thread" : `${device.threads} threads`;
  for (const [name, settings] of Object.entries(cases))
    for (const precision of ["f64", "f32"] as const) {
      const run = () => monteCarlo({ device, ...settings, dates, paths, precision });
      const figure = (1e9 * (await medianSeconds(context.quick ? 2 : 5, run))) / (paths * dates.length);
      context.report({ case: `a step: ${name}, ${threads}`, device: context.cpu, precision, figure, unit: "ns" });
    }
}

/** Greeks along paths beside values alone, in turns: an average over a year of days, and Heston's model. */
async function greeks(device: CpuDevice, context: Context): Promise<void> {
  const paths = context.quick ? 2 ** 10 : 2 ** 14;
  const days = Array.from({ length: 252 }, (_, k) => (k + 1) / 252);
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
  const average = { model, product: asian({ payoff: "call", strike: 100 }), dates: days };
  const variance = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7 };
  const stochastic = {
    model: heston({ spot: 100, rate: 0.03, ...variance }),
    product: european({ payoff: "call", strike: 100 }),
    dates: days.slice(0, 50),
  };
  const cases = [
    ["Asian, 252 dates", average, ["delta"]],
    ["Asian, 252 dates", average, ["delta", "vega", "rho"]],
    ["Heston, 50 dates", stochastic, ["delta", "rho", "yield"]],
  ] as const;
  for (const [name, settings, sensitivities] of cases) {
    const ratios: number[] = [];
    const one = () => monteCarlo({ device, ...settings, paths });
    const all = () => monteCarlo({ device, ...settings, paths, sensitivities });
    const { sensitivities: found } = await all();
    for (let round = 0; round < (context.quick ? 3 : 15); round++) {
      const value = await seconds(one);
      ratios.push((await seconds(all)) / value);
    }
    context.report({
      case: `${name}, value and ${sensitivities.join(", ")}, beside the value, one thread`,
      device: context.cpu,
      precision: "f64",
      figure: median(ratios),
      unit: "times",
      error: found["delta"].standardError[0],
    });
  }
}

/** Many trades at once: 64 paths by 12 dates each, from settings to values. */
async function batch(device: CpuDevice, context: Context): Promise<void> {
  const trades = context.quick ? 1000 : 20_000;
  const strikes = Float64Array.from({ length: trades }, (_, i) => 80 + (40 * i) / trades);
  const dates = Array.from({ length: 12 }, (_, k) => (k + 1) / 12);
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
  const run = () =>
    monteCarlo({ device, model, product: asian({ payoff: "call", strike: strikes }), dates, paths: 1024 });
  const figure = (1e6 * (await medianSeconds(context.quick ? 2 : 3, run))) / trades;
  const what = `a trade of ${trades.toLocaleString("en-US")} Asians, 12 dates, 1,024 paths, ${device.threads} threads`;
  context.report({ case: what, device: context.cpu, precision: "f64", figure, unit: "µs" });
}

async function run(context: Context): Promise<void> {
  using peer = openQuantLib((text) => {
    context.note(text);
  });
  using one = createCpuDevice({ threads: 1 });
  await earlyExercise(one, peer, context);
  await asians(one, peer, context);
  await steps(one, context);
  await greeks(one, context);
  if (!context.quick) {
    using two = createCpuDevice({ threads: 2 });
    await steps(two, context);
    await batch(two, context);
  }
}

export const benchmark: Benchmark = {
  name: "montecarlo",
  description: "Monte Carlo on the CPU: early exercise and averages beside QuantLib, steps of models, batches",
  run,
};
