import type { PricedTrade, Trade } from "../../book/index.ts";
import { totalVariance, volatilityAt } from "../../fdm/index.ts";
import { shifted, shiftedVolatility } from "../../market/index.ts";
import { laterTrade } from "../later-trade.ts";
import { tradeProblem } from "../trade-problem.ts";
import type { Attribution, Pair } from "./attribution.ts";
import { paidDividends } from "./moves.ts";
import { same } from "./same.ts";
import type { ExplainTerms } from "./types.ts";

/**
 * Taylor's expansion of the value about the earlier market, to second order in time, spot, volatility and rate:
 *
 *   ΔV ≈ V_t·Δt + V_S·ΔS + V_σ·Δσ + V_r·Δr + ½V_SS·ΔS² + ½V_tt·Δt² + … + V_Sσ·ΔS·Δσ + V_St·ΔS·Δt + …
 *
 * V is smooth across a dividend in the spot with its dividends put back, so that is the ΔS which it is taken in; `delta` and `gamma` are
 * those of the quoted spot, `exDividend` is the rest. First derivatives and gamma are the Greeks that `price` reports; those of second
 * order are differences of value, delta and theta under shifts as large as the moves, within what the mesh can tell apart.
 * Error: of third order in the moves. Cost: up to 8 prices with the Greeks of the mesh besides the two; none for a move of nothing.
 * Verified: test/pricing/explain.test.ts, each term against Black and Scholes' formula, and the order observed.
 */
export function taylor({ before, rolled, after, moves }: Pair): Attribution {
  const views: Trade[] = [];
  const add = (view: Trade): number => views.push(view) - 1;
  const { years, volatility, rate } = moves;
  const sigma = meanVolatility(before);
  const h = clamp(Math.abs(volatility), Math.max(0.01 * sigma, 1e-4), Math.max(0.1 * sigma, 1e-4));
  const k = clamp(Math.abs(rate), 2e-4, 5e-3);
  const l = timeStep(before, years);
  const shift = (v: number, r: number): number => add(withShift(before, v * h, r * k));
  const v = volatility === 0 ? undefined : [shift(1, 0), shift(-1, 0)];
  const r = rate === 0 ? undefined : [shift(0, 1), shift(0, -1)];
  const vr = v && r && [shift(1, 1), shift(-1, -1)];
  const t = l > 0 ? add(laterTrade(before, l) as Trade) : undefined;
  const forecast = forecastOf(before, rolled, after, years);
  const d = forecast && add(forecast);
  return {
    views,
    terms(base, _, values) {
      const of = (i: number): Point => pointOf(values[i]);
      const second = {
        t: t === undefined ? undefined : slope(pointOf(base), of(t), l),
        v: v && central(of(v[0]), pointOf(base), of(v[1]), h),
        r: r && central(of(r[0]), pointOf(base), of(r[1]), k),
        vr: v && r && vr && mixed(base.value, v.map(of), r.map(of), vr.map(of), h * k),
        d: d === undefined ? undefined : slope(pointOf(base), of(d), 1),
      };
      return termsOf(base, second, moves);
    },
  };
}

/** What a difference is taken of. */
interface Point {
  readonly value: number;
  readonly delta: number;
  readonly theta: number;
}

interface Curvature extends Point {
  /** Of the value, the second difference. */
  readonly second: number;
}

interface Second {
  readonly t: Point | undefined;
  readonly v: Curvature | undefined;
  readonly r: Curvature | undefined;
  readonly vr: number | undefined;
  readonly d: Point | undefined;
}

function termsOf(base: PricedTrade, { t, v, r, vr = 0, d }: Second, moves: Pair["moves"]): ExplainTerms {
  const { years, spot, paid, volatility, rate } = moves;
  const [delta, gamma] = [base.delta ?? 0, base.gamma ?? 0];
  const move = spot + paid;
  return {
    theta: (base.theta ?? 0) * years,
    delta: delta * spot,
    gamma: 0.5 * gamma * spot * spot,
    vega: (base.vega ?? 0) * volatility,
    rho: (base.rho ?? 0) * rate,
    exDividend: paid * (delta + gamma * (spot + 0.5 * paid)),
    dividends: d?.value ?? 0,
    thetaTime: 0.5 * (t?.theta ?? 0) * years * years,
    charm: (t?.delta ?? 0) * move * years,
    vanna: (v?.delta ?? 0) * move * volatility,
    volga: 0.5 * (v?.second ?? 0) * volatility * volatility,
    veta: (v?.theta ?? 0) * years * volatility,
    rhoSpot: (r?.delta ?? 0) * move * rate,
    rhoTime: (r?.theta ?? 0) * years * rate,
    rhoVolatility: vr * volatility * rate,
    rhoRate: 0.5 * (r?.second ?? 0) * rate * rate,
    dividendCross: (d?.delta ?? 0) * move + (d?.theta ?? 0) * years,
  };
}

function pointOf({ value, delta, theta }: PricedTrade): Point {
  return { value, delta: delta ?? 0, theta: theta ?? 0 };
}

function slope(from: Point, to: Point, step: number): Point {
  return {
    value: (to.value - from.value) / step,
    delta: (to.delta - from.delta) / step,
    theta: (to.theta - from.theta) / step,
  };
}

function central(up: Point, base: Point, down: Point, step: number): Curvature {
  return { ...slope(down, up, 2 * step), second: (up.value - 2 * base.value + down.value) / (step * step) };
}

/** V_σr, from the values under both shifts, with one sign, less the second differences of each alone. */
function mixed(base: number, v: readonly Point[], r: readonly Point[], vr: readonly Point[], area: number): number {
  const sum = (points: readonly Point[]): number => points[0].value + points[1].value;
  return (sum(vr) - sum(v) - sum(r) + 2 * base) / (2 * area);
}

function clamp(x: number, least: number, most: number): number {
  return Math.min(Math.max(x, least), most);
}

function withShift(trade: Trade, volatility: number, rate: number): Trade {
  const { underlying } = trade;
  return {
    ...trade,
    volatility: volatility === 0 ? trade.volatility : shiftedVolatility(trade.volatility, volatility),
    underlying: rate === 0 ? underlying : { ...underlying, rates: shifted(underlying.rates, rate) },
  };
}

function meanVolatility(trade: Trade): number {
  const problem = tradeProblem(trade, undefined);
  if (trade.expiry === 0) return 0;
  if (problem.diffusion.kind !== "deterministic") return volatilityAt(problem.diffusion, problem.spots[0], 0);
  return Math.sqrt(totalVariance(problem) / problem.expiry);
}

/** As long as the time that passed, but for a part of the life, and of the time to the first dividend: there delta and theta jump. */
function timeStep({ expiry, underlying }: Trade, years: number): number {
  return Math.min(years, 0.05 * expiry, 0.5 * (underlying.dividends.discrete[0]?.time ?? expiry));
}

/** The earlier market with the later forecast of dividends after the second date; undefined if that is the same. */
function forecastOf(before: Trade, rolled: Trade, after: Trade, years: number): Trade | undefined {
  const { dividends } = after.underlying;
  if (same(rolled.underlying.dividends, dividends)) return undefined;
  const later = dividends.discrete.map((dividend) => ({ ...dividend, time: dividend.time + years }));
  const discrete = [...paidDividends(before, years), ...later];
  return { ...before, underlying: { ...before.underlying, dividends: { yield: dividends.yield, discrete } } };
}
