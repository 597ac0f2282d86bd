/** Convertibles with a row for each case of the scenarios and for each bump, as their methods see them. */
import { memoizeBy } from "../../../base/memoize.ts";
import type { ConvertibleTrade } from "../../../book/index.ts";
import { valueAt } from "../../../market/index.ts";
import {
  accruedInterest,
  closedFormValue,
  type Convertible,
  type ConvertibleMarket,
  type ConvertiblePoint,
  type ConvertibleRow,
  covers,
  hasClosedForm,
} from "../../../pde/convertible/index.ts";
import { moveOf } from "../../columns/result-columns.ts";
import type { Batch } from "../../plan/method.ts";
import { marketOf, rollForward } from "./market.ts";

/** The error of a value to aim at where nothing is said, relative to the notional. */
const ACCURACY = 1e-5;

/** Moves for sensitivities, either way. */
export const BUMPS = { volatility: 0.005, rate: 5e-4, credit: 5e-4 } as const;
/** The levels that sensitivities are solved on: four, and three where a value may be off by 5e-5 of the notional. */
const bumpLevels = (accuracy: number): number => (accuracy >= 5e-5 ? 3 : 4);

/** A market move by which a sensitivity is computed. */
export type Bump = keyof typeof BUMPS;
/** The names of all bumps, in the order of a trade's rows. */
export const BUMP_NAMES = Object.keys(BUMPS) as Bump[];

/** A row of a trade: its bond and market under a case or a bump, at spots. */
export interface Row extends ConvertibleRow {
  /** The index of the trade in the batch. */
  readonly place: number;
  readonly isClosed: boolean;
}

/** The rows of a trade. */
export interface ConvertibleRows {
  /** Rows by case; undefined after maturity. The first has today's spot before the scenarios'. */
  readonly cases: readonly (Row | undefined)[];
  /** Two rows for each bump, down and up; none where they were not asked for. */
  readonly bumps: readonly Row[];
  /** Today's point, once it is solved. */
  today?: ConvertiblePoint;
}

/** Returns a trade of a batch, which is a convertible. */
export const convertibleOf = ({ columns }: Batch, trade: number): ConvertibleTrade =>
  columns.givenOf(trade) as ConvertibleTrade;

/** Returns the error that values of a convertible aim at, in the currency. */
export const accuracyOf = (batch: Batch, trade: number): number =>
  (batch.settings.accuracy ?? ACCURACY) * convertibleOf(batch, trade).convertible.notional;

/** Returns a function for the rows of each convertible of a batch. */
export const convertibleRowsOf = memoizeBy((batch: Batch) => {
  const made = new Map<number, ConvertibleRows>();
  return (place: number): ConvertibleRows => {
    const rows = made.get(place) ?? rowsOf(batch, place);
    made.set(place, rows);
    return rows;
  };
});

function rowsOf(batch: Batch, place: number): ConvertibleRows {
  const { settings, columns } = batch;
  const { cases, dates, scenarios } = columns.cases;
  const trade = convertibleOf(batch, place);
  const accuracy = accuracyOf(batch, place);
  const { underlying, convertible } = trade;
  const row = (contract: Convertible, market: ConvertibleMarket, spots: readonly number[]): Row => {
    const isClosed = settings.method !== "fdm" && hasClosedForm(contract, market);
    return { place, contract, market, spots, accuracy, isClosed };
  };
  const moves = scenarios?.spot ?? [];
  const moved = moves.map((move) => underlying.spot * (1 + moveOf(move, underlying.name)));
  const ofCases = cases.map(({ date, shift: { volatility, rate } }, i): Row | undefined => {
    const then = rollForward(trade, dates[date]);
    return (
      then && row(then.convertible, marketOf(then, { volatility, rate }), i === 0 ? [underlying.spot, ...moved] : moved)
    );
  });
  const today = marketOf(trade, {});
  const levels = bumpLevels(settings.accuracy ?? ACCURACY);
  const bumped = (name: Bump, by: number): Row => {
    return { ...row(convertible, marketOf(trade, { [name]: by }), [underlying.spot]), meshOf: today, levels };
  };
  const bumps =
    settings.greeks === "all"
      ? BUMP_NAMES.flatMap((name) => [bumped(name, -BUMPS[name]), bumped(name, BUMPS[name])])
      : [];
  return { cases: ofCases, bumps };
}

