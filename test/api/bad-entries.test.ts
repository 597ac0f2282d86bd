/** Columns with bad numbers at random: they fail their entries, and all others keep the bits that they have alone. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { Cholesky, choleskySpec, DeviceArray } from "../../src/numerics/linalg/index.ts";
import {
  asian,
  basket,
  blackScholes,
  type Estimates,
  european,
  gaussianFactors,
  geometricBrownian,
  heston,
  hullWhite,
  longstaffSchwartz,
  lookback,
  monteCarlo,
  type MonteCarloSettings,
  terminalPayoff,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import {
  gaussianSwings,
  meanRevertingFactors,
  QuantizationTree,
  wholeSwings,
} from "../../src/quadrature/quantization/index.ts";
import { uniform } from "../calibration/uniform.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** Draws a column of good numbers in a range; the entries that it spoils have one of the bad numbers. */
type Draw = (from: number, to: number, ...bad: readonly number[]) => number[];

/** The results of a batch of columns, and those of the same batch without its bad entries. */
interface Drawn<T> {
  readonly all: T;
  readonly goodOnly: T;
  readonly good: readonly number[];
  readonly bad: readonly number[];
}

/** Draws the columns of two to seven entries, some of which are spoilt in one column each. */
function drawn<T>(seed: number, build: (draw: Draw) => T): Drawn<T> {
  const random = uniform(seed);
  for (let k = 0; k < 3; k++) random();
  const count = 2 + Math.floor(6 * random());
  const owners = Array.from({ length: count }, () => Math.floor(random() < 0.5 ? Infinity : 9 * random()));
  let columns = 0;
  const drawing = (kept: (i: number) => boolean): Draw => {
    const numbers = uniform(seed + 1);
    columns = 0;
    return (from, to, ...bad) => {
      const own = columns++;
      const column = owners.map((owner) => {
        const [x, which] = [numbers(), numbers()];
        return owner === own ? bad[Math.floor(bad.length * which)] : from + x * (to - from);
      });
      return column.filter((_, i) => kept(i));
    };
  };
  const all = build(drawing(() => true));
  const isBad = owners.map((owner) => owner < columns);
  const goodOnly = isBad.includes(false) ? build(drawing((i) => !isBad[i])) : all;
  const entries = [...owners.keys()];
  return { all, goodOnly, good: entries.filter((i) => !isBad[i]), bad: entries.filter((i) => isBad[i]) };
}

/** The numbers of some entries in all columns of a result. */
const numbersAt = (columns: readonly ArrayLike<unknown>[], entries: readonly number[]): unknown[] =>
  columns.map((column) => entries.map((i) => column[i]));

/** A result: its status and error, what failed entries have NaN in, and the other columns. */
interface Columns {
  readonly status: readonly string[];
  readonly error: readonly (Error | undefined)[];
  readonly numbers: readonly Float64Array[];
  readonly others?: readonly ArrayLike<unknown>[];
}

function expectLocal({ good, bad }: Drawn<unknown>, found: Columns, alone: Columns | undefined): void {
  const columns = ({ status, numbers, others = [] }: Columns) => [status, ...numbers, ...others];
  for (const i of bad) {
    expect(found.status[i]).toBe("error");
    expect(found.error[i]?.message).toMatch(/expected/);
    for (const column of found.numbers) expect(column[i]).toBeNaN();
  }
  for (const i of good) expect(found.error[i]).toBeUndefined();
  if (alone !== undefined) expect(numbersAt(columns(found), good)).toEqual(numbersAt(columns(alone), [...good.keys()]));
}

const estimates = (...all: readonly Estimates[]): Float64Array[] =>
  all.flatMap(({ value, standardError, errorEstimate }) => [value, standardError, errorEstimate]);

