import { inlineHelper, type HelperTexts } from "./inline.ts";

/**
 * The CUDA helper functions for integers. Signed overflow is undefined in C++, so i32 arithmetic converts to unsigned
 * and wraps. Division by 0 and INT_MIN / −1, which C++ leaves undefined, give the results of the kernel language.
 */
export const integerHelpers = {
  add: inlineHelper("int add(int a, int b)", "return int(unsigned(a) + unsigned(b));"),
  sub: inlineHelper("int sub(int a, int b)", "return int(unsigned(a) - unsigned(b));"),
  mul: inlineHelper("int mul(int a, int b)", "return int(unsigned(a) * unsigned(b));"),
  /**
   * All 64 bits. From C++ the compiler makes a product for each half; equal PTX it merges. With FK_NO_PTX in C++, for
   * other compilers.
   */
  wide: inlineHelper(
    "unsigned long long wide(unsigned a, unsigned b)",
    "#ifndef FK_NO_PTX",
    'unsigned long long product; asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b)); return product;',
    "#else",
    "return (unsigned long long)a * b;",
    "#endif",
  ),
  neg: inlineHelper("int neg(int a)", "return int(0u - unsigned(a));"),
  abs: inlineHelper("int abs(int a)", "return a < 0 ? int(0u - unsigned(a)) : a;"),
  shl: inlineHelper("int shl(int a, unsigned n)", "return int(unsigned(a) << (n & 31u));"),
  /** −1 apart: INT_MIN / −1 overflows. */
  div_i32: inlineHelper("int div_i32(int a, int b)", "return b == 0 ? 0 : b == -1 ? int(0u - unsigned(a)) : a / b;"),
  div_u32: inlineHelper("unsigned div_u32(unsigned a, unsigned b)", "return b == 0u ? 0u : a / b;"),
  rem_i32: inlineHelper("int rem_i32(int a, int b)", "return b == 0 || b == -1 ? 0 : a % b;"),
  rem_u32: inlineHelper("unsigned rem_u32(unsigned a, unsigned b)", "return b == 0u ? 0u : a % b;"),
  min_i32: inlineHelper("int min_i32(int a, int b)", "return a < b ? a : b;"),
  max_i32: inlineHelper("int max_i32(int a, int b)", "return a > b ? a : b;"),
  min_u32: inlineHelper("unsigned min_u32(unsigned a, unsigned b)", "return a < b ? a : b;"),
  max_u32: inlineHelper("unsigned max_u32(unsigned a, unsigned b)", "return a > b ? a : b;"),
} as const satisfies HelperTexts;
