import type { Trade } from "../book/index.ts";
import {
  alphaOf,
  type Heston,
  type PiecewiseConstant,
  sigmasOf,
  varianceOf,
  type Volatility,
} from "../market/index.ts";
import { power } from "../elementary.ts";

/** Beyond these a number was probably meant in percent: 100 % a year, and 500 % a √year. */
const MAX_RATE = 1;
const MAX_VOLATILITY = 5;

/** What of a trade's market looks like percent where a fraction is expected. */
export function unitWarnings({ underlying, volatility, assets }: Trade): string[] {
  const owners = assets ?? [{ underlying, volatility }];
  const { currency, rates } = underlying;
  return [
    ...warning(`rate of ${currency}`, rates, MAX_RATE),
    ...owners.flatMap(({ underlying: { name, spot, dividends }, volatility: own }) => [
      ...warning(`dividend yield of ${name}`, { times: [], values: [dividends.yield] }, MAX_RATE),
      ...volatilityWarnings(name, own, spot),
    ]),
  ];
}

/** Today's volatility, and where it goes to. */
function volatilityWarnings(name: string, volatility: Volatility, spot: number): string[] {
  const at = (values: readonly number[]): string[] =>
    warning(`volatility of ${name}`, { times: [], values }, MAX_VOLATILITY);
  switch (volatility.kind) {
    case "deterministic":
      return warning(`volatility of ${name}`, volatility.sigma, MAX_VOLATILITY);
    case "heston":
      return varianceWarnings(name, volatility);
    case "sabr":
      return at([alphaOf(volatility, spot) * power(spot, volatility.beta - 1)]);
    case "cev":
      return at([volatility.sigma * power(spot, volatility.beta - 1)]);
    case "displaced":
      return at([(volatility.sigma * (spot + volatility.shift)) / spot]);
    case "gaussianFactors":
      return at(sigmasOf(volatility));
    case "surface":
      return at(volatility.surface.volatility[0]);
    case "local":
      return []; // a formula is what it is
    default:
      return volatility satisfies never;
  }
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

function warning(name: string, { values }: PiecewiseConstant, max: number): string[] {
  const large = values.find((value) => Math.abs(value) > max);
  if (large === undefined) return [];
  const percent = Number((100 * large).toPrecision(6));
  return [`the ${name} is ${percent} %; if that was not meant, write 5 % as 0.05`];
}
