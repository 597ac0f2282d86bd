import { LastUsed } from "../last-used.ts";
import type { Payoff, Scenarios, Trade } from "../book/index.ts";
import {
  type Diffusion,
  jumpsBetween,
  type OneFactorProblem,
  SAME_DATE,
  totalVariance,
  volatilityAt,
} from "../fdm/index.ts";
import { formula, formulaVariables, onColumn } from "../kernel/index.ts";
import type { PiecewiseConstant, Volatility } from "../market/index.ts";
import { type TradeProblems, withBarriers } from "./trade-barriers.ts";
import { digitalPayoff, functionPayoff, type PayoffProfile, vanillaPayoff } from "../products/index.ts";

/**
 * The one-factor problems behind the trade `trades[index]`.
 * @throws KernelError for a formula that cannot be read; BookError for terms that cannot be priced together
 */
export function tradeProblems(trade: Trade, index: number, scenarios: Scenarios | undefined): TradeProblems {
  return withBarriers(tradeProblem(trade, scenarios), trade, index);
}

/** The problem without the trade's barriers. @throws KernelError for a formula that cannot be read */
export function tradeProblem(trade: Trade, scenarios: Scenarios | undefined): OneFactorProblem {
  const { underlying, expiry, exercise } = trade;
  const american = exercise.kind === "american";
  const early = exercise.kind === "bermudan" ? exercise.times.filter((time) => time < expiry * (1 - SAME_DATE)) : [];
  // One paid at expiry itself still comes before the payoff.
  const dividends = underlying.dividends.discrete
    .filter(({ time }) => time <= expiry)
    .map((dividend) => ({ ...dividend, time: Math.min(dividend.time, expiry * (1 - 1e-7)) }));
  const problem = {
    spots: [underlying.spot, ...(scenarios?.spot ?? []).map((shift) => underlying.spot * (1 + shift))],
    expiry,
    payoff: payoffProfile(trade.payoff),
    american,
    ...(early.length > 0 ? { exerciseTimes: early } : {}),
    rates: underlying.rates,
    dividendYield: underlying.dividends.yield,
    dividends,
    diffusion: diffusionOf(trade),
  };
  const isJump = american ? movesBoundary : turnsDrift(problem);
  const restarts = regimeChanges(problem, trade, isJump);
  return restarts.length === 0 ? problem : { ...problem, restarts };
}

type IsJump = (before: number, after: number) => boolean;

/** Whether a jump of the short rate moves an exercise boundary. */
const movesBoundary: IsJump = (before, after) => Math.abs(after - before) >= RATE_JUMP;

/** Whether it changes where drift takes the spot by more than diffusion blurs. */
function turnsDrift(problem: OneFactorProblem): IsJump {
  return (before, after) => Math.abs(after - before) * problem.expiry > Math.sqrt(totalVariance(problem));
}

/** A jump of the short rate by a percentage point, or of volatility by a seventh, moves an exercise boundary all at once. */
const RATE_JUMP = 0.01;
const VOLATILITY_JUMP = 0.15;

/**
 * Where rates or volatility jump by much, and no dividend is paid: the time grid then starts again there, with the damped,
 * short steps that the sudden move of an exercise boundary needs, or drift that turns where there is little else.
 */
function regimeChanges(
  { dividends, diffusion }: OneFactorProblem,
  { underlying, volatility, expiry, exercise }: Trade,
  isRateJump: IsJump,
): readonly number[] {
  const dates = jumps(underlying.rates, isRateJump);
  if (volatility.kind === "deterministic" && exercise.kind === "american")
    dates.push(
      ...jumps(
        volatility.sigma,
        (before, after) => Math.abs(after - before) >= VOLATILITY_JUMP * Math.min(before, after),
      ),
    );
  dates.push(...jumpsInTime(diffusion, underlying.spot, expiry));
  const isNew = (time: number, i: number): boolean =>
    time < expiry &&
    dates.indexOf(time) === i &&
    !dividends.some((dividend) => Math.abs(dividend.time - time) < 1e-6 * expiry);
  return dates.filter(isNew).sort((a, b) => a - b);
}

/** When σ(S, t) jumps at today's spot. */
function jumpsInTime(diffusion: Diffusion, spot: number, expiry: number): readonly number[] {
  if (diffusion.kind !== "formula") return [];
  return jumpsBetween(
    (time) => volatilityAt(diffusion, spot, time),
    MOMENTS.map((part) => part * expiry),
  );
}

