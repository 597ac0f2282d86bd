/** Convertible bonds after parsing: plain immutable data, times in years from `asOf`. */
import type { Convertible, Credit } from "../convertible/index.ts";
import type { Underlying, Volatility } from "../market/index.ts";
import type { Tags } from "./tags.ts";

/** A convertible bond, complete and valid: everything that its price depends on can be reached from here. */
export interface ConvertibleTrade {
  readonly kind: "convertible";
  readonly id: string;
  /** Shared by reference among the trades of one underlying. */
  readonly underlying: Underlying;
  /** The trade's own volatility where it gave one, else the underlying's. */
  readonly volatility: Volatility;
  /** The credit of the issuer; undefined where the market has none: then nobody defaults. */
  readonly credit: Credit | undefined;
  readonly convertible: Convertible;
  /** Years to maturity. */
  readonly expiry: number;
  readonly quantity: number;
  readonly tags?: Tags;
}

/** The figures of a convertible bond beside those that every result has. */
export interface ConvertibleFigures {
  /** The value of conversion now, as if it were allowed. */
  readonly parity?: number;
  /** The value of the bond without conversion, calls and puts. */
  readonly bondFloor?: number;
  /** The sensitivity to the issuer's spread or hazard rate, per 1.00; null where it was not asked for. */
  readonly creditSensitivity?: number | null;
}
