/** Arithmetic and comparisons during lowering: types and constant folding. */
import type { Node } from "acorn";
import { COMPARISON_FUNCTIONS, foldBinary } from "../fold.ts";
import type { BinaryOp, CompareOp } from "../ir.ts";
import { boolType, type Context, i32Type, u32Type } from "./context.ts";
import type { Draft, LateOp, LiteralOrigin } from "./draft.ts";
import { BOOL, I32, literalMask, NUMERIC, REAL, TypeVariable } from "./types.ts";

/**
 * Converts a constant as at run time. An integer keeps its low 32 bits, any other number is truncated and saturates,
 * and NaN gives 0.
 */
function convertConstant(value: number, unsigned: boolean): number {
  if (Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 32) return unsigned ? value >>> 0 : value | 0;
  const [least, most] = unsigned ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), least), most) + 0;
}

/**
 * Returns the expression for an operation such as `x | 0`, whose meaning depends on types that are inferred later. With
 * `negated`, the operation applies to −x.
 */
export function lateOperation(ctx: Context, node: Node, op: LateOp, args: readonly Draft[], negated = false): Draft {
  const unsigned = op === "toU32" || op === "divideToU32";
  const values = args.flatMap((arg) => (arg.kind === "const" && typeof arg.value === "number" ? [arg.value] : []));
  if (values.length === args.length && op !== "toReal") {
    // Integers divided by 0 give 0, as at run time; minifiers fold it to that, too.
    const quotient = values[1] === 0 ? 0 : values.reduce((a, b) => a / b);
    const value = convertConstant(negated ? -quotient : quotient, unsigned);
    return ctx.draft(node, unsigned ? u32Type() : i32Type(), { kind: "const", value });
  }
  const type = op === "toReal" ? new TypeVariable(REAL) : unsigned ? u32Type() : i32Type();
  return ctx.draft(node, type, { kind: "late", op, args, negated });
}

/** Returns the expression for an arithmetic operation. Constants are folded. */
export function arithmeticOf(ctx: Context, node: Node, op: BinaryOp, a: Draft, b: Draft): Draft {
  ctx.unify(node, a, b);
  if (a.kind === "const" && b.kind === "const") {
    const value = foldBinary(op, a.value as number, b.value as number);
    if (value !== null) return foldedConstant(ctx, node, op, value, a, b);
  }
  // i + 0, as unrolled loops leave behind; on reals it is not quite nothing (−0 + 0 is 0).
  const isNothing =
    (op === "add" || op === "sub") && b.kind === "const" && b.value === 0 && (a.type.possible & REAL) === 0;
  return isNothing ? a : ctx.draft(node, a.type, { kind: "binary", op, a, b });
}

/**
 * Returns the origin of a constant that was folded from the constants `folded`. It is undefined unless one of them
 * comes from a literal that may become a run-time value. `node` is the syntax node of the folded expression.
 */
export function literalOriginOf(node: Node, ...folded: readonly Draft[]): LiteralOrigin | undefined {
  for (const draft of folded)
    if (draft.kind === "const" && draft.origin !== undefined)
      return { literals: draft.origin.literals, start: node.start };
  return undefined;
}

/**
 * Returns the constant that an operation on constants gives. It has the operands' type; one that is known to be an
 * integer wraps, as at run time.
 */
function foldedConstant(ctx: Context, node: Node, op: BinaryOp, value: number, a: Draft, b: Draft): Draft {
  const { type } = a;
  if (type.narrow(literalMask(value)))
    return ctx.draft(node, type, { kind: "const", value, origin: literalOriginOf(node, a, b) });
  const [x, y] = [a, b].map((side) => (side as { value: number }).value) as [number, number];
  const exact = op === "mul" ? Math.imul(x, y) : value;
  return ctx.draft(node, type, { kind: "const", value: type.possible & I32 ? exact | 0 : exact >>> 0 });
}

/** Returns the expression for a division. Constants are folded. */
export function divisionOf(ctx: Context, node: Node, a: Draft, b: Draft): Draft {
  if (a.kind === "const" && b.kind === "const")
    return ctx.constant(node, (a.value as number) / (b.value as number), literalOriginOf(node, a, b));
  for (const side of [a, b])
    ctx.require(
      node,
      side,
      REAL,
      "a / b is a real division; integers divide as (a / b) | 0, or convert with gpu.real(…)",
    );
  ctx.unify(node, a, b);
  return ctx.draft(node, a.type, { kind: "binary", op: "div", a, b });
}

/** Returns the expression for a comparison. Constants are folded. */
export function comparisonOf(ctx: Context, node: Node, op: CompareOp, a: Draft, b: Draft): Draft {
  if (a.kind === "const" && b.kind === "const") return ctx.constant(node, COMPARISON_FUNCTIONS[op](a.value, b.value));
  const mask = op === "eq" || op === "ne" ? NUMERIC | BOOL : NUMERIC;
  for (const side of [a, b]) ctx.require(node, side, mask);
  ctx.unify(node, a, b);
  return ctx.draft(node, boolType(), { kind: "compare", op, a, b });
}
