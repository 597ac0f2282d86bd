/** Convertibles with a row for each case of the scenarios and for each bump, as their methods see them. */
import { sensitivityOf, DifferencePlan, type MovedCopies, MOVES } from "../../../base/differences.ts";
import { SpecError } from "../../../base/errors.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import type { ConvertibleTrade } from "../../../book/index.ts";
import {
  constant,
  ONE_SECOND,
  integrate,
  type PiecewiseConstant,
  rollCurve,
  rollVolatility,
  shifted,
  shiftedSigma,
  shiftedVolatility,
  valueAt,
} from "../../../market/index.ts";
import {
  accruedInterest,
  closedFormValue,
  type Convertible,
  type ConvertibleMarket,
  type ConvertiblePoint,
  type ConvertibleRow,
  type ConvertibleVolatility,
  covers,
  type Credit,
  hasClosedForm,
  type Period,
} from "../../../pde/convertible/index.ts";
import { volatilityAt } from "../../../pde/fdm/index.ts";
import { spotMoveOf } from "../../columns/result-columns.ts";
import { paidDividends, equalUpToRounding, viewsOfMarket, withDividends } from "../../market-moves.ts";
import type { TradeKind } from "../../plan/kind.ts";
import type { Batch } from "../../plan/method.ts";
import { rollUnderlying } from "../../terms.ts";
import { diffusionOf } from "../../trade-problem.ts";

/** The error of a value to aim at where nothing is said, relative to the notional. */
const ACCURACY = 1e-5;

/** Moves for sensitivities, either way. */
const BUMPS = { volatility: 0.005, rate: 5e-4, credit: 5e-4 } as const;
/** The levels that sensitivities are solved on: four, and three where a value may be off by 5e-5 of the notional. */
const bumpLevels = (accuracy: number): number => (accuracy >= 5e-5 ? 3 : 4);

/** A market move by which a sensitivity is computed. */
export type Bump = keyof typeof BUMPS;
const BUMP_NAMES = Object.keys(BUMPS) as Bump[];

/**
 * A row of a trade: its bond and its market in one case of the scenarios or under one bump, and the spots at which it
 * is valued.
 */
export interface Row extends ConvertibleRow {
  /** The index of the trade in the batch. */
  readonly index: number;
  readonly isClosed: boolean;
}

/** The rows of a trade. */
export interface ConvertibleRows {
  /** Rows by case; undefined after maturity. The first has today's spot before the scenarios'. */
  readonly cases: readonly (Row | undefined)[];
  /** The rows with a bump, and the sensitivities by the names of bumps; none where they were not asked for. */
  readonly bumps: MovedCopies<Row>;
  /** Today's point, once it is solved. */
  today?: ConvertiblePoint;
}

/** Returns the convertible bond with an index in a batch; the trade with this index must be one. */
export const convertibleOf = ({ columns }: Batch, trade: number): ConvertibleTrade =>
  columns.givenOf(trade) as ConvertibleTrade;

/** Returns the target error of a convertible's value, in the currency. */
export const accuracyOf = (batch: Batch, trade: number): number =>
  (batch.settings.accuracy ?? ACCURACY) * convertibleOf(batch, trade).convertible.notional;

/** Returns the function that computes the rows of a convertible, given its index in the batch. */
export const convertibleRowsOf = memoizeBy((batch: Batch) => {
  const made = new Map<number, ConvertibleRows>();
  return (index: number): ConvertibleRows => {
    const rows = made.get(index) ?? rowsOf(batch, index);
    made.set(index, rows);
    return rows;
  };
});

