/** Lowers calls of `Math` and of functions that are written in the kernel language themselves. */
import type { CallExpression, Node } from "acorn";
import { mathFunctions } from "../math/index.ts";
import { arithmeticOf, comparisonOf, divisionOf, lateOperation, literalOriginOf } from "./arithmetic.ts";
import { boolType, type Context, i32Type, isUserWritten } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { inlineScalars } from "./inline.ts";
import { checkedArguments, intrinsicOf, MATH_INTRINSICS, ownEntry } from "./intrinsics.ts";
import { INTEGER, NUMERIC, REAL } from "./types.ts";

/** A function that lowers the operands of a call and returns their expressions. */
export type OperandLowering = () => Draft[];

/** Lowers a call of a member of `Math`. */
export function lowerMathCall(
  ctx: Context,
  node: Node,
  name: string,
  operands: OperandLowering,
  out: DraftStatement[],
): Draft {
  const signature = ownEntry(MATH_INTRINSICS, name);
  if (signature) return intrinsicOf(ctx, node, `Math.${name}`, signature, operands());
  switch (name) {
    case "min":
    case "max":
      return extremumOf(ctx, node, name, operands());
    case "imul": {
      const [a, b] = checkedArguments(ctx, node, "Math.imul", operands(), [INTEGER, INTEGER]) as [Draft, Draft];
      if (a.kind === "const" && b.kind === "const")
        return ctx.draft(node, i32Type(), { kind: "const", value: Math.imul(a.value as number, b.value as number) });
      return arithmeticOf(
        ctx,
        node,
        "mul",
        lateOperation(ctx, node, "toI32", [a]),
        lateOperation(ctx, node, "toI32", [b]),
      );
    }
    case "round":
      return roundOf(ctx, node, checkedArguments(ctx, node, "Math.round", operands(), [REAL])[0], out);
    case "sign":
      return signOf(ctx, node, checkedArguments(ctx, node, "Math.sign", operands(), [REAL])[0], out);
    case "pow": {
      const [a, b] = checkedArguments(ctx, node, "Math.pow", operands(), [NUMERIC, NUMERIC]) as [Draft, Draft];
      return lowerPower(ctx, node, a, b, out);
    }
    default:
      return lowerLibraryCall(ctx, node, `Math.${name}`, name, operands(), out);
  }
}

/**
 * Lowers a call of a mathematical function that is itself written in the kernel language, such as `exp`. `shown` is the
 * function's name in error messages.
 */
export function lowerLibraryCall(
  ctx: Context,
  node: Node,
  shown: string,
  name: string,
  operands: readonly Draft[],
  out: DraftStatement[],
): Draft {
  const found = ownEntry(mathFunctions, name);
  if (!found)
    throw ctx.fail(
      node,
      `${shown} is an unknown function`,
      isUserWritten(ctx.frame)
        ? `there are, besides those of arithmetic: ${Object.keys(mathFunctions).toSorted().join(", ")}`
        : "see FEATURES.md for the functions there are, or write it with fn({ … })",
    );
  return inlineScalars(ctx, node, found, operands, out);
}

function extremumOf(ctx: Context, node: Node, op: "min" | "max", operands: readonly Draft[]): Draft {
  if (operands.length === 0) throw ctx.fail(node, `Math.${op} takes at least one argument`);
  for (const [k, operand] of operands.entries())
    ctx.require((node as CallExpression).arguments[k] ?? node, operand, NUMERIC);
  return operands.reduce((a, b) => arithmeticOf(ctx, node, op, a, b));
}

/** Lowers JavaScript's rounding, which rounds halves up. floor(x + ½) would be wrong for 0.49999999999999994. */
function roundOf(ctx: Context, node: Node, x: Draft, out: DraftStatement[]): Draft {
  const value = ctx.materialise(node, x, out);
  const floor = ctx.materialise(
    node,
    ctx.draft(node, value.type, { kind: "intrinsic", op: "floor", args: [value] }),
    out,
  );
  const half = comparisonOf(ctx, node, "ge", arithmeticOf(ctx, node, "sub", value, floor), ctx.constant(node, 0.5));
  const rounded = ctx.draft(node, value.type, {
    kind: "select",
    condition: half,
    a: arithmeticOf(ctx, node, "add", floor, realOne(ctx, node)),
    b: floor,
  });
  // −0.2 rounds to −0.
  return ctx.draft(node, value.type, { kind: "intrinsic", op: "copysign", args: [rounded, value] });
}

function signOf(ctx: Context, node: Node, x: Draft, out: DraftStatement[]): Draft {
  const value = ctx.materialise(node, x, out);
  const one = ctx.draft(node, value.type, { kind: "intrinsic", op: "copysign", args: [realOne(ctx, node), value] });
  const nonzero = comparisonOf(ctx, node, "ne", value, ctx.constant(node, 0));
  const isNumber = comparisonOf(ctx, node, "eq", value, value);
  const condition = ctx.draft(node, boolType(), { kind: "logical", op: "and", a: nonzero, b: isNumber });
  return ctx.draft(node, value.type, { kind: "select", condition, a: one, b: value });
}

function realOne(ctx: Context, node: Node): Draft {
  return ctx.require(node, ctx.constant(node, 1), REAL);
}

const LARGEST_UNROLLED_POWER = 16;

/** Lowers x ** y. Small whole constant powers become multiplications, other powers calls of `pow`. */
export function lowerPower(ctx: Context, node: Node, a: Draft, b: Draft, out: DraftStatement[]): Draft {
  if (a.kind === "const" && b.kind === "const")
    return ctx.constant(node, (a.value as number) ** (b.value as number), literalOriginOf(node, a, b));
  ctx.require(node, a, REAL);
  ctx.require(node, b, REAL);
  const exponent = b.kind === "const" ? (b.value as number) : NaN;
  if (!Number.isInteger(exponent) || Math.abs(exponent) > LARGEST_UNROLLED_POWER || exponent === 0)
    return inlineScalars(ctx, node, mathFunctions["pow"], [a, constantOf(ctx, node, b)], out);
  const power = integerPower(ctx, node, ctx.materialise(node, a, out), Math.abs(exponent), out);
  return exponent > 0 ? power : divisionOf(ctx, node, realOne(ctx, node), power);
}

/** Returns a constant that is not replaced by a run-time value, because pow is much faster for a constant exponent. */
function constantOf(ctx: Context, node: Node, draft: Draft): Draft {
  return draft.kind === "const" ? ctx.draft(node, draft.type, { kind: "const", value: draft.value }) : draft;
}

function integerPower(ctx: Context, node: Node, x: Draft, exponent: number, out: DraftStatement[]): Draft {
  if (exponent === 1) return x;
  const half = ctx.materialise(node, integerPower(ctx, node, x, exponent >> 1, out), out);
  const square = arithmeticOf(ctx, node, "mul", half, half);
  return exponent % 2 === 0 ? square : arithmeticOf(ctx, node, "mul", square, x);
}
