/** Markets in which trades are priced in place of those of many scenarios, whose values are interpolated. */
import { factorKey, type ScenarioFactor } from "../../book/index.ts";
import { MovedMarket, STILL } from "../plan/moved-market.ts";
import type { Cells, FactorMoves } from "./cells.ts";
import type { CopyValues, SpotMoves } from "./copies.ts";
import { EVEN, JointInterpolation, type JointValues, type LevelCosts } from "./interpolation.ts";
import { ownSpots, spotGrid, type SpotReading } from "./spot-grid.ts";

/** The level of the nodes, and from which relative accuracy on a level less is taken. */
const LEVEL = 3;
const COARSE = 5e-5;

/** A trade is priced at nodes if these are fewer than its markets by this factor at least. */
const WORTH = 2;

/**
 * The costs of levels in an input in which the curvature of values is below the tolerance, and in one in which it is up
 * to `NEARLY` times that. The former has level 1, a parabola, at most, and the latter level 2 where all others are 0.
 */
const FLAT: LevelCosts = (level) => (level < 2 ? level : Number.POSITIVE_INFINITY);
const NEARLY_FLAT: LevelCosts = (level) => (level < 2 ? level : 2 * level - 1);
const NEARLY = 8;

/**
 * What a value may miss, as a part of its curvature in a flat input: the third order in that input, which is not looked
 * at. It was 0.23 of it at most for 60 American options with cash dividends.
 */
const OF_CURVATURE = 0.25;

/** Nodes from which values are interpolated. */
interface Chosen {
  readonly interpolation: JointInterpolation;
  /** Its nodes by their numbers among all. */
  readonly nodes: readonly number[];
}

/** The nodes of some cells of equal date, which differ in spots and in other factors. */
export class ScenarioNodes {
  /** The cells whose values are interpolated. */
  readonly cells: readonly number[];
  readonly markets: readonly MovedMarket[];
  /** The moves of spots at which the markets' solutions are read. */
  readonly spots: SpotMoves;
  /** The number of spots at which a solution is read. */
  readonly count: number;
  readonly all: Chosen;
  readonly #inputs: readonly Float64Array[];
  readonly #level: number;
  /** The choices by the costs of the inputs' levels. */
  readonly #choices = new Map<string, Chosen>();
  readonly #reading: SpotReading;

  private constructor(
    cells: readonly number[],
    markets: readonly MovedMarket[],
    spots: SpotMoves,
    { inputs, level, interpolation }: Inputs,
  ) {
    this.cells = cells;
    this.markets = markets;
    this.all = { interpolation, nodes: [...interpolation.nodes.keys()] };
    this.#inputs = inputs;
    this.#level = level;
    const [[name, moves] = ["", new Float64Array(1)], ...others] = spots;
    const grid = others.length === 0 ? spotGrid(moves) : undefined;
    this.#reading = grid ?? ownSpots(cells.length);
    this.spots = grid === undefined ? spots : new Map([[name, grid.moves]]);
    this.count = grid?.moves.length ?? cells.length;
  }

  /** The markets in the centre of all, and at the lowest and the highest move of each factor. */
  get first(): readonly number[] {
    return this.all.interpolation.extremes;
  }

