import type { Trade } from "../book/index.ts";
import type { PiecewiseConstant } from "../market/index.ts";

/** Beyond these a number was probably meant in percent: 100 % a year, and 500 % a √year. */
const MAX_RATE = 1;
const MAX_VOLATILITY = 5;

/** What of a trade's market looks like percent where a fraction is expected. */
export function unitWarnings({ underlying, volatility, assets }: Trade): string[] {
  const owners = assets ?? [{ underlying, volatility }];
  const { currency, rates } = underlying;
  return [
    ...warning(`rate of ${currency}`, rates, MAX_RATE),
    ...owners.flatMap(({ underlying: { name, dividends }, volatility: own }) => [
      ...warning(`dividend yield of ${name}`, { times: [], values: [dividends.yield] }, MAX_RATE),
      ...(own.kind === "deterministic" ? warning(`volatility of ${name}`, own.sigma, MAX_VOLATILITY) : []),
    ]),
  ];
}

function warning(name: string, { values }: PiecewiseConstant, max: number): string[] {
  const large = values.find((value) => Math.abs(value) > max);
  if (large === undefined) return [];
  const percent = Number((100 * large).toPrecision(6));
  return [`the ${name} is ${percent} %; if that was not meant, write 5 % as 0.05`];
}
