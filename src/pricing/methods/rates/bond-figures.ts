/** Option-adjusted spreads of bonds with embedded options, found from values of the bond at shifted rates. */
import type { Bond, PricedTrade } from "../../../book/index.ts";
import type { RatesRow, RatesSession } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/** The most evaluations of a bond; from `PATIENT` of them on, every other one halves the bracket. */
const [ROUNDS, PATIENT] = [80, 8];
/** The accuracy of a spread. */
const ACCURACY = 1e-10;
/** A spread this close to where the model has no value is not looked for. */
const CLOSE = 1e-5;

/** A spread, and the value of the bond with it less its market price. */
type Tried = readonly [spread: number, excess: number];

/**
 * A bond that is looked for its spread. Its value falls as the spread rises, so that the spread lies between `low`,
 * where the value is above the market price or the model has none, and `high`.
 */
interface Search {
  readonly row: RatesRow;
  readonly target: number;
  readonly last: Tried;
  readonly before: Tried | undefined;
  readonly low: End;
  readonly high: End;
}

interface End {
  readonly at: number;
  readonly hasValue: boolean;
}

/**
 * Returns, for callable and puttable bonds with their values, the parallel shift s of the rates with which each bond
 * has its clean market price (option-adjusted spread); undefined where no such s up to `LARGEST_SPREAD` exists for
 * which the model has a value. Rates are shifted as in scenarios. All bonds are solved together by the secant method,
 * within brackets that are halved where it leaves them, with one pricing call for each iteration.
 */
export async function adjustedSpreads(
  rows: readonly { readonly row: RatesRow; readonly value: number }[],
  session: RatesSession,
  signal: AbortSignal | undefined,
): Promise<readonly (number | undefined)[]> {
  const found = Array<number | undefined>(rows.length).fill(undefined);
  let open = rows.flatMap(({ row, value }, index): readonly (readonly [number, Search])[] => {
    const { product, marketPrice } = row.trade;
    if (product.kind !== "bond" || marketPrice === undefined) return [];
    const target = marketPrice + accruedAt(product.bond, 0);
    return [[index, begun(row, target, value - target)]];
  });
  for (let round = 0; round < ROUNDS && open.length > 0; round++) {
    const next = open.flatMap(([index, search]): readonly (readonly [number, Search, number])[] => {
      const spread = nextSpread(search, round);
      if (Math.abs(spread - search.last[0]) < ACCURACY) found[index] = spread;
      return found[index] === undefined && isOpen(search) ? [[index, search, spread]] : [];
    });
    const moved = next.map(([, { row }, spread]): RatesRow => {
      return { ...row, greeks: "none", market: row.market.moved((t) => spread * t) };
    });
    const outcomes = await session.price(moved, signal);
    open = next.map(([index, search, spread], i) => {
      const outcome = outcomes[i];
      const value = outcome instanceof Error ? Number.NaN : outcome.value;
      return [index, after(search, spread, value - search.target)] as const;
    });
  }
  return found;
}

function begun(row: RatesRow, target: number, excess: number): Search {
  const [low, high] = [-LARGEST_SPREAD, LARGEST_SPREAD].map((at): End => ({ at, hasValue: false }));
  const side = excess > 0 ? { low: { at: 0, hasValue: true }, high } : { low, high: { at: 0, hasValue: true } };
  return { row, target, last: [0, excess], before: undefined, ...side };
}

/** The search after a value with a spread, which is not a number where the model has none. */
function after(search: Search, spread: number, excess: number): Search {
  const hasValue = Number.isFinite(excess);
  const isLow = hasValue ? excess > 0 : spread < search.last[0];
  const moved = { ...search, [isLow ? "low" : "high"]: { at: spread, hasValue } };
  return hasValue ? { ...moved, last: [spread, excess], before: search.last } : moved;
}

/** Tells whether the spread may still be found. */
const isOpen = ({ low, high }: Search): boolean => (low.hasValue && high.hasValue) || high.at - low.at > CLOSE;

/**
 * The root of the line through the last two points, or the middle of what is left where that is outside; to begin with,
 * the spread of the bond as if it were paid at the end.
 */
function nextSpread({ row, target, last: [spread, excess], before, low, high }: Search, round: number): number {
  if (excess === 0) return spread;
  const middle = 0.5 * (low.at + high.at);
  if (round >= PATIENT && round % 2 === 0) return middle;
  const slope = before === undefined ? Number.NaN : (excess - before[1]) / (spread - before[0]);
  const next = before === undefined ? Math.log1p(excess / target) / row.trade.expiry : spread - excess / slope;
  return next > low.at && next < high.at ? next : middle;
}

type BondFigures = Pick<PricedTrade, "clean" | "accrued" | "yield" | "duration" | "convexity">;

/**
 * Returns the interest accrued at a time: the coupon of the current period times the fraction of the period that has
 * elapsed.
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

/** The largest option-adjusted spread that `adjustedSpreads` finds, per year. */
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
