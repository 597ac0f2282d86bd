/** What is doubtful about the fits to quotes that a trade's value depends on. */
import type { AnyTrade } from "../book/index.ts";
import { SpecError } from "../base/errors.ts";
import { doubtsAbout, isDoubt, type Underlying, type Volatility } from "../market/index.ts";

/**
 * Returns warnings about the fitted volatilities, curves and models of the short rate on which a trade's value depends,
 * each of them once.
 */
export function fitDoubts(trade: AnyTrade): string[] {
  const { expiry } = trade;
  if (trade.kind === "rates") {
    const { rates, product } = trade;
    const curve = "curve" in rates ? doubtsAbout(rates.curve.fit, expiry) : [];
    // A quoted volatility stands in the place of a model.
    const isModel = rates.kind === "hullWhite" && !("quote" in product && product.quote !== undefined);
    return isModel ? [...curve, ...doubtsAbout(rates.fit, expiry)] : curve;
  }
  const assets = trade.kind === undefined ? trade.assets : undefined;
  if (assets === undefined) return doubtsOf(trade, expiry);
  return [...new Set(assets.flatMap((asset) => doubtsOf(asset, expiry)))];
}

interface Asset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

function doubtsOf({ underlying: { rates, shortRate }, volatility }: Asset, expiry: number): string[] {
  return [
    ...("fit" in volatility ? doubtsAbout(volatility.fit, expiry) : []),
    ...doubtsAbout(rates.fit, expiry),
    ...doubtsAbout(shortRate?.fit, expiry),
  ];
}

/**
 * Refuses a trade that depends on a doubtful fit, if the settings are strict.
 * @throws SpecError with the first doubt
 */
export function refuseDoubts(trade: AnyTrade, { strict }: { readonly strict: boolean }): void {
  if (!strict) return;
  const doubt = fitDoubts(trade).find(isDoubt);
  if (doubt !== undefined) throw new SpecError(`${doubt}; a strict run does not price with doubtful fits`);
}
