/** The closed forms of a Gaussian short rate, as functions of the kernel language. */
import { fn, i32, read, real, record } from "../../kernel/index.ts";
import { MIN_VOLATILITY } from "./terms.ts";

/** A market packed by `packMarkets`: its parameters start at `start`. */
export const Market = record({ parameters: read(real), start: i32, pieces: i32 });

/** Computes (1 − e^{−at})/a, the integral of e^{−as} from 0 to t: the bond's sensitivity B(0, t) to the short rate. */
export const decayIntegral = fn({
  name: "decayIntegral",
  params: [real, real],
  body: ([a, t]) => (Math.abs(a * t) < 1e-9 ? t * (1 - 0.5 * a * t) : -Math.expm1(-a * t) / a),
});

/** Computes ∫ₜˢ σ(u)²·e^{−2a(s−u)} du, the variance of x at s, given x at t. */
export const stepVariance = fn({
  name: "stepVariance",
  params: { market: Market, t: real, s: real },
  env: { decayIntegral, MIN_VOLATILITY },
  body({ market: { parameters, start, pieces }, t, s }, _gpu, { decayIntegral, MIN_VOLATILITY }) {
    const a = parameters[start];
    let from = t;
    let sum = 0.0;
    for (let i = 0; i < pieces && from < s; i++) {
      const end = Math.min(parameters[start + 1 + 2 * i], s);
      if (end > from) {
        const sigma = Math.max(parameters[start + 2 + 2 * i], MIN_VOLATILITY);
        sum += sigma * sigma * Math.exp(-2 * a * (s - end)) * decayIntegral(2 * a, end - from);
        from = end;
      }
    }
    return sum;
  },
});
