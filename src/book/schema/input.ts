/**
 * The TypeScript types of a book in the form that users write, which is that of the argument of `parseBook` and of
 * JSON. The schemas in this folder check the same at run time. Tests in `test/types` check that both agree.
 */
import type { ScriptInput } from "../../market/scripts/index.ts";
import type { MethodName } from "../methods.ts";
import type { Tags } from "../types.ts";
import type {
  BasketExpressionInput,
  BasketTradeInput,
  DigitalInput,
  ExpressionTradeInput,
  FloatingLookbackInput,
  StrikeTradeInput,
  TouchInput,
} from "./option-input.ts";
import type { LinearTradeInput } from "./linear.ts";
import type { IndexLegInput, IndexSwapInput } from "./rates.ts";
import type { ScriptedInput } from "./scripted-input.ts";
import type { DatesInput } from "./schedule.ts";
import type {
  CurveByNameInput,
  PairInput,
  RateInput,
  TimeInput,
  UnderlyingInput,
  VolatilityInput,
} from "./market-input.ts";

/**
 * The credit of an issuer, as a book contains it: a spread per year on cash payments, or default at a hazard rate per
 * year.
 */
export type CreditInput =
  | { readonly spread: number | readonly { readonly date: TimeInput; readonly spread: number }[] }
  | {
      readonly hazard: number | readonly { readonly date: TimeInput; readonly hazard: number }[];
      /** The fraction of the notional paid at default. */
      readonly recovery: number;
      /** The fraction of the stock price lost at default. */
      readonly jump: number;
      /**
       * The exponent of the hazard rate, which is proportional to (S/reference)^exponent; 0 by default, with the spot
       * as reference.
       */
      readonly exponent?: number | undefined;
      readonly reference?: number | undefined;
    };

type PeriodInput = { readonly date: TimeInput } | { readonly from: TimeInput; readonly to: TimeInput };

