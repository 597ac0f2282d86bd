/** Swing options: every reference case, volumes between whole numbers, local bounds, dates. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type AutoregressiveChain,
  meanRevertingFactors,
  type NodePayoff,
  QuantizationTree,
  swingOption,
  type SwingSettings,
  type TreeSettings,
} from "../../../src/quadrature/quantization/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { type Case, casesOf, extrapolated } from "./support.ts";

beforeAll(() => void vi.stubEnv("FEYNKAC_CACHE", "off"));
afterAll(() => void vi.unstubAllEnvs());
const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const device = devices[0].device!;
afterEach(() => expect(device.liveBuffers).toBe(0));

async function swing(tree: TreeSettings, settings: SwingSettings): Promise<number> {
  using made = await QuantizationTree.create(device, tree);
  return (await swingOption(made, settings)).value;
}

interface Problem {
  readonly chain: AutoregressiveChain;
  readonly payoff: NodePayoff;
  readonly settings: Omit<SwingSettings, "payoff">;
}

/** S = forward·exp(Σ σᵢ·Xᵢ − ½·Var), Black–Scholes being the factor without mean reversion. */
function problemOf({ params }: Case): Problem {
  const p = params as unknown as Record<string, number> & {
    model: string;
    option_type: string;
    exercise_times: number[] | string;
  };
  const dates =
    typeof p.exercise_times === "string" ? Array.from({ length: 365 }, (_, k) => k / 365) : p.exercise_times;
  const times = dates[0] === 0 ? dates : [0, ...dates];
  const isTwo = p.model === "gauss_2f";
  const meanReversion = isTwo ? [p.alpha1, p.alpha2] : [p.model === "gbm" ? 0 : p.alpha];
  const sigma = isTwo ? [p.sigma1, p.sigma2] : [p.sigma];
  const correlation = isTwo
    ? [
        [1, p.rho],
        [p.rho, 1],
      ]
    : [[1]];
  const chain = meanRevertingFactors({ times, meanReversion, correlation });
  const d = sigma.length;
  const variances = chain.covariances.map((c) =>
    c.reduce((sum, x, at) => sum + sigma[Math.floor(at / d)] * sigma[at % d] * x, 0),
  );
  const growth = p.model === "gbm" ? p.rate - p.dividend_yield : 0;
  const sign = p.option_type === "put" ? -1 : 1;
  const payoff: NodePayoff = (x, t, k) => {
    const exponent = sigma.reduce((sum, s, i) => sum + s * x[i], growth * t - 0.5 * variances[k]);
    return sign * (p.s0 * Math.exp(exponent) - p.strike);
  };
  const first = times.length - dates.length;
  const settings = { rate: p.rate, global: [p.q_min, p.q_max] as const, dates: (_t: number, k: number) => k >= first };
  return { chain, payoff, settings };
}

const priceOf = ({ expected }: Case): number => (expected as unknown as { price: number }).price;

describe("reference cases", () => {
  const cases = casesOf("swing");
  const inOneFactor = cases.filter(({ params }) => (params as unknown as { model?: string }).model !== "gauss_2f");
  const daily = (one: Case): boolean =>
    typeof (one.params as unknown as { exercise_times: unknown }).exercise_times === "string";

  test.each(inOneFactor.filter((one) => !daily(one)).map((one) => [one.id, one] as const))(
    "%s: extrapolated from 100 and 200 points",
    async (_, one) => {
      const { chain, payoff, settings } = problemOf(one);
      const values = [];
      for (const size of [100, 200]) values.push(await swing({ chain, size }, { payoff, ...settings }));
      const value = extrapolated(values[0], values[1]);
      // Second order, but for kinks inside of cells (SWG-O-03 and O-07, where rights are not scarce).
      expect(Math.abs(value / priceOf(one) - 1)).toBeLessThan(1e-4);
    },
  );

  test.each(inOneFactor.filter(daily).map((one) => [one.id, one] as const))(
    "%s: a year of days, extrapolated from 50 and 100 points",
    async (_, one) => {
      const { chain, payoff, settings } = problemOf(one);
      const values = [];
      for (const size of [50, 100]) values.push(await swing({ chain, size }, { payoff, ...settings }));
      expect(Math.abs(extrapolated(values[0], values[1]) / priceOf(one) - 1)).toBeLessThan(2e-3);
    },
  );

  test.each(cases.filter((one) => !inOneFactor.includes(one)).map((one) => [one.id, one] as const))(
    "%s: two factors, 200 points, the spot's mean corrected on the grid",
    async (_, one) => {
      const { chain, payoff, settings } = problemOf(one);
      const { strike } = one.params as unknown as { strike: number };
      using tree = await QuantizationTree.create(device, { chain, size: 200, paths: 100_000 });
      const spot = (x: Float64Array, t: number, k: number): number => payoff(x, t, k) + strike;
      // E S(X̂) is below E S(X) = 20: the convex function of a cell's mean.
      const means = tree.times.map((t, k) => {
        const points = tree.layer(k);
        const size = tree.sizes[k];
        const weights = k === 0 ? [1] : tree.root;
        let sum = 0;
        for (let i = 0; i < size; i++) sum += weights[i] * spot(points.subarray(2 * i, 2 * i + 2), t, k);
        return sum / 20;
      });
      const corrected: NodePayoff = (x, t, k) => spot(x, t, k) / means[k] - strike;
      const { value } = await swingOption(tree, { payoff: corrected, ...settings });
      // What the reference says that quantization with 500 points reaches: 1e-3 to 1e-2.
      expect(Math.abs(value / priceOf(one) - 1)).toBeLessThan(0.01);
    },
  );
});

