/** The equation of several factors in formulas: its axes, its coefficients, and where it is read. */
import { SpecError } from "../../errors.ts";
import type { Axis } from "../../fdm/index.ts";
import { substituted } from "../../kernel/index.ts";
import { alphaOf, varianceOf, type Volatility } from "../../market/index.ts";
import { alphaRange, assetRange, type Range, rateRange, varianceRange } from "./domain.ts";
import type { Asset, Terms } from "../terms.ts";
import type { Parameters } from "./text.ts";

/** An axis with the diffusion of its coordinate. */
interface Factor {
  readonly name: string;
  /** dx = drift dt + diffusion dW, as formulas. */
  readonly drift: string;
  readonly diffusion: string;
  /** The driver that it is correlated with: the number of an asset, and behind the assets the short rate. */
  readonly driver: number;
  /** The correlation of its own Brownian motion with its driver, a formula. */
  readonly rho: string | undefined;
  readonly range: Range;
  /** Today's value. */
  readonly today: number;
}

/** The axes of a problem before its barriers, and the coefficients of its equation by name. */
export interface FactorEquation {
  /** The factors: the assets, then their volatilities, then the short rate. */
  readonly factors: readonly Factor[];
  readonly coefficients: Readonly<Record<string, string>>;
}

/** Returns the name of an asset's axis, also its name in payoffs. */
export const assetName = (assets: number, i: number): string => (assets === 1 ? "S" : `S${i + 1}`);

/**
 * Returns the equation of a trade's terms,
 *
 *   ∂V/∂t + ½ Σ ρᵢⱼ σᵢ σⱼ ∂²V/∂xᵢ∂xⱼ + Σ μᵢ ∂V/∂xᵢ − r V = 0,
 *
 * on the axes Sᵢ, vᵢ (Heston) or aᵢ (SABR), and x (Hull and White). A volatility's Brownian motion is correlated with
 * its asset's by the model's ρ, and with every other by ρ times the asset's correlation with it. `from`: the terms that
 * determine ranges and dense parts, so that bumps have the mesh of their base case.
 */
export function factorEquation(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  p: Parameters,
): FactorEquation {
  const { assets, expiry, shortRate } = terms;
  const forward = p.piecewise(terms.rates, expiry, "r");
  const rate = shortRate === undefined ? forward : `(x + ${forward} + ${convexity(terms, p)})`;
  const own: Factor[] = [];
  const volatilities: Factor[] = [];
  assets.forEach((asset, i) => {
    const name = assetName(assets.length, i);
    const { diffusion, factor } = diffusionOf(asset, name, i, terms, from, p);
    own.push({
      name,
      drift: `(${rate} - ${p.add(asset.underlying.dividends.yield, "q")})*${name}`,
      diffusion,
      driver: i,
      rho: undefined,
      range: assetRange(from.assets[i], from, spots[i]),
      today: asset.underlying.spot,
    });
    if (factor !== undefined) volatilities.push(factor);
  });
  const factors = [...own, ...volatilities];
  if (shortRate !== undefined)
    factors.push({
      name: "x",
      drift: `-${p.add(shortRate.meanReversion, "a")}*x`,
      diffusion: p.add(shortRate.volatility, "s"),
      driver: assets.length,
      rho: undefined,
      range: rateRange(from),
      today: 0,
    });
  return { factors, coefficients: coefficientsOf(factors, rate, terms, p) };
}

function coefficientsOf(
  factors: readonly Factor[],
  rate: string,
  { correlations }: Terms,
  p: Parameters,
): Readonly<Record<string, string>> {
  const coefficients: Record<string, string> = { V: `-${rate}` };
  factors.forEach((one, i) => {
    coefficients[one.name] = one.drift;
    coefficients[one.name + one.name] = `0.5*(${one.diffusion})^2`;
    factors.slice(i + 1).forEach((other) => {
      const rho = correlationOf(one, other, correlations, p);
      if (rho !== undefined) coefficients[one.name + other.name] = `${rho}*(${one.diffusion})*(${other.diffusion})`;
    });
  });
  return coefficients;
}

/** The correlation of the Brownian motions of two factors, as a formula; undefined where it is 0 by the model. */
function correlationOf(
  one: Factor,
  other: Factor,
  correlations: Terms["correlations"],
  p: Parameters,
): string | undefined {
  const parts = [one.rho, other.rho].filter((rho) => rho !== undefined);
  // A variance and its own asset.
  if (one.driver === other.driver) return parts.join("*");
  return [p.add(correlations[one.driver][other.driver], "rho"), ...parts].join("*");
}

