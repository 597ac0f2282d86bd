/**
 * sin, cos, tan. With x = quadrant·π/2 + (r + t), |r| ≤ π/4, z = r²:
 *
 *   sin(r + t) = r + (r·z·S(z) + t·(1 − z/2)),   cos(r + t) = 1 − z/2 + (z²·C(z) − r·t)
 *
 * S and C minimax (test/fixtures/math/minimax.py; error 3.4e-18 in f64, 3.7e-9 in f32). Both are evaluated and the
 * quadrant selects, so that SIMD lanes do not diverge. All finite arguments are reduced in full (reduce.ts).
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { reduceHalfPi } from "./reduce.ts";

const sinSeries = polynomial({
  f32: [-0.16666655, 0.008332192, -0.00019518788],
  f64: [
    -0.16666666666666632, 0.00833333333332242, -0.0001984126982981239, 2.755731369354991e-6, -2.505075837821758e-8,
    1.58968113496391e-10,
  ],
});
/** sin(r + t) = r + rest. Cost: 18 operations (f64). */
const sinReduced = fn({
  name: "sinReduced",
  params: [real, real],
  env: { sinSeries },
  body([r, t], _gpu, { sinSeries }) {
    const z = r * r;
    return r * z * sinSeries(z) + t * (1 - 0.5 * z);
  },
});

const cosSeries = polynomial({
  f32: [0.041666646, -0.0013887301, 2.4430674e-5],
  f64: [
    0.0416666666666666, -0.0013888888888874131, 2.4801587289487466e-5, -2.755731435391149e-7, 2.087572349490219e-9,
    -1.1359659636717627e-11,
  ],
});
/** cos(r + t) = one + rest, one = 1 − z/2 rounded. Cost: 19 operations (f64). */
const cosReduced = fn({
  name: "cosReduced",
  params: [real, real],
  env: { cosSeries },
  body([r, t], _gpu, { cosSeries }) {
    const z = r * r;
    const half = 0.5 * z;
    const one = 1 - half;
    const lost = 1 - one - half;
    return { one, rest: lost + (z * z * cosSeries(z) - r * t) };
  },
});

/**
 * Returns sin x. sin(±0) = ±0, sin(±∞) = NaN. Cost: 62 operations (f64) up to |x| = 12000. Accuracy: 0.71 ulp (f64),
 * 0.75 ulp (f32).
 */
export const sin = fn({
  name: "sin",
  params: [real],
  env: { reduceHalfPi, sinReduced, cosReduced },
  body([x], gpu, { reduceHalfPi, sinReduced, cosReduced }) {
    const { quadrant, r, tail } = reduceHalfPi(x);
    const s = r + sinReduced(r, tail);
    const { one, rest } = cosReduced(r, tail);
    const y = (quadrant & 1) === 0 ? s : one + rest;
    return Math.abs(x) < (gpu.precision === "f32" ? 1e-5 : 1e-9) ? x : (quadrant & 2) === 0 ? y : -y;
  },
});

/**
 * Returns cos x. cos(±∞) = NaN. Cost: 60 operations (f64) up to |x| = 12000. Accuracy: 0.72 ulp (f64), 0.70 ulp (f32).
 */
export const cos = fn({
  name: "cos",
  params: [real],
  env: { reduceHalfPi, sinReduced, cosReduced },
  body([x], _gpu, { reduceHalfPi, sinReduced, cosReduced }) {
    const { quadrant, r, tail } = reduceHalfPi(x);
    const s = r + sinReduced(r, tail);
    const { one, rest } = cosReduced(r, tail);
    const y = (quadrant & 1) === 0 ? one + rest : s;
    return ((quadrant + 1) & 2) === 0 ? y : -y;
  },
});

/**
 * Returns tan x = sin/cos or −cos/sin. Numerator and denominator are sums of two terms. The quotient is corrected once
 * by its residual, which `headBits` makes exact. tan(±0) = ±0, tan(±∞) = NaN. Cost: 85 operations and 2 divisions (f64)
 * up to |x| = 12000. Accuracy: 0.86 ulp (f64), 0.87 ulp (f32).
 */
export const tan = fn({
  name: "tan",
  params: [real],
  env: { reduceHalfPi, sinReduced, cosReduced },
  body([x], gpu, { reduceHalfPi, sinReduced, cosReduced }) {
    const { quadrant, r, tail } = reduceHalfPi(x);
    const sRest = sinReduced(r, tail);
    const s = r + sRest;
    const sLow = r - s + sRest;
    const { one, rest } = cosReduced(r, tail);
    const c = one + rest;
    const cLow = one - c + rest;
    const even = (quadrant & 1) === 0;
    const n = even ? s : c;
    const nLow = even ? sLow : cLow;
    const d = even ? c : -s;
    const dLow = even ? cLow : -sLow;
    const q = n / d;
    const qHead = gpu.headBits(q);
    const dHead = gpu.headBits(d);
    const residual = n - qHead * dHead - qHead * (d - dHead) - (q - qHead) * d + (nLow - q * dLow);
    return Math.abs(x) < (gpu.precision === "f32" ? 1e-5 : 1e-9) ? x : q + residual / d;
  },
});
