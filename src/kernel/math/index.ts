/**
 * Elementary and special functions, written in the kernel language; what `Math.exp`, `**`, `gpu.erf` … mean in a
 * kernel.
 *
 * The accuracies in the docstrings are the largest errors found at 10,000 to 40,000 arguments a function against mpmath
 * (`test/fixtures/math/generate.py 40000 folder`), for arithmetic that rounds every operation as IEEE 754 does; the
 * costs count operations, polynomials by Horner's scheme. NaN gives NaN. In f64 subnormal arguments and results are
 * right; f32 may flush them where the device does. On WebGPU division may be off by 2.5 ulps, and contraction changes
 * last bits. f32x2 takes the branches of f64 except where the range of exponents decides; its errors are below 2⁻⁴⁵,
 * relative, where arguments and results are above 3e-24 (design/f32x2.md).
 */
import type { FunctionOf, ParamTuple } from "../language.ts";
import { cbrt } from "./cbrt.ts";
import { erf, erfc } from "./erf.ts";
import { exp, expm1 } from "./exp.ts";
import { cosh, sinh, tanh } from "./hyperbolic.ts";
import { acos, asin, atan, atan2 } from "./inverse-trig.ts";
import { log, log10, log1p, log2 } from "./log.ts";
import { inverseNormalCdf } from "./normal-inverse.ts";
import { normalCdf, normalPdf } from "./normal.ts";
import { pow } from "./pow.ts";
import { cos, sin, tan } from "./trig.ts";

type MathFunction = FunctionOf<(...x: number[]) => number> & { readonly params: ParamTuple };

/**
 * The mathematical functions that are written in the kernel language, by their names as members of `Math` or `gpu`. The
 * operator `**` is under the name `pow`.
 */
export const mathFunctions: Readonly<Record<string, MathFunction>> = Object.freeze({
  exp,
  expm1,
  log,
  log1p,
  log2,
  log10,
  pow,
  cbrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  normalCdf,
  normalPdf,
  inverseNormalCdf,
});
