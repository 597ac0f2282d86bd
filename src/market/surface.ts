/**
 * A surface of local volatility σ(t, S), given on a grid of times and spots.
 *
 * * In t it is linear between the times.
 * * In S it is monotone cubic Hermite between the spots. The slopes d are those of Fritsch & Butland (1984): 1/d = ((1
 *   + α)/Δ₋ + (2 − α)/Δ₊)/3 with α = h₊/(h₋ + h₊), and d = 0 where the secants Δ₋ and Δ₊ differ in sign or one of them
 *   is 0.
 * * Outside the grid it is constant in both variables. The slopes at the first and the last spot are 0, so that σ is
 *   once continuously differentiable in S everywhere.
 *
 * Between two spots σ stays between their volatilities, so it is positive where they are. A parallel move of all
 * volatilities moves the surface by the same amount.
 *
 * Verified: test/market/surface, at and between the nodes, by values worked out by hand and by a monotonicity property.
 */
import { firstNotBefore } from "../base/search.ts";
export interface LocalSurface {
  /** The times in years, ≥ 0, strictly increasing, at least one. */
  readonly times: readonly number[];
  /** The spots, > 0, strictly increasing, at least one. */
  readonly spots: readonly number[];
  /** The volatilities σ[time][spot], > 0, per √year. */
  readonly volatility: readonly (readonly number[])[];
  /** The slopes ∂σ/∂S[time][spot], of the interpolation. */
  readonly slopes: readonly (readonly number[])[];
}

/**
 * The local volatility σ and its slope ∂σ/∂S at each spot of a surface, for one time or averaged over a time interval.
 */
export interface SurfaceRow {
  readonly volatility: ArrayLike<number>;
  readonly slopes: ArrayLike<number>;
}

/**
 * Returns the surface of local volatility on a grid. `volatility[i][j]` is the volatility at `times[i]` and `spots[j]`,
 * both of which must be increasing; this is not checked.
 */
export function localSurface(
  times: readonly number[],
  spots: readonly number[],
  volatility: readonly (readonly number[])[],
): LocalSurface {
  return { times, spots, volatility, slopes: volatility.map((row) => monotoneSlopes(spots, row)) };
}

/** Returns an object with a surface that is computed when it is read first. */
export function withSurface<T extends object, S>(rest: T, make: () => S): T & { readonly surface: S } {
  let made: S | undefined;
  return Object.defineProperty({ ...rest }, "surface", {
    enumerable: true,
    get: () => (made ??= make()),
  }) as T & { readonly surface: S };
}

/** Fritsch and Butland's slopes at the nodes x of the values y; 0 at both ends. */
function monotoneSlopes(x: readonly number[], y: readonly number[]): number[] {
  return x.map((_, i) => {
    if (i === 0 || i === x.length - 1) return 0;
    const [before, after] = [x[i] - x[i - 1], x[i + 1] - x[i]];
    const [left, right] = [(y[i] - y[i - 1]) / before, (y[i + 1] - y[i]) / after];
    if (!(left * right > 0)) return 0;
    const alpha = after / (before + after);
    return 3 / ((1 + alpha) / left + (2 - alpha) / right);
  });
}

/** Returns the local volatility σ(t, S). */
export function surfaceVolatility(surface: LocalSurface, spot: number, t: number): number {
  return rowVolatility(surface, rowMean(surface, t, t), spot);
}

/** Returns the surface as seen t years later, with the same σ on the same dates. */
export function rollSurface({ times, spots, volatility, slopes }: LocalSurface, t: number): LocalSurface {
  const next = times.findIndex((time) => time > t);
  const now = rowMean({ times, spots, volatility, slopes }, t, t);
  const left = next < 0 ? times.length : next;
  // Before the first time and beyond the last σ is flat: there is nothing between two rows to keep.
  const begun = left > 0;
  return {
    times: [...(begun ? [0] : []), ...times.slice(left).map((time) => time - t)],
    spots,
    volatility: [...(begun ? [Array.from(now.volatility)] : []), ...volatility.slice(left)],
    slopes: [...(begun ? [Array.from(now.slopes)] : []), ...slopes.slice(left)],
  };
}