function rowsOf(batch: Batch, index: number): ConvertibleRows {
  const { settings, columns } = batch;
  const { cases, dates, scenarios } = columns.cases;
  const trade = convertibleOf(batch, index);
  const accuracy = accuracyOf(batch, index);
  const { underlying, convertible } = trade;
  const row = (contract: Convertible, market: ConvertibleMarket, spots: readonly number[]): Row => {
    const isClosed = settings.method !== "fdm" && hasClosedForm(contract, market);
    return { index, contract, market, spots, accuracy, isClosed };
  };
  const moves = scenarios?.spot ?? [];
  const moved = moves.map((move) => underlying.spot * (1 + spotMoveOf(move, underlying.name)));
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
  const bumps = new DifferencePlan<Row>();
  for (const name of settings.greeks === "all" ? BUMP_NAMES : [])
    bumps.addDerivatives(BUMPS[name], [{ name, order: 1, moves: MOVES.CENTRAL }], (by) => bumped(name, by));
  return { cases: ofCases, bumps: bumps.movedCopies() };
}

/** Relative moves for sensitivities of closed forms, which are smooth. */
const SPOT_STEP = 1e-3;

/** Rounding of closed forms, relative to the value. */
const ROUNDING = 1e-13;

/**
 * Returns the closed-form value of a convertible, its derivatives with respect to the spot, and the error estimates of
 * these.
 */
