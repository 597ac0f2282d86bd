/** Early rights on a single one of their dates, whose values are closed forms and bound those of all dates. */
import type { RatesProduct } from "../../../book/index.ts";
import type { SessionOf } from "../../backend.ts";
import type { Bounds } from "../../range.ts";
import { boundsOf, datesOf, europeanOf } from "./bounds.ts";
import type { RatesMethod, RatesRow } from "./method.ts";

/** The most dates of a trade that are looked at: more of them narrow the bounds little. */
const MOST_DATES = 4;

/** An option on one date of a trade, and the index of that trade. */
interface Single {
  readonly row: RatesRow;
  readonly trade: number;
}

/**
 * Returns the bounds of trades on rates (`boundsOf`), narrowed by the closed forms of their single dates where the
 * model has them: a Bermudan option is worth at least its European ones, a callable bond at most the straight bond less
 * one of them, and a puttable bond at least the straight bond and one of them.
 */
export async function narrowedBounds(
  rows: readonly RatesRow[],
  methods: readonly RatesMethod[],
  sessionOf: SessionOf,
  signal: AbortSignal | undefined,
): Promise<readonly Bounds[]> {
  const bounds = rows.map((row): Bounds => boundsOf(row));
  const byMethod = new Map<RatesMethod, Single[]>();
  rows.forEach((row, trade) => {
    for (const product of singlesOf(row.trade.product)) {
      const single = { ...row, trade: { ...row.trade, product }, greeks: "none" } as const;
      const method = methods.find((one) => one.refuses(single.trade) === undefined);
      if (method === undefined) continue;
      const own = byMethod.get(method) ?? [];
      own.push({ row: single, trade });
      byMethod.set(method, own);
    }
  });
  for (const [method, singles] of byMethod) {
    const outcomes = await sessionOf(method).price(
      singles.map(({ row }) => row),
      signal,
    );
    singles.forEach(({ trade }, i) => {
      const outcome = outcomes[i];
      if (outcome instanceof Error || !Number.isFinite(outcome.value)) return;
      const { value, errorEstimate } = outcome;
      bounds[trade] = narrowed(bounds[trade], rows[trade], value - errorEstimate);
    });
  }
  return bounds;
}

/** The bounds of a trade one of whose dates alone is worth at least `least`. */
function narrowed(bounds: Bounds, { trade: { product }, market }: RatesRow, least: number): Bounds {
  if (product.kind !== "bond") {
    const low = Math.max(bounds.low, least);
    return { ...bounds, low, high: Math.max(low, bounds.high), lowIs: "the European option on one of its dates" };
  }
  const straight = product.bond.flows.reduce((sum, [time, amount]) => sum + amount * market.discount(time), 0);
  if (product.puts.length === 0) {
    const high = Math.min(bounds.high, straight - least);
    return { ...bounds, high: Math.max(high, bounds.low), highIs: "the bond with one of its calls" };
  }
  const low = Math.max(bounds.low, straight + least);
  return { ...bounds, low, high: Math.max(low, bounds.high), lowIs: "the bond with one of its puts" };
}

/** The options on single dates of a trade with early rights: none where they are no bounds. */
function singlesOf(product: RatesProduct): readonly RatesProduct[] {
  switch (product.kind) {
    case "bondOption":
    case "swaption":
      if (product.exercise.kind === "dates" && product.exercise.times.length === 1) return [];
      return some(datesOf(product.exercise)).map((time) => europeanOf(product, time));
    case "bond": {
      const { bond, calls, puts } = product;
      if ((calls.length > 0 && puts.length > 0) || [...calls, ...puts].some(({ notice }) => notice > 0)) return [];
      const last = bond.flows[bond.flows.length - 1][0];
      const right = calls.length > 0 ? "call" : "put";
      const dated = [...calls, ...puts].flatMap(({ from, to, price }) =>
        [...new Set([from, to])].filter((time) => time < last).map((time) => ({ time, strike: price })),
      );
      return some(dated).map(({ time, strike }) => {
        return {
          kind: "bondOption",
          right,
          strike,
          strikeIs: "clean",
          bond,
          exercise: { kind: "dates", times: [time] },
        };
      });
    }
    default:
      return [];
  }
}

/** A few of a list, the first and the last among them. */
function some<T>(list: readonly T[]): readonly T[] {
  if (list.length <= MOST_DATES) return list;
  return Array.from({ length: MOST_DATES }, (_, i) => list[Math.round((i * (list.length - 1)) / (MOST_DATES - 1))]);
}
