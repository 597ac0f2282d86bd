/**
 * One option on one asset under any local volatility, on equidistant nodes of ln S with one on a barrier, by the
 * trapezoidal rule and BDF2 in turn (TR-BDF2; Bank et al. 1985), whose steps end where volatility changes and on dates.
 * Early exercise is decided within each stage by policy iteration (Howard 1960). The result is extrapolated from pairs
 * of grids until the last two pairs change little, which is its error. It shares no mesh, time grid, scheme or
 * treatment of exercise with the library.
 */

/** A dividend: S falls by S·proportional + cash, not below zero. */
export interface Dividend {
  readonly date: number;
  readonly cash?: number;
  readonly proportional?: number;
}

export interface GridTerms {
  readonly spot: number;
  readonly expiry: number;
  readonly rate: (t: number) => number;
  readonly dividendYield: number;
  readonly sigma: (S: number, t: number) => number;
  /** A typical σ, by which the grid's width is chosen. */
  readonly level: number;
  readonly payoff: (S: number) => number;
  /** Where the payoff has kinks or jumps. */
  readonly kinks: readonly number[];
  /** Times at which σ or the rate changes. */
  readonly breaks?: readonly number[];
  /** Levels that end the option, without a rebate. */
  readonly lower?: number;
  readonly upper?: number;
  /** "american", or times before expiry. */
  readonly exercise?: "american" | readonly number[];
  readonly dividends?: readonly Dividend[];
  /** What the option pays a year, at every spot. */
  readonly source?: number;
  /** A value below which it never is, where that is not the payoff of American exercise. */
  readonly obstacle?: (S: number) => number;
  /** What dates make of the value. */
  readonly events?: readonly { readonly time: number; readonly value: (S: number, kept: number) => number }[];
}

export interface GridValue {
  readonly value: number;
  readonly error: number;
}

/** The first of the grids, the finest, and the error, relative to the spot, that ends their refinement. */
const [FIRST, FINEST, ENOUGH] = [200, 6400, 1e-6];

/**
 * What a change before the last is divided by: errors fall by four at least, but where two grids agree by chance that
 * says nothing.
 */
const FALL = 4;

/** The value; no number where the finest grid is too coarse to keep to what the option is worth at least. */
export function gridValue(terms: GridTerms, enough = ENOUGH): GridValue {
  const { spot, payoff, exercise } = terms;
  const least = Math.max(0, exercise === "american" ? payoff(spot) : 0, terms.obstacle?.(spot) ?? 0);
  let [fine, value, change] = [solve(terms, FIRST), NaN, NaN];
  for (let nodes = 2 * FIRST; nodes <= FINEST; nodes *= 2) {
    const finer = solve(terms, nodes);
    const extrapolated = finer + (finer - fine) / 3;
    const now = Math.abs(extrapolated - value);
    const error = Math.max(now, change / FALL);
    [fine, value, change] = [finer, extrapolated, now];
    const isPossible = value >= least - Math.max(error, enough * spot);
    if (error < enough * spot && isPossible) return { value, error };
    if (nodes === FINEST) return isPossible ? { value, error } : { value: NaN, error: NaN };
  }
  return { value: NaN, error: NaN };
}

const GAMMA = 2 - Math.SQRT2;

/** ∂V/∂t + a·V_xx + b·V_x − r·V = 0 on the nodes, at one time. */
interface Coefficients {
  readonly lower: Float64Array;
  readonly middle: Float64Array;
  readonly upper: Float64Array;
}

function solve(terms: GridTerms, nodes: number): number {
  const { spot, expiry, payoff, kinks, lower, upper, exercise = [], dividends = [], level } = terms;
  const deviation = level * Math.sqrt(expiry);
  const drift = driftRange(terms);
  const reach = 7 * deviation + 0.5 * deviation ** 2;
  const cash = dividends.reduce((sum, dividend) => sum + (dividend.cash ?? 0) + spot * (dividend.proportional ?? 0), 0);
  const reached = Math.max(spot - cash, 0.2 * spot);
  // Kinks beyond are never reached, and only as near as the spot comes to them need they be on the grid.
  let [low, high] = [Math.log(reached) - reach + drift.down, Math.log(spot) + reach + drift.up];
  if (lower !== undefined) low = Math.log(lower);
  if (upper !== undefined) high = Math.log(upper);
  const dx = (high - low) / nodes;
  const price = Float64Array.from({ length: nodes + 1 }, (_, i) => Math.exp(low + i * dx));
  const ends = (values: Float64Array): Float64Array => {
    // The holder of an American option exercises just before it is knocked out.
    const atEnd = (i: number): number => (exercise === "american" ? payoff(price[i]) : 0);
    if (lower !== undefined) values[0] = atEnd(0);
    if (upper !== undefined) values[nodes] = atEnd(nodes);
    return values;
  };
  let values = ends(cellMeans(payoff, price, low, dx, kinks));
  const least = terms.obstacle ?? (exercise === "american" ? payoff : undefined);
  const obstacle = least === undefined ? undefined : price.map(least);
  const knockedOut = [lower !== undefined, upper !== undefined] as const;
  const step = stepper(terms, price, dx, obstacle, knockedOut);
  for (const { from, to } of stepsOf(terms, nodes / 2).toReversed()) {
    values = ends(step(values, from, to));
    const paid = dividends.filter(({ date }) => date === from);
    if (paid.length > 0) values = ends(beforeDividends(values, price, low, dx, paid, terms, from));
    const event = terms.events?.find(({ time }) => time === from);
    if (event !== undefined) values = values.map((value, i) => event.value(price[i], value));
    if (exercise !== "american" && exercise.includes(from))
      values = ends(values.map((value, i) => Math.max(value, payoff(price[i]))));
    if (obstacle !== undefined) values = ends(values.map((value, i) => Math.max(value, obstacle[i])));
  }
  return interpolated(values, (Math.log(spot) - low) / dx);
}

