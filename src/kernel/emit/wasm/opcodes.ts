/**
 * The instructions that the code generator uses, by their names in the WebAssembly text format; WebAssembly core
 * specification 2.0, section 5.4. Prefixed opcodes have their prefix in bits 16–23.
 */
type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;

/** The opcodes of instructions of a type, `names` in the order of their codes from `first` on. */
function inOrder<const T extends string, const N extends string>(
  type: T,
  first: number,
  names: N,
): Readonly<Record<`${T}.${Words<N>}`, number>> {
  return Object.fromEntries(names.split(" ").map((name, i) => [`${type}.${name}`, first + i])) as never;
}

const CONTROL = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  br_if: 0x0d,
  return: 0x0f,
  call: 0x10,
  drop: 0x1a,
  select: 0x1b,
  ...inOrder("local", 0x20, "get set tee"),
} as const;

const SCALAR_MEMORY = {
  "i32.load": 0x28,
  "i64.load": 0x29,
  "f32.load": 0x2a,
  "f64.load": 0x2b,
  "i32.store": 0x36,
  "i64.store": 0x37,
  "f32.store": 0x38,
  "f64.store": 0x39,
} as const;

const CONSTANT = { "i32.const": 0x41, "i64.const": 0x42, "f32.const": 0x43, "f64.const": 0x44 } as const;

const FLOAT_COMPARISONS = "eq ne lt gt le ge";
const FLOAT_OPERATIONS = "abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign";
const INTEGER_COMPARISONS = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u";

const SCALAR = {
  "i32.eqz": 0x45,
  ...inOrder("i32", 0x46, INTEGER_COMPARISONS),
  ...inOrder("f32", 0x5b, FLOAT_COMPARISONS),
  ...inOrder("f64", 0x61, FLOAT_COMPARISONS),
  ...inOrder("i32", 0x67, "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u"),
  ...inOrder("f32", 0x8b, FLOAT_OPERATIONS),
  ...inOrder("f64", 0x99, FLOAT_OPERATIONS),
  ...inOrder("f32", 0xb2, "convert_i32_s convert_i32_u convert_i64_s convert_i64_u demote_f64"),
  ...inOrder("f64", 0xb7, "convert_i32_s convert_i32_u convert_i64_s convert_i64_u promote_f32"),
  ...inOrder("i32", 0xfc0000, "trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u"),
};

/** The opcodes of atomic instructions of the threads proposal. */
const ATOMIC = {
  "i32.atomic.load": 0xfe0010,
  "i32.atomic.store": 0xfe0017,
  "i32.atomic.rmw.add": 0xfe001e,
  "i32.atomic.rmw.and": 0xfe002c,
  "i32.atomic.rmw.or": 0xfe0033,
  "i32.atomic.rmw.xor": 0xfe003a,
  "i32.atomic.rmw.xchg": 0xfe0041,
  "i32.atomic.rmw.cmpxchg": 0xfe0048,
} as const;

const SIMD_MEMORY = {
  "v128.load": 0xfd0000,
  "v128.load32x2_s": 0xfd0005,
  "v128.store": 0xfd000b,
  ...inOrder("v128", 0xfd0056, "load32_lane load64_lane"),
  ...inOrder("v128", 0xfd005a, "store32_lane store64_lane load32_zero load64_zero"),
} as const;

const SIMD_CONSTANTS = { "v128.const": 0xfd000c, "i8x16.shuffle": 0xfd000d } as const;

const SPLATS = {
  "i32x4.splat": 0xfd0011,
  "i64x2.splat": 0xfd0012,
  "f32x4.splat": 0xfd0013,
  "f64x2.splat": 0xfd0014,
} as const;

const SIMD_LANES = {
  ...inOrder("i32x4", 0xfd001b, "extract_lane replace_lane"),
  ...inOrder("f32x4", 0xfd001f, "extract_lane replace_lane"),
  ...inOrder("f64x2", 0xfd0021, "extract_lane replace_lane"),
};

