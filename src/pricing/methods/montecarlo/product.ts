/** Payoffs of instances as a product of the path engine, with a column for each number. */
import { keyOf } from "../../../base/memoize.ts";
import type { Barrier } from "../../../book/index.ts";
import { fn, substituteVariables } from "../../../kernel/index.ts";
import { integrate } from "../../../market/index.ts";
import {
  asian,
  type BarrierSettings,
  basket,
  type BridgeDependence,
  european,
  lookback,
  pathProduct,
  type PathProduct,
  productParams,
  terminalPayoff,
  withBarriers,
} from "../../../montecarlo/index.ts";
import type { Terms, TermsPayoff } from "../../terms.ts";
import { scriptProduct } from "./script-product.ts";
import { pastOf, type SimulationInstance, strikeOf, weightToCome } from "./acceptance.ts";

/** A year's steps of an average over time, whose bias is of the order of the square of a step. */
const AVERAGE_STEPS = 128;

const BASKETS = { sum: "arithmetic", product: "geometric", max: "best-of", min: "worst-of" } as const;

/** Returns the number of steps between dates that the payoff requires. */
export function stepsOf({ payoff, expiry }: Terms): number {
  if (payoff.kind !== "average" || payoff.times !== "continuous") return 1;
  return 2 ** Math.ceil(Math.log2(Math.max(32, AVERAGE_STEPS * expiry)));
}

/** Tells whether the payoff depends on the path between dates, so that it needs Brownian bridges. */
export const needsBrownianBridge = ({ payoff, barriers }: Terms): boolean =>
  (payoff.kind === "lookback" && payoff.times === "continuous") ||
  barriers.some(({ monitoring }) => monitoring.kind === "continuous");

/** Returns a text that is equal for payoffs that can share a kernel. */
export function productKey(terms: Terms): string {
  const { payoff, barriers } = terms;
  if (payoff.kind === "script") return keyOf(["script", payoff.program.key]);
  const places = barriers.map(({ type, asset }) => [type, asset]);
  const own = barriers.length === 0 ? [] : [places, commonBarrierSettings(terms)];
  const { kind } = payoff;
  const right = kind === "expression" ? payoff.expression : payoff.right;
  const rest =
    kind === "average"
      ? [payoff.mean, payoff.times === "continuous"]
      : kind === "lookback"
        ? [payoff.isFloating, payoff.times === "continuous"]
        : kind === "basket"
          ? [payoff.of]
          : [];
  return keyOf([kind, right, ...rest, own]);
}

/**
 * Returns the path product that instances with equal keys, or their bumped copies, share; `terms` are the terms of any
 * one of these instances. The trade pays the payoff of the product times `scaleOf`.
 */
export function productOf(paths: readonly SimulationInstance[], terms: Terms, substeps: number): PathProduct {
  if (terms.payoff.kind === "script") return scriptProduct(paths, terms.payoff.program, substeps);
  const product = withoutBarriers(paths);
  const { barriers } = terms;
  if (barriers.length === 0) return product;
  const column = (of: (barrier: Barrier) => number, k: number): Float64Array =>
    Float64Array.from(paths, (path) => of(path.terms.barriers[k]));
  const { hasDrivers, ...settings } = commonBarrierSettings(terms);
  return withBarriers({
    product,
    barriers: barriers.map(({ type, asset }, k) => ({
      type,
      level: column(({ level }) => level, k),
      asset: asset ?? (terms.assets.length > 1 ? "each" : 0),
    })),
    rebate: column(({ rebate }) => rebate, 0),
    ...settings,
    dependence: paths.map((path) => dependenceOf(path.terms)),
    ...(hasDrivers ? { drivers: driverColumns(paths) } : {}),
  });
}

function driverColumns(paths: readonly SimulationInstance[]): readonly Float64Array[] {
  const all = paths.map(({ terms }) => driversOf(terms));
  return all[0].map((_, asset) => Float64Array.from(all, (drivers) => drivers[asset]));
}

