/** The equation of several factors: its axes, its coefficients, and where it is read. */
import { SpecError } from "../../base/errors.ts";
import type { Payoff } from "../../book/index.ts";
import { alphaOf, type HullWhite, varianceOf, type Volatility } from "../../market/index.ts";
import { type Axis, SAME_DATE } from "../../pde/fdm/index.ts";
import type { Asset, Terms, TermsPayoff } from "../terms.ts";
import { alphaRange, assetRange, type Range, rateRange, varianceRange } from "./coordinates.ts";
import { apply, applyFormula, evaluate, type Expression, piecewise, plus, times } from "./expression.ts";

/** An axis with the diffusion of its coordinate. */
interface Factor {
  readonly name: string;
  /** dx = drift dt + diffusion dW; no drift is none. */
  readonly drift?: Expression;
  readonly diffusion: Expression;
  /** The driver that it is correlated with: the number of an asset, and behind the assets the short rate. */
  readonly driver: number;
  /** The correlation of its own Brownian motion with its driver, where it has one. */
  readonly rho?: number;
  readonly range: Range;
  /** Today's value. */
  readonly today: number;
}

/** The equation of a trade: its axes before barriers cut them, and its coefficients by name. */
export interface FactorEquation {
  /** The axes: the assets, then their stochastic volatilities, then the short rate. */
  readonly factors: readonly Factor[];
  readonly coefficients: Coefficients;
}

/** The coefficients of an equation by name, as in `solve`; omitted ones are zero. */
export type Coefficients = Readonly<Record<string, Expression>>;

/**
 * Returns the name of an asset's axis, by which payoffs refer to its spot: "S" for a single asset, otherwise "S1", "S2"
 * …
 */
export const assetName = (assets: number, i: number): string => (assets === 1 ? "S" : `S${i + 1}`);

/**
 * Returns the equation of a trade's terms,
 *
 *   ∂V/∂t + ½ Σ ρᵢⱼ σᵢ σⱼ ∂²V/∂xᵢ∂xⱼ + Σ μᵢ ∂V/∂xᵢ − r V = 0,
 *
 * on the axes Sᵢ, vᵢ (Heston) or aᵢ (SABR), and x (Hull and White). A volatility's Brownian motion has the correlation
 * ρ of its model with that of its own asset, and ρ times the asset's correlation with all others. `from` are the terms
 * that determine the ranges of axes, so that a bumped copy has the mesh of its base case.
 */
export function factorEquation(terms: Terms, from: Terms, spots: readonly (readonly number[])[]): FactorEquation {
  const { assets, expiry, shortRate } = terms;
  const forward = piecewise(terms.rates, expiry);
  const rate =
    shortRate === undefined
      ? forward
      : apply((x, f, above) => x + f + above, "x", forward, convexity(shortRate, expiry));
  const own: Factor[] = [];
  const volatilities: Factor[] = [];
  assets.forEach((asset, i) => {
    const name = assetName(assets.length, i);
    const { diffusion, factor } = diffusionOf(asset, name, i, terms, from);
    own.push({
      name,
      drift: apply((r, q, S) => (r - q) * S, rate, asset.underlying.dividends.yield, name),
      diffusion,
      driver: i,
      range: assetRange(from.assets[i], from, spots[i]),
      today: asset.underlying.spot,
    });
    if (factor !== undefined) volatilities.push(factor);
  });
  const factors = [...own, ...volatilities];
  if (shortRate !== undefined)
    factors.push({
      name: "x",
      drift: apply((a, x) => -a * x, shortRate.meanReversion, "x"),
      diffusion: shortRate.volatility,
      driver: assets.length,
      range: rateRange(from),
      today: 0,
    });
  return { factors, coefficients: coefficientsOf(factors, rate, terms) };
}

function coefficientsOf(factors: readonly Factor[], rate: Expression, { correlations }: Terms): Coefficients {
  const coefficients: Record<string, Expression> = { V: apply((r) => -r, rate) };
  factors.forEach((one, i) => {
    if (one.drift !== undefined) coefficients[one.name] = one.drift;
    coefficients[one.name + one.name] = apply((sigma) => 0.5 * sigma ** 2, one.diffusion);
    factors.slice(i + 1).forEach((other) => {
      const parts = [one.rho, other.rho].filter((rho) => rho !== undefined);
      // A variance and its own asset have the model's correlation alone.
      if (one.driver !== other.driver) parts.unshift(correlations[one.driver][other.driver]);
      const rho = parts.reduce((product, part) => product * part);
      coefficients[one.name + other.name] = apply((r, a, b) => r * a * b, rho, one.diffusion, other.diffusion);
    });
  });
  return coefficients;
}

/** ½σ²·((1 − e^{−at})/a)²: what Hull and White's rate has above its curve on average. */
function convexity({ meanReversion, volatility }: HullWhite, expiry: number): Expression {
  const half = 0.5 * volatility * volatility;
  if (meanReversion * expiry < 1e-8) return apply((h, t) => h * t ** 2, half, "t");
  return apply((h, a, t) => h * ((1 - Math.exp(-a * t)) / a) ** 2, half, meanReversion, "t");
}