/** Returns the local volatility at a spot by cubic interpolation in a row of the surface. */
export function rowVolatility({ spots }: LocalSurface, { volatility, slopes }: SurfaceRow, spot: number): number {
  const last = spots.length - 1;
  if (spot <= spots[0]) return volatility[0];
  if (spot >= spots[last]) return volatility[last];
  let i = 0;
  while (spot >= spots[i + 1]) i++;
  const width = spots[i + 1] - spots[i];
  const u = (spot - spots[i]) / width;
  const rise = volatility[i + 1] - volatility[i];
  const [before, after] = [slopes[i] * width, slopes[i + 1] * width];
  return volatility[i] + u * (before + u * (3 * rise - 2 * before - after + u * (before + after - 2 * rise)));
}

/**
 * Returns the exact mean of the surface over the times `from` … `to` as a row, written to `mean`. With equal times it
 * is the row at that time. Values and slopes are averaged separately: interpolation in S is not linear in the
 * volatilities, but the mean of cubics on one grid is the cubic of the mean values and slopes.
 */
export function rowMean(surface: LocalSurface, from: number, to: number, mean = emptyRow(surface)): SurfaceRow {
  const { volatility, slopes } = mean;
  volatility.fill(0);
  slopes.fill(0);
  for (const { row, weight } of rowWeights(surface.times, from, to)) {
    const [values, rises] = [surface.volatility[row], surface.slopes[row]];
    for (let i = 0; i < volatility.length; i++) {
      volatility[i] += weight * values[i];
      slopes[i] += weight * rises[i];
    }
  }
  return mean;
}

/** The mean rows last made, by surface and what else they depend on. A pure function's memory. */
const meanRows = new WeakMap<LocalSurface, Map<string, SurfaceRow>>();
const MAX_ROWS = 64;

/**
 * Returns the root mean square of max(σ + shift, 0) over the times `from` … `to` as a row. Between the dates of the
 * surface σ is linear in time, so that it is exact at the spots unless the shift takes σ to 0.
 */
export function rowRootMeanSquare(surface: LocalSurface, from: number, to: number, shift: number): SurfaceRow {
  let rows = meanRows.get(surface);
  if (rows === undefined) meanRows.set(surface, (rows = new Map<string, SurfaceRow>()));
  const key = `${from} ${to} ${shift}`;
  let row = rows.get(key);
  if (row === undefined) {
    if (rows.size >= MAX_ROWS) rows.clear();
    rows.set(key, (row = rootMeanSquare(surface, from, to, shift)));
  }
  return row;
}

/**
 * `rowRootMeanSquare` that keeps nothing, written to `mean`. Cost: 20 flops for each spot and each interval between two
 * dates of the surface.
 */
export function rootMeanSquare(
  surface: LocalSurface,
  from: number,
  to: number,
  shift = 0,
  mean = emptyRow(surface),
): SurfaceRow {
  const { times } = surface;
  const { volatility, slopes } = mean;
  volatility.fill(0);
  slopes.fill(0);
  // The same at all times, it is itself to the last bit.
  if (!(to > from) || times.length === 1) return addSquares(mean, pieceOf(surface, from, from), shift);
  const length = to - from;
  for (let start = from, next = firstNotBefore(times, from); start < to; next++) {
    const stop = next < times.length ? Math.min(times[next], to) : to;
    if (stop > start) addSquares(mean, pieceOf(surface, start, stop), shift, (stop - start) / (3 * length));
    start = stop;
  }
  for (let k = 0; k < volatility.length; k++) {
    volatility[k] = Math.sqrt(volatility[k]);
    slopes[k] = volatility[k] > 0 ? slopes[k] / (2 * volatility[k]) : 0;
  }
  return mean;
}

