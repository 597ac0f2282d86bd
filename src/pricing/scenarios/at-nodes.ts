/** Trades that are priced at nodes as cases of one trade, many of them together. */
import type { AnyTrade, ParsedTrade, Trade } from "../../book/index.ts";
import type { Opens } from "../backend.ts";
import { ScenarioCases } from "../columns/result-columns.ts";
import { TradeColumns } from "../columns/trade-columns.ts";
import { boundsOf } from "../guard/option-bounds.ts";
import { adi } from "../methods/adi/adi.ts";
import { adiAtNodes } from "../methods/adi/at-nodes.ts";
import { fdmAtNodes } from "../methods/fdm/at-nodes.ts";
import { fdm } from "../methods/fdm/fdm.ts";
import { integral } from "../methods/integral/integral.ts";
import type { NodeSolver, TradeAtNodes } from "../plan/at-nodes.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";
import { distanceFromRange, methodFor } from "../plan/kind.ts";
import { type Batch, roundingError, TimeBudget } from "../plan/method.ts";
import { termsOf } from "../terms.ts";
import { RowProblems } from "../trade-problem.ts";
import { axesOf, SpotGroups } from "./copies.ts";
import type { CellsOfTrade } from "./cells.ts";
import type { NodeValues } from "./nodes.ts";

/** A trade that waits to be priced at nodes. */
export interface NodeTrade {
  /** The trade in the market of the first of its nodes. */
  readonly copy: AnyTrade;
  readonly priced: CellsOfTrade;
  readonly found: NodeValues;
}

/** The most trades that are priced together. */
const MAX_TRADES = 256;

/** The methods that price trades at nodes. */
const SOLVERS: Readonly<Record<"fdm" | "adi", Opens<NodeSolver>>> = { fdm: fdmAtNodes, adi: adiAtNodes };

/** Options on one underlying, whose spot does not differ from node to node. */
type Single = Trade & { readonly kind?: undefined };

/** Trades that wait to be priced at their nodes, with those whose solutions are read at the same moves of spots. */
export class NodeQueue {
  readonly #setting: BatchSetting;
  readonly #groups = new SpotGroups<NodeTrade>();
  /** The trades with values at their nodes. */
  readonly solved: NodeTrade[] = [];
  /** The trades that cannot be priced as cases of one: each of their nodes is to be priced by itself. */
  readonly left: NodeTrade[] = [];

  constructor(setting: BatchSetting) {
    const { methodOf: _, directionsOf: __, ...rest } = setting;
    this.#setting = { ...rest, greeks: "none", buckets: false, sensitivityErrorEstimates: false };
  }

  /** Adds a trade, and prices those that wait with it if they are many. @throws as `price` */
  async add(one: NodeTrade): Promise<void> {
    // With a limit of time each value stands for itself.
    if (this.#setting.timePerTrade !== undefined || !isSingle(one.copy)) {
      this.left.push(one);
      return;
    }
    const { spots, count } = one.found.nodes;
    const full = this.#groups.add(one, spots, count, MAX_TRADES);
    for (const group of full) await this.#price(group.items, group.spots, group.count);
  }

  /** Prices all trades that wait. @throws the signal's reason; the error of a lost device */
  async price(): Promise<void> {
    for (const { items, spots, count } of this.#groups.take()) await this.#price(items, spots, count);
  }

  async #price(...[trades, spots, count]: [readonly NodeTrade[], Parameters<typeof axesOf>[0], number]): Promise<void> {
    const { engine, signal } = this.#setting;
    const parsed = trades.map(({ copy, priced }): ParsedTrade => ({ ok: true, trade: copy, index: priced.index }));
    const columns = new TradeColumns(parsed, new ScenarioCases(axesOf(spots, count)));
    const batch: Batch = {
      columns,
      problems: new RowProblems(columns),
      settings: this.#setting,
      budget: new TimeBudget(undefined),
      precision: engine.precision,
    };
    const accepted = { fdm: new Array<Solved>(), adi: new Array<Solved>() };
    for (const [i, one] of trades.entries()) {
      const method = methodOf(batch, i, one);
      if (method === undefined) this.left.push(one);
      else accepted[method].push(new Solved(i, one, batch));
    }
    for (const method of ["fdm", "adi"] as const) {
      const own = accepted[method];
      const unsolved = await engine.withSessions((sessionOf) => sessionOf(SOLVERS[method]).price(batch, own, signal));
      const left = new Set(unsolved);
      for (const solved of own) (left.has(solved) || solved.isOutside ? this.left : this.solved).push(solved.one);
    }
  }
}

const isSingle = (trade: AnyTrade): trade is Single => trade.kind === undefined && trade.assets === undefined;

/**
 * Returns the method of a trade that prices it at nodes as one; undefined where there is none. Finite differences in
 * one factor stand in for American options by an integral equation: a boundary of exercise serves all spots of one
 * market, but a mesh serves all markets.
 */
function methodOf(
  batch: Batch,
  i: number,
  { copy, priced: { kind, index } }: NodeTrade,
): keyof typeof SOLVERS | undefined {
  batch.columns.indexInRun[i] = index;
  try {
    kind.add(batch, i, copy);
    const method = methodFor(kind, batch, i);
    const standsIn = method === integral && batch.settings.method === "auto";
    if (method === fdm || (standsIn && typeof fdm.accepts(batch, i) === "number")) return "fdm";
    return method === adi && (copy as Single).volatility.kind === "heston" ? "adi" : undefined;
  } catch {
    return undefined;
  }
}

/** A trade whose values at nodes are checked against their bounds as they arrive. */
class Solved implements TradeAtNodes {
  readonly trade: number;
  readonly one: NodeTrade;
  readonly #batch: Batch;
  #isOutside = false;

  constructor(trade: number, one: NodeTrade, batch: Batch) {
    this.trade = trade;
    this.one = one;
    this.#batch = batch;
  }

  /** True if a value has been outside of its bounds by more than its estimate. */
  get isOutside(): boolean {
    return this.#isOutside;
  }

  assetAt(node: number) {
    const { priced, found } = this.one;
    return found.nodes.market(node).asset(priced.trade as Single);
  }

  wanted(): readonly number[] {
    return this.one.found.wanted();
  }

  placeOf(node: number): readonly number[] {
    return this.one.found.nodes.placeOf(node);
  }

  /** Moves values that are outside of their bounds by no more than their estimate to these (`Guard`). */
  take(node: number, values: Float64Array, error: number): void {
    const { columns, precision } = this.#batch;
    const { copy, found } = this.one;
    const terms = termsOf({ ...(copy as Single), ...this.assetAt(node) }, 0, { volatility: 0, rate: 0 })!;
    const boundsAt = boundsOf(terms);
    const spots = [0];
    let reach = error;
    for (let k = 0; k < values.length; k++) {
      spots[0] = columns.spotAt(this.trade, k + 1);
      const range = boundsAt(spots);
      const far = distanceFromRange(range, values[k]);
      if (far === 0) continue;
      const rounding = roundingError(precision, spots[0], values[k]) + 1e-9 * (spots[0] + Math.abs(values[k]));
      if (!(far <= error + rounding)) this.#isOutside = true;
      values[k] = Math.min(Math.max(values[k], range.low), range.high);
      reach = Math.max(reach, far);
    }
    found.set(node, values, reach);
  }
}
