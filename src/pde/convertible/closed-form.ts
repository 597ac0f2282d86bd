import { discountFactor, integrate, integratedVariance, type PiecewiseConstant } from "../../market/index.ts";
import { hostNormalCdf } from "../../market/models/index.ts";
import { gaussLegendre } from "../../numerics/linalg/index.ts";
import { type Convertible, type ConvertibleMarket, isDate, ratioAtMaturity, SAME_TIME } from "./contract.ts";

/** Tells whether a bond has a closed form: no conversion, call or put before maturity, and no dividends on dates. */
export function hasClosedForm({ conversions, calls, puts, maturity }: Convertible, market: ConvertibleMarket): boolean {
  const { credit, dividends, volatility } = market;
  if (calls.length > 0 || puts.length > 0) return false;
  if (credit.kind === "hazard" && credit.exponent !== 0) return false;
  if (conversions.every(({ ratio }) => ratio === 0)) return true;
  const isLate = conversions.every((one) => isDate(one) && one.from >= maturity - SAME_TIME);
  const isPaid = dividends.discrete.some(({ time }) => time <= maturity + SAME_TIME);
  return isLate && !isPaid && typeof volatility !== "function";
}

/** The probabilities that S ends above a level, with S as numéraire and with cash. */
function probabilities(forward: number, level: number, variance: number): readonly [number, number] {
  if (level <= 0) return [1, 1];
  const deviation = Math.max(Math.sqrt(variance), 1e-12);
  const d1 = Math.log(forward / level) / deviation + 0.5 * deviation;
  return [hostNormalCdf(d1), hostNormalCdf(d1 - deviation)];
}

/** Points of a rule for each piece of the time to default. */
const POINTS = 48;

/**
 * Returns the value of a bond for which `hasClosedForm`, in the currency. With a spread, shares are valued by Black and
 * Scholes' formula at r, and all cash is discounted at r + s. With a hazard rate p everything is discounted at r + p,
 * and the recovery is integrated over the time t of default, in √t, where the integrand is smooth.
 */
export function closedFormValue(contract: Convertible, market: ConvertibleMarket, spot: number): number {
  const { credit } = market;
  const creditRates = credit.kind === "spread" ? credit.spread : credit.hazard;
  const survivesAt = (t: number): number => discountFactor(creditRates, t);
  const cashAt = (t: number): number => discountFactor(market.rates, t) * survivesAt(t);
  let value = 0;
  for (const { time, amount } of contract.coupons)
    if (time < contract.maturity - SAME_TIME) value += amount * cashAt(time);
  return value + redeemed(contract, market, spot, cashAt) + recovered(contract, market, spot, cashAt);
}

/** The value of what maturity pays. */
function redeemed(
  contract: Convertible,
  market: ConvertibleMarket,
  spot: number,
  cashAt: (t: number) => number,
): number {
  const { notional, maturity, coupons } = contract;
  const last = coupons.find(({ time }) => time >= maturity - SAME_TIME)?.amount ?? 0;
  const ratio = ratioAtMaturity(contract);
  const paid = notional + last;
  if (ratio === 0) return paid * cashAt(maturity);
  const [shares, cash] = probabilities(...levelsAt(market, spot, paid / ratio, maturity));
  return ratio * sharesAt(market, spot, maturity) * shares + paid * cashAt(maturity) * (1 - cash);
}

/** The forward spot, if there is no default before, a level, and the variance of ln S. */
function levelsAt(
  { rates, dividends, credit, volatility }: ConvertibleMarket,
  spot: number,
  level: number,
  t: number,
): readonly [number, number, number] {
  const jumps = credit.kind === "hazard" ? credit.jump * integrate(credit.hazard, t) : 0;
  const forward = spot * Math.exp(integrate(rates, t) - dividends.yield * t + jumps);
  return [forward, level, integratedVariance(volatility as PiecewiseConstant, t)];
}

/** The value of a share to be had at a time if there is no default before. */
function sharesAt({ dividends, credit }: ConvertibleMarket, spot: number, t: number): number {
  const lost = credit.kind === "hazard" ? (1 - credit.jump) * integrate(credit.hazard, t) : 0;
  return spot * Math.exp(-dividends.yield * t - lost);
}

/** The value of what default leaves: the better of recovery and conversion after the jump. */
function recovered(
  contract: Convertible,
  market: ConvertibleMarket,
  spot: number,
  cashAt: (t: number) => number,
): number {
  const { credit, rates, volatility } = market;
  if (credit.kind === "spread") return 0;
  const { maturity, conversions, notional } = contract;
  const ratio = Math.max(0, ...conversions.map((one) => one.ratio)) * (1 - credit.jump);
  const recovery = credit.recovery * notional;
  const left = (t: number): number => {
    if (ratio === 0) return recovery * cashAt(t);
    const [shares, cash] = probabilities(...levelsAt(market, spot, recovery / ratio, t));
    return ratio * sharesAt(market, spot, t) * shares + recovery * cashAt(t) * (1 - cash);
  };
  const sigmaTimes = typeof volatility === "function" ? [] : volatility.times;
  const knots = [0, ...credit.hazard.times, ...rates.times, ...sigmaTimes, maturity]
    .filter((time) => time <= maturity)
    .toSorted((a, b) => a - b);
  const { nodes, weights } = gaussLegendre(POINTS);
  let sum = 0;
  for (let k = 1; k < knots.length; k++) {
    const [from, to] = [Math.sqrt(knots[k - 1]), Math.sqrt(knots[k])];
    if (to === from) continue;
    const hazard =
      (integrate(credit.hazard, knots[k]) - integrate(credit.hazard, knots[k - 1])) / (knots[k] - knots[k - 1]);
    nodes.forEach((node, i) => {
      const root = 0.5 * (from + to) + 0.5 * (to - from) * node;
      sum += 0.5 * (to - from) * weights[i] * 2 * root * hazard * left(root * root);
    });
  }
  return sum;
}
