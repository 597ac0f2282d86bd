/** Results as rows of the page's table. */
import { currencyOf, describeTrade, type ParsedTrade, type TradeResult, underlyingsOf } from "../../src/book/index.ts";
import { NUMBERS, type RowBlock, TEXTS, type TextName } from "./protocol.ts";

/** Columns of some results, to be sent to the page. */
export function rowBlock(
  places: readonly number[],
  parsed: readonly ParsedTrade[],
  results: readonly (TradeResult | undefined)[],
): RowBlock {
  const numbers = new Float64Array(places.length * NUMBERS.length);
  const status = new Uint8Array(places.length);
  const texts = Object.fromEntries(TEXTS.map((name): [TextName, string[]] => [name, []])) as Record<TextName, string[]>;
  for (const [i, place] of places.entries()) {
    const [trade, result] = [parsed[place], results[place]];
    status[i] = result === undefined || result.status === "error" ? 2 : result.warnings.length > 0 ? 1 : 0;
    NUMBERS.forEach((name, k) => (numbers[i * NUMBERS.length + k] = numberOf(name, trade, result)));
    const row = textsOf(trade, result);
    for (const name of TEXTS) texts[name].push(row[name]);
  }
  return { places: Int32Array.from(places), numbers, texts, status };
}

function numberOf(name: (typeof NUMBERS)[number], parsed: ParsedTrade, result: TradeResult | undefined): number {
  if (name === "quantity" || name === "expiry") return parsed.ok ? parsed.trade[name] : Number.NaN;
  return result?.[name] ?? Number.NaN;
}

function textsOf(parsed: ParsedTrade, result: TradeResult | undefined): Record<TextName, string> {
  const common = {
    id: (parsed.ok ? parsed.trade.id : parsed.id) ?? "–",
    method: result?.method ?? "",
    note: noteOf(result),
  };
  if (!parsed.ok) return { ...common, product: "–", underlying: "–", currency: "–", tags: "" };
  const { trade } = parsed;
  return {
    ...common,
    product: describeTrade(trade),
    underlying: underlyingsOf(trade).join(" · "),
    currency: currencyOf(trade),
    tags: tagsOf(trade),
  };
}

function noteOf(result: TradeResult | undefined): string {
  if (result === undefined) return "";
  if (result.status === "error") return result.error.message;
  return result.warnings.join("; ");
}

/** Labels of a trade, if the book gives some, one a line. */
function tagsOf(trade: object): string {
  const { tags = {} } = trade as { readonly tags?: Readonly<Record<string, unknown>> };
  return Object.entries(tags)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join("\n");
}
