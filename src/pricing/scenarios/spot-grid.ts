/** A grid of spots at which solutions are read in place of the spots of many scenarios. */

/** The step of the grid, relative to the spot. */
const STEP = 0.003;
/** The number of points of the polynomial at a spot. */
export const SPOT_POINTS = 6;

/** The numbers of points of grids: few, so that trades on different underlyings are priced together. */
const COUNTS = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512];

/** How the values at the spots of scenarios follow from those at the spots where solutions are read. */
export interface SpotReading {
  /** The number of spots that make a value. */
  readonly points: number;
  /** The index of the first of them, by scenario. */
  readonly first: Int32Array;
  /** Their weights [scenario][point] in the value, and in what it may miss. */
  readonly weights: Float64Array;
  readonly missed: Float64Array;
}

/** The reading of solutions at the spots of the scenarios themselves. */
export const ownSpots = (scenarios: number): SpotReading => ({
  points: 1,
  first: Int32Array.from({ length: scenarios }, (_, k) => k),
  weights: new Float64Array(scenarios).fill(1),
  missed: new Float64Array(scenarios),
});

/**
 * The equidistant moves at which solutions are read in place of the moves of many scenarios. A value is that of the
 * polynomial of degree 5 through the six nearest points, and is compared with the one of degree 3 through the four
 * inner ones.
 */
export interface SpotGrid extends SpotReading {
  readonly moves: Float64Array;
}

/** Returns the grid of the moves of one spot under scenarios; undefined where they are about as few themselves. */
export function spotGrid(given: Float64Array): SpotGrid | undefined {
  const [low, high] = [given.reduce((a, b) => Math.min(a, b)), given.reduce((a, b) => Math.max(a, b))];
  const count = COUNTS.find((most) => most > (high - low) / STEP);
  if (low === high || count === undefined || 1.5 * count > new Set(given).size) return undefined;
  const step = (high - low) / (count - 1);
  const first = new Int32Array(given.length);
  const weights = new Float64Array(given.length * SPOT_POINTS);
  const missed = new Float64Array(given.length * SPOT_POINTS);
  given.forEach((move, k) => {
    const place = (move - low) / step;
    first[k] = Math.min(Math.max(Math.floor(place) - 2, 0), count - SPOT_POINTS);
    const all = lagrange(place - first[k], 0, SPOT_POINTS);
    const inner = lagrange(place - first[k], 1, SPOT_POINTS - 1);
    all.forEach((weight, i) => {
      weights[k * SPOT_POINTS + i] = weight;
      missed[k * SPOT_POINTS + i] = weight - inner[i];
    });
  });
  const moves = Float64Array.from({ length: count }, (_, n) => low + ((high - low) * n) / (count - 1));
  return { points: SPOT_POINTS, moves, first, weights, missed };
}

/** Returns the weights at `x` of the values at the points from … to − 1 of 0, 1, 2 …, and 0 for the other ones. */
function lagrange(x: number, from: number, to: number): number[] {
  return Array.from({ length: SPOT_POINTS }, (_, i) => {
    if (i < from || i >= to) return 0;
    let weight = 1;
    for (let j = from; j < to; j++) if (j !== i) weight *= (x - j) / (i - j);
    return weight;
  });
}
