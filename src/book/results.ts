import { FeynkacError, BookError } from "../errors.ts";
import type { FailedTrade, ParsedTrade, Trade, TradeLabels } from "./types.ts";

/** What a result says of its trade. */
export function labelsOf({ underlying, assets, quantity, tags }: Trade): TradeLabels {
  return {
    underlying: assets === undefined ? underlying.name : assets.map((asset) => asset.underlying.name).join(" + "),
    currency: underlying.currency,
    quantity,
    ...(tags === undefined ? {} : { tags }),
  };
}

/** The result of a trade that could not be read. */
export function unreadResult({ id, tags, error }: Extract<ParsedTrade, { ok: false }>): FailedTrade {
  return failedResult({ id, ...(tags === undefined ? {} : { tags }) }, error);
}

/** The result of a trade that could not be priced, from what was thrown. */
export function failedResult(
  { id, ...labels }: Partial<TradeLabels> & { readonly id: string | undefined },
  error: unknown,
  warnings: readonly string[] = [],
): FailedTrade {
  return {
    id: id ?? null,
    ...labels,
    status: "error",
    value: null,
    delta: null,
    gamma: null,
    theta: null,
    vega: null,
    rho: null,
    errorEstimate: null,
    method: null,
    precision: null,
    backend: null,
    warnings,
    error: {
      code: error instanceof FeynkacError ? error.code : "INTERNAL",
      ...(error instanceof BookError && error.path !== "" ? { path: error.path } : {}),
      message: error instanceof Error ? error.message : String(error),
    },
  };
}
