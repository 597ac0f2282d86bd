/** Quoted credit default swaps as flows that are worth nothing at their quote. */
import type { Day } from "../../market/conventions/index.ts";
import {
  creditSettlement,
  type CreditSwapSpec,
  creditSwapOf,
  fixedFlow,
  timeOf,
  timesOf,
} from "../../market/linear/index.ts";
import type { DatedInstrument } from "./quoted.ts";

/** The quote of a credit default swap: its par spread, or its upfront at a coupon, as a fraction of the notional. */
export type CreditQuote =
  | { readonly kind: "spread"; readonly quote: number }
  | { readonly kind: "upfront"; readonly quote: number; readonly coupon: number };

/**
 * Returns a standard credit default swap, traded on the reference day, as an instrument of its survival curve. Upfront
 * and accrued coupon are paid on the settlement day; a par spread has no upfront.
 */
export function creditSwap(
  name: string,
  quote: CreditQuote,
  recovery: number,
  spec: Omit<CreditSwapSpec, "traded">,
  reference: Day,
): DatedInstrument {
  const { protection, premium } = creditSwapOf({ ...spec, traded: reference }, reference);
  const { accrued, settled } = creditSettlement(spec, reference);
  const cash = (amount: number) => fixedFlow(amount, settled, reference, spec.discount);
  const loss = timesOf(protection, 1 - recovery);
  const coupons = [...timesOf(premium, -1), cash(accrued)];
  return {
    name,
    quote: quote.quote,
    start: reference,
    end: spec.maturity,
    pillar: timeOf(spec.maturity, reference),
    flows: quote.kind === "spread" ? loss : [...loss, ...timesOf(coupons, quote.coupon)],
    byRecovery: timesOf(protection, -1),
    byQuote: quote.kind === "spread" ? coupons : [cash(-1)],
  };
}
