/** The reference cases: each within three standard errors. */
import { afterAll, describe, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  asian,
  basket,
  blackScholes,
  european,
  geometricBrownian,
  lookback,
  monteCarlo,
  type MonteCarloSettings,
  type PathBarrier,
  type PathProduct,
  terminalPayoff,
  withBarriers,
} from "../../src/montecarlo/index.ts";
import { type Case, casesOf, equalDates, expectWithin } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const PATHS = 2 ** 14;
const price = (settings: MonteCarloSettings) => monteCarlo({ device, paths: PATHS, seed: 20, ...settings });

const spotModel = ({ params: p }: Case) =>
  blackScholes({ spot: p.spot, rate: p.rate, yield: p.dividend_yield, volatility: p.volatility });

describe("Asian options", () => {
  test.each(casesOf("asian").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const continuous = one.product.endsWith("continuous");
    const fixings = (p.fixing_times ?? []) as number[];
    const includesStart = fixings[0] === 0;
    const settings = {
      payoff: p.option_type,
      strike: p.strike,
      average: one.product.includes("geometric") ? "geometric" : "arithmetic",
      sampling: continuous ? "continuous" : "dates",
      includesStart,
    } as const;
    const dates = continuous ? [p.maturity] : fixings.filter((t) => t > 0);
    const steps = 32;
    const common = { model: spotModel(one), product: asian(settings), dates, substeps: continuous ? steps : 1 };
    const estimate = await price({ ...common, sampling: "sobol" });
    // The trapezoidal rule: the variance of the average is too large by a factor of 1 + 1/(2·steps²).
    const bias = continuous ? one.expected.price / (2 * steps ** 2) : 0;
    expectWithin(estimate, one.expected.price, bias);
  });
});

describe("lookbacks, with exact extremes between two dates", () => {
  test.each(casesOf("lookback").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const from = p.lookback_start ?? 0;
    const product = lookback({
      payoff: p.option_type,
      strike: one.product.includes("floating") ? "floating" : p.strike,
      from,
      ...(p.running_extremum === undefined ? {} : { extremum: p.running_extremum }),
    });
    const dates = from > 0 ? [from, p.maturity] : [p.maturity];
    expectWithin(await price({ model: spotModel(one), product, dates }), one.expected.price);
  });
});

/** `value_each` stands for equal values of `n_assets`. */
const listOf = (p: Case["params"], many: string, each: string): number[] =>
  p[many] ?? new Array<number>(p.n_assets ?? p.spots.length).fill(p[each] ?? 0);
const spotsOf = (p: Case["params"]): number[] => listOf(p, "spots", "spot_each");

function multiAsset({ product, params: p }: Case): PathProduct {
  const d = spotsOf(p).length;
  const ones = new Array<number>(d).fill(1);
  const [, what] = /(max|min|spread|exchange|geometric|basket)_/.exec(product) ?? [];
  const option = { payoff: p.option_type, strike: p.strike } as const;
  if (what === "max") return basket({ ...option, kind: "best-of", weights: ones });
  if (what === "min") return basket({ ...option, kind: "worst-of", weights: ones });
  if (what === "spread" || what === "exchange") return basket({ ...option, weights: [1, -1] });
  if (what === "basket") return basket({ ...option, weights: p.weights });
  if (what?.startsWith("geometric") === true)
    return basket({ ...option, kind: "geometric", weights: p.weights ?? ones.map(() => 1 / d) });
  // (S₁ − K)⁺·(S₂ − K)⁺·…, one strike for all
  return terminalPayoff({ payoff: ones.map((_, i) => `max(S${i + 1} - ${p.strikes[i]}, 0)`).join(" * "), assets: d });
}

const correlationOf = (p: Case["params"]): number[][] => {
  const d = spotsOf(p).length;
  const rho = p.correlation ?? p.pairwise_correlation ?? 0;
  return (
    p.correlation_matrix ??
    Array.from({ length: d }, (_, i) => Array.from({ length: d }, (_one, j) => (i === j ? 1 : rho)))
  );
};

