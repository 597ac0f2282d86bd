/** Options on the quotes of a smile, by each of the fits; under the local volatility of fitted smiles. */
import { cdf } from "../../properties/normal.ts";
import type { Right } from "../../properties/contract.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, Json, Known } from "../case.ts";
import { gridValue } from "../references/grid.ts";
import { hestonPrice } from "../references/heston.ts";

const SPOT = 100;

/** Total variance by ln(K/F) at quoted expiries; between them linear in time, before the first in proportion to it. */
interface Smiles {
  readonly rate: number;
  readonly yield: number;
  readonly expiries: readonly number[];
  /** Variance and its first two derivatives by k. */
  readonly slices: readonly ((k: number) => readonly [number, number, number])[];
}

const forwardOf = ({ rate, yield: q }: Pick<Smiles, "rate" | "yield">, t: number): number =>
  SPOT * Math.exp((rate - q) * t);

function varianceAt({ expiries, slices }: Smiles, k: number, t: number): readonly [number, number, number] {
  const i = expiries.findIndex((expiry) => expiry >= t);
  const [a, b] = [i === 0 ? ([0, 0, 0] as const) : slices[i - 1](k), slices[i](k)];
  const from = i === 0 ? 0 : expiries[i - 1];
  const share = (t - from) / (expiries[i] - from);
  const between = (j: 0 | 1 | 2): number => a[j] + (b[j] - a[j]) * share;
  return [between(0), between(1), between(2)];
}

function black(smiles: Smiles, right: Right, strike: number, t: number): number {
  const F = forwardOf(smiles, t);
  const [w] = varianceAt(smiles, Math.log(strike / F), t);
  const [s, sign] = [Math.sqrt(w), right === "call" ? 1 : -1];
  const d = Math.log(F / strike) / s;
  return sign * Math.exp(-smiles.rate * t) * (F * cdf(sign * (d + 0.5 * s)) - strike * cdf(sign * (d - 0.5 * s)));
}

/** SSVI: w = θ/2·(1 + ρφk + √((φk + ρ)² + 1 − ρ²)) (Gatheral & Jacquier 2014). */
const ssvi =
  (theta: number, phi: number, rho: number) =>
  (k: number): readonly [number, number, number] => {
    const x = phi * k + rho;
    const root = Math.sqrt(x * x + 1 - rho * rho);
    return [
      0.5 * theta * (1 + rho * phi * k + root),
      0.5 * theta * phi * (rho + x / root),
      (0.5 * theta * phi * phi * (1 - rho * rho)) / root ** 3,
    ];
  };

const EXPIRIES = [0.1, 0.3, 1, 2] as const;

/** SSVI with the power law φ = η·θ^(−γ), η a share of the largest without arbitrage (Gatheral & Jacquier, 4.2). */
function drawSsvi(random: Random): Smiles {
  const level = random.uniform(0.12, 0.5);
  const rho = random.uniform(-0.85, 0.4);
  const gamma = random.uniform(0.1, 0.5);
  let theta = 0;
  const thetas = EXPIRIES.map((expiry, i) => {
    theta += (level * random.uniform(0.85, 1.2)) ** 2 * (expiry - (EXPIRIES[i - 1] ?? 0));
    return theta;
  });
  const skew = 1 + Math.abs(rho);
  const largest = Math.min(
    ...thetas.map((own) => Math.min(4 / (own ** (1 - gamma) * skew), 2 / (own ** (0.5 - gamma) * Math.sqrt(skew)))),
  );
  const eta = largest * random.uniform(0.15, 0.85);
  return {
    rate: random.uniform(0, 0.05),
    yield: random.choice([0, random.uniform(0, 0.03)]),
    expiries: EXPIRIES,
    slices: thetas.map((own) => ssvi(own, eta * own ** -gamma, rho)),
  };
}

/** Hagan et al. (2002), (2.17). */
function sabr(
  F: number,
  t: number,
  {
    alpha,
    beta,
    nu,
    rho,
  }: { readonly alpha: number; readonly beta: number; readonly nu: number; readonly rho: number },
): (k: number) => readonly [number, number, number] {
  return (k) => {
    const K = F * Math.exp(k);
    const mean = (F * K) ** (0.5 * (1 - beta));
    const log = -k;
    const z = (nu / alpha) * mean * log;
    const x = Math.log((Math.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho));
    const ratio = Math.abs(z) < 1e-6 ? 1 - 0.5 * rho * z : z / x;
    const b = (1 - beta) * log;
    const time =
      ((1 - beta) ** 2 * alpha ** 2) / (24 * mean ** 2) +
      (rho * beta * nu * alpha) / (4 * mean) +
      ((2 - 3 * rho ** 2) * nu ** 2) / 24;
    const volatility = (alpha / (mean * (1 + b ** 2 / 24 + b ** 4 / 1920))) * ratio * (1 + time * t);
    return [volatility ** 2 * t, NaN, NaN];
  };
}

