/** Optimal stopping: reference values, binomial trees, several assets, degenerate cases, every device. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  meanRevertingFactors,
  optimalStopping,
  QuantizationTree,
  type StoppingSettings,
  swingOption,
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

async function stopped(tree: TreeSettings, settings: StoppingSettings) {
  using made = await QuantizationTree.create(device, tree);
  return await optimalStopping(made, settings);
}

const timesOf = (maturity: number, n: number): number[] => Array.from({ length: n + 1 }, (_, k) => (k * maturity) / n);

interface Put {
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly volatility: number;
  readonly maturity: number;
  readonly n_exercise: number;
}

/** Twice, with N and 2N points, whose errors are of second order in 1/N. */
async function bermudanPut(of: Put, size: number) {
  const { spot, strike, rate, volatility, maturity, n_exercise: n } = of;
  const chain = meanRevertingFactors({ times: timesOf(maturity, n), meanReversion: [0] });
  const payoff = ([w]: Float64Array, t: number): number =>
    Math.max(strike - spot * Math.exp((rate - 0.5 * volatility ** 2) * t + volatility * w), 0);
  const settings = { payoff, rate, exercise: (_t: number, layer: number) => layer > 0 };
  const [coarse, fine] = [await stopped({ chain, size }, settings), await stopped({ chain, size: 2 * size }, settings)];
  return {
    coarse: coarse.value,
    fine: fine.value,
    value: extrapolated(coarse.value, fine.value),
    european: extrapolated(coarse.european, fine.european),
  };
}

describe("Longstaff and Schwartz's table: 50 dates a year", () => {
  const chosen = casesOf("lsm-table").filter(({ id }) => ["LSM-O-01", "LSM-O-06", "LSM-O-07"].includes(id));
  test.each(chosen.map((one) => [one.id, one] as const))("%s: extrapolated from 60 and 120 points", async (_, one) => {
    const expected = one.expected as unknown as Record<"price" | "european_price", number>;
    const { coarse, fine, value, european } = await bermudanPut(one.params as unknown as Put, 60);
    // The error falls by four; what is left of it is of fourth order.
    const ratio = (coarse - expected.price) / (fine - expected.price);
    expect(ratio).toBeGreaterThan(3.5);
    expect(ratio).toBeLessThan(4.5);
    expect(Math.abs(value / expected.price - 1)).toBeLessThan(3e-4);
    expect(Math.abs(european / expected.european_price - 1)).toBeLessThan(3e-4);
  });
});

test("a Bermudan put with every date of a binomial tree of 1,000 steps", async () => {
  const put = { spot: 100, strike: 110, rate: 0.05, volatility: 0.3, maturity: 1, n_exercise: 10 };
  const { value } = await bermudanPut(put, 100);
  expect(Math.abs(value - binomial(put, 1000))).toBeLessThan(0.01);
});

/** J. C. Cox, S. A. Ross, M. Rubinstein (1979), with exercise at every n-th part of the life. */
function binomial({ spot, strike, rate, volatility, maturity, n_exercise: n }: Put, steps: number): number {
  const dt = maturity / steps;
  const up = Math.exp(volatility * Math.sqrt(dt));
  const p = (Math.exp(rate * dt) - 1 / up) / (up - 1 / up);
  const intrinsic = (k: number, j: number): number => Math.max(strike - spot * up ** (2 * j - k), 0);
  let values = Array.from({ length: steps + 1 }, (_, j) => intrinsic(steps, j));
  for (let k = steps - 1; k >= 0; k--) {
    const isDate = k > 0 && k % (steps / n) === 0;
    values = Array.from({ length: k + 1 }, (_, j) => {
      const held = Math.exp(-rate * dt) * (p * values[j + 1] + (1 - p) * values[j]);
      return isDate ? Math.max(held, intrinsic(k, j)) : held;
    });
  }
  return values[0];
}

test("ends when its signal says so, and so does a swing option", async () => {
  const chain = meanRevertingFactors({ times: timesOf(1, 4), meanReversion: [0] });
  using tree = await QuantizationTree.create(device, { chain, size: 10 });
  for (const solve of [
    (of: Pick<StoppingSettings, "payoff" | "signal">) => optimalStopping(tree, of),
    (of: Pick<StoppingSettings, "payoff" | "signal">) => swingOption(tree, { ...of, global: [1, 2] }),
  ]) {
    const control = new AbortController();
    // A slow payoff: the event loop has a turn after the first layer.
    const payoff = (): number => {
      const start = performance.now();
      while (performance.now() - start < 4);
      control.abort(new Error("enough"));
      return 1;
    };
    await expect(solve({ payoff, signal: control.signal })).rejects.toThrow("enough");
  }
});

