/** Averages and lookbacks of a lognormal asset; European options, swings and early exercise under mean reversion. */
import { blackScholes } from "../../properties/closed-forms.ts";
import type { Right } from "../../properties/contract.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, Json, Known } from "../case.ts";
import { backward, paid, right as rightOn } from "../references/backward.ts";
import { incrementsOf, meanOfExtreme, meanOfLargest, meanOfSmallest, meanOfSum } from "../references/paths.ts";
import { swingValue } from "../references/swing.ts";

interface Lognormal {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly expiry: number;
}

function drawLognormal(random: Random): Lognormal {
  const isExtreme = random.chance(0.15);
  return {
    spot: 100,
    rate: random.uniform(-0.01, 0.09),
    yield: random.choice([0, random.uniform(0, 0.07)]),
    volatility: isExtreme ? random.logUniform(0.02, 1.2) : random.logUniform(0.08, 0.6),
    expiry: isExtreme ? random.logUniform(0.02, 10) : random.logUniform(0.1, 4),
  };
}

const widthOf = ({ volatility, expiry }: Lognormal): number => Math.min(volatility * Math.sqrt(expiry), 0.8);
const drawRight = (random: Random): Right => random.choice(["call", "put"] as const);

const caseOf = (model: Lognormal, trade: Json, reference: () => Known): Case => ({
  rates: model.rate,
  underlyings: { A: { spot: model.spot, volatility: model.volatility, dividends: { yield: model.yield } } },
  trade: { underlying: "A", expiry: model.expiry, ...trade },
  scale: model.spot,
  reference,
});

const datesUpTo = (expiry: number, count: number): number[] =>
  Array.from({ length: count }, (_, k) => (expiry * (k + 1)) / count);

const incrementsTo = ({ rate, yield: q, volatility }: Lognormal, dates: readonly number[]) =>
  incrementsOf(dates, rate - q, (from, to) => volatility ** 2 * (to - from));

function arithmetic(random: Random): Case {
  const model = drawLognormal(random);
  const { spot, rate, expiry } = model;
  const payoff = drawRight(random);
  const sign = payoff === "call" ? 1 : -1;
  const count = 2 + random.integer(24);
  const dates = datesUpTo(expiry, count);
  const strike = spot * Math.exp(widthOf(model) * 0.6 * random.normal());
  return caseOf(model, { payoff, strike, average: { kind: "arithmetic", dates } }, () => {
    const f = (z: number): number => Math.max(sign * (spot * Math.exp(z) - strike), 0);
    const mean = meanOfSum(
      incrementsTo(model, dates),
      dates.map(() => 1 / count),
      f,
      [Math.log(strike / spot)],
    );
    return { value: Math.exp(-rate * expiry) * mean, error: 1e-8 * spot };
  });
}

/** Geometric averages, on dates or continuous: lognormal themselves. */
function geometric(random: Random): Case {
  const model = drawLognormal(random);
  const { spot, rate, yield: q, volatility, expiry } = model;
  const payoff = drawRight(random);
  const count = 1 + random.integer(30);
  const dates = random.chance(0.3) ? "continuous" : datesUpTo(expiry, count);
  const strike = spot * Math.exp(widthOf(model) * 0.6 * random.normal());
  // Mean and variance of the mean of ln S.
  const [time, square] =
    dates === "continuous"
      ? [expiry / 2, expiry / 3]
      : [(expiry * (count + 1)) / (2 * count), (expiry * (count + 1) * (2 * count + 1)) / (6 * count ** 2)];
  const variance = volatility ** 2 * square;
  const forward = spot * Math.exp((rate - q - 0.5 * volatility ** 2) * time + 0.5 * variance);
  const value = (): number =>
    blackScholes(
      { spot: forward * Math.exp(-rate * expiry), rate, yield: 0, volatility: Math.sqrt(variance / expiry), expiry },
      payoff,
      strike,
    );
  return caseOf(model, { payoff, strike, average: { kind: "geometric", dates } }, () => ({ value: value(), error: 0 }));
}

/** Lookbacks, continuous or on dates, on a fixed or floating strike. */
function lookback(random: Random, isContinuous: boolean): Case {
  const model = drawLognormal(random);
  const { spot, rate, yield: q, expiry } = model;
  const payoff = drawRight(random);
  const isFloating = random.chance(0.5);
  const sign = (payoff === "call") === isFloating ? -1 : 1;
  const strike = spot * Math.exp(sign * widthOf(model) * random.uniform(0, 1));
  const count = 2 + random.integer(9);
  const dates = datesUpTo(expiry, count);
  const monitoring = isContinuous ? "continuous" : dates;
  const from = isFloating ? spot : strike;
  const bond = Math.exp(-rate * expiry);
  const asset = spot * Math.exp(-q * expiry);
  const extreme = (): number => {
    if (isContinuous) return sign > 0 ? meanOfLargest(model, from) : meanOfSmallest(model, from);
    if (!isFloating) return bond * spot * meanOfExtreme(incrementsTo(model, dates), strike / spot, sign);
    // Of dates alone the first is where the extreme begins.
    const { means, variances } = incrementsTo(model, dates);
    const first = Math.exp(means[0] + 0.5 * variances[0]);
    return bond * spot * first * meanOfExtreme({ means: means.slice(1), variances: variances.slice(1) }, 1, sign);
  };
  const trade = {
    payoff,
    ...(isFloating ? {} : { strike }),
    lookback: { strike: isFloating ? "floating" : "fixed", monitoring },
  };
  return caseOf(model, trade, () => ({
    value: sign * (extreme() - (isFloating ? asset : bond * strike)),
    error: 1e-7 * spot,
  }));
}

