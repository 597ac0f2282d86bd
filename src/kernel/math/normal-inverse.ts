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
import { fn } from "./define.ts";
import { log } from "./log.ts";

/** x/q in the middle. Cost: 29 operations and a division (f64). */
const centre = fn({
  name: "centre",
  params: [real],
  body([w], gpu) {
    if (gpu.precision === "f32") {
      const p = 2.1512723 + w * (28.723694 + w * (63.250942 + w * -25.682913));
      return 1.25 + p / (1 + w * (18.180988 + w * (81.09069 + w * 69.8522)));
    }
    let p = -2569.587013537187 + w * -4404.057367934139;
    p = 19780.119755285825 + w * p;
    p = 20817.498096270192 + w * p;
    p = 7386.009651173355 + w * p;
    p = 1157.688323000153 + w * p;
    p = 82.15599963526701 + w * p;
    p = 2.1512723964952265 + w * p;
    let q = 31233.696184627595 + w * 5731.3891360872085;
    q = 42287.339075330216 + w * q;
    q = 22544.477031639886 + w * q;
    q = 5654.7347677535945 + w * q;
    q = 709.7599711895161 + w * q;
    q = 43.018609802626614 + w * q;
    q = 1 + w * q;
    return 1.25 + p / q;
  },
});

/** √2·s − |x| in the tails, r = s − 1.6. Cost: 40 operations and a division (f64). */
const tail = fn({
  name: "tail",
  params: [real],
  body([r], gpu) {
    if (gpu.precision === "f32") {
      const p = 0.83930457 + r * (0.6631199 + r * (0.13046691 + r * (0.005751349 + r * 1.0482863e-5)));
      return p / (1 + r * (1.1398187 + r * (0.4074539 + r * (0.048754986 + r * 0.0014025078))));
    }
    let p = 2.031358333555561e-9 + r * 3.202624143098793e-13;
    p = 5.091160391411373e-7 + r * p;
    p = 3.609541158012541e-5 + r * p;
    p = 0.0010416771587480238 + r * p;
    p = 0.014576128033390381 + r * p;
    p = 0.11011620493484217 + r * p;
    p = 0.47753341706029473 + r * p;
    p = 1.1910818349343808 + r * p;
    p = 1.5714178993881203 + r * p;
    p = 0.8393045890472686 + r * p;
    let q = 1.1535641916460925e-7 + r * 3.5958765604863133e-10;
    q = 9.947836299535546e-6 + r * q;
    q = 0.0003468040376685007 + r * q;
    q = 0.005912184990371235 + r * q;
    q = 0.05534087758092485 + r * q;
    q = 0.30575403543951113 + r * q;
    q = 1.0265116393600726 + r * q;
    q = 2.0496215771126294 + r * q;
    q = 2.222021719733312 + r * q;
    q = 1 + r * q;
    return p / q;
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
