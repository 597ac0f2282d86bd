import type { ScriptedTrade, Trade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import type { Settings } from "../../options.ts";
import { bumpsOnPaths } from "../../plan/bump-sizes.ts";
import { differencesOf } from "../../plan/differences.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import type { Estimator } from "../../plan/request.ts";
import { assetsOf, termsOf } from "../../terms.ts";
import { isEarly, whyNoModel, whyNoProduct } from "./acceptance.ts";
import { jumps, smoothAlongPaths } from "./smooth.ts";
import { exactEstimate, isGeometricBasket, type PathEstimate } from "./without-paths.ts";

/** The time in microseconds that a case of a trade takes on one core, about: more than any other method. */
const COST = 1e6;
/** The cost of a closed form with sensitivities, in microseconds. */
const EXACT_COST = 50;

/**
 * The Monte Carlo method: path-dependent payoffs, baskets of any size, and trades beyond equations of three factors.
 * The error estimate is half of a confidence interval of at least 98 %, plus the bias of the scheme or the exercise
 * rule. Sensitivities are differences of values on the same paths. Random numbers depend only on the seed and the
 * trade's terms, so that a trade has the same value in any book.
 *
 * Cost: about 30 ns for each path, date and underlying, for the value and again for each bump. Source:
 * docs/montecarlo.md. Verified: test/pricing/montecarlo.
 */
export const montecarlo = {
  name: "montecarlo",
  minCost: EXACT_COST,
  accuracy: TARGET_ERRORS.montecarlo,
  accepts,
  open: (device) => ({
    plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(batch, device))),
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns, settings }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  let isExact = true;
  for (const date of cases.dates) {
    const terms = termsOf(columns.tradeOf(trade), date, { volatility: 0, rate: 0 });
    const reason = terms === undefined ? undefined : (whyNoModel(terms) ?? whyNoProduct(terms));
    if (reason !== undefined) return reason;
    isExact &&= terms === undefined || isGeometricBasket(terms);
  }
  if (isExact) return EXACT_COST;
  return cases.count * (1 + cases.spots) * costOf(columns.tradeOf(trade), settings);
}

/**
 * The time in microseconds of a European option on several underlyings: in any case, and for each value and underlying
 * at 1e-3.
 */
const VALUE_COST = 5e4;
const PATHS_COST = 2e3;

/** More than three underlyings may have sparse grids instead, which win where much is asked for. */
function costOf({ assets = [], exercise }: Trade, { accuracy = TARGET_ERRORS.montecarlo, greeks }: Settings): number {
  const d = assets.length;
  if (d < 4 || exercise.kind !== "european") return COST;
  const moves = greeks === "all" ? 4 * d + 6 + (d * (d - 1)) / 2 : 0;
  return VALUE_COST + PATHS_COST * d * (TARGET_ERRORS.montecarlo / accuracy) ** 2 * (1 + moves);
}

/** The size of bumps where values are exact: rounding then costs second differences 1e-7 of the value. */
const EXACT_SCALE = 0.1;
/** The scale of bumps where a payoff jumps: the paths that cross the jump are few. */
const JUMP_SCALE = 2;

/** A level has twice the paths of the one before. */
const MAX_LEVEL = 11;

/** Returns the estimator of the values of trades by paths. */
export const estimatorOf = ({ columns }: Batch, device: Device): Estimator<PathEstimate> => ({
  accuracy: TARGET_ERRORS.montecarlo,
  accuracyOfF32: 0,
  limited: WARNING.pathsLimited,
  servesAllSpots: false,
  findsDifferences: true,
  refinesEach: true,
  async estimate(requests, settings) {
    // Most books do without.
    const { simulate } = await import("./simulate.ts");
    const { raiseToEuropean } = await import("./european-floor.ts");
    const stream = (trade: number): number => streamOf(columns.tradeOf(trade));
    await simulate(device, requests, stream, settings);
    await raiseToEuropean(device, requests, stream, settings);
  },
  finerLevel: ({ terms, level, estimate }, ratio) => {
    const { halfWidth = 0, errors } = estimate!;
    // Bounds that no further steps bring together.
    const isSettled = halfWidth > 0 && errors[0] - halfWidth < (0.25 * errors[0]) / ratio;
    return isEarly(terms) || isSettled ? level : Math.min(level + 1, MAX_LEVEL);
  },
  growth: (_, from, to) => 2 ** (to - from),
  copyLevel: ({ level }) => level,
  differencesOf({ terms, spots: [spots] }, greeks, later) {
    if (terms.expiry === 0) return { copies: [], formulas: [] };
    const scale = exactEstimate(terms, spots) !== undefined ? EXACT_SCALE : jumps(terms) ? JUMP_SCALE : 1;
    const isSmooth = smoothAlongPaths(terms, spots);
    return differencesOf({ terms, spots }, bumpsOnPaths({ terms, spots }, greeks, { later, scale, isSmooth }));
  },
  smoothAlongPaths,
  measuresOf: ({ estimate }) => estimate!.measures ?? new Map(),
});

/**
 * Returns the number of a trade's random stream, a 32-bit hash of its terms: underlyings by name, payoff, expiry,
 * exercise and barriers. Id, quantity and position are excluded, so that a trade has the same value in any book. The
 * market is excluded, so that values before and after a market move use the same random numbers.
 */
export function streamOf(trade: Trade | ScriptedTrade): number {
  const { payoff, expiry, exercise, barriers } = trade;
  const names = assetsOf(trade).map(({ underlying }) => underlying.name);
  if (payoff.kind === "script") {
    const dates = payoff.dates.map(({ time }) => time);
    return finish(hashed(0x9e3779b9, [names, payoff.program.key, [...payoff.scalars], dates]));
  }
  return finish(hashed(0x9e3779b9, [names, payoff, expiry, exercise, barriers]));
}

/** The properties that a stream ignores: the place of a formula in the book says nothing of what it is. */
const PLACES: readonly string[] = ["place"];

const bits = new DataView(new ArrayBuffer(8));

/** A hash goes on with a value of the book: a number, a text, a list or a record, whose fields have no order. */
function hashed(hash: number, value: unknown): number {
  if (typeof value === "number") {
    // −0 is 0.
    bits.setFloat64(0, value + 0);
    return mixed(mixed(hash, bits.getUint32(0)), bits.getUint32(4));
  }
  if (typeof value === "string") {
    let h = mixed(hash, 1);
    for (let i = 0; i < value.length; i++) h = mixed(h, value.charCodeAt(i));
    return h;
  }
  if (Array.isArray(value)) return value.reduce<number>(hashed, mixed(hash, value.length + 2));
  if (typeof value !== "object" || value === null) return hashed(hash, String(value));
  return Object.entries(value)
    .filter(([name, field]) => field !== undefined && !PLACES.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .reduce((h, [name, field]) => hashed(hashed(h, name), field), hash);
}

/** A step and the end of MurmurHash3 (A. Appleby, public domain), of words of 32 bits. */
function mixed(hash: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