/** Relative moves for sensitivities of closed forms, which are smooth. */
const SPOT_STEP = 1e-3;

/** Rounding of closed forms, relative to the value. */
const ROUNDING = 1e-13;

/** Returns the closed-form value of a convertible with its derivatives by the spot and their error estimates. */
export function closedFormPoint(contract: Convertible, market: ConvertibleMarket, spot: number): ConvertiblePoint {
  const at = (s: number): number => closedFormValue(contract, market, s);
  const value = at(spot);
  const h = SPOT_STEP * spot;
  const rounding = ROUNDING * (Math.abs(value) + spot);
  // Five-point differences, of fourth order.
  const [a, b, c, d] = [at(spot - 2 * h), at(spot - h), at(spot + h), at(spot + 2 * h)];
  return {
    value,
    cash: 0,
    delta: (a - 8 * b + 8 * c - d) / (12 * h),
    gamma: (-a + 16 * b - 30 * value + 16 * c - d) / (12 * h * h),
    errorEstimate: rounding,
    // What rounding is of these differences; their own errors, of fourth order, are less.
    errors: { cash: 0, delta: rounding / h, gamma: (4 * rounding) / (h * h) },
    moves: [rounding, 0],
  };
}

/** Returns the lower and upper bound of the present value that follow from what holder and issuer may exercise now. */
export function boundsNow(contract: Convertible, spot: number): readonly [number, number] {
  const isNow = (period: { readonly from: number; readonly to: number }): boolean => covers(period, 0, 0);
  const accrued = accruedInterest(contract.coupons, 0, true);
  const parity = spot * (contract.conversions.find(isNow)?.ratio ?? 0);
  const put = contract.puts.find(isNow);
  const low = Math.max(parity, put === undefined ? 0 : put.price + accrued);
  const call = contract.calls.find((one) => isNow(one) && spot >= one.trigger);
  return [low, call === undefined ? Number.POSITIVE_INFINITY : Math.max(low, call.price + accrued)];
}

/**
 * Returns a value limited to its bounds (`boundsNow`). The amount by which it was outside is added to its error
 * estimate.
 */
export function bounded(contract: Convertible, spot: number, point: ConvertiblePoint): ConvertiblePoint {
  const [low, high] = boundsNow(contract, spot);
  const value = Math.min(Math.max(point.value, low), high);
  return { ...point, value, errorEstimate: Math.max(point.errorEstimate, Math.abs(value - point.value)) };
}

/** A sensitivity and its error estimate. */
export interface Estimated {
  readonly value: number;
  readonly error: number;
}

/**
 * Returns ∂V/∂t at a spot from the equation, in an unchanged market; 0 where immediate conversion or call ends the
 * bond.
 */
export function thetaAt(
  contract: Convertible,
  market: ConvertibleMarket,
  spot: number,
  { value, cash, delta, gamma, errorEstimate, errors }: ConvertiblePoint,
): Estimated {
  const { rates, dividends, volatility, credit } = market;
  const [low, high] = boundsNow(contract, spot);
  if (value >= high || (low > 0 && value <= low)) return { value: 0, error: errorEstimate };
  const rate = valueAt(rates, 0);
  const sigma = typeof volatility === "function" ? volatility(spot, 0) : valueAt(volatility, 0);
  const isSpread = credit.kind === "spread";
  const hazard =
    isSpread || credit.exponent === 0
      ? valueAt(isSpread ? credit.spread : credit.hazard, 0)
      : valueAt(credit.hazard, 0) * (spot / credit.reference) ** credit.exponent;
  const [ofSpread, ofDefault, jump] = isSpread ? [hazard, 0, 0] : [0, hazard, credit.jump];
  const ratio = Math.max(0, ...contract.conversions.map((one) => one.ratio)) * (1 - jump);
  const left = isSpread ? 0 : Math.max(ratio * spot, credit.recovery * contract.notional);
  const diffusion = 0.5 * sigma * sigma * spot * spot;
  const drift = (rate - dividends.yield + ofDefault * jump) * spot;
  const discount = rate + ofDefault;
  return {
    value: discount * value + ofSpread * cash - drift * delta - diffusion * gamma - ofDefault * left,
    error:
      Math.abs(discount) * errorEstimate +
      ofSpread * errors.cash +
      Math.abs(drift) * errors.delta +
      diffusion * errors.gamma,
  };
}
