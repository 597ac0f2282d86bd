/** Periods in which a right of a bond may be exercised. */
import { BookError } from "../base/errors.ts";
import type { Place } from "./place.ts";

/** Two times that differ by less than this are considered equal. In years. */
export const SAME = 1e-9;

/**
 * Checks that no two periods overlap, because the price in the overlap would be ambiguous. @throws BookError if two do
 */
export function checkApart(periods: readonly { readonly from: number; readonly to: number }[], place: Place): void {
  const sorted = periods.map((period, i) => ({ ...period, i })).toSorted((a, b) => a.from - b.from || a.to - b.to);
  for (let k = 1; k < sorted.length; k++) {
    const [before, after] = [sorted[k - 1], sorted[k]];
    // Windows may meet; a date may not be in another period, not even at its end.
    const hasDate = before.from === before.to || after.from === after.to;
    if (after.from < before.to + (hasDate ? SAME : -SAME))
      throw new BookError(place(after.i), "expected periods that do not overlap; split them, with one price each");
  }
}
