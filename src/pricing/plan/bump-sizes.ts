/**
 * The one place that says which sensitivities are differences of values, and how far apart these are.
 *
 * | method | from the solution | differences |
 * | --- | --- | --- |
 * | closed form, integral equation | all | none |
 * | finite differences, one factor | all in f32, else delta, gamma, theta | to one side, tiny, on the same mesh |
 * | several factors | delta, gamma, cross gamma, theta, vega of a variance | tiny to one side, or central |
 * | trees | none | central; gamma over some points of the tree |
 * | convolutions | none | of fourth order in the spot, else central, in standard deviations: rights/differences.ts |
 * | paths | first ones, where nothing jumps | central, on the same random numbers; to one side next to a barrier |
 */
import { type OneFactorProblem, totalVariance } from "../../pde/fdm/index.ts";
import { MOVES, limitedMoves, movesWithin, type Side } from "../../base/differences.ts";
import type { Precision } from "../../kernel/index.ts";
import { isStochastic, sigmasOf, varianceOf, type Volatility } from "../../market/index.ts";
import type { Greeks } from "../options.ts";
import { mayEndEarly, type Terms } from "../terms.ts";
import { commonWidth, kinksOf, deviationAt, lastObservationTime, nextEvent, widthOf } from "./kinks.ts";
import type { MoveSizes } from "./directions.ts";
import {
  correlationMove,
  correlationRoom,
  correlationStep,
  correlationStepOnPaths,
  distanceToEnd,
  TINY,
} from "./correlation-moves.ts";
import { type BumpSizes, DELTA, GAMMA, type Pair, type Step, type Valuation } from "./differences.ts";

/**
 * The sizes of moves along directions, by how values are computed: by formulas, whose only error is rounding, or with
 * an error by discretisation, which must be small beside the move.
 */
export const DIRECTION_SIZES: Readonly<Record<"exact" | "discretised", MoveSizes>> = {
  exact: { volatility: 1e-4, quote: 1e-4, rate: 1e-5, dividend: 1e-5, spread: 1e-5 },
  // A quote moves the curvature of a smile, and with it the local volatility many times as much.
  discretised: { volatility: 5e-3, quote: 5e-4, rate: 5e-4, dividend: 1e-3, spread: 1e-3 },
};

/** The longest time step of theta by differences, in years. */
const DAY = 1 / 365;
/** The share that a time step may be of the years to the next event, and to a date at which the value bends. */
const TIME_STEP = { event: 0.5, bend: 5e-3 } as const;

/** A move of rates, and the most that it may move the forward of the last date by, in standard deviations. */
const RATE = 1e-3;
const RATE_DEVIATIONS = 0.1;
/** The least move of a rate to both sides where it must not cross 0. */
const MIN_CENTRAL_RATE = 2e-4;
/** The moves of volatilities on grids, on trees, and on paths: there at most, and relative to the volatility. */
const VOLATILITY = { grid: 2e-3, tree: 0.01, path: 0.01, pathRelative: 0.03 } as const;
/** The relative moves of a spot on trees: for delta, and the most for gamma. */
const ON_TREE = { first: 0.01, most: 0.25 } as const;
/** The points of a tree between two spots of a second difference: a value is a sum of kinks, one for each point. */
const POINTS = 3;
/**
 * The move of a spot on paths, in standard deviations of the logarithm of what the payoff reads, whose square is the
 * relative bias of second differences, about, while their variance falls with it; relative to the spot in any case
 * within bounds.
 */
const DEVIATIONS = 0.1;
const ON_PATH = { min: 2e-5, max: 0.1 } as const;
/**
 * What keeps the moves on paths clear of a bend: it matters within so many standard deviations of the spot until then,
 * a move across it may be such a share of one, and a move up to it is taken if it is such a share of the usual one.
 */
const BEND = { reach: 3, share: 0.2, room: 0.1 } as const;
/** The share of the distance of two barriers that a move may be. */
const BETWEEN = 0.05;

const central = (by: number): Step => ({ by, moves: MOVES.CENTRAL });

/** Moves of a volatility, down no further than to 0. */
const ofVolatility = (by: number, volatility: Volatility): Step => ({
  by: 1,
  moves: movesWithin(by, { up: Number.POSITIVE_INFINITY, down: lowest(volatility) }),
});

/**
 * The moves of volatility, relative to it, and of rates on one-factor meshes: by the derivatives of a scheme, of
 * solutions, and of solutions in f32, whose rounding asks for wide ones.
 */
