/**
 * European options in Heston's model by Lewis' integral (2001), with the characteristic function of Albrecher et al.
 */
import type { HestonJson } from "../../properties/contract.ts";

interface Complex {
  readonly re: number;
  readonly im: number;
}

const plus = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
const times = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });
const scaled = (a: Complex, by: number): Complex => ({ re: by * a.re, im: by * a.im });
const over = (a: Complex, b: Complex): Complex => {
  const square = b.re * b.re + b.im * b.im;
  return { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square };
};
const exp = ({ re, im }: Complex): Complex => ({ re: Math.exp(re) * Math.cos(im), im: Math.exp(re) * Math.sin(im) });
/** ln(1 + z), with its digits where z is small. */
const log1p = ({ re, im }: Complex): Complex => ({
  re: 0.5 * Math.log1p(re * (2 + re) + im * im),
  im: Math.atan2(im, 1 + re),
});
const sqrt = ({ re, im }: Complex): Complex => {
  const size = Math.hypot(re, im);
  return { re: Math.sqrt(0.5 * (size + re)), im: Math.sign(im || 1) * Math.sqrt(Math.max(0.5 * (size - re), 0)) };
};

/** E exp(i·z·ln(S_T/F)) at z = u − i/2. */
function characteristic({ v0, kappa, theta, sigma, rho }: HestonJson, u: number, expiry: number): Complex {
  // iz = iu + ½, and ½·(z² + iz) = ½·(u² + ¼).
  const half = 0.5 * (u * u + 0.25);
  const b: Complex = { re: kappa - 0.5 * rho * sigma, im: -rho * sigma * u };
  const d = sqrt(plus(times(b, b), { re: 2 * sigma * sigma * half, im: 0 }));
  // b − d without cancellation.
  const minus = over({ re: -2 * sigma * sigma * half, im: 0 }, plus(b, d));
  const g = over(minus, plus(b, d));
  const decay = exp(scaled(d, -expiry));
  const one: Complex = { re: 1, im: 0 };
  const rest = plus(one, scaled(times(g, decay), -1));
  const more = over(times(g, plus(one, scaled(decay, -1))), plus(one, scaled(g, -1)));
  const C = scaled(plus(scaled(minus, expiry), scaled(log1p(more), -2)), (kappa * theta) / (sigma * sigma));
  const D = scaled(over(times(minus, plus(one, scaled(decay, -1))), rest), 1 / (sigma * sigma));
  return exp(plus(C, scaled(D, v0)));
}

export interface HestonMarketTerms {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly expiry: number;
  readonly heston: HestonJson;
}

/**
 * The trapezoidal rule in u; its error is e^(−π/h·…), below 1e-12 for h = 0.05, and where it is cut off below 1e-16.
 */
export function hestonPrice(market: HestonMarketTerms, right: "call" | "put", strike: number): number {
  const { spot, rate, yield: q, expiry, heston } = market;
  const [asset, bond] = [spot * Math.exp(-q * expiry), strike * Math.exp(-rate * expiry)];
  const k = Math.log(asset / bond);
  const h = 0.05;
  let sum = 0;
  for (let n = 0; n < 4_000_000; n++) {
    const u = n * h;
    const { re, im } = characteristic(heston, u, expiry);
    const weight = 1 / (u * u + 0.25);
    sum += (n === 0 ? 0.5 : 1) * weight * (re * Math.cos(u * k) - im * Math.sin(u * k));
    if (Math.hypot(re, im) * weight < 1e-15) break;
  }
  const call = asset - (Math.sqrt(asset * bond) * h * sum) / Math.PI;
  return Math.max(right === "call" ? call : call - asset + bond, 0);
}
