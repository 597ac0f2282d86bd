/**
 * Reduction of an angle modulo π/2: x = quadrant·π/2 + (r + tail), |r| ≤ π/4, quadrant modulo 4.
 *
 * Up to |x| = 12000 (200 in f32 and f32x2) by Cody & Waite (1980): π/2 in three parts, the first two so short that k
 * times them is exact. Beyond, by Payne & Hanek (1983): only those bits of 2/π are multiplied that can matter, in
 * 32-bit words; SIMD code skips this part when no lane needs it.
 */
import { real, i32, u32 } from "../language.ts";
import { fn } from "./define.ts";

/** Bits 32j … 32j + 31 of 2/π after the binary point; 7 of these words suffice in f32, 9 in f32x2. */
const TWO_OVER_PI = [
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
  0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
  0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
  0x56033046,
];
const words = (count: number) => TWO_OVER_PI.slice(0, count).map((word, at) => ({ at, word }));

/**
 * Returns bits 32j … 32j + 31 of 2/π after the binary point, 0 for j < 0. It is a chain of selections, because SIMD
 * lanes may need different bits.
 */
const twoOverPi = fn({
  name: "twoOverPi",
  params: [i32],
  env: { F32: words(7), F32X2: words(9), F64: words(TWO_OVER_PI.length) },
  body([j], gpu, env) {
    let word = gpu.u32(0);
    if (gpu.precision === "f32") for (const one of env.F32) word = j === one.at ? one.word : word;
    else if (gpu.precision === "f64") for (const one of env.F64) word = j === one.at ? one.word : word;
    else for (const one of env.F32X2) word = j === one.at ? one.word : word;
    return word;
  },
});

/** high·2³² + low = a·b + c for u32 numbers. */
const multiplyAdd = fn({
  name: "multiplyAdd",
  params: [u32, u32, u32],
  body([a, b, c], gpu) {
    const product = Math.imul(a, b) >>> 0;
    const low = (product + c) >>> 0;
    const carry = gpu.u32(low < c);
    return { high: (gpu.mulHigh(a, b) + carry) >>> 0, low };
  },
});

/**
 * The top words of a sum that holds a quadrant in its upper 2 bits and a fraction below: the nearest quadrant, and
 * signs.
 */
const splitQuadrant = fn({
  name: "splitQuadrant",
  params: [u32, u32],
  body([top, next], gpu) {
    const fraction = ((top << 2) | (next >>> 30)) >>> 0;
    const up = fraction >>> 31;
    return { quadrant: gpu.i32(((top >>> 30) + up) >>> 0), flip: up === 1 ? gpu.u32(0xffffffff) : gpu.u32(0) };
  },
});

/** (high + low)·π/2 as r + tail. Products of halves of a significand are exact, contracted or not. */
const timesHalfPi = fn({
  name: "timesHalfPi",
  params: [real, real],
  body([high, low], gpu) {
    const head = gpu.headBits(high);
    const rest = high - head;
    if (gpu.precision === "f32") {
      const r = high * 1.5707963705062866;
      const error =
        head * 1.5703125 - r + head * 0.0004838705062866211 + rest * 1.5703125 + rest * 0.0004838705062866211;
      return { r, tail: error + (low * 1.5707964 + high * -4.371139e-8) };
    }
    const r = high * 1.5707963267948966;
    const error =
      head * 1.5707963109016418 -
      r +
      head * 1.5893254712295857e-8 +
      rest * 1.5707963109016418 +
      rest * 1.5893254712295857e-8;
    return { r, tail: error + (low * 1.5707963267948966 + high * 6.123233995736766e-17) };
  },
});

/**
 * The fraction of quadrants in x·2/π for finite x ≥ 200, f32: 63 bits of it, of which at most 30 are zeros at the top.
 */
const payneHanek32 = fn({
  name: "payneHanek32",
  params: [real],
  env: { twoOverPi, multiplyAdd, splitQuadrant, timesHalfPi },
  body([x], gpu, { twoOverPi, multiplyAdd, splitQuadrant, timesHalfPi }) {
    const e = gpu.exponent(x) - 25;
    const m = gpu.u32(gpu.significand(x) * 8388608);
    const first = e >> 5;
    const shift = e & 31;
    let carry = gpu.u32(0);
    let o0 = gpu.u32(0);
    let o1 = gpu.u32(0);
    let o2 = gpu.u32(0);
    for (let j = first + 3; j >= first; j--) {
      const { high, low } = multiplyAdd(m, twoOverPi(j), carry);
      carry = high;
      o2 = o1;
      o1 = o0;
      o0 = low;
    }
    const a0 = ((o0 << shift) | ((o1 >>> 1) >>> (31 - shift))) >>> 0;
    const a1 = ((o1 << shift) | ((o2 >>> 1) >>> (31 - shift))) >>> 0;
    const a2 = (o2 << shift) >>> 0;
    const { quadrant, flip } = splitQuadrant(a0, a1);
    const f0 = (((a0 << 2) | (a1 >>> 30)) ^ flip) >>> 0;
    const f1 = (((a1 << 2) | (a2 >>> 30)) ^ flip) >>> 0;
    // 24 + 24 + 16 bits, each exact in f32.
    const top = gpu.real(f0 >>> 8) * 5.960464477539063e-8;
    const middle = gpu.real(((f0 << 24) >>> 8) | (f1 >>> 16)) * 3.552713678800501e-15;
    const bottom = gpu.real((f1 << 16) >>> 16) * 5.421010862427522e-20;
    const sum = top + middle;
    const rest = middle - (sum - top) + bottom;
    const high = sum + rest;
    const { r, tail } = timesHalfPi(high, rest - (high - sum));
    return { quadrant, r: flip === 0 ? r : -r, tail: flip === 0 ? tail : -tail };
  },
});

