/** Early exercise on one asset. */
import type { Contract, DividendJson, RateJson } from "../../properties/contract.ts";
import { contractOf, drawDates, drawMarket, drawRight, drawStrike, type Market } from "../../properties/generate.ts";
import { rateIntegral } from "../../properties/market-functions.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, Known } from "../case.ts";
import { backward, right as rightOn, type Stage } from "../references/backward.ts";
import { gridValue, type GridTerms } from "../references/grid.ts";

/** A contract as a case. */
export function caseOf(contract: Contract, more: Pick<Case, "reference"> & Partial<Case>): Case {
  const { spot, rate, yield: q, discrete, volatility, payoff, strike, expiry, exercise, barriers } = contract;
  const dividends = q === undefined && discrete === undefined ? undefined : { yield: q, discrete };
  return {
    rates: rate,
    underlyings: { A: { spot, volatility, ...(dividends === undefined ? {} : { dividends }) } },
    trade: {
      underlying: "A",
      payoff,
      ...(strike === undefined ? {} : { strike }),
      expiry,
      ...(exercise === undefined ? {} : { exercise }),
      ...(barriers === undefined ? {} : { barriers }),
    },
    scale: spot,
    ...more,
  };
}

/** What the grid needs of a call or put; rates are forward rates. */
export function gridTermsOf(contract: Contract, sigma: (S: number, t: number) => number, level: number): GridTerms {
  const { spot, rate, yield: q = 0, discrete = [], payoff, strike = spot, expiry, exercise } = contract;
  const sign = payoff === "call" ? 1 : -1;
  return {
    spot,
    expiry,
    dividendYield: q,
    rate: forwardRate(rate),
    breaks: typeof rate === "number" ? [] : rate.map(({ date }) => date),
    sigma,
    level,
    payoff: (S) => Math.max(sign * (S - strike), 0),
    kinks: [strike],
    dividends: discrete,
    ...(exercise === undefined || exercise === "european" ? {} : { exercise }),
  };
}

function forwardRate(rate: RateJson): (t: number) => number {
  if (typeof rate === "number") return () => rate;
  const dates = [0, ...rate.map(({ date }) => date)];
  const forwards = rate.map(
    (_, k) => (rateIntegral(rate, dates[k + 1]) - rateIntegral(rate, dates[k])) / (dates[k + 1] - dates[k]),
  );
  return (t) => forwards[Math.min(rate.filter(({ date }) => date <= t).length, forwards.length - 1)];
}

/**
 * A call or put with constant coefficients, early exercise, and perhaps a knock-out: on the grid, or, where exercise
 * and barrier are on dates, by quadrature.
 */
export function ownValue(contract: Contract, enough?: number): Known {
  const { spot, rate, yield: q = 0, volatility, payoff, strike = spot, expiry, exercise, barriers = [] } = contract;
  const [level, r] = [Number(volatility), Number(rate)];
  const [barrier] = barriers;
  const isUp = barrier?.type === "up-and-out";
  if (exercise === "american" || (barrier !== undefined && barrier.monitoring === undefined)) {
    if (barrier?.monitoring !== undefined) throw new Error("a barrier on dates beside American exercise");
    const ends = barrier === undefined ? {} : isUp ? { upper: barrier.level } : { lower: barrier.level };
    return gridValue({ ...gridTermsOf(contract, () => level, level), ...ends }, enough);
  }
  const sign = payoff === "call" ? 1 : -1;
  const intrinsic = (x: number): number => Math.max(sign * (Math.exp(x) - strike), 0);
  const edge = barrier === undefined ? 0 : Math.log(barrier.level);
  const isOut = (x: number, time: number): boolean =>
    barrier?.monitoring?.includes(time) === true && (isUp ? x >= edge : x <= edge);
  const exercised = exercise === undefined || exercise === "european" ? [] : exercise;
  const times = [...new Set([...exercised, ...(barrier?.monitoring ?? []), expiry])].toSorted((a, b) => a - b);
  const stages = times.map((time): Stage => {
    const own = exercised.includes(time) && time !== expiry ? rightOn(time, intrinsic) : undefined;
    const kinks = time === expiry ? [Math.log(strike)] : [];
    return {
      time,
      value: (x, kept) =>
        isOut(x, time) ? 0 : time === expiry ? intrinsic(x) : own === undefined ? kept : own.value(x, kept),
      breaks: (kept, from, to) => [
        ...kinks,
        ...(barrier === undefined ? [] : [edge]),
        ...(own?.breaks(kept, from, to) ?? []),
      ],
    };
  });
  const motion = {
    variance: (from: number, to: number) => level * level * (to - from),
    drift: (from: number, to: number) => (r - q - 0.5 * level * level) * (to - from),
    discount: (from: number, to: number) => Math.exp(-r * (to - from)),
  };
  return { value: backward(Math.log(spot), motion, stages), error: 1e-8 * spot };
}

