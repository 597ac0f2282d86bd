/**
 * The inverse of the normal distribution function, by two rational minimax approximations after Wichura (1988), AS 241:
 * with q = p − ½, w = 0.182 − q² and s = √(−log min(p, 1 − p)) ≤ 27.4,
 *
 *   |q| ≤ 0.425:  x = q·(5/4 + P(w)/Q(w))                 error 9.1e-17 (f64), 5.0e-8 (f32)
 *   else:         x = ±(√2·s − P(s − 1.6)/Q(s − 1.6))     error 2.3e-17 (f64), 5.1e-10 (f32)
 *
 * The forms, the coefficients and the one tail instead of two are this project's; in both, P/Q is a correction, so that
 * its rounding errors weigh less. Coefficients: test/fixtures/math/minimax.py.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { log } from "./log.ts";

const centreNumerator = polynomial({
  f32: [2.1512723, 28.723694, 63.250942, -25.682913],
  f64: [
    2.1512723964952265, 82.15599963526701, 1157.688323000153, 7386.009651173355, 20817.498096270192, 19780.119755285825,
    -2569.587013537187, -4404.057367934139,
  ],
});
const centreDenominator = polynomial({
  f32: [1, 18.180988, 81.09069, 69.8522],
  f64: [
    1, 43.018609802626614, 709.7599711895161, 5654.7347677535945, 22544.477031639886, 42287.339075330216,
    31233.696184627595, 5731.3891360872085,
  ],
});
/** x/q in the middle. Cost: 29 operations and a division (f64). */
const centre = fn({
  name: "centre",
  params: [real],
  env: { centreNumerator, centreDenominator },
  body([w], _gpu, { centreNumerator, centreDenominator }) {
    return 1.25 + centreNumerator(w) / centreDenominator(w);
  },
});

const tailNumerator = polynomial({
  f32: [0.83930457, 0.6631199, 0.13046691, 0.005751349, 1.0482863e-5],
  f64: [
    0.8393045890472686, 1.5714178993881203, 1.1910818349343808, 0.47753341706029473, 0.11011620493484217,
    0.014576128033390381, 0.0010416771587480238, 3.609541158012541e-5, 5.091160391411373e-7, 2.031358333555561e-9,
    3.202624143098793e-13,
  ],
});
const tailDenominator = polynomial({
  f32: [1, 1.1398187, 0.4074539, 0.048754986, 0.0014025078],
  f64: [
    1, 2.222021719733312, 2.0496215771126294, 1.0265116393600726, 0.30575403543951113, 0.05534087758092485,
    0.005912184990371235, 0.0003468040376685007, 9.947836299535546e-6, 1.1535641916460925e-7, 3.5958765604863133e-10,
  ],
});
/** √2·s − |x| in the tails, r = s − 1.6. Cost: 40 operations and a division (f64). */
const tail = fn({
  name: "tail",
  params: [real],
  env: { tailNumerator, tailDenominator },
  body([r], _gpu, { tailNumerator, tailDenominator }) {
    return tailNumerator(r) / tailDenominator(r);
  },
});

/**
 * Returns the standard normal quantile Φ⁻¹(p). Φ⁻¹(0) = −∞, Φ⁻¹(1) = ∞, Φ⁻¹(½) = 0; NaN outside [0, 1]. Cost: 35
 * operations and a division in the middle; 100 operations, 2 divisions and a square root in the tails (f64). Accuracy:
 * 3.29 ulp (f64), 3.67 ulp (f32).
 */
export const inverseNormalCdf = fn({
  name: "inverseNormalCdf",
  params: [real],
  env: { centre, tail, log },
  body([p], gpu, { centre, tail, log }) {
    const q = p - 0.5;
    if (Math.abs(q) <= 0.425) return q * centre(0.182 - q * q);
    const s = Math.sqrt(-log(q < 0 ? p : 1 - p));
    const x = (gpu.precision === "f32" ? 1.4142135 : 1.4142135623730951) * s - tail(s - 1.6);
    return gpu.copysign(p === 0 || p === 1 ? Infinity : x, q);
  },
});
