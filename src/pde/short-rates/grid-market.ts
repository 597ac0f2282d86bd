/** Markets that finite differences price in, and their meshes. */
import { SpecError } from "../../base/errors.ts";
import { formula } from "../../kernel/index.ts";
import { constant, type PiecewiseConstant } from "../../market/index.ts";
import {
  hullWhiteDiffusion,
  type ShortRateDiffusion,
  blackKarasinskiDiffusion,
  cirDiffusion,
  userDefinedDiffusion,
} from "./diffusions.ts";
import { decayIntegral, packMarkets, stepVariance } from "../../quadrature/rates/index.ts";
import { breaksInTime, isRoughInRate, stepsInTime } from "./in-time.ts";

/** The mesh of a coordinate ξ with equidistant nodes, where x = centre + bend·sinh ξ, or x = ξ if `bend` is 0. */
export interface GridMesh {
  readonly centre: number;
  readonly low: number;
  readonly step: number;
  readonly bend: number;
  readonly nodes: number;
  /**
   * The index of the first of three nodes from which the value at today's state is read, and the weights of the second
   * and the third.
   */
  readonly first: number;
  readonly second: number;
  readonly third: number;
}

/** A model of the short rate for finite differences: its diffusion, its mesh, and the curve to which it is fitted. */
export interface ShortRateGridModel {
  readonly diffusion: ShortRateDiffusion;
  readonly parameters: readonly number[];
  /** The volatility σ(t), for the functions of the diffusion. */
  readonly volatility: PiecewiseConstant;
  /** Returns ln P(0, t); without a fit, minus the integral of the rate's shift. */
  readonly logDiscount: (t: number) => number;
  readonly isFitted: boolean;
  /** The times at which the curve or the volatility jumps. */
  readonly breaks: readonly number[];
  /** True where coefficients have jumps or kinks in the rate, or vanish at its ends. */
  readonly lacksErrorExpansion?: boolean;
  /** Describes how formulas change in time; undefined where coefficients depend on t through σ alone. */
  readonly inTime?: {
    /** Returns the times up to a horizon at which they have jumps or kinks. */
    breaks(horizon: number): readonly number[];
    /** Returns how many steps, `least` or more, an interval has on the coarsest grid. */
    steps(from: number, to: number, least: number): number;
  };
  /** Returns the mesh up to a horizon. @param spaces the usual number of intervals from today's state to one end */
  readonly mesh: (horizon: number, spaces: number) => GridMesh;
}

/** The fields that all models share. */
type GridCurve = Pick<ShortRateGridModel, "logDiscount" | "breaks">;

/** Deviations of the state that a mesh covers on each side. */
const REACH = 6.5;
/** Meshes are dense within so many deviations. */
const BEND = 1.5;
/** The least deviation of a mesh, for rates without volatility. */
const LEAST = 1e-9;
/** The most spaces of a mesh in units of those that a deviation asks for. */
const MOST_LONGER = 40;

const ON_NODE = { second: 0, third: 0 };

/**
 * The number of intervals of the coarsest mesh. The number of intervals of each finer mesh is a multiple of it, so that
 * the nodes of coarse meshes are also nodes of finer ones.
 */
export const COARSEST_INTERVALS = 32;

/** A state that is Gaussian around 0. The mesh covers `reach` of its deviations, and `drift` more. */
function centred(deviation: number, drift: number, spaces: number): GridMesh {
  const width = Math.max(deviation, LEAST);
  const half = Math.asinh((REACH * width + drift) / (BEND * width));
  const nodes = 2 * spaces + 1;
  return { low: -half, step: half / spaces, bend: BEND * width, centre: 0, nodes, first: spaces, ...ON_NODE };
}

function gaussian(
  diffusion: ShortRateDiffusion,
  meanReversion: number,
  volatility: PiecewiseConstant,
  curve: GridCurve,
): ShortRateGridModel {
  const { markets, parameters } = packMarkets([{ meanReversion, volatility, logDiscount: curve.logDiscount }]);
  const market = { parameters, start: markets[0], pieces: markets[1] };
  const mesh = (horizon: number, spaces: number): GridMesh => {
    // Under a volatility that falls the state may be wider before.
    const ends = [...volatility.times.filter((end) => end < horizon), horizon];
    const variance = Math.max(...ends.map((s) => stepVariance({ market, t: 0, s })));
    // Discounting by x itself moves the mean of state prices; that by e^x ends where rates are high.
    const drift = diffusion.isMultiplied ? 0 : variance * decayIntegral(meanReversion, horizon);
    return centred(Math.sqrt(variance), drift, spaces);
  };
  const breaks = [...curve.breaks, ...volatility.times];
  return { diffusion, parameters: [meanReversion], volatility, ...curve, isFitted: true, breaks, mesh };
}

