/** The survival of Brownian bridges between barriers, as kernel functions. */
import { fn, functionFromSource, i32, real } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";

/** The sides on which an asset has barriers. */
export const SIDES = { none: 0, upper: 1, lower: 2, both: 3 } as const;

/** The variance of a step without any, by which nothing is divided. */
const LEAST_VARIANCE = 1e-30;

/** P(no breach) between two ends, for an upper barrier with sign 1 and a lower one with −1. */
const oneSided = fn({
  name: "oneSidedSurvival",
  params: [real, real, real, real, real],
  env: { LEAST_VARIANCE },
  body([from, to, level, sign, variance], _gpu, { LEAST_VARIANCE }) {
    const b = sign * (level - to);
    const a = sign * (level - from);
    const exponent = (-2 * Math.log(level / from) * Math.log(level / to)) / Math.max(variance, LEAST_VARIANCE);
    return a > 0 && b > 0 ? -Math.expm1(exponent) : 0;
  },
});

/**
 * P(no breach) of a corridor. With x and y the distances of the ends of ln S from its lower edge, h its width and w the
 * variance:
 *
 *   P = 1 − exp(−2xy/w) + Σₙ₌₁ [e(nh, nh + y − x) + e(nh, nh − y + x) − e(nh + x, nh + y) − e(nh − x, nh − y)],
 *
 * e(a, b) = exp(−2ab/w), by the images of both edges. All terms are at most 1, so that P has an absolute error of a few
 * roundings. Those with 2n(n − 1)h² > 40w are below them, and so is P where w > 8h². Source: T. W. Anderson, Ann. Math.
 * Statist. 31 (1960), theorem 4.2. Verified: test/montecarlo/survival.test.ts.
 */
const twoSided = fn({
  name: "corridorSurvival",
  params: { from: real, to: real, lower: real, upper: real, variance: real },
  env: { LEAST_VARIANCE },
  body({ from, to, lower, upper, variance }, gpu, { LEAST_VARIANCE }) {
    const isInside = from > lower && from < upper && to > lower && to < upper;
    const h = Math.log(upper / lower);
    const w = Math.max(variance, LEAST_VARIANCE);
    if (!isInside || w > 8 * h * h) return gpu.real(0);
    const x = Math.log(from / lower);
    const y = Math.log(to / lower);
    let sum = -Math.expm1((-2 * x * y) / w);
    for (let n = gpu.real(1); 2 * n * (n - 1) * h * h < 40 * w; n += 1) {
      const far = n * h;
      const both = Math.exp((-2 * far * (far + y - x)) / w) + Math.exp((-2 * far * (far - y + x)) / w);
      const one = Math.exp((-2 * (far + x) * (far + y)) / w) + Math.exp((-2 * (far - x) * (far - y)) / w);
      sum += both - one;
    }
    return Math.min(Math.max(sum, 0), 1);
  },
});

/**
 * Returns the kernel function that computes the probability that an asset breaches none of its barriers within a step,
 * or on the date at its end. `sides` says on which sides it has barriers (`SIDES`).
 */
export const survivalOf = memoize((continuous: boolean) =>
  fn({
    name: "survival",
    params: { sides: i32, from: real, to: real, lower: real, upper: real, variance: real },
    env: { CONTINUOUS: continuous, SIDES, oneSided, twoSided },
    body({ sides, from, to, lower, upper, variance }, gpu, { CONTINUOUS, SIDES, oneSided, twoSided }) {
      let p = gpu.real(1);
      if (!CONTINUOUS) {
        const isBeyond = (sides !== SIDES.lower && to >= upper) || (sides !== SIDES.upper && to <= lower);
        if (isBeyond) p = 0;
      } else if (sides === SIDES.upper) p = oneSided(from, to, upper, 1, variance);
      else if (sides === SIDES.lower) p = oneSided(from, to, lower, -1, variance);
      else p = twoSided({ from, to, lower, upper, variance });
      return p;
    },
  }),
);

/**
 * Returns the kernel function that returns the whole number at an index of a list. It is a constant in unrolled loops.
 */
export const numberAt = memoize((numbers: string) => {
  const list = numbers.split(" ");
  const body = list.reduceRight((rest, one, k) => `k === ${k} ? ${one} : ${rest}`, "0");
  return functionFromSource<readonly [typeof i32], number>({
    name: "numberAt",
    params: [i32],
    source: `([k]) => ${body}`,
  });
});
