/** The functions that back ends implement: their arguments, results, and constants. */
import type { CallExpression, Node } from "acorn";
import type { IntrinsicOp } from "../ir.ts";
import { boolType, type Context, i32Type, u32Type } from "./context.ts";
import type { Draft } from "./draft.ts";
import { I32, INTEGER, REAL, U32 } from "./types.ts";

/**
 * The signature of an intrinsic function: the allowed types of its arguments as bits, and the type of its result
 * ("same" for that of the first argument).
 */
interface Signature {
  readonly op: IntrinsicOp;
  readonly args: readonly number[];
  readonly result: "same" | "i32" | "u32" | "bool";
}
const REAL_TO_REAL = (op: IntrinsicOp): Signature => ({ op, args: [REAL], result: "same" });
/** The signatures of `Math`'s members that map to an intrinsic. */
export const MATH_INTRINSICS: Readonly<Record<string, Signature>> = {
  sqrt: REAL_TO_REAL("sqrt"),
  floor: REAL_TO_REAL("floor"),
  ceil: REAL_TO_REAL("ceil"),
  trunc: REAL_TO_REAL("trunc"),
  abs: { op: "abs", args: [REAL | I32], result: "same" },
  clz32: { op: "clz", args: [INTEGER], result: "i32" },
};
/** The signatures of `Number`'s members that map to an intrinsic. */
export const NUMBER_INTRINSICS: Readonly<Record<string, Signature>> = {
  isNaN: { op: "isNaN", args: [REAL], result: "bool" },
  isFinite: { op: "isFinite", args: [REAL], result: "bool" },
};
/** The signatures of `gpu`'s members that map to an intrinsic. */
export const GPU_INTRINSICS: Readonly<Record<string, Signature>> = {
  nearest: REAL_TO_REAL("nearest"),
  reciprocal: REAL_TO_REAL("reciprocal"),
  positivePart: REAL_TO_REAL("positivePart"),
  exponent: { op: "exponent", args: [REAL], result: "i32" },
  significand: REAL_TO_REAL("significand"),
  headBits: REAL_TO_REAL("headBits"),
  copysign: { op: "copysign", args: [REAL, REAL], result: "same" },
  ldexp: { op: "ldexp", args: [REAL, I32], result: "same" },
  mulHigh: { op: "mulHigh", args: [U32, U32], result: "u32" },
  popcount: { op: "popcount", args: [INTEGER], result: "i32" },
};

/**
 * Returns the entry `name` of a record; undefined if the record does not have it itself but inherits it, such as
 * `toString`.
 */
export function ownEntry<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/**
 * Returns the arguments of a call after a check of their number and types. `masks` has the allowed types of each
 * argument as bits (`types.ts`), and `name` is the function's name in error messages.
 */
export function checkedArguments(
  ctx: Context,
  node: Node,
  name: string,
  operands: readonly Draft[],
  masks: readonly number[],
): readonly Draft[] {
  if (operands.length !== masks.length)
    throw ctx.fail(node, `${name} takes ${masks.length} argument(s), got ${operands.length}`);
  operands.forEach((operand, k) => ctx.require((node as CallExpression).arguments?.[k] ?? node, operand, masks[k]));
  return operands;
}

const { sqrt, abs, floor, ceil, trunc } = Math;
/** The intrinsic functions of one argument that are evaluated where it is a constant. */
const FOLDED: Readonly<Record<string, (a: number) => number>> = { sqrt, abs, floor, ceil, trunc };

/** Returns the expression for a call of an intrinsic function. Constants are folded. */
export function intrinsicOf(
  ctx: Context,
  node: Node,
  name: string,
  signature: Signature,
  operands: readonly Draft[],
): Draft {
  const args = checkedArguments(ctx, node, name, operands, signature.args);
  const [a] = args;
  if (a?.kind === "const" && args.length === 1) {
    const folded = ownEntry(FOLDED, signature.op)?.(a.value as number);
    if (folded !== undefined) return ctx.constant(node, folded, a.origin && { ...a.origin, start: node.start });
  }
  const type =
    signature.result === "same" ? a.type : { i32: i32Type, u32: u32Type, bool: boolType }[signature.result]();
  return ctx.draft(node, type, { kind: "intrinsic", op: signature.op, args });
}
