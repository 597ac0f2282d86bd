/** The expected cost of finite differences. */
import type { TradeColumns } from "../../columns/trade-columns.ts";

/**
 * Microseconds that a case of a trade takes on one core, about, with all Greeks: where every step has the coefficients
 * of the one before, and where they depend on time, or dividends are paid.
 */
const COST = { constant: 200, dated: 800 } as const;

/** The smallest cost of a trade by finite differences, in microseconds of one core. */
export const MIN_COST = COST.constant;

/**
 * Returns the expected time of a trade by finite differences with all cases of its scenarios, in microseconds of one
 * core.
 */
export function costOf(columns: TradeColumns, trade: number): number {
  const row = columns.rowOf(trade);
  const isDated =
    columns.ratesOf(row).times.length > 0 ||
    (columns.sigmaOf(row)?.times.length ?? 0) > 0 ||
    columns.dividendsOf(row).discrete.length > 0;
  return columns.cases.count * (isDated ? COST.dated : COST.constant);
}