describe("options on several assets", () => {
  test.each(casesOf("multi-asset-european").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const product = multiAsset(one);
    const model = geometricBrownian({
      spots: spotsOf(p),
      rate: p.rate,
      yields: listOf(p, "dividend_yields", "dividend_yield_each"),
      volatilities: listOf(p, "volatilities", "volatility_each"),
      correlation: correlationOf(p),
    });
    expectWithin(await price({ model, product, dates: [p.maturity], sampling: "sobol" }), one.expected.price);
  });
});

const typeOf = (product: string) => {
  const [, side, kind] = /(up|down)_(out|in)/.exec(product) as RegExpExecArray;
  return `${side}-and-${kind}` as PathBarrier["type"];
};

describe("barriers, by Brownian bridges", () => {
  test.each(casesOf("barrier-single").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const type = typeOf(one.product);
    const rebateAt = type.endsWith("out") ? "breach" : "expiry";
    const vanilla = european({ payoff: p.option_type, strike: p.strike });
    const product = withBarriers({
      product: vanilla,
      barriers: [{ type, level: p.barrier }],
      rebate: p.rebate,
      rebateAt,
    });
    // One step is exact but for the time of a rebate.
    const substeps = rebateAt === "breach" && p.rebate > 0 ? 8 : 1;
    const bias = rebateAt === "breach" ? (0.5 * p.rebate * Math.abs(p.rate) * p.maturity) / substeps : 0;
    const estimate = await price({ model: spotModel(one), product, dates: [p.maturity], substeps, sampling: "sobol" });
    expectWithin(estimate, one.expected.price, bias);
  });

  test.each(casesOf("barrier-double").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const kind = one.product.endsWith("out") ? "out" : "in";
    const product = withBarriers({
      product: european({ payoff: p.option_type, strike: p.strike }),
      barriers: [
        { type: `down-and-${kind}`, level: p.lower },
        { type: `up-and-${kind}`, level: p.upper },
      ],
    });
    // A step that breaches both is counted twice: with 32 steps beyond what can be seen.
    expectWithin(
      await price({ model: spotModel(one), product, dates: [p.maturity], substeps: 32 }),
      one.expected.price,
    );
  });

  const discrete = casesOf("barrier-window-discrete").filter(({ product }) => product.startsWith("barrier_discrete"));
  test.each(discrete.map((one) => [one.id, one] as const))("%s, on dates", async (_, one) => {
    const { params: p } = one;
    const vanilla = european({ payoff: p.option_type, strike: p.strike });
    const barriers = [{ type: typeOf(one.product), level: p.barrier }];
    const product = withBarriers({ product: vanilla, barriers, monitoring: "dates" });
    expectWithin(
      await price({ model: spotModel(one), product, dates: equalDates(p.n_monitoring, p.maturity) }),
      one.expected.price,
    );
  });

  const several = casesOf("bestof-barrier").filter(({ params: p }) => p.monitoring === "continuous");
  test.each(several.map((one) => [one.id, one] as const))("%s, on each of several assets", async (_, one) => {
    const { params: p } = one;
    const payoff = one.product.includes("put") ? "put" : "call";
    const kind = one.product.includes("worst") ? "worst-of" : "best-of";
    const weights = (p.spots as number[]).map(() => 1);
    const product = withBarriers({
      product: basket({ payoff, kind, strike: p.strike, weights }),
      barriers: [{ type: typeOf(one.product), level: p.barrier, asset: "each" }],
    });
    const model = geometricBrownian({
      spots: p.spots,
      rate: p.rate,
      yields: p.dividend_yields,
      volatilities: p.volatilities,
      correlation: correlationOf(p),
    });
    // Bridges of correlated assets are taken as independent, which costs nothing with short steps.
    const substeps = p.correlation === 0 ? 1 : 32;
    expectWithin(await price({ model, product, dates: [p.maturity], substeps }), one.expected.price);
  });
});