/**
 * The fraction of quadrants in x·2/π for x ≥ 12000, f64 (200, f32x2, of which 53 bits count): 127 bits of the fraction,
 * of which at most 62 are zeros at the top.
 */
const payneHanek64 = fn({
  name: "payneHanek64",
  params: [real],
  env: { twoOverPi, multiplyAdd, splitQuadrant, timesHalfPi },
  body([x], gpu, { twoOverPi, multiplyAdd, splitQuadrant, timesHalfPi }) {
    const e = gpu.exponent(x) - 54;
    const m = gpu.significand(x) * 1048576;
    const mHigh = gpu.u32(m);
    const mLow = gpu.u32((m - Math.floor(m)) * 4294967296);
    const first = e >> 5;
    const shift = e & 31;
    let carry0 = gpu.u32(0);
    let carry1 = gpu.u32(0);
    let o0 = gpu.u32(0);
    let o1 = gpu.u32(0);
    let o2 = gpu.u32(0);
    let o3 = gpu.u32(0);
    let o4 = gpu.u32(0);
    for (let j = first + 6; j >= first; j--) {
      const word = twoOverPi(j);
      const lower = multiplyAdd(mLow, word, carry0);
      const upper = multiplyAdd(mHigh, word, carry1);
      carry0 = (upper.low + lower.high) >>> 0;
      carry1 = (upper.high + gpu.u32(carry0 < lower.high)) >>> 0;
      o4 = o3;
      o3 = o2;
      o2 = o1;
      o1 = o0;
      o0 = lower.low;
    }
    const a0 = ((o0 << shift) | ((o1 >>> 1) >>> (31 - shift))) >>> 0;
    const a1 = ((o1 << shift) | ((o2 >>> 1) >>> (31 - shift))) >>> 0;
    const a2 = ((o2 << shift) | ((o3 >>> 1) >>> (31 - shift))) >>> 0;
    const a3 = ((o3 << shift) | ((o4 >>> 1) >>> (31 - shift))) >>> 0;
    const { quadrant, flip } = splitQuadrant(a0, a1);
    const f0 = (((a0 << 2) | (a1 >>> 30)) ^ flip) >>> 0;
    const f1 = (((a1 << 2) | (a2 >>> 30)) ^ flip) >>> 0;
    const f2 = (((a2 << 2) | (a3 >>> 30)) ^ flip) >>> 0;
    const f3 = ((a3 << 2) ^ flip) >>> 0;
    const top = gpu.real(f0) * 2.3283064365386963e-10;
    const middle = gpu.real(f1) * 5.421010862427522e-20;
    // 2⁻⁹⁶ times a sum, and not a sum with 2⁻¹²⁸, which is subnormal in f32x2; in f64 it makes no difference.
    const bottom = (gpu.real(f2) + gpu.real(f3) * 2.3283064365386963e-10) * 1.262177448353619e-29;
    const sum = top + middle;
    const rest = middle - (sum - top) + bottom;
    const high = sum + rest;
    const { r, tail } = timesHalfPi(high, rest - (high - sum));
    return { quadrant, r: flip === 0 ? r : -r, tail: flip === 0 ? tail : -tail };
  },
});

/**
 * Reduces an angle x to [−π/4, π/4]: x = quadrant·π/2 + (r + tail), where `tail` is the part of the reduced angle that
 * `r` loses by rounding. The results are NaN for x = ±∞ and NaN. Cost: 17 operations for |x| up to 12000 in f64, up to
 * 200 in f32 and f32x2, and more beyond.
 */
export const reduceHalfPi = fn({
  name: "reduceHalfPi",
  params: [real],
  env: { payneHanek32, payneHanek64 },
  body([x], gpu, { payneHanek32, payneHanek64 }) {
    const a = Math.abs(x);
    const f32 = gpu.precision === "f32";
    const k = gpu.nearest(x * (f32 ? 0.63661975 : 0.6366197723675814));
    const r0 = x - k * (f32 ? 1.5707855224609375 : 1.5707963267941523);
    const t = k * (f32 ? 1.0804273188114166e-5 : 7.443547480480255e-13);
    const r1 = r0 - t;
    const w = k * (f32 ? 6.0771006e-11 : 6.36831716351095e-25) - (r0 - r1 - t);
    let r = r1 - w;
    let tail = r1 - r - w;
    let quadrant = gpu.i32(k);
    if (a > (gpu.precision === "f64" ? 12000 : 200) && a < Infinity) {
      if (gpu.precision === "f32") {
        const huge = payneHanek32(a);
        r = huge.r;
        tail = huge.tail;
        quadrant = huge.quadrant;
      } else {
        const huge = payneHanek64(a);
        r = huge.r;
        tail = huge.tail;
        quadrant = huge.quadrant;
      }
      if (x < 0) {
        r = -r;
        tail = -tail;
        quadrant = -quadrant;
      }
    }
    return { quadrant: quadrant & 3, r, tail };
  },
});
