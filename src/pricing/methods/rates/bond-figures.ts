import type { Bond, PricedTrade } from "../../../book/index.ts";

import type { RatesMarket } from "./rates-market.ts";

type BondFigures = Pick<PricedTrade, "clean" | "accrued" | "yield" | "duration" | "convexity">;

/**
 * Returns the interest accrued at a time: the coupon times the elapsed fraction of its period, none once it is paid.
 */
export function accruedAt({ coupons }: Bond, time: number): number {
  const current = coupons.find(({ start, end }) => start <= time && time < end);
  return current === undefined ? 0 : (current.amount * (time - current.start)) / (current.end - current.start);
}

/**
 * Returns the clean price, the accrued interest, the yield, the duration and the convexity of a bond. The value is
 * treated as the price of the payments to maturity: y is the continuously compounded yield with V = Σ cᵢ·e^{−y·tᵢ}; the
 * duration is −V′/V, Macaulay's; and the convexity V″/V.
 */
export function bondFigures(bond: Bond, value: number): BondFigures {
  const accrued = accruedAt(bond, 0);
  const clean = value - accrued;
  const y = yieldOf(bond.flows, value);
  if (y === undefined) return { clean, accrued };
  const [, first, second] = momentsOf(bond.flows, y);
  return { clean, accrued, yield: y, duration: first / value, convexity: second / value };
}

/** Σ cᵢ·e^{−y·tᵢ}·tᵢᵏ for k = 0, 1, 2. */
function momentsOf(flows: Bond["flows"], y: number): readonly [number, number, number] {
  let [value, first, second] = [0, 0, 0];
  for (const [time, amount] of flows) {
    const part = amount * Math.exp(-y * time);
    value += part;
    first += part * time;
    second += part * time * time;
  }
  return [value, first, second];
}

/**
 * Returns the spread s over the rates with which a bond without embedded options has its clean market price: the yield
 * of its discounted payments. It is undefined where there is none up to `LARGEST_SPREAD`.
 */
export function spreadOf(bond: Bond, cleanPrice: number, market: RatesMarket): number | undefined {
  const discounted = bond.flows.map(([time, amount]) => [time, amount * market.discount(time)] as const);
  const spread = yieldOf(discounted, cleanPrice + accruedAt(bond, 0));
  return spread !== undefined && Math.abs(spread) <= LARGEST_SPREAD ? spread : undefined;
}

/** The largest option-adjusted spread that is looked for. */
export const LARGEST_SPREAD = 1;

/** Rates beyond these are no yields. */
const [LOWEST, HIGHEST] = [-10, 100];

/**
 * The yield, by Newton's method on ln V within a bracket; none where a flow is negative or the value is not positive,
 * where there may be several or none.
 */
function yieldOf(flows: Bond["flows"], value: number): number | undefined {
  if (!(value > 0) || flows.some(([, amount]) => amount < 0)) return undefined;
  let [low, high] = [LOWEST, HIGHEST];
  let y = 0;
  for (let k = 0; k < 200; k++) {
    const [price, first] = momentsOf(flows, y);
    if (!(price > 0) || !Number.isFinite(price)) {
      if (price === 0) high = y;
      else low = y;
    } else if (price > value) low = y;
    else high = y;
    const step = Number.isFinite(price) && price > 0 ? (Math.log(price / value) * price) / first : Number.NaN;
    const next = y + step > low && y + step < high ? y + step : 0.5 * (low + high);
    if (Math.abs(next - y) <= 1e-15 * Math.max(Math.abs(y), 1e-3)) return next;
    y = next;
  }
  return y > LOWEST && y < HIGHEST ? y : undefined;
}