const dates = [0.5, 1];
const simulations: Readonly<Record<string, (draw: Draw) => MonteCarloSettings>> = {
  "Black and Scholes' model, with sensitivities": (draw) => ({
    model: blackScholes({
      spot: draw(90, 110, 0, -1, NaN),
      rate: draw(0, 0.05, NaN, Infinity),
      volatility: { byStep: [draw(0.1, 0.3, -0.1), 0.2] },
    }),
    product: european({ payoff: "call", strike: draw(90, 110, Infinity) }),
    dates,
    sensitivities: ["delta", "vega"],
  }),
  "Heston's model, knocked out, on Sobol' points": (draw) => ({
    model: heston({
      spot: draw(90, 110, -1),
      v0: draw(0.02, 0.06, -0.04),
      kappa: draw(1, 2, 0),
      theta: 0.04,
      sigma: draw(0.3, 0.6, 0, NaN),
      rho: draw(-0.8, 0.8, -1.01, 2),
    }),
    product: withBarriers({
      product: european({ payoff: "put", strike: 100 }),
      barriers: [{ type: "down-and-out", level: draw(50, 80, -1, 0) }],
      rebate: draw(0, 1, NaN),
    }),
    dates: [1],
    substeps: 2,
    sampling: "sobol",
    scramblings: 8,
  }),
  "three assets with correlations": (draw) => {
    // With ±0.5 beside it a correlation of 1 leaves no factor.
    const rho = draw(-0.4, 0.3, 1, 2, NaN);
    const correlation = [
      [1, rho, 0.5],
      [rho, 1, -0.5],
      [0.5, -0.5, 1],
    ];
    const volatilities = [0.2, draw(0.1, 0.3, -1), 0.3];
    return {
      model: geometricBrownian({ spots: [draw(90, 110, 0), 100, 100], volatilities, correlation }),
      product: basket({ payoff: "call", strike: 100, weights: [0.3, draw(0.2, 0.4, NaN), 0.4] }),
      dates: [1],
    };
  },
  "an accuracy, a control variate and dates of each": (draw) => ({
    model: blackScholes({ spot: 100, volatility: draw(0.2, 0.4, -1) }),
    product: asian({ payoff: "call", strike: draw(95, 105, NaN) }),
    dates: [draw(0.2, 0.5, 0, -1, 2), draw(0.8, 1, NaN, 0.1)],
    accuracy: { absolute: draw(0.05, 0.2, 0, -1, NaN) },
    paths: 64,
    maxPaths: 1024,
  }),
  "variants and measures": (draw) => ({
    model: blackScholes({ spot: 100, volatility: 0.2 }),
    product: lookback({ payoff: "put", strike: draw(95, 105, NaN), extremum: draw(101, 110, 0) }),
    dates,
    variants: [
      {
        model: blackScholes({ spot: draw(101, 102, -1), volatility: 0.2 }),
        product: lookback({ payoff: "put", strike: 100, extremum: draw(101, 110, -5) }),
      },
    ],
    measures: { slope: [-1, [1]] },
  }),
  "two Gaussian factors": (draw) => ({
    model: gaussianFactors({
      spot: 20,
      alpha: [draw(0.1, 0.3, -1), 5],
      sigma: [0.4, draw(0.5, 1, -1, NaN)],
      rho: draw(-0.2, 0.2, 3),
    }),
    product: european({ payoff: "call", strike: draw(18, 22, -Infinity) }),
    dates,
  }),
  "Hull and White's rate, antithetic": (draw) => ({
    model: hullWhite({
      forward: { byStep: [0.03, draw(0.02, 0.04, NaN)] },
      meanReversion: draw(0.05, 0.1, -1),
      volatility: draw(0.01, 0.02, -0.01),
    }),
    product: terminalPayoff({ payoff: "max(S1, 0)", assets: 1 }),
    dates,
    antithetic: true,
  }),
};

describe("monteCarlo", () => {
  test.each(Object.entries(simulations))("%s", async (_, build) => {
    const run = async (settings: MonteCarloSettings, streams: readonly number[]): Promise<Columns> => {
      const result = await monteCarlo({ device, paths: 128, ...settings, streams });
      const { status, error, sensitivities, paths, effectivePaths } = result;
      return {
        status,
        error,
        numbers: estimates(result, ...Object.values(sensitivities)),
        others: [paths, effectivePaths],
      };
    };
    for (let round = 0; round < 30; round++) {
      const batch = drawn(1000 + round, build);
      const streams = [...batch.good, ...batch.bad].toSorted((a, b) => a - b);
      const alone = batch.good.length === 0 ? undefined : await run(batch.goodOnly, batch.good);
      expectLocal(batch, await run(batch.all, streams), alone);
    }
  });
});

test("longstaffSchwartz", async () => {
  const build = (draw: Draw) => ({
    model: blackScholes({ spot: draw(90, 110, 0, NaN), rate: draw(0, 0.1, NaN), volatility: draw(0.1, 0.3, -0.1) }),
    product: european({ payoff: "put", strike: draw(95, 110, Infinity) }),
    dates: [draw(0.2, 0.4, -1, 0.7), 0.6, 1],
    upper: { outer: 4, inner: 4 },
  });
  const run = async (settings: ReturnType<typeof build>, streams: readonly number[]): Promise<Columns> => {
    const result = await longstaffSchwartz({ device, paths: 64, regressionPaths: 128, ...settings, streams });
    const { status, error, condition, regression, upper } = result;
    return { status, error, numbers: [...estimates(result, regression, upper!), condition] };
  };
  for (let round = 0; round < 20; round++) {
    const batch = drawn(2000 + round, build);
    const streams = [...batch.good, ...batch.bad].toSorted((a, b) => a - b);
    const alone = batch.good.length === 0 ? undefined : await run(batch.goodOnly, batch.good);
    expectLocal(batch, await run(batch.all, streams), alone);
  }
});

