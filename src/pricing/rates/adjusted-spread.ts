/** Option-adjusted spreads of bonds with rights, by values of the bond at other rates. */
import { accruedAt } from "./bond-figures.ts";
import type { RatesRow, RatesSession } from "./method.ts";

/** The most evaluations of a bond. */
const ROUNDS = 16;
/** The accuracy of a spread; the largest spread that is looked for. */
const [ACCURACY, LARGEST] = [1e-10, 1];

/** A bond that is looked for its spread: the last two spreads with their values, less the market's. */
interface Search {
  readonly row: RatesRow;
  readonly target: number;
  readonly last: readonly [spread: number, excess: number];
  readonly before: readonly [spread: number, excess: number] | undefined;
}

/**
 * Returns, for callable and puttable bonds with their values, the parallel shift s of the rates with which each bond
 * has its clean market price (option-adjusted spread); undefined where none is found. Rates are shifted as in
 * scenarios. All bonds are solved together by the secant method, with one pricing call for each iteration.
 */
export async function adjustedSpreads(
  rows: readonly { readonly row: RatesRow; readonly value: number }[],
  session: RatesSession,
  signal: AbortSignal | undefined,
): Promise<readonly (number | undefined)[]> {
  const found = Array<number | undefined>(rows.length).fill(undefined);
  let open = rows.flatMap(({ row, value }, place): readonly (readonly [number, Search])[] => {
    const { product, marketPrice } = row.trade;
    if (product.kind !== "bond" || marketPrice === undefined) return [];
    const target = marketPrice + accruedAt(product.bond, 0);
    return [[place, { row, target, last: [0, value - target], before: undefined }]];
  });
  for (let round = 0; round < ROUNDS && open.length > 0; round++) {
    const next = open.flatMap(([place, search]): readonly (readonly [number, Search, number])[] => {
      const spread = nextSpread(search);
      if (Math.abs(spread - search.last[0]) < ACCURACY) found[place] = spread;
      return found[place] === undefined && Math.abs(spread) <= LARGEST ? [[place, search, spread]] : [];
    });
    const moved = next.map(([, { row }, spread]): RatesRow => {
      return { ...row, greeks: "none", market: row.market.moved((t) => spread * t) };
    });
    const outcomes = await session.price(moved, signal);
    open = next.flatMap(([place, search, spread], i) => {
      const outcome = outcomes[i];
      if (outcome instanceof Error || !Number.isFinite(outcome.value)) return [];
      const last = [spread, outcome.value - search.target] as const;
      return [[place, { ...search, last, before: search.last }] as const];
    });
  }
  return found;
}

/** The root of the line through the last two points; to begin with, that of the bond as if it were paid at the end. */
function nextSpread({ row, target, last: [spread, excess], before }: Search): number {
  if (excess === 0) return spread;
  if (before === undefined) return Math.log1p(excess / target) / row.trade.expiry;
  const slope = (excess - before[1]) / (spread - before[0]);
  return slope < 0 ? spread - excess / slope : Number.NaN;
}