const SIMD = {
  ...inOrder("i32x4", 0xfd0037, INTEGER_COMPARISONS),
  ...inOrder("f32x4", 0xfd0041, FLOAT_COMPARISONS),
  ...inOrder("f64x2", 0xfd0047, FLOAT_COMPARISONS),
  ...inOrder("v128", 0xfd004d, "not and andnot or xor bitselect any_true"),
  "i8x16.popcnt": 0xfd0062,
  ...inOrder("f32x4", 0xfd0067, "ceil floor trunc nearest"),
  ...inOrder("f64x2", 0xfd0074, "ceil floor"),
  "f64x2.trunc": 0xfd007a,
  "i16x8.extadd_pairwise_i8x16_u": 0xfd007d,
  "i32x4.extadd_pairwise_i16x8_u": 0xfd007f,
  "f64x2.nearest": 0xfd0094,
  ...inOrder("i32x4", 0xfd00a0, "abs neg"),
  ...inOrder("i32x4", 0xfd00a3, "all_true bitmask"),
  ...inOrder("i32x4", 0xfd00ab, "shl shr_s shr_u add"),
  "i32x4.sub": 0xfd00b1,
  ...inOrder("i32x4", 0xfd00b5, "mul min_s min_u max_s max_u"),
  ...inOrder("i64x2", 0xfd00c3, "all_true bitmask"),
  "i64x2.extend_low_i32x4_s": 0xfd00c7,
  ...inOrder("i64x2", 0xfd00cb, "shl shr_s shr_u"),
  ...inOrder("i64x2", 0xfd00de, "extmul_low_i32x4_u extmul_high_i32x4_u"),
  ...inOrder("f32x4", 0xfd00e0, "abs neg"),
  ...inOrder("f32x4", 0xfd00e3, "sqrt add sub mul div min max pmin pmax"),
  ...inOrder("f64x2", 0xfd00ec, "abs neg"),
  ...inOrder("f64x2", 0xfd00ef, "sqrt add sub mul div min max pmin pmax"),
  ...inOrder("i32x4", 0xfd00f8, "trunc_sat_f32x4_s trunc_sat_f32x4_u"),
  ...inOrder("f32x4", 0xfd00fa, "convert_i32x4_s convert_i32x4_u"),
  ...inOrder("i32x4", 0xfd00fc, "trunc_sat_f64x2_s_zero trunc_sat_f64x2_u_zero"),
  ...inOrder("f64x2", 0xfd00fe, "convert_low_i32x4_s convert_low_i32x4_u"),
};

/** The opcodes of all WebAssembly instructions that the code generator uses, by their names. */
export const OPCODES = {
  ...CONTROL,
  ...SCALAR_MEMORY,
  ...CONSTANT,
  ...SCALAR,
  ...ATOMIC,
  ...SIMD_MEMORY,
  ...SIMD_CONSTANTS,
  ...SPLATS,
  ...SIMD_LANES,
  ...SIMD,
} as const;

/** The name of a WebAssembly instruction, such as "f64x2.add". */
export type OpName = keyof typeof OPCODES;
/** The names of instructions that take an address, with alignment and offset as immediates. */
export type MemoryOp = keyof typeof SCALAR_MEMORY | keyof typeof SIMD_MEMORY | keyof typeof ATOMIC;
/** The names of instructions without immediates. */
export type PlainOp =
  | keyof typeof SCALAR
  | keyof typeof SIMD
  | keyof typeof SPLATS
  | "select"
  | "drop"
  | "return"
  | "unreachable";
/** The names of instructions with a lane number as immediate. */
export type LaneOp = keyof typeof SIMD_LANES;

/** The binary codes of value types. */
export const VALUE_TYPES = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
/** The type of a WebAssembly value. */
export type ValueType = keyof typeof VALUE_TYPES;

/**
 * Returns log2 of the number of bytes that an instruction accesses. This is its natural alignment, which atomic
 * instructions require and other instructions take as a hint.
 */
export function naturalAlignment(op: MemoryOp): number {
  if (op.includes("32_") || op.startsWith("i32") || op.startsWith("f32")) return 2;
  if (op === "v128.load" || op === "v128.store") return 4;
  return 3;
}
