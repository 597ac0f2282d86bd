/**
 * The WGSL functions of arithmetic on emulated doubles (`f32x2`). A number is an unevaluated sum x = x.x + x.y of two
 * f32 with |x.y| ≤ ½ ulp(x.x); x.y = 0 where x.x is infinite or NaN. The unit roundoff is u = 2⁻²⁴.
 *
 * The algorithms depend on the rounding error of every single operation. Each rounded result therefore passes through
 * bits that the compiler cannot see through (`fk_hide`), which prevents contraction to fused multiply-adds,
 * reassociation and factoring out. Only exact operations, scaling by powers of two and negation, are not hidden.
 *
 * The names of the algorithms and the bounds of relative errors are those of M. Joldes, J.-M. Muller, V. Popescu
 * (2017), "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44(2), with
 * the bounds of J.-M. Muller, L. Rideau (2022), ACM TOMS 48(1). The bounds hold while numbers flushed to zero, below
 * 2⁻¹²⁶, contribute less than 2⁻⁴⁸ of the result, which is so for sums of terms and products above 2⁻⁷⁸ = 3e-24. Below
 * that the absolute error is a few 2⁻¹²⁶ = 1e-38. Quotients and square roots are scaled out of that range.
 *
 * On overflow, the error terms of infinite sums and products are NaN. `fk2_settle` therefore ends each operation: where
 * the result is not finite, it takes the result of the plain f32 operation on the high parts.
 */