/** ½σ²·((1 − e^{−at})/a)²: what Hull and White's rate has above its curve on average. */
function convexity({ shortRate, expiry }: Terms, p: Parameters): string {
  const { meanReversion, volatility } = shortRate!;
  const half = p.add(0.5 * volatility * volatility, "h");
  if (meanReversion * expiry < 1e-8) return `${half}*t^2`;
  const a = p.add(meanReversion, "a");
  return `${half}*((1 - exp(-${a}*t))/${a})^2`;
}

/** The diffusion of an asset, σ(…)·S as a formula, and the axis of its volatility if that has one. */
function diffusionOf(
  { underlying, volatility }: Asset,
  S: string,
  asset: number,
  { expiry, assets }: Terms,
  from: Terms,
  p: Parameters,
): { readonly diffusion: string; readonly factor?: Factor } {
  const own = from.assets[asset].volatility;
  const suffix = assets.length === 1 ? "" : String(asset + 1);
  switch (volatility.kind) {
    case "deterministic":
      return { diffusion: `${p.piecewise(volatility.sigma, expiry, "sigma")}*${S}` };
    case "cev":
      return { diffusion: added(`${p.add(volatility.sigma)}*${S}^${p.add(volatility.beta)}`, volatility, S, p) };
    case "displaced":
      return { diffusion: added(`${p.add(volatility.sigma)}*(${S} + ${p.add(volatility.shift)})`, volatility, S, p) };
    case "local": {
      const start = volatility.start ?? 0;
      const t = start === 0 ? "t" : `t + ${p.add(start)}`;
      return { diffusion: added(`(${substituted(volatility.expression, { S, t })})*${S}`, volatility, S, p) };
    }
    case "heston": {
      const v = `v${suffix}`;
      const { kappa, theta, sigma, rho } = volatility;
      const range = varianceRange(own.kind === "heston" ? own : volatility, expiry);
      const factor = {
        name: v,
        drift: `${p.add(kappa, "kappa")}*(${p.add(theta, "theta")} - ${v})`,
        diffusion: `${p.add(sigma, "xi")}*sqrt(${v})`,
        driver: asset,
        rho: p.add(rho, "rho"),
        range,
        today: varianceOf(volatility),
      };
      return { diffusion: `sqrt(${v})*${S}`, factor };
    }
    case "sabr": {
      const a = `a${suffix}`;
      const { beta, nu, rho } = volatility;
      const factor = {
        name: a,
        drift: "0",
        diffusion: `${p.add(nu, "nu")}*${a}`,
        driver: asset,
        rho: p.add(rho, "rho"),
        range: alphaRange(own.kind === "sabr" ? own : volatility, underlying.spot, expiry),
        today: alphaOf(volatility, underlying.spot),
      };
      return { diffusion: `${a}*${S}^${p.add(beta, "beta")}`, factor };
    }
    case "surface":
    case "gaussianFactors":
    case "stochasticLocal":
      throw new SpecError(`volatility.${volatility.kind}: not among several axes`);
    default:
      return volatility satisfies never;
  }
}

/** A diffusion with what is added to its volatility, nowhere below 0. */
function added(
  text: string,
  { added: shift = 0 }: Extract<Volatility, { added?: number }>,
  S: string,
  p: Parameters,
): string {
  return `max(${text} + ${p.add(shift)}*${S}, 0)`;
}

/** Returns an axis for `solve`, with its numbers as parameters. `points`: further values at which nodes are dense. */
export function axisOf(
  { range, today }: Pick<Factor, "range" | "today">,
  nodes: number,
  points: NonNullable<Axis["points"]>,
  p: Parameters,
): Axis {
  const { to, width, coordinate, dense = today } = range;
  const from = Math.min(firstNodeOf(range, nodes), Math.max(today, range.from));
  return {
    from: p.add(from, "from"),
    to: p.add(to, "to"),
    width: p.add(width, "width"),
    coordinate,
    nodes,
    points: [{ at: p.add(Math.min(Math.max(dense, from), to), "at"), align: "none" }, ...points],
  };
}

/** The first node of a mesh that is dense at its lower end. */
function firstNodeOf({ from, to, width, firstNode = 0 }: Range, nodes: number): number {
  return from + firstNode * width * Math.sinh(Math.asinh((to - from) / width) / (nodes - 1));
}
