/**
 * atan and atan2 by one division: for a, b ≥ 0,
 *
 *   atan(a/b) = base + atan t,   t = a/b, (a − b)/(a + b) or −b/a,   base = 0, π/4, π/2,   |t| ≤ ½
 *
 * and atan t = t + t·z·A(z), z = t². asin and acos: asin x = x + x·z·S(z), z = x², for |x| ≤ ½, and beyond
 * asin x = π/2 − 2·asin √((1 − x)/2), whose argument is at most ½. A and S minimax (test/fixtures/math/minimax.py;
 * errors below
 * 1.6e-17 in f64, 5.1e-9 in f32).
 */
import { bool, real } from "../language.ts";
import { fn, polynomial } from "./define.ts";

const atanSeries = polynomial({
  f32: [-0.33333325, 0.19999395, -0.14270186, 0.109245256, -0.07919483, 0.037786275],
  f64: [
    -0.33333333333333315, 0.19999999999993442, -0.14285714284977538, 0.1111111106935309, -0.09090907691764019,
    0.0769227747080987, -0.06666223631131826, 0.05877808741727119, -0.052300266641862575, 0.045895195306101755,
    -0.03712094752391079, 0.02365879448052506, -0.008368430854248345,
  ],
});
/**
 * atan(a/b) in [0, π/2], a and b ≥ 0 and not both 0 or both ∞, a + b finite or one of them ∞. Cost: 40 operations and
 * a division (f64).
 */
const atanRatio = fn({
  name: "atanRatio",
  params: [real, real],
  env: { atanSeries },
  body([a, b], gpu, { atanSeries }) {
    const small = a < 0.5 * b;
    const large = a > 2.25 * b;
    const n = small ? a : large ? -b : a - b;
    const d = small ? b : large ? a : a + b;
    const t = n / d;
    const z = t * t;
    if (gpu.precision === "f32") {
      const rest = t * z * atanSeries(z);
      const low = small ? 0 : large ? -4.371139e-8 : -2.1855695e-8;
      return (small ? 0 : large ? 1.5707963705062866 : 0.7853981852531433) + (t + (low + rest));
    }
    const low = small ? 0 : large ? 6.123233995736766e-17 : 3.061616997868383e-17;
    return (small ? 0 : large ? 1.5707963267948966 : 0.7853981633974483) + (t + (low + t * z * atanSeries(z)));
  },
});

const asinTail = polynomial({
  f32: [0.16666754, 0.07495252, 0.045476053, 0.024151973, 0.042212106],
  f64: [
    0.16666666666665383, 0.07500000000343021, 0.04464285682348036, 0.03038195933208951, 0.022371753487205274,
    0.01735977187225565, 0.013884588893519553, 0.01217335447541036, 0.006510479187900866, 0.019575053722927494,
    -0.016296053089185532, 0.03196043564161488,
  ],
});
/** (asin √z / √z − 1) for 0 ≤ z ≤ ¼. Cost: 23 operations (f64). */
const asinSeries = fn({
  name: "asinSeries",
  params: [real],
  env: { asinTail },
  body([z], _gpu, { asinTail }) {
    return z * asinTail(z);
  },
});

/** Returns v or π − v. */
const reflect = fn({
  name: "reflect",
  params: [bool, real],
  body([negative, v], gpu) {
    if (gpu.precision === "f32") return negative ? 3.1415927410125732 - (v + 8.742278e-8) : v;
    return negative ? 3.141592653589793 - (v - 1.2246467991473532e-16) : v;
  },
});

/** Returns atan x in [−π/2, π/2]. atan(±0) = ±0, atan(±∞) = ±π/2. Accuracy: 0.92 ulp (f64), 1.24 ulp (f32). */
export const atan = fn({
  name: "atan",
  params: [real],
  env: { atanRatio },
  body([x], gpu, { atanRatio }) {
    return gpu.copysign(atanRatio(Math.abs(x), 1), x);
  },
});

/**
 * Returns the angle of the point (x, y) in [−π, π], with the signs of zeros and the infinities as in C99 and
 * JavaScript. Accuracy: 1.34 ulp (f64), 1.31 ulp (f32).
 */
export const atan2 = fn({
  name: "atan2",
  params: [real, real],
  env: { atanRatio, reflect },
  body([y, x], gpu, { atanRatio, reflect }) {
    const huge = gpu.precision === "f64" ? 1e308 : 1e38;
    const scale = Math.abs(x) > huge || Math.abs(y) > huge ? 0.25 : 1;
    const bothZero = x === 0 && y === 0;
    const bothInfinite = Math.abs(x) === Infinity && Math.abs(y) === Infinity;
    const a = bothInfinite ? 1 : Math.abs(y) * scale;
    const b = bothZero || bothInfinite ? 1 : Math.abs(x) * scale;
    return gpu.copysign(reflect(gpu.copysign(1, x) < 0, atanRatio(a, b)), y);
  },
});

/**
 * Returns asin x in [−π/2, π/2]. asin(±0) = ±0; NaN outside [−1, 1]. Cost: 35 operations and a square root (f64).
 * Accuracy: 1.71 ulp (f64), 1.43 ulp (f32).
 */
export const asin = fn({
  name: "asin",
  params: [real],
  env: { asinSeries },
  body([x], gpu, { asinSeries }) {
    const a = Math.abs(x);
    const small = a <= 0.5;
    const z = small ? x * x : 0.5 * (1 - a);
    const s = small ? a : Math.sqrt(z);
    const rest = s * asinSeries(z);
    const f32 = gpu.precision === "f32";
    const large =
      (f32 ? 1.5707963705062866 : 1.5707963267948966) -
      2 * s -
      (2 * rest - (f32 ? -4.371139e-8 : 6.123233995736766e-17));
    return gpu.copysign(small ? s + rest : large, x);
  },
});

/**
 * Returns acos x in [0, π]; NaN outside [−1, 1]. Cost: 38 operations and a square root (f64). Accuracy: 1.13 ulp (f64),
 * 1.06 ulp (f32).
 */
export const acos = fn({
  name: "acos",
  params: [real],
  env: { asinSeries },
  body([x], gpu, { asinSeries }) {
    const a = Math.abs(x);
    const small = a <= 0.5;
    const z = small ? x * x : 0.5 * (1 - a);
    const s = small ? x : Math.sqrt(z);
    const rest = s * asinSeries(z);
    const f32 = gpu.precision === "f32";
    const high = f32 ? 1.5707963705062866 : 1.5707963267948966; // π/2 = high + low
    const low = f32 ? -4.371139e-8 : 6.123233995736766e-17;
    if (small) return high - (s - (low - rest));
    return x < 0 ? 2 * (high - (s + (rest - low))) : 2 * (s + rest);
  },
});
