/**
 * Uniform and normal numbers from random words, as kernel functions. Uniforms lie strictly between 0 and 1 and are
 * exact in the precision they are for, so that they are the same bits on every device. Words become reals as i32, less
 * 2³¹ where they need their highest bit: SIMD instructions convert i32 only.
 */
import { fn, real, u32 } from "../../kernel/index.ts";
import { M1 } from "./generators/mrg32k3a.ts";

/**
 * Returns a uniform number of 24 bits, exact in f32: (2·⌊word/2⁹⌋ + 1)·2⁻²⁴, from 2⁻²⁴ to 1 − 2⁻²⁴, symmetric about ½.
 *
 * @param word 32 random bits.
 * @example
 * import { uniform24 } from "feynkac/random";
 *
 * console.log(uniform24(0) === 2 ** -24, uniform24(0xffffffff) === 1 - 2 ** -24); // true true
 * @stable
 */
export const uniform24 = fn({
  name: "uniform24",
  params: [u32],
  body: ([word], gpu) => gpu.real((word >>> 8) | 1) * 2 ** -24,
});

/**
 * Returns a uniform number of 32 bits, exact in f64 and f32x2: (word + ½)·2⁻³². It is unsuitable for f32, where it may
 * round to 1.
 *
 * @param word 32 random bits.
 * @example
 * import { uniform32 } from "feynkac/random";
 *
 * console.log(uniform32(0x80000000)); // 0.5000000001164153
 * @stable
 */
export const uniform32 = fn({
  name: "uniform32",
  params: [u32],
  body: ([word], gpu) => (gpu.real(word ^ 0x80000000) + 2147483648.5) * 2 ** -32,
});

/**
 * Returns a uniform number of 53 bits, exact in f64: (2²⁶·⌊high/2⁵⌋ + k)·2⁻⁵³ with k = ⌊low/2⁶⌋, its lowest bit set;
 * from 2⁻⁵³ to 1 − 2⁻⁵³, symmetric about ½.
 *
 * @param high 32 random bits, of which 27 are used.
 * @param low 32 random bits, of which 25 are used.
 * @example
 * import { uniform53 } from "feynkac/random";
 *
 * console.log(uniform53(0, 0) === 2 ** -53, uniform53(0xffffffff, 0xffffffff) === 1 - 2 ** -53); // true true
 * @stable
 */
export const uniform53 = fn({
  name: "uniform53",
  params: [u32, u32],
  body: ([high, low], gpu) => gpu.real((high >>> 5) | 0) * 2 ** -27 + gpu.real((low >>> 6) | 1) * 2 ** -53,
});

/**
 * Returns a uniform number from a whole state of drand48: (X + ½)·2⁻⁴⁸, exact in f64. POSIX's own number is 2⁻⁴⁹ less,
 * and may be 0.
 *
 * @param high the upper 16 bits of the state.
 * @param low its lower 32 bits.
 * @example
 * import { uniform48 } from "feynkac/random";
 *
 * console.log(uniform48(0, 0) === 2 ** -49); // true
 * @stable
 */
export const uniform48 = fn({
  name: "uniform48",
  params: [u32, u32],
  body: ([high, low], gpu) => gpu.real(high | 0) * 2 ** -16 + (gpu.real(low ^ 0x80000000) + 2147483648.5) * 2 ** -48,
});

/**
 * Returns MRG32k3a's own uniform number, z/(m₁ + 1) with m₁ + 1 = 4294967088, correctly rounded in f64.
 *
 * @param z the generator's output, from 1 to m₁.
 * @example
 * import { mrg32k3aUniform } from "feynkac/random";
 *
 * console.log(mrg32k3aUniform(545508589)); // 0.12701112204657714
 * @stable
 */
export const mrg32k3aUniform = fn({
  name: "mrg32k3aUniform",
  params: [u32],
  env: { M1 },
  body: ([z], gpu, { M1 }) => (gpu.real(z ^ 0x80000000) + 2147483648) / (M1 + 1),
});

/**
 * Returns L'Ecuyer's uniform number of 53 bits from two outputs of MRG32k3a: (u₁ + u₂·2⁻²⁴) mod 1, with 2⁻⁵³ in place
 * of 0.
 *
 * @param z1 the first output.
 * @param z2 the one after.
 * @example
 * import { mrg32k3aUniform53 } from "feynkac/random";
 *
 * console.log(mrg32k3aUniform53(545508589, 1368065410)); // 0.12701114103229952
 * @stable
 */