const ON_MESH = {
  derivatives: { volatility: 1e-6, rate: 1e-7 },
  solutions: { volatility: 1e-5, rate: 1e-6 },
  f32: { volatility: 0.05, rate: 0.01 },
} as const;

/**
 * Returns the moves of volatility and rates in whose directions one-factor meshes tell slopes. Small moves tell the
 * slope of the very value, as no exercise begins or ends within them.
 */
export function movesOnMeshes(
  problem: OneFactorProblem,
  kind: keyof typeof ON_MESH,
): { readonly volatility: number; readonly rate: number } {
  const { expiry } = problem;
  const sigma = Math.sqrt(totalVariance(problem) / expiry);
  const { volatility, rate } = ON_MESH[kind];
  return { volatility: volatility * sigma, rate: Math.min(rate, (RATE_DEVIATIONS * sigma) / Math.sqrt(expiry)) };
}

/** The correlation from which two assets part by less than what moves of a spot on paths are. */
const TOGETHER = 0.98;

/** Tells whether some assets move nearly together. */
const moveTogether = ({ assets, correlations }: Pick<Terms, "assets" | "correlations">): boolean =>
  assets.some((_, i) => correlations[i].some((rho, l) => l < i && rho > TOGETHER));

/**
 * Returns the bump sizes for grids of several factors. Tiny moves to one side, on the mesh of the trade, tell the slope
 * of the very value that is computed, with one solution for each input. With early exercise the boundary's place among
 * the nodes makes that slope six times as wrong as that over a move that takes the boundary to other nodes; in f32
 * moves must stand out of the rounding. Then they are central, since wide moves leave a bias. Without `movesRate` rho
 * is known otherwise.
 */
export function bumpsOnGrids(terms: Terms, precision: Precision, movesRate: boolean): BumpSizes {
  const { assets, correlations, exercise } = terms;
  const isTiny = precision !== "f32" && exercise.kind === "european";
  const step = (wide: Step): Step => (isTiny ? { by: TINY, moves: MOVES.FORWARD } : wide);
  return {
    volatilities: assets.map(({ volatility }) =>
      isStochastic(volatility) ? undefined : step(ofVolatility(VOLATILITY.grid, volatility)),
    ),
    together: moveTogether({ assets, correlations }),
    ...(movesRate ? { rate: step(rateStep(terms)) } : {}),
    correlation: (pair) => correlationStep(correlations, pair, isTiny),
  };
}

/** Moves of rates that do not cross 0 where there is early exercise, which begins there. */
function rateStep({ rates: { values }, exercise, shortRate }: Terms): Step {
  if (exercise.kind === "european" || shortRate !== undefined) return central(RATE);
  const down = Math.min(...values.map((rate) => (rate >= 0 ? rate : Number.POSITIVE_INFINITY)));
  const up = Math.min(...values.map((rate) => (rate < 0 ? -rate : Number.POSITIVE_INFINITY)));
  const { by, side } = limitedMoves(RATE, { up, down }, { least: MIN_CENTRAL_RATE, beside: RATE, share: 0.5 });
  return side === 0 ? central(by) : { by: side * by, moves: MOVES.BESIDE };
}

/**
 * Returns the bump sizes for a quantization tree. `size` is the number of its points, and `deviation` the standard
 * deviation of the log-spot on the last date. Points in the middle of an optimal quantization are √(6π)/N standard
 * deviations apart.
 */
export function bumpsOnTrees(
  { terms, spots: [spot] }: Valuation,
  { size, deviation }: { readonly size: number; readonly deviation: number },
  greeks: Greeks,
): BumpSizes {
  const { first, most } = ON_TREE;
  const wide = (POINTS * Math.sqrt(6 * Math.PI) * deviation) / size;
  const [{ volatility }] = terms.assets;
  return {
    spots: { first: [first * spot], second: [Math.min(Math.max(first, wide), most) * spot] },
    ...(greeks === "all" ? { volatilities: [ofVolatility(VOLATILITY.tree, volatility)], rate: central(RATE) } : {}),
  };
}

