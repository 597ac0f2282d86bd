/**
 * exp, expm1 and the reduced exponential they share with erf, the normal distribution and the hyperbolic functions.
 *
 * All write x = k·ln 2 + r with k an integer and |r| ≤ ln 2 / 2, and e^r = 1 + (r + r²·P(r)) with P minimax (Cody &
 * Waite 1980, ch. 6). ln 2 is in two parts, the first short enough that k times it is exact, contracted or not.
 * Coefficients: test/fixtures/math/minimax.py.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";

const expSeries = polynomial({
  f32: [0.5, 0.1666652, 0.041666403, 0.008368827, 0.0013940652],
  f64: [
    0.5000000000000013, 0.166666666666667, 0.04166666666651434, 0.008333333333306894, 0.0013888888947328536,
    0.00019841269918028512, 2.4801489591898932e-5, 2.755721573271567e-6, 2.763141369531481e-7, 2.511803996796135e-8,
  ],
});
/** e^r − 1 − r for |r| ≤ 0.36, as r²·P(r). Error: 3.5e-18 (f64), 3.2e-9 (f32). Cost: 20 operations (f64), 10 (f32). */
const expRest = fn({
  name: "expRest",
  params: [real],
  env: { expSeries },
  body([r], _gpu, { expSeries }) {
    return r * r * expSeries(r);
  },
});

/** x = k·ln 2 + (high − low): high without error, for |k| < 2^11 (2^8 in f32); k as suits `near`, which is about x. */
const expReduce = fn({
  name: "expReduce",
  params: [real, real],
  body([x, near], gpu) {
    if (gpu.precision === "f32") {
      const k = gpu.nearest(near * 1.442695);
      return { k, high: x - k * 0.693145751953125, low: k * 1.4286068203094173e-6 };
    }
    const k = gpu.nearest(near * 1.4426950408889634);
    return { k, high: x - k * 0.6931471803691238, low: k * 1.9082149292705877e-10 };
  },
});

/**
 * Returns `s` and `power` with e^(x + tail) = (1 + s)·2^power and 1 + s in [0.69, 1.43], for |x| < 1000 and |tail| <
 * 1e-5 (0.1 in f32). The argument x + tail is not rounded. The caller multiplies by 2^power last, so that other factors
 * apply before a subnormal result loses bits. Cost: 32 operations (f64), 23 (f32).
 */
export const expParts = fn({
  name: "expParts",
  params: [real, real],
  env: { expReduce, expRest },
  body([x, tail], gpu, { expReduce, expRest }) {
    const { k, high, low } = expReduce(x, gpu.precision === "f32" ? x + tail : x);
    const small = tail - low;
    const r = high + small;
    const lost = small - (r - high);
    return { s: r + (expRest(r) + lost), power: gpu.i32(k) };
  },
});

/**
 * Returns e^x.
 *
 * exp(−∞) = 0, exp(∞) = ∞; overflow gives ∞, underflow is gradual, to 0. Cost: 31 operations and ldexp in f64, 21 in
 * f32. Accuracy: 0.91 ulp (f64), 0.94 ulp (f32).
 */
export const exp = fn({
  name: "exp",
  params: [real],
  env: { expReduce, expRest },
  body([x], gpu, { expReduce, expRest }) {
    const { k, high, low } = expReduce(x, x);
    const r = high - low;
    const y = gpu.ldexp(1 + (r + expRest(r)), gpu.i32(k));
    if (gpu.precision === "f32") return x > 88.8 ? Infinity : x < -104 ? 0 : y;
    return x > 709.8 ? Infinity : x < -746 ? 0 : y;
  },
});

/**
 * Returns e^x − 1 without cancellation at 0. With x = k·ln 2 + r and s = e^r − 1, the result is 2^k·s + (2^k − 1). It
 * is computed as twice the sum for 2^(k−1), so that 2^k does not overflow before the result does. For k = 1 the
 * rounding error of r would count twice, so a correction of s contains it.
 *
 * expm1(−∞) = −1, expm1(∞) = ∞, expm1(±0) = ±0. Cost: 40 operations and ldexp in f64. Accuracy: 1.37 ulp (f64), 1.66
 * ulp (f32).
 */
export const expm1 = fn({
  name: "expm1",
  params: [real],
  env: { expReduce, expRest },
  body([x], gpu, { expReduce, expRest }) {
    const floor = gpu.precision === "f32" ? -30 : -60;
    const c = x < floor ? floor : x;
    const { k, high, low } = expReduce(c, c);
    const r = high - low;
    const s = r + (high - r - low + expRest(r));
    const half = gpu.ldexp(1, gpu.i32(k) - 1);
    const y = 2 * (half * s + (half - 0.5));
    if (gpu.precision === "f32") return x > 88.8 ? Infinity : Math.abs(x) < 1e-8 ? x : y;
    return x > (gpu.precision === "f64" ? 709.8 : 88.8) ? Infinity : Math.abs(x) < 1e-17 ? x : y;
  },
});
