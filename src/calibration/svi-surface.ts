/** The fit of an underlying's quotes by an SVI slice for each expiry. */
import { checkedQuotes, countWithWords, quoteCountOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { fitSviSlice, sviResponse } from "./svi-fit.ts";
import type { SviParameters } from "../market/index.ts";
import { describeSlices, expiryRangeOf, limitedNodesMessage, nearbySlices, sliceOf } from "./variance-surface.ts";

const NAMES = ["a", "b", "rho", "m", "sigma"] as const;

/**
 * Fits SVI to each expiry separately, without constraints against arbitrage; the fields `butterfly` and `calendar` of
 * the result report whether there is any. The local volatility is Dupire's. @throws SpecError for quotes that cannot be
 * fitted
 */
export function fitSvi(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const fits = expiries.map(fitSviSlice);
  const slices = expiries.map((expiry, i) =>
    sliceOf(expiryRangeOf(expiry), { kind: "svi", parameters: fits[i].parameters }),
  );
  const { limited, ...described } = describeSlices(slices, quotes);
  const responses = new Map<number, ReturnType<typeof sviResponse>>();
  const moved: Parameters<typeof nearbySlices>[3] = (i, moves) => {
    const response = responses.get(i) ?? sviResponse(expiries[i], fits[i].parameters);
    responses.set(i, response);
    return sliceOf(expiryRangeOf(expiries[i]), { kind: "svi", parameters: response(moves) });
  };
  const { volatility } = described;
  const columns = (of: readonly SviParameters[]): Record<string, readonly number[]> =>
    Object.fromEntries(NAMES.map((name) => [name, of.map((parameters) => parameters[name])]));
  const few = expiries.filter((expiry) => quoteCountOf([expiry]) < NAMES.length).length;
  const messages = [
    ...(few > 0
      ? [
          `${countWithWords(few, "expiry has", "expiries have")} fewer quotes than SVI has parameters: the wings are not determined`,
        ]
      : []),
    ...limitedNodesMessage(limited),
  ];
  return {
    status: few === 0 && fits.every(({ status }) => status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "svi",
    parameters: columns(fits.map(({ parameters }) => parameters)),
    standardErrors: columns(fits.map(({ standardErrors }) => standardErrors)),
    ...described,
    ...(volatility.kind === "surface" ? { near: nearbySlices(slices, quotes, volatility.surface, moved) } : {}),
  };
}
