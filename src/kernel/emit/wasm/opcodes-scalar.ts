/** The opcodes of control and variable instructions; WebAssembly core specification 2.0, section 5.4. */
export const CONTROL = {
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
  "local.get": 0x20,
  "local.set": 0x21,
  "local.tee": 0x22,
} as const;

/** The opcodes of scalar loads and stores. */
export const SCALAR_MEMORY = {
  "i32.load": 0x28,
  "i64.load": 0x29,
  "f32.load": 0x2a,
  "f64.load": 0x2b,
  "i32.store": 0x36,
  "i64.store": 0x37,
  "f32.store": 0x38,
  "f64.store": 0x39,
} as const;

/** The opcodes of scalar constants. */
export const CONSTANT = {
  "i32.const": 0x41,
  "i64.const": 0x42,
  "f32.const": 0x43,
  "f64.const": 0x44,
} as const;

/** The opcodes of integer arithmetic. */
export const INTEGER = {
  "i32.eqz": 0x45,
  "i32.eq": 0x46,
  "i32.ne": 0x47,
  "i32.lt_s": 0x48,
  "i32.lt_u": 0x49,
  "i32.gt_s": 0x4a,
  "i32.gt_u": 0x4b,
  "i32.le_s": 0x4c,
  "i32.le_u": 0x4d,
  "i32.ge_s": 0x4e,
  "i32.ge_u": 0x4f,
  "i32.clz": 0x67,
  "i32.popcnt": 0x69,
  "i32.add": 0x6a,
  "i32.sub": 0x6b,
  "i32.mul": 0x6c,
  "i32.and": 0x71,
  "i32.or": 0x72,
  "i32.xor": 0x73,
  "i32.shl": 0x74,
  "i32.shr_s": 0x75,
  "i32.shr_u": 0x76,
} as const;

/** The opcodes of floating-point arithmetic. */
export const FLOAT = {
  "f32.eq": 0x5b,
  "f32.ne": 0x5c,
  "f32.lt": 0x5d,
  "f32.gt": 0x5e,
  "f32.le": 0x5f,
  "f32.ge": 0x60,
  "f64.eq": 0x61,
  "f64.ne": 0x62,
  "f64.lt": 0x63,
  "f64.gt": 0x64,
  "f64.le": 0x65,
  "f64.ge": 0x66,
  "f32.abs": 0x8b,
  "f32.neg": 0x8c,
  "f32.ceil": 0x8d,
  "f32.floor": 0x8e,
  "f32.trunc": 0x8f,
  "f32.nearest": 0x90,
  "f32.sqrt": 0x91,
  "f32.add": 0x92,
  "f32.sub": 0x93,
  "f32.mul": 0x94,
  "f32.div": 0x95,
  "f32.min": 0x96,
  "f32.max": 0x97,
  "f32.copysign": 0x98,
  "f64.abs": 0x99,
  "f64.neg": 0x9a,
  "f64.ceil": 0x9b,
  "f64.floor": 0x9c,
  "f64.trunc": 0x9d,
  "f64.nearest": 0x9e,
  "f64.sqrt": 0x9f,
  "f64.add": 0xa0,
  "f64.sub": 0xa1,
  "f64.mul": 0xa2,
  "f64.div": 0xa3,
  "f64.min": 0xa4,
  "f64.max": 0xa5,
  "f64.copysign": 0xa6,
} as const;

/** The opcodes of scalar conversions. */
export const CONVERSION = {
  "f32.convert_i32_s": 0xb2,
  "f32.convert_i32_u": 0xb3,
  "f32.demote_f64": 0xb6,
  "f64.convert_i32_s": 0xb7,
  "f64.convert_i32_u": 0xb8,
  "f64.promote_f32": 0xbb,
  "i32.trunc_sat_f32_s": 0xfc0000,
  "i32.trunc_sat_f32_u": 0xfc0001,
  "i32.trunc_sat_f64_s": 0xfc0002,
  "i32.trunc_sat_f64_u": 0xfc0003,
} as const;

/** The opcodes of atomic instructions of the threads proposal. */
export const ATOMIC = {
  "i32.atomic.load": 0xfe0010,
  "i32.atomic.store": 0xfe0017,
  "i32.atomic.rmw.add": 0xfe001e,
  "i32.atomic.rmw.and": 0xfe002c,
  "i32.atomic.rmw.or": 0xfe0033,
  "i32.atomic.rmw.xor": 0xfe003a,
  "i32.atomic.rmw.xchg": 0xfe0041,
  "i32.atomic.rmw.cmpxchg": 0xfe0048,
} as const;
