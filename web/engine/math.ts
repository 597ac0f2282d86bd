/**
 * exp, log and the hyperbolic functions as Node computes them. Browsers have moved to other implementations, whose last bit differs now
 * and then. The engine makes its meshes with these functions, so that the page would differ from the command line in
 * the last digits of a price.
 *
 * The algorithms and coefficients are those of fdlibm (Sun Microsystems, 1993), which V8 used up to Node 24.
 */
const word = new DataView(new ArrayBuffer(8));

function highWord(x: number): number {
  word.setFloat64(0, x);
  return word.getInt32(0);
}

function withHighWord(x: number, high: number): number {
  word.setFloat64(0, x);
  word.setInt32(0, high);
  return word.getFloat64(0);
}

const LN2_HIGH = 6.9314718036912381649e-1;
const LN2_LOW = 1.90821492927058770002e-10;
const INVERSE_LN2 = Math.LOG2E;

/** e^x = 2^k·e^r with |r| ≤ ½·ln 2, and e^r by a rational function of r². */
export function exp(x: number): number {
  if (Number.isNaN(x) || x === Number.POSITIVE_INFINITY) return x;
  if (x > 709.782712893384) return Number.POSITIVE_INFINITY;
  if (x < -745.1332191019411) return 0;
  const high = highWord(x) & 0x7fffffff;
  if (high < 0x3e300000) return 1 + x;
  if (high <= 0x3fd62e42) return expReduced(x, 0, 0, 0);
  if (high < 0x3ff0a2b2) {
    if (x === 1) return Math.E;
    const sign = x < 0 ? -1 : 1;
    return expReduced(x, x - sign * LN2_HIGH, sign * LN2_LOW, sign);
  }
  const k = Math.trunc(INVERSE_LN2 * x + (x < 0 ? -0.5 : 0.5));
  return expReduced(x, x - k * LN2_HIGH, k * LN2_LOW, k);
}

function expReduced(x: number, high: number, low: number, k: number): number {
  const r = k === 0 ? x : high - low;
  const t = r * r;
  const c =
    r -
    t *
      (1.66666666666666019037e-1 +
        t *
          (-2.77777777770155933842e-3 +
            t * (6.61375632143793436117e-5 + t * (-1.6533902205465251539e-6 + t * 4.13813679705723846039e-8))));
  if (k === 0) return 1 - ((r * c) / (c - 2) - r);
  const y = 1 - (low - (r * c) / (2 - c) - high);
  if (k === 1024) return y * 2 * 2 ** 1023;
  return k >= -1021 ? y * powerOfTwo(k) : y * powerOfTwo(k + 1000) * powerOfTwo(-1000);
}

function powerOfTwo(k: number): number {
  word.setInt32(0, (k + 1023) << 20);
  word.setInt32(4, 0);
  return word.getFloat64(0);
}

/** ln x = k·ln 2 + ln(1 + f) with √½ < 1 + f < √2, and the latter by a polynomial in s = f / (2 + f). */
export function log(x: number): number {
  if (Number.isNaN(x) || x === Number.POSITIVE_INFINITY) return x;
  if (x <= 0) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  const isSubnormal = x < 2 ** -1022;
  const scaled = isSubnormal ? x * 2 ** 54 : x;
  const whole = highWord(scaled);
  const fraction = whole & 0xfffff;
  const carry = (fraction + 0x95f64) & 0x100000;
  const k = (whole >> 20) - 1023 + (carry >> 20) - (isSubnormal ? 54 : 0);
  const f = withHighWord(scaled, fraction | (carry ^ 0x3ff00000)) - 1;
  return logReduced(f, k, fraction);
}