function withoutBarriers(paths: readonly SimulationInstance[]): PathProduct {
  const column = (of: (path: SimulationInstance) => number): Float64Array => Float64Array.from(paths, of);
  const [{ terms }] = paths;
  const { payoff, assets } = terms;
  const strike = column((path) => strikeOf(path));
  switch (payoff.kind) {
    case "vanilla":
      return european({ payoff: payoff.right, strike });
    case "digital":
      return digital(
        payoff.right === "call" ? 1 : -1,
        strike,
        column((path) => cashOf(path.terms.payoff)),
      );
    case "expression": {
      // Of one underlying a formula is in S.
      const renamed = assets.length === 1 ? substituteVariables(payoff.expression, { S: "S1" }) : payoff.expression;
      return terminalPayoff({ payoff: renamed, assets: assets.length, isDiscontinuous: true });
    }
    case "basket": {
      const weights = payoff.weights.map((_, i) =>
        column((path) => (path.terms.payoff.kind === "basket" ? path.terms.payoff.weights[i] : Number.NaN)),
      );
      return basket({ payoff: payoff.right, strike, kind: BASKETS[payoff.of], weights });
    }
    case "average":
      return asian({
        payoff: payoff.right,
        strike,
        average: payoff.mean,
        sampling: payoff.times === "continuous" ? "continuous" : "dates",
      });
    case "lookback": {
      const isMaximum = (payoff.right === "call") !== payoff.isFloating;
      const extremum = column(({ terms: { payoff: own } }) =>
        own.kind === "lookback" ? (own.extremum ?? (isMaximum ? NO_MAXIMUM : NO_MINIMUM)) : Number.NaN,
      );
      return lookback({
        payoff: payoff.right,
        strike: payoff.isFloating ? "floating" : strike,
        monitoring: payoff.times === "continuous" ? "continuous" : "dates",
        extremum,
        // From the first date on, which may be today.
        from: column(({ terms: { payoff: own }, dates }) =>
          own.kind !== "lookback"
            ? Number.NaN
            : own.times === "continuous"
              ? own.from
              : own.times[0] <= 0
                ? 0
                : dates[0],
        ),
      });
    }
    default:
      throw new Error(`no paths of a ${payoff.kind}`);
  }
}

/** Extremes that every spot is beyond. */
const NO_MAXIMUM = 1e-30;
const NO_MINIMUM = 1e30;

const cashOf = (payoff: TermsPayoff): number => (payoff.kind === "digital" ? payoff.cash : Number.NaN);

/**
 * Returns the factor from the product's value to the trade's, which accounts for past fixings and for the time from the
 * last date to expiry.
 */
export function scaleOf(path: SimulationInstance): number {
  const { rates, expiry, payoff } = path.terms;
  const { dates } = path;
  // A script discounts its payments itself.
  if (payoff.kind === "script") return 1;
  const late = Math.exp(integrate(rates, dates[dates.length - 1]) - integrate(rates, expiry));
  const { count } = pastOf(path);
  if (count === 0) return late;
  const left = weightToCome(path);
  return (late * left) / (left + count);
}

/** φ·cash where S is beyond the strike, half of it there. */
function digital(sign: number, strike: Float64Array, cash: Float64Array): PathProduct {
  return pathProduct({
    name: "digital",
    running: 0,
    parameters: { strike, cash },
    payoffParameters: ["strike", "cash"],
    payoff: sign > 0 ? digitalPayoffs.call : digitalPayoffs.put,
    isDiscontinuous: true,
  });
}

const digitalPayoff = (sign: number) =>
  fn({
    name: "digitalPayoff",
    params: productParams.payoff,
    env: { SIGN: sign },
    body({ spots, p }, _gpu, { SIGN }) {
      const beyond = SIGN * (spots[0] - p[0]);
      return beyond > 0 ? p[1] : beyond < 0 ? 0.0 : 0.5 * p[1];
    },
  });
const digitalPayoffs = { call: digitalPayoff(1), put: digitalPayoff(-1) };

/** An underlying with barriers. */
interface Monitored {
  readonly asset: number;
  /** 1 with upper barriers alone, −1 with lower ones, 0 with both. */
  readonly side: number;
}

/** The settings of `withBarriers` that all barriers of a trade share, and on which the kernel depends. */
export type CommonSettings = Required<Pick<BarrierSettings, "monitoring" | "includesStart" | "rebateAt">> & {
  /** True where some underlyings move together, so that their bridges are the same. */
  readonly hasDrivers: boolean;
};

