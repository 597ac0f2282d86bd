/** Values of a trade under many joint moves of its market, interpolated from those under a few. */

import { SPOT_POINTS, type SpotReading } from "./spot-grid.ts";

/** Values under all scenarios, with estimates of their errors. */
export interface JointValues {
  readonly values: Float64Array;
  readonly errors: Float64Array;
  /** The part of each error that is the interpolation's. */
  readonly missed: Float64Array;
}

/**
 * What an error may be beside the last level's correction of the value: this part of the trade's largest correction.
 * Where early exercise begins, the second derivative jumps, a level divides errors by 4 or less, and the correction of
 * a value may be 0 by chance.
 */
const OF_LARGEST = 0.5;

/** Returns what a level of an input counts in the sum of the levels of a grid. */
export type LevelCosts = (level: number) => number;

/** The costs of levels that count as they are. */
export const EVEN: LevelCosts = (level) => level;

/**
 * The moves under which a trade is priced, and the values under all scenarios made from these.
 *
 * The nodes are Smolyak's sparse grid of level L: the tensor products of one-dimensional grids whose levels sum to L at
 * most. A one-dimensional grid of level l > 0 has 2ˡ + 1 Chebyshev points of the second kind between the smallest and
 * the largest move, and is interpolated by the barycentric formula. Two inputs take 13, 29 and 65 nodes on levels 2, 3
 * and 4. A solution serves any spot, so that a trade under a thousand scenarios costs as many solutions as nodes.
 *
 * The levels of an input in which values are flatter may count more in that sum (`costs`): two inputs then take 19 or
 * 21 nodes on level 3, which are among the 29.
 *
 * The estimate of a value's error is that of the values at nodes, and what the last level has changed.
 *
 * Sources: Barthelmann, Novak & Ritter, Advances in Computational Mathematics 12 (2000); Berrut & Trefethen, SIAM
 * Review 46 (2004). Verified: test/pricing/scenarios.
 */
export class JointInterpolation {
  /** The moves of the inputs at each node. */
  readonly nodes: readonly (readonly number[])[];
  /** The numbers of the node in the centre, then of those with the lowest and the highest move of one input each. */
  readonly extremes: readonly number[];
  readonly #scenarios: number;
  /** The weights [scenario][node] of values, and of the correction by the last level. */
  readonly #weights: Float64Array;
  readonly #correction: Float64Array;

  /** `inputs` are the moves of each input under all scenarios. */
  constructor(inputs: readonly Float64Array[], level: number, costs: readonly LevelCosts[] = inputs.map(() => EVEN)) {
    const scenarios = inputs[0].length;
    const axes = inputs.map((moves) => new Axis(moves, level));
    const places = new Map<string, number>();
    const nodes: (readonly number[])[] = [];
    const grids = gridsOf(axes, level, costs);
    for (const { levels } of grids)
      forEachNode(axes, levels, (at) => {
        const key = at.join();
        if (places.has(key)) return;
        places.set(key, nodes.length);
        nodes.push(at.map((n, d) => axes[d].nodes[n]));
      });
    this.nodes = nodes;
    const centre = axes.map(({ nodes: own }) => (own.length - 1) / 2);
    const ends = axes.flatMap(({ nodes: own }, d) => [0, own.length - 1].map((n) => centre.with(d, n)));
    this.extremes = [centre, ...ends].map((at) => places.get(at.join())!);
    this.#scenarios = scenarios;
    this.#weights = new Float64Array(nodes.length * scenarios);
    this.#correction = new Float64Array(nodes.length * scenarios);
    for (const { levels, factor, before } of grids)
      if (factor !== 0 || before !== 0)
        forEachNode(axes, levels, (at) => {
          const node = places.get(at.join())!;
          const columns = at.map((n, d) => axes[d].weightsAt(levels[d], n));
          for (let k = 0; k < scenarios; k++) {
            let weight = 1;
            for (const column of columns) weight *= column[k];
            this.#weights[k * nodes.length + node] += factor * weight;
            this.#correction[k * nodes.length + node] += (factor - before) * weight;
          }
        });
  }

