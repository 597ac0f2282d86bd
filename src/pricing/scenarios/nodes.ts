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

/** The finest level to which nodes are added where values are missed. */
const FINEST = 5;

/** The nodes from which values are interpolated. */
interface Chosen {
  readonly interpolation: JointInterpolation;
  /** Its nodes by their numbers among all of the cells. */
  readonly nodes: readonly number[];
}

/** The nodes of some cells of equal date, which differ in spots and in other factors. */
export class ScenarioNodes {
  /** The cells whose values are interpolated. */
  readonly cells: readonly number[];
  /** The moves of spots at which the markets' solutions are read. */
  readonly spots: SpotMoves;
  /** The number of spots at which a solution is read. */
  readonly count: number;
  /** The level with which a trade begins. */
  readonly level: number;
  readonly #given: Inputs;
  /** The choices by their level and the costs of the inputs' levels. */
  readonly #choices = new Map<string, Chosen>();
  readonly #markets: MovedMarket[] = [];
  readonly #moves: (readonly number[])[] = [];
  /** The numbers of the markets by the moves of their inputs. */
  readonly #numbers = new Map<string, number>();
  readonly #reading: SpotReading;

  private constructor(cells: readonly number[], spots: SpotMoves, level: number, given: Inputs) {
    this.cells = cells;
    this.level = level;
    this.#given = given;
    const [[name, moves] = ["", new Float64Array(1)], ...others] = spots;
    const grid = others.length === 0 ? spotGrid(moves) : undefined;
    this.#reading = grid ?? ownSpots(cells.length);
    this.spots = grid === undefined ? spots : new Map([[name, grid.moves]]);
    this.count = grid?.moves.length ?? cells.length;
  }

  /** Returns the market of a node; that of number 0 is in the centre of all. */
  market(node: number): MovedMarket {
    return this.#markets[node];
  }

  /** Returns the place of a node in the range of each factor, from −1 at the lowest move to 1 at the highest. */
  placeOf(node: number): readonly number[] {
    const [centre, ...ends] = this.first.map((one) => this.#moves[one]);
    return centre.map((_, d) => {
      const [low, high] = [ends[2 * d][d], ends[2 * d + 1][d]];
      return (2 * this.#moves[node][d] - low - high) / (high - low);
    });
  }

  /** The nodes in the centre of all, and at the lowest and the highest move of each factor. */
  get first(): readonly number[] {
    const { interpolation, nodes } = this.choiceOf(this.level, this.evenCosts);
    return interpolation.extremes.map((at) => nodes[at]);
  }

  /** The costs of levels that are the same for all factors. */
  get evenCosts(): readonly LevelCosts[] {
    return this.#given.columns.map(() => EVEN);
  }

  /**
   * Chooses the costs of levels for a trade, given its values at the `first` nodes [node][spot]: a factor in which
   * these are flat against `tolerance` takes fewer. Also returns what its values may then miss.
   */
  costsFor(
    first: readonly ArrayLike<number>[],
    tolerance: number,
  ): { readonly costs: readonly LevelCosts[]; readonly missed: number } {
    const [centre, ...ends] = first;
    const curvatures = this.#given.columns.map((_, d) => {
      const [low, high] = ends.slice(2 * d, 2 * d + 2);
      let most = 0;
      for (let s = 0; s < centre.length; s++) most = Math.max(most, Math.abs(0.5 * (low[s] + high[s]) - centre[s]));
      return most;
    });
    // One factor keeps its levels, so that the last one tells an error.
    const most = curvatures.indexOf(Math.max(...curvatures));
    const costs = curvatures.map((curvature, d) => {
      if (this.level < LEVEL || d === most || curvature > NEARLY * tolerance) return EVEN;
      return curvature > tolerance ? NEARLY_FLAT : FLAT;
    });
    const missed = curvatures.reduce((sum, one, d) => (costs[d] === FLAT ? sum + OF_CURVATURE * one : sum), 0);
    return { costs, missed };
  }

