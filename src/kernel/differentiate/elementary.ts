/**
 * The derivatives of the elementary functions, whose own bodies work on bits. Each takes the arguments of its function
 * and, last, its result.
 */
import { fn } from "../frontend/declare.ts";
import { real, type FunctionSpec } from "../language.ts";
import { mathFunctions } from "../math/index.ts";

const one = [real, real] as const;
const two = [real, real, real] as const;

/** Returns a map from each elementary function to its partial derivatives, in the order of its parameters. */
export const elementaryDerivatives = once((): ReadonlyMap<FunctionSpec, readonly FunctionSpec[]> => {
  const table: Readonly<Record<string, readonly FunctionSpec[]>> = {
    exp: [fn({ params: one, body: ([, y]) => y })],
    expm1: [fn({ params: one, body: ([, y]) => y + 1 })],
    log: [fn({ params: one, body: ([x]) => 1 / x })],
    log1p: [fn({ params: one, body: ([x]) => 1 / (1 + x) })],
    log2: [fn({ params: one, body: ([x]) => 1 / (x * Math.LN2) })],
    log10: [fn({ params: one, body: ([x]) => 1 / (x * Math.LN10) })],
    cbrt: [fn({ params: one, body: ([, y]) => 1 / (3 * y * y) })],
    sin: [fn({ params: one, body: ([x]) => Math.cos(x) })],
    cos: [fn({ params: one, body: ([x]) => -Math.sin(x) })],
    tan: [fn({ params: one, body: ([, y]) => 1 + y * y })],
    asin: [fn({ params: one, body: ([x]) => 1 / Math.sqrt((1 - x) * (1 + x)) })],
    acos: [fn({ params: one, body: ([x]) => -1 / Math.sqrt((1 - x) * (1 + x)) })],
    atan: [fn({ params: one, body: ([x]) => 1 / (1 + x * x) })],
    sinh: [fn({ params: one, body: ([x]) => Math.cosh(x) })],
    cosh: [fn({ params: one, body: ([x]) => Math.sinh(x) })],
    // 1 − tanh² cancels where tanh is near 1.
    tanh: [
      fn({
        params: one,
        body([x]) {
          const inverse = 1 / Math.cosh(x);
          return inverse * inverse;
        },
      }),
    ],
    erf: [fn({ params: one, body: ([x]) => 1.1283791670955126 * Math.exp(-x * x) })],
    erfc: [fn({ params: one, body: ([x]) => -1.1283791670955126 * Math.exp(-x * x) })],
    normalCdf: [fn({ params: one, body: ([x], gpu) => gpu.normalPdf(x) })],
    normalPdf: [fn({ params: one, body: ([x, y]) => (y === 0 ? 0 : -x * y) })],
    inverseNormalCdf: [fn({ params: one, body: ([, y], gpu) => 1 / gpu.normalPdf(y) })],
    pow: [
      fn({
        params: two,
        body([x, y, power]) {
          if (x !== 0) return (y * power) / x;
          return y === 0 ? 0 : y * x ** (y - 1);
        },
      }),
      fn({ params: two, body: ([x, , power]) => (x === 0 ? 0 : power * Math.log(x)) }),
    ],
    atan2: [
      fn({ params: two, body: ([y, x]) => x / (x * x + y * y) }),
      fn({ params: two, body: ([y, x]) => -y / (x * x + y * y) }),
    ],
  };
  return new Map(Object.entries(table).map(([name, partials]) => [mathFunctions[name], partials]));
});

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
