/** Prices random trades on several assets together, and says how far off they are. */
import { parseBook } from "../../../src/book/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { type Method, priceBook } from "../../../src/pricing/index.ts";
import { AS_OF, bookOf } from "../contract.ts";
import { Random } from "../random.ts";
import type { AssetsTrade, Family } from "./families.ts";

/** A book of such trades, each with a market of its own. */
export function assetsBook(trades: readonly AssetsTrade[]) {
  const rates: Record<string, number> = {};
  const underlyings: Record<string, object> = {};
  const correlations: [string, string, number][] = [];
  const rows = trades.map(({ market, payoff, strike, exercise, barriers }, t) => {
    const names = market.assets.map((_, i) => `U${t}x${i}`);
    rates[`C${t}`] = market.rate;
    market.assets.forEach(({ spot, volatility, yield: q }, i) => {
      underlyings[names[i]] = { spot, currency: `C${t}`, volatility, dividends: { yield: q } };
      for (let l = 0; l < i; l++) correlations.push([names[l], names[i], market.correlations[i][l]]);
    });
    return {
      id: `t${t}`,
      underlyings: names,
      payoff,
      ...(strike === undefined ? {} : { strike }),
      expiry: market.expiry,
      ...(exercise === undefined || exercise.length === 0 ? {} : { exercise }),
      ...(barriers === undefined
        ? {}
        : { barriers: barriers.map(({ asset, ...rest }) => ({ ...rest, underlying: names[asset] })) }),
    };
  });
  return { asOf: AS_OF, market: { rates, underlyings, correlations }, trades: rows };
}

/** A trade's value beside what it should be. */
export interface Checked {
  readonly trade: AssetsTrade;
  readonly value: number;
  readonly exact: number;
  readonly estimate: number;
  /** The uncertainty of `exact`. */
  readonly uncertainty: number;
  readonly spot: number;
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

export interface CheckOptions {
  readonly device: Device;
  readonly count: number;
  readonly seed: number;
  readonly method?: Method;
  readonly accuracy?: number;
}

export async function checkFamily(family: Family, options: CheckOptions): Promise<readonly Checked[]> {
  const { device, count, seed, method = "adi", accuracy } = options;
  const random = new Random(seed);
  const trades = Array.from({ length: count }, () => family.draw(random));
  const settings = { device, greeks: "none" as const };
  const { results } = await priceBook(parseBook(JSON.stringify(assetsBook(trades))), {
    ...settings,
    method,
    ...(accuracy === undefined ? {} : { accuracy: { relative: accuracy } }),
  });
  const exact = await exactValues(trades, device);
  return trades.map((trade, i): Checked => {
    const result = results[i];
    const spot = Math.max(...trade.market.assets.map((asset) => asset.spot));
    if (result.status === "error")
      return { trade, value: NaN, estimate: NaN, spot, ...exact[i], error: result.error.message, warnings: [] };
    const { value, errorEstimate: estimate, warnings } = result;
    return { trade, value, estimate, spot, ...exact[i], error: undefined, warnings };
  });
}

/** Values of trades on one asset come from the finite differences of one factor. */
async function exactValues(
  trades: readonly AssetsTrade[],
  device: Device,
): Promise<readonly { readonly exact: number; readonly uncertainty: number }[]> {
  const contracts = trades.flatMap(({ exact }) => (typeof exact === "number" ? [] : [exact.contract]));
  const { results } =
    contracts.length === 0
      ? { results: [] }
      : await priceBook(parseBook(JSON.stringify(bookOf(contracts))), {
          device,
          greeks: "none",
          accuracy: { relative: 1e-6 },
        });
  const next = results.values();
  return trades.map(({ exact, market }) => {
    const spot = Math.max(...market.assets.map((asset) => asset.spot));
    if (typeof exact === "number") return { exact, uncertainty: 1e-6 * spot };
    const result = next.next().value!;
    if (result.status === "error") throw new Error(result.error.message);
    return {
      exact: exact.factor * result.value,
      uncertainty: exact.factor * result.errorEstimate + 1e-6 * spot,
    };
  });
}

export interface Coverage {
  readonly n: number;
  readonly covered: number;
  /** The largest error in units of its estimate. */
  readonly worst: number;
  readonly failures: number;
  /** Errors beyond the accuracy asked for, without a warning. */
  readonly silent: number;
}

export const ratioOf = ({ value, exact, estimate, uncertainty }: Checked): number =>
  Math.max(Math.abs(value - exact) - uncertainty, 0) / Math.max(estimate, 1e-300);

export function coverageOf(checked: readonly Checked[], accuracy = 1e-4): Coverage {
  const ratios = checked.map(ratioOf);
  return {
    n: checked.length,
    covered: ratios.filter((ratio) => ratio <= 1).length,
    worst: Math.max(...ratios.map((ratio) => (Number.isNaN(ratio) ? Infinity : ratio))),
    failures: ratios.filter(Number.isNaN).length,
    silent: checked.filter(
      ({ value, exact, uncertainty, spot, warnings }) =>
        Math.abs(value - exact) - uncertainty > accuracy * spot && warnings.length === 0,
    ).length,
  };
}