/** A convertible bond, as a book contains it. */
export interface ConvertibleInput {
  readonly id: string;
  readonly underlying: string;
  readonly convertible: {
    readonly maturity: TimeInput;
    /** The coupon rate per year; 0 by default. */
    readonly coupon?: number | undefined;
    /** The number of coupons a year. */
    readonly frequency?: number | undefined;
    readonly notional: number;
    /** The number of shares for which the bond can be converted. */
    readonly ratio: number;
    /** The times at which the bond can be converted; "american", at any time, by default. */
    readonly conversion?:
      | "american"
      | "european"
      | "none"
      | DatesInput
      | { readonly from: TimeInput; readonly to: TimeInput }
      | undefined;
    readonly calls?:
      | readonly (PeriodInput & { readonly price: number; readonly trigger?: number | undefined })[]
      | undefined;
    readonly puts?: readonly (PeriodInput & { readonly price: number })[] | undefined;
    /** The value of the cash-only part where the bond is called for cash; "callPrice" by default. */
    readonly calledCashComponent?: "callPrice" | "zero" | undefined;
  };
  /** The volatility; the underlying's by default. */
  readonly volatility?: VolatilityInput | undefined;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

interface RatesTerms {
  readonly id: string;
  readonly currency: string;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** A right to redeem a bond at a clean price, as a book contains it: on one date, or throughout a window. */
type RedemptionInput = ({ readonly date: TimeInput } | { readonly from: TimeInput; readonly to: TimeInput }) & {
  /** The clean price for the notional. */
  readonly price: number;
  /** The notice period before redemption: a tenor or years; 0 by default. */
  readonly notice?: TimeInput | undefined;
};

interface CouponBondInput {
  readonly maturity: TimeInput;
  /** The coupon rate per year; 0 by default. */
  readonly coupon?: number | undefined;
  /** The number of coupons a year. */
  readonly frequency?: number | undefined;
  readonly notional: number;
}

interface CashflowsInput {
  readonly cashflows: readonly (readonly [TimeInput, number])[];
  /** The notional to which prices refer; the last payment by default. */
  readonly notional?: number | undefined;
}

interface RightsInput {
  readonly calls?: readonly RedemptionInput[] | undefined;
  readonly puts?: readonly RedemptionInput[] | undefined;
}

/** A bond, possibly with calls of the issuer and puts of the holder, as a book contains it. */
interface BondTradeInput extends RatesTerms {
  readonly bond: (CouponBondInput & RightsInput) | (CashflowsInput & RightsInput);
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

/** Payments listed one by one (time and amount), as a book contains them. */
interface CashflowsTradeInput extends RatesTerms, CashflowsInput, RightsInput {
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

interface ExerciseInput {
  readonly expiry?: TimeInput | undefined;
  readonly exercise?: "european" | "american" | DatesInput | undefined;
}

/** An option on a bond, as a book contains it. */
interface BondOptionInput extends RatesTerms, ExerciseInput {
  readonly payoff: "call" | "put";
  readonly strike: number;
  /** The kind of strike, "dirty" by default. */
  readonly strikeIs?: "clean" | "dirty" | undefined;
  readonly on: { readonly bond: CouponBondInput | CashflowsInput } | CashflowsInput;
}

/**
 * A quoted volatility of a forward or swap rate, with which a trade is priced without a model of the short rate: a
 * number is Black's (lognormal), the others are normal or displaced lognormal.
 */
type RateQuoteInput =
  | number
  | { readonly normal: number }
  | { readonly displaced: { readonly sigma: number; readonly shift: number } };

interface LegInput {
  readonly start: TimeInput;
  readonly end: TimeInput;
  readonly frequency: number;
  readonly notional: number;
}

interface OnForwardRates extends Omit<RatesTerms, "currency"> {
  /** The currency; that of the index by default. */
  readonly currency?: string | undefined;
  readonly strike: number;
  readonly volatility?: RateQuoteInput | undefined;
}

/** A cap or a floor, as a book contains it. `fixing` is the rate of the current period, if it has begun. */
type CapFloorInput = OnForwardRates &
  (
    | { readonly cap: (LegInput & { readonly fixing?: number | undefined }) | IndexLegInput }
    | { readonly floor: (LegInput & { readonly fixing?: number | undefined }) | IndexLegInput }
  );

/** A swaption, as a book contains it. */
interface SwaptionInput extends OnForwardRates, ExerciseInput {
  readonly swaption: "payer" | "receiver";
  /** The underlying swap, whose fixed rate is the strike. */
  readonly swap: LegInput | IndexSwapInput;
}

/** A trade on the interest rates of one currency, as a book contains it. */
type RatesTradeInput = BondTradeInput | CashflowsTradeInput | BondOptionInput | CapFloorInput | SwaptionInput;

/** The market, as a book contains it. @stable */
export interface MarketInput {
  /** The interest rates by currency. */
  readonly rates: { readonly [currency: string]: RateInput };
  /** Curves by name, found together from quoted instruments, or given by zero rates. */
  readonly curves?: { readonly [name: string]: CurveByNameInput } | undefined;
  /** Exchange rates by pair, such as EURUSD in units of USD: for the pair's spot date, or for `date`. */
  readonly fx?:
    | { readonly [pair: string]: number | { readonly rate: number; readonly date?: TimeInput | undefined } }
    | undefined;
  /** Published rates by index and date, and fixings by underlying and date. */
  readonly fixings?: { readonly [name: string]: { readonly [date: string]: number } } | undefined;
  /** The currency in which totals and results are reported beside their own. */
  readonly reporting?: string | undefined;
  readonly underlyings?: { readonly [name: string]: UnderlyingInput | PairInput } | undefined;
  /** The scripts of structured products by name. */
  readonly scripts?: { readonly [name: string]: ScriptInput } | undefined;
  /** The credit of issuers of convertible bonds, by underlying. */
  readonly credit?: { readonly [underlying: string]: CreditInput } | undefined;
  /** The correlations: two names of underlyings or currencies, and the correlation. */
  readonly correlations?: readonly (readonly [string, string, number])[] | undefined;
  /**
   * What is doubtful about curves and volatilities that were fitted to quotes, such as "not converged". Results repeat
   * it; `feynkac calibrate -o` writes it.
   */
  readonly doubts?:
    | {
        readonly rates?: { readonly [currency: string]: readonly string[] } | undefined;
        readonly underlyings?: { readonly [name: string]: readonly string[] } | undefined;
      }
    | undefined;
}

/** A forward, which pays S − strike at expiry, as a book contains it. */
export interface ForwardInput {
  readonly id: string;
  readonly underlying: string;
  /** The strike. */
  readonly forward: number;
  readonly expiry: TimeInput;
  /** The number of units held, negative when sold; 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** A trade, as a book contains it. The types require a strike wherever the payoff has one. @stable */
export type TradeInput =
  | FloatingLookbackInput
  | StrikeTradeInput
  | DigitalInput
  | TouchInput
  | ExpressionTradeInput
  | BasketTradeInput
  | BasketExpressionInput
  | RatesTradeInput
  | ConvertibleInput
  | ForwardInput
  | ScriptedInput
  | LinearTradeInput;

/** The scenarios of a book, as it contains them. All combinations of the four lists are priced. @stable */
export interface ScenariosInput {
  /** The later valuation times. */
  readonly time?: readonly TimeInput[] | undefined;
  /** The relative moves of the spots of all underlyings (0.1 is +10 %), or the moves by underlying. */
  readonly spot?: readonly number[] | { readonly [underlying: string]: readonly number[] } | undefined;
  /** The absolute moves of volatilities. */
  readonly volatility?: readonly number[] | undefined;
  /** The absolute parallel moves of interest rates. */
  readonly rate?: readonly number[] | undefined;
  /** The property that the quotes of a volatility keep when the spot moves; the local volatility by default. */
  readonly quotes?: "sticky-strike" | "sticky-delta" | "sticky-local-volatility" | undefined;
}

/** A move of a spot: a relative one (−0.1 is −10 %), a new spot, or an amount in its currency. */
export type SpotMoveInput = number | { readonly to: number } | { readonly by: number };

/** A parallel move, or moves by tenor, such as `{ "1Y": 0.01, "5Y": 0.005 }`. */
export type MoveByMaturityInput = number | { readonly [tenor: string]: number };

/** Moves by the names of factors; `*` moves every factor that has no move of its own. */
export interface MovesInput<Move = number> {
  readonly [name: string]: Move;
}

/** A named scenario, which moves several factors of the market together. @stable */
export interface NamedScenarioInput {
  readonly name: string;
  readonly moves: {
    /** The moves of spots by underlying. */
    readonly spot?: MovesInput<SpotMoveInput> | undefined;
    /** The absolute moves of volatilities by underlying, parallel or by expiry. */
    readonly volatility?: MovesInput<MoveByMaturityInput> | undefined;
    /** The moves of quoted volatilities by underlying, per unit of the log-moneyness ln(K/F). */
    readonly skew?: MovesInput | undefined;
    /** The absolute moves of interest rates by currency, parallel or by maturity. */
    readonly rate?: MovesInput<MoveByMaturityInput> | undefined;
    /** The absolute moves of dividend yields by underlying. */
    readonly dividend?: MovesInput | undefined;
    /** The moves of exchange rates by quoted pair. */
    readonly fx?: MovesInput<SpotMoveInput> | undefined;
    /** The absolute moves of spreads and hazard rates by issuer. */
    readonly credit?: MovesInput | undefined;
    /** The absolute moves of the volatilities of rates by currency, for trades on its rates. */
    readonly rateVolatility?: MovesInput | undefined;
    /** The date of the scenario; `asOf` by default. */
    readonly time?: TimeInput | undefined;
  };
  /** The weight of the scenario in statistics such as value at risk; 1 by default. */
  readonly weight?: number | undefined;
}

/** A book as plain data: the argument of `parseBook` and the content of a book's JSON text. @stable */
export interface BookInput {
  readonly $schema?: string | undefined;
  /** The valuation moment, an ISO date or instant. */
  readonly asOf: string;
  readonly market: MarketInput;
  readonly trades: readonly TradeInput[];
  /** Axes of scenarios, or named scenarios. */
  readonly scenarios?: ScenariosInput | readonly NamedScenarioInput[] | undefined;
  /** The numerical method for all trades; "auto" by default. */
  readonly method?: MethodName | undefined;
  /** The seed of random numbers, a whole number from 0. */
  readonly seed?: number | undefined;
}
