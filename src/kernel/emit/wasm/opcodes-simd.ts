/** The opcodes of 128-bit SIMD loads and stores; WebAssembly core specification 2.0, section 5.4.8. */
export const SIMD_MEMORY = {
  "v128.load": 0xfd0000,
  "v128.load32x2_s": 0xfd0005,
  "v128.store": 0xfd000b,
  "v128.load32_lane": 0xfd0056,
  "v128.load64_lane": 0xfd0057,
  "v128.store32_lane": 0xfd005a,
  "v128.store64_lane": 0xfd005b,
  "v128.load32_zero": 0xfd005c,
  "v128.load64_zero": 0xfd005d,
} as const;

/** The opcodes of SIMD constants, shuffles, splats and lane accesses. */
export const SIMD_LANES = {
  "v128.const": 0xfd000c,
  "i8x16.shuffle": 0xfd000d,
  "i32x4.splat": 0xfd0011,
  "i64x2.splat": 0xfd0012,
  "f32x4.splat": 0xfd0013,
  "f64x2.splat": 0xfd0014,
  "i32x4.extract_lane": 0xfd001b,
  "i32x4.replace_lane": 0xfd001c,
  "f32x4.extract_lane": 0xfd001f,
  "f32x4.replace_lane": 0xfd0020,
  "f64x2.extract_lane": 0xfd0021,
  "f64x2.replace_lane": 0xfd0022,
} as const;

/** The opcodes of SIMD comparisons. */
export const SIMD_COMPARE = {
  "i32x4.eq": 0xfd0037,
  "i32x4.ne": 0xfd0038,
  "i32x4.lt_s": 0xfd0039,
  "i32x4.lt_u": 0xfd003a,
  "i32x4.gt_s": 0xfd003b,
  "i32x4.gt_u": 0xfd003c,
  "i32x4.le_s": 0xfd003d,
  "i32x4.le_u": 0xfd003e,
  "i32x4.ge_s": 0xfd003f,
  "i32x4.ge_u": 0xfd0040,
  "f32x4.eq": 0xfd0041,
  "f32x4.ne": 0xfd0042,
  "f32x4.lt": 0xfd0043,
  "f32x4.gt": 0xfd0044,
  "f32x4.le": 0xfd0045,
  "f32x4.ge": 0xfd0046,
  "f64x2.eq": 0xfd0047,
  "f64x2.ne": 0xfd0048,
  "f64x2.lt": 0xfd0049,
  "f64x2.gt": 0xfd004a,
  "f64x2.le": 0xfd004b,
  "f64x2.ge": 0xfd004c,
} as const;

/** The opcodes of bitwise SIMD instructions and mask tests. */
export const SIMD_BITS = {
  "v128.not": 0xfd004d,
  "v128.and": 0xfd004e,
  "v128.andnot": 0xfd004f,
  "v128.or": 0xfd0050,
  "v128.xor": 0xfd0051,
  "v128.bitselect": 0xfd0052,
  "v128.any_true": 0xfd0053,
  "i32x4.all_true": 0xfd00a3,
  "i32x4.bitmask": 0xfd00a4,
  "i64x2.all_true": 0xfd00c3,
  "i64x2.bitmask": 0xfd00c4,
} as const;

/** The opcodes of SIMD integer arithmetic. */
export const SIMD_INTEGER = {
  "i8x16.popcnt": 0xfd0062,
  "i16x8.extadd_pairwise_i8x16_u": 0xfd007d,
  "i32x4.extadd_pairwise_i16x8_u": 0xfd007f,
  "i32x4.abs": 0xfd00a0,
  "i32x4.neg": 0xfd00a1,
  "i32x4.shl": 0xfd00ab,
  "i32x4.shr_s": 0xfd00ac,
  "i32x4.shr_u": 0xfd00ad,
  "i32x4.add": 0xfd00ae,
  "i32x4.sub": 0xfd00b1,
  "i32x4.mul": 0xfd00b5,
  "i32x4.min_s": 0xfd00b6,
  "i32x4.min_u": 0xfd00b7,
  "i32x4.max_s": 0xfd00b8,
  "i32x4.max_u": 0xfd00b9,
  "i64x2.extend_low_i32x4_s": 0xfd00c7,
  "i64x2.shl": 0xfd00cb,
  "i64x2.shr_u": 0xfd00cd,
  "i64x2.extmul_low_i32x4_u": 0xfd00de,
  "i64x2.extmul_high_i32x4_u": 0xfd00df,
} as const;

/** The opcodes of SIMD floating-point arithmetic. */
export const SIMD_FLOAT = {
  "f32x4.ceil": 0xfd0067,
  "f32x4.floor": 0xfd0068,
  "f32x4.trunc": 0xfd0069,
  "f32x4.nearest": 0xfd006a,
  "f64x2.ceil": 0xfd0074,
  "f64x2.floor": 0xfd0075,
  "f64x2.trunc": 0xfd007a,
  "f64x2.nearest": 0xfd0094,
  "f32x4.abs": 0xfd00e0,
  "f32x4.neg": 0xfd00e1,
  "f32x4.sqrt": 0xfd00e3,
  "f32x4.add": 0xfd00e4,
  "f32x4.sub": 0xfd00e5,
  "f32x4.mul": 0xfd00e6,
  "f32x4.div": 0xfd00e7,
  "f32x4.pmin": 0xfd00ea,
  "f32x4.pmax": 0xfd00eb,
  "f64x2.abs": 0xfd00ec,
  "f64x2.neg": 0xfd00ed,
  "f64x2.sqrt": 0xfd00ef,
  "f64x2.add": 0xfd00f0,
  "f64x2.sub": 0xfd00f1,
  "f64x2.mul": 0xfd00f2,
  "f64x2.div": 0xfd00f3,
  "f64x2.pmin": 0xfd00f6,
  "f64x2.pmax": 0xfd00f7,
} as const;

/** The opcodes of SIMD conversions. */
export const SIMD_CONVERSION = {
  "i32x4.trunc_sat_f32x4_s": 0xfd00f8,
  "i32x4.trunc_sat_f32x4_u": 0xfd00f9,
  "f32x4.convert_i32x4_s": 0xfd00fa,
  "f32x4.convert_i32x4_u": 0xfd00fb,
  "i32x4.trunc_sat_f64x2_s_zero": 0xfd00fc,
  "i32x4.trunc_sat_f64x2_u_zero": 0xfd00fd,
  "f64x2.convert_low_i32x4_s": 0xfd00fe,
  "f64x2.convert_low_i32x4_u": 0xfd00ff,
} as const;
