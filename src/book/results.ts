import { FeynkacError, BookError } from "../base/errors.ts";
import type { BookReport, FailedTrade, TradeLabels } from "./result-types.ts";
import type { ScenarioTable } from "./scenario-table.ts";
import type { AnyTrade, ParsedTrade } from "./types.ts";

/** Returns the properties of a trade that its result repeats: underlying, currency, quantity and tags. */
export function labelsOf(trade: AnyTrade): TradeLabels {
  const { quantity, tags } = trade;
  if (trade.kind === "rates") return { underlying: trade.currency, currency: trade.currency, quantity, tags };
  if (trade.kind === "linear")
    return { underlying: trade.pair?.name ?? trade.currency, currency: trade.currency, quantity, tags };
  const { name } = trade.underlying;
  const currency = currencyOf(trade);
  const assets = "assets" in trade ? trade.assets : undefined;
  const underlying = assets === undefined ? name : assets.map((asset) => asset.underlying.name).join(" + ");
  return { underlying, currency, quantity, tags };
}

/** Returns the currency of a trade's value. */
export function currencyOf(trade: AnyTrade): string {
  if ("currency" in trade) return trade.currency;
  return "settlement" in trade && trade.settlement !== undefined
    ? trade.settlement.currency
    : trade.underlying.currency;
}

/** Returns the result of a trade that could not be read. */
export function unreadResult({ id, tags, error }: Extract<ParsedTrade, { ok: false }>): FailedTrade {
  return failedResult({ id, ...(tags === undefined ? {} : { tags }) }, error);
}

/**
 * Returns the result of a trade that could not be priced because of `error`. `fallback` is the path of the trade in the
 * book, for errors that do not have one.
 */
export function failedResult(
  { id, ...labels }: Partial<TradeLabels> & { readonly id: string | undefined },
  error: unknown,
  warnings: readonly string[] = [],
  fallback?: string,
): FailedTrade {
  const message = error instanceof Error ? error.message : String(error);
  const path = pathOf(error, message) ?? fallback;
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
      ...(path === undefined ? {} : { path }),
      message: path === undefined || message.startsWith(path) ? message : `${path}: ${message}`,
    },
  };
}

/** The path of the field that an error is about, from the error itself or from the start of its message. */
function pathOf(error: unknown, message: string): string | undefined {
  if (error instanceof BookError && error.path !== "") return error.path;
  return /^(trades\[\d+\]|market\.)[\w.[\]]*(?=:)/.exec(message)?.[0];
}

/** Returns what results say of named scenarios: their names, and their weights if these differ. */
export function namesAndWeights(
  table: ScenarioTable | undefined,
): Pick<BookReport, "scenarioNames" | "scenarioWeights"> {
  if (table === undefined) return {};
  const { names, weights } = table;
  return { scenarioNames: names, ...(weights === undefined ? {} : { scenarioWeights: [...weights] }) };
}
