/** The TypeScript types of the market of a book in the form that users write. `market.ts` parses them. */
import type { CalendarName, IndexName } from "../../market/conventions/index.ts";

/**
 * A time, as a book contains it: an ISO date or instant, a tenor ("1Y", "6M", "2W", "10D"), or years from `asOf`
 * (Act/365F).
 */
export type TimeInput = string | number;

/**
 * Hull and White's model, as a book contains it: its parameters, or prices of caps or swaptions on a notional of 1 to
 * which it is fitted. Times of these quotes are years.
 */
export type HullWhiteInput =
  | {
      readonly meanReversion: number;
      /** The volatility of the short rate, or several with the date up to which each holds. */
      readonly volatility: number | readonly { readonly date: TimeInput; readonly volatility: number }[];
      readonly curve: CurveInput;
    }
  | {
      readonly curve: CurveInput;
      readonly caps: readonly {
        readonly start: number;
        readonly maturity: number;
        readonly frequency: number;
        readonly strike: number;
        readonly price: number;
      }[];
    }
  | {
      readonly curve: CurveInput;
      readonly swaptions: readonly {
        readonly type: "payer" | "receiver";
        readonly expiry: number;
        readonly length: number;
        readonly frequency: number;
        readonly strike: number;
        readonly price: number;
      }[];
    };

/**
 * The interest rates of a currency, as a book contains them: a continuously compounded rate per year, zero rates by
 * date, quoted instruments, or a model of the short rate.
 */
export type RateInput =
  | CurveInput
  | { readonly hullWhite: HullWhiteInput }
  | { readonly vasicek: AffineInput }
  | { readonly cir: AffineInput }
  | {
      readonly g2: {
        readonly a: number;
        readonly sigma: number;
        readonly b: number;
        readonly eta: number;
        readonly rho: number;
        readonly curve: CurveInput;
      };
    }
  | {
      readonly blackKarasinski: {
        readonly meanReversion: number;
        readonly volatility: number;
        readonly curve: CurveInput;
      };
    }
  /** dr = drift dt + volatility dW from r0 within `range`, with formulas of r and t, shifted to fit the curve. */
  | {
      readonly shortRate: {
        readonly r0: number;
        readonly drift: string;
        readonly volatility: string;
        readonly range: readonly [number, number];
        readonly curve: CurveInput;
      };
    }
  /** Black, Derman and Toy's model: annually compounded zero yields of 1, 2, … years, and the yields' volatilities. */
  | { readonly bdt: { readonly annualYields: readonly number[]; readonly yieldVolatilities: readonly number[] } };

interface AffineInput {
  readonly r0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
}

/**
 * A curve by its name in `curves`, as a book contains it: it discounts, and `forward` has the curves of indices. An
 * index that is left out takes the only curve that has it as its `index`.
 */
export interface NamedRatesInput {
  readonly discount: string;
  readonly forward?: { readonly [index: string]: string } | undefined;
}

/** A quoted instrument by the conventions of its curve's index: its tenor under its kind, and its quote. */
type CurveInstrumentInput =
  | { readonly deposit: string; readonly rate: number }
  /** A forward rate agreement that begins after the tenor and lasts as long as the index. */
  | { readonly fra: string; readonly rate: number }
  | {
      /** The start; the end is by default the next date of futures, or the end of the index's period. */
      readonly future: TimeInput;
      readonly end?: TimeInput | undefined;
      readonly price: number;
      readonly convexity?: number | undefined;
    }
  | { readonly ois: string; readonly rate: number }
  | { readonly swap: string; readonly rate: number }
  /** The curve's index and a spread against another index. */
  | { readonly basis: string; readonly spread: number; readonly against: IndexName }
  /** The forward less the spot rate of the curve's `pair`. */
  | { readonly fxSwap: string; readonly points: number }
  /** The curve's index and a spread against the other currency, with the notional exchanged at both ends. */
  | { readonly crossCurrency: string; readonly spread: number }
  /** A credit default swap of a tenor or until a date, at its par spread, or at its upfront for a coupon. */
  | {
      readonly cds: TimeInput;
      readonly spread?: number | undefined;
      readonly upfront?: number | undefined;
      readonly coupon?: number | undefined;
    };

