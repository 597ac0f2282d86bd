import type { PricedTrade, Trade } from "../../book/index.ts";
import { totalVariance, volatilityAt } from "../../pde/fdm/index.ts";
import { isStochastic, shifted as shiftedCurve, shiftedVolatility, yieldsBefore } from "../../market/index.ts";
import { paidDividends, equalUpToRounding, volatilityToday } from "../market-moves.ts";
import type { MarketMoves, Pair } from "../plan/kind.ts";
import { rollForward } from "../terms.ts";
import { tradeProblem } from "../trade-problem.ts";
import type { Attribution } from "./attribution.ts";
import type { ExplainTerms } from "./types.ts";

/**
 * Explains a change of value by the Taylor expansion about the earlier market, to second order in time, spot,
 * volatility and rate:
 *
 *   ΔV ≈ V_t·Δt + V_S·ΔS + V_σ·Δσ + V_r·Δr + ½V_SS·ΔS² + ½V_tt·Δt² + … + V_Sσ·ΔS·Δσ + V_St·ΔS·Δt + …
 *
 * Across a dividend date V is a smooth function of the spot with its dividends added back, so ΔS is the move of that.
 * `delta` and `gamma` are the terms for the quoted spot, and `exDividend` is the rest. First derivatives and gamma are
 * the Greeks that `price` reports. The other second derivatives are differences of value, delta and theta under shifts
 * as large as the moves, within what the mesh can resolve. Error: of third order in the moves. Cost: up to 8 prices,
 * with Greeks from the mesh, besides the two; none for an input that has not changed. Verified:
 * test/pricing/explain.test.ts, each term against Black and Scholes' formula, and the observed order.
 */
export function taylor({ before, rolled, after }: Pair<Trade>, moves: MarketMoves): Attribution {
  const views: Trade[] = [];
  const add: Add = (view) => {
    const index = views.push(view) - 1;
    return (values) => pointOf(values[index]);
  };
  const [h, k] = steps(before, moves);
  const shifted = (v: number, r: number): Read<Point> => add(withShift(before, v * h, r * k));
  const v = moves.volatility === 0 ? undefined : ([shifted(1, 0), shifted(-1, 0)] as const);
  const r = moves.rate === 0 ? undefined : ([shifted(0, 1), shifted(0, -1)] as const);
  const vr = v && r && ([shifted(1, 1), shifted(-1, -1)] as const);
  const t = alongTime(before, moves.years, add);
  const d = alongForecast(forecastOf(before, rolled, after, moves.years), add);
  return {
    views,
    terms(priced, _, values) {
      const base = pointOf(priced);
      const of = (pair: PairOfReads): readonly [Point, Point] => [pair[0](values), pair[1](values)];
      const second = {
        t: t?.(base, values),
        v: v && central(base, of(v), h),
        r: r && central(base, of(r), k),
        vr: v && r && vr && mixed(base, of(v), of(r), of(vr), h * k),
        d: d?.(base, values),
      };
      return termsOf(priced, second, moves);
    },
  };
}

type Read<T> = (values: readonly PricedTrade[]) => T;
type PairOfReads = readonly [Read<Point>, Read<Point>];
type Difference = (base: Point, values: readonly PricedTrade[]) => Point;
/** Has a view priced, and tells how its result is read. */
type Add = (view: Trade) => Read<Point>;

interface Second {
  readonly t: Point | undefined;
  readonly v: Curvature | undefined;
  readonly r: Curvature | undefined;
  readonly vr: number | undefined;
  readonly d: Point | undefined;
}

/**
 * Shifts of volatility and rate: as large as the moves, but not below what a mesh resolves, nor far above small moves.
 */
function steps(before: Trade, { volatility, rate }: MarketMoves): readonly [number, number] {
  const sigma = meanVolatility(before);
  const h = clamp(Math.abs(volatility), Math.max(0.01 * sigma, 1e-4), Math.max(0.1 * sigma, 1e-4));
  return [h, clamp(Math.abs(rate), 2e-4, 5e-3)];
}

