/** Volatilities that depend on the spot: formulas, CEV, displaced diffusions; by finite differences and Monte Carlo. */
import { cev, survivingValue } from "../../properties/closed-forms.ts";
import type { BarrierJson, Contract, DividendJson } from "../../properties/contract.ts";
import { contractOf, drawLevel, drawMarket, drawRight, drawStrike, type Market } from "../../properties/generate.ts";
import { drawAssets, drawPayoff, rounded } from "../../properties/assets/families.ts";
import { europeanValue } from "../../properties/assets/oracles.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, Known } from "../case.ts";
import { gridValue } from "../references/grid.ts";
import { incrementsOf, meanOfExtreme, meanOfSum } from "../references/paths.ts";
import { caseOf, gridTermsOf } from "./american.ts";

/** A formula of `generate.ts` as a function. */
function functionOf(formula: string): (S: number, t: number) => number {
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function("S", "t", `const { exp, log, min, max } = Math; return ${formula};`) as (
    S: number,
    t: number,
  ) => number;
}

const formulaOf = ({ volatility }: Market): string | undefined =>
  typeof volatility === "object" && "local" in volatility ? volatility.local : undefined;

/** Markets whose grid is neither very wide nor driven by drift. */
function drawSmile(random: Random, kinds: readonly ("skew" | "time")[] = ["skew", "time"]): Market | undefined {
  const market = drawMarket(random, { volatility: kinds, dividends: ["none", "yield"], rates: ["flat"] });
  const { deviation, rate, yield: q = 0, expiry } = market;
  return deviation < 1.5 && Math.abs(Number(rate) - q) * expiry < 6 * deviation ? market : undefined;
}

const levelOf = ({ deviation, expiry }: Market): number => deviation / Math.sqrt(expiry);

/** European and American calls and puts, and knock-outs, under a formula. */
function onFormula(random: Random, form: "european" | "american" | "barrier"): Case | undefined {
  const market = drawSmile(random);
  if (market === undefined) return undefined;
  const sigma = functionOf(formulaOf(market)!);
  const side = random.choice(["up", "down"] as const);
  const level = drawLevel(random, market, side);
  const kind = random.choice(["out", "in"] as const);
  const barriers: BarrierJson[] = [{ type: `${side}-and-${kind}`, level }];
  const contract: Contract = {
    ...contractOf(market),
    payoff: drawRight(random),
    strike: drawStrike(random, market),
    ...(form === "american" ? { exercise: "american" as const } : {}),
    ...(form === "barrier" ? { barriers } : {}),
  };
  const terms = gridTermsOf(contract, sigma, 1.3 * levelOf(market));
  const reference = (): Known => {
    if (form !== "barrier") return gridValue(terms);
    const out = gridValue({ ...terms, ...(side === "up" ? { upper: level } : { lower: level }) });
    if (kind === "out") return out;
    const all = gridValue(terms);
    return { value: all.value - out.value, error: all.error + out.error };
  };
  return caseOf(contract, { reference });
}

/** Calls and puts by Monte Carlo under a formula, with dividends on dates. */
function byPaths(random: Random): Case | undefined {
  const market = drawSmile(random);
  if (market === undefined || market.deviation < 0.02) return undefined;
  const { spot, expiry } = market;
  const dates = random.sorted(random.integer(4), () => random.uniform(0.05, 0.95) * expiry);
  const discrete = dates.map((date): DividendJson =>
    random.chance(0.7)
      ? { date, cash: spot * random.uniform(0.002, 0.04) }
      : { date, proportional: random.uniform(0.002, 0.04) },
  );
  const contract: Contract = {
    ...contractOf(market),
    discrete,
    payoff: drawRight(random),
    strike: drawStrike(random, market),
  };
  const terms = gridTermsOf(contract, functionOf(formulaOf(market)!), 1.3 * levelOf(market));
  return caseOf(contract, { method: "montecarlo", reference: () => gridValue(terms) });
}

