/** Markets in which trades are priced in place of those of many scenarios, whose values are interpolated. */
import type { ScenarioFactor } from "../../book/index.ts";
import { MovedMarket } from "../plan/moved-market.ts";
import type { Cells, FactorMoves } from "./cells.ts";
import type { CopyValues, SpotMoves } from "./copies.ts";
import { JointInterpolation, type JointValues } from "./interpolation.ts";
import { ownSpots, spotGrid, type SpotReading } from "./spot-grid.ts";

/** The level of the nodes, and from which relative accuracy on a level less is taken. */
const LEVEL = 3;
const COARSE = 5e-5;

/** A trade is priced at nodes if these are fewer than its markets by this factor at least. */
const WORTH = 2;

/** The nodes of some cells of equal date, which differ in spots and in other factors. */
export class ScenarioNodes {
  /** The cells whose values are interpolated. */
  readonly cells: readonly number[];
  readonly markets: readonly MovedMarket[];
  /** The moves of spots at which the markets' solutions are read. */
  readonly spots: SpotMoves;
  /** The number of spots at which a solution is read. */
  readonly count: number;
  readonly #interpolation: JointInterpolation;
  readonly #reading: SpotReading;

  private constructor(
    cells: readonly number[],
    markets: readonly MovedMarket[],
    spots: SpotMoves,
    interpolation: JointInterpolation,
  ) {
    this.cells = cells;
    this.markets = markets;
    this.#interpolation = interpolation;
    const [[name, moves] = ["", new Float64Array(1)], ...others] = spots;
    const grid = others.length === 0 ? spotGrid(moves) : undefined;
    this.#reading = grid ?? ownSpots(cells.length);
    this.spots = grid === undefined ? spots : new Map([[name, grid.moves]]);
    this.count = grid?.moves.length ?? cells.length;
  }

  /**
   * Returns the nodes of cells of equal date for trades that depend on some factors; undefined where the cells have
   * about as few markets themselves. `accuracy` is relative to the spot.
   */
  static of(
    moves: FactorMoves,
    { scenarios, bySpots }: Cells,
    factors: ReadonlyMap<string, ScenarioFactor>,
    accuracy: number,
  ): ScenarioNodes | undefined {
    const cells = [...scenarios.keys()];
    const { years } = moves.table;
    const date = years[scenarios[0]];
    if (scenarios.length === 0 || scenarios.some((s) => years[s] !== date)) return undefined;
    const others = [...factors.values()].filter(({ kind }) => kind !== "spot");
    const columns = others.map((factor) => Float64Array.from(scenarios, (s) => moves.column(factor)[s]));
    const isMoved = columns.map((column) => column.some((by) => by !== 0));
    const inputs = columns.filter((_, i) => isMoved[i]);
    // Most have more inputs than nodes could serve.
    if (inputs.length === 0 || inputs.length > 3) return undefined;
    const interpolation = new JointInterpolation(inputs, accuracy >= COARSE ? LEVEL - 1 : LEVEL);
    if (interpolation.nodes.length * WORTH > bySpots.length) return undefined;
    const moved = others.filter((_, i) => isMoved[i]);
    const markets = interpolation.nodes.map((at) => {
      const by = new Map(moved.map(({ kind, of }, i) => [`${kind} ${of}`, at[i]]));
      return new MovedMarket(date, (kind, of) => by.get(`${kind} ${of}`) ?? 0);
    });
    return new ScenarioNodes(cells, markets, moves.spots(factors, scenarios), interpolation);
  }

  /** Makes the values of all cells from those at nodes, [spot][node], and their error estimates. */
  read(values: Float64Array, estimates: Float64Array): JointValues {
    return this.#interpolation.read(values, estimates, this.#reading);
  }
}

/** The nodes of cells, by accuracy. */
const known = new WeakMap<Cells, Map<number, ScenarioNodes | undefined>>();

/** Returns the nodes of cells (`ScenarioNodes.of`), made once. */
export function nodesOf(...given: Parameters<typeof ScenarioNodes.of>): ScenarioNodes | undefined {
  const [, cells, , accuracy] = given;
  let nodes = known.get(cells);
  if (nodes === undefined) known.set(cells, (nodes = new Map()));
  if (!nodes.has(accuracy)) nodes.set(accuracy, ScenarioNodes.of(...given));
  return nodes.get(accuracy);
}

/** The values of a trade at nodes, which arrive one node after another. */
export class NodeValues {
  readonly nodes: ScenarioNodes;
  /** The values [spot][node]. */
  readonly #values: Float64Array;
  readonly #estimates: Float64Array;
  readonly #warnings = new Set<string>();

  constructor(nodes: ScenarioNodes) {
    this.nodes = nodes;
    this.#values = new Float64Array(nodes.count * nodes.markets.length);
    this.#estimates = new Float64Array(nodes.markets.length).fill(Number.NaN);
  }

  /** Returns what takes the values at a node. */
  at(node: number): CopyValues {
    return {
      count: this.nodes.count,
      set: (values, error) => {
        const nodes = this.#estimates.length;
        for (let k = 0; k < values.length; k++) this.#values[k * nodes + node] = values[k];
        this.#estimates[node] = error;
      },
      warn: (text) => this.#warnings.add(text),
    };
  }

  get warnings(): ReadonlySet<string> {
    return this.#warnings;
  }

  /** Returns the values of all cells; undefined where one at a node is missing. */
  read(): JointValues | undefined {
    return this.#estimates.some((estimate) => Number.isNaN(estimate))
      ? undefined
      : this.nodes.read(this.#values, this.#estimates);
  }
}
