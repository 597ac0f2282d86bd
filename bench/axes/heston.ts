/** Heston puts that finite differences are measured on: parameters, a mesh that fits, and the value by an integral. */

/** dS = (rate − yield)·S dt + √v S dW₁, dv = κ(θ − v) dt + σ√v dW₂, correlation ρ; a put for `expiry` years. */
export interface HestonPut {
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
  readonly rho: number;
  readonly rate: number;
  readonly yield: number;
  readonly expiry: number;
  readonly strike: number;
  readonly v0: number;
}

const put = (
  kappa: number,
  theta: number,
  sigma: number,
  rho: number,
  rate: number,
  dividends: number,
  expiry: number,
  strike: number,
  v0: number,
): HestonPut => ({ kappa, theta, sigma, rho, rate, yield: dividends, expiry, strike, v0 });

/** The six of Papadopoulos, *How efficient is your Heston PDE solver?* (2017), at the money. */
export const SIX_PUTS: readonly HestonPut[] = [
  put(5, 0.16, 0.9, 0.1, 0.1, 0, 0.25, 10, 0.0625),
  put(1.5, 0.04, 0.3, -0.9, 0.025, 0, 1, 100, 0.0625),
  put(3, 0.12, 0.04, 0.6, 0.01, 0.04, 1, 100, 0.09),
  put(0.6067, 0.0707, 0.2928, -0.7571, 0.03, 0, 3, 100, 0.0625),
  put(2.5, 0.06, 0.5, -0.1, 0.0507, 0.0469, 0.25, 100, 0.0625),
  put(3, 0.04, 0.01, -0.7, 0.05, 0, 0.25, 100, 0.09),
];

/** Nodes of spot and variance, and steps. */
export interface HestonGrid {
  readonly S: number;
  readonly v: number;
  readonly steps: number;
}

/** What reaches an error of that part of the spot, of the puts above with their meshes. */
export const gridFor = (accuracy: 1e-4 | 1e-5): HestonGrid =>
  accuracy === 1e-4 ? { S: 49, v: 17, steps: 12 } : { S: 129, v: 41, steps: 32 };

/**
 * The ends of both axes and the widths of their concentration. The spot goes from −4 to 3 deviations of its logarithm
 * about the strike, nearly uniform in the logarithm. The variance goes 4 deviations below and 6 above where it may be,
 * dense at its lower end.
 */
export function hestonMesh({ kappa, theta, sigma, expiry, strike, v0 }: HestonPut) {
  const decay = (t: number): number => Math.exp(-kappa * t);
  const mean = (t: number): number => theta + (v0 - theta) * decay(t);
  const deviation = (t: number): number =>
    sigma * Math.sqrt((v0 * decay(t) * (1 - decay(t))) / kappa + (theta * (1 - decay(t)) ** 2) / (2 * kappa));
  const average = theta + ((v0 - theta) * (1 - decay(expiry))) / (kappa * expiry);
  const wide = Math.sqrt(average * expiry);
  const widest = Math.max(...[0.25, 0.5, 0.75, 1].map((part) => deviation(part * expiry)));
  const from = Math.max(0, Math.min(v0, mean(expiry)) - 4 * widest);
  const to = Math.max(v0, mean(expiry), theta) + 6 * widest;
  return {
    S: { from: strike * Math.exp(-4 * wide), to: strike * Math.exp(3 * wide), width: 2.5 * wide },
    v: { from, to, width: 0.05 * to },
  };
}

interface Complex {
  readonly re: number;
  readonly im: number;
}
const complex = (re: number, im = 0): Complex => ({ re, im });
const plus = (a: Complex, b: Complex): Complex => complex(a.re + b.re, a.im + b.im);
const times = (a: Complex, b: Complex): Complex => complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
const scaled = (a: Complex, by: number): Complex => complex(by * a.re, by * a.im);
function over(a: Complex, b: Complex): Complex {
  const size = b.re ** 2 + b.im ** 2;
  return scaled(times(a, complex(b.re, -b.im)), 1 / size);
}
function squareRoot({ re, im }: Complex): Complex {
  const size = Math.hypot(re, im);
  return complex(Math.sqrt((size + re) / 2), Math.sign(im || 1) * Math.sqrt(Math.max((size - re) / 2, 0)));
}
const exponential = ({ re, im }: Complex): Complex => complex(Math.exp(re) * Math.cos(im), Math.exp(re) * Math.sin(im));
const logarithm = ({ re, im }: Complex): Complex => complex(Math.log(Math.hypot(re, im)), Math.atan2(im, re));

/** E exp(izX) of X = ln(S(T)/forward), in the form of Albrecher, Mayer, Schoutens & Tistaert (2007). */
function characteristic(z: Complex, { kappa, theta, sigma, rho, expiry, v0 }: HestonPut): Complex {
  const iz = complex(-z.im, z.re);
  const beta = plus(complex(kappa), scaled(iz, -rho * sigma));
  const quadratic = plus(times(z, z), iz);
  const d = squareRoot(plus(times(beta, beta), scaled(quadratic, sigma ** 2)));
  const sum = plus(beta, d);
  const g = over(plus(beta, scaled(d, -1)), sum);
  const fading = exponential(scaled(d, -expiry));
  const rest = plus(complex(1), scaled(times(g, fading), -1));
  // (β − d)/σ², without cancellation.
  const slope = scaled(over(quadratic, sum), -1);
  const ofVariance = times(slope, over(plus(complex(1), scaled(fading, -1)), rest));
  const log = logarithm(over(rest, plus(complex(1), scaled(g, -1))));
  const constant = plus(scaled(slope, kappa * theta * expiry), scaled(log, (-2 * kappa * theta) / sigma ** 2));
  return exponential(plus(constant, scaled(ofVariance, v0)));
}

/** Points and end of the integral: its integrand has fallen below 1e-13 there for the puts above. */
const POINTS = 20_000;
const END = 400;

/** The put's value at the money, by the integral of Lewis (2000) and Simpson's rule. */
export function hestonValue(option: HestonPut): number {
  const { rate, yield: dividends, expiry, strike } = option;
  const moneyness = (rate - dividends) * expiry;
  const step = END / POINTS;
  let sum = 0;
  for (let i = 0; i <= POINTS; i++) {
    const u = i * step;
    const { re } = times(exponential(complex(0, u * moneyness)), characteristic(complex(u, -0.5), option));
    sum += (re / (u * u + 0.25)) * (i === 0 || i === POINTS ? 1 : i % 2 === 1 ? 4 : 2);
  }
  const discounted = strike * Math.exp(-rate * expiry);
  return discounted - ((strike * Math.exp((-(rate + dividends) * expiry) / 2)) / Math.PI) * ((sum * step) / 3);
}
