/** The underlyings of trades: found by name, with their volatilities and correlations. */
import { BookError } from "../base/errors.ts";
import type { Volatility } from "../market/index.ts";
import type { ResolvedMarket, UnderlyingEntry } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { TradeSpec } from "./schema/index.ts";
import type { AsOf } from "./time.ts";
import type { Trade } from "./types.ts";
import { NOT_PRICED, resolveVolatility } from "./volatility.ts";

/** The underlyings of a trade, with what is the first of them. */
export type OnUnderlyings = Pick<Trade, "underlying" | "volatility" | "assets" | "correlations">;

/**
 * Returns the underlying of a trade with its volatility. @throws BookError if the underlying is unknown, or if neither it nor the trade
 * has a volatility
 */
export function resolveOne(
  spec: Pick<TradeSpec, "underlying" | "volatility">,
  pathOf: PathOf,
  asOf: AsOf,
  market: ResolvedMarket,
): OnUnderlyings {
  const name = spec.underlying as string;
  const entry = findUnderlying(name, market, pathOf, "underlying");
  const own = spec.volatility && resolveVolatility(spec.volatility, asOf, inside(pathOf, "volatility"));
  const volatility = chooseVolatility(own, entry, pathOf, "underlying");
  const { underlying } = entry;
  if (underlying.shortRate === undefined) return { underlying, volatility };
  return { underlying, volatility, correlations: market.between.of([name, underlying.currency]) };
}

/**
 * Returns the underlyings of a basket. @throws BookError for a name that is repeated or unknown, or underlyings in
 * different currencies
 */
export function resolveBasket(names: readonly string[], market: ResolvedMarket, pathOf: PathOf): OnUnderlyings {
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  if (twice > 0) throw new BookError(pathOf("underlyings", twice), `${quote(names[twice])} is there twice`);
  const assets = names.map((name, i) => {
    const entry = findUnderlying(name, market, pathOf, "underlyings", i);
    const volatility = chooseVolatility(undefined, entry, pathOf, "underlyings", i);
    return { underlying: entry.underlying, volatility };
  });
  const [{ underlying, volatility }] = assets;
  const { currency, shortRate } = underlying;
  const other = assets.findIndex((asset) => asset.underlying.currency !== currency);
  if (other > 0)
    throw new BookError(
      pathOf("underlyings", other),
      `${quote(names[other])} is in ${quote(assets[other].underlying.currency)}, and ${quote(names[0])} in ` +
        `${quote(currency)}; expected underlyings of one currency`,
    );
  const correlations = market.between.of(shortRate === undefined ? names : [...names, currency]);
  return { underlying, volatility, assets, correlations };
}

/** An underlying that a trade can have. */
type UsableEntry = UnderlyingEntry & { readonly underlying: NonNullable<UnderlyingEntry["underlying"]> };

/** Returns an underlying by its name. @throws BookError if it is unknown or cannot be used */
export function findUnderlying(
  name: string,
  { entries }: ResolvedMarket,
  pathOf: PathOf,
  ...path: readonly PropertyKey[]
): UsableEntry {
  const entry = entries.get(name);
  if (entry === undefined)
    throw new BookError(pathOf(...path), `unknown underlying ${quote(name)}${didYouMean(name, entries.keys())}`);
  if (isUsable(entry)) return entry;
  throw new BookError(pathOf(...path), entry.problem ?? `${quote(name)} cannot be used`);
}

const isUsable = (entry: UnderlyingEntry): entry is UsableEntry => entry.underlying !== undefined;

/**
 * The volatility of a trade: its own one, or else that of the underlying. Hence an underlying without a valid
 * volatility can still have trades.
 */
function chooseVolatility(
  own: Volatility | "quotes" | undefined,
  entry: UsableEntry,
  pathOf: PathOf,
  ...path: readonly PropertyKey[]
): Volatility {
  if (own === "quotes") throw new BookError(pathOf("volatility", "quotes"), NOT_PRICED);
  const volatility = own ?? entry.underlying.volatility;
  if (volatility === undefined) throw new BookError(pathOf(...path), entry.volatilityProblem ?? "no volatility");
  return volatility;
}
