/**
 * The standard normal distribution.
 *
 *   Φ(−x) = e^(−x²/2)·(1 + g(x)) / (2 + 2x),  g(x) = x·P(x)/Q(x),  x ≥ 0
 *
 * One rational minimax for the whole half line, as in erf.ts, and no branch on the size of x: SIMD lanes never diverge.
 * −0.19 ≤ g ≤ 0.06, so that the rounding errors of P/Q weigh little.
 *
 * Error of the approximation: 5.4e-17 (f64), 6.3e-9 (f32). Coefficients: test/fixtures/math/minimax.py.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { expParts } from "./exp.ts";

/** e^(−a²/2) = (1 + s)·2^power, with full relative accuracy: a² is split so that its large part is exact. */
const gaussian = fn({
  name: "gaussian",
  params: [real],
  env: { expParts },
  body([a], gpu, { expParts }) {
    const head = gpu.headBits(a);
    return expParts(-0.5 * head * head, 0.5 * (head - a) * (head + a));
  },
});

const numerator = polynomial({
  f32: [0.202115, 0.040955596, -0.021708332, -0.012411037, -0.0021039522],
  f64: [
    0.2021154391971452, 0.17685945549813645, 0.052574058468422315, -0.007930493877940863, -0.012331578172465415,
    -0.005025484710317284, -0.0011890115765771864, -0.00017833554880319338, -1.6205803884839224e-5,
    -7.076165159192016e-7,
  ],
});
const denominator = polynomial({
  f32: [1, 1.6764456, 1.2055383, 0.47140193, 0.10247758, 0.010410097],
  f64: [
    1, 2.348875564316907, 2.564026512016437, 1.717274410393458, 0.7838612604008351, 0.25573055775418196,
    0.060663419073344646, 0.010391502129016917, 0.001239612336282827, 9.400191652870313e-5, 3.5010512740766894e-6,
  ],
});
/** g(x)/x for 0 ≤ x ≤ 40 (15 in f32). Cost: 38 operations and a division (f64). */
const scaledTail = fn({
  name: "scaledTail",
  params: [real],
  env: { numerator, denominator },
  body([x], _gpu, { numerator, denominator }) {
    return numerator(x) / denominator(x);
  },
});

/**
 * Returns the standard normal distribution function Φ(x), with full relative accuracy in the left tail. Φ(−∞) = 0, Φ(∞)
 * = 1. Cost: 85 operations, 2 divisions and ldexp (f64). Accuracy: 2.82 ulp (f64), 2.58 ulp (f32).
 */
export const normalCdf = fn({
  name: "normalCdf",
  params: [real],
  env: { gaussian, scaledTail },
  body([x], gpu, { gaussian, scaledTail }) {
    const limit = gpu.precision === "f32" ? 15 : 40;
    const a = Math.abs(x) > limit ? limit : Math.abs(x);
    const { s, power } = gaussian(a);
    const g = a * scaledTail(a);
    const tail = gpu.ldexp((1 + (s + (g + s * g))) / (2 + 2 * a), power);
    return x < 0 ? tail : 1 - tail;
  },
});

/**
 * Returns the standard normal density φ(x) = e^(−x²/2)/√(2π). φ(±∞) = 0. Cost: 42 operations and ldexp (f64). Accuracy:
 * 1.32 ulp (f64), 1.21 ulp (f32).
 */
export const normalPdf = fn({
  name: "normalPdf",
  params: [real],
  env: { gaussian },
  body([x], gpu, { gaussian }) {
    const limit = gpu.precision === "f32" ? 15 : 40;
    const a = Math.abs(x) > limit ? limit : Math.abs(x);
    const { s, power } = gaussian(a);
    const c = gpu.precision === "f32" ? 0.3989423 : 0.3989422804014327;
    return gpu.ldexp(c + c * s, power);
  },
});

/**
 * Returns Mills' ratio Φ(−x)/φ(x) for x ≥ 0. For large x it is about 1/x. Cost: 43 operations and 2 divisions (f64).
 * Accuracy: 2.5 ulp (f64).
 */
export const millsRatio = fn({
  name: "millsRatio",
  params: [real],
  env: { scaledTail },
  body([x], gpu, { scaledTail }) {
    const c = gpu.precision === "f32" ? 2.5066283 : 2.5066282746310007;
    return (c + c * (x * scaledTail(x))) / (2 + 2 * x);
  },
});