function cevByPaths(random: Random): Case | undefined {
  const market = drawMarket(random, { volatility: ["cev"], dividends: ["none", "yield"], rates: ["flat"] });
  const { volatility, deviation } = market;
  if (typeof volatility === "number" || !("cev" in volatility)) return undefined;
  const { sigma, beta } = volatility.cev;
  if (beta > 0.95 || deviation > 2) return undefined;
  const payoff = drawRight(random);
  const contract: Contract = { ...contractOf(market), payoff, strike: drawStrike(random, market) };
  const model = { ...contract, rate: Number(contract.rate), yield: contract.yield ?? 0 };
  const value = cev(model, sigma, beta, payoff === "call", contract.strike!);
  if (!Number.isFinite(value)) return undefined;
  return caseOf(contract, { method: "montecarlo", reference: () => ({ value, error: 1e-8 * market.spot }) });
}

/**
 * A displaced asset whose forward is its spot: S + shift is lognormal without drift. How likely S + shift falls to the
 * shift, where S is absorbed, is the reference's own error.
 */
interface Displaced {
  readonly spot: number;
  readonly shift: number;
  readonly sigma: number;
  readonly rate: number;
  readonly expiry: number;
  readonly absorbed: number;
}

function drawDisplaced(random: Random): Displaced | undefined {
  const spot = 100;
  const shift = spot * random.uniform(0, 1.5);
  const level = random.logUniform(0.05, 0.5);
  const sigma = (level * spot) / (spot + shift);
  const expiry = random.logUniform(0.1, 5);
  const rate = random.uniform(0, 0.08);
  const model = { spot: spot + shift, rate: 0, yield: 0, volatility: sigma, expiry };
  const survive = survivingValue(model, [{ from: 0, to: Infinity, constant: 1, slope: 0 }], shift);
  const absorbed = shift === 0 ? 0 : Math.max(1 - survive, 0);
  return absorbed < 1e-6 ? { spot, shift, sigma, rate, expiry, absorbed } : undefined;
}

const underlyingOf = ({ spot, sigma, shift, rate }: Displaced) => ({
  spot,
  volatility: { displaced: { sigma, shift } },
  dividends: { yield: rate },
});

/** An average on dates: that of S + shift, less the shift. */
function displacedAverage(random: Random): Case | undefined {
  const drawn = drawDisplaced(random);
  if (drawn === undefined) return undefined;
  const { spot, shift, sigma, rate, expiry, absorbed } = drawn;
  const count = 2 + random.integer(11);
  const dates = Array.from({ length: count }, (_, k) => (expiry * (k + 1)) / count);
  const payoff = drawRight(random);
  const sign = payoff === "call" ? 1 : -1;
  const strike = spot * Math.exp(0.6 * Math.min(sigma * Math.sqrt(expiry), 0.6) * random.normal());
  const start = spot + shift;
  return {
    rates: rate,
    underlyings: { A: underlyingOf(drawn) },
    trade: { underlying: "A", payoff, strike, expiry, average: { kind: "arithmetic", dates } },
    method: "montecarlo",
    scale: spot,
    reference: () => {
      const increments = incrementsOf(dates, 0, (from, to) => sigma ** 2 * (to - from));
      const f = (z: number): number => Math.max(sign * (start * Math.exp(z) - shift - strike), 0);
      const mean = meanOfSum(
        increments,
        dates.map(() => 1 / count),
        f,
        [Math.log((strike + shift) / start)],
      );
      return { value: Math.exp(-rate * expiry) * mean, error: (1e-8 + absorbed) * spot };
    },
  };
}

