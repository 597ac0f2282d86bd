/** Linear trades at a later time, and with the exchange rates of another one. */
import type { LinearCurves, LinearLeg, LinearTrade } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import { type PaidFlow, Valuation } from "../../../market/linear/index.ts";
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
