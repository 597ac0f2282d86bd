/**
 * Uniform and normal numbers from random words, as kernel functions. Uniforms lie strictly between 0 and 1 and are
 * exact in the precision they are for, so that they are the same bits on every device. Words become reals as i32, less
 * 2³¹ where they need their highest bit: SIMD instructions convert i32 only.
 */
import { fn, real, u32 } from "../kernel/index.ts";
import { M1 } from "./generators/mrg32k3a.ts";

/**
 * A uniform number of 24 bits, exact in f32: (2·⌊word/2⁹⌋ + 1)·2⁻²⁴, from 2⁻²⁴ to 1 − 2⁻²⁴, symmetric about ½.
 *
 * @param word 32 random bits.
 * @example
 * import { uniform24 } from "feynkac/random";
 *
 * console.log(uniform24(0) === 2 ** -24, uniform24(0xffffffff) === 1 - 2 ** -24); // true true
 */
export const uniform24 = fn({
  name: "uniform24",
  params: [u32],
  body: ([word], gpu) => gpu.real((word >>> 8) | 1) * 2 ** -24,
});

/**
 * A uniform number of 32 bits, exact in f64 and f32x2: (word + ½)·2⁻³². Not for f32, where it may round to 1.
 *
 * @param word 32 random bits.
 * @example
 * import { uniform32 } from "feynkac/random";
 *
 * console.log(uniform32(0x80000000)); // 0.5000000001164153
 */
export const uniform32 = fn({
  name: "uniform32",
  params: [u32],
  body: ([word], gpu) => (gpu.real(word ^ 0x80000000) + 2147483648.5) * 2 ** -32,
});

/**
 * A uniform number of 53 bits, exact in f64: (2²⁶·⌊high/2⁵⌋ + k)·2⁻⁵³ with k = ⌊low/2⁶⌋, its lowest bit set; from 2⁻⁵³
 * to 1 − 2⁻⁵³, symmetric about ½.
 *
 * @param high 32 random bits, of which 27 are used.
 * @param low 32 random bits, of which 25 are used.
 * @example
 * import { uniform53 } from "feynkac/random";
 *
 * console.log(uniform53(0, 0) === 2 ** -53, uniform53(0xffffffff, 0xffffffff) === 1 - 2 ** -53); // true true
 */
export const uniform53 = fn({
  name: "uniform53",
  params: [u32, u32],
  body: ([high, low], gpu) => gpu.real((high >>> 5) | 0) * 2 ** -27 + gpu.real((low >>> 6) | 1) * 2 ** -53,
});

/**
 * A uniform number from a whole state of drand48: (X + ½)·2⁻⁴⁸, exact in f64. POSIX's own number is 2⁻⁴⁹ less, and may
 * be 0.
 *
 * @param high the upper 16 bits of the state.
 * @param low its lower 32 bits.
 * @example
 * import { uniform48 } from "feynkac/random";
 *
 * console.log(uniform48(0, 0) === 2 ** -49); // true
 */
export const uniform48 = fn({
  name: "uniform48",
  params: [u32, u32],
  body: ([high, low], gpu) => gpu.real(high | 0) * 2 ** -16 + (gpu.real(low ^ 0x80000000) + 2147483648.5) * 2 ** -48,
});

/**
 * MRG32k3a's own uniform number, z/(m₁ + 1) with m₁ + 1 = 4294967088, correctly rounded in f64.
 *
 * @param z the generator's output, from 1 to m₁.
 * @example
 * import { mrg32k3aUniform } from "feynkac/random";
 *
 * console.log(mrg32k3aUniform(545508589)); // 0.12701112204657714
 */
export const mrg32k3aUniform = fn({
  name: "mrg32k3aUniform",
  params: [u32],
  env: { M1 },
  body: ([z], gpu, { M1 }) => (gpu.real(z ^ 0x80000000) + 2147483648) / (M1 + 1),
});

/**
 * L'Ecuyer's uniform number of 53 bits from two outputs of MRG32k3a: (u₁ + u₂·2⁻²⁴) mod 1, with 2⁻⁵³ in place of 0.
 *
 * @param z1 the first output.
 * @param z2 the one after.
 * @example
 * import { mrg32k3aUniform53 } from "feynkac/random";
 *
 * console.log(mrg32k3aUniform53(545508589, 1368065410)); // 0.12701114103229952
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
 * A standard normal number from 32 bits by the inverse distribution function, for f32 too: the tail's probability,
 * min(p, 1 − p) with p = (word + ½)·2⁻³², keeps 24 significant bits, so that tails reach ±6.3.
 *
 * @param word 32 random bits.
 * @example
 * import { normal32 } from "feynkac/random";
 *
 * console.log(normal32(0).toFixed(4), normal32(0xffffffff).toFixed(4)); // -6.3380 6.3380
 */
export const normal32 = fn({
  name: "normal32",
  params: [u32],
  body([word], gpu) {
    if (gpu.precision !== "f32") return gpu.inverseNormalCdf((gpu.real(word ^ 0x80000000) + 2147483648.5) * 2 ** -32);
    // Below 2²³ the half fits beside the word; above, the lower bits do not fit, and one half of a unit centres them.
    const tail = word < 0x80000000 ? word : ~word >>> 0;
    const small = gpu.real((tail << 1) | 1) * 2 ** -33;
    const large = gpu.real((tail >>> 7) | 1) * 2 ** -25;
    const x = gpu.inverseNormalCdf(tail < 0x800000 ? small : large);
    return word < 0x80000000 ? x : -x;
  },
});

/**
 * Two independent standard normal numbers from two uniform ones, by Box and Muller (1958): √(−2·ln u)·cos 2πv and
 * √(−2·ln u)·sin 2πv.
 *
 * @param u in (0, 1).
 * @param v in (0, 1), independent of u.
 * @example
 * import { boxMuller } from "feynkac/random";
 *
 * const { a, b } = boxMuller(Math.exp(-2), 0.25);
 * console.log(Math.abs(a) < 1e-15, b); // true 2
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