function drawSabr(random: Random, beta: number): Smiles {
  const market = { rate: random.uniform(0, 0.05), yield: random.choice([0, random.uniform(0, 0.03)]) };
  const level = random.uniform(0.12, 0.45);
  const [nu, rho] = [random.uniform(0.15, 0.8), random.uniform(-0.7, 0.4)];
  const slices = EXPIRIES.map((t) => {
    const F = forwardOf(market, t);
    const own = nu / Math.sqrt(1 + t);
    return sabr(F, t, { alpha: level * F ** (1 - beta), beta, nu: own, rho });
  });
  return { ...market, expiries: EXPIRIES, slices };
}

const MONEYNESS = [-1.8, -1.3, -0.9, -0.4, 0, 0.4, 0.9, 1.3, 1.8];

interface Quoted {
  readonly expiry: number;
  readonly strike: number;
  readonly deviation: number;
}

/** Strikes about the forward of each expiry, in its deviations. */
function quoted(smiles: Smiles): readonly Quoted[] {
  return smiles.expiries.flatMap((expiry) => {
    const deviation = Math.sqrt(varianceAt(smiles, 0, expiry)[0]);
    const F = forwardOf(smiles, expiry);
    return MONEYNESS.map((z) => ({ expiry, deviation, strike: F * Math.exp(z * deviation) }));
  });
}

const underlyingOf = (smiles: Smiles, fit: unknown): Json => ({
  spot: SPOT,
  dividends: { yield: smiles.yield },
  volatility: {
    quotes: quoted(smiles).map(({ expiry, strike }) => {
      const [w] = varianceAt(smiles, Math.log(strike / forwardOf(smiles, expiry)), expiry);
      return { expiry, strike, implied: Math.sqrt(w / expiry) };
    }),
    fit,
  },
});

const drawRight = (random: Random): Right => random.choice(["call", "put"] as const);

/** An expiry that is quoted or between two, and a strike within the quotes. */
function drawTerms(random: Random, smiles: Smiles): { readonly expiry: number; readonly strike: number } {
  const expiry = random.chance(0.5) ? random.choice(smiles.expiries) : random.uniform(0.1, 2);
  const deviation = Math.sqrt(varianceAt(smiles, 0, expiry)[0]);
  return { expiry, strike: forwardOf(smiles, expiry) * Math.exp(deviation * random.uniform(-1.7, 1.7)) };
}

function european(random: Random, fit: "svi" | "ssvi" | "essvi"): Case {
  const smiles = drawSsvi(random);
  const payoff = drawRight(random);
  const { expiry, strike } = drawTerms(random, smiles);
  return smileCase(smiles, fit, { payoff, strike, expiry }, () => ({
    value: black(smiles, payoff, strike, expiry),
    error: 0,
  }));
}

/** What a fit recovers prices to, relative to F·√T (docs/calibration.md). */
const RECOVERED = 1e-6;

const smileCase = (smiles: Smiles, fit: unknown, trade: Json, reference: () => Known): Case => ({
  rates: smiles.rate,
  underlyings: { A: underlyingOf(smiles, fit) },
  trade: { underlying: "A", ...trade },
  scale: SPOT,
  reference: () => {
    const { value, error } = reference();
    return { value, error: error + RECOVERED * SPOT * Math.sqrt(trade["expiry"] as number) };
  },
});

/** At a quote, since only there Andreasen and Huge's surface has a value known in advance. */
function atQuote(random: Random): Case {
  const smiles = drawSsvi(random);
  const payoff = drawRight(random);
  const { expiry, strike } = random.choice(quoted(smiles));
  return smileCase(smiles, "andreasen-huge", { payoff, strike, expiry }, () => ({
    value: black(smiles, payoff, strike, expiry),
    error: 0,
  }));
}

function sabrEuropean(random: Random): Case {
  const beta = random.choice([0.5, 0.7, 1]);
  const smiles = drawSabr(random, beta);
  const payoff = drawRight(random);
  const { expiry, strike } = drawTerms(random, smiles);
  return smileCase(smiles, { sabr: { beta } }, { payoff, strike, expiry }, () => ({
    value: black(smiles, payoff, strike, expiry),
    error: 0,
  }));
}

function hestonEuropean(random: Random): Case {
  const heston = {
    v0: random.uniform(0.12, 0.45) ** 2,
    kappa: random.logUniform(0.4, 6),
    theta: random.uniform(0.12, 0.45) ** 2,
    sigma: random.uniform(0.15, 1),
    rho: random.uniform(-0.85, 0.2),
  };
  const market = { spot: SPOT, rate: random.uniform(0, 0.05), yield: random.choice([0, random.uniform(0, 0.03)]) };
  const quotes = EXPIRIES.flatMap((expiry) => {
    const mean =
      heston.theta + ((heston.v0 - heston.theta) * -Math.expm1(-heston.kappa * expiry)) / (heston.kappa * expiry);
    const deviation = Math.sqrt(mean * expiry);
    const F = forwardOf(market, expiry);
    return MONEYNESS.map((z) => {
      const strike = F * Math.exp(z * deviation);
      const type: Right = z < 0 ? "put" : "call";
      return { expiry, strike, type, price: hestonPrice({ ...market, expiry, heston }, type, strike) };
    });
  });
  const payoff = drawRight(random);
  const expiry = random.chance(0.5) ? random.choice(EXPIRIES) : random.uniform(0.1, 2);
  const strike = forwardOf(market, expiry) * Math.exp(Math.sqrt(heston.theta * expiry) * random.uniform(-1.5, 1.5));
  return {
    rates: market.rate,
    underlyings: { A: { spot: SPOT, dividends: { yield: market.yield }, volatility: { quotes, fit: "heston" } } },
    trade: { underlying: "A", payoff, strike, expiry },
    scale: SPOT,
    reference: () => ({ value: hestonPrice({ ...market, expiry, heston }, payoff, strike), error: 0 }),
  };
}

