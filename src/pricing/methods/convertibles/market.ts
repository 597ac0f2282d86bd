/** Convertibles with their markets, as scenarios and bumps move them, and what an explanation asks of them. */
import type { ConvertibleTrade } from "../../../book/index.ts";
import type {
  Convertible,
  ConvertibleMarket,
  ConvertibleVolatility,
  Credit,
  Period,
} from "../../../pde/convertible/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { volatilityAt } from "../../../pde/fdm/index.ts";
import {
  constant,
  INSTANT,
  integrate,
  type PiecewiseConstant,
  rollCurve,
  rollVolatility,
  shifted,
  shiftedVolatility,
} from "../../../market/index.ts";
import { paidDividends, same, viewsOfMarket, withDividends } from "../../market-moves.ts";
import type { TradeKind } from "../../plan/kind.ts";
import { rollUnderlying } from "../../terms.ts";
import { diffusionOf } from "../../trade-problem.ts";

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
  "rollForward" | "difference" | "paid" | "firstOrder" | "views"
> = {
  rollForward,
  difference(rolled, after) {
    if (rolled.underlying.name !== after.underlying.name) return "its underlying differs";
    return same(rolled.convertible, after.convertible) ? undefined : "its terms differ";
  },
  paid: ({ convertible: { coupons } }, years) =>
    coupons.reduce((sum, { time, amount }) => (time <= years + INSTANT ? sum + amount : sum), 0),
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
    const credit = same(rolled.credit, after.credit) ? undefined : { ...rolled, credit: after.credit };
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
  if (maturity <= INSTANT) return undefined;
  return {
    ...contract,
    maturity,
    coupons: contract.coupons
      .filter(({ time }) => time > years + INSTANT)
      .map((coupon) => ({ ...coupon, time: coupon.time - years, accruesFrom: coupon.accruesFrom - years })),
    conversions: rollPeriods(contract.conversions, years),
    calls: rollPeriods(contract.calls, years),
    puts: rollPeriods(contract.puts, years),
  };
}

function rollPeriods<P extends Period>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ to }) => to >= years - INSTANT)
    .map((period) => ({ ...period, from: Math.max(period.from - years, 0), to: Math.max(period.to - years, 0) }));
}
