/**
 * The error function and its complement.
 *
 *   erfc x = e^(−x²)·(1 + g(x)) / 2x,  g(x) = P(x)/Q(x),  x ≥ ½
 *
 * One rational minimax for the whole half line: e^(x²)·erfc x is a Stieltjes function, so a rational function of x
 * suits it and the coefficients of Q are positive. −0.4 ≤ g ≤ 0.13, so that the rounding errors of P/Q weigh little. x²
 * is split by headBits, so that e^(−x²) keeps its relative accuracy in the tail; the product e^r·(1 + g) is formed
 * about 1; and the division comes before the scaling, so that subnormal results are rounded once.
 *
 * Error of the approximation: erfc 3.66e-18 (f64), 9.43e-10 (f32); erf 1.3e-19, 1.5e-8. Coefficients:
 * test/fixtures/math/minimax.py.
 */
import { real } from "../language.ts";
import { fn, polynomial } from "./define.ts";
import { expParts } from "./exp.ts";

const numerator = polynomial({
  f32: [-1, -0.44866952, 0.052725486, 0.14846757, 0.06302324, 0.010137005],
  f64: [
    -1, -1.3998529846494963, -0.8393961235389676, -0.14807852954228587, 0.14220108552813254, 0.1333357078525418,
    0.05987226037938563, 0.017155651251968895, 0.0032489584214517096, 0.0003821012444741873, 2.1906107813973376e-5,
  ],
});
const denominator = polynomial({
  f32: [1, 2.4486907, 2.5876908, 1.5017315, 0.49100703, 0.07895934],
  f64: [
    1, 3.3998529845887187, 5.382343759487131, 5.240119483367987, 3.4865891909875883, 1.6637490607119023,
    0.5797605630204709, 0.1467128733641331, 0.02605741689233064, 0.0029763493026632205, 0.00017063600200612823,
  ],
});
/** g(x) for ½ ≤ x ≤ 28 (11 in f32). Cost: 40 operations and a division (f64). */
const scaledErfc = fn({
  name: "scaledErfc",
  params: [real],
  env: { numerator, denominator },
  body([x], _gpu, { numerator, denominator }) {
    return numerator(x) / denominator(x);
  },
});

/** erfc|x| for |x| ≥ ½. Cost: 80 operations, 2 divisions and ldexp (f64). */
const erfcTail = fn({
  name: "erfcTail",
  params: [real],
  env: { scaledErfc, expParts },
  body([x], gpu, { scaledErfc, expParts }) {
    const limit = gpu.precision === "f32" ? 11 : 28;
    const a = Math.abs(x) > limit ? limit : Math.abs(x);
    const head = gpu.headBits(a);
    const { s, power } = expParts(-head * head, (head - a) * (head + a));
    const g = scaledErfc(a);
    return gpu.ldexp((1 + (s + (g + s * g))) / a, power - 1);
  },
});

const erfSeries = polynomial({
  f32: [0.12837917, -0.37612626, 0.112836, -0.02685444, 0.005189525, -0.00080207415, 7.888758e-5],
  f64: [
    0.1283791670955126, -0.3761263890318375, 0.11283791670954885, -0.026866170645077823, 0.005223977624827889,
    -0.0008548326981392953, 0.00012055331131714349, -1.492559574112213e-5, 1.6461007960672003e-6,
    -1.6350390548428493e-7, 1.466028931882628e-8, -1.137479885350534e-9, 5.960412559730795e-11,
  ],
});
/** erf x for |x| ≤ 1: a polynomial in x². Cost: 27 operations (f64). */
const erfSmall = fn({
  name: "erfSmall",
  params: [real],
  env: { erfSeries },
  body([x], _gpu, { erfSeries }) {
    return x + x * erfSeries(x * x);
  },
});

/**
 * Returns the complementary error function erfc x = 1 − erf x, with full relative accuracy in the right tail. erfc(∞) =
 * 0, erfc(−∞) = 2. Between −¾ and ¾ it is computed as 1 − erf x, which rounds once, where the quotient used elsewhere
 * rounds two or three times. Accuracy: 1.88 ulp (f64), 1.68 ulp (f32).
 */
export const erfc = fn({
  name: "erfc",
  params: [real],
  env: { erfSmall, erfcTail },
  body([x], _gpu, { erfSmall, erfcTail }) {
    if (Math.abs(x) < 0.75) return 1 - erfSmall(x);
    const tail = erfcTail(x);
    return x < 0 ? 2 - tail : tail;
  },
});

/**
 * Returns the error function erf x. Outside [−1, 1] it is computed as 1 − erfc|x|. erf(−x) = −erf x to the bit; erf(±0)
 * = ±0, erf(±∞) = ±1. Accuracy: 1.25 ulp (f64), 1.38 ulp (f32).
 */
export const erf = fn({
  name: "erf",
  params: [real],
  env: { erfSmall, erfcTail },
  body([x], gpu, { erfSmall, erfcTail }) {
    if (Math.abs(x) > 1) return gpu.copysign(1 - erfcTail(x), x);
    return erfSmall(x);
  },
});
