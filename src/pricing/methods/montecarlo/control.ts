/** Control variates: geometric averages and baskets where they are log-normal, elsewhere the underlyings. */
import { integrate, type Volatility } from "../../../market/index.ts";
import { logNormalOption } from "../../../market/models/index.ts";
import { fn } from "../../../kernel/index.ts";
import { asian, basket, type Control, pathProduct, productParams } from "../../../montecarlo/index.ts";
import { type SimulationInstance, strikeOf } from "./acceptance.ts";
import { basketLogarithm, trapezoidal, weightedLogarithm } from "../../equations/lognormal.ts";
import { totalVariance, varianceAt } from "../../variance.ts";
import { slopeAtInfinity } from "./error.ts";
import { memoize } from "../../../base/memoize.ts";
import { endsOf } from "./spot-model.ts";
import { hasYieldByTime, logGrowth, type Terms } from "../../terms.ts";
import { usesLocalDiffusions, volatilityOnForward } from "./steps.ts";

/** The kind of control variate of an instance: the geometric average, the underlyings, or none. */
export type ControlKind = "geometric" | "underlyings" | "none";

/**
 * Returns the kind of control variate of an instance. There is none where it gains little, as for European options on
 * one underlying with Sobol' points, and none where it would increase the variance, as for shifted paths or a large
 * volatility.
 */
export function controlKind(path: SimulationInstance, isShifted: boolean): ControlKind {
  const { payoff, assets, exercise } = path.terms;
  if (isGeometric(path)) return "geometric";
  // The control of a path that ends early needs the yield until then.
  if (hasYieldByTime(path.terms) && payoff.kind === "script" && payoff.program.rights.length > 0) return "none";
  if (isShifted || assets.some(({ volatility }, i) => isHeavy(path, volatility, i))) return "none";
  if (usesLocalDiffusions(path.terms) && !hasKnownForwards(path.terms)) return "none";
  const isPath = payoff.kind === "lookback" || payoff.kind === "script";
  const isPlain = assets.length === 1 && assets[0].volatility.kind === "deterministic" && !isPath;
  return isPlain && exercise.kind === "european" ? "none" : "underlyings";
}

/**
 * Tells whether the variance of a spot is so large that paths do not show its mean. In Heston's model a payoff that
 * grows like the spot keeps the control, which then is nearly all of it.
 */
function isHeavy({ terms, spots }: SimulationInstance, volatility: Volatility, i: number): boolean {
  if (volatility.kind !== "heston") return varianceAt(volatility, terms.expiry) > 1;
  return slopeAtInfinity(terms.payoff, i) === 0 && totalVariance(volatility, spots[i], terms.expiry) > 1;
}

/**
 * Tells whether the means of the spots on any date are known: volatilities are not heavy, and if there are dividends on
 * dates, the paths end at expiry and as good as none of them reaches zero there.
 */
function hasKnownForwards(terms: Terms): boolean {
  const { assets, exercise, expiry } = terms;
  return assets.every((asset) => {
    const deviation = volatilityOnForward(terms, asset) * Math.sqrt(expiry);
    if (deviation > 1) return false;
    const { spot, dividends } = asset.underlying;
    const paid = dividends.discrete.filter(({ time }) => time <= expiry);
    if (paid.length === 0) return true;
    const cash = paid.reduce((sum, one) => sum + one.cash, 0);
    const left = paid.reduce((share, one) => share * (1 - one.proportional), 1);
    return exercise.kind === "european" && (spot * left) / cash > Math.exp(8 * deviation);
  });
}

/** The mean of S·exp(q·t) of an asset on the last date of a path, discounted. */
function discountedMean({ terms, dates, spots }: SimulationInstance, i: number): number {
  const last = dates[dates.length - 1];
  const asset = terms.assets[i];
  let mean = spots[i];
  for (const { time, cash, proportional } of asset.underlying.dividends.discrete)
    if (time <= last) mean = mean * (1 - proportional) - cash * Math.exp(-logGrowth(terms, asset, time));
  return mean;
}

/** Averages with a positive strike, and such baskets of positive weights. */
function isGeometric(path: SimulationInstance): boolean {
  const { payoff, assets, barriers, exercise } = path.terms;
  if (
    exercise.kind !== "european" ||
    barriers.length > 0 ||
    path.steps !== undefined ||
    assets.some(({ volatility }) => volatility.kind !== "deterministic")
  )
    return false;
  if (payoff.kind === "average") return strikeOf(path) > 0;
  return payoff.kind === "basket" && payoff.of === "sum" && payoff.strike > 0 && payoff.weights.every((w) => w > 0);
}

/**
 * Returns the control variate of instances that share a kernel and its kind; undefined for "none". Copies whose payoffs
 * alone are moved have that of `originals`, so that it differs in what its payoff reads alone.
 */
export function controlOf(
  paths: readonly SimulationInstance[],
  substeps: number,
  kind: ControlKind,
  originals = paths,
): Control | undefined {
  if (kind === "none") return undefined;
  return kind === "geometric" ? geometricControl(paths, substeps, originals) : underlyingControl(paths);
}

/**
 * Σ wᵢ·Sᵢ(t)·e^(qᵢ·t), t when the path ends. Discounted it is a martingale, whose mean is its value today whatever rule
 * ends the path.
 */