describe("several assets", () => {
  const of = (id: string): Case => casesOf("american-multi-asset").find((one) => one.id === id)!;

  /** In the plane the error is of first order in 1/N; that of N = 100 is 5 %, and the noise of paths adds 0.3 %. */
  async function inPlane(tree: TreeSettings, settings: StoppingSettings): Promise<number> {
    const [coarse, fine] = [
      await stopped({ ...tree, size: 100, paths: 300_000 }, settings),
      await stopped({ ...tree, size: 200, paths: 300_000 }, settings),
    ];
    return 2 * fine.value - coarse.value;
  }

  test.each(["AMM-O-01", "AMM-O-02"])("%s: a Bermudan call on the larger of two", async (id) => {
    const p = of(id).params as unknown as Record<string, number>;
    const { price } = of(id).expected as unknown as { price: number };
    const sigma = p.volatility_each;
    const drift = p.rate - p.dividend_yield_each - 0.5 * sigma ** 2;
    const chain = meanRevertingFactors({ times: timesOf(p.maturity, p.n_exercise), meanReversion: [0, 0] });
    const payoff = ([x, y]: Float64Array, t: number): number =>
      Math.max(p.spot_each * Math.exp(drift * t + sigma * Math.max(x, y)) - p.strike, 0);
    const value = await inPlane({ chain }, { payoff, rate: p.rate });
    expect(Math.abs(value / price - 1)).toBeLessThan(0.01);
  });

  test("AMM-O-08: a Bermudan put on a basket of two correlated assets", async () => {
    const p = of("AMM-O-08").params as unknown as {
      rate: number;
      strike: number;
      maturity: number;
      n_exercise: number;
      weights: number[];
      spots: number[];
      volatilities: number[];
      correlation_matrix: number[][];
    };
    const { price } = of("AMM-O-08").expected as unknown as { price: number };
    const times = timesOf(p.maturity, p.n_exercise);
    const chain = meanRevertingFactors({ times, meanReversion: [0, 0], correlation: p.correlation_matrix });
    const payoff = (w: Float64Array, t: number): number => {
      const basket = p.weights.reduce((sum, weight, i) => {
        const sigma = p.volatilities[i];
        return sum + weight * p.spots[i] * Math.exp((p.rate - 0.5 * sigma ** 2) * t + sigma * w[i]);
      }, 0);
      return Math.max(p.strike - basket, 0);
    };
    const settings = { payoff, rate: p.rate, exercise: (_t: number, layer: number) => layer > 0 };
    const value = await inPlane({ chain }, settings);
    expect(Math.abs(value / price - 1)).toBeLessThan(0.01);
  });
});

describe("by hand", () => {
  const chain = meanRevertingFactors({ times: [0, 1, 2], meanReversion: [0] });

  test("two points: V₀ from four probabilities", async () => {
    // Points ±√(2t/π), and 3/4 of the probability on the same side.
    const payoff = ([w]: Float64Array, t: number): number => (t === 1 ? (w > 0 ? 1 : 2) : w > 0 ? 3 : 0);
    const { value, values, european } = await stopped(
      { chain, size: 2 },
      { payoff: (w, t) => (t === 0 ? 0 : payoff(w, t)) },
    );
    const expected = [2.125, 2, 2.25, 0, 3];
    expect([...values].map((v) => Number(v.toFixed(12)))).toEqual(expected);
    expect(value).toBeCloseTo(2.125, 12);
    expect(european).toBeCloseTo(1.5, 12);
  });

  test("exercise at once, never, or only where it is allowed; discount factors", async () => {
    const payoff = (): number => 1;
    const tree = { chain, size: 3 };
    const close = (found: { readonly value: number }, value: number): void =>
      expect(found.value).toBeCloseTo(value, 12);
    close(await stopped(tree, { payoff, rate: 0.1 }), 1);
    close(await stopped(tree, { payoff, rate: 0.1, exercise: () => false }), Math.exp(-0.2));
    close(
      await stopped(tree, { payoff: (_w, t) => (t === 1 ? 1 : t === 2 ? 0 : -Infinity), rate: 0.1 }),
      Math.exp(-0.1),
    );
    close(await stopped(tree, { payoff, discountFactors: [1, 0.5, 0.75], exercise: (t) => t > 0 }), 0.75);
  });

  test("a single step", async () => {
    const short = meanRevertingFactors({ times: [0, 1], meanReversion: [0] });
    const { value } = await stopped({ chain: short, size: 2 }, { payoff: ([w]) => Math.max(w, 0) });
    expect(value).toBeCloseTo(0.5 * Math.sqrt(2 / Math.PI), 12);
  });
});

test.each(devices.filter(({ device: other }) => other !== undefined))("$label: the same value", async (of) => {
  const other = of.device!;
  const precision = other.precisions.includes("f64") ? "f64" : "f32";
  const chain = meanRevertingFactors({ times: [0, 0.5, 1], meanReversion: [0] });
  const settings = { payoff: ([w]: Float64Array) => Math.max(1 - w, 0), rate: 0.1 };
  const found = await stopped({ chain, size: 20, precision }, settings);
  using tree = await QuantizationTree.create(other, { chain, size: 20, precision });
  expect(Math.abs((await optimalStopping(tree, settings)).value - found.value)).toBeLessThan(
    precision === "f64" ? 1e-14 : 1e-6,
  );
});