/** A curve of the section `curves`, as a book contains it. */
export type CurveByNameInput = {
  /** The index whose rates the curve projects. */
  readonly index?: IndexName | undefined;
  /** What is linear in time: ln of the discount factor (the default), or the zero rate; "monotone-convex": neither. */
  readonly interpolation?: "log-discount" | "zero-rate" | "monotone-convex" | undefined;
  /** The part of the notional that is left at default: the curve has survival probabilities, not discount factors. */
  readonly recovery?: number | undefined;
  /** The currency that the curve discounts, or that of credit default swaps on the issuer. */
  readonly currency?: string | undefined;
  /** Periods in which the forward rate is higher by a spread, such as the turn of a year. */
  readonly turns?: readonly { readonly from: TimeInput; readonly to: TimeInput; readonly spread: number }[] | undefined;
} & (
  | {
      readonly instruments: readonly CurveInstrumentInput[];
      /** The method of fitting, "bootstrap" by default. */
      readonly fit?: "bootstrap" | "svensson" | undefined;
      /** The curve that discounts the instruments; that of the currency, or the curve itself, by default. */
      readonly discount?: string | undefined;
      /** The curves of other indices, for basis swaps. */
      readonly forward?: { readonly [index: string]: string } | undefined;
      /** The pair that fxSwap and crossCurrency are quotes of. */
      readonly pair?: string | undefined;
      /** The calendar of credit default swaps, weekends only by default. */
      readonly calendar?: CalendarName | readonly CalendarName[] | undefined;
    }
  | { readonly zeros: readonly { readonly date: TimeInput; readonly zero: number }[] }
);

/** An interest rate curve, as a book contains it. */
export type CurveInput =
  | number
  | NamedRatesInput
  | readonly { readonly date: TimeInput; readonly zero: number }[]
  | {
      readonly instruments: readonly InstrumentInput[];
      /** The interpolation, "log-discount" by default; "linear-zero" is another name of it. */
      readonly interpolation?: "linear-zero" | "log-discount" | "monotone-convex" | undefined;
      /** The method of fitting, "bootstrap" by default. */
      readonly fit?: "bootstrap" | "svensson" | undefined;
    };

type DayCountInput = "Act/365F" | "Act/360" | undefined;

/**
 * A quoted interest rate instrument, as a book contains it. The member with the instrument's name is its end, or, for
 * an FRA or a future, the start of its period.
 */
export type InstrumentInput =
  | { readonly deposit: TimeInput; readonly rate: number; readonly dayCount?: DayCountInput }
  | { readonly fra: TimeInput; readonly end: TimeInput; readonly rate: number; readonly dayCount?: DayCountInput }
  | {
      readonly future: TimeInput;
      readonly end: TimeInput;
      readonly price: number;
      readonly convexity?: number | undefined;
      readonly dayCount?: DayCountInput;
    }
  | { readonly swap: TimeInput; readonly rate: number; readonly frequency?: number | undefined }
  | { readonly overnight: TimeInput; readonly rate: number; readonly frequency?: number | undefined };

/** A quote of an option, as a book contains it: an implied volatility, a price, or a bid and an ask. */
export interface OptionQuoteInput {
  readonly expiry: TimeInput;
  readonly strike: number;
  /** The type, "call" by default. */
  readonly type?: "call" | "put" | undefined;
  /** The implied volatility, per √year. */
  readonly implied?: number | undefined;
  /** The price of one option. */
  readonly price?: number | undefined;
  readonly bid?: number | undefined;
  readonly ask?: number | undefined;
  /** The weight of the quote in the fit; 1 by default. */
  readonly weight?: number | undefined;
  /** The day or moment of the quote. */
  readonly date?: TimeInput | undefined;
  /** The exercise of the option. By default it is the `exercise` given beside the fit, or else "european". */
  readonly exercise?: "european" | "american" | undefined;
}

type FitInput =
  | "svi"
  | "ssvi"
  | "essvi"
  | "andreasen-huge"
  | "local"
  | "heston"
  | "none"
  | { readonly heston: { readonly feller: boolean } }
  | { readonly sabr: { readonly beta: number } }
  | {
      readonly local: {
        readonly method: "adjoint";
        /** The number of spots; 200 by default. */
        readonly spots?: number | undefined;
        /** The number of times; 50 by default. */
        readonly times?: number | undefined;
        /** The error of the implied volatilities that is accepted for a smoother surface; 3e-4 by default. */
        readonly tolerance?: number | undefined;
      };
    }
  | {
      readonly stochasticLocal: {
        /** The fit of the local volatility; "svi" by default. */
        readonly surface?: "svi" | "ssvi" | "essvi" | "andreasen-huge" | "local" | undefined;
        /** The stochastic variance. By default it is Heston's, fitted to the same quotes. */
        readonly heston?: HestonInput | undefined;
        readonly sabr?: SabrInput | undefined;
        /** The factor by which the volatility of variance is multiplied; 1 by default. */
        readonly mixing?: number | undefined;
      };
    };

/**
 * The parameters of Heston's model, as a book contains them: dv = kappa·(theta − v) dt + sigma·√v dW, v(0) = v0, with
 * correlation rho to the spot.
 */
