/** Linear trades at a later time, with the exchange rates of another one, and in the market of a scenario. */
import { memoizeBy } from "../../../base/memoize.ts";
import { type Conversion, EVERY, type LinearCurves, type LinearLeg, type LinearTrade } from "../../../book/index.ts";
import { ONE_SECOND, type PiecewiseConstant } from "../../../market/index.ts";
import { type Curve, type CurveData, type PaidFlow, type Turn, Valuation } from "../../../market/linear/index.ts";
import type { MovedMarket } from "../../plan/moved-market.ts";
import { curvesOf } from "./value.ts";

/** Returns a trade some years later along its forward rates; undefined once nothing is left of it. */
export function rollForward(trade: LinearTrade, years: number): LinearTrade | undefined {
  if (years === 0) return trade;
  const expiry = trade.expiry - years;
  if (expiry < ONE_SECOND) return undefined;
  const seen = trade.seen + years;
  const legs = trade.legs.flatMap((leg) => resetUntil(leg, seen, trade.market));
  return { ...trade, legs, seen, expiry };
}

/** A leg at a later time: notionals that are reset until then are so at the spot rate as it is. */
function resetUntil(leg: LinearLeg, seen: number, market: LinearCurves): readonly LinearLeg[] {
  const { resets, flows, byRate, sign } = leg;
  const isReset = ({ factors }: PaidFlow): boolean => factors[1].time <= seen + ONE_SECOND;
  if (resets === undefined || !flows.some(isReset)) return [leg];
  const { currency, conversion, step } = resets;
  const { base, quote, lag, spot, power } = step;
  const fixed = (flow: PaidFlow): PaidFlow => {
    const { time } = flow.factors[1];
    const then = new Valuation(curvesOf(market), { years: time, shift: 0 });
    const rate = spot * (then.discount(quote, time + lag) / then.discount(base, time + lag));
    return { ...flow, scale: flow.scale * rate ** power, factors: flow.factors.slice(0, 1) };
  };
  const known = {
    currency,
    sign,
    flows: flows.filter(isReset).map(fixed),
    byRate: byRate.filter(isReset).map(fixed),
    conversion,
  };
  const isLeft = (flow: PaidFlow): boolean => !isReset(flow);
  return [{ ...leg, flows: flows.filter(isLeft), byRate: byRate.filter(isLeft) }, known];
}

/** Returns a trade with the spots of its pairs as another trade has them. */
export function withSpots(trade: LinearTrade, { legs, pair }: LinearTrade): LinearTrade {
  const spots = new Map(legs.flatMap(({ conversion }) => conversion.map(({ pair: name, spot }) => [name, spot])));
  const moved = trade.legs.map((leg) => ({
    ...leg,
    conversion: leg.conversion.map((step) => ({ ...step, spot: spots.get(step.pair) ?? step.spot })),
  }));
  return { ...trade, legs: moved, ...(pair === undefined ? {} : { pair }) };
}

/** A time in years after all payments. */
const NEVER = 1e6;

/** Returns a trade in the market of a scenario; undefined where nothing is left of it. */
export function inMarket(trade: LinearTrade, market: MovedMarket): LinearTrade | undefined {
  const then = rollForward(trade, market.years);
  if (then === undefined) return undefined;
  const { pair } = then;
  const used = usedCurves(trade);
  return {
    ...then,
    market: market.once(`curves ${used.join()}`, then.market, () => movedCurves(then, used, market)),
    legs: then.legs.map((leg) => movedLeg(leg, market)),
    ...(pair === undefined ? {} : { pair: { ...pair, spot: pair.spot * (1 + market.by("fx", pair.name)) } }),
  };
}

/** Returns the numbers of the curves on which a trade depends. */
export const usedCurves = memoizeBy(({ legs }: LinearTrade): readonly number[] => {
  const used = new Set<number>();
  for (const { flows, conversion, resets } of legs) {
    for (const { factors, growth, atDefault } of flows) {
      for (const { curve } of factors) used.add(curve);
      if (growth !== undefined && growth.periods.length > 0) used.add(growth.curve);
      if (atDefault !== undefined) used.add(atDefault.survival).add(atDefault.discount);
    }
    for (const { base, quote } of [...conversion, ...(resets === undefined ? [] : [resets.step])])
      used.add(base).add(quote);
  }
  return [...used].sort((a, b) => a - b);
});

/** The curves of a trade, whose forward rates move from the scenario's date on: those of issuers are hazard rates. */
function movedCurves(
  { market: curves, seen }: LinearTrade,
  used: readonly number[],
  market: MovedMarket,
): LinearCurves {
  const moved = curves.curves.map((curve, c): CurveData => {
    if (!used.includes(c)) return curve;
    const owner = curves.owners[c] ?? EVERY;
    const isRate = curves.recoveries[c] === undefined;
    const turns = isRate
      ? turnsOf(market.forwards(owner), seen)
      : hazardTurns(curvesOf(curves)[c], market.by("credit", owner), seen);
    return turns.every(({ spread }) => spread === 0) ? curve : { ...curve, turns: [...curve.turns, ...turns] };
  });
  return moved.every((curve, c) => curve === curves.curves[c]) ? curves : { ...curves, curves: moved };
}

/** The turns by which forward rates move from a time on. */
function turnsOf({ times, values }: PiecewiseConstant, seen: number): readonly Turn[] {
  const ends = [...times.map((time) => seen + time), NEVER];
  return values.map((spread, i) => ({ from: i === 0 ? seen : ends[i - 1], to: ends[i], spread }));
}

/** The turns by which hazard rates, constant between nodes, move in parallel from a time on; none falls below 0. */
function hazardTurns(curve: Curve, by: number, seen: number): readonly Turn[] {
  const starts = [seen, ...curve.times.subarray(0, -1).filter((time) => time > seen)];
  return starts.map((from, i) => {
    const to = starts[i + 1] ?? NEVER;
    // Beyond the last node the rate stays, so that a year tells it.
    const end = Math.min(to, from + 1);
    const hazard = (curve.logDiscount(end) - curve.logDiscount(from)) / (end - from);
    return { from, to, spread: Math.max(by, -hazard) };
  });
}

function movedLeg(leg: LinearLeg, market: MovedMarket): LinearLeg {
  const { conversion, resets } = leg;
  if (conversion.length === 0 && resets === undefined) return leg;
  const moved = (step: Conversion): Conversion => ({ ...step, spot: step.spot * (1 + market.by("fx", step.pair)) });
  return {
    ...leg,
    conversion: conversion.map(moved),
    ...(resets === undefined
      ? {}
      : { resets: { ...resets, step: moved(resets.step), conversion: resets.conversion.map(moved) } }),
  };
}