/** An extreme on dates: that of S + shift, less the shift. */
function displacedLookback(random: Random): Case | undefined {
  const drawn = drawDisplaced(random);
  if (drawn === undefined) return undefined;
  const { spot, shift, sigma, rate, expiry, absorbed } = drawn;
  const count = 2 + random.integer(9);
  const dates = Array.from({ length: count }, (_, k) => (expiry * (k + 1)) / count);
  const payoff = drawRight(random);
  const isFloating = random.chance(0.5);
  const start = spot + shift;
  const sign = (payoff === "call") === isFloating ? -1 : 1;
  const away = Math.min(sigma * Math.sqrt(expiry), 0.6) * random.uniform(0, 1);
  const strike = spot * Math.exp(sign * away);
  const reference = (): Known => {
    const increments = incrementsOf(dates, 0, (from, to) => sigma ** 2 * (to - from));
    const error = (1e-7 + absorbed) * spot;
    const bond = Math.exp(-rate * expiry);
    if (!isFloating) {
      // The extreme or the strike, whichever is farther, less the strike.
      const mean = start * meanOfExtreme(increments, (strike + shift) / start, sign);
      return { value: bond * Math.abs(mean - strike - shift), error };
    }
    // Of dates alone: the first is where the extreme begins.
    const [first] = increments.variances;
    const rest = { means: increments.means.slice(1), variances: increments.variances.slice(1) };
    const mean = count === 1 || first === 0 ? start : start * meanOfExtreme(rest, 1, sign);
    return { value: bond * Math.abs(mean - start), error };
  };
  return {
    rates: rate,
    underlyings: { A: underlyingOf(drawn) },
    trade: {
      underlying: "A",
      payoff,
      ...(isFloating ? {} : { strike }),
      expiry,
      lookback: { strike: isFloating ? "floating" : "fixed", monitoring: dates },
    },
    method: "montecarlo",
    scale: spot,
    reference,
  };
}

/** Baskets, the best, the worst of and spreads of two or three displaced assets without drift. */
function displacedBasket(random: Random): Case | undefined {
  const n = random.choice([2, 2, 3]);
  const market = drawAssets(random, n);
  const { assets, correlations, expiry, rate } = market;
  if (assets.some(({ volatility }) => volatility * Math.sqrt(expiry) > 0.8)) return undefined;
  const shift = rounded(random.uniform(0, 60));
  const still = assets.map((asset) => ({ ...asset, yield: rate }));
  const { payoff, strike } = drawPayoff(random, { ...market, assets: still });
  const displaced = assets.map(({ spot, volatility }) => rounded((volatility * spot) / (spot + shift)));
  const moved = assets.map(({ spot }, i) => ({ spot: spot + shift, volatility: displaced[i], yield: rate }));
  const gone = Math.max(
    ...moved.map(({ spot, volatility }) => {
      const model = { spot, rate: 0, yield: 0, volatility, expiry };
      return shift === 0 ? 0 : 1 - survivingValue(model, [{ from: 0, to: Infinity, constant: 1, slope: 0 }], shift);
    }),
  );
  if (gone > 1e-6) return undefined;
  const total =
    "basket" in payoff ? payoff.weights.reduce((sum, weight) => sum + weight, 0) : "spread" in payoff ? 0 : 1;
  const names = ["A", "B", "D"].slice(0, n);
  const scale = Math.max(...assets.map(({ spot }) => spot));
  return {
    rates: rate,
    underlyings: Object.fromEntries(
      assets.map(({ spot }, i) => [
        names[i],
        { spot, volatility: { displaced: { sigma: displaced[i], shift } }, dividends: { yield: rate } },
      ]),
    ),
    correlations: names.flatMap((a, i) =>
      names.slice(i + 1).map((b, k) => [a, b, correlations[i][i + 1 + k]] as const),
    ),
    trade: { underlyings: names, payoff, strike, expiry },
    method: "montecarlo",
    scale,
    reference: () => ({
      value: europeanValue({ ...market, assets: moved }, payoff, strike + total * shift),
      error: 2e-6 * scale + 3 * gone * scale,
    }),
  };
}

/** Averages over two dates under CEV: the second date given the first by the noncentral χ² distribution. */
function cevAverage(random: Random): Case | undefined {
  const spot = 100;
  const beta = random.uniform(0.2, 0.9);
  const level = random.logUniform(0.05, 0.5);
  const expiry = random.logUniform(0.1, 3);
  const rate = random.uniform(0, 0.06);
  if (level * Math.sqrt(expiry) > 0.6) return undefined;
  const sigma = level * spot ** (1 - beta);
  const payoff = drawRight(random);
  const strike = spot * Math.exp(0.6 * level * Math.sqrt(expiry) * random.normal());
  const dates = [0.5 * expiry, expiry];
  const reference = (): Known => {
    // (S₁ + S₂)/2 − K is half an option on S₂ struck at 2K − S₁; S₁ by the second derivative of calls.
    const half = { rate, yield: 0, expiry: 0.5 * expiry };
    const call = (s: number, k: number): number =>
      k <= 0 ? s - k * Math.exp(-rate * half.expiry) : cev({ ...half, spot: s }, sigma, beta, true, k);
    const put = (s: number, k: number): number => (k <= 0 ? 0 : cev({ ...half, spot: s }, sigma, beta, false, k));
    const after = (s: number): number => 0.5 * (payoff === "call" ? call(s, 2 * strike - s) : put(s, 2 * strike - s));
    return expectedUnderCev({ spot, ...half }, sigma, beta, after, [2 * strike]);
  };
  return {
    rates: rate,
    underlyings: { A: { spot, volatility: { cev: { sigma, beta } } } },
    trade: { underlying: "A", payoff, strike, expiry, average: { kind: "arithmetic", dates } },
    method: "montecarlo",
    scale: spot,
    reference,
  };
}

