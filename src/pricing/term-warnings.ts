import { power } from "../base/elementary.ts";
import { SpecError } from "../base/errors.ts";
import { namesBarrier, type Trade, wordOf } from "../book/index.ts";
import {
  alphaOf,
  doubtsAbout,
  type Heston,
  isDoubt,
  sigmasOf,
  smileVolatility,
  type Underlying,
  varianceOf,
  type Volatility,
  yieldsOf,
} from "../market/index.ts";

/** The largest rate per year that is taken as a decimal number. A larger one was probably meant in percent. */
export const MAX_RATE = 1;
/** The largest volatility per √year that is taken as a decimal number. A larger one was probably meant in percent. */
export const MAX_VOLATILITY = 5;

/**
 * The smallest whole numbers of years that were probably meant in days: times from dates or tenors are rarely whole
 * numbers of years. Bonds live longer than options.
 */
export const MIN_DAYS = { option: 25, bond: 90 } as const;

/** Returns warnings about inputs of a trade that were probably meant in another unit or at another time of day. */
export function unitWarnings({
  expiry,
  underlying,
  volatility,
  assets,
}: Pick<Trade, "expiry" | "underlying" | "volatility" | "assets">): string[] {
  const warnings = expiryWarnings(expiry);
  addUnitWarning(warnings, "rate", underlying.currency, underlying.rates.values, MAX_RATE);
  if (assets === undefined) warnOfAsset(warnings, underlying, volatility);
  else for (const asset of assets) warnOfAsset(warnings, asset.underlying, asset.volatility);
  return warnings;
}

/** What tables have where a trade has no barrier. */
const NO_BARRIER = /^(?:|0|-|n\/?a?|no|none|null|false|vanilla)$/i;

/**
 * Returns warnings about tags that seem to be terms of an option which it does not have. A tag has no effect on the
 * price: a column of a desk's own, kept by its name, may hold a barrier.
 */
export function tagWarnings(trade: Pick<Trade, "tags" | "payoff" | "exercise" | "barriers">): string[] {
  return Object.entries(trade.tags ?? {}).flatMap(([name, value]) => {
    const term = ignoredTerm(name, value, trade);
    if (term === undefined) return [];
    const is = `the tag ${JSON.stringify(name)} is ${JSON.stringify(value)}`;
    return [`${is}, which has no effect on the value: if it is a term of the trade, give it as ${term}`];
  });
}

function ignoredTerm(
  name: string,
  value: string | number,
  { payoff, exercise, barriers }: Pick<Trade, "payoff" | "exercise" | "barriers">,
): string | undefined {
  const word = wordOf(value);
  switch (word?.term) {
    case "barrier.type":
      return barriers.some(({ type }) => word.sides.includes(type)) ? undefined : word.term;
    case "exercise":
      return exercise.kind === word.kind ? undefined : word.term;
    case "payoff":
      return "right" in payoff && payoff.right !== word.kind ? word.term : undefined;
    case undefined:
      return barriers.length === 0 && namesBarrier(name) && !NO_BARRIER.test(String(value).trim())
        ? "a barrier"
        : undefined;
    default:
      return word satisfies never;
  }
}

/** Returns warnings about a time to expiry in years that was probably meant in days, or later on the day of `asOf`. */
export function expiryWarnings(expiry: number, least: number = MIN_DAYS.option): string[] {
  if (expiry === 0)
    return [
      "expiry is asOf itself, so the value is the payoff today; a date without a time means the time of day of asOf: " +
        'if it expires later that day, write the instant, "2026-11-20T16:00:00Z"',
    ];
  if (expiry < least || !Number.isInteger(expiry)) return [];
  return [`expiry is ${expiry} years; if days were meant, write "${expiry}D"`];
}

function warnOfAsset(warnings: string[], { name, spot, dividends }: Underlying, volatility: Volatility): void {
  if (dividends.excess !== undefined || Math.abs(dividends.yield) > MAX_RATE)
    addUnitWarning(warnings, "dividend yield", name, yieldsOf(dividends), MAX_RATE);
  if (volatility.kind === "heston") warnings.push(...varianceWarnings(name, volatility));
  else addUnitWarning(warnings, "volatility", name, volatilitiesOf(volatility, spot), MAX_VOLATILITY);
}

/** Today's volatility, and where it goes to. */
function volatilitiesOf(volatility: Exclude<Volatility, Heston>, spot: number): readonly number[] {
  switch (volatility.kind) {
    case "deterministic":
      return volatility.sigma.values;
    case "sabr":
      return [alphaOf(volatility, spot) * power(spot, volatility.beta - 1)];
    case "cev":
      return [volatility.sigma * power(spot, volatility.beta - 1)];
    case "displaced":
      return [(volatility.sigma * (spot + volatility.shift)) / spot];
    case "gaussianFactors":
      return sigmasOf(volatility);
    case "surface":
    case "stochasticLocal":
      return ofSurface(volatility, spot);
    case "local":
      return []; // a formula is what it is
    default:
      return volatility satisfies never;
  }
}

/**
 * A given surface has no node that is not meant. Of a fitted one the smile counts, or else the volatility at the spot.
 */
function ofSurface(volatility: Extract<Volatility, { readonly surface: unknown }>, spot: number): readonly number[] {
  const { surface, fit } = volatility;
  const [today] = surface.volatility;
  if (fit === undefined) return today;
  if (volatility.kind === "surface" && volatility.smile !== undefined)
    return [smileVolatility(volatility.smile, 0, volatility.smile.slices[0].time)];
  return [today[Math.min(surface.spots.findLastIndex((node) => node <= spot) + 1, today.length - 1)]];
}

/** A variance above this was probably meant as a volatility, or in percent: 200 % a √year. */
const MAX_VARIANCE = 4;

function varianceWarnings(name: string, heston: Heston): string[] {
  const all = [["v0", varianceOf(heston)] as const, ...(heston.kappa > 0 ? [["theta", heston.theta] as const] : [])];
  const large = all.find(([, variance]) => variance > MAX_VARIANCE);
  if (large === undefined) return [];
  const [parameter, variance] = large;
  const percent = Number((100 * Math.sqrt(variance)).toPrecision(4));
  return [
    `${parameter} of ${name} is ${Number(variance.toPrecision(6))}, a volatility of ${percent} %; if that was not meant, ` +
      "write the variance of 20 % as 0.04",
  ];
}

/** Adds a warning about the first number whose absolute value exceeds `max`, if there is one. */
export function addUnitWarning(
  warnings: string[],
  what: string,
  name: string,
  values: readonly number[],
  max: number,
): void {
  const large = values.find((value) => Math.abs(value) > max);
  if (large === undefined) return;
  const percent = Number((100 * large).toPrecision(6));
  warnings.push(`the ${what} of ${name} is ${percent} %; if that was not meant, write 5 % as 0.05`);
}

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
