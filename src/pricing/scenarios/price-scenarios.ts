/** Prices trades under named scenarios: each trade once for each cell of the factors on which it depends. */
import { BookError, SpecError } from "../../base/errors.ts";
import { EventLoopYielder } from "../../base/event-loop.ts";
import type { AnyTrade, ParsedTrade, ScenarioTable } from "../../book/index.ts";
import { kindOf } from "../kinds.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";
import { type CellsOfTrade, factorMoves, factorsOf } from "./cells.ts";
import { CopyQueue } from "./copies.ts";
import { CubeBuilder, type ScenarioCube } from "./cube.ts";
import { NodeQueue, type NodeTrade } from "./at-nodes.ts";
import { nodesOf, NodeValues } from "./nodes.ts";
import { priceOverArrays } from "./over-arrays.ts";

/** The results of today; NaN for a trade without one. */
export interface Today {
  readonly values: Float64Array;
  readonly errors: Float64Array;
  /**
   * The accuracy of the method of each trade by default, relative to the spot; NaN for a method whose solutions do not
   * have the values at all spots.
   */
  readonly accuracies: Float64Array;
  /** The method of each trade, as its result names it. */
  readonly methods: readonly (string | undefined)[];
}

/** The trades of a batch with their results today, and how they are priced. */
export interface ScenarioBatch {
  readonly trades: readonly ParsedTrade[];
  /** The values of today, and their error estimates; NaN for a trade without a result. */
  readonly today: Today;
  /** The index of the first trade in the run. */
  readonly firstIndex: number;
  readonly table: ScenarioTable;
  readonly setting: BatchSetting;
}

/** The methods, as results name them, that price cells over arrays. */
const OVER_ARRAYS: readonly (string | undefined)[] = ["black-scholes", "heston", "integral"];

/**
 * Prices the trades of a batch under all scenarios of a table. Cells whose method computes them from a few numbers are
 * priced over arrays. Others that differ in spots alone are read from one solution where a method has them all. @throws
 * the signal's reason; the error of a lost device
 */
export async function priceScenarios(batch: ScenarioBatch): Promise<ScenarioCube> {
  const { trades, table, today, firstIndex, setting } = batch;
  const moves = factorMoves(table);
  const cube = new CubeBuilder(trades.length, today, table.names.length);
  const yielder = new EventLoopYielder(setting.signal);
  const queue = new CopyQueue(setting);
  const accuracyOf = (place: number): number => setting.accuracy ?? today.accuracies[place];
  const addCells = async ({ trade, kind, place, index, cells, factors }: CellsOfTrade, wanted: readonly number[]) => {
    const isShared = wanted.length > 1;
    const scenarios = wanted.map((cell) => cells.scenarios[cell]);
    const values = cube.valuesOf(place, wanted);
    let moved: AnyTrade | undefined;
    try {
      moved = kind.inMarket(trade, moves.market(scenarios[0], isShared));
    } catch (error) {
      if (!(error instanceof BookError || error instanceof SpecError)) throw error;
      values.warn(error.message);
      return;
    }
    const spots = isShared ? moves.spots(factors, scenarios) : undefined;
    if (moved === undefined) values.set(new Float64Array(wanted.length), 0);
    else await queue.add({ parsed: { ok: true, trade: moved, index }, spots, values });
  };
  /** Adds the copies of a trade at the nodes that are wanted next. @returns false where none are */
  const addNodes = async ({ trade, kind, index }: CellsOfTrade, found: NodeValues): Promise<boolean> => {
    const { nodes } = found;
    const wanted = found.wanted();
    for (const node of wanted) {
      const copy = { ok: true, trade: kind.inMarket(trade, nodes.market(node))!, index } as const;
      await queue.add({ parsed: copy, spots: nodes.spots, values: found.at(node) });
    }
    return wanted.length > 0;
  };
  const nodeQueue = new NodeQueue(setting);
  const addTrade = async (priced: CellsOfTrade): Promise<void> => {
    const { trade, kind, place, cells, factors } = priced;
    const isShared = kind.sharesSpots === true && !isSettled(trade);
    const isRead = isShared && !Number.isNaN(today.accuracies[place]);
    const nodes = isRead ? nodesOf(moves, cells, factors, accuracyOf(place)) : undefined;
    const copy = nodes && kind.inMarket(trade, nodes.market(0));
    if (nodes !== undefined && copy !== undefined) {
      const tolerance = accuracyOf(place) * spotOf(trade);
      await nodeQueue.add({ copy, priced, found: new NodeValues(nodes, tolerance, true) });
      return;
    }
    const groups = isShared ? cells.bySpots : [...cells.scenarios.keys()].map((cell) => [cell]);
    await queue.makeRoom(groups.filter(({ length }) => length === 1).length);
    for (const group of groups) await addCells(priced, group);
  };
  const overArrays: CellsOfTrade[] = [];
  for (const [place, parsed] of trades.entries()) {
    if (!parsed.ok || Number.isNaN(today.values[place])) continue;
    if (yielder.isDue) await yielder.yieldNow();
    const { trade } = parsed;
    const kind = kindOf(trade);
    const factors = factorsOf(kind, trade);
    const cells = moves.cells(factors);
    cube.begin(place, cells);
    const priced = { trade, kind, place, index: parsed.index ?? firstIndex + place, cells, factors };
    if (OVER_ARRAYS.includes(today.methods[place]) && cells.isParallel && !isSettled(trade)) overArrays.push(priced);
    else await addTrade(priced);
  }
  for (const [priced, cells] of await priceOverArrays(overArrays, moves, cube, setting))
    if (cells.length === priced.cells.scenarios.length) await addTrade(priced);
    else for (const cell of cells) await addCells(priced, [cell]);
  await nodeQueue.price();
  const atNodes: Pick<NodeTrade, "priced" | "found">[] = [...nodeQueue.solved];
  let going = nodeQueue.left.map(({ priced, found }) => ({ priced, found: found.apart() }));
  while (going.length > 0) {
    const next: typeof going = [];
    for (const one of going)
      if (await addNodes(one.priced, one.found)) next.push(one);
      else atNodes.push(one);
    await queue.price();
    going = next;
  }
  await queue.price();
  for (const { priced, found } of atNodes) {
    const { place, trade } = priced;
    const made = found.read();
    const tolerance = accuracyOf(place) * spotOf(trade);
    for (const [k, cell] of found.nodes.cells.entries())
      if (made !== undefined && made.missed[k] <= tolerance) cube.set(place, cell, made.values[k], made.errors[k]);
      else await addCells(priced, [cell]);
    for (const text of found.warnings) cube.warn(place, found.nodes.cells, text);
  }
  await queue.price();
  return cube.cube();
}

/** Returns the largest spot of a trade. */
function spotOf(trade: AnyTrade): number {
  if (!("underlying" in trade)) return 0;
  const assets = ("assets" in trade ? trade.assets : undefined) ?? [trade];
  return Math.max(...assets.map(({ underlying }) => underlying.spot));
}

/** Tells whether a trade is paid in a way of its own, on which all of its numbers depend. */
const isSettled = (trade: AnyTrade): boolean => "settlement" in trade && trade.settlement !== undefined;