/** Returns the lowest instantaneous volatility, by which it can be moved down; infinite where a formula has it. */
export function lowest(volatility: Volatility): number {
  if (volatility.kind === "deterministic") return Math.min(...volatility.sigma.values);
  if (volatility.kind === "heston") return Math.sqrt(varianceOf(volatility));
  if (volatility.kind !== "gaussianFactors") return Number.POSITIVE_INFINITY;
  const [a, b = 0] = sigmasOf(volatility);
  return Math.sqrt(Math.max(a * a + 2 * volatility.rho * a * b + b * b, 0));
}

/**
 * Returns a time step for theta that contains no event. `bend` is the time in years until the value has a kink; the
 * step is short compared with it.
 */
export const timeStep = (terms: Terms, bend = Number.POSITIVE_INFINITY): number =>
  Math.min(DAY, TIME_STEP.event * nextEvent(terms), TIME_STEP.bend * bend);

/** The move of a spot on paths. */
interface SpotMove {
  /** The move, in the currency. */
  readonly by: number;
  readonly side: Side;
  /** The width over which the value bends, in the currency. */
  readonly width: number;
  /** The years until the value bends at a level that is near. */
  readonly until: number;
}

/**
 * Returns the move of one spot on paths, or of it among all spots (`isCommon`), clear of the levels at which the value
 * bends. A common move changes no quotient of spots.
 */
function spotMove({ terms, spots }: Valuation, asset: number, scale: number, isCommon = false): SpotMove {
  const spot = spots[asset];
  const { volatility } = terms.assets[asset];
  const bends = kinksOf(terms, asset).map(({ level, from, side }) => ({
    distance: Math.abs(spot - level),
    away: Math.sign(spot - level) || side,
    from,
    blur: spot * deviationAt(volatility, spot, from),
  }));
  const clear = (away: number): number =>
    Math.min(...bends.filter((one) => one.from === 0 && one.away === away).map(({ distance }) => distance));
  // No value changes over less than that of a logarithm, or over more than the spot.
  let width = spot * Math.min(isCommon ? commonWidth(terms, asset, spots) : widthOf(terms, asset, spots), 1);
  // Between two barriers the value is a sine, about.
  width = Math.min(width, (clear(1) + clear(-1)) * (BETWEEN / DEVIATIONS));
  let until = Number.POSITIVE_INFINITY;
  const { min, max } = ON_PATH;
  const usual = (): number => Math.min(Math.max(scale * DEVIATIONS * width, min * spot), max * spot);
  for (const { distance, from, blur } of bends) {
    if (from === 0 || distance - BEND.reach * blur >= usual()) continue;
    width = Math.min(width, Math.max((BEND.share / DEVIATIONS) * blur, distance - BEND.reach * blur));
    until = Math.min(until, from);
  }
  // A value is smooth up to a level that counts now, and next to it differences are taken on its own side.
  const within = 1 - 1e-9;
  const by = usual();
  const limits = { least: BEND.room * by, beside: 0.5 * by, share: 0.5 };
  return { ...limitedMoves(by, { up: within * clear(-1), down: within * clear(1) }, limits), width, until };
}

/** What Monte Carlo asks of bumps. */
interface OnPaths {
  /** Returns the terms some years later, if the trade still exists then. */
  readonly later: (years: number) => Terms | undefined;
  /** A factor on the bumps. */
  readonly scale: number;
  /** Tells whether a first derivative is taken along paths. */
  readonly isSmooth: (measure: string) => boolean;
}