function alongTime(before: Trade, years: number, add: Add): Difference | undefined {
  const step = timeStep(before, years);
  if (step === 0) return undefined;
  const later = add(rollForward(before, step) as Trade);
  return (base, values) => slope(base, later(values), step);
}

function alongForecast(forecast: Trade | undefined, add: Add): Difference | undefined {
  const read = forecast && add(forecast);
  return read && ((base, values) => slope(base, read(values), 1));
}

function termsOf(base: PricedTrade, { t, v, r, vr = 0, d }: Second, moves: MarketMoves): ExplainTerms {
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

function clamp(x: number, min: number, max: number): number {
  return Math.min(Math.max(x, min), max);
}

function withShift(trade: Trade, volatility: number, rate: number): Trade {
  const { underlying } = trade;
  return {
    ...trade,
    volatility: volatility === 0 ? trade.volatility : shiftedVolatility(trade.volatility, volatility),
    underlying: rate === 0 ? underlying : { ...underlying, rates: shiftedCurve(underlying.rates, rate) },
  };
}

function meanVolatility(trade: Trade): number {
  if (trade.expiry === 0) return 0;
  if (isStochastic(trade.volatility)) return volatilityToday(trade, trade.underlying.spot);
  const problem = tradeProblem(trade, undefined);
  if (problem.diffusion.kind !== "deterministic") return volatilityAt(problem.diffusion, problem.spots[0], 0);
  return Math.sqrt(totalVariance(problem) / problem.expiry);
}

/**
 * The time that passed, but at most a part of the life, and of the time to the first dividend, where delta and theta
 * jump.
 */
function timeStep({ expiry, underlying }: Trade, years: number): number {
  return Math.min(years, 0.05 * expiry, 0.5 * (underlying.dividends.discrete[0]?.time ?? expiry));
}

/** The earlier market with the later forecast of dividends after the second date; undefined if that is the same. */
function forecastOf(before: Trade, rolled: Trade, after: Trade, years: number): Trade | undefined {
  const { dividends } = after.underlying;
  if (equalUpToRounding(rolled.underlying.dividends, dividends)) return undefined;
  const later = dividends.discrete.map((dividend) => ({ ...dividend, time: dividend.time + years }));
  const discrete = [...paidDividends(before, years), ...later];
  return {
    ...before,
    underlying: { ...before.underlying, dividends: { ...yieldsBefore(dividends, years), discrete } },
  };
}

/** A value with the sensitivities of which differences are taken. */
interface Point {
  readonly value: number;
  readonly delta: number;
  readonly theta: number;
}

/** The first differences of value, delta and theta by one input, and the second difference of the value. */
interface Curvature extends Point {
  /** The second difference of the value. */
  readonly second: number;
}

/** Returns the value, delta and theta of a priced trade. */
function pointOf({ value, delta, theta }: PricedTrade): Point {
  return { value, delta: delta ?? 0, theta: theta ?? 0 };
}

/** Returns the differences (to − from)/step of value, delta and theta. */
function slope(from: Point, to: Point, step: number): Point {
  return {
    value: (to.value - from.value) / step,
    delta: (to.delta - from.delta) / step,
    theta: (to.theta - from.theta) / step,
  };
}

/** Returns the central first and second differences about `base`, with `up` and `down` a `step` away. */
function central(base: Point, [up, down]: readonly [Point, Point], step: number): Curvature {
  return { ...slope(down, up, 2 * step), second: (up.value - 2 * base.value + down.value) / (step * step) };
}

/**
 * Returns the mixed derivative V_σr, from the values with both inputs shifted by the same sign, less the second
 * differences by each input alone. `area` is the product of the two shifts.
 */
function mixed(base: Point, v: readonly Point[], r: readonly Point[], vr: readonly Point[], area: number): number {
  const sum = (points: readonly Point[]): number => points[0].value + points[1].value;
  return (sum(vr) - sum(v) - sum(r) + 2 * base.value) / (2 * area);
}