function logReduced(f: number, k: number, fraction: number): number {
  if ((0xfffff & (2 + fraction)) < 3) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + k * LN2_LOW;
    const rest = f * f * (0.5 - (1 / 3) * f);
    return k === 0 ? f - rest : k * LN2_HIGH - (rest - k * LN2_LOW - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const even = w * (3.999999999940941908e-1 + w * (2.222219843214978396e-1 + w * 1.531383769920937332e-1));
  const odd =
    z *
    (6.66666666666673513e-1 +
      w * (2.857142874366239149e-1 + w * (1.818357216161805012e-1 + w * 1.479819860511658591e-1)));
  const rest = odd + even;
  if (((fraction - 0x6147a) | (0x6b851 - fraction)) > 0) {
    const half = 0.5 * f * f;
    return k === 0 ? f - (half - s * (half + rest)) : k * LN2_HIGH - (half - (s * (half + rest) + k * LN2_LOW) - f);
  }
  return k === 0 ? f - s * (f - rest) : k * LN2_HIGH - (s * (f - rest) - k * LN2_LOW - f);
}

/** asinh x = ±ln(|x| + √(x² + 1)), written so that nothing cancels. */
export function asinh(x: number): number {
  const high = highWord(x) & 0x7fffffff;
  if (high >= 0x7ff00000 || high < 0x3e300000) return x;
  const size = Math.abs(x);
  const value =
    high > 0x41b00000
      ? log(size) + Math.LN2
      : high > 0x40000000
        ? log(2 * size + 1 / (Math.sqrt(x * x + 1) + size))
        : log1p(size + (x * x) / (1 + Math.sqrt(1 + x * x)));
  return x > 0 ? value : -value;
}

/** e^x − 1 without cancellation: 2^k·(e^r − 1) + (2^k − 1), and e^r − 1 by a rational function of r². */
export function expm1(x: number): number {
  const high = highWord(x) & 0x7fffffff;
  if (high >= 0x7ff00000) return x === Number.NEGATIVE_INFINITY ? -1 : x;
  if (x > 709.782712893384) return Number.POSITIVE_INFINITY;
  if (x < 0 && high >= 0x4043687a) return -1;
  if (high < 0x3c900000) return x;
  if (high <= 0x3fd62e42) return expm1Reduced(x, 0, 0);
  const sign = x < 0 ? -1 : 1;
  const k = high < 0x3ff0a2b2 ? sign : Math.trunc(INVERSE_LN2 * x + 0.5 * sign);
  const [upper, lower] = [x - k * LN2_HIGH, k * LN2_LOW];
  const r = upper - lower;
  return expm1Reduced(r, upper - r - lower, k);
}

/** @param c what rounding has taken from r */
function expm1Reduced(r: number, c: number, k: number): number {
  const half = 0.5 * r;
  const h = r * half;
  const r1 =
    1 +
    h *
      (-3.33333333333331316428e-2 +
        h *
          (1.58730158725481460165e-3 +
            h * (-7.93650757867487942473e-5 + h * (4.00821782732936239552e-6 + h * -2.01099218183624371326e-7))));
  const t = 3 - r1 * half;
  let e = h * ((r1 - t) / (6 - r * t));
  if (k === 0) return r - (r * e - h);
  e = r * (e - c) - c - h;
  if (k === -1) return 0.5 * (r - e) - 0.5;
  if (k === 1) return r < -0.25 ? -2 * (e - (r + 0.5)) : 1 + 2 * (r - e);
  if (k <= -2 || k > 56) return (k === 1024 ? (1 - (e - r)) * 2 * 2 ** 1023 : (1 - (e - r)) * powerOfTwo(k)) - 1;
  return k < 20 ? (1 - powerOfTwo(-k) - (e - r)) * powerOfTwo(k) : (r - (e + powerOfTwo(-k)) + 1) * powerOfTwo(k);
}

/** ln(1 + x): as log, with the rounding of 1 + x put back. */
export function log1p(x: number): number {
  const [high, size] = [highWord(x), Math.abs(x)];
  if (Number.isNaN(x) || x === Number.POSITIVE_INFINITY) return x;
  if (x <= -1) return x === -1 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (size < 2 ** -29) return size < 2 ** -54 ? x : x - x * x * 0.5;
  if (high < 0x3fda827a && (high > 0 || high <= (0xbfd2bec4 | 0))) return log1pReduced(x, 0, 0, 1);
  const u = x < 2 ** 53 ? 1 + x : x;
  const whole = highWord(u);
  const exponent = (whole >> 20) - 1023;
  const c = x < 2 ** 53 ? (exponent > 0 ? 1 - (u - x) : x - (u - 1)) / u : 0;
  const fraction = whole & 0xfffff;
  return fraction < 0x6a09e
    ? log1pReduced(withHighWord(u, fraction | 0x3ff00000) - 1, c, exponent, fraction)
    : log1pReduced(withHighWord(u, fraction | 0x3fe00000) - 1, c, exponent + 1, (0x100000 - fraction) >> 2);
}

/** @param fraction zero where f is so small that two terms of the series are enough */
function log1pReduced(f: number, c: number, k: number, fraction: number): number {
  const half = 0.5 * f * f;
  if (fraction === 0) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + (c + k * LN2_LOW);
    const rest = half * (1 - (2 / 3) * f);
    return k === 0 ? f - rest : k * LN2_HIGH - (rest - (k * LN2_LOW + c) - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const rest =
    z *
    (6.66666666666673513e-1 +
      z *
        (3.999999999940941908e-1 +
          z *
            (2.857142874366239149e-1 +
              z *
                (2.222219843214978396e-1 +
                  z * (1.818357216161805012e-1 + z * (1.531383769920937332e-1 + z * 1.479819860511658591e-1))))));
  return k === 0 ? f - (half - s * (half + rest)) : k * LN2_HIGH - (half - (s * (half + rest) + (k * LN2_LOW + c)) - f);
}

/** ½(e^x − e^(−x)). */
export function sinh(x: number): number {
  const [size, half] = [Math.abs(x), x < 0 ? -0.5 : 0.5];
  if (Number.isNaN(x) || size < 2 ** -28) return x;
  if (size < 22) {
    const t = expm1(size);
    return size < 1 ? half * (2 * t - (t * t) / (t + 1)) : half * (t + t / (t + 1));
  }
  if (size < 709.7822265625) return half * exp(size);
  const root = exp(0.5 * size);
  return half * root * root;
}

/** ½(e^x + e^(−x)). */
export function cosh(x: number): number {
  const size = Math.abs(x);
  if (Number.isNaN(x)) return x;
  if ((highWord(x) & 0x7fffffff) < 0x3fd62e43) {
    const t = expm1(size);
    return size < 2 ** -55 ? 1 + t : 1 + (t * t) / (1 + t + (1 + t));
  }
  if (size < 22) {
    const t = exp(size);
    return 0.5 * t + 0.5 / t;
  }
  if (size < 709.7822265625) return 0.5 * exp(size);
  const root = exp(0.5 * size);
  return 0.5 * root * root;
}

/** sinh x / cosh x. */
export function tanh(x: number): number {
  const size = Math.abs(x);
  if (Number.isNaN(x) || size < 2 ** -28) return x;
  const t = size >= 22 ? 0 : expm1(size >= 1 ? 2 * size : -2 * size);
  const value = size >= 22 ? 1 : size >= 1 ? 1 - 2 / (t + 2) : -t / (t + 2);
  return x < 0 ? -value : value;
}

/** Puts them in the place of the browser's own, for everything that this thread computes. */
export function computeAsNode(): void {
  Object.assign(Math, { exp, log, expm1, log1p, sinh, cosh, tanh, asinh });
}
