/** The normalised Black formula and its inverse, after Jäckel (2015), "Let's be rational". */
import { fn, millsRatio, real, record } from "../../kernel/index.ts";

/**
 * The sum Y(h + t) − Y(h − t) for small t, Y = Φ/φ, by its Taylor series about h ≤ 0:
 *
 *   2·Σ t^{2k+1}/(2k+1)!·Y^{(2k+1)}(h),   Y^{(n+1)} = h·Y^{(n)} + n·Y^{(n−1)}
 */
const differenceOfRatios = fn({
  name: "differenceOfRatios",
  params: { h: real, t: real },
  env: { millsRatio },
  body({ h, t }, _gpu, { millsRatio }) {
    let even = millsRatio(-h);
    let odd = 1 + h * even;
    let weight = 2 * t;
    let sum = weight * odd;
    for (let k = 1; k < 8; k++) {
      even = h * odd + (2 * k - 1) * even;
      odd = h * even + 2 * k * odd;
      weight *= (t * t) / (2 * k * (2 * k + 1));
      sum += weight * odd;
    }
    return sum;
  },
});

/**
 * Computes the normalised Black value b (the undiscounted price of an out-of-the-money option over √(F·K)) for h = x/s
 * ≤ 0 and t = s/2, where s is the total deviation σ√T and x = −|ln(F/K)|:
 *
 *   b = e^{x/2}·Φ(h + t) − e^{−x/2}·Φ(h − t) = b′·(Y(h + t) − Y(h − t)),   b′ = φ(h)·e^{−t²/2},   Y = Φ/φ
 *
 * It returns b and its distance e^{x/2} − b from the upper bound (`rest`), both divided by b′, and ln b′.
 *
 * Accuracy: b may lose digits to cancellation, but then it depends so strongly on s that the error in s, the result of
 * its inversion, stays within a few ulp.
 */
const normalisedBlack = fn({
  name: "normalisedBlack",
  params: { h: real, t: real },
  env: { millsRatio, differenceOfRatios, HALF_LOG_TWO_PI: 0.5 * Math.log(2 * Math.PI) },
  body({ h, t }, _gpu, { millsRatio, differenceOfRatios, HALF_LOG_TWO_PI }) {
    const logVega = -0.5 * (h * h + t * t) - HALF_LOG_TWO_PI;
    // e^{x/2}/b′, without overflow where it is used.
    const bound = Math.exp(Math.min(h * t - logVega, 700));
    const sum = h + t;
    const near = millsRatio(Math.abs(sum));
    const far = millsRatio(t - h);
    const rest = sum > 0 ? near + far : bound - (near - far);
    let value = sum > 0 ? bound - rest : near - far;
    if (t < 0.125) value = differenceOfRatios({ h, t });
    return { value, rest, logVega };
  },
});

/** An interval of a monotone function: x, f and f′ at its ends, and f″ at one of them. */
const Interval = record({
  x0: real,
  x1: real,
  f0: real,
  f1: real,
  slope0: real,
  slope1: real,
});

/**
 * Delbourgo & Gregory's (1985) rational cubic on an interval, whose parameter r gives it the second derivative `bend`
 * at the left end (`side` 1) or the right one (`side` −1), as far as it stays monotone.
 */
const rationalCubic = fn({
  name: "rationalCubic",
  params: { x: real, on: Interval, bend: real, side: real },
  body({ x, on: { x0, x1, f0, f1, slope0, slope1 }, bend, side }) {
    const width = x1 - x0;
    const chord = (f1 - f0) / width;
    const r0 = (0.5 * width * bend + slope1 - slope0) / (side > 0 ? chord - slope0 : slope1 - chord);
    const least = Math.max((slope0 + slope1) / chord, -0.9);
    const r = r0 > least ? Math.min(r0, 1e12) : least;
    const u = (x - x0) / width;
    const v = 1 - u;
    const f =
      f1 * u * u * u + (r * f1 - width * slope1) * u * u * v + (r * f0 + width * slope0) * u * v * v + f0 * v * v * v;
    return f / (1 + (r - 3) * u * v);
  },
});

/** Keeps x/s from 0/0, where x = 0 and the inflection point is 0. */
const LEAST = 1e-300;

/**
 * Jäckel's first guess: four branches, divided at the inflection point s = √(2|x|) and where its tangent has the values
 * 0 and e^{x/2}. In the outer ones a rational cubic interpolates a function of b that is nearly linear. With it go the
 * branch (−1 lower, 0 middle, 1 upper) and the interval that contains the deviation.
 */
