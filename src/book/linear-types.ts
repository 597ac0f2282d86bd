/** The types of trades that are worth sums of discounted flows: swaps, notes, forwards, credit default swaps. */
import type { CurveData, PaidFlow } from "../market/linear/index.ts";
import type { KeyRate } from "./rates-types.ts";
import type { Tags } from "./tags.ts";

/** The curves that linear trades share, by number, as plain data. */
export interface LinearCurves {
  readonly names: readonly string[];
  readonly curves: readonly CurveData[];
  /** The currency whose rates each curve has, or the issuer of a curve of survival probabilities. */
  readonly owners: readonly (string | undefined)[];
  /** The names of the instruments at the nodes of each curve; none for a curve that is given. */
  readonly instruments: readonly (readonly string[])[];
  /**
   * The derivatives of the zero rates at all fitted nodes with respect to all quotes: one row for each node, in the
   * order of the curves and their nodes.
   */
  readonly byQuotes: readonly Float64Array[];
  /** The part of a notional that is left at default, of curves of survival probabilities. */
  readonly recoveries: readonly (number | undefined)[];
  /** The derivatives of the zero rates of each curve by its own recovery, if its quotes stay. */
  readonly byRecovery: readonly (Float64Array | undefined)[];
}

/** A step of a conversion between currencies, at the exchange rate of a quoted pair on its spot date. */
export interface Conversion {
  readonly pair: string;
  readonly spot: number;
  /** 1 from the pair's base to its quote currency, or −1. */
  readonly power: 1 | -1;
  /** The numbers of the curves that discount both currencies. */
  readonly base: number;
  readonly quote: number;
  /** The years from the valuation to the spot date. */
  readonly lag: number;
}

/** A leg of a linear trade. */
export interface LinearLeg {
  readonly currency: string;
  /** 1 if the holder receives the leg, −1 if the holder pays it. */
  readonly sign: 1 | -1;
  /** The flows as their receiver sees them. */
  readonly flows: readonly PaidFlow[];
  /** The derivatives of the flows with respect to the leg's rate or spread. */
  readonly byRate: readonly PaidFlow[];
  /** The steps that convert the leg's currency to that of the trade; empty where they are the same. */
  readonly conversion: readonly Conversion[];
  /**
   * Given for flows of another currency whose notional is still to be reset at the exchange rate: how one unit of the
   * leg's currency becomes one of theirs, and what they become then. The second factor of each flow is at its reset.
   */
  readonly resets?: {
    readonly currency: string;
    readonly step: Conversion;
    readonly conversion: readonly Conversion[];
  };
}

/** The fair rate, spread or forward price: the number at which a linear trade has the value 0. */
export type FairNumber =
  /** The fixed rate or the spread of a leg, which is now `at`. */
  | { readonly kind: "rate" | "spread"; readonly leg: number; readonly at: number }
  /** The rate that is compounded over `years` on a notional. */
  | { readonly kind: "zeroCoupon"; readonly leg: number; readonly years: number; readonly notional: number }
  /** The forward exchange rate: minus one leg for each unit of the other, which is now `at`. */
  | { readonly kind: "forward"; readonly leg: number; readonly at: number }
  /** The coupon of the second leg, which pays for the protection of the first one. */
  | ({ readonly kind: "credit" } & CreditTerms);

/** What the figures of a credit default swap need beside its legs. */
export interface CreditTerms {
  readonly coupon: number;
  /** The coupon that has accrued until now, as its receiver sees it. */
  readonly accrued: number;
  /** The notional, paid when a trade of today is settled. */
  readonly settlement: PaidFlow;
  /** The payments at default without a recovery. */
  readonly loss: readonly PaidFlow[];
  /** The number of the survival curve. */
  readonly survival: number;
  /** Whether the recovery is that of the trade, and not of the curve. */
  readonly hasOwnRecovery: boolean;
}

/** The name of an optional figure of a linear trade's result. */
export type LinearReport = "cashflows" | "nodes" | "quotes";

/** A swap, note, forward or credit default swap after reading: complete and valid. @stable */
export interface LinearTrade {
  readonly kind: "linear";
  readonly id: string;
  /** The form in which the book has it. */
  readonly product: "swap" | "fra" | "note" | "fxForward" | "cds";
  /** The currency of the value. */
  readonly currency: string;
  /** The currency pair on which the value depends; undefined for none, or several. */
  readonly pair?: { readonly name: string; readonly spot: number };
  readonly market: LinearCurves;
  readonly legs: readonly LinearLeg[];
  readonly fair: FairNumber | undefined;
  /** The terms with days as numbers, whatever the market is. */
  readonly terms: object;
  /**
   * The valuation time in years from `asOf`: 0 in a book, later for a trade that was rolled forward along its forward
   * rates.
   */
  readonly seen: number;
  /** The time from the valuation to the last payment in years. */
  readonly expiry: number;
  readonly report: readonly LinearReport[];
  /** The number of units held, negative when sold. Results are per unit. */
  readonly quantity: number;
  readonly tags?: Tags;
}

/** The terms of a linear trade that differ by its form. */
export type LinearTerms = Pick<LinearTrade, "product" | "currency" | "pair" | "legs" | "fair" | "terms">;

/** A payment of a leg: its day, its amount as the receiver sees it, and its discount factor. */
export interface Cashflow {
  readonly leg: number;
  readonly date: string;
  readonly currency: string;
  readonly amount: number;
  readonly discount: number;
}

/** The numbers that only results of linear trades have. */
export interface LinearFigures {
  /** The fixed rate, or the forward rate, at which the trade would be worth nothing. */
  readonly fairRate?: number;
  /** The upfront of a credit default swap of today at this coupon, as a fraction of the notional. */
  readonly fairUpfront?: number;
  /** The spread at which the trade would be worth nothing, if it has no fixed rate. */
  readonly fairSpread?: number;
  /** The value of the fair leg's notional times the fractions of a year, in its currency. */
  readonly annuity?: number;
  /** The value of a credit default swap without the coupon that has accrued, and that coupon, to the holder. */
  readonly clean?: number;
  readonly accrued?: number;
  /** The sensitivity to the issuer's hazard rate, per 1.00; null where it was not requested. */
  readonly creditSensitivity?: number | null;
  /** The sensitivity to the recovery, per 1.00, at constant quotes of the issuer; null where it was not requested. */
  readonly recoverySensitivity?: number | null;
  /** The change of the value if the issuer defaults now. */
  readonly jumpToDefault?: number;
  /** The value of each leg to the holder, in its own currency. */
  readonly legs?: readonly { readonly currency: string; readonly value: number }[];
  /** The payments to come. */
  readonly cashflows?: readonly Cashflow[];
  /** The sensitivities to the zero rates of each curve's nodes, per 1.00. */
  readonly nodeSensitivities?: Readonly<Record<string, readonly KeyRate[]>>;
  /** The sensitivities to the quotes of each curve, by instrument and per 1.00, if all curves are found again. */
  readonly quoteSensitivities?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}
