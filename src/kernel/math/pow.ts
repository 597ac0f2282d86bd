/**
 * x^y = 2^(y·log₂ x), the logarithm in two parts of together 65 bits (34 in f32), by the method of K. C. Ng's e_pow:
 * with
 * x = 2^e·m, m in [√½, √2), s = (m − 1)/(m + 1), z = s²,
 *
 *   log₂ m = 2/(3·ln 2)·s·(3 + z + z²·P(z))
 *
 * where every product of leading parts is of two half significands, hence exact, contracted or not. Then 2^r = 1 +
 * r·Q(r). P and Q minimax (test/fixtures/math/minimax.py).
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { splitLog } from "./log.ts";

/** P: 3/5 + 3/7·z + … Error 7.2e-23 of the logarithm (f64), 7.5e-14 (f32). */
const logSeries = polynomial({
  f32: [0.59999996, 0.4285796, 0.33269423, 0.29339015],
  f64: [
    0.5999999999999996, 0.42857142857167657, 0.33333333326306736, 0.2727272830525351, 0.23076835319772684,
    0.20004475667206928, 0.17512236309846965, 0.17983454200961146,
  ],
});

/** log₂ x = high + low for finite x > 0; high has half a significand. Cost: 60 operations and a division (f64). */
const log2Parts = fn({
  name: "log2Parts",
  params: [real],
  env: { splitLog, logSeries },
  body([x], gpu, { splitLog, logSeries }) {
    const { f, exponent } = splitLog(x);
    const inverse = 1 / (2 + f);
    // s = sHead + sLow, from 2 + f = dHead + dLow.
    const s = f * inverse;
    const sHead = gpu.headBits(s);
    const dHead = gpu.headBits(2 + f);
    const dLow = f - (dHead - 2);
    const sLow = inverse * (f - sHead * dHead - sHead * dLow);
    // z = sHead² + …, and 3 + z + z²·P = uHead + uLow.
    const z = s * s;
    const zHead = sHead * sHead;
    const p = logSeries(z);
    const rest = z * z * p + sLow * (sHead + s);
    const uHead = gpu.headBits(3 + zHead + rest);
    const uLow = rest - (uHead - 3 - zHead);
    // Their product, times 2/(3·ln 2).
    const v = sHead * uHead;
    const w = sLow * uHead + uLow * s;
    const head = gpu.headBits(v + w);
    const low = w - (head - v);
    const f32 = gpu.precision === "f32";
    // A head of 24 bits in f32x2, so that a product of two has 48.
    const cHead = f32 ? 0.961669921875 : gpu.precision === "f64" ? 0.9617966860532761 : 0.9617967009544373;
    const cLow = f32 ? 0.00012677205 : gpu.precision === "f64" ? 7.872699542894897e-9 : -7.028461650952758e-9;
    const yHead = cHead * head;
    const yLow = cLow * head + low * (f32 ? 0.9617967 : 0.9617966939259756);
    const high = gpu.headBits(yHead + yLow + exponent);
    return { high, low: yLow - (high - exponent - yHead) };
  },
});

const exp2Series = polynomial({
  f32: [0.6931472, 0.2402265, 0.055503596, 0.0096180625, 0.0013390984, 0.00015462881],
  f64: [
    0.6931471805599453, 0.24022650695910133, 0.05550410866482174, 0.009618129107593335, 0.0013333558146379216,
    0.00015403530458076963, 1.525273386740558e-5, 1.321543481747527e-6, 1.017804650459192e-7, 7.073860180506911e-9,
    4.457382295209366e-10,
  ],
});
/** 2^r − 1 for |r| ≤ ½. Error 3.4e-18 (f64), 3.1e-9 (f32). */
const exp2m1 = fn({
  name: "exp2m1",
  params: [real],
  env: { exp2Series },
  body([r], _gpu, { exp2Series }) {
    return r * exp2Series(r);
  },
});

/** |x|^y for finite |x| > 0 and finite y. */
const powFinite = fn({
  name: "powFinite",
  params: [real, real],
  env: { log2Parts, exp2m1 },
  body([a, y], gpu, { log2Parts, exp2m1 }) {
    const { high, low } = log2Parts(a);
    const yHead = gpu.headBits(y);
    const head = yHead * high;
    const tail = (y - yHead) * high + y * low;
    const k = gpu.nearest(head + tail);
    const result = gpu.ldexp(1 + exp2m1(head - k + tail), gpu.i32(k));
    const limit = gpu.precision === "f32" ? 160 : 1100;
    return head + tail > limit ? Infinity : head + tail < -limit ? 0 : result;
  },
});

/**
 * Returns x^y with the rules of JavaScript's `**`. pow(x, ±0) = 1 even for NaN. pow(±1, ±∞) and pow(1, NaN) are NaN,
 * which are 1 in C99. A negative x with a y that is not whole gives NaN. Zeros and infinities keep their sign for odd
 * y. Cost: 130 operations and a division (f64). Accuracy: 1.22 ulp (f64), 1.06 ulp (f32).
 */
export const pow = fn({
  name: "pow",
  params: [real, real],
  env: { powFinite },
  body([x, y], gpu, { powFinite }) {
    const a = Math.abs(x);
    const whole = Math.floor(y) === y;
    const odd = whole && Math.floor(0.5 * y) !== 0.5 * y;
    const degenerate = a === 0 || a === Infinity;
    const grows = a > 1 === y > 0;
    const extreme = grows ? Infinity : 0;
    const size = degenerate ? extreme : powFinite(a, y);
    const signed = odd && gpu.copysign(1, x) < 0 ? -size : size;
    const finite = x < 0 && !whole && a < Infinity ? NaN : signed;
    const infinite = a === 1 ? NaN : extreme;
    const usual = Math.abs(y) === Infinity ? infinite : finite;
    return y === 0 ? 1 : Number.isNaN(x) || Number.isNaN(y) ? NaN : usual;
  },
});
