import {
  accruedInterest,
  closedFormValue,
  type Convertible,
  type ConvertibleMarket,
  type ConvertiblePoint,
  covers,
} from "../../convertible/index.ts";
import { forwardRate, valueAt } from "../../market/index.ts";
import type { ConvertibleNumbers } from "./result.ts";

/** Relative moves for sensitivities of closed forms, which are smooth. */
const SPOT_STEP = 1e-3;

/** Rounding of closed forms, relative to the value. */
const ROUNDING = 1e-13;

/** The value and its derivatives by the spot of a closed form. */
export function closedFormPoint(contract: Convertible, market: ConvertibleMarket, spot: number): ConvertiblePoint {
  const at = (s: number): number => closedFormValue(contract, market, s);
  const value = at(spot);
  const h = SPOT_STEP * spot;
  // Five-point differences, of fourth order.
  const [a, b, c, d] = [at(spot - 2 * h), at(spot - h), at(spot + h), at(spot + 2 * h)];
  return {
    value,
    cash: 0,
    delta: (a - 8 * b + 8 * c - d) / (12 * h),
    gamma: (-a + 16 * b - 30 * value + 16 * c - d) / (12 * h * h),
    errorEstimate: ROUNDING * (Math.abs(value) + spot),
  };
}

/** The bounds of the value now, by what holder and issuer may do at once. */
export function boundsNow(contract: Convertible, spot: number): readonly [number, number] {
  const isNow = (period: { readonly from: number; readonly to: number }): boolean => covers(period, 0, 0);
  const accrued = accruedInterest(contract.coupons, 0, true);
  const parity = spot * (contract.conversions.find(isNow)?.ratio ?? 0);
  const put = contract.puts.find(isNow);
  const low = Math.max(parity, put === undefined ? 0 : put.price + accrued);
  const call = contract.calls.find((one) => isNow(one) && spot >= one.trigger);
  return [low, call === undefined ? Number.POSITIVE_INFINITY : Math.max(low, call.price + accrued)];
}

/** A value within its bounds; what it was beyond them is an error of it. */
export function bounded(contract: Convertible, spot: number, point: ConvertiblePoint): ConvertiblePoint {
  const [low, high] = boundsNow(contract, spot);
  const value = Math.min(Math.max(point.value, low), high);
  return { ...point, value, errorEstimate: Math.max(point.errorEstimate, Math.abs(value - point.value)) };
}

/** ∂V/∂t by the equation, at the spot: the market stays as it is. 0 where conversion or a call ends the bond now. */
export function thetaAt(
  contract: Convertible,
  market: ConvertibleMarket,
  spot: number,
  { value, cash, delta, gamma }: ConvertiblePoint,
): number {
  const { rates, dividends, volatility, credit } = market;
  const [low, high] = boundsNow(contract, spot);
  if (value >= high || (low > 0 && value <= low)) return 0;
  const rate = forwardRate(rates, 0);
  const sigma = typeof volatility === "function" ? volatility(spot, 0) : valueAt(volatility, 0);
  const diffusion = 0.5 * sigma * sigma * spot * spot * gamma;
  const drift = (rate - dividends.yield) * spot * delta;
  if (credit.kind === "spread") return rate * value + valueAt(credit.spread, 0) * cash - drift - diffusion;
  const hazard = valueAt(credit.hazard, 0) * (credit.exponent === 0 ? 1 : (spot / credit.reference) ** credit.exponent);
  const ratio = Math.max(0, ...contract.conversions.map((one) => one.ratio)) * (1 - credit.jump);
  const left = Math.max(ratio * spot, credit.recovery * contract.notional);
  return (rate + hazard) * value - drift - hazard * credit.jump * spot * delta - diffusion - hazard * left;
}

/** Figures without the sensitivities that take moved markets. */
export function figuresOf(point: ConvertiblePoint, theta: number): ConvertibleNumbers {
  const { value, errorEstimate, delta, gamma } = point;
  return { value, errorEstimate, delta, gamma, theta, vega: Number.NaN, rho: Number.NaN, credit: Number.NaN };
}