  /**
   * Chooses nodes for a trade, given its values at the `first` ones [node][spot]: fewer in a factor in which these
   * are flat against `tolerance`. Also returns what its values may then miss.
   */
  choose(first: readonly Float64Array[], tolerance: number): Chosen & { readonly missed: number } {
    const [centre, ...ends] = first;
    const curvatures = this.#inputs.map((_, d) => {
      const [low, high] = ends.slice(2 * d, 2 * d + 2);
      return centre.reduce((most, value, s) => Math.max(most, Math.abs(0.5 * (low[s] + high[s]) - value)), 0);
    });
    // One input keeps its levels, so that the last one tells an error.
    const most = curvatures.indexOf(Math.max(...curvatures));
    const costs = curvatures.map((curvature, d) =>
      this.#level < LEVEL || d === most || curvature > NEARLY * tolerance
        ? EVEN
        : curvature > tolerance
          ? NEARLY_FLAT
          : FLAT,
    );
    const missed = curvatures.reduce(
      (sum, curvature, d) => (costs[d] === FLAT ? sum + OF_CURVATURE * curvature : sum),
      0,
    );
    return { ...this.#choiceOf(costs), missed };
  }

  #choiceOf(costs: readonly LevelCosts[]): Chosen {
    if (costs.every((cost) => cost === EVEN)) return this.all;
    const key = costs.map((cost) => [EVEN, NEARLY_FLAT].indexOf(cost)).join();
    let choice = this.#choices.get(key);
    if (choice === undefined) {
      const interpolation = new JointInterpolation(this.#inputs, this.#level, costs);
      const all = this.all.interpolation.nodes.map((at) => at.join());
      const nodes = interpolation.nodes.map((at) => all.indexOf(at.join()));
      this.#choices.set(key, (choice = { interpolation, nodes }));
    }
    return choice;
  }

  /**
   * Returns the nodes of cells of equal date for trades that depend on some factors; undefined where the cells have
   * about as few markets themselves. `accuracy` is relative to the spot.
   */
  static of(
    moves: FactorMoves,
    { scenarios, bySpots, isParallel }: Cells,
    factors: ReadonlyMap<string, ScenarioFactor>,
    accuracy: number,
  ): ScenarioNodes | undefined {
    const cells = [...scenarios.keys()];
    const { years } = moves.table;
    const date = years[scenarios[0]];
    if (!isParallel || scenarios.length === 0 || scenarios.some((s) => years[s] !== date)) return undefined;
    const others = [...factors.values()].filter(({ kind }) => kind !== "spot");
    const columns = others.map((factor) => Float64Array.from(scenarios, (s) => moves.column(factor)[s]));
    const isMoved = columns.map((column) => column.some((by) => by !== 0));
    const inputs = columns.filter((_, i) => isMoved[i]);
    // Most have more inputs than nodes could serve.
    if (inputs.length === 0 || inputs.length > 3) return undefined;
    const level = accuracy >= COARSE ? LEVEL - 1 : LEVEL;
    const interpolation = new JointInterpolation(inputs, level);
    if (interpolation.nodes.length * WORTH > bySpots.length) return undefined;
    const moved = others.filter((_, i) => isMoved[i]);
    const markets = interpolation.nodes.map((at) => {
      const by = new Map(moved.map((factor, i) => [factorKey(factor), at[i]]));
      return new MovedMarket(date, { ...STILL, by: (kind, of) => by.get(factorKey({ kind, of })) ?? 0 });
    });
    return new ScenarioNodes(cells, markets, moves.spots(factors, scenarios), { inputs, level, interpolation });
  }

  /**
   * Makes the values of all cells from those at chosen nodes, [spot][node], and their error estimates, or one for all.
   * `missed` is what each may miss besides.
   */
  read({ interpolation }: Chosen, values: Float64Array, estimates: Float64Array | number, missed: number): JointValues {
    return interpolation.read(values, estimates, this.#reading, missed);
  }
}

/** The moves of factors that nodes are made from. */
interface Inputs {
  readonly inputs: readonly Float64Array[];
  readonly level: number;
  readonly interpolation: JointInterpolation;
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
  #chosen: Chosen;
  /** What values may miss besides; undefined where values at nodes are of schemes of their own. */
  #missed: number | undefined;
  /** The values [spot][node]. */
  #values: Float64Array;
  #estimates: Float64Array;
  readonly #warnings = new Set<string>();

  constructor(nodes: ScenarioNodes) {
    this.nodes = nodes;
    this.#chosen = nodes.all;
    this.#values = new Float64Array();
    this.#estimates = new Float64Array();
  }

  /** Takes the values at all nodes; those that have arrived are forgotten. */
  takeAll(): void {
    this.#begin(this.nodes.all, undefined);
  }

  /**
   * Chooses nodes by the values at the first ones (`ScenarioNodes.choose`), all of one scheme, and returns their
   * numbers.
   */
  choose(first: readonly Float64Array[], tolerance: number): readonly number[] {
    const { missed, ...chosen } = this.nodes.choose(first, tolerance);
    this.#begin(chosen, missed);
    return chosen.nodes;
  }

  #begin(chosen: Chosen, missed: number | undefined): void {
    this.#chosen = chosen;
    this.#missed = missed;
    this.#values = new Float64Array(this.nodes.count * chosen.nodes.length);
    this.#estimates = new Float64Array(chosen.nodes.length).fill(Number.NaN);
  }

  /** Returns what takes the values at a node. */
  at(node: number): CopyValues {
    return {
      count: this.nodes.count,
      set: (values, error) => this.set(node, values, error),
      warn: (text) => this.#warnings.add(text),
    };
  }

  /** Takes the values at a node. */
  set(node: number, values: ArrayLike<number>, error: number): void {
    const nodes = this.#estimates.length;
    const place = this.#chosen.nodes.indexOf(node);
    for (let k = 0; k < values.length; k++) this.#values[k * nodes + place] = values[k];
    this.#estimates[place] = error;
  }

  get warnings(): ReadonlySet<string> {
    return this.#warnings;
  }

  /** Returns the values of all cells; undefined where one at a node is missing. */
  read(): JointValues | undefined {
    const largest = this.#estimates.reduce((a, b) => Math.max(a, b), 0);
    if (this.#estimates.length === 0 || Number.isNaN(largest)) return undefined;
    const [estimates, missed] = this.#missed === undefined ? [this.#estimates, 0] : [largest, this.#missed];
    return this.nodes.read(this.#chosen, this.#values, estimates, missed);
  }
}
