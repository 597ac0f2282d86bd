import { integrate, integratedVariance } from "../../market/index.ts";
import type { Convertible, ConvertibleMarket } from "./contract.ts";

/** Standard deviations of ln S on either side of the spots that a mesh has. */
const DEVIATIONS = 4.5;

/** The least standard deviation that a mesh is made for. */
const MIN_DEVIATION = 1e-4;

/** σ√T of ln S to maturity: of a local volatility the largest at the spots, now and then. */
function deviationOf({ volatility }: ConvertibleMarket, maturity: number, spots: readonly number[]): number {
  if (typeof volatility !== "function") return Math.sqrt(integratedVariance(volatility, maturity));
  const all = spots.flatMap((spot) => [0, 0.5, 1].map((part) => volatility(spot, part * maturity)));
  return Math.max(...all) * Math.sqrt(maturity);
}

/** The mean of ln S over the spots and the kinks of a bond that they may come to. */
function centerOf(
  { notional, coupons, calls, conversions, maturity }: Convertible,
  lowest: number,
  highest: number,
  deviation: number,
): number {
  const ratio = Math.max(0, ...conversions.map((one) => one.ratio));
  const spots = 0.5 * Math.log(lowest * highest);
  const last = coupons[coupons.length - 1];
  const redeemed = notional + (last !== undefined && last.time >= maturity ? last.amount : 0);
  const levels = [redeemed / ratio, ...calls.map(({ price, trigger }) => Math.max(trigger, price / ratio))];
  const near = levels
    .map((level) => Math.log(level / notional))
    .filter((level) => level > Math.log(lowest) - 2 * deviation && level < Math.log(highest) + 2 * deviation);
  return near.length === 0 ? spots : 0.5 * spots + (0.5 * near.reduce((sum, level) => sum + level, 0)) / near.length;
}

/**
 * Returns the nodes of the mesh of a convertible, in units of the notional. They are equidistant in asinh((ln S −
 * c)/d), where d is the standard deviation of ln S and c the middle of spots and kinks. They extend `DEVIATIONS`
 * standard deviations beyond the spots, and the trigger of each call is a node. Each level has twice the intervals of
 * the level before, by halving them.
 */
export function meshOf(
  contract: Convertible,
  market: ConvertibleMarket,
  spots: readonly number[],
  intervals: number,
  level: number,
): Float64Array {
  const { notional, maturity, calls } = contract;
  const { rates, dividends, credit } = market;
  const deviation = Math.max(deviationOf(market, maturity, spots), MIN_DEVIATION);
  const growth = integrate(rates, maturity) - dividends.yield * maturity;
  const jumps = credit.kind === "hazard" ? credit.jump * integrate(credit.hazard, maturity) : 0;
  const drift = growth + jumps;
  const paid = dividends.discrete.filter(({ time }) => time <= maturity);
  const kept = paid.reduce((part, { proportional }) => part * (1 - proportional), 1);
  const cash = paid.reduce((sum, dividend) => sum + dividend.cash, 0);
  const lowest = Math.min(...spots) / notional;
  const highest = Math.max(...spots) / notional;
  const down = Math.exp(-DEVIATIONS * deviation + Math.min(drift, 0));
  const low = Math.max(lowest * down * kept - cash / notional, 0.02 * lowest * down);
  const high = highest * Math.exp(DEVIATIONS * deviation + Math.max(drift, 0));
  const center = centerOf(contract, lowest, highest, deviation);
  const xi = (s: number): number => Math.asinh((Math.log(s) - center) / deviation);
  const spotAt = (x: number): number => Math.exp(center + deviation * Math.sinh(x));
  const [first, last] = [xi(low), xi(high)];
  const triggers = [...new Set(calls.map(({ trigger }) => trigger / notional))]
    .filter((trigger) => trigger > low && trigger < high)
    .toSorted((x, y) => x - y);
  // Each trigger on the node that it is nearest to, of those that are free; equidistant in between.
  const knots = [{ at: 0, xi: first }];
  for (const trigger of triggers) {
    const at = Math.round((intervals * (xi(trigger) - first)) / (last - first));
    const free = Math.max(at, knots[knots.length - 1].at + 1);
    if (free < intervals) knots.push({ at: free, xi: xi(trigger) });
  }
  knots.push({ at: intervals, xi: last });
  const parts = 2 ** level;
  const nodes = new Float64Array(intervals * parts + 1);
  for (let k = 1; k < knots.length; k++) {
    const [from, to] = [knots[k - 1], knots[k]];
    const count = (to.at - from.at) * parts;
    for (let i = 0; i <= count; i++) nodes[from.at * parts + i] = spotAt(from.xi + ((to.xi - from.xi) * i) / count);
  }
  for (const trigger of triggers) {
    const knot = knots.find((one) => one.xi === xi(trigger));
    if (knot !== undefined) nodes[knot.at * parts] = trigger;
  }
  return nodes;
}