/** Returns the bump sizes for Monte Carlo paths. */
export function bumpsOnPaths(valuation: Valuation, greeks: Greeks, { later, scale, isSmooth }: OnPaths): BumpSizes {
  const { terms, spots } = valuation;
  const { assets, correlations } = terms;
  const last = lastObservationTime(terms) || terms.expiry;
  const moves = spots.map((_, asset) => spotMove(valuation, asset, scale));
  const common = assets.length === 1 ? moves : spots.map((_, asset) => spotMove(valuation, asset, scale, true));
  const deviations = assets.map(({ volatility }, i) => deviationAt(volatility, spots[i], last));
  const bend = Math.min(last, ...moves.map(({ until }) => until));
  const years = timeStep(terms, bend * scale * scale);
  const first = moves.map(({ by }) => by);
  const sides = moves.map(({ side }) => side);
  const volatilities = assets.map(({ volatility }, i): Step => {
    const relative = (VOLATILITY.pathRelative * deviations[i]) / Math.sqrt(last) || VOLATILITY.path;
    return ofVolatility(scale * Math.min(VOLATILITY.path, relative), volatility);
  });
  const rate = scale * Math.min(RATE, (RATE_DEVIATIONS * Math.max(...deviations)) / last || RATE);
  return {
    // The second derivative of a value whose rule of exercise does not move is another one.
    spots: {
      first,
      ...(mayEndEarly(terms) ? {} : { second: first }),
      sides,
      common: Math.min(...common.map(({ by }) => by)),
    },
    together: moveTogether(terms),
    // No event, and so no expiry, is within the step.
    later: { years, at: (some) => later(some)! },
    along: (measure) => (isSmooth(measure) ? smallMoves(measure, valuation, last) : undefined),
    ...(greeks === "all"
      ? {
          cross: true,
          volatilities,
          rate: central(rate),
          correlation: (pair: Pair) => correlationStepOnPaths(correlations, pair),
        }
      : {}),
    bias(measure, found) {
      if (isSmooth(measure)) return 0;
      const [kind, i, j] = measure.split(" ");
      const size = Math.abs(found(measure));
      switch (kind) {
        case "theta":
          return (years / bend) * size;
        case "rho":
          return 0.2 * ((rate * last) / Math.max(...deviations) || 0) ** 2 * size;
        case "vega": {
          const own = i === "all" ? [...moves.keys()] : [Number(i)];
          const shares = own.map((k) => (volatilities[k].moves[0] * Math.sqrt(last)) / deviations[k] || 0);
          return VEGA_BIAS * Math.max(...shares) ** 2 * size;
        }
        case "correlation": {
          const pair = [Number(i), Number(j)] as const;
          const move = Math.abs(correlationMove(correlations, pair));
          return (move / Math.max(distanceToEnd(correlations, pair, deviations), move)) * size;
        }
        default: {
          const own = [...moves.keys()].filter((asset) => i === "all" || Number(i) === asset || Number(j) === asset);
          const other = kind === "delta" ? GAMMA : DELTA;
          const of = i === "all" ? common : moves;
          return Math.max(...own.map((asset) => spotBias(kind, of[asset], size, Math.abs(found(other(asset))))));
        }
      }
    },
  };
}

/**
 * The small moves of an input for derivatives along paths, relative to what it takes to change a value, and where
 * nothing says how much that is.
 */
const SMALL = { relative: 1e-6, ofTime: 1e-5, other: 1e-7 } as const;

/**
 * Returns the move by which the inputs of paths are differentiated. They are smooth closed forms, so that a move far
 * below those of bumps, to one side, leaves neither a bias nor rounding that counts, and meets no end of a range.
 * `last` is the last time at which the payoff sees the spot.
 */
function smallMoves(measure: string, { terms, spots }: Valuation, last: number): Step {
  const [kind, i, j] = measure.split(" ");
  const { relative, ofTime, other } = SMALL;
  const forward = (by: number): Step => ({ by, moves: MOVES.FORWARD });
  const own = spots.flatMap((_, asset) => (i === "all" || i === undefined || Number(i) === asset ? [asset] : []));
  const deviations = own.map((asset) => deviationAt(terms.assets[asset].volatility, spots[asset], last));
  const width = Math.min(...deviations.filter((one) => one > 0), 1);
  switch (kind) {
    case "delta":
      return forward(Math.min(...own.map((asset) => spots[asset])) * relative * width);
    case "vega":
      return forward(last > 0 ? (relative * width) / Math.sqrt(last) : other);
    case "correlation": {
      const { up, down } = correlationRoom(terms.correlations, [Number(i), Number(j)]);
      return forward(up > down ? relative * up : -relative * down);
    }
    case "theta":
      return forward(ofTime * Math.min(nextEvent(terms), DAY));
    default:
      return forward(Math.min(last > 0 ? (relative * width) / last : other, relative));
  }
}

/** The bias of a vega in units of the squared relative move. */
const VEGA_BIAS = 3;

/**
 * The bias of a first or second difference of a size: V‴ is about V″ and V′ over the width and its square, and V⁗ is V″
 * and V′ over the square and the cube. Differences to one side are of lower order. `other` is the size of the gamma
 * beside a delta, and of the delta beside a gamma.
 */
function spotBias(kind: string, { by, side, width }: SpotMove, size: number, other: number): number {
  const share = by / width;
  if (kind === "delta") return (side === 0 ? 1 : 2.5) * share ** 2 * (0.2 * size + 0.25 * width * other);
  return side === 0 ? share ** 2 * (0.5 * size + (0.1 * other) / width) : share * (size + other / width);
}
