/** What totals take of trades, and how they count them. */

/** The properties of a trade that the totals of its result depend on. */
export type TotalledTrade =
  | TradeOnUnderlyings
  | { readonly kind: "rates"; readonly quantity: number; readonly currency: string }
  | {
      readonly kind: "linear";
      readonly quantity: number;
      readonly currency: string;
      readonly pair?: { readonly name: string; readonly spot: number };
    };

/** How many trades were priced, how many have an error, and how many depend on doubtful fits to quotes. */
export interface TradeCounts {
  readonly priced: number;
  readonly failed: number;
  readonly doubtful?: number;
  /** The first warning about a doubtful fit. */
  readonly doubt?: string;
}

interface TradeOnUnderlyings {
  readonly kind?: "convertible" | "forward" | "scripted" | undefined;
  readonly quantity: number;
  readonly underlying: { readonly name: string; readonly currency: string; readonly spot: number };
  readonly settlement?: {
    readonly currency: string;
    readonly exchange: readonly ({ readonly pair: string; readonly spot: number } | undefined)[];
  };
  readonly assets?: readonly { readonly underlying: { readonly name: string; readonly spot: number } }[];
}