const firstGuess = fn({
  name: "firstGuess",
  params: { x: real, price: real, bound: real },
  env: {
    normalisedBlack,
    rationalCubic,
    millsRatio,
    LEAST,
    ROOT_THREE: Math.sqrt(3),
    ROOT_HALF_PI: Math.sqrt(Math.PI / 2),
    CUBE: (2 * Math.PI) / (3 * Math.sqrt(3)),
  },
  body({ x, price, bound }, gpu, env) {
    const { ROOT_THREE, ROOT_HALF_PI, CUBE } = env;
    const half = Math.sqrt(0.5 * -x);
    const centre = 2 * half;
    const atCentre = env.normalisedBlack({ h: -half, t: half });
    const vega = Math.exp(atCentre.logVega);
    const middle = atCentre.value * vega;
    let deviation = 0;
    let branch = 0;
    let low = 0;
    let high = 0;
    if (price < middle) {
      const s = Math.max(centre - atCentre.value, env.LEAST);
      const h = x / s;
      const at = env.normalisedBlack({ h, t: 0.5 * s });
      const lower = at.value * Math.exp(at.logVega);
      const z = h / ROOT_THREE;
      if (price < lower) {
        // f = 2π|x|/(3√3)·Φ(z)³, z = −|x|/(√3·s): f(0) = 0, f′(0) = 1.
        const ratio = env.millsRatio(-z);
        const probability = ratio * gpu.normalPdf(z);
        const slope1 = z * z * ratio * ratio * Math.exp(0.125 * s * s);
        const bend = (slope1 * ((-2 * (1 + z / ratio + z * z)) / s + 0.25 * s)) / Math.exp(at.logVega);
        const f1 = CUBE * -x * probability * probability * probability;
        const on = { x0: 0, x1: lower, f0: 0, f1, slope0: 1, slope1 };
        const f = env.rationalCubic({ x: price, on, bend, side: -1 });
        const q = gpu.inverseNormalCdf(Math.min(Math.cbrt(Math.max(f, 0) / (CUBE * -x)), 0.5));
        deviation = x / (ROOT_THREE * q);
        branch = -1;
        high = s;
      } else {
        const on = { x0: lower, x1: middle, f0: s, f1: centre, slope0: Math.exp(-at.logVega), slope1: 1 / vega };
        deviation = env.rationalCubic({ x: price, on, bend: 0, side: -1 });
        low = s;
        high = centre;
      }
    } else {
      const s = centre + atCentre.rest;
      const h = x / s;
      const at = env.normalisedBlack({ h, t: 0.5 * s });
      const upper = bound - at.rest * Math.exp(at.logVega);
      if (price > upper) {
        // f = Φ(−s/2): f(e^{x/2}) = 0, f′(e^{x/2}) = −½.
        const slope0 = -0.5 * Math.exp(0.5 * h * h);
        const bend = (ROOT_HALF_PI * Math.exp(h * h + 0.125 * s * s) * h * h) / s;
        const on = { x0: upper, x1: bound, f0: gpu.normalCdf(-0.5 * s), f1: 0, slope0, slope1: -0.5 };
        const f = env.rationalCubic({ x: price, on, bend, side: 1 });
        deviation = -2 * gpu.inverseNormalCdf(Math.max(f, 1e-300));
        branch = 1;
        low = s;
        high = 1e10;
      } else {
        const on = { x0: middle, x1: upper, f0: centre, f1: s, slope0: 1 / vega, slope1: Math.exp(-at.logVega) };
        deviation = env.rationalCubic({ x: price, on, bend: 0, side: 1 });
        low = centre;
        high = s;
      }
    }
    return { deviation, branch, low, high };
  },
});

/**
 * Computes the total deviation s = σ√T ≥ 0 at which the normalised Black formula gives `price`. With x = −|ln(F/K)|,
 * `price` lies between 0 and `bound` = e^{x/2}, and `rest` is bound − price. It makes Householder steps of third order
 * from Jäckel's initial guess. They solve for 1/ln b in the lower branch, b in the middle, and ln(bound − b) in the
 * upper branch. Once a step is below 3e-5 the error is below rounding, nearly always after the second step.
 */
export const normalisedDeviation = fn({
  name: "normalisedDeviation",
  params: { x: real, price: real, bound: real, rest: real },
  env: { normalisedBlack, firstGuess },
  body({ x, price, bound, rest: leftOver }, _gpu, env) {
    const guess = env.firstGuess({ x, price, bound });
    let s = guess.deviation;
    if (!(s > guess.low)) s = guess.low > 0 ? guess.low : 0.5 * guess.high;
    if (s > guess.high) s = guess.high;
    const logPrice = Math.log(price);
    const logRest = Math.log(leftOver);
    let change = 1.0;
    for (let step = 0; step < 6 && change > 3e-5; step++) {
      const h = x / s;
      const { value, rest, logVega } = env.normalisedBlack({ h, t: 0.5 * s });
      const bend = (h * h) / s - 0.25 * s;
      const third = -3 * (h / s) * (h / s) - 0.25;
      let newton = 0;
      let second = bend;
      let twist = third;
      if (guess.branch < 0) {
        const logValue = Math.log(value) + logVega;
        const slope = 1 / value;
        newton = ((logPrice - logValue) * (logValue / logPrice)) / slope;
        second = bend - slope * (1 + 2 / logValue);
        const toSlope = slope * (bend - slope);
        twist = third - toSlope * (1 + 2 / logValue) + 2 * (slope / logValue) * (slope / logValue);
      } else if (guess.branch > 0) {
        const slope = 1 / rest;
        newton = (Math.log(rest) + logVega - logRest) * rest;
        second = bend + slope;
        twist = third + slope * (bend + slope);
      } else {
        newton = price * Math.exp(-logVega) - value;
      }
      const cubic = second * second + twist;
      let move = (newton * (1 + 0.5 * second * newton)) / (1 + newton * (second + (cubic * newton) / 6));
      if (!(Math.abs(move) <= 2 * Math.abs(newton))) move = newton;
      const next = Math.min(Math.max(s + move, 0.5 * s), 2 * s);
      change = Math.abs(next - s) / s;
      s = next;
    }
    return s;
  },
});
