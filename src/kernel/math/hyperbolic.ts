/**
 * sinh, cosh, tanh: near 0 by x + x·z·P(z), z = x², P minimax (test/fixtures/math/minimax.py; error below 6e-19 in f64,
 * 1.2e-9 in f32), else by h = e^|x|/2, which does not overflow before they do.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { expParts } from "./exp.ts";

/** e^a/2 for a ≥ 0, ∞ where that overflows. */
const halfExp = fn({
  name: "halfExp",
  params: [real],
  env: { expParts },
  body([a], gpu, { expParts }) {
    const limit = gpu.precision === "f32" ? 91 : 712;
    const { s, power } = expParts(a > limit ? limit : a, 0);
    return gpu.ldexp(1 + s, power - 1);
  },
});

const sinhSeries = polynomial({
  f32: [0.16666667, 0.008333311, 0.00019842635, 2.7839258e-6],
  f64: [
    0.16666666666666669, 0.008333333333333139, 0.00019841269841437776, 2.755731915530606e-6, 2.505212340355587e-8,
    1.6057239944224872e-10, 7.759324471787967e-13,
  ],
});
/**
 * Returns sinh x. sinh(±0) = ±0, sinh(±∞) = ±∞. Cost: 55 operations, a division and ldexp (f64). Accuracy: 1.51 ulp
 * (f64), 1.47 ulp (f32).
 */
export const sinh = fn({
  name: "sinh",
  params: [real],
  env: { halfExp, sinhSeries },
  body([x], gpu, { halfExp, sinhSeries }) {
    const a = Math.abs(x);
    const h = halfExp(a);
    const large = gpu.copysign(h - 0.25 / h, x);
    const z = x * x;
    if (gpu.precision === "f32") {
      return a > 1 ? large : x + x * z * sinhSeries(z);
    }
    return a > 1 ? large : x + x * (z * sinhSeries(z));
  },
});

/**
 * Returns cosh x. cosh(±∞) = ∞. Cost: 34 operations, a division and ldexp (f64). Accuracy: 1.29 ulp (f64), 1.23 ulp
 * (f32).
 */
export const cosh = fn({
  name: "cosh",
  params: [real],
  env: { halfExp },
  body([x], _gpu, { halfExp }) {
    const h = halfExp(Math.abs(x));
    return h + 0.25 / h;
  },
});

const tanhSeries = polynomial({
  f32: [-0.3333332, 0.13332637, -0.053856578, 0.021085886, -0.0062904307],
  f64: [
    -0.333333333333333, 0.1333333333332681, -0.0539682539638658, 0.02186948838872371, -0.008863232646356129,
    0.003592092465454702, -0.0014555455388204836, 0.0005884551636565607, -0.0002334077979025354, 8.335281478436235e-5,
    -1.9516435392424934e-5,
  ],
});
/**
 * Returns tanh x. tanh(±0) = ±0, tanh(±∞) = ±1. Cost: 63 operations, a division and ldexp (f64). Accuracy: 1.38 ulp
 * (f64), 1.37 ulp (f32).
 */
export const tanh = fn({
  name: "tanh",
  params: [real],
  env: { halfExp, tanhSeries },
  body([x], gpu, { halfExp, tanhSeries }) {
    const a = Math.abs(x);
    const limit = gpu.precision === "f32" ? 10 : 22;
    const large = 1 - 1 / (halfExp(a > limit ? 2 * limit : 2 * a) + 0.5);
    const z = x * x;
    return gpu.copysign(a > 0.55 ? large : a + a * (z * tanhSeries(z)), x);
  },
});