/** The least and the largest ∫₀ᵗ (r − q) of the life. */
function driftRange({ rate, dividendYield, expiry, breaks = [] }: GridTerms): { down: number; up: number } {
  const ends = [...breaks.filter((t) => t > 0 && t < expiry), expiry].toSorted((a, b) => a - b);
  let [down, up, sum, from] = [0, 0, 0, 0];
  for (const to of ends) {
    sum += (rate(0.5 * (from + to)) - dividendYield) * (to - from);
    [down, up, from] = [Math.min(down, sum), Math.max(up, sum), to];
  }
  return { down, up };
}

/** Steps forward in time, which shorten towards the end of each piece of time, where the solution is rough. */
function stepsOf({ expiry, breaks = [], exercise = [], dividends = [], events = [] }: GridTerms, count: number) {
  const dates = [
    ...breaks,
    ...(exercise === "american" ? [] : exercise),
    ...dividends.map(({ date }) => date),
    ...events.map(({ time }) => time),
  ];
  const ends = [...new Set([...dates.filter((t) => t > 0 && t < expiry), expiry])].toSorted((a, b) => a - b);
  return ends.flatMap((end, k) => {
    const start = k === 0 ? 0 : ends[k - 1];
    const steps = Math.ceil((count * (end - start)) / expiry) + 10;
    const time = (i: number): number => (i === steps ? end : end - (end - start) * (1 - i / steps) ** 2);
    return Array.from({ length: steps }, (_, i) => ({ from: i === 0 ? start : time(i), to: time(i + 1) }));
  });
}

type Step = (values: Float64Array, from: number, to: number) => Float64Array;

function stepper(
  terms: GridTerms,
  price: Float64Array,
  dx: number,
  obstacle: Float64Array | undefined,
  knockedOut: readonly [boolean, boolean],
): Step {
  const last = price.length - 1;
  const at = coefficientsOf(terms, price, dx, knockedOut);
  const { source = 0 } = terms;
  const apply = ({ lower, middle, upper }: Coefficients, u: Float64Array): Float64Array =>
    u.map((value, i) => middle[i] * value + (i > 0 ? lower[i] * u[i - 1] : 0) + (i < last ? upper[i] * u[i + 1] : 0));
  return (u, from, to) => {
    const h = to - from;
    // Coefficients of just inside the step, since they may jump at its ends.
    const [late, mid, early] = [to - 1e-7 * h, to - GAMMA * h, from + 1e-7 * h];
    const first = apply(at(late), u);
    const stage = implicit(
      u.map((value, i) => value + GAMMA * h * (0.5 * first[i] + source)),
      at(mid),
      0.5 * GAMMA * h,
      obstacle,
    );
    const weight = 1 / (GAMMA * (2 - GAMMA));
    const rest = ((1 - GAMMA) / (2 - GAMMA)) * h;
    const rhs = stage.map((value, i) => weight * value - (1 - GAMMA) ** 2 * weight * u[i] + rest * source);
    return implicit(rhs, at(early), rest, obstacle);
  };
}

/** The equation at a time; beyond the outer nodes V is linear in S. */
function coefficientsOf(
  { sigma, rate, dividendYield }: GridTerms,
  price: Float64Array,
  dx: number,
  [below, above]: readonly [boolean, boolean],
): (t: number) => Coefficients {
  const last = price.length - 1;
  const [lower, middle, upper] = [0, 1, 2].map(() => new Float64Array(last + 1));
  const growth = Math.expm1(dx);
  return (t) => {
    const r = rate(t);
    for (let i = 1; i < last; i++) {
      const variance = sigma(price[i], t) ** 2;
      const a = (0.5 * variance) / (dx * dx);
      const b = (r - dividendYield - 0.5 * variance) / (2 * dx);
      lower[i] = a - b;
      middle[i] = -2 * a - r;
      upper[i] = a + b;
    }
    // V_SS = 0: (r − q)·S·V_S − r·V with the slope to the neighbour.
    const slope = r - dividendYield;
    [lower[0], middle[0], upper[0]] = below ? [0, 0, 0] : [0, -slope / growth - r, slope / growth];
    const inward = -Math.expm1(-dx);
    [upper[last], middle[last], lower[last]] = above ? [0, 0, 0] : [0, slope / inward - r, -slope / inward];
    return { lower, middle, upper };
  };
}

