/** What is doubtful about the fits to quotes that a trade's value depends on. */
import { SpecError } from "../base/errors.ts";
import { doubtsAbout, isDoubt, type Underlying, type Volatility } from "../market/index.ts";

/**
 * Returns warnings about the fitted volatilities, curves and models of the short rate of some underlyings, on which a
 * value up to `expiry` depends, each of them once.
 */
export function doubtsOf(assets: readonly Asset[], expiry: number): string[] {
  return [...new Set(assets.flatMap((asset) => doubtsOfAsset(asset, expiry)))];
}

interface Asset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

function doubtsOfAsset({ underlying: { rates, shortRate }, volatility }: Asset, expiry: number): string[] {
  return [
    ...("fit" in volatility ? doubtsAbout(volatility.fit, expiry) : []),
    ...doubtsAbout(rates.fit, expiry),
    ...doubtsAbout(shortRate?.fit, expiry),
  ];
}

/** Refuses a trade with doubtful fits in a strict run. @throws SpecError with the first doubt */
export function refuseDoubts(doubts: readonly string[]): void {
  const doubt = doubts.find(isDoubt);
  if (doubt !== undefined) throw new SpecError(`${doubt}; a strict run does not price with doubtful fits`);
}