  /** Returns the nodes of a level with some costs, which are made once. */
  choiceOf(level: number, costs: readonly LevelCosts[]): Chosen {
    const key = `${level} ${costs.map((cost) => [EVEN, NEARLY_FLAT, FLAT].indexOf(cost)).join()}`;
    let choice = this.#choices.get(key);
    if (choice === undefined) {
      const { columns, marketAt } = this.#given;
      const interpolation = new JointInterpolation(columns, level, costs);
      const nodes = interpolation.nodes.map((at) => {
        const moves = at.join();
        let number = this.#numbers.get(moves);
        if (number === undefined) {
          this.#numbers.set(moves, (number = this.#markets.push(marketAt(at)) - 1));
          this.#moves.push(at);
        }
        return number;
      });
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
    const moved = others.filter((_, i) => isMoved[i]);
    const marketAt = (at: readonly number[]): MovedMarket => {
      const by = new Map(moved.map((factor, i) => [factorKey(factor), at[i]]));
      return new MovedMarket(date, { ...STILL, by: (kind, of) => by.get(factorKey({ kind, of })) ?? 0 });
    };
    const made = new ScenarioNodes(cells, moves.spots(factors, scenarios), level, { columns: inputs, marketAt });
    const { nodes } = made.choiceOf(level, made.evenCosts);
    return nodes.length * WORTH > bySpots.length ? undefined : made;
  }

  /**
   * Makes the values of all cells from those at chosen nodes, [spot][node], and their error estimates, or one for all.
   * `missed` is what each may miss besides.
   */
  read({ interpolation }: Chosen, values: Float64Array, estimates: Float64Array | number, missed: number): JointValues {
    return interpolation.read(values, estimates, this.#reading, missed);
  }
}

/** The moves of the factors that nodes are made from, under all scenarios, and the market at some of these moves. */
interface Inputs {
  readonly columns: readonly Float64Array[];
  readonly marketAt: (moves: readonly number[]) => MovedMarket;
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
  /** What interpolation may miss, in the currency. */
  readonly #tolerance: number;
  #costs: readonly LevelCosts[];
  #level: number;
  /** True while only the first nodes are wanted. */
  #isFirst: boolean;
  /** True where the values at nodes are of one scheme. */
  readonly #isShared: boolean;
  #beside = 0;
  #made: JointValues | undefined;
  readonly #asked = new Set<number>();
  readonly #values = new Map<number, ArrayLike<number>>();
  readonly #estimates = new Map<number, number>();
  readonly #warnings = new Set<string>();

  /**
   * Begins without values. Where those at nodes are of one scheme (`isShared`), the values at the first ones choose the
   * others.
   */
  constructor(nodes: ScenarioNodes, tolerance: number, isShared: boolean) {
    this.nodes = nodes;
    this.#tolerance = tolerance;
    this.#isShared = this.#isFirst = isShared;
    this.#level = nodes.level;
    this.#costs = nodes.evenCosts;
  }

  /** Returns the values at the same nodes, to be found by schemes of their own. */
  apart(): NodeValues {
    return new NodeValues(this.nodes, this.#tolerance, false);
  }

  /** Returns what takes the values at a node. */
  at(node: number): CopyValues {
    return {
      count: this.nodes.count,
      set: (values, error) => this.set(node, values, error),
      warn: (text) => this.#warnings.add(text),
    };
  }

  /** Takes the values at a node, which are kept. */
  set(node: number, values: ArrayLike<number>, error: number): void {
    this.#values.set(node, values);
    this.#estimates.set(node, error);
  }

  get warnings(): ReadonlySet<string> {
    return this.#warnings;
  }

  /**
   * Returns the nodes whose values are wanted next, once all before them have arrived: at first those of the level,
   * then those of finer ones while most cells miss more than the tolerance; none where values are as good as they get.
   */
  wanted(): readonly number[] {
    const next = this.#next();
    // One without values is not asked for again.
    for (const node of next) this.#asked.add(node);
    return next;
  }

  #next(): readonly number[] {
    if (this.#isFirst && this.#asked.size === 0) return this.nodes.first;
    if (this.#isFirst) {
      this.#isFirst = false;
      const first = this.nodes.first.map((node) => this.#values.get(node)!);
      const { costs, missed } = this.nodes.costsFor(first, this.#tolerance);
      this.#costs = costs;
      this.#beside = missed;
    }
    const further = this.#further(this.#level);
    if (further.length > 0 || this.#level === FINEST) return further;
    const missed = this.read()?.missed.reduce((count, one) => (one <= this.#tolerance ? count : count + 1), 0) ?? 0;
    const finer = this.#further(this.#level + 1);
    if (finer.length * WORTH >= missed) return [];
    this.#level++;
    this.#made = undefined;
    return finer;
  }

  #further(level: number): readonly number[] {
    return this.nodes.choiceOf(level, this.#costs).nodes.filter((node) => !this.#asked.has(node));
  }

  /** Returns the values of all cells; undefined where one at a node is missing. */
  read(): JointValues | undefined {
    return (this.#made ??= this.#read());
  }

  #read(): JointValues | undefined {
    const chosen = this.nodes.choiceOf(this.#level, this.#costs);
    const { nodes } = chosen;
    const estimates = Float64Array.from(nodes, (node) => this.#estimates.get(node) ?? Number.NaN);
    const largest = estimates.reduce((a, b) => Math.max(a, b), 0);
    if (Number.isNaN(largest)) return undefined;
    const values = new Float64Array(this.nodes.count * nodes.length);
    for (const [place, node] of nodes.entries()) {
      const own = this.#values.get(node)!;
      for (let k = 0; k < own.length; k++) values[k * nodes.length + place] = own[k];
    }
    return this.nodes.read(chosen, values, this.#isShared ? largest : estimates, this.#beside);
  }
}
