/** Convertible bonds after parsing: plain immutable data, times in years from `asOf`. */
import type { Convertible, Credit } from "../convertible/index.ts";
import type { Underlying, Volatility } from "../market/index.ts";
import type { Tags } from "./types.ts";

/** A convertible bond, complete and valid: everything that its price depends on can be reached from here. */
export interface ConvertibleTrade {
  readonly kind: "convertible";
  readonly id: string;
  /** Shared by reference among the trades of one underlying. */
  readonly underlying: Underlying;
  /** The trade's own volatility where it gave one, else the underlying's. */
  readonly volatility: Volatility;
  /** Undefined where the market has none: then nobody defaults. */
  readonly credit: Credit | undefined;
  readonly convertible: Convertible;
  /** Years to maturity. */
  readonly expiry: number;
  readonly quantity: number;
  readonly tags?: Tags;
}
