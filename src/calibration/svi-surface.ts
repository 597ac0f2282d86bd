/** The fit of an underlying's quotes by an SVI slice for each expiry. */
import type { Slice } from "./arbitrage.ts";
import { checkedQuotes, countOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { fitSviSlice } from "./svi-fit.ts";
import { type SviParameters, sviVariance } from "./svi.ts";
import { describeSlices, limitedMessage } from "./variance-surface.ts";

const NAMES = ["a", "b", "rho", "m", "sigma"] as const;

/** Returns the total variance of one expiry as SVI with given parameters. */
export function sviSlice(parameters: SviParameters, { time, forward, range }: Omit<Slice, "at">): Slice {
  return { time, forward, range, at: (k) => sviVariance({ parameters, k }) };
}

/**
 * Fits SVI to each expiry separately, without constraints against arbitrage; `butterfly` and `calendar` of the result
 * report whether there is any. The local volatility is Dupire's. @throws SpecError for quotes that cannot be fitted
 */
export function fitSvi(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const fits = expiries.map(fitSviSlice);
  const slices = expiries.map(({ time, forward, logMoneyness }, i) =>
    sviSlice(fits[i].parameters, { time, forward, range: [logMoneyness[0], logMoneyness[logMoneyness.length - 1]] }),
  );
  const { limited, ...described } = describeSlices(slices, quotes);
  const columns = (of: readonly SviParameters[]): Record<string, readonly number[]> =>
    Object.fromEntries(NAMES.map((name) => [name, of.map((parameters) => parameters[name])]));
  const few = expiries.filter((expiry) => countOf([expiry]) < NAMES.length).length;
  const messages = [
    ...(few > 0 ? [`${few} expiries have fewer quotes than SVI has parameters: their wings are not determined`] : []),
    ...limitedMessage(limited),
  ];
  return {
    status: few === 0 && fits.every(({ status }) => status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "svi",
    parameters: columns(fits.map(({ parameters }) => parameters)),
    standardErrors: columns(fits.map(({ standardErrors }) => standardErrors)),
    ...described,
  };
}
