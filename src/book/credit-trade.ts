/** Converts credit default swaps to flows, by ISDA's standard model. */
import { BookError } from "../base/errors.ts";
import { creditSettlement, creditSwapOf, fixedFlow, type PaidFlow, timesOf } from "../market/linear/index.ts";
import { creditEnd } from "./credit-curves.ts";
import type { LinearMarket } from "./linear-market.ts";
import type { LinearLeg, LinearTerms } from "./linear-types.ts";
import type { PathOf } from "./paths.ts";
import type { LinearTradeSpec } from "./schema/index.ts";
import { dayNumber } from "./time.ts";

type CreditSpec = Extract<LinearTradeSpec, { readonly kind: "cds" }>["cds"];

/** Returns the legs of a credit default swap: protection, coupons, and an upfront that is still to be settled. */
export function creditTerms(spec: CreditSpec, pathOf: PathOf, market: LinearMarket): Omit<LinearTerms, "product"> {
  const { curve, coupon, notional, side = "buy", upfront } = spec;
  const { reference, asOf } = market;
  const issuer = market.credit(curve, pathOf("curve"));
  const { recovery = issuer.recovery, currency = issuer.currency } = spec;
  const traded = spec.start === undefined ? reference : dayNumber(asOf, spec.start);
  if (traded > reference)
    throw new BookError(pathOf("start"), "expected a day up to asOf; protection that begins later is not available");
  const maturity = creditEnd(spec.end, traded, asOf);
  if (!(maturity > traded)) throw new BookError(pathOf("end"), "expected a day after the start");
  const swap = { ...issuer, traded, maturity };
  const { protection, premium } = creditSwapOf(swap, reference);
  const now = creditSettlement(swap, reference);
  const first = creditSettlement(swap, traded);
  const cash = (amount: number, day: number): PaidFlow => fixedFlow(amount, day, reference, issuer.discount);
  const sign = side === "buy" ? 1 : -1;
  const conversion = market.conversion(issuer.currency, currency, pathOf("currency"));
  const leg = (flows: readonly PaidFlow[], of: 1 | -1, byRate: readonly PaidFlow[] = []): LinearLeg => ({
    currency: issuer.currency,
    sign: of,
    flows,
    byRate,
    conversion,
  });
  const loss = timesOf(protection, notional);
  const legs = [
    leg(timesOf(loss, 1 - recovery), sign),
    // By its coupon, a trade of today, which pays the accrued coupon back.
    leg(coupon === 0 ? [] : timesOf(premium, notional * coupon), -sign as 1 | -1, [
      ...timesOf(premium, notional),
      cash(-notional * now.accrued, now.settled),
    ]),
  ];
  if (upfront !== undefined && first.settled > reference)
    legs.push(leg([cash(notional * (upfront - coupon * first.accrued), first.settled)], -sign as 1 | -1));
  return {
    currency,
    ...(conversion.length === 1 ? { pair: { name: conversion[0].pair, spot: conversion[0].spot } } : {}),
    legs,
    fair: {
      kind: "credit",
      coupon,
      accrued: notional * coupon * now.accrued,
      settlement: cash(notional, now.settled),
      loss,
      survival: issuer.survival,
      hasOwnRecovery: spec.recovery !== undefined,
    },
    terms: { curve, coupon, notional, side, upfront, traded: spec.start && traded, maturity, recovery: spec.recovery },
  };
}
