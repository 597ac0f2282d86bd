/** Complex numbers in the kernel language. */
import { fn, real, record } from "../../kernel/index.ts";

/** The record type of a complex number, re + i·im. */
export const Complex = record({ re: real, im: real });

/** Returns the product a·b of two complex numbers. Cost: 6 flops. */
export const product = fn({
  name: "product",
  params: { a: Complex, b: Complex },
  body: ({ a, b }) => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }),
});

/**
 * Returns the quotient a / b of two complex numbers, if |b|² neither overflows nor underflows. Cost: 10 flops, 1
 * division.
 */
export const quotient = fn({
  name: "quotient",
  params: { a: Complex, b: Complex },
  body({ a, b }) {
    const scale = 1 / (b.re * b.re + b.im * b.im);
    return { re: (a.re * b.re + a.im * b.im) * scale, im: (a.im * b.re - a.re * b.im) * scale };
  },
});

/**
 * Returns the complex square root with a nonnegative real part, also if |a|² would overflow. Cost: 2 roots, 2
 * divisions.
 */
export const squareRoot = fn({
  name: "squareRoot",
  params: { a: Complex },
  body({ a }, gpu) {
    const re = Math.abs(a.re);
    const im = Math.abs(a.im);
    const larger = Math.max(re, im, 1e-35);
    const ratio = Math.min(re, im) / larger;
    const major = Math.sqrt(0.5 * (larger * Math.sqrt(1 + ratio * ratio) + re));
    const minor = major > 0 ? (0.5 * im) / major : 0;
    return { re: a.re >= 0 ? major : minor, im: gpu.copysign(a.re >= 0 ? minor : major, a.im) };
  },
});