/** Dupire's local volatility of the smiles (Gatheral 2006, 1.10). */
function localVolatility(smiles: Smiles): (S: number, t: number) => number {
  const { expiries, slices } = smiles;
  return (S, t) => {
    const time = Math.max(t, 1e-6);
    const k = Math.log(S / forwardOf(smiles, time));
    const i = expiries.findIndex((expiry) => expiry >= time);
    const before = i === 0 ? 0 : slices[i - 1](k)[0];
    const growth = (slices[i](k)[0] - before) / (expiries[i] - (i === 0 ? 0 : expiries[i - 1]));
    const [w, first, second] = varianceAt(smiles, k, time);
    const g = (1 - (k * first) / (2 * w)) ** 2 - 0.25 * first ** 2 * (1 / w + 0.25) + 0.5 * second;
    return Math.sqrt(Math.max(growth, 0) / g);
  };
}

/** Knock-outs, knock-ins and American options, whose method is finite differences under the fitted local volatility. */
function exotic(random: Random, form: "american" | "barrier" | "european"): Case {
  const smiles = drawSsvi(random);
  const { rate, yield: q } = smiles;
  const payoff = drawRight(random);
  const expiry = random.uniform(0.15, 2);
  const level = Math.sqrt(varianceAt(smiles, 0, expiry)[0] / expiry);
  const deviation = level * Math.sqrt(expiry);
  const strike = SPOT * Math.exp(deviation * random.uniform(-1, 1));
  const side = random.choice(["up", "down"] as const);
  const barrier = SPOT * Math.exp((side === "up" ? 1 : -1) * deviation * random.uniform(0.3, 1.6));
  const kind = random.choice(["out", "in"] as const);
  const fit = random.choice(["svi", "ssvi", "essvi"]);
  const sign = payoff === "call" ? 1 : -1;
  const terms = {
    spot: SPOT,
    expiry,
    rate: () => rate,
    dividendYield: q,
    sigma: localVolatility(smiles),
    level: 1.2 * level,
    payoff: (S: number) => Math.max(sign * (S - strike), 0),
    kinks: [strike],
    breaks: EXPIRIES.filter((t) => t < expiry),
  };
  const trade = {
    payoff,
    strike,
    expiry,
    ...(form === "american" ? { exercise: "american" } : {}),
    ...(form === "barrier" ? { barriers: [{ type: `${side}-and-${kind}`, level: barrier }] } : {}),
  };
  const reference = (): Known => {
    if (form === "european") return { value: black(smiles, payoff, strike, expiry), error: 0 };
    if (form === "american") return gridValue({ ...terms, exercise: "american" });
    const out = gridValue({ ...terms, ...(side === "up" ? { upper: barrier } : { lower: barrier }) });
    return kind === "out" ? out : { value: black(smiles, payoff, strike, expiry) - out.value, error: out.error };
  };
  const made = smileCase(smiles, fit, trade, reference);
  return form === "european" ? { ...made, method: "fdm" } : made;
}

const SSVI = "level 12 to 50 %, ρ −0.85 to 0.4, four expiries to 2 years, quoted and between";

export const quoteFamilies: readonly Family[] = [
  ...(["svi", "ssvi", "essvi"] as const).map((fit): Family => ({
    name: `quotes fitted by ${fit}, European`,
    reference: "closed form",
    draws: SSVI,
    draw: (random) => european(random, fit),
  })),
  {
    name: "quotes fitted by andreasen-huge, European",
    reference: "closed form",
    draws: "the same, at quotes",
    draw: atQuote,
  },
  {
    name: "quotes fitted by sabr, European",
    reference: "closed form",
    draws: "β 0.5, 0.7, 1, ν 0.15 to 0.8",
    draw: sabrEuropean,
  },
  {
    name: "quotes fitted by heston, European",
    reference: "closed form",
    draws: "κ 0.4 to 6, σ 0.15 to 1",
    draw: hestonEuropean,
  },
  {
    name: "fitted local volatility, European by finite differences",
    reference: "closed form",
    draws: SSVI,
    draw: (random) => exotic(random, "european"),
  },
  {
    name: "fitted local volatility, American",
    most: 200,
    reference: "own solution",
    draws: SSVI,
    draw: (random) => exotic(random, "american"),
  },
  {
    name: "fitted local volatility, barriers",
    most: 200,
    reference: "own solution",
    draws: SSVI,
    draw: (random) => exotic(random, "barrier"),
  },
];
