/** Cells of trades whose methods price them from a few numbers each: columns of moves, no copy of a trade. */
import type { ParsedTrade } from "../../book/index.ts";
import { ScenarioCases } from "../columns/result-columns.ts";
import { TradeColumns } from "../columns/trade-columns.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";
import type { TradeCells } from "../plan/cells.ts";
import { methodFor } from "../plan/kind.ts";
import { type Batch, type PricingMethod, TimeBudget } from "../plan/method.ts";
import { MovedMarket, STILL } from "../plan/moved-market.ts";
import { refuseDoubts } from "../term-warnings.ts";
import { RowProblems } from "../trade-problem.ts";
import { boundCells } from "./cell-bounds.ts";
import type { CellsOfTrade, FactorMoves } from "./cells.ts";
import type { CubeBuilder } from "./cube.ts";

/** The cells that are priced together at most. */
const MOST = 1 << 17;

/** The trades with cells that have no value yet, and these cells. */
export type CellsLeft = Map<CellsOfTrade, number[]>;

const leave = (left: CellsLeft, of: CellsOfTrade, cells: readonly number[]): void => {
  left.set(of, [...(left.get(of) ?? []), ...cells]);
};

/** A trade at the date of some of its cells. */
interface Dated {
  readonly of: CellsOfTrade;
  readonly parsed: ParsedTrade & { readonly ok: true };
  readonly cells: readonly number[];
}

/**
 * Prices the cells of those trades whose methods do that over arrays, and returns the trades that are left, each with
 * the cells that have no value yet. @throws the signal's reason; the error of a lost device
 */
export async function priceOverArrays(
  trades: readonly CellsOfTrade[],
  moves: FactorMoves,
  cube: CubeBuilder,
  setting: BatchSetting,
): Promise<CellsLeft> {
  const left: CellsLeft = new Map();
  const markets = new Map<number, MovedMarket>();
  let waiting: Dated[] = [];
  let count = 0;
  const price = async (): Promise<void> => {
    const some = waiting;
    [waiting, count] = [[], 0];
    if (some.length > 0) await priceDated(some, { moves, cube, setting, left });
  };
  for (const of of trades)
    for (const { years, cells } of of.cells.byDate) {
      if (!markets.has(years)) markets.set(years, new MovedMarket(years, STILL));
      const trade = of.kind.inMarket(of.trade, markets.get(years)!);
      if (trade === undefined) leave(left, of, cells);
      else waiting.push({ of, parsed: { ok: true, trade, index: of.index }, cells });
      count += cells.length;
      if (count >= MOST) await price();
    }
  await price();
  return left;
}

/** What cells are priced with, and where they go. */
interface Pricing {
  readonly moves: FactorMoves;
  readonly cube: CubeBuilder;
  readonly setting: BatchSetting;
  readonly left: CellsLeft;
}

async function priceDated(all: readonly Dated[], { moves, cube, setting, left }: Pricing): Promise<void> {
  const { engine, signal } = setting;
  const columns = new TradeColumns(
    all.map(({ parsed }) => parsed),
    new ScenarioCases(undefined),
  );
  const batch: Batch = {
    columns,
    problems: new RowProblems(columns),
    settings: setting,
    budget: new TimeBudget(undefined),
    precision: engine.precision,
  };
  const found = new Map<PricingMethod, TradeCells[]>();
  all.forEach((one, trade) => {
    const method = methodOf(batch, trade, one);
    if (method === undefined) {
      leave(left, one.of, one.cells);
      return;
    }
    const own: TradeCells = {
      trade,
      moves: moves.cellMoves(one.of.cells, one.cells, columns.tradeOf(trade).underlying),
      values: new Float64Array(one.cells.length),
      errors: new Float64Array(one.cells.length),
    };
    if (!found.has(method)) found.set(method, []);
    found.get(method)!.push(own);
  });
  await engine.withSessions(async (sessionOf) => {
    for (const [method, cells] of found) await sessionOf(method).priceCells!(batch, cells, signal);
  });
  for (const own of [...found.values()].flat()) {
    const { trade, values, errors } = own;
    boundCells(batch, own);
    const { of, cells } = all[trade];
    const missed: number[] = [];
    for (let k = 0; k < cells.length; k++)
      if (Number.isFinite(values[k])) cube.set(of.place, cells[k], values[k], errors[k]);
      else missed.push(cells[k]);
    if (missed.length > 0) leave(left, of, missed);
  }
}

/** Returns the method of a trade if it prices cells over arrays. */
function methodOf(batch: Batch, trade: number, { of: { kind }, parsed }: Dated): PricingMethod | undefined {
  try {
    if (batch.settings.strict) refuseDoubts(kind.doubts(parsed.trade));
    kind.add(batch, trade, parsed.trade);
    const method = methodFor(kind, batch, trade);
    return method.pricesCells?.(batch, trade) === true ? method : undefined;
  } catch {
    return undefined; // What is wrong is said by each cell that is priced as a trade of its own.
  }
}