/** One mean-reverting factor: ln S = ln F + e^(−αt)·z − ½·Var, z a martingale of variance ζ. */
interface MeanReverting {
  readonly spot: number;
  readonly rate: number;
  readonly alpha: number;
  readonly sigma: number;
}

const drawMeanReverting = (random: Random): MeanReverting => ({
  spot: random.uniform(20, 100),
  rate: random.uniform(0, 0.06),
  alpha: random.logUniform(0.1, 8),
  sigma: random.logUniform(0.1, 1),
});

const zetaOf = ({ alpha, sigma }: MeanReverting, t: number): number =>
  (sigma ** 2 * Math.expm1(2 * alpha * t)) / (2 * alpha);

const priceOf = (model: MeanReverting, t: number) => {
  const decay = Math.exp(-model.alpha * t);
  const variance = decay ** 2 * zetaOf(model, t);
  return {
    of: (z: number): number => model.spot * Math.exp(decay * z - 0.5 * variance),
    /** Where it is `level`. */
    at: (level: number): number => (Math.log(level / model.spot) + 0.5 * variance) / decay,
  };
};

const motionOf = (model: MeanReverting) => ({
  variance: (from: number, to: number) => zetaOf(model, to) - zetaOf(model, from),
  drift: () => 0,
  discount: (from: number, to: number) => Math.exp(-model.rate * (to - from)),
  slope: (time: number) => Math.exp(-model.alpha * time),
});

const revertingCase = (model: MeanReverting, trade: Json, reference: () => Known): Case => ({
  rates: model.rate,
  underlyings: {
    A: {
      spot: model.spot,
      volatility: { gaussianFactors: { alpha: [model.alpha], sigma: [model.sigma] } },
      dividends: { yield: model.rate },
    },
  },
  trade: { underlying: "A", ...trade },
  scale: model.spot,
  reference,
});

/** Exercise on dates under one mean-reverting factor, or none before expiry. */
function earlyReverting(random: Random): Case {
  const model = drawMeanReverting(random);
  const expiry = random.logUniform(0.2, 2);
  const payoff = drawRight(random);
  const sign = payoff === "call" ? 1 : -1;
  const deviation = Math.exp(-model.alpha * expiry) * Math.sqrt(zetaOf(model, expiry));
  const strike = model.spot * Math.exp(Math.min(deviation, 0.8) * 0.7 * random.normal());
  const count = random.choice([1, 2 + random.integer(10)]);
  const dates = datesUpTo(expiry, count);
  const intrinsic = (t: number): ((z: number) => number) => {
    const { of } = priceOf(model, t);
    return (z) => Math.max(sign * (of(z) - strike), 0);
  };
  const exercise = count === 1 ? {} : { exercise: dates.slice(0, -1) };
  return revertingCase(model, { payoff, strike, expiry, ...exercise }, () => {
    const stages = [
      ...dates.slice(0, -1).map((date) => rightOn(date, intrinsic(date))),
      paid(expiry, intrinsic(expiry), [priceOf(model, expiry).at(strike)]),
    ];
    return { value: backward(0, motionOf(model), stages), error: 1e-8 * model.spot };
  });
}

/** Swings under one mean-reverting factor. */
function swing(random: Random): Case {
  const model = drawMeanReverting(random);
  const expiry = random.logUniform(0.2, 1.5);
  const payoff = drawRight(random);
  const sign = payoff === "call" ? 1 : -1;
  const strike = model.spot * Math.exp(0.2 * random.normal());
  const count = 3 + random.integer(8);
  const dates = datesUpTo(expiry, count);
  const max = 1 + random.integer(count - 1);
  const min = random.choice([0, random.integer(max + 1)]);
  const payoffs = dates.map((date) => {
    const { of } = priceOf(model, date);
    return (z: number): number => sign * (of(z) - strike);
  });
  const made = revertingCase(model, { payoff, strike, expiry, swing: { dates, min, max } }, () => ({
    value: swingValue(motionOf(model), dates, payoffs, { min, max }),
    error: 1e-7 * model.spot * max,
  }));
  return { ...made, scale: model.spot * max };
}

const EXTENT = "volatilities 2 to 120 %, a week to 10 years";
const REVERTING = "α 0.1 to 8, σ 10 to 100 %, to 2 years";

export const pathFamilies: readonly Family[] = [
  {
    name: "arithmetic averages on dates",
    reference: "quadrature",
    draws: `${EXTENT}, 2 to 25 dates`,
    draw: arithmetic,
  },
  { name: "geometric averages", reference: "closed form", draws: `${EXTENT}, also continuous`, draw: geometric },
  { name: "lookbacks, continuous", reference: "quadrature", draws: EXTENT, draw: (random) => lookback(random, true) },
  {
    name: "lookbacks on dates",
    reference: "quadrature",
    draws: `${EXTENT}, 2 to 10 dates`,
    draw: (random) => lookback(random, false),
  },
  {
    name: "mean reversion, European and exercise on dates",
    reference: "quadrature",
    draws: REVERTING,
    draw: earlyReverting,
  },
  { name: "mean reversion, swings by convolution", reference: "quadrature", draws: REVERTING, draw: swing },
];