function jumps({ times, values }: PiecewiseConstant, isJump: IsJump): number[] {
  return times.filter((_, i) => isJump(values[i], values[i + 1]));
}

export function payoffProfile(payoff: Payoff): PayoffProfile {
  switch (payoff.kind) {
    case "vanilla":
      return vanillaPayoff(payoff.right, payoff.strike);
    case "digital":
      return digitalPayoff(payoff.right, payoff.strike, payoff.cash);
    case "expression":
      return expressionPayoff(payoff);
    default:
      return payoff satisfies never;
  }
}

/** Formulas compile once however many trades carry them; bounded, since a stream may bring new ones for ever. */
const formulas = lastUsed((text: string) => formula(text, ["S"]));

function expressionPayoff({ expression, kinks, place = "payoff" }: Payoff & { kind: "expression" }): PayoffProfile {
  const evaluate = formulas(expression);
  return functionPayoff((spot) => evaluate(spot), kinks, `${place}: "${expression}"`);
}

const localVolatilities = lastUsed((text: string): Extract<Diffusion, { kind: "local" | "formula" }> => {
  const sigma = formula(text, ["S", "t"]);
  if (formulaVariables(text, ["S", "t"]).has("t")) return { kind: "formula", sigma, shift: 0 };
  return { kind: "local", sigma: (spot) => sigma(spot, 0), shift: 0 };
});

/** Prices at which σ(S) is looked at for jumps: parts of the spot, from 1/LOOKED_UP_TO to as many times it. */
const LOOKED_UP_TO = 32;
const LOOKS = Float64Array.from({ length: 513 }, (_, i) => LOOKED_UP_TO ** (i / 256 - 1));
/** Times at which σ(S, t) is looked at for jumps, parts of the life. */
const MOMENTS = Array.from({ length: 129 }, (_, i) => i / 128);
const FEW_MOMENTS = [0.02, 0.27, 0.52, 0.77, 0.98];

/** The prices at which σ(S) jumps, or whether σ(S, t) does at any, by formula and spot. */
const jumpsInPrice = lastUsed((key: string): readonly number[] => {
  const [spot, start, life, text] = JSON.parse(key) as [number, number, number, string];
  const diffusion = localVolatilities(text);
  const prices = LOOKS.map((part) => part * spot);
  if (diffusion.kind === "local") return jumpsBetween(diffusion.sigma, prices);
  const times = FEW_MOMENTS.map((part) => start + part * life);
  const jumps: number[] = [];
  onColumn(diffusion.sigma, prices, times, (values, time) =>
    jumps.push(...jumpsBetween((price) => diffusion.sigma(price, time), prices, values)),
  );
  return jumps;
});

function localDiffusion(
  { expression, added = 0, start = 0 }: Volatility & { kind: "local" },
  { underlying, expiry }: Trade,
): Diffusion {
  const diffusion = localVolatilities(expression);
  const { spot } = underlying;
  if (diffusion.kind === "local")
    return { ...diffusion, shift: added, jumps: jumpsInPrice(JSON.stringify([spot, 0, 0, expression])) };
  const jumps = jumpsInPrice(JSON.stringify([spot, start, expiry, expression])).length > 0;
  return { ...diffusion, shift: added, start, jumps };
}

function diffusionOf(trade: Trade): Diffusion {
  const { volatility } = trade;
  switch (volatility.kind) {
    case "deterministic":
      return { kind: "deterministic", sigma: volatility.sigma };
    case "cev": {
      const { sigma, beta, added = 0 } = volatility;
      return { kind: "local", sigma: (spot) => sigma * spot ** (beta - 1), shift: added };
    }
    case "displaced": {
      const { sigma, shift, added = 0 } = volatility;
      return { kind: "local", sigma: (spot) => (sigma * (spot + shift)) / spot, shift: added };
    }
    case "surface":
      return { kind: "surface", surface: volatility.surface, shift: volatility.added ?? 0 };
    case "local":
      return localDiffusion(volatility, trade);
    default:
      return volatility satisfies never;
  }
}

/** Remembers what `make` made of the last few texts. A pure function of its argument, whatever it remembers. */
function lastUsed<T>(make: (text: string) => T, size = 1024): (text: string) => T {
  const known = new LastUsed<string, T>(size);
  return (text) => known.getOrMake(text, make);
}