/** Returns Hull and White's model for finite differences: r = x + α(t), dx = −a·x dt + σ(t) dW. */
export const hullWhiteOnGrid = (a: number, volatility: PiecewiseConstant, curve: GridCurve): ShortRateGridModel =>
  gaussian(hullWhiteDiffusion, a, volatility, curve);

/** Returns Black and Karasinski's model for finite differences: r = α(t)·eˣ, dx = −a·x dt + σ(t) dW. */
export const blackKarasinskiOnGrid = (a: number, volatility: PiecewiseConstant, curve: GridCurve): ShortRateGridModel =>
  gaussian(blackKarasinskiDiffusion, a, volatility, curve);

/**
 * Returns Cox, Ingersoll and Ross' model with a shift for finite differences: r = y + α(t), dy = κ(θ − y) dt + σ√y dW.
 */
export function cirOnGrid(
  { r0, kappa, theta, sigma }: { readonly [name in "r0" | "kappa" | "theta" | "sigma"]: number },
  curve: GridCurve,
): ShortRateGridModel {
  const mesh = (horizon: number, spaces: number): GridMesh => {
    // In the coordinate 2√y/σ the deviation is at most that of a unit Brownian motion drawn by ½κ to the mean.
    const width = Math.sqrt(decayIntegral(kappa, horizon));
    const [today, mean] = [r0, theta].map((rate) => (2 * Math.sqrt(rate)) / sigma);
    const reached = today + (mean - today) * -Math.expm1(-kappa * horizon);
    const low = Math.max(Math.min(today, reached) - REACH * width, 0);
    const high = Math.max(today, reached, Math.sqrt((4 * kappa * theta) / (sigma * sigma)) * width) + REACH * width;
    const wanted = (REACH * width) / spaces;
    if (!(high - low < MOST_LONGER * REACH * width))
      throw new SpecError(`cir.sigma: ${sigma} is too small for finite differences; write vasicek, or a curve`);
    if (low > 0) {
      const first = Math.ceil((today - low) / wanted);
      const nodes = first + Math.ceil((high - today) / wanted) + 1;
      return { low: today - first * wanted, step: wanted, bend: 0, centre: 0, nodes, first, ...ON_NODE };
    }
    // Today's state is a node where its distance from 0 allows; else functions are quadratic in the rate up to node 2.
    const first = Math.round((today / (REACH * width)) * COARSEST_INTERVALS) * (spaces / COARSEST_INTERVALS);
    const step = first > 0 ? today / first : wanted;
    const z = (today / step) ** 2;
    const weights = first > 0 ? ON_NODE : { second: (z * (4 - z)) / 3, third: (z * (z - 1)) / 12 };
    return { low: 0, step, bend: 0, centre: 0, nodes: Math.ceil(high / step) + 1, first, ...weights };
  };
  return {
    diffusion: cirDiffusion,
    parameters: [kappa, theta],
    volatility: constant(sigma),
    ...curve,
    isFitted: true,
    mesh,
  };
}

/** A short rate by a user's formulas, `years` after their start. */
interface UsersRate {
  readonly r0: number;
  readonly drift: string;
  readonly volatility: string;
  readonly range: readonly [low: number, high: number];
  readonly years: number;
  /** The amount added to the volatility. */
  readonly shift: number;
}

/**
 * Returns the model of a user-defined short rate for finite differences. The mesh is dense about the path that the rate
 * takes by its drift alone until `years`, and the rate is reflected at the ends of the range.
 */