/** (1 − h·A)·v = rhs; with an obstacle min((1 − h·A)·v − rhs, v − obstacle) = 0. */
function implicit(rhs: Float64Array, of: Coefficients, h: number, obstacle: Float64Array | undefined): Float64Array {
  const length = rhs.length;
  const isHeld = new Uint8Array(length);
  let values = thomas(rhs, of, h, isHeld, obstacle);
  if (obstacle === undefined) return values;
  for (let k = 0; k < 40; k++) {
    let changed = false;
    for (let i = 0; i < length; i++) {
      const residual =
        (1 - h * of.middle[i]) * values[i] -
        (i > 0 ? h * of.lower[i] * values[i - 1] : 0) -
        (i < length - 1 ? h * of.upper[i] * values[i + 1] : 0) -
        rhs[i];
      const held = values[i] - obstacle[i] < residual ? 1 : 0;
      if (held !== isHeld[i]) changed = true;
      isHeld[i] = held;
    }
    if (!changed) break;
    values = thomas(rhs, of, h, isHeld, obstacle);
  }
  return values;
}

function thomas(
  rhs: Float64Array,
  { lower, middle, upper }: Coefficients,
  h: number,
  isHeld: Uint8Array,
  obstacle: Float64Array | undefined,
): Float64Array {
  const length = rhs.length;
  const factor = new Float64Array(length);
  const value = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    if (isHeld[i] === 1) {
      factor[i] = 0;
      value[i] = obstacle![i];
      continue;
    }
    const below = i > 0 ? -h * lower[i] : 0;
    const pivot = 1 - h * middle[i] - (i > 0 ? below * factor[i - 1] : 0);
    factor[i] = i < length - 1 ? (-h * upper[i]) / pivot : 0;
    value[i] = (rhs[i] - (i > 0 ? below * value[i - 1] : 0)) / pivot;
  }
  for (let i = length - 2; i >= 0; i--) value[i] -= factor[i] * value[i + 1];
  return value;
}

/** The payoff, averaged over the cells that have a kink or jump of it. */
function cellMeans(
  payoff: (S: number) => number,
  price: Float64Array,
  low: number,
  dx: number,
  kinks: readonly number[],
): Float64Array {
  return price.map((S, i) => {
    const [a, b] = [low + (i - 0.5) * dx, low + (i + 0.5) * dx];
    const inside = kinks.map(Math.log).filter((x) => x >= a && x <= b);
    if (inside.length === 0) return payoff(S);
    const points = [a, ...inside.toSorted((x, y) => x - y), b];
    const offsets = [-Math.sqrt(0.6), 0, Math.sqrt(0.6)];
    const weights = [5 / 18, 8 / 18, 5 / 18];
    let sum = 0;
    for (let k = 1; k < points.length; k++) {
      const [middle, length] = [0.5 * (points[k] + points[k - 1]), points[k] - points[k - 1]];
      offsets.forEach((z, m) => (sum += weights[m] * length * payoff(Math.exp(middle + 0.5 * length * z))));
    }
    return sum / dx;
  });
}

/** The value just before dividends: that of the price after them. */
function beforeDividends(
  values: Float64Array,
  price: Float64Array,
  low: number,
  dx: number,
  paid: readonly Dividend[],
  { payoff, rate, expiry, exercise = [] }: GridTerms,
  time: number,
): Float64Array {
  const cash = paid.reduce((sum, dividend) => sum + (dividend.cash ?? 0), 0);
  const share = Math.min(
    paid.reduce((sum, dividend) => sum + (dividend.proportional ?? 0), 0),
    1,
  );
  // With a negative rate an asset without value is waited for, too.
  const toExpiry = Math.exp(-rate(time) * (expiry - time));
  const left = exercise === "american" ? Math.max(1, toExpiry) : toExpiry;
  return price.map((S) => {
    const after = S * (1 - share) - cash;
    // Below the lowest node, as at zero, the asset has nothing left.
    if (after <= price[0]) return after <= 0 ? left * payoff(0) : left * payoff(after);
    return interpolated(values, (Math.log(after) - low) / dx);
  });
}

/** Lagrange's interpolation on six nodes. */
function interpolated(u: Float64Array, place: number): number {
  const first = Math.min(Math.max(Math.floor(place) - 2, 0), u.length - 6);
  let sum = 0;
  for (let i = 0; i < 6; i++) {
    let weight = 1;
    for (let j = 0; j < 6; j++) if (j !== i) weight *= (place - first - j) / (i - j);
    sum += weight * u[first + i];
  }
  return sum;
}
