/** Scenarios of trades whose volatility was fitted to quotes that move with the spot. */
import {
  type AnyTrade,
  hasQuotes,
  movedUnderlying,
  type ParsedTrade,
  type PricedTrade,
  type Scenarios,
  type ScenarioTable,
  type SpotMove,
  type Trade,
  type TradeResult,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import type { Underlying } from "../market/index.ts";
import { spotMoveOf } from "./columns/result-columns.ts";
import type { Settings } from "./options.ts";
import { type PriceUnder, withSettlements } from "./settlement/index.ts";

/**
 * Prices a batch with the function `priceForms`, also options with a settlement of their own. A trade on an underlying
 * whose volatility quotes move with the spot is priced once for each spot of the scenarios, with the volatility fitted
 * to the quotes as they are at that spot.
 */
export async function underMovedQuotes(
  batch: readonly ParsedTrade[],
  firstIndex: number,
  { scenarios, greeks }: { readonly scenarios: Scenarios | undefined; readonly greeks: Settings["greeks"] },
  priceForms: PriceUnder,
): Promise<TradeResult[]> {
  const price = batch.some(isSettled) ? withSettlements(priceForms, firstIndex) : priceForms;
  const { quotes: keep = "sticky-local-volatility" } = scenarios ?? {};
  const isMoved = ({ trade }: Extract<ParsedTrade, { ok: true }>): boolean =>
    keep !== "sticky-local-volatility" && underlyingsOfTrade(trade).some(hasQuotes);
  const indexed = batch.map((parsed, i) => ({ ...parsed, index: parsed.index ?? firstIndex + i }));
  const moving = indexed.flatMap((parsed, i) => (parsed.ok && isMoved(parsed) ? [i] : []));
  if (scenarios === undefined || moving.length === 0) return price(batch, { scenarios, greeks });
  const others = indexed.flatMap((_, i) => (moving.includes(i) ? [] : [i]));
  const of = (places: readonly number[]): ParsedTrade[] => places.map((i) => indexed[i]);
  const results: TradeResult[] = [];
  const still = others.length === 0 ? [] : await price(of(others), { scenarios, greeks });
  others.forEach((place, i) => (results[place] = still[i]));
  const today = await price(of(moving), { scenarios: undefined, greeks });
  const axes = { ...scenarios, spot: [0] };
  const columns: TradeResult[][] = [];
  for (const move of scenarios.spot) {
    const trades = of(moving).map((parsed) => movedTrade(parsed, move, keep));
    columns.push(await price(trades, { scenarios: axes, greeks: "none" }));
  }
  moving.forEach((place, i) => {
    const own = today[i];
    results[place] =
      own.status === "ok"
        ? ladderOf(
            own,
            columns.map((column) => column[i]),
            scenarios,
          )
        : own;
  });
  return results;
}

/** Tells whether the scenarios of a table move quotes on which some trades depend. */
export const movesQuotes = (batch: readonly ParsedTrade[], { factors }: ScenarioTable): boolean =>
  factors.some(({ kind, at }) => kind === "skew" || (kind === "volatility" && at !== undefined)) &&
  batch.some((parsed) => parsed.ok && underlyingsOfTrade(parsed.trade).some(hasQuotes));

/** Tells whether a trade has a settlement of its own. */
const isSettled = (parsed: ParsedTrade): boolean =>
  parsed.ok && parsed.trade.kind === undefined && parsed.trade.settlement !== undefined;

function underlyingsOfTrade(trade: AnyTrade): readonly Underlying[] {
  if (!("volatility" in trade)) return [];
  return (assetsOf(trade) ?? [trade]).map(({ underlying }) => underlying);
}

/** A trade on underlyings and their volatilities. */
type OnUnderlyings = Extract<AnyTrade, { readonly volatility: unknown }>;

const assetsOf = (trade: OnUnderlyings): Trade["assets"] => ("assets" in trade ? trade.assets : undefined);

/** The trade at the moved spots; a volatility of its own stays as it is. */
function movedTrade(parsed: ParsedTrade, move: SpotMove, keep: NonNullable<Scenarios["quotes"]>): ParsedTrade {
  if (!parsed.ok) return parsed;
  const { trade } = parsed;
  if (!("volatility" in trade)) return parsed;
  type Asset = Pick<OnUnderlyings, "underlying" | "volatility">;
  const moved = ({ underlying, volatility }: Asset): Asset => {
    const then = movedUnderlying(underlying, underlying.spot * (1 + spotMoveOf(move, underlying.name)), keep);
    const isOwn = volatility !== underlying.volatility;
    return { underlying: then, volatility: isOwn ? volatility : (then.volatility ?? volatility) };
  };
  try {
    const assets = assetsOf(trade)?.map(moved);
    return { ...parsed, trade: { ...trade, ...moved(trade), ...(assets === undefined ? {} : { assets }) } };
  } catch (error) {
    if (!(error instanceof BookError)) throw error;
    return { ok: false, id: trade.id, index: parsed.index ?? 0, error };
  }
}

/** The trade's result with the values at each spot; null, with a warning, where it could not be priced. */
function ladderOf(own: PricedTrade, moved: readonly TradeResult[], { time, volatility, rate }: Scenarios): PricedTrade {
  const warnings = new Set(own.warnings);
  moved.forEach((result, s) => {
    if (result.status === "error") warnings.add(`scenarios.spot[${s}]: ${result.error.message}`);
    else for (const warning of result.warnings) warnings.add(warning);
  });
  const priced = moved.map((result) => (result.status === "ok" ? result : undefined));
  return {
    ...own,
    warnings: [...warnings],
    scenarios: time.map((_, t) =>
      priced.map((one) => volatility.map((_, v) => rate.map((_, r) => one?.scenarios?.[t][0][v][r] ?? null))),
    ),
    scenarioErrorEstimates: time.map((_, t) =>
      volatility.map((_, v) =>
        rate.map((_, r) =>
          priced.reduce<number | null>((worst, one) => {
            const estimate = one?.scenarioErrorEstimates?.[t][v][r] ?? null;
            return worst === null || estimate === null ? null : Math.max(worst, estimate);
          }, 0),
        ),
      ),
    ),
  };
}