export function usersRateOnGrid(
  { r0, drift, volatility, range, years, shift }: UsersRate,
  curve: GridCurve,
): ShortRateGridModel {
  const driftAt = formula(drift, ["r", "t"]);
  const [low, high] = range;
  const steps = Math.ceil(100 * years);
  let now = r0;
  for (let k = 0; k < steps; k++) {
    const h = years / steps;
    const half = now + 0.5 * h * driftAt(now, k * h);
    now = Math.min(Math.max(now + h * driftAt(half, (k + 0.5) * h), low), high);
  }
  const volatilityAt = formula(volatility, ["r", "t"]);
  const diffusion = userDefinedDiffusion(drift, volatility);
  const own = (t: number): number => Math.max(volatilityAt(now, years + t) + shift, 0);
  const mesh = (horizon: number, spaces: number): GridMesh => {
    const usual = diffusion.isTimed ? rootMeanSquare(own, horizon) : own(0);
    const bend = BEND * Math.max(usual * Math.sqrt(Math.min(horizon, 1)), 1e-3 * (high - low));
    const on = nodesOn(low - now, high - now, bend);
    const [left, right] = [low, high].map((end) => Math.asinh((end - now - on.centre) / on.bend));
    const finer = spaces / COARSEST_INTERVALS;
    const nodes = CELLS * finer + 1;
    return { low: left, step: (right - left) / (nodes - 1), ...on, nodes, first: on.first * finer, ...ON_NODE };
  };
  const formulas = { drift, volatility, rates: [now, 0.5 * (now + low), 0.5 * (now + high)] };
  const inTime: NonNullable<ShortRateGridModel["inTime"]> = {
    breaks: (horizon) => breaksInTime(formulas, years, years + horizon).map((t) => t - years),
    steps: (from, to, least) => stepsInTime(formulas, years + from, years + to, least),
  };
  return {
    diffusion,
    parameters: [now, years],
    volatility: constant(shift),
    ...curve,
    isFitted: true,
    lacksErrorExpansion: isRoughInRate({ drift, volatility }, low, high, years),
    ...(diffusion.isTimed ? { inTime } : {}),
    mesh,
  };
}

/** The number of intervals of a user's coarsest mesh. */
const CELLS = 2 * COARSEST_INTERVALS;
/** A part of the range so close to its end that today's rate is that end. */
const AT_END = 1e-10;

/**
 * Returns the `bend` and the `centre` of x = centre + bend·sinh ξ by which equal steps of ξ have nodes at both ends of
 * a range, where it reflects, and at 0, today's rate; `first` is its node. The centre is near 0; where the range ends
 * so close to 0 that there is none, the bend is smaller than the one that is asked for.
 */
function nodesOn(low: number, high: number, wanted: number): Pick<GridMesh, "centre" | "bend" | "first"> {
  if (-low <= AT_END * (high - low)) return { centre: 0, bend: wanted, first: 0 };
  if (high <= AT_END * (high - low)) return { centre: 0, bend: wanted, first: CELLS };
  for (let bend = wanted; ; bend *= 0.5) {
    // The part of the nodes below 0 falls as the centre, where nodes are dense, rises.
    const below = (centre: number): number => {
      const [start, today, end] = [low, 0, high].map((x) => Math.asinh((x - centre) / bend));
      return (today - start) / (end - start);
    };
    const first = Math.min(Math.max(Math.round(below(0) * CELLS), 1), CELLS - 1);
    if (first > below(low) * CELLS || first < below(high) * CELLS) continue;
    let [least, most] = [low, high];
    for (let k = 0; k < 100; k++) {
      const middle = 0.5 * (least + most);
      if (below(middle) * CELLS > first) least = middle;
      else most = middle;
    }
    return { centre: 0.5 * (least + most), bend, first };
  }
}

/** √(∫₀ᵗ f(s)² ds / t), by the middles of a hundred intervals. */
function rootMeanSquare(f: (t: number) => number, t: number): number {
  let sum = 0;
  for (let k = 0; k < 100; k++) sum += f(((k + 0.5) * t) / 100) ** 2;
  return Math.sqrt(sum / 100);
}

/** Checks that claims up to the time `last` can be priced with a model. @throws SpecError with the reason */
export function checkOnGrid({ diffusion, breaks, logDiscount, mesh }: ShortRateGridModel, last: number): void {
  mesh(last, COARSEST_INTERVALS);
  const ends = [...breaks.filter((time) => time > 0 && time < last), last].toSorted((a, b) => a - b);
  const falling = ends.findIndex(
    (end, i) => end > (ends[i - 1] ?? 0) && !(logDiscount(end) < logDiscount(ends[i - 1] ?? 0)),
  );
  if (diffusion.isMultiplied && falling >= 0)
    throw new SpecError(
      `rates: forward rates that are not above 0 up to ${ends[falling].toFixed(2)} years from the market's date, and ` +
        "this model's short rate is never negative: write hullWhite, vasicek or g2",
    );
}
