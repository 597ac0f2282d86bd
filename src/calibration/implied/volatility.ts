/** Implied deviations of one option, by Black's and by Bachelier's formula, as functions of the kernel language. */
import { fn, i32, millsRatio, real, record } from "../../kernel/index.ts";
import { normalisedDeviation } from "./normalised.ts";

/** A quoted option on a forward: `sign` is 1 for a call and −1 for a put, and `price` is undiscounted. */
export const QuotedOption = record({ forward: real, strike: real, price: real, sign: real });

/**
 * The implied total deviation σ√T of a quote, and a `QuoteStatus`. The deviation is NaN if the status is not `implied`.
 */
export const ImpliedDeviation = record({ deviation: real, status: i32 });

/**
 * The codes of the result for a quote: it has an implied volatility; its price is below the intrinsic value, or above
 * the upper bound; or an input is not positive.
 */
export const QuoteStatus = { implied: 0, belowIntrinsic: 1, aboveBound: 2, notPositive: 3 } as const;

/** The time value of an option, its price less its intrinsic value, rounded once: forward − strike is split (Knuth). */
const timeValue = fn({
  name: "timeValue",
  params: { quoted: QuotedOption },
  body({ quoted: { forward, strike, price, sign } }) {
    const first = sign > 0 ? forward : strike;
    const second = sign > 0 ? strike : forward;
    const inside = first - second;
    const back = inside - first;
    const lost = first - (inside - back) - (second + back);
    return inside > 0 ? price - inside - lost : price;
  },
});

/**
 * Computes the deviation σ√T at which Black's (1976) formula gives a price,
 *
 *   price = φ·(F·Φ(φd₁) − K·Φ(φd₂)),   d₁ = ln(F/K)/(σ√T) + σ√T/2,   d₂ = d₁ − σ√T,
 *
 * with the sign φ. A price equal to the intrinsic value has the deviation 0. There is none if the price is below
 * max(φ(F − K), 0) or above F (call) or K (put). Accuracy: a relative error of 1e-15 if the price determines the
 * deviation that well. Source: Jäckel (2015), "Let's be rational".
 */
export const blackDeviation = fn({
  name: "blackDeviation",
  params: { quoted: QuotedOption },
  env: { timeValue, normalisedDeviation, ...QuoteStatus },
  body({ quoted }, _gpu, env) {
    const { forward, strike } = quoted;
    const value = env.timeValue({ quoted });
    const low = Math.min(forward, strike);
    const high = Math.max(forward, strike);
    let status = env.implied;
    if (!(low > 0 && high < Infinity)) status = env.notPositive;
    else if (!(value >= 0)) status = env.belowIntrinsic;
    else if (!(value < low)) status = env.aboveBound;
    let deviation = NaN;
    if (status === env.implied) {
      deviation = 0;
      const scale = Math.sqrt(low) * Math.sqrt(high);
      const price = value / scale;
      const bound = Math.sqrt(low / high);
      const rest = (low - value) / scale;
      if (price > 0) deviation = env.normalisedDeviation({ x: -Math.log1p((high - low) / low), price, bound, rest });
    }
    return { deviation, status };
  },
});

/**
 * Computes the deviation σ√T at which Bachelier's (1900) formula gives a price, with σ in units of the forward:
 *
 *   price = φ·(F − K)·Φ(φz) + σ√T·φ(z),   z = (F − K)/(σ√T)
 *
 * Forward and strike may have any sign. It makes Halley steps in ln |z| on the logarithm of the time value, and a final
 * Newton step in the deviation. Accuracy: a relative error of 1e-15 if the price determines the deviation that well.
 */
export const normalDeviation = fn({
  name: "normalDeviation",
  params: { quoted: QuotedOption },
  env: {
    timeValue,
    millsRatio,
    ...QuoteStatus,
    ROOT_TWO_PI: Math.sqrt(2 * Math.PI),
    HALF_LOG: 0.5 * Math.log(2 * Math.PI),
  },
  body({ quoted }, gpu, env) {
    const { forward, strike } = quoted;
    const value = env.timeValue({ quoted });
    const distance = Math.abs(forward - strike);
    let status = env.implied;
    if (!(distance < Infinity)) status = env.notPositive;
    else if (!(value >= 0)) status = env.belowIntrinsic;
    else if (!(value < Infinity)) status = env.aboveBound;
    let deviation = NaN;
    if (status === env.implied) {
      deviation = value * env.ROOT_TWO_PI;
      if (value > 0 && distance > 0 && deviation < 1e12 * distance) {
        const target = Math.log(value / distance);
        const depth = Math.max(-target - env.HALF_LOG, 0);
        const far = depth - 1.5 * Math.log(1 + (2 * depth) / (1 + 3 / (1 + depth)));
        let z = target > -3 ? 1 / (deviation / distance + 0.5 * env.ROOT_TWO_PI) : Math.sqrt(2 * Math.max(far, 0.5));
        for (let step = 0; step < 3; step++) {
          const ratio = env.millsRatio(z);
          const share = 1 - z * ratio;
          const newton = share * (Math.log(share / z) - 0.5 * z * z - env.HALF_LOG - target);
          const bend = (z * (ratio - z * share)) / share;
          z *= Math.exp(newton / (1 + 0.5 * bend * newton));
        }
        deviation = distance / z;
        const share = 1 - z * env.millsRatio(z);
        const density = gpu.normalPdf(z);
        if (density > 0) deviation += (value - deviation * density * share) / density;
      }
    }
    return { deviation, status };
  },
});