  /**
   * Makes the values under all scenarios from those at nodes, [spot][node], and the error estimates of these. A single
   * estimate is that of values of one scheme, wherever they are: a scenario's differs from them by what is missed in
   * between alone. `spots` says which spots make the value of a scenario, and `beside` is what each value may miss
   * besides.
   *
   * Cost: a multiplication for each scenario, point and node, and two for each scenario and node.
   */
  read(values: Float64Array, estimates: Float64Array | number, spots: SpotReading, beside = 0): JointValues {
    const scenarios = this.#scenarios;
    const nodes = this.nodes.length;
    const made: JointValues = {
      values: new Float64Array(scenarios),
      errors: new Float64Array(scenarios),
      missed: new Float64Array(scenarios),
    };
    const missedAt = missedOf(values, nodes, spots);
    // What is nowhere below 0 at nodes is so in between.
    const isPositive = values.every((value) => value >= 0);
    const atSpot = new Float64Array(nodes);
    let largest = 0;
    for (let k = 0; k < scenarios; k++) {
      readSpot(k, values, spots, atSpot);
      const size = this.#readOne(k, atSpot, isPositive, made);
      made.missed[k] += missedAt(k);
      made.errors[k] = typeof estimates === "number" ? estimates : this.#errorOf(k, estimates);
      // A value that is missing at a node is so for its scenario alone.
      if (size > largest) largest = size;
    }
    for (let k = 0; k < scenarios; k++) {
      made.missed[k] += OF_LARGEST * largest + beside;
      made.errors[k] += made.missed[k];
    }
    return made;
  }

  /** Makes the value under one scenario from those at nodes, and returns the size of its correction. */
  #readOne(k: number, atSpot: Float64Array, isPositive: boolean, made: JointValues): number {
    const nodes = atSpot.length;
    const [weights, correction] = [this.#weights, this.#correction];
    let value = 0;
    let corrected = 0;
    for (let node = 0, own = k * nodes; node < nodes; node++, own++) {
      const one = atSpot[node];
      value += weights[own] * one;
      corrected += correction[own] * one;
    }
    const below = isPositive ? Math.max(-value, 0) : 0;
    made.values[k] = value + below;
    made.missed[k] = Math.abs(corrected) + below;
    return Math.abs(corrected);
  }

  #errorOf(k: number, estimates: Float64Array): number {
    const own = k * estimates.length;
    return estimates.reduce((sum, estimate, node) => sum + Math.abs(this.#weights[own + node]) * estimate, 0);
  }
}

/** Reads the values of all nodes at the spot of a scenario. */
function readSpot(
  k: number,
  values: Float64Array,
  { points, first, weights }: SpotReading,
  atSpot: Float64Array,
): void {
  const nodes = atSpot.length;
  const from = first[k] * nodes;
  const weight = weights[k * points];
  for (let node = 0; node < nodes; node++) atSpot[node] = weight * values[from + node];
  for (let i = 1; i < points; i++) {
    const [next, at] = [weights[k * points + i], from + i * nodes];
    for (let node = 0; node < nodes; node++) atSpot[node] += next * values[at + node];
  }
}

/**
 * Returns the function of a scenario for what reading at its spot may miss, on a grid of spots. The largest differences
 * of the nodes stand for those of the scenario's value.
 */
function missedOf(values: Float64Array, nodes: number, spots: SpotReading): (k: number) => number {
  const { points, first, missed } = spots;
  if (points !== SPOT_POINTS) return () => 0;
  const count = values.length / nodes;
  const [fourth, fifth] = [new Float64Array(count), new Float64Array(count)];
  for (let spot = 0; spot + 4 < count; spot++)
    for (let node = 0; node < nodes; node++) {
      const at = spot * nodes + node;
      const one = fourthDifference(values, at, nodes);
      fourth[spot] = Math.max(fourth[spot], Math.abs(one));
      // Polynomials of degree 3 and 5 are both half of a jump between the two points in the middle of six, so that
      // their difference does not see it; the fifth difference is ten times the jump.
      if (spot + 5 < count)
        fifth[spot] = Math.max(fifth[spot], Math.abs(fourthDifference(values, at + nodes, nodes) - one) / 6);
    }
  // Weights under which cubics vanish are the first times the fourth difference and the last times the next one.
  return (k) => {
    const [a, b] = [Math.abs(missed[k * points]), Math.abs(missed[k * points + points - 1])];
    return Math.max(a * fourth[first[k]] + b * fourth[first[k] + 1], fifth[first[k]]);
  };
}

const fourthDifference = (values: Float64Array, at: number, step: number): number =>
  values[at] - 4 * (values[at + step] + values[at + 3 * step]) + 6 * values[at + 2 * step] + values[at + 4 * step];

/** The nested grids of one input's moves. */
class Axis {
  /** The levels above 0 that there are: none for an input that every scenario moves by the same. */
  readonly levels: number;
  /** The points of the finest grid, ascending. */
  readonly nodes: Float64Array;
  readonly #moves: Float64Array;
  readonly #weights = new Map<number, Float64Array[]>();

