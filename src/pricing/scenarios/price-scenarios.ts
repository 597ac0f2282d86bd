/** Prices trades under named scenarios: each trade once for each cell of the factors on which it depends. */
import { EventLoopYielder } from "../../base/event-loop.ts";
import type { AnyTrade, ParsedTrade, ScenarioTable } from "../../book/index.ts";
import { kindOf } from "../kinds.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";
import { FactorMoves, factorsOf } from "./cells.ts";
import { CopyQueue } from "./copies.ts";
import { CubeBuilder, type ScenarioCube } from "./cube.ts";

/** The trades of a batch with their results today, and how they are priced. */
export interface ScenarioBatch {
  readonly trades: readonly ParsedTrade[];
  /** The values of today, and their error estimates; NaN for a trade without a result. */
  readonly today: { readonly values: Float64Array; readonly errors: Float64Array };
  /** The index of the first trade in the run. */
  readonly firstIndex: number;
  readonly table: ScenarioTable;
  readonly setting: BatchSetting;
}

/**
 * Prices the trades of a batch under all scenarios of a table. Cells that differ in spots alone are read from one
 * solution where a method has them all. @throws the signal's reason; the error of a lost device
 */
export async function priceScenarios(batch: ScenarioBatch): Promise<ScenarioCube> {
  const { trades, table, today, firstIndex, setting } = batch;
  const moves = new FactorMoves(table);
  const cube = new CubeBuilder(trades.length, today, table.names.length);
  const yielder = new EventLoopYielder(setting.signal);
  const alone = new CopyQueue(setting, cube, undefined);
  // Trades whose cells are those of the same scenarios are valued at their spots together.
  const queues = new Map<string, CopyQueue>();
  const queueOf = (scenarios: readonly number[]): CopyQueue => {
    const key = scenarios.join();
    let queue = queues.get(key);
    if (queue === undefined) queues.set(key, (queue = new CopyQueue(setting, cube, { moves, scenarios })));
    return queue;
  };
  for (const [place, parsed] of trades.entries()) {
    if (!parsed.ok || Number.isNaN(today.values[place])) continue;
    if (yielder.isDue) await yielder.yieldNow();
    const { trade } = parsed;
    const kind = kindOf(trade);
    const factors = factorsOf(kind, trade);
    const cells = moves.cells(factors);
    cube.begin(place, cells);
    const index = parsed.index ?? firstIndex + place;
    const add = async (queue: CopyQueue, group: readonly number[], isStill: boolean): Promise<void> => {
      const moved = kind.inMarket(trade, moves.market(cells.scenarios[group[0]], isStill));
      if (moved === undefined) for (const cell of group) cube.set(place, cell, 0, 0);
      else await queue.add({ place, cells: group, parsed: { ok: true, trade: moved, index }, factors });
    };
    for (const group of cells.bySpots)
      if (group.length > 1 && kind.sharesSpots === true && !isSettled(trade))
        await add(queueOf(group.map((cell) => cells.scenarios[cell])), group, true);
      else for (const cell of group) await add(alone, [cell], false);
  }
  await alone.price();
  for (const queue of queues.values()) await queue.price();
  return cube.cube();
}

/** Tells whether a trade is paid in a way of its own, on which all of its numbers depend. */
const isSettled = (trade: AnyTrade): boolean => "settlement" in trade && trade.settlement !== undefined;
