import type { ParsedTrade, Trade } from "../../src/book/index.ts";

/** A trade on underlyings that was read. @throws the reason why there is none */
export function onUnderlyings(parsed: ParsedTrade | undefined): Trade {
  if (parsed?.ok !== true) throw parsed?.error ?? new Error("no trade");
  if (parsed.trade.kind !== undefined) throw new Error("not a trade on underlyings");
  return parsed.trade;
}