export const pairHelpers = {
  fk2_hide: {
    needs: [],
    text: "fn fk2_hide(x: vec2f) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(args.zero)); }",
  },
  fk2_hide4: {
    needs: [],
    text: "fn fk2_hide4(x: vec4f) -> vec4f { return bitcast<vec4f>(bitcast<vec4u>(x) ^ vec4u(args.zero)); }",
  },
  fk2_settle: {
    needs: [],
    text: `fn fk2_settle(z: vec2f, plain: f32) -> vec2f {
  return select(z, vec2f(plain, 0f), (bitcast<u32>(z.x) & 0x7f800000u) == 0x7f800000u);
}`,
  },
  /** a + b exactly, as their rounded sum and its error, for |a| ≥ |b| or a = 0 (Dekker's Fast2Sum). 3 operations. */
  fk2_fast_sum: {
    needs: ["fk_hide"],
    text: `fn fk2_fast_sum(a: f32, b: f32) -> vec2f {
  let s = fk_hide(a + b);
  return vec2f(s, fk_hide(b - fk_hide(s - a)));
}`,
  },
  /** Knuth's 2Sum of x.x and y.x, and of x.y and y.y: (sum.x, sum.y, error.x, error.y). 6 operations each. */
  fk2_two_sums: {
    needs: ["fk2_hide", "fk2_hide4"],
    text: `fn fk2_two_sums(x: vec2f, y: vec2f) -> vec4f {
  let s = fk2_hide(x + y);
  let b = fk2_hide(s - x);
  let e = fk2_hide4(vec4f(x, y) - vec4f(fk2_hide(s - b), b));
  return vec4f(s, fk2_hide(e.xy + e.zw));
}`,
  },
  /** Algorithm 6, AccurateDWPlusDW: 20 operations, error ≤ 3u². The sloppy one (11) has no bound where terms cancel. */
  fk2_add: {
    needs: ["fk2_two_sums", "fk2_fast_sum", "fk2_settle", "fk_hide"],
    text: `fn fk2_add(x: vec2f, y: vec2f) -> vec2f {
  let s = fk2_two_sums(x, y);
  let v = fk2_fast_sum(s.x, fk_hide(s.z + s.y));
  return fk2_settle(fk2_fast_sum(v.x, fk_hide(s.w + v.y)), s.x);
}`,
  },
  /** Algorithm 4, DWPlusFP: 10 operations, error ≤ 2u². For constants that are f32. */
  fk2_add_f32: {
    needs: ["fk2_fast_sum", "fk2_settle", "fk_hide"],
    text: `fn fk2_add_f32(x: vec2f, y: f32) -> vec2f {
  let s = fk_hide(x.x + y);
  let b = fk_hide(s - x.x);
  let e = fk_hide(fk_hide(x.x - fk_hide(s - b)) + fk_hide(y - b));
  return fk2_settle(fk2_fast_sum(s, fk_hide(x.y + e)), s);
}`,
  },
  /**
   * a·b exactly, as the rounded product and its error (Dekker 1971), 11 operations and 2 masks. The halves are cut off
   * in the bits, not by multiplication with 4097, so nothing overflows before the product does: 12 bits each, so that
   * partial products are exact, and so are the sums in this order: with |a|, |b| < 2, ah·b − p = e − al·b is a multiple
   * of 2⁻³⁴ below 2⁻¹⁰. WGSL's fma need not be fused, and SwiftShader's is not.
   */
  fk2_two_product: {
    needs: ["fk_hide", "fk2_hide", "fk2_hide4"],
    text: `fn fk2_two_product(a: f32, b: f32) -> vec2f {
  let p = fk_hide(a * b);
  let x = vec2f(a, b);
  let h = bitcast<vec2f>(bitcast<vec2u>(x) & vec2u(0xfffff000u));
  let l = fk2_hide(x - h);
  let t = fk2_hide4(vec4f(h.x, h.x, l.x, l.x) * vec4f(h.y, l.y, h.y, l.y));
  let e = fk_hide(fk_hide(fk_hide(t.x - p) + t.y) + t.z);
  return vec2f(p, fk_hide(e + t.w));
}`,
  },
  /** Algorithm 10, DWTimesDW1, by Dekker's product: 18 operations, error ≤ 5u². */
  fk2_mul: {
    needs: ["fk2_two_product", "fk2_fast_sum", "fk2_settle", "fk2_hide", "fk_hide"],
    text: `fn fk2_mul(x: vec2f, y: vec2f) -> vec2f {
  let p = fk2_two_product(x.x, y.x);
  let t = fk2_hide(x * y.yx);
  return fk2_settle(fk2_fast_sum(p.x, fk_hide(p.y + fk_hide(t.x + t.y))), p.x);
}`,
  },
  /** Algorithm 8, DWTimesFP2: 16 operations, error ≤ 3u². For constants that are f32. */
  fk2_mul_f32: {
    needs: ["fk2_two_product", "fk2_fast_sum", "fk2_settle", "fk_hide"],
    text: `fn fk2_mul_f32(x: vec2f, y: f32) -> vec2f {
  let p = fk2_two_product(x.x, y);
  return fk2_settle(fk2_fast_sum(p.x, fk_hide(p.y + fk_hide(x.y * y))), p.x);
}`,
  },
  /**
   * Algorithm 17, DWDivDW2, with the residual x − q·y summed in f32, where it is of the size of 3u·x: 21 operations.
   * Error ≤ 15u² = 2⁻⁴⁴·¹ if f32 divisions are rounded correctly; WGSL's 2.5 ulp would allow 2⁻⁴³.
   */
  fk2_quotient: {
    needs: ["fk2_two_product", "fk2_fast_sum", "fk2_settle", "fk_hide"],
    text: `fn fk2_quotient(x: vec2f, y: vec2f) -> vec2f {
  let q = fk_hide(x.x / y.x);
  let p = fk2_two_product(q, y.x);
  let high = fk_hide(fk_hide(x.x - p.x) - p.y);
  let rest = fk_hide(high + fk_hide(x.y - fk_hide(q * y.y)));
  return fk2_settle(fk2_fast_sum(q, fk_hide(rest / y.x)), q);
}`,
  },
  /** Divides with a small dividend lifted, since the residual's terms are of its size: 7 operations more. */
  fk2_div: {
    needs: ["fk2_quotient"],
    text: `fn fk2_div(x: vec2f, y: vec2f) -> vec2f {
  let small = abs(x.x) < 5.421011e-20f;
  return fk2_quotient(x * select(1f, 18446744073709551616f, small), y) * select(1f, 5.421011e-20f, small);
}`,
  },
  /**
   * Square root: one step of Newton from that of the high word, 23 operations. Error ≤ 25/8·u² if f32 square roots are
   * rounded correctly (V. Lefèvre, N. Louvet, J.-M. Muller, J. Picot, L. Rideau, 2023, ACM TOMS 49(1), SQRTDWtoDW).
   * Small numbers are lifted, since the error of s² would be flushed.
   */
  fk2_sqrt: {
    needs: ["fk2_two_product", "fk2_fast_sum", "fk2_settle", "fk_hide"],
    text: `fn fk2_sqrt(a: vec2f) -> vec2f {
  let small = a.x < 8.636169e-19f;
  let x = a * select(1f, 18446744073709551616f, small);
  let s = fk_hide(sqrt(x.x));
  let p = fk2_two_product(s, s);
  let rest = fk_hide(fk_hide(fk_hide(x.x - p.x) - p.y) + x.y);
  return fk2_settle(fk2_fast_sum(s, fk_hide(rest / (2f * s))), s) * select(1f, 2.3283064e-10f, small);
}`,
  },
  /** Scales by a power of two above 1: exact, but it may overflow. */
  fk2_scale: {
    needs: ["fk2_settle"],
    text: "fn fk2_scale(x: vec2f, y: f32) -> vec2f { return fk2_settle(x * y, x.x * y); }",
  },
  fk2_lt: {
    needs: [],
    text: "fn fk2_lt(x: vec2f, y: vec2f) -> bool { return x.x < y.x || (x.x == y.x && x.y < y.y); }",
  },
  fk2_le: {
    needs: [],
    text: "fn fk2_le(x: vec2f, y: vec2f) -> bool { return x.x < y.x || (x.x == y.x && x.y <= y.y); }",
  },
  fk2_eq: { needs: [], text: "fn fk2_eq(x: vec2f, y: vec2f) -> bool { return x.x == y.x && x.y == y.y; }" },
  fk2_min: {
    needs: ["fk2_lt"],
    text: "fn fk2_min(x: vec2f, y: vec2f) -> vec2f { return select(y, x, fk2_lt(x, y)); }",
  },
  fk2_max: {
    needs: ["fk2_lt"],
    text: "fn fk2_max(x: vec2f, y: vec2f) -> vec2f { return select(y, x, fk2_lt(y, x)); }",
  },
  /** x with both signs turned where `bits` has its top bit. */
  fk2_flip: {
    needs: [],
    text: "fn fk2_flip(x: vec2f, bits: u32) -> vec2f { return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(bits & 0x80000000u)); }",
  },
  fk2_abs: {
    needs: ["fk2_flip"],
    text: "fn fk2_abs(x: vec2f) -> vec2f { return fk2_flip(x, bitcast<u32>(x.x)); }",
  },
  fk2_copysign: {
    needs: ["fk2_flip"],
    text: "fn fk2_copysign(x: vec2f, y: vec2f) -> vec2f { return fk2_flip(x, bitcast<u32>(x.x) ^ bitcast<u32>(y.x)); }",
  },
  /** Exact: the low word counts where the high one is whole. */
  fk2_floor: {
    needs: ["fk2_fast_sum", "fk2_settle"],
    text: `fn fk2_floor(x: vec2f) -> vec2f {
  let high = floor(x.x);
  if (high != x.x) { return vec2f(high, 0f); }
  return fk2_settle(fk2_fast_sum(high, floor(x.y)), high);
}`,
  },
  fk2_ceil: {
    needs: ["fk2_floor"],
    text: "fn fk2_ceil(x: vec2f) -> vec2f { return -fk2_floor(-x); }",
  },
  fk2_trunc: {
    needs: ["fk2_floor", "fk2_flip"],
    text: "fn fk2_trunc(x: vec2f) -> vec2f { return fk2_flip(fk2_floor(fk2_flip(x, bitcast<u32>(x.x))), bitcast<u32>(x.x)); }",
  },
  /**
   * Exact, ties to even. Where the high word lies half way between whole numbers, the low one breaks the tie; where it
   * is whole, a low word of ½ is half a unit of its last place, so it is even, by normalisation, and rounding the low
   * word to even is right.
   */
  fk2_nearest: {
    needs: ["fk2_fast_sum", "fk2_settle"],
    text: `fn fk2_nearest(x: vec2f) -> vec2f {
  let high = round(x.x);
  if (high == x.x) { return fk2_settle(fk2_fast_sum(high, round(x.y)), high); }
  let left = x.x - high;
  if (left == 0.5f && x.y > 0f) { return vec2f(high + 1f, 0f); }
  if (left == -0.5f && x.y < 0f) { return vec2f(high - 1f, 0f); }
  return vec2f(high, 0f);
}`,
  },
  /**
   * The remainder by long division, as `fk_rem`; the sign of the dividend. Exact if all are multiples of one power of
   * two below 2⁴⁸ times it, as f32 numbers, whole numbers and decimal fractions alike mostly are not; else each
   * subtraction rounds, to 3u² of what is left.
   */
  fk2_rem: {
    needs: [
      "fk2_two_sums",
      "fk2_fast_sum",
      "fk2_lt",
      "fk2_le",
      "fk2_flip",
      "fk_hide",
      "fk_is_nan",
      "fk_is_finite",
      "fk_power_of_two",
    ],
    text: `fn fk2_rem(x: vec2f, y: vec2f) -> vec2f {
  let b = fk2_flip(y, bitcast<u32>(y.x));
  if (!fk_is_finite(x.x) || !(b.x >= 1.1754944e-38f) || fk_is_nan(y.x)) { return vec2f(bitcast<f32>(0x7fc00000u ^ args.zero), 0f); }
  if (!fk_is_finite(y.x)) { return x; }
  var a = fk2_flip(x, bitcast<u32>(x.x));
  loop {
    if (!fk2_le(b, a)) { break; }
    let n = i32(bitcast<u32>(a.x) >> 23u) - i32(bitcast<u32>(b.x) >> 23u);
    var s = b * fk_power_of_two(n / 2) * fk_power_of_two(n - n / 2);
    if (fk2_lt(a, s)) { s = s * 0.5f; }
    let d = fk2_two_sums(a, -s);
    let v = fk2_two_sums(d.xz, d.yw);
    a = fk2_fast_sum(v.x, fk_hide(v.z + v.y));
  }
  return fk2_flip(a, bitcast<u32>(x.x));
}`,
  },
  /** Exact: the high word above 2³¹ by its bits, the low one added modulo 2³². */
  fk2_to_i32: {
    needs: ["fk2_trunc", "fk_is_nan"],
    text: `fn fk2_to_i32(x: vec2f) -> i32 {
  if (fk_is_nan(x.x)) { return 0i; }
  let t = fk2_trunc(x);
  if (t.x > 2147483648f || (t.x == 2147483648f && t.y >= 0f)) { return 2147483647i; }
  if (t.x < -2147483648f || (t.x == -2147483648f && t.y <= 0f)) { return -2147483647i - 1i; }
  let high = u32(abs(t.x));
  return bitcast<i32>(select(high, 0u - high, t.x < 0f) + bitcast<u32>(i32(t.y)));
}`,
  },
  fk2_to_u32: {
    needs: ["fk2_trunc", "fk_is_nan"],
    text: `fn fk2_to_u32(x: vec2f) -> u32 {
  if (fk_is_nan(x.x) || x.x <= 0f) { return 0u; }
  let t = fk2_trunc(x);
  if (t.x > 4294967296f || (t.x == 4294967296f && t.y >= 0f)) { return 4294967295u; }
  return select(u32(t.x), 0u, t.x == 4294967296f) + bitcast<u32>(i32(t.y));
}`,
  },
  /** Exact: halves of 16 bits. */
  fk2_from_u32: {
    needs: ["fk2_fast_sum"],
    text: "fn fk2_from_u32(n: u32) -> vec2f { return fk2_fast_sum(f32(n & 0xffff0000u), f32(n & 0xffffu)); }",
  },
  fk2_from_i32: {
    needs: ["fk2_from_u32", "fk2_flip"],
    text: "fn fk2_from_i32(n: i32) -> vec2f { return fk2_flip(fk2_from_u32(u32(select(n, 0i - n, n < 0i))), bitcast<u32>(n)); }",
  },
  fk2_ldexp: {
    needs: ["fk_ldexp", "fk2_settle"],
    text: `fn fk2_ldexp(x: vec2f, n: i32) -> vec2f {
  let high = fk_ldexp(x.x, n);
  return fk2_settle(vec2f(high, fk_ldexp(x.y, n)), high);
}`,
  },
  /**
   * The exponent of the sum, so one less than the high word's where that is a power of two and the low word has the
   * other sign.
   */
  fk2_exponent: {
    needs: ["fk_exponent"],
    text: `fn fk2_exponent(x: vec2f) -> i32 {
  let bits = bitcast<u32>(x.x);
  let below = (bits & 0x7fffffu) == 0u && x.y != 0f && ((bits ^ bitcast<u32>(x.y)) & 0x80000000u) != 0u;
  return fk_exponent(x.x) - select(0i, 1i, below);
}`,
  },
  fk2_significand: {
    needs: ["fk2_exponent", "fk2_ldexp"],
    text: "fn fk2_significand(x: vec2f) -> vec2f { return fk2_ldexp(x, -fk2_exponent(x)); }",
  },
} as const satisfies Record<string, { readonly needs: readonly string[]; readonly text: string }>;
