/** The types of convertible bonds after parsing: immutable plain data, with times in years from `asOf`. */
import type { Convertible, Credit } from "../pde/convertible/index.ts";
import type { Underlying, Volatility } from "../market/index.ts";
import type { Tags } from "./tags.ts";

/** A convertible bond after reading: complete, valid, and with all inputs of its price. @stable */
export interface ConvertibleTrade {
  readonly kind: "convertible";
  readonly id: string;
  /** The underlying. Trades on the same underlying share this object. */
  readonly underlying: Underlying;
  /** The trade's own volatility if given, otherwise the underlying's. */
  readonly volatility: Volatility;
  /** The credit of the issuer. If it is undefined, the market gives none, and the issuer cannot default. */
  readonly credit: Credit | undefined;
  /** The terms of the bond. */
  readonly convertible: Convertible;
  /** The time to maturity in years. */
  readonly expiry: number;
  /** The number of bonds held, negative when sold. Results are for one bond. */
  readonly quantity: number;
  readonly tags?: Tags;
}

/** The numbers that only results of convertible bonds have. */
export interface ConvertibleFigures {
  /** The immediate conversion value, whether conversion is allowed or not. */
  readonly parity?: number;
  /** The value of the bond without conversion, calls and puts; none where the hazard rate depends on the spot. */
  readonly bondFloor?: number;
  /** The sensitivity to the issuer's spread or hazard rate, per 1.00; null where it was not requested. */
  readonly creditSensitivity?: number | null;
}
