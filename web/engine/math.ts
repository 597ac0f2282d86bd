/**
 * exp, log and asinh as Node computes them. Browsers have moved to other implementations, whose last bit differs now
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
        : Math.log1p(size + (x * x) / (1 + Math.sqrt(1 + x * x)));
  return x > 0 ? value : -value;
}

/** Puts them in the place of the browser's own, for everything that this thread computes. */
export function computeAsNode(): void {
  Object.assign(Math, { exp, log, asinh });
}