/** e^(−rT)·E g(S) under CEV: ∫ g″·calls from the forward up and puts below it, on two grids (Carr & Madan 2001). */
function expectedUnderCev(
  model: { readonly spot: number; readonly rate: number; readonly yield: number; readonly expiry: number },
  sigma: number,
  beta: number,
  g: (s: number) => number,
  _breaks: readonly number[],
): Known {
  const forward = model.spot * Math.exp((model.rate - model.yield) * model.expiry);
  const s = sigma * model.spot ** (beta - 1) * Math.sqrt(model.expiry);
  const sum = (count: number): number => {
    const [low, high] = [forward * Math.max(1 - 7 * s, 0.02), forward * (1 + 9 * s)];
    const h = (high - low) / count;
    const at = Array.from({ length: count + 1 }, (_, i) => g(low + i * h));
    const weight = Math.exp(-model.rate * model.expiry);
    // Piecewise linear interpolation of g is a sum of calls and puts with the changes of its slopes.
    const place = (forward - low) / h;
    const k = Math.floor(place);
    const slope = (at[k + 1] - at[k]) / h;
    let total = weight * (at[k] + slope * (forward - (low + k * h)));
    for (let i = 1; i < count; i++) {
      const bend = (at[i + 1] - 2 * at[i] + at[i - 1]) / h;
      total += bend * cev(model, sigma, beta, i > k, low + i * h);
    }
    return total;
  };
  const [coarse, fine] = [sum(150), sum(300)];
  return { value: fine + (fine - coarse) / 3, error: Math.abs(fine - coarse) / 3 + 1e-7 * model.spot };
}

const FORMULAS = "three forms of smiles, also in time, σ√T below 1.5";
const DISPLACED = "shifts 0 to 1.5 spots, volatilities 5 to 50 %, to 5 years";

export const smileFamilies: readonly Family[] = [
  {
    name: "a formula of spot and time, European",
    reference: "own solution",
    draws: FORMULAS,
    draw: (r) => onFormula(r, "european"),
  },
  {
    name: "a formula of spot and time, American",
    reference: "own solution",
    draws: FORMULAS,
    draw: (r) => onFormula(r, "american"),
  },
  {
    name: "a formula of spot and time, barriers",
    reference: "own solution",
    draws: FORMULAS,
    draw: (r) => onFormula(r, "barrier"),
  },
  {
    name: "a formula by Monte Carlo, with dividends on dates",
    most: 300,
    reference: "own solution",
    draws: FORMULAS,
    draw: byPaths,
  },
  {
    name: "CEV by Monte Carlo, European",
    reference: "closed form",
    draws: "β 0 to 0.95, σ√T below 2",
    draw: cevByPaths,
  },
  {
    name: "CEV by Monte Carlo, averages over two dates",
    reference: "quadrature",
    draws: "β 0.2 to 0.9, to 3 years",
    draw: cevAverage,
  },
  { name: "displaced by Monte Carlo, averages", reference: "quadrature", draws: DISPLACED, draw: displacedAverage },
  { name: "displaced by Monte Carlo, lookbacks", reference: "quadrature", draws: DISPLACED, draw: displacedLookback },
  {
    name: "displaced by Monte Carlo, baskets, best, worst, spreads",
    reference: "quadrature",
    draws: "two and three assets, shifts to 60",
    draw: displacedBasket,
  },
];
