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
  later,
  laterDividends,
  laterVolatility,
  shifted,
  shiftedVolatility,
} from "../../../market/index.ts";
import { diffusionOf } from "../../trade-problem.ts";

/**
 * The changes of a trade's market in a scenario or for a bump: years from today, and parallel shifts of the volatility,
 * the rates and the credit spread or hazard rate.
 */
export interface Move {
  /** The years from today. */
  readonly years: number;
  /** The shift of the volatility, per √year. */
  readonly volatility: number;
  /** The shift of the rates, per year. */
  readonly rate: number;
  /** The shift of the credit spread or the hazard rate, per year. */
  readonly credit: number;
}

/** No change of the market. */
export const NO_MOVE: Move = { years: 0, volatility: 0, rate: 0, credit: 0 };

/** The credit where the market has none: without credit nobody defaults. */
const NO_CREDIT: Credit = { kind: "spread", spread: constant(0) };

/** Returns the market of a convertible with the changes of a scenario or bump. @throws SpecError */
export function marketOf(trade: ConvertibleTrade, { years, volatility, rate, credit }: Move): ConvertibleMarket {
  const { underlying } = trade;
  if (underlying.shortRate !== undefined)
    throw new SpecError(
      "convertible bonds take deterministic rates in this version: write the curve without hullWhite",
    );
  return {
    rates: shifted(later(underlying.rates, years), rate),
    dividends: laterDividends(underlying.dividends, years),
    volatility: volatilityOf(trade, years, volatility),
    credit: movedCredit(trade.credit ?? NO_CREDIT, years, credit),
  };
}

function volatilityOf(
  { volatility, underlying, expiry }: ConvertibleTrade,
  years: number,
  move: number,
): ConvertibleVolatility {
  const moved = shiftedVolatility(laterVolatility(volatility, years), move);
  if (moved.kind === "deterministic") return moved.sigma;
  const diffusion = diffusionOf(moved, underlying.spot, expiry);
  return (spot, t) => volatilityAt(diffusion, spot, t);
}

function movedCredit(credit: Credit, years: number, move: number): Credit {
  if (credit.kind === "spread") return { kind: "spread", spread: shifted(later(credit.spread, years), move) };
  return { ...credit, hazard: shifted(later(credit.hazard, years), move) };
}

/**
 * Returns the bond `years` later: coupons up to that day are paid, and nobody has exercised. @returns undefined after
 * maturity
 */
export function laterConvertible(contract: Convertible, years: number): Convertible | undefined {
  if (years === 0) return contract;
  const maturity = contract.maturity - years;
  if (maturity <= INSTANT) return undefined;
  return {
    ...contract,
    maturity,
    coupons: contract.coupons
      .filter(({ time }) => time > years + INSTANT)
      .map((coupon) => ({ ...coupon, time: coupon.time - years, accruesFrom: coupon.accruesFrom - years })),
    conversions: laterPeriods(contract.conversions, years),
    calls: laterPeriods(contract.calls, years),
    puts: laterPeriods(contract.puts, years),
  };
}

function laterPeriods<P extends Period>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ to }) => to >= years - INSTANT)
    .map((period) => ({ ...period, from: Math.max(period.from - years, 0), to: Math.max(period.to - years, 0) }));
}