describe("volumes", () => {
  const chain = meanRevertingFactors({ times: [0, 0.5, 1, 1.5], meanReversion: [1] });
  const tree = { chain, size: 5 };
  const payoff: NodePayoff = ([x], t) => Math.exp(x) - 1 - 0.1 * t;

  /** Dynamic programming over volumes in units of 1/parts, with any number of units on a date. */
  async function reference(parts: number, local: readonly [number, number], global: readonly [number, number]) {
    using made = await QuantizationTree.create(device, tree);
    const [low, high] = local.map((volume) => Math.round(volume * parts));
    const [least, most] = global.map((volume) => Math.round(volume * parts));
    const last = chain.times.length - 1;
    const steps = await Promise.all(chain.times.slice(1).map((_, k) => made.transitions(k)));
    const value = (k: number, i: number, used: number): number => {
      if (k > last) return used >= least && used <= most ? 0 : -Infinity;
      const h = payoff(made.layer(k).subarray(i, i + 1), chain.times[k], k);
      let best = -Infinity;
      for (let q = low; q <= high; q++) best = Math.max(best, (q / parts) * h + continued(k, i, used + q));
      return best;
    };
    const known = new Map<string, number>();
    const continued = (k: number, i: number, used: number): number => {
      if (k === last) return value(k + 1, 0, used);
      const key = `${k} ${i} ${used}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const [from, to] = [made.sizes[k], made.sizes[k + 1]];
      const p = steps[k].subarray(i * to, (i + 1) * to);
      expect(steps[k].length).toBe(from * to);
      const sum = p.reduce(
        (total, probability, j) => total + (probability === 0 ? 0 : probability * value(k + 1, j, used)),
        0,
      );
      known.set(key, sum);
      return sum;
    };
    return value(0, 0, 0);
  }

  test.each([
    ["whole", 1, [0, 1], [1, 3]],
    ["whole, at least two", 1, [0, 1], [2, 2]],
    ["halves", 2, [0, 1], [1.5, 2.5]],
    ["the lower bound between", 4, [0, 1], [0.75, 2]],
    ["the upper bound between", 4, [0, 1], [1, 2.25]],
    ["both, lower share larger", 10, [0, 1], [1.7, 2.4]],
    ["both, upper share larger", 10, [0, 1], [1.2, 2.9]],
    ["local bounds", 2, [1, 2.5], [5, 8]],
    ["local bounds with a sale", 2, [-1, 1], [-0.5, 1]],
    ["no upper bound that binds", 2, [0, 1.5], [0, 99]],
  ] as const)("%s: as by programming over small units", async (_, parts, local, global) => {
    const found = await swing(tree, { payoff, local, global });
    expect(found).toBeCloseTo(await reference(parts, local, [global[0], Math.min(global[1], 4 * local[1])]), 11);
  });

  test("dates that are left out", async () => {
    const dates = (_t: number, k: number): boolean => k === 1 || k === 3;
    const found = await swing(tree, { payoff, dates, global: [1, 2] });
    const never: NodePayoff = (x, t, k) => (dates(t, k) ? payoff(x, t, k) : -1e6);
    expect(found).toBeCloseTo(await swing(tree, { payoff: never, global: [1, 2] }), 9);
  });

  test("more rights are worth more, a firmer obligation less", async () => {
    const values = [];
    for (const global of [
      [2, 2],
      [1, 2],
      [0, 2],
      [0, 3],
    ] as const)
      values.push(await swing(tree, { payoff, global }));
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  });

  test.each(devices.filter(({ device: other }) => other !== undefined))("$label: the same value", async (of) => {
    const other = of.device!;
    const precision = other.precisions.includes("f64") ? "f64" : "f32";
    const settings = { payoff, global: [1, 2.5] as const };
    using made = await QuantizationTree.create(other, { ...tree, precision });
    const { value } = await swingOption(made, settings);
    expect(Math.abs(value - (await swing(tree, settings)))).toBeLessThan(precision === "f64" ? 1e-13 : 1e-6);
  });
});