export const mrg32k3aUniform53 = fn({
  name: "mrg32k3aUniform53",
  params: [u32, u32],
  env: { mrg32k3aUniform },
  body([z1, z2], _gpu, { mrg32k3aUniform }) {
    const sum = mrg32k3aUniform(z1) + mrg32k3aUniform(z2) * 2 ** -24;
    const u = sum < 1 ? sum : sum - 1;
    return u > 0 ? u : 2 ** -53;
  },
});

/**
 * −Φ⁻¹(p) of f32 for 2⁻³³ ≤ p ≤ ½, with few operations and no division: with w = −log 4p(1 − p),
 *
 *   −Φ⁻¹(p) = (1 − 2p)·g(w),   g a polynomial in w − 3 for w ≤ 6, beyond in √w − 3.5
 *
 * Beyond w = 6 are 12 numbers of 10,000, so that neighbouring items seldom take both ways. Cost: 50 operations, beyond
 * 20 and a square root more. Accuracy: 4.4 ulp. Source: M. B. Giles, Approximating the erfinv function, GPU Computing
 * Gems, Jade Edition (2011) 109–116, whose form it is; the coefficients are minimax polynomials of this project.
 */
const quantile32 = fn({
  name: "quantile32",
  params: [real],
  body([p], gpu) {
    const t = 4 * p * (1 - p);
    const m = gpu.significand(t);
    const isHigh = m > Math.SQRT2;
    const f = (isHigh ? 0.5 * m : m) - 1;
    const exponent = gpu.real(gpu.exponent(t) + (isHigh ? 1 : 0));
    // f − log(1 + f) = f²·(½ − f/3 + …)
    let rest = -0.16172126 + f * 0.10686425;
    rest = 0.2498467 + f * (-0.19907865 + f * (0.17068784 + f * rest));
    rest = 0.5000008 + f * (-0.33334583 + f * rest);
    const w = f * f * rest - f - exponent * Math.LN2;
    const r = w - 3;
    let g = 6.4428923e-7 + r * (-6.1306453e-9 + r * -8.24024e-9);
    g = 0.00027644527 + r * (-1.804143e-5 + r * (-2.6662613e-6 + r * g));
    g = 2.2960353 + r * (0.3417169 + r * (-0.008115578 + r * (-0.0011823837 + r * g)));
    if (w > 6) {
      const s = Math.sqrt(w) - 3.5;
      g = 0.0006917735 + s * (-0.0002820826 + s * 3.914132e-5);
      g = -0.0029009497 + s * (0.0015065501 + s * (-0.0010078417 + s * g));
      g = 4.7170887 + s * (1.4246331 + s * (0.0046413164 + s * g));
    }
    return g * (1 - 2 * p);
  },
});

/**
 * Returns a standard normal number from 32 bits by the inverse distribution function, for f32 too: the tail's
 * probability, min(p, 1 − p) with p = (word + ½)·2⁻³², keeps 24 significant bits, so that tails reach ±6.3.
 *
 * @param word 32 random bits.
 * @example
 * import { normal32 } from "feynkac/random";
 *
 * console.log(normal32(0).toFixed(4), normal32(0xffffffff).toFixed(4)); // -6.3380 6.3380
 * @stable
 */
export const normal32 = fn({
  name: "normal32",
  params: [u32],
  env: { quantile32 },
  body([word], gpu, { quantile32 }) {
    if (gpu.precision !== "f32") return gpu.inverseNormalCdf((gpu.real(word ^ 0x80000000) + 2147483648.5) * 2 ** -32);
    const tail = word < 0x80000000 ? word : ~word >>> 0;
    const x = quantile32((gpu.real(tail | 0) + 0.5) * 2 ** -32);
    return word < 0x80000000 ? -x : x;
  },
});

/**
 * Returns two independent standard normal numbers from two uniform ones, by Box and Muller (1958): √(−2·ln u)·cos 2πv
 * and √(−2·ln u)·sin 2πv.
 *
 * @param u in (0, 1).
 * @param v in (0, 1), independent of u.
 * @example
 * import { boxMuller } from "feynkac/random";
 *
 * const { a, b } = boxMuller(Math.exp(-2), 0.25);
 * console.log(Math.abs(a) < 1e-15, b); // true 2
 * @stable
 */
export const boxMuller = fn({
  name: "boxMuller",
  params: [real, real],
  body([u, v]) {
    const radius = Math.sqrt(-2 * Math.log(u));
    const angle = 6.283185307179586 * v;
    return { a: radius * Math.cos(angle), b: radius * Math.sin(angle) };
  },
});