  constructor(moves: Float64Array, level: number) {
    const [low, high] = [moves.reduce((a, b) => Math.min(a, b)), moves.reduce((a, b) => Math.max(a, b))];
    this.#moves = moves;
    this.levels = low === high ? 0 : level;
    const intervals = this.levels === 0 ? 0 : 2 ** this.levels;
    const [centre, half] = [0.5 * (low + high), 0.5 * (high - low)];
    this.nodes = Float64Array.from({ length: intervals + 1 }, (_, n) =>
      2 * n === intervals ? centre : centre - half * Math.cos((Math.PI * n) / intervals),
    );
  }

  /** Returns the indices of a level's points among those of the finest. */
  indices(level: number): readonly number[] {
    const last = this.nodes.length - 1;
    if (level === 0) return [last / 2];
    return Array.from({ length: 2 ** level + 1 }, (_, n) => (n * last) / 2 ** level);
  }

  /** Returns the weights, by scenario, of a level's value at the point with index `n` among those of the finest. */
  weightsAt(level: number, n: number): Float64Array {
    let columns = this.#weights.get(level);
    if (columns === undefined) this.#weights.set(level, (columns = this.#interpolate(this.indices(level))));
    return columns[this.indices(level).indexOf(n)];
  }

  #interpolate(indices: readonly number[]): Float64Array[] {
    const last = indices.length - 1;
    const columns = indices.map(() => new Float64Array(this.#moves.length));
    this.#moves.forEach((move, k) => {
      const hit = indices.findIndex((n) => this.nodes[n] === move);
      if (last === 0 || hit >= 0) {
        columns[Math.max(hit, 0)][k] = 1;
        return;
      }
      let sum = 0;
      indices.forEach((n, i) => {
        const weight = ((i % 2 === 0 ? 1 : -1) * (i === 0 || i === last ? 0.5 : 1)) / (move - this.nodes[n]);
        columns[i][k] = weight;
        sum += weight;
      });
      for (const column of columns) column[k] /= sum;
    });
    return columns;
  }
}

/** A tensor product of grids, with its factor in the combination of a sparse grid and in that of the level before. */
interface Grid {
  readonly levels: readonly number[];
  readonly factor: number;
  readonly before: number;
}

function gridsOf(axes: readonly Axis[], level: number, costs: readonly LevelCosts[]): readonly Grid[] {
  const all = axes.reduce<readonly (readonly number[])[]>(
    (made, axis) => made.flatMap((levels) => Array.from({ length: axis.levels + 1 }, (_, l) => [...levels, l])),
    [[]],
  );
  const isIn = (levels: readonly number[], most: number): boolean =>
    levels.every((l, d) => l <= axes[d].levels) && levels.reduce((sum, l, d) => sum + costs[d](l), 0) <= most;
  // The combination technique: Σ (−1)^|z| over the corners z ∈ {0, 1}^d for which levels + z is in the set.
  const factorOf = (levels: readonly number[], most: number): number => {
    let factor = 0;
    for (let corner = 0; corner < 2 ** axes.length; corner++) {
      const bits = axes.map((_, d) => Math.floor(corner / 2 ** d) % 2);
      const moved = levels.map((l, d) => l + bits[d]);
      if (isIn(moved, most)) factor += bits.reduce((a, b) => a + b, 0) % 2 === 0 ? 1 : -1;
    }
    return factor;
  };
  return all
    .filter((levels) => isIn(levels, level))
    .map((levels) => ({ levels, factor: factorOf(levels, level), before: factorOf(levels, level - 1) }));
}

function forEachNode(
  axes: readonly Axis[],
  levels: readonly number[],
  visit: (at: readonly number[]) => void,
  at: readonly number[] = [],
): void {
  if (at.length === axes.length) visit(at);
  else for (const n of axes[at.length].indices(levels[at.length])) forEachNode(axes, levels, visit, [...at, n]);
}