function underlyingControl(paths: readonly SimulationInstance[]): Control {
  const d = paths[0].terms.assets.length;
  const column = (of: (path: SimulationInstance) => number): Float64Array => Float64Array.from(paths, of);
  const weight = ({ terms: { payoff } }: SimulationInstance, i: number): number =>
    payoff.kind === "basket" && payoff.of !== "product" ? payoff.weights[i] : 1;
  const each = Array.from({ length: d }, (_, i) => i);
  return {
    name: "underlyings",
    product: pathProduct({
      name: "underlyings",
      assets: d,
      running: 0,
      parameters: {
        ...Object.fromEntries(each.map((i) => [`weight${i}`, column((path) => weight(path, i))])),
        ...Object.fromEntries(each.map((i) => [`yield${i}`, column((path) => meanYield(path, i))])),
      },
      payoff: underlyingPayoff(d),
      payoffParameters: each.flatMap((i) => [`weight${i}`, `yield${i}`]),
    }),
    mean: column((path) => path.spots.reduce((sum, _, i) => sum + weight(path, i) * discountedMean(path, i), 0)),
  };
}

/** The yield of an asset; where it changes with time its mean until the last date, on which paths of scripts end. */
function meanYield({ terms, dates }: SimulationInstance, i: number): number {
  const asset = terms.assets[i];
  const last = dates[dates.length - 1];
  if (!hasYieldByTime(terms)) return asset.underlying.dividends.yield;
  return (integrate(terms.rates, last) - logGrowth(terms, asset, last)) / last;
}

/** The same function again for as many underlyings, so that its kernels are compiled once. */
const underlyingPayoff = memoize((d: number) =>
  fn({
    name: "underlyings",
    params: productParams.payoff,
    env: { D: d },
    body({ spots, p, t }, gpu, { D }) {
      let sum = gpu.real(0);
      for (let i = 0; i < D; i++) sum += p[i] * spots[i] * Math.exp(p[D + i] * t);
      return sum;
    },
  }),
);

function geometricControl(
  paths: readonly SimulationInstance[],
  substeps: number,
  originals: readonly SimulationInstance[],
): Control {
  const [{ terms }] = paths;
  const { payoff, assets } = terms;
  if (payoff.kind === "basket") {
    const proxies = paths.map((path, i) => geometricProxy(path, originals[i]));
    const weights = assets.map((_, i) => Float64Array.from(proxies, (proxy) => proxy.weights[i]));
    const strike = Float64Array.from(proxies, (proxy) => proxy.strike);
    return {
      name: "geometric basket",
      product: basket({ payoff: payoff.right, kind: "geometric", strike, weights }),
      mean: Float64Array.from(proxies, ({ mean }) => mean),
    };
  }
  if (payoff.kind !== "average") throw new Error(`no control of a ${payoff.kind}`);
  const strikes = Float64Array.from(paths, strikeOf);
  const sampling = payoff.times === "continuous" ? "continuous" : "dates";
  return {
    name: "geometric average",
    product: asian({ payoff: payoff.right, strike: strikes, average: "geometric", sampling }),
    mean: Float64Array.from(paths, (path, i) => geometricMean(path, substeps, strikes[i])),
  };
}

/** See Kemna and Vorst (1990). */
function geometricMean({ terms, spots, dates }: SimulationInstance, substeps: number, strike: number): number {
  const { payoff, rates, assets } = terms;
  const [{ volatility, underlying }] = assets;
  if (payoff.kind !== "average" || volatility.kind !== "deterministic") return Number.NaN;
  const fixings =
    payoff.times === "continuous"
      ? trapezoidal(endsOf({ dates }, substeps))
      : { times: dates, weights: dates.map(() => 1 / dates.length) };
  const market = { spot: spots[0], rates, dividendYield: underlying.dividends.yield, sigma: volatility.sigma };
  const { mean, variance } = weightedLogarithm(market, fixings);
  const discount = Math.exp(-integrate(rates, dates[dates.length - 1]));
  return discount * logNormalOption(payoff.right, strike, mean, variance);
}

interface GeometricProxy {
  readonly weights: readonly number[];
  readonly strike: number;
  /** The discounted mean of its payoff. */
  readonly mean: number;
}

/**
 * The geometric proxy of a basket: with forwards Fᵢ and A₀ = Σ wᵢ·Fᵢ, near the forwards
 *
 *   Σ wᵢ·Sᵢ ≈ A₀·Π (Sᵢ/Fᵢ)^aᵢ,   aᵢ = wᵢ·Fᵢ/A₀
 *
 * (D. Gentle, Risk 6 (1993)). The control is the same option on Π Sᵢ^aᵢ, at the strike K·Π Fᵢ^aᵢ/A₀; the factor that
 * is left is part of its coefficient.
 */
function geometricProxy({ terms, spots }: SimulationInstance, original: SimulationInstance): GeometricProxy {
  const { payoff, assets, rates, expiry } = terms;
  if (payoff.kind !== "basket") throw new Error(`no geometric basket of a ${payoff.kind}`);
  const growth = integrate(rates, expiry);
  const forwards = assets.map(({ underlying }, i) => spots[i] * Math.exp(growth - underlying.dividends.yield * expiry));
  const amountsOf = ({ terms: { payoff: own } }: SimulationInstance): readonly number[] =>
    own.kind === "basket" ? own.weights.map((w, i) => w * forwards[i]) : [];
  const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0);
  const total = sumOf(amountsOf({ terms, spots, dates: [] }));
  const shares = amountsOf(original);
  const weights = shares.map((amount) => amount / sumOf(shares));
  const { mean, variance } = basketLogarithm(terms, spots, weights);
  const logarithm = weights.reduce((sum, a, i) => sum + a * Math.log(forwards[i]), 0);
  const strike = payoff.strike * Math.exp(logarithm - Math.log(total));
  const option = logNormalOption(payoff.right, strike, mean, variance);
  return { weights, strike, mean: Math.exp(-growth) * option };
}
