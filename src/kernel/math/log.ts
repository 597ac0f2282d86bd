/**
 * Logarithms. x = 2^e·m with m in [√½, √2); with f = m − 1, s = f/(2 + f), z = s²:
 *
 *   log m = 2s + s·R(z) = f − (f²/2 − s·(f²/2 + R(z)))   (the form of K. C. Ng: the large terms are exact or nearly so)
 *
 * R(z) = z·P(z), P minimax (test/fixtures/math/minimax.py). e·ln 2 is added in two parts, the first exact.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";

/**
 * Returns `exponent` and `f` with x = 2^exponent·(1 + f) and 1 + f in [√½, √2), for every x > 0, in f64 also subnormal
 * x.
 */
export const splitLog = fn({
  name: "splitLog",
  params: [real],
  body([x], gpu) {
    const short = gpu.precision !== "f64"; // f32's exponents
    const tiny = x < (short ? 1.17549435e-38 : 2.2250738585072014e-308);
    const lift = short ? 24 : 54;
    const normal = tiny ? x * (short ? 16777216 : 18014398509481984) : x;
    const m = gpu.significand(normal);
    const high = m > 1.4142135623730951;
    const e = gpu.exponent(normal) - (tiny ? lift : 0) + (high ? 1 : 0);
    return { f: (high ? 0.5 * m : m) - 1, exponent: gpu.real(e) };
  },
});

const logSeries = polynomial({
  f32: [0.6666666, 0.40000972, 0.28498793, 0.24278831],
  f64: [
    0.6666666666666734, 0.3999999999941427, 0.2857142874248328, 0.2222219856283991, 0.18183564892053414,
    0.15314035341065366, 0.14796109200799884,
  ],
});
/**
 * Returns `h` = f²/2 and `rest` with log(1 + f) = f − (h − rest), for 1 + f in [√½, √2). Cost: 20 operations and a
 * division (f64).
 */
export const logReduced = fn({
  name: "logReduced",
  params: [real],
  env: { logSeries },
  body([f], _gpu, { logSeries }) {
    const s = f / (2 + f);
    const z = s * s;
    const h = 0.5 * f * f;
    return { h, rest: s * (h + z * logSeries(z)) };
  },
});

/**
 * Returns y, the computed logarithm of x, if x is positive and finite. Otherwise returns the special value of the
 * logarithm: −∞ at 0, ∞ at ∞, NaN for negative x.
 */
export const logDomain = fn({
  name: "logDomain",
  params: [real, real],
  body([x, y]) {
    return x > 0 ? (x < Infinity ? y : x) : x === 0 ? -Infinity : NaN;
  },
});

/**
 * Returns the natural logarithm. log(±0) = −∞, log(x < 0) = NaN, log(∞) = ∞. Cost: 42 operations, 1 division (f64).
 * Accuracy: 0.82 ulp (f64), 0.78 ulp (f32).
 */
export const log = fn({
  name: "log",
  params: [real],
  env: { splitLog, logReduced, logDomain },
  body([x], gpu, { splitLog, logReduced, logDomain }) {
    const { f, exponent } = splitLog(x);
    const { h, rest } = logReduced(f);
    if (gpu.precision === "f32") {
      return logDomain(x, exponent * 0.693145751953125 - (h - (rest + exponent * 1.4286068203094173e-6) - f));
    }
    return logDomain(x, exponent * 0.6931471803691238 - (h - (rest + exponent * 1.9082149292705877e-10) - f));
  },
});

/** log(1 + f) as hi + lo, hi short enough that a product with a short constant is exact. */
const logHeadTail = fn({
  name: "logHeadTail",
  params: [real],
  env: { logReduced },
  body([f], gpu, { logReduced }) {
    const { h, rest } = logReduced(f);
    const hi = gpu.headBits(f - h);
    return { hi, lo: f - hi - h + rest };
  },
});

/**
 * Returns the base-2 logarithm, exact at powers of 2. Its special values are those of `log`. Cost: 48 operations, 1
 * division (f64). Accuracy: 0.83 ulp (f64), 0.81 ulp (f32).
 */
export const log2 = fn({
  name: "log2",
  params: [real],
  env: { splitLog, logHeadTail, logDomain },
  body([x], gpu, { splitLog, logHeadTail, logDomain }) {
    const { f, exponent } = splitLog(x);
    const { hi, lo } = logHeadTail(f);
    if (gpu.precision === "f32") {
      return logDomain(x, exponent + (hi * 1.44287109375 + (lo * 1.442695 + hi * -0.00017605286)));
    }
    return logDomain(x, exponent + (hi * 1.4426950514316559 + (lo * 1.4426950408889634 + hi * -1.0542692476429138e-8)));
  },
});

/**
 * Returns the base-10 logarithm, exact at small powers of 10. Its special values are those of `log`. Cost: 50
 * operations, 1 division (f64). Accuracy: 0.67 ulp (f64), 0.78 ulp (f32).
 */
export const log10 = fn({
  name: "log10",
  params: [real],
  env: { splitLog, logHeadTail, logDomain },
  body([x], gpu, { splitLog, logHeadTail, logDomain }) {
    const { f, exponent } = splitLog(x);
    const { hi, lo } = logHeadTail(f);
    if (gpu.precision === "f32") {
      const tail = exponent * -3.0243556e-6 + (lo * 0.4342945 + hi * -3.1689972e-5);
      return logDomain(x, exponent * 0.30103302001953125 + (hi * 0.434326171875 + tail));
    }
    const tail = exponent * -8.532344317057107e-14 + (lo * 0.4342944819032518 + hi * -2.6524694553078553e-9);
    const high = exponent * 0.3010299956640665;
    const middle = hi * 0.4342944845557213;
    const sum = high + middle;
    return logDomain(x, sum + (high - sum + middle + tail));
  },
});

/**
 * Returns log(1 + x) without cancellation at 0. It is computed as log u + c/u, where u is 1 + x rounded and c the
 * rounding error of u. For x near 0, where u is in [√½, √2), x itself takes the place of u − 1. log1p(−1) = −∞,
 * log1p(±0) = ±0. Cost: 55 operations, 2 divisions (f64). Accuracy: 0.80 ulp (f64), 0.76 ulp (f32).
 */
export const log1p = fn({
  name: "log1p",
  params: [real],
  env: { splitLog, logReduced, logDomain },
  body([x], gpu, { splitLog, logReduced, logDomain }) {
    const u = 1 + x;
    const small = x > -0.2928 && x < 0.4142;
    const split = splitLog(u);
    const f = small ? x : split.f;
    const e = small ? 0 : split.exponent;
    const { h, rest } = logReduced(f);
    const lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    const correction = small ? 0 : lost / u;
    if (gpu.precision === "f32") {
      const y = e * 0.693145751953125 - (h - (rest + (e * 1.4286068203094173e-6 + correction)) - f);
      return Math.abs(x) < 1e-10 ? x : logDomain(u, y);
    }
    const y = e * 0.6931471803691238 - (h - (rest + (e * 1.9082149292705877e-10 + correction)) - f);
    return Math.abs(x) < 1e-20 ? x : logDomain(u, y);
  },
});