/** Returns the settings of `withBarriers` that all barriers of a trade share. @throws BookError if they differ */
export function commonBarrierSettings(terms: Terms): CommonSettings {
  const [{ type, rebate, rebateAt, monitoring }] = terms.barriers;
  const isDiscrete = monitoring.kind === "discrete";
  const paysAtHit = rebateAt === "hit" && rebate !== 0 && type.endsWith("-out");
  return {
    monitoring: isDiscrete ? "dates" : "continuous",
    includesStart: !isDiscrete || monitoring.times.some((time) => time <= 0),
    rebateAt: paysAtHit ? "breach" : "expiry",
    hasDrivers: driversOf(terms).some((driver, asset) => driver !== asset),
  };
}

/** The number of steps to begin with where the bounds of a value depend on them, the most, and those of all paths. */
const FIRST_STEPS = 16;
const MOST_STEPS = 1024;
const ON_ALL_PATHS = 2 ** 26;

/** The power of two by which steps grow. */
export const STEP_GROWTH = 2;

/**
 * Returns the maximum number of steps between dates for the given number of paths, for values that lie between bounds.
 */
export const mostSteps = (paths: number): number => Math.min(Math.max(ON_ALL_PATHS / paths, FIRST_STEPS), MOST_STEPS);

/**
 * Returns the number of steps between dates for a value that lies between bounds: the initial number, doubled
 * `fineness` times.
 */
export const boundedSteps = (terms: Terms, fineness: number, paths: number): number =>
  Math.min(firstSteps(terms) * 2 ** fineness, mostSteps(paths));

/**
 * Returns the number of steps between dates to begin with. Paths leave a value between bounds, which more steps bring
 * together, where bridges of several underlyings depend on each other, or a rebate is paid at a breach within a step.
 */
function firstSteps(terms: Terms): number {
  if (terms.barriers.length === 0) return 1;
  const { monitoring, rebateAt } = commonBarrierSettings(terms);
  if (monitoring === "dates") return 1;
  return rebateAt === "breach" || dependenceOf(terms) !== "independent" ? FIRST_STEPS : 1;
}

function monitoredOf({ assets, barriers }: Terms): readonly Monitored[] {
  return assets.flatMap((_, asset) => {
    const own = barriers.filter((barrier) => barrier.asset === undefined || barrier.asset === asset);
    if (own.length === 0) return [];
    const [up, down] = ["up", "down"].map((side) => own.some(({ type }) => type.startsWith(side)));
    return [{ asset, side: up && down ? 0 : up ? 1 : -1 }];
  });
}

/**
 * Returns, for each underlying, the index of the Brownian motion that drives it. Underlyings with barriers on the same
 * side share a Brownian motion where their correlation is 1 at all times.
 */
export function driversOf(terms: Terms): readonly number[] {
  const { assets, correlations } = terms;
  const monitored = monitoredOf(terms);
  const isConstant = (i: number): boolean => {
    const { volatility } = assets[i];
    return volatility.kind === "deterministic" && volatility.sigma.times.length === 0;
  };
  const sideOf = (i: number): number => monitored.find(({ asset }) => asset === i)?.side ?? 0;
  return assets.map((_, i) => {
    const first = assets.findIndex(
      (_one, j) =>
        j < i &&
        correlations[i][j] === 1 &&
        sideOf(i) !== 0 &&
        sideOf(i) === sideOf(j) &&
        isConstant(i) &&
        isConstant(j),
    );
    return first < 0 ? i : first;
  });
}

/**
 * Returns the dependence of the Brownian bridges of a trade's underlyings, as far as bounds of their joint survival are
 * known.
 */
export function dependenceOf(terms: Terms): BridgeDependence {
  const { correlations } = terms;
  const monitored = monitoredOf(terms);
  const drivers = driversOf(terms);
  const pairs = monitored.flatMap((a, k) => monitored.slice(k + 1).map((b) => [a, b] as const));
  const between = pairs.filter(([a, b]) => drivers[a.asset] !== drivers[b.asset]);
  if (between.every(([a, b]) => correlations[a.asset][b.asset] === 0)) return "independent";
  // Slepian's inequality is of one barrier for each.
  if (monitored.some(({ side }) => side === 0)) return "any";
  const signs = between.map(([a, b]) => a.side * b.side * correlations[a.asset][b.asset]);
  return signs.every((sign) => sign >= 0) ? "positive" : signs.every((sign) => sign <= 0) ? "negative" : "any";
}
