/** A grid of spots at which solutions are read in place of the spots of many scenarios. */

/** The step of the grid, relative to the spot, and the number of points of the polynomial at a spot. */
const STEP = 0.003;
const POINTS = 6;

/** The numbers of points of grids: few, so that trades on different underlyings are priced together. */
const COUNTS = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512];

/**
 * Moves of one spot under many scenarios, and the equidistant moves that values are read at instead. A value is that of
 * the polynomial of degree 5 through the six nearest points, and is compared with the one of degree 3 through the four
 * inner ones.
 */
export class SpotGrid {
  readonly moves: Float64Array;
  /** The index of the first point, and the weights [scenario][point] of the value and of what degree 3 misses. */
  readonly #first: Int32Array;
  readonly #weights: Float64Array;
  readonly #missed: Float64Array;

  private constructor(moves: Float64Array, given: Float64Array) {
    const count = moves.length;
    const step = (moves[count - 1] - moves[0]) / (count - 1);
    this.moves = moves;
    this.#first = new Int32Array(given.length);
    this.#weights = new Float64Array(given.length * POINTS);
    this.#missed = new Float64Array(given.length * POINTS);
    given.forEach((move, k) => {
      const place = (move - moves[0]) / step;
      const first = Math.min(Math.max(Math.floor(place) - 2, 0), count - POINTS);
      const all = lagrange(place - first, 0, POINTS);
      const inner = lagrange(place - first, 1, POINTS - 1);
      this.#first[k] = first;
      this.#weights.set(all, k * POINTS);
      this.#missed.set(
        all.map((weight, i) => weight - inner[i]),
        k * POINTS,
      );
    });
  }

  /** Returns the grid of given moves; undefined where they are about as few themselves. */
  static of(given: Float64Array): SpotGrid | undefined {
    const [low, high] = [given.reduce((a, b) => Math.min(a, b)), given.reduce((a, b) => Math.max(a, b))];
    const count = COUNTS.find((most) => most > (high - low) / STEP) ?? Number.POSITIVE_INFINITY;
    if (low === high || !(1.5 * count <= new Set(given).size)) return undefined;
    const moves = Float64Array.from({ length: count }, (_, n) => low + ((high - low) * n) / (count - 1));
    return new SpotGrid(moves, given);
  }

  /** Makes the values at the given moves, and what the polynomial of degree 3 misses, from those on the grid. */
  read(values: Float64Array, made: Float64Array, missed: Float64Array): void {
    for (let k = 0; k < made.length; k++) {
      const first = this.#first[k];
      let [value, miss] = [0, 0];
      for (let i = 0; i < POINTS; i++) {
        const at = values[first + i];
        value += this.#weights[k * POINTS + i] * at;
        miss += this.#missed[k * POINTS + i] * at;
      }
      made[k] = value;
      missed[k] = miss;
    }
  }
}

/** Returns the weights at `x` of the values at the points from … to − 1 of 0, 1, 2 …, and 0 for the other ones. */
function lagrange(x: number, from: number, to: number): number[] {
  return Array.from({ length: POINTS }, (_, i) => {
    if (i < from || i >= to) return 0;
    let weight = 1;
    for (let j = from; j < to; j++) if (j !== i) weight *= (x - j) / (i - j);
    return weight;
  });
}
