/**
 * The instructions that the code generator uses, by their names in the WebAssembly text format. Prefixed opcodes have
 * their prefix in bits 16–23.
 */
import { ATOMIC, CONSTANT, CONTROL, CONVERSION, FLOAT, INTEGER, SCALAR_MEMORY } from "./opcodes-scalar.ts";
import {
  SIMD_BITS,
  SIMD_COMPARE,
  SIMD_CONVERSION,
  SIMD_FLOAT,
  SIMD_INTEGER,
  SIMD_LANES,
  SIMD_MEMORY,
} from "./opcodes-simd.ts";

/** The opcodes of all WebAssembly instructions that the code generator uses, by their names. */
export const OPCODES = {
  ...CONTROL,
  ...SCALAR_MEMORY,
  ...CONSTANT,
  ...INTEGER,
  ...FLOAT,
  ...CONVERSION,
  ...ATOMIC,
  ...SIMD_MEMORY,
  ...SIMD_LANES,
  ...SIMD_COMPARE,
  ...SIMD_BITS,
  ...SIMD_INTEGER,
  ...SIMD_FLOAT,
  ...SIMD_CONVERSION,
} as const;

type Without<T, U> = Exclude<keyof T, keyof U>;

/** The name of a WebAssembly instruction, such as "f64x2.add". */
export type OpName = keyof typeof OPCODES;
/** The names of instructions that take an address, with alignment and offset as immediates. */
export type MemoryOp = keyof typeof SCALAR_MEMORY | keyof typeof SIMD_MEMORY | keyof typeof ATOMIC;
/** The names of instructions without immediates. */
export type PlainOp =
  | keyof typeof INTEGER
  | keyof typeof FLOAT
  | keyof typeof CONVERSION
  | keyof typeof SIMD_COMPARE
  | keyof typeof SIMD_BITS
  | keyof typeof SIMD_INTEGER
  | keyof typeof SIMD_FLOAT
  | keyof typeof SIMD_CONVERSION
  | "i32x4.splat"
  | "i64x2.splat"
  | "f32x4.splat"
  | "f64x2.splat"
  | "select"
  | "drop"
  | "return"
  | "unreachable";
/** The names of instructions with a lane number as immediate. */
export type LaneOp = Exclude<Without<typeof SIMD_LANES, object>, "v128.const" | "i8x16.shuffle" | `${string}.splat`>;

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