/** The diffusion of an asset, σ(…)·S, and the axis of its volatility if that has one. */
function diffusionOf(
  { underlying, volatility }: Asset,
  S: string,
  asset: number,
  { expiry, assets }: Terms,
  from: Terms,
): { readonly diffusion: Expression; readonly factor?: Factor } {
  const own = from.assets[asset].volatility;
  const suffix = assets.length === 1 ? "" : String(asset + 1);
  switch (volatility.kind) {
    case "deterministic":
      return { diffusion: times(piecewise(volatility.sigma, expiry), S) };
    case "cev":
      return {
        diffusion: added(
          apply((sigma, spot, beta) => sigma * spot ** beta, volatility.sigma, S, volatility.beta),
          volatility,
          S,
        ),
      };
    case "displaced":
      return {
        diffusion: added(
          apply((sigma, spot, shift) => sigma * (spot + shift), volatility.sigma, S, volatility.shift),
          volatility,
          S,
        ),
      };
    case "local": {
      const { start = 0, expression } = volatility;
      const t = start === 0 ? "t" : apply((time, then) => time + then, "t", start);
      return { diffusion: added(times(applyFormula(expression, { S, t }), S), volatility, S) };
    }
    case "heston": {
      const v = `v${suffix}`;
      const { kappa, theta, sigma, rho } = volatility;
      const factor = {
        name: v,
        drift: apply((speed, mean, variance) => speed * (mean - variance), kappa, theta, v),
        diffusion: apply((xi, variance) => xi * Math.sqrt(variance), sigma, v),
        driver: asset,
        rho,
        range: varianceRange(own.kind === "heston" ? own : volatility, expiry),
        today: varianceOf(volatility),
      };
      return { diffusion: apply((variance, spot) => Math.sqrt(variance) * spot, v, S), factor };
    }
    case "sabr": {
      const a = `a${suffix}`;
      const { beta, nu, rho } = volatility;
      const factor = {
        name: a,
        diffusion: times(nu, a),
        driver: asset,
        rho,
        range: alphaRange(own.kind === "sabr" ? own : volatility, underlying.spot, expiry),
        today: alphaOf(volatility, underlying.spot),
      };
      return { diffusion: apply((alpha, spot, power) => alpha * spot ** power, a, S, beta), factor };
    }
    case "surface":
    case "gaussianFactors":
    case "stochasticLocal":
      throw new SpecError(`volatility.${volatility.kind}: not among several axes`);
    default:
      return volatility satisfies never;
  }
}

/** Returns a diffusion with the shift of its volatility added, nowhere below 0. */
const added = (
  diffusion: Expression,
  { added: shift = 0 }: Extract<Volatility, { added?: number }>,
  S: string,
): Expression => apply((d, more, spot) => Math.max(d + more * spot, 0), diffusion, shift, S);

/** Returns the axis of a factor for `solve`. `points` are further values about which nodes are dense. */
export function axisOf(
  { range, today }: Pick<Factor, "range" | "today">,
  nodes: number,
  points: NonNullable<Axis["points"]>,
): Axis {
  const { to, width, coordinate, dense = today } = range;
  const from = Math.min(firstNodeOf(range, nodes), Math.max(today, range.from));
  return {
    from,
    to,
    width,
    coordinate,
    nodes,
    points: [{ at: Math.min(Math.max(dense, from), to), align: "none" }, ...points],
  };
}

/** The first node of a mesh that is dense at its lower end. */
function firstNodeOf({ from, to, width, firstNode = 0 }: Range, nodes: number): number {
  return from + firstNode * width * Math.sinh(Math.asinh((to - from) / width) / (nodes - 1));
}

/** Returns the spots that the payoff uses at expiry, after a dividend on that day. */
export function spotsAtExpiry({ assets, expiry }: Terms, spots: readonly Expression[]): readonly Expression[] {
  return assets.map(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time >= expiry * (1 - SAME_DATE) && time <= expiry)
      .reduce(
        (spot, { cash, proportional }) =>
          apply((S, kept, paid) => Math.max(S * kept - paid, 0), spot, 1 - proportional, cash),
        spots[i],
      ),
  );
}

/** Returns the amount that exercise pays, as an expression of the spots. */
export function payoffExpression(payoff: TermsPayoff, spots: readonly Expression[]): Expression {
  if (payoff.kind === "expression")
    return applyFormula(
      payoff.expression,
      Object.fromEntries(spots.map((spot, i) => [assetName(spots.length, i), spot])),
    );
  if (payoff.kind === "script") throw new Error("a script pays on several dates");
  const { strike } = payoff;
  const index = payoff.kind === "basket" ? indexOf(payoff, spots) : spots[0];
  const [more, less] = payoff.right === "call" ? [index, strike] : [strike, index];
  if (payoff.kind !== "digital") return apply((a, b) => Math.max(a - b, 0), more, less);
  return apply((a, b, cash) => (a > b ? cash : a === b ? 0.5 * cash : 0), more, less, payoff.cash);
}

const JOINED = {
  product: times,
  sum: plus,
  max: (one: Expression, other: Expression) => apply((a, b) => Math.max(a, b), one, other),
  min: (one: Expression, other: Expression) => apply((a, b) => Math.min(a, b), one, other),
};

function indexOf({ of, weights }: Extract<Payoff, { kind: "basket" }>, spots: readonly Expression[]): Expression {
  const weighted = spots.map((spot, i) =>
    of === "product" ? apply((S, w) => S ** w, spot, weights[i]) : times(weights[i], spot),
  );
  return weighted.reduce(JOINED[of]);
}

/** Returns the function of spots that tells what exercise pays. */
export function payoffOf({ payoff, assets }: Terms): (spots: readonly number[]) => number {
  const names = assets.map((_, i) => assetName(assets.length, i));
  const paid = payoffExpression(payoff, names);
  return (spots) => evaluate(paid, Object.fromEntries(names.map((name, i) => [name, spots[i]])));
}

/** Returns the amount that exercise pays at given spots. */
export const payoffAt = (terms: Terms, spots: readonly number[]): number => payoffOf(terms)(spots);
