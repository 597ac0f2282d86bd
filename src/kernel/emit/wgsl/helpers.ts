import { pairHelpers } from "./pair-helpers.ts";

/**
 * Helper functions that give operations the IR's meaning where WGSL leaves something open. Only the helpers that a
 * kernel uses are printed. `args.zero` is 0 at run time, and bits that passed through `^ args.zero` are opaque to every
 * optimiser. Neither constant evaluation nor fast-math assumptions (no NaN, no infinity, reassociation) reach through
 * them.
 */
const scalarHelpers = {
  fk_hide: { needs: [], text: "fn fk_hide(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ args.zero); }" },
  fk_is_nan: {
    needs: [],
    text: "fn fk_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
  },
  fk_is_finite: {
    needs: [],
    text: "fn fk_is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }",
  },
  fk_div_i32: {
    needs: [],
    text: "fn fk_div_i32(a: i32, b: i32) -> i32 { return select(a / b, 0i, b == 0i); }",
  },
  fk_div_u32: {
    needs: [],
    text: "fn fk_div_u32(a: u32, b: u32) -> u32 { return select(a / b, 0u, b == 0u); }",
  },
  fk_rem_i32: {
    needs: [],
    text: "fn fk_rem_i32(a: i32, b: i32) -> i32 { return select(a % b, 0i, b == 0i); }",
  },
  fk_rem_u32: {
    needs: [],
    text: "fn fk_rem_u32(a: u32, b: u32) -> u32 { return select(a % b, 0u, b == 0u); }",
  },
  /**
   * Exact, by long division: |x| loses the largest |y|·2ⁿ in it until less than |y| is left. Each subtraction is exact
   * (Sterbenz), and so is scaling by 2ⁿ in the exponent field. x − y·trunc(x/y) would be wrong once x/y needs more than
   * 24 bits, and earlier where the product is not fused. A subnormal divisor counts as 0: where hardware flushes those
   * in comparisons, the loop would never end.
   */
  fk_rem: {
    needs: ["fk_is_nan", "fk_is_finite"],
    text: `fn fk_rem(x: f32, y: f32) -> f32 {
  let b = abs(y);
  if (!fk_is_finite(x) || !(b >= 1.1754944e-38f) || fk_is_nan(y)) { return bitcast<f32>(0x7fc00000u ^ args.zero); }
  if (!fk_is_finite(y)) { return x; }
  var a = abs(x);
  loop {
    if (!(a >= b)) { break; }
    let shift = (bitcast<u32>(a) & 0x7f800000u) - (bitcast<u32>(b) & 0x7f800000u);
    var s = bitcast<f32>(bitcast<u32>(b) + shift);
    if (s > a) { s = bitcast<f32>(bitcast<u32>(s) - 0x00800000u); }
    a = a - s;
  }
  return bitcast<f32>(bitcast<u32>(a) | (bitcast<u32>(x) & 0x80000000u));
}`,
  },
  fk_to_i32: {
    needs: ["fk_is_nan"],
    text: `fn fk_to_i32(x: f32) -> i32 {
  if (fk_is_nan(x)) { return 0i; }
  if (x >= 2147483648f) { return 2147483647i; }
  if (x <= -2147483648f) { return -2147483647i - 1i; }
  return i32(x);
}`,
  },
  fk_to_u32: {
    needs: ["fk_is_nan"],
    text: `fn fk_to_u32(x: f32) -> u32 {
  if (fk_is_nan(x) || x <= 0f) { return 0u; }
  if (x >= 4294967296f) { return 4294967295u; }
  return u32(x);
}`,
  },
  fk_copysign: {
    needs: [],
    text: `fn fk_copysign(x: f32, y: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}`,
  },
  fk_power_of_two: {
    needs: [],
    text: "fn fk_power_of_two(n: i32) -> f32 { return bitcast<f32>(u32(n + 127i) << 23u); }",
  },
  /** Up to three factors, each a normal number; the built-in ldexp leaves results open beyond 2¹²⁸. */
  fk_ldexp: {
    needs: ["fk_hide", "fk_power_of_two"],
    text: `fn fk_ldexp(x: f32, n: i32) -> f32 {
  var left = clamp(n, -378i, 381i);
  var y = x;
  loop {
    if (left >= -126i && left <= 127i) { break; }
    let step = clamp(left, -126i, 127i);
    y = fk_hide(y * fk_power_of_two(step));
    left = left - step;
  }
  return y * fk_power_of_two(left);
}`,
  },
  fk_exponent: {
    needs: [],
    text: "fn fk_exponent(x: f32) -> i32 { return i32((bitcast<u32>(x) >> 23u) & 0xffu) - 127i; }",
  },
  fk_significand: {
    needs: [],
    text: "fn fk_significand(x: f32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0x807fffffu) | 0x3f800000u); }",
  },
  fk_head_bits: {
    needs: [],
    text: "fn fk_head_bits(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }",
  },
  /** WGSL has no 64-bit product: four products of halves. `middle` cannot overflow, (2¹⁶−1)² + 2(2¹⁶−1) < 2³². */
  fk_mul_high: {
    needs: [],
    text: `fn fk_mul_high(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let middle = ah * bl + ((al * bl) >> 16u);
  let low = al * bh + (middle & 0xffffu);
  return ah * bh + (middle >> 16u) + (low >> 16u);
}`,
  },
} as const satisfies Record<string, { readonly needs: readonly string[]; readonly text: string }>;

const helpers = { ...scalarHelpers, ...pairHelpers };

/** The names of the WGSL helper functions. */
export type HelperName = keyof typeof helpers;

/** The WGSL helper functions that a kernel calls, collected while it is printed. */
export class Helpers {
  readonly #used = new Set<HelperName>();

  call(name: HelperName, ...args: readonly string[]): string {
    this.#use(name);
    return `${name}(${args.join(", ")})`;
  }

  #use(name: HelperName): void {
    for (const needed of helpers[name].needs) this.#use(needed);
    this.#used.add(name);
  }

  /** Returns the definitions of the collected helpers. Their order is fixed, so that equal kernels give equal text. */
  definitions(): string[] {
    return (Object.keys(helpers) as HelperName[])
      .filter((name) => this.#used.has(name))
      .map((name) => helpers[name].text);
  }
}