export function closedFormPoint(contract: Convertible, market: ConvertibleMarket, spot: number): ConvertiblePoint {
  const at = (s: number): number => closedFormValue(contract, market, s);
  const value = at(spot);
  const h = SPOT_STEP * spot;
  const rounding = ROUNDING * (Math.abs(value) + spot);
  const plan = new DifferencePlan<number>();
  const orders = ([1, 2] as const).map((order) => ({ name: String(order), order, moves: MOVES.FIVE }));
  plan.addDerivatives(h, orders, (by) => spot + by);
  const { copies, formulas: measures } = plan.movedCopies();
  const values = [value, ...copies.map(at)];
  const [delta, gamma] = measures.map((measure) => sensitivityOf(measure, values));
  return {
    value,
    cash: 0,
    delta,
    gamma,
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
export interface SensitivityEstimate {
  readonly value: number;
  readonly error: number;
}

/**
 * Returns theta ∂V/∂t at a spot, computed from the pricing equation in an unchanged market; 0 where immediate
 * conversion or call ends the bond.
 */
export function thetaAt(
  contract: Convertible,
  market: ConvertibleMarket,
  spot: number,
  { value, cash, delta, gamma, errorEstimate, errors }: ConvertiblePoint,
): SensitivityEstimate {
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

/** Parallel shifts of a trade's market in a scenario or for a bump; a part that is left out stays as it is. */
export interface Move {
  /** The shift of the volatility, per √year. */
  readonly volatility?: number;
  /** The shift of the rates, per year. */
  readonly rate?: number;
  /** The shift of the credit spread or the hazard rate, per year. */
  readonly credit?: number;
}

/** The credit where the market has none: without credit nobody defaults. */
const NO_CREDIT: Credit = { kind: "spread", spread: constant(0) };

/** Returns the market of a convertible with shifts. @throws SpecError */
export function marketOf(trade: ConvertibleTrade, { volatility = 0, rate = 0, credit = 0 }: Move): ConvertibleMarket {
  const { underlying } = trade;
  if (underlying.shortRate !== undefined)
    throw new SpecError(
      "convertible bonds take deterministic rates in this version: write the curve without hullWhite",
    );
  return {
    rates: shifted(underlying.rates, rate),
    dividends: underlying.dividends,
    volatility: volatilityOf(trade, volatility),
    credit: movedCredit(trade.credit ?? NO_CREDIT, (curve) => shifted(curve, credit)),
  };
}

function volatilityOf({ volatility, underlying, expiry }: ConvertibleTrade, move: number): ConvertibleVolatility {
  const moved = shiftedVolatility(volatility, move);
  if (moved.kind === "deterministic") return moved.sigma;
  const diffusion = diffusionOf(moved, underlying.spot, expiry);
  return (spot, t) => volatilityAt(diffusion, spot, t);
}

const movedCredit = (credit: Credit, move: (curve: PiecewiseConstant) => PiecewiseConstant): Credit =>
  credit.kind === "spread" ? { ...credit, spread: move(credit.spread) } : { ...credit, hazard: move(credit.hazard) };

/** The spread or hazard rate now; 0 where the market has none. */
const spreadOf = ({ credit = NO_CREDIT }: ConvertibleTrade): number =>
  (credit.kind === "spread" ? credit.spread : credit.hazard).values[0];

const firstVolatility = ({ volatility }: ConvertibleTrade): number =>
  volatility.kind === "deterministic" ? volatility.sigma.values[0] : 0;

/** What an explanation asks of convertible bonds. */
export const convertibleExplanation: Pick<
  TradeKind<ConvertibleTrade>,
  "rollForward" | "inMarket" | "sharesSpots" | "difference" | "paid" | "firstOrder" | "views"
> = {
  rollForward,
  inMarket(trade, market) {
    const then = rollForward(trade, market.years);
    if (then === undefined) return undefined;
    const by = market.by("credit", trade.underlying.name);
    // A spread or a hazard rate stays at 0 or above.
    const credit = then.credit && movedCredit(then.credit, (curve) => shiftedSigma(curve, by));
    return { ...then, ...market.asset(trade), credit };
  },
  sharesSpots: true,
  difference(rolled, after) {
    if (rolled.underlying.name !== after.underlying.name) return "its underlying differs";
    return equalUpToRounding(rolled.convertible, after.convertible) ? undefined : "its terms differ";
  },
  paid: ({ convertible: { coupons } }, years) =>
    coupons.reduce((sum, { time, amount }) => (time <= years + ONE_SECOND ? sum + amount : sum), 0),
  firstOrder({ before, rolled, after, years }) {
    const { spot } = after.underlying;
    const logDiscount = (t: number): number =>
      integrate(rolled.underlying.rates, t) - integrate(after.underlying.rates, t);
    const moves = {
      years,
      spot: spot - before.underlying.spot,
      paid: withDividends(spot, paidDividends(before, years)) - spot,
      volatility: firstVolatility(after) - firstVolatility(rolled),
      rate: -logDiscount(after.expiry) / after.expiry,
    };
    return { moves, logDiscount, credit: spreadOf(after) - spreadOf(rolled) };
  },
  views(pair) {
    const { rolled, after } = pair;
    const credit = equalUpToRounding(rolled.credit, after.credit) ? undefined : { ...rolled, credit: after.credit };
    return { ...viewsOfMarket(pair), credit };
  },
};

/** Returns the trade `years` later in its own market; undefined after maturity. */
export function rollForward(trade: ConvertibleTrade, years: number): ConvertibleTrade | undefined {
  if (years === 0) return trade;
  const convertible = rollContract(trade.convertible, years);
  if (convertible === undefined) return undefined;
  const { underlying, volatility, credit } = trade;
  return {
    ...trade,
    convertible,
    expiry: convertible.maturity,
    volatility: rollVolatility(volatility, years),
    underlying: rollUnderlying(underlying, years),
    credit: credit && movedCredit(credit, (curve) => rollCurve(curve, years)),
  };
}

/**
 * Returns the bond `years` later: coupons up to that day are paid, and nobody has exercised. @returns undefined after
 * maturity
 */
export function rollContract(contract: Convertible, years: number): Convertible | undefined {
  const maturity = contract.maturity - years;
  if (maturity <= ONE_SECOND) return undefined;
  return {
    ...contract,
    maturity,
    coupons: contract.coupons
      .filter(({ time }) => time > years + ONE_SECOND)
      .map((coupon) => ({ ...coupon, time: coupon.time - years, accruesFrom: coupon.accruesFrom - years })),
    conversions: rollPeriods(contract.conversions, years),
    calls: rollPeriods(contract.calls, years),
    puts: rollPeriods(contract.puts, years),
  };
}

function rollPeriods<P extends Period>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ to }) => to >= years - ONE_SECOND)
    .map((period) => ({ ...period, from: Math.max(period.from - years, 0), to: Math.max(period.to - years, 0) }));
}