describe("swings", () => {
  const times = [0, 0.25, 0.5, 0.75, 1];
  const chain = meanRevertingFactors({ times, meanReversion: [1] });
  const bounds = (draw: Draw): { readonly least: number; readonly most: number }[] => {
    const least = draw(0, 0, 0.5, -1, 6, NaN, Infinity);
    const most = draw(1, 4, -1, 6, 2.5, NaN);
    return least.map((low, i) => ({ least: low, most: most[i] % 1 === 0.5 ? most[i] : Math.floor(most[i]) }));
  };

  test("gaussianSwings", async () => {
    const settings = { device, chain, sigma: [0.4], startsAtOnce: true, spacing: 0.5 };
    const build = (draw: Draw) => {
      const strike = draw(15, 25, NaN, Infinity);
      const slopes = times.map(() => 20);
      return bounds(draw).map((own, i) => ({ slopes, fixed: times.map((_, k) => strike[i] + k), ...own }));
    };
    for (let round = 0; round < 100; round++) {
      const batch = drawn(3000 + round, build);
      const [found, alone] = [
        await gaussianSwings(settings, batch.all),
        batch.good.length === 0 ? undefined : await gaussianSwings(settings, batch.goodOnly),
      ].map((one) => one && { ...one, numbers: [one.value] });
      expectLocal(batch, found!, alone);
    }
  });

  test("wholeSwings", async () => {
    using tree = await QuantizationTree.create(device, { chain, size: 10 });
    const isDate = [false, true, true, true, true];
    const build = (draw: Draw) => {
      const strike = draw(-0.5, 0.5, NaN, Infinity);
      return bounds(draw).map((own, i) => ({ payoff: tree.points.map((x) => x - strike[i]), ...own }));
    };
    for (let round = 0; round < 100; round++) {
      const batch = drawn(4000 + round, build);
      const [found, alone] = [
        await wholeSwings(tree, batch.all, isDate),
        batch.good.length === 0 ? undefined : await wholeSwings(tree, batch.goodOnly, isDate),
      ].map((one) => one && { ...one, numbers: [one.value] });
      expectLocal(batch, found!, alone);
    }
  });

  test("what is malformed as a whole is thrown, with its place", async () => {
    const swing = { slopes: times, fixed: times, least: 0, most: 1 };
    const settings = { device, chain, sigma: [0.4], startsAtOnce: true, spacing: 0.5 };
    const call = (swings: unknown) => gaussianSwings(settings, swings as never);
    await expect(call({})).rejects.toThrow("gaussianSwings: swings: got an object, expected a list of swings");
    await expect(call([{ ...swing, fixed: [1] }])).rejects.toThrow(/swings\[0\]: got 5 slopes and 1 fixed amounts/);
    await expect(call([swing, { ...swing, least: "1" }])).rejects.toThrow(/swings\[1\]\.least: got a string/);
  });
});

test("Cholesky", async () => {
  for (const size of [1, 3, 16, 17]) {
    for (let round = 0; round < 12; round++) {
      const { all, goodOnly, good, bad } = drawn(5000 + 100 * size + round, (draw) => {
        const diagonal = draw(2 * size, 3 * size, 0, -1, NaN, -Infinity);
        return diagonal.map((own) =>
          Array.from({ length: size * size }, (_, k) => (k % (size + 1) === 0 ? own : 1 / (1 + (k % size)))),
        );
      });
      const factors = async (matrices: readonly number[][]) => {
        const batch = matrices.length;
        using a = await DeviceArray.create(device, [batch, size, size], { values: matrices.flat() });
        using cholesky = await Cholesky.create(device, choleskySpec({ size, batch }));
        const [status, l] = [await cholesky.factor(a), await a.download()];
        return Array.from(status, (one, i) => ({ one, l: l.slice(i * size * size, (i + 1) * size * size) }));
      };
      const found = await factors(all);
      for (const i of bad) {
        expect(found[i].one).toBeGreaterThan(0);
        expect(found[i].l.every(Number.isNaN)).toBe(true);
      }
      if (good.length > 0) expect(good.map((i) => found[i])).toEqual(await factors(goodOnly));
    }
  }
});
