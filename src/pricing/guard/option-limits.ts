import { roundingError } from "../../pde/fdm/index.ts";
import type { SessionOf } from "../backend.ts";
import { moveOf } from "../columns/scenario-cases.ts";
import type { Limits } from "../plan/kind.ts";
import type { Batch } from "../plan/method.ts";
import type { Range } from "../range.ts";
import { assetsOf, type Terms, termsOf } from "../terms.ts";
import { boundsOf } from "./bounds.ts";
import { EuropeanCounterparts, type TwinValue } from "./european-counterparts.ts";

/** Returns the bounds of options: those of their payoffs (`boundsOf`), and what their European twins are worth. */
export async function optionLimits(
  batch: Batch,
  trades: readonly number[],
  sessionOf: SessionOf,
  signal: AbortSignal | undefined,
): Promise<Limits> {
  return limitsWith(batch, await EuropeanCounterparts.of(batch, trades, sessionOf, signal));
}

/** Returns the bounds of options, given the values of their European twins where they have some. */
export function limitsWith({ columns, precision }: Batch, twins: EuropeanCounterparts | undefined): Limits {
  const { cases, dates, scenarios } = columns.cases;
  let last: { readonly trade: number; readonly spots: readonly (readonly number[])[] } | undefined;
  /** The spots of a trade's underlyings, today's before those of the scenarios. */
  const spotsOf = (trade: number): readonly (readonly number[])[] => {
    if (last?.trade !== trade) {
      const underlyings = assetsOf(columns.tradeOf(trade)).map(({ underlying }) => underlying);
      const moved = (scenarios?.spot ?? []).map((move) =>
        underlyings.map(({ spot, name }) => spot * (1 + moveOf(move, name))),
      );
      last = { trade, spots: [underlyings.map(({ spot }) => spot), ...moved] };
    }
    return last.spots;
  };
  return {
    at(trade, k) {
      const { date, shift } = cases[k];
      const then = termsOf(columns.tradeOf(trade), dates[date], shift);
      if (then === undefined) return undefined;
      const bounds = boundsOf(then);
      return (spot) => withTwin(bounds(spotsOf(trade)[spot]), then, twins?.valueOf(trade, k, spot));
    },
    rounding(trade, at, value) {
      const spot = Math.max(...spotsOf(trade)[at]);
      return roundingError(precision, spot, value) + 1e-9 * (spot + Math.abs(value));
    },
  };
}

/** The bounds with what the same trade without early exercise and barriers is worth, where it is known. */
function withTwin(range: Range, { exercise, barriers }: Terms, twin: TwinValue | undefined): Range {
  if (twin === undefined) return range;
  const isEarly = exercise.kind !== "european";
  if (isEarly && barriers.length === 0) return { ...range, low: Math.max(range.low, twin.value - twin.error) };
  const isOut = !isEarly && barriers.every(({ rebate }) => rebate === 0);
  return isOut ? { ...range, high: Math.min(range.high, twin.value + twin.error) } : range;
}
