/** The cube root. */
import { real } from "../language.ts";
import { fn } from "./define.ts";

/**
 * Returns ∛x. |x| is split into 8^q·m with m in [1, 8). A polynomial gives a first approximation (relative error
 * 1.9e-3). In f64 it is refined by one step of Newton (2e-6), then by one step of Halley about a value with half the
 * significand bits, whose square is exact, so that only the last addition rounds. cbrt(±0) = ±0, cbrt(±∞) = ±∞. Cost:
 * 35 operations and 3 divisions (f64). Method: W. Kahan (1991), "Computing a real cube root". Accuracy: 0.89 ulp (f64),
 * 0.89 ulp (f32).
 */
export const cbrt = fn({
  name: "cbrt",
  params: [real],
  body([x], gpu) {
    const short = gpu.precision !== "f64"; // f32's exponents
    const a = Math.abs(x);
    const tiny = a < (short ? 1.17549435e-38 : 2.2250738585072014e-308);
    const normal = tiny ? a * (short ? 16777216 : 18014398509481984) : a;
    const e = gpu.exponent(normal);
    const third = (((e + 3000) / 3) | 0) - 1000;
    const m = gpu.ldexp(gpu.significand(normal), e - 3 * third);
    let t = 0.62729484 + m * (0.4491933 + m * (-0.08377476 + m * (0.009583749 + m * -0.00043209622)));
    if (gpu.precision !== "f32") t = t - (t - m / (t * t)) * 0.3333333333333333;
    t = gpu.headBits(t);
    const r = m / (t * t);
    const root = t + (t * (r - t)) / (t + t + r);
    const y = gpu.ldexp(root, third - (tiny ? (short ? 8 : 18) : 0));
    return a > 0 && a < Infinity ? gpu.copysign(y, x) : x;
  },
});