export interface HestonInput {
  /** Today's variance, per year. */
  readonly v0: number;
  /** The mean reversion of the variance, per year. */
  readonly kappa: number;
  /** The long-run variance, per year. */
  readonly theta: number;
  /** The volatility of the variance. */
  readonly sigma: number;
  /** The correlation of spot and variance. */
  readonly rho: number;
}

interface SabrInput {
  readonly alpha: number;
  readonly beta: number;
  readonly nu: number;
  readonly rho: number;
}

interface SurfaceInput {
  readonly times: readonly TimeInput[];
  readonly spots: readonly number[];
  /** The volatilities by time, then by spot. */
  readonly volatility: readonly (readonly number[])[];
}

/** A volatility, as a book contains it: a number per √year, or a model under its name. */
export type VolatilityInput =
  | number
  | { readonly termStructure: readonly { readonly date: TimeInput; readonly volatility: number }[] }
  | { readonly cev: { readonly sigma: number; readonly beta: number } }
  | { readonly displaced: { readonly sigma: number; readonly shift: number } }
  | { readonly surface: SurfaceInput }
  | { readonly heston: HestonInput }
  | { readonly sabr: SabrInput }
  /** Stochastic local volatility: a variance, and the local volatility that gives European options their prices. */
  | {
      readonly stochasticLocal:
        | { readonly heston: HestonInput; readonly surface: SurfaceInput }
        | { readonly sabr: SabrInput; readonly surface: SurfaceInput };
    }
  | {
      readonly gaussianFactors: {
        readonly alpha: readonly number[];
        readonly sigma: readonly number[];
        readonly rho?: number | undefined;
      };
    }
  /** A local volatility, given by a formula of S and t. */
  | { readonly local: string }
  | {
      readonly quotes:
        | readonly OptionQuoteInput[]
        | {
            readonly expiries: readonly TimeInput[];
            readonly strikes: readonly number[];
            /** The implied volatilities by expiry, then by strike. */
            readonly implied: readonly (readonly number[])[];
          };
      /** The model that is fitted to the quotes. Without it the quotes are only checked, and cannot price trades. */
      readonly fit?: FitInput | undefined;
      /** True to replace a fit that has arbitrage by the nearest surface that has none. */
      readonly repair?: boolean | undefined;
      /** The maximum age of quotes in days before asOf; older ones are left out. */
      readonly maxAge?: number | undefined;
      /** The exercise of quotes that do not name one, "european" by default. */
      readonly exercise?: "european" | "american" | undefined;
    };

/** The quotes of a smile of currency options by delta: differences of volatilities, as decimals. */
export interface DeltaQuotesInput {
  readonly deltas: readonly {
    readonly expiry: TimeInput;
    /** The volatility at the money. */
    readonly atm: number;
    /** The risk reversal, call less put, and the strangle, their mean less `atm`, at a delta of 25 %. */
    readonly rr25?: number | undefined;
    readonly bf25?: number | undefined;
    readonly rr10?: number | undefined;
    readonly bf10?: number | undefined;
  }[];
  readonly convention?:
    | {
        /** The delta; "spot" by default. */
        readonly delta?: "spot" | "forward" | "premium-adjusted-spot" | "premium-adjusted-forward" | undefined;
        /** The strike at the money; "delta-neutral-straddle" by default. */
        readonly atm?: "forward" | "delta-neutral-straddle" | undefined;
        /** What a strangle quotes: the mean of the smile's volatilities (the default), or one volatility for both. */
        readonly strangle?: "smile" | "market" | undefined;
      }
    | undefined;
  /** The model that is fitted; by default "svi", or "essvi" where no expiry has five quotes. */
  readonly fit?: FitInput | undefined;
  readonly repair?: boolean | undefined;
}

/** A currency pair that options are on. Its spot and spot date are those of `market.fx`. */
export interface PairInput {
  /** The pair, such as EURUSD: dollars for one euro. */
  readonly fx: string;
  /** The volatility; it may be left out if every trade has its own. */
  readonly volatility?: VolatilityInput | DeltaQuotesInput | undefined;
}

/** An underlying of a market, as a book contains it. Its spot is in units of `currency`. */
export interface UnderlyingInput {
  readonly spot: number;
  readonly currency: string;
  /** The dividends; none by default. `discrete` dividends are cash amounts or fractions of the spot. */
  readonly dividends?:
    | {
        /**
         * The continuous yield per year; its means up to dates, as zero rates; or "parity" for the yield that put–call
         * parity of the quotes implies.
         */
        readonly yield?: number | readonly { readonly date: TimeInput; readonly zero: number }[] | "parity" | undefined;
        readonly discrete?:
          | readonly {
              readonly date: TimeInput;
              readonly cash?: number | undefined;
              readonly proportional?: number | undefined;
            }[]
          | undefined;
      }
    | undefined;
  /** The volatility; it may be left out if every trade has its own. */
  readonly volatility?: VolatilityInput | undefined;
}