/** A part of the time between two neighbouring dates of a surface, and the weights of the later one at its ends. */
interface Piece {
  readonly before: { readonly volatility: readonly number[]; readonly slopes: readonly number[] };
  readonly after: Piece["before"];
  readonly first: number;
  readonly last: number;
}

/** The piece from `from` to `to`, which lie between the same two dates. */
function pieceOf({ times, volatility, slopes }: LocalSurface, from: number, to: number): Piece {
  const end = times.length - 1;
  const i = firstNotBefore(times, to);
  const row = (at: number): Piece["before"] => ({ volatility: volatility[at], slopes: slopes[at] });
  if (i === 0 || i > end) return { before: row(Math.min(i, end)), after: row(Math.min(i, end)), first: 0, last: 0 };
  const share = (time: number): number => (time - times[i - 1]) / (times[i] - times[i - 1]);
  return { before: row(i - 1), after: row(i), first: share(from), last: share(to) };
}

/**
 * Adds the integral of max(σ + shift, 0)² over a piece and its slope ∂/∂S to a row, `weight` times; without a weight it
 * writes max(σ + shift, 0) and its slope at the beginning of the piece.
 */
function addSquares(
  mean: { readonly volatility: Float64Array; readonly slopes: Float64Array },
  { before, after, first, last }: Piece,
  shift: number,
  weight?: number,
): SurfaceRow {
  const { volatility, slopes } = mean;
  for (let k = 0; k < volatility.length; k++) {
    const [x, y, p, q] = [before.volatility[k], after.volatility[k], before.slopes[k], after.slopes[k]];
    const a = Math.max((1 - first) * x + first * y + shift, 0);
    const rise = a > 0 ? (1 - first) * p + first * q : 0;
    if (weight === undefined) {
      volatility[k] = a;
      slopes[k] = rise;
      continue;
    }
    const b = Math.max((1 - last) * x + last * y + shift, 0);
    const next = b > 0 ? (1 - last) * p + last * q : 0;
    volatility[k] += weight * (a * a + a * b + b * b);
    slopes[k] += weight * ((2 * a + b) * rise + (a + 2 * b) * next);
  }
  return mean;
}

/** Returns a row of zeros with an element for each spot of a surface. */
export function emptyRow({ spots }: LocalSurface): { volatility: Float64Array; slopes: Float64Array } {
  return { volatility: new Float64Array(spots.length), slopes: new Float64Array(spots.length) };
}

/** A row of a surface and its weight in a mean. */
interface RowWeight {
  readonly row: number;
  readonly weight: number;
}

/**
 * The means over (from, to) of the hat functions at the given times. The first and last functions are constant outside
 * the times. Only nonzero means are returned, and their sum is 1.
 */
function rowWeights(times: readonly number[], from: number, to: number): RowWeight[] {
  const weights: RowWeight[] = [];
  const add = (row: number, weight: number): void => {
    const last = weights[weights.length - 1];
    if (last?.row === row) weights[weights.length - 1] = { row, weight: last.weight + weight };
    else weights.push({ row, weight });
  };
  const length = to - from;
  const end = times.length - 1;
  // Piece i runs from times[i − 1] to times[i]; before the first and after the last time the row is constant.
  for (let i = firstNotBefore(times, from); i <= end + 1 && (i === 0 || times[i - 1] <= to); i++) {
    const start = Math.max(from, i === 0 ? Number.NEGATIVE_INFINITY : times[i - 1]);
    const stop = Math.min(to, i > end ? Number.POSITIVE_INFINITY : times[i]);
    const share = length > 0 ? (stop - start) / length : stop >= start && weights.length === 0 ? 1 : 0;
    if (!(share > 0)) continue;
    if (i === 0 || i > end) {
      add(Math.min(i, end), share);
      continue;
    }
    const later = (0.5 * (start + stop) - times[i - 1]) / (times[i] - times[i - 1]);
    add(i - 1, share * (1 - later));
    add(i, share * later);
  }
  return weights;
}
