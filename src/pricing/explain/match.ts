import type { AnyTrade, Book, ParsedTrade, Tags } from "../../book/index.ts";
import { ONE_SECOND } from "../../market/index.ts";
import { kindOf } from "../kinds.ts";

/** The result of looking for a trade in both books by its id. */
export type Match =
  /** `years` of its life have passed. */
  | { readonly kind: "explained"; readonly before: AnyTrade; readonly after: AnyTrade; readonly years: number }
  | { readonly kind: "matured"; readonly before: AnyTrade }
  | { readonly kind: "gone"; readonly before: AnyTrade }
  | { readonly kind: "new"; readonly after: AnyTrade }
  | { readonly kind: "changed"; readonly before: AnyTrade; readonly after: AnyTrade; readonly reason: string }
  | {
      readonly kind: "error";
      readonly id: string | undefined;
      readonly tags?: Tags | undefined;
      readonly book: "before" | "after";
      readonly error: unknown;
    };

/**
 * Matches the trades of two books by id: those of the earlier book in its order, then those that only the later one
 * has. `years` lie between the dates of the books.
 */
export function matchTrades(before: Book, after: Book, years: number): Match[] {
  const later = new Map<string, ParsedTrade>();
  for (const parsed of after.trades) if (parsed.ok) later.set(parsed.trade.id, parsed);
  // An id used twice is an error beside the trade that had it first.
  for (const parsed of after.trades)
    if (!parsed.ok && parsed.id !== undefined && !later.has(parsed.id)) later.set(parsed.id, parsed);
  const known = new Set<string>();
  const matches = before.trades.map((parsed) => {
    if (!parsed.ok) return failed(parsed, "before");
    const { trade } = parsed;
    known.add(trade.id);
    return matchOf(trade, later.get(trade.id), years);
  });
  const refused = new Set(before.trades.map((parsed) => (parsed.ok ? undefined : parsed.id)));
  const isOther = (parsed: ParsedTrade): boolean => {
    const id = parsed.ok ? parsed.trade.id : parsed.id;
    return id === undefined || (later.get(id) === parsed ? !known.has(id) && !refused.has(id) : true);
  };
  const others = after.trades.filter(isOther).map((parsed): Match => {
    if (!parsed.ok) return failed(parsed, "after");
    return { kind: "new", after: parsed.trade };
  });
  return [...matches, ...others];
}

function failed({ id, error, tags }: ParsedTrade & { ok: false }, book: "before" | "after"): Match {
  return { kind: "error", id, book, error, tags };
}

const DAY = 1 / 365;

function matchOf(before: AnyTrade, parsed: ParsedTrade | undefined, years: number): Match {
  if (parsed === undefined || !parsed.ok) {
    // The later book may leave out what has expired, or have it still: it is then refused for that.
    if (kindOf(before).rollForward(before, years) === undefined) return { kind: "matured", before };
    return parsed === undefined ? { kind: "gone", before } : failed(parsed, "after");
  }
  const after = parsed.trade;
  // A plain date is at asOf's own time of day: lives shorten by whole days, whatever the hours that books are made at.
  const passed = before.expiry - after.expiry;
  const onDate = passed > -ONE_SECOND && Math.abs(passed - years) < DAY * (1 - 1e-6);
  const reason = onDate
    ? difference(kindOf(before).rollForward(before, passed), after)
    : "its expiry differs; one in years moves with asOf: write the date";
  if (reason !== undefined) return { kind: "changed", before, after, reason };
  return { kind: "explained", before, after, years: Math.max(passed, 0) };
}

/** The first of the terms that differs; undefined if the trade is the same. */
function difference(rolled: AnyTrade | undefined, after: AnyTrade): string | undefined {
  if (rolled === undefined) return "its expiry differs";
  const kind = kindOf(rolled);
  return kind === kindOf(after) ? kind.difference(rolled, after) : "its kind differs";
}