const constantMarket = (random: Random): Market =>
  drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["flat"] });

/** A drift beyond which the grid of the reference would have to be wider than it is. */
const isOrdinary = ({ deviation, rate, expiry, yield: q = 0 }: Market): boolean => {
  const drift = typeof rate === "number" ? Math.abs(rate - q) * expiry : 0;
  return deviation < 3 && drift < 12 * deviation;
};

function american(random: Random): Case | undefined {
  const market = constantMarket(random);
  if (!isOrdinary(market)) return undefined;
  const contract: Contract = {
    ...contractOf(market),
    payoff: drawRight(random),
    strike: drawStrike(random, market),
    exercise: "american",
  };
  const level = Number(contract.volatility);
  return caseOf(contract, { reference: () => gridValue(gridTermsOf(contract, () => level, level)) });
}

/** r < q < 0 for calls, q < r < 0 for puts: exercise between two boundaries. */
function twoBoundaries(random: Random, method: "integral" | "fdm"): Case {
  const isCall = random.chance(0.5);
  const [low, high] = random.sorted(2, () => -random.uniform(0.002, 0.1));
  const expiry = random.logUniform(0.1, 8);
  const volatility = random.logUniform(0.03, 0.4);
  const width = Math.min(volatility * Math.sqrt(expiry), 1);
  const contract: Contract = {
    spot: 100,
    rate: isCall ? low : high,
    yield: isCall ? high : low,
    volatility,
    payoff: isCall ? "call" : "put",
    strike: 100 * Math.exp(width * random.normal()),
    expiry,
    exercise: "american",
  };
  return caseOf(contract, {
    method,
    reference: () => gridValue(gridTermsOf(contract, () => volatility, volatility)),
  });
}

function onCurves(random: Random): Case | undefined {
  const market = drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["curve"] });
  if (!isOrdinary(market)) return undefined;
  const contract: Contract = {
    ...contractOf(market),
    payoff: drawRight(random),
    strike: drawStrike(random, market),
    exercise: "american",
  };
  const level = Number(contract.volatility);
  return caseOf(contract, { reference: () => gridValue(gridTermsOf(contract, () => level, level)) });
}

/** Dividends in cash of an ordinary size, now and then of a fifth of the spot. */
function cashDividends(random: Random, { spot, expiry }: Market): DividendJson[] {
  const count = 1 + random.integer(4);
  const dates = random.sorted(count, () => random.uniform(0.03, 0.97) * expiry);
  return dates.map((date) => ({
    date,
    ...(random.chance(0.7)
      ? { cash: spot * (random.chance(0.1) ? random.uniform(0.05, 0.2) : random.uniform(0.002, 0.04)) }
      : { proportional: random.uniform(0.002, 0.05) }),
  }));
}

function withDividends(random: Random): Case | undefined {
  const market = constantMarket(random);
  if (!isOrdinary(market) || market.deviation > 1) return undefined;
  const contract: Contract = {
    ...contractOf(market),
    discrete: cashDividends(random, market),
    payoff: drawRight(random),
    strike: drawStrike(random, market),
    exercise: "american",
  };
  const level = Number(contract.volatility);
  return caseOf(contract, { reference: () => gridValue(gridTermsOf(contract, () => level, level)) });
}

function onDates(random: Random): Case | undefined {
  const market = constantMarket(random);
  const { expiry } = market;
  const dates = drawDates(random, expiry).filter((date) => date < 0.99 * expiry);
  const gaps = [...dates, expiry].map((date, k, all) => date - (all[k - 1] ?? 0));
  if (market.deviation > 3 || dates.length === 0 || Math.min(...gaps) < 0.01 * expiry) return undefined;
  const payoff = drawRight(random);
  const strike = drawStrike(random, market);
  const contract: Contract = { ...contractOf(market), payoff, strike, exercise: dates };
  return caseOf(contract, { reference: () => ownValue(contract) });
}

const EXTENT = "volatilities 0.5 to 120 %, two days to 15 years";

export const americanFamilies: readonly Family[] = [
  { name: "American, constant coefficients", reference: "own solution", draws: EXTENT, draw: american },
  {
    name: "American with two boundaries, integral equation",
    reference: "own solution",
    draws: "rates and yields −10 to −0.2 %, to 8 years",
    draw: (random) => twoBoundaries(random, "integral"),
  },
  {
    name: "American with two boundaries, finite differences",
    reference: "own solution",
    draws: "rates and yields −10 to −0.2 %, to 8 years",
    draw: (random) => twoBoundaries(random, "fdm"),
  },
  { name: "American on zero curves", reference: "own solution", draws: EXTENT, draw: onCurves },
  {
    name: "American with dividends on dates",
    reference: "own solution",
    draws: "one to four of 0.2 to 20 % of the spot",
    draw: withDividends,
  },
  {
    name: "exercise on dates",
    reference: "quadrature",
    draws: "one to eleven dates, two days to 15 years",
    draw: onDates,
  },
];
