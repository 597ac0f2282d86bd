/** Operators: their types, their constants, and what JavaScript's spellings mean. */
import type { BinaryExpression, Expression, Node, UnaryExpression } from "acorn";
import type { BinaryOp, CompareOp } from "../ir.ts";
import { lowerPower } from "./math-calls.ts";
import { notOf } from "./conditions.ts";
import { boolType, type Context, i32Type, type Scope, u32Type, type Value } from "./context.ts";
import type { Draft, DraftStatement, LateOp } from "./draft.ts";
import { lowerEffect, lowerOperands, lowerScalar, lowerValue, scalar } from "./expressions.ts";
import { foldBinary, foldCompare } from "../fold.ts";
import { BOOL, I32, INTEGER, literalMask, NUMERIC, REAL, TypeVariable } from "./types.ts";

export function lowerUnary(ctx: Context, node: UnaryExpression, scope: Scope, out: DraftStatement[]): Value {
  if (node.operator === "void") {
    lowerEffect(ctx, node.argument, scope, out);
    return { kind: "nothing" };
  }
  const a = lowerScalar(ctx, node.argument, scope, out);
  if (node.operator === "!") return scalar(notOf(ctx, node, a));
  if (node.operator === "+") return scalar(ctx.require(node.argument, a, NUMERIC));
  if (node.operator === "~") {
    ctx.require(node.argument, a, INTEGER);
    if (a.kind === "const") return { kind: "constant", value: ~(a.value as number) };
    if (a.kind === "unary" && a.op === "bitnot")
      return scalar(a.a.type === a.type ? a.a : lateOf(ctx, node, "toI32", [a.a]));
    return scalar(ctx.draft(node, i32Type(), { kind: "unary", op: "bitnot", a: lateOf(ctx, node, "toI32", [a]) }));
  }
  if (node.operator !== "-") throw ctx.fail(node, `${node.operator} is not part of the kernel language`);
  if (a.kind === "const") {
    ctx.require(node.argument, a, NUMERIC);
    return { kind: "constant", value: -(a.value as number) };
  }
  ctx.require(node.argument, a, REAL | I32, "negate an i32 or a real: gpu.i32(x)");
  return scalar(ctx.draft(node, a.type, { kind: "unary", op: "neg", a }));
}

const ARITHMETIC: Readonly<Record<string, BinaryOp>> = { "+": "add", "-": "sub", "*": "mul", "%": "rem" };
const BITWISE: Readonly<Record<string, BinaryOp>> = { "&": "and", "|": "or", "^": "xor", "<<": "shl" };
const COMPARISONS: Readonly<Record<string, CompareOp>> = {
  "<": "lt",
  "<=": "le",
  ">": "gt",
  ">=": "ge",
  "===": "eq",
  "==": "eq",
  "!==": "ne",
  "!=": "ne",
};

export function lowerBinary(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft {
  const equality = compareTexts(ctx, node, scope, out);
  if (equality) return equality;
  const late = lowerConversionIdiom(ctx, node, scope, out);
  if (late) return late;
  const [a, b] = lowerOperands(ctx, [node.left, node.right], scope, out) as [Draft, Draft];
  return binaryOf(ctx, node, node.operator, a, b, out);
}

/** `gpu.precision === "f32"`: decided now. */
function compareTexts(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft | null {
  if (!/^[!=]==?$/.test(node.operator)) return null;
  const isText = (side: Node): boolean =>
    side.type === "Literal" && typeof (side as { value?: unknown }).value === "string";
  const isTemplate = (side: Node): boolean => side.type === "TemplateLiteral";
  if (![node.left, node.right].some((side) => isText(side) || isTemplate(side))) return null;
  const left = lowerValue(ctx, node.left as Expression, scope, out);
  const right = lowerValue(ctx, node.right, scope, out);
  if (left.kind !== "text" || right.kind !== "text")
    throw ctx.fail(
      node,
      "a string is compared with something that is not one at compile time",
      "compare gpu.precision or a string of env",
    );
  return ctx.constant(node, (left.value === right.value) === node.operator.startsWith("="));
}

/** `x | 0`, `x >>> 0`, and with them `(a / b) | 0` and `(a / b) >>> 0`. */
function lowerConversionIdiom(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft | null {
  const isZero = node.right.type === "Literal" && node.right.value === 0;
  if (!isZero || (node.operator !== "|" && node.operator !== ">>>")) return null;
  const unsigned = node.operator === ">>>";
  let inner = node.left as Expression;
  while (inner.type === "ParenthesizedExpression") inner = inner.expression;
  if (inner.type === "BinaryExpression" && inner.operator === "/") {
    const [a, b] = lowerOperands(ctx, [inner.left, inner.right], scope, out) as [Draft, Draft];
    for (const [side, draft] of [
      [inner.left, a],
      [inner.right, b],
    ] as const)
      ctx.require(side, draft, NUMERIC);
    ctx.unify(inner, a, b);
    return lateOf(ctx, node, unsigned ? "divideToU32" : "divideToI32", [a, b]);
  }
  const x = ctx.require(inner, lowerScalar(ctx, inner, scope, out), NUMERIC);
  if (x.kind !== "const") return lateOf(ctx, node, unsigned ? "toU32" : "toI32", [x]);
  // A constant is JavaScript's own: (A + 0xffffffff) >>> 0 wraps.
  const value = x.value as number;
  return ctx.draft(node, unsigned ? u32Type() : i32Type(), {
    kind: "const",
    value: unsigned ? value >>> 0 : value | 0,
  });
}

/** As at run time: an integer keeps its low 32 bits, anything else truncates and saturates, NaN gives 0. */
function convertConstant(value: number, unsigned: boolean): number {
  if (Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 32) return unsigned ? value >>> 0 : value | 0;
  const [least, most] = unsigned ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
  return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), least), most) + 0;
}

export function lateOf(ctx: Context, node: Node, op: LateOp, args: readonly Draft[]): Draft {
  const unsigned = op === "toU32" || op === "divideToU32";
  const values = args.flatMap((arg) => (arg.kind === "const" && typeof arg.value === "number" ? [arg.value] : []));
  if (values.length === args.length && op !== "toReal") {
    const value = convertConstant(
      values.reduce((a, b) => a / b),
      unsigned,
    );
    return ctx.draft(node, unsigned ? u32Type() : i32Type(), { kind: "const", value });
  }
  const type = op === "toReal" ? new TypeVariable(REAL) : unsigned ? u32Type() : i32Type();
  return ctx.draft(node, type, { kind: "late", op, args });
}

/** The value of `a operator b`, for binary expressions and compound assignments alike. */
export function binaryOf(ctx: Context, node: Node, operator: string, a: Draft, b: Draft, out: DraftStatement[]): Draft {
  const comparison = COMPARISONS[operator];
  if (comparison) return compareOf(ctx, node, comparison, a, b);
  if (operator === "**") return lowerPower(ctx, node, a, b, out);
  if (operator in BITWISE || operator === ">>" || operator === ">>>") return bitwiseOf(ctx, node, operator, a, b);
  for (const side of [a, b]) ctx.require(node, side, NUMERIC);
  if (operator === "/") return divideOf(ctx, node, a, b);
  const op = ARITHMETIC[operator];
  if (!op) throw ctx.fail(node, `${operator} is not part of the kernel language`);
  return arithmeticOf(ctx, node, op, a, b);
}

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

/** A folded constant has its operands' type; one that is known to be an integer wraps, as at run time. */
function foldedConstant(ctx: Context, node: Node, op: BinaryOp, value: number, a: Draft, b: Draft): Draft {
  const { type } = a;
  if (type.narrow(literalMask(value))) return ctx.draft(node, type, { kind: "const", value });
  const [x, y] = [a, b].map((side) => (side as { value: number }).value) as [number, number];
  const exact = op === "mul" ? Math.imul(x, y) : value;
  return ctx.draft(node, type, { kind: "const", value: type.possible & I32 ? exact | 0 : exact >>> 0 });
}

function divideOf(ctx: Context, node: Node, a: Draft, b: Draft): Draft {
  if (a.kind === "const" && b.kind === "const") return ctx.constant(node, (a.value as number) / (b.value as number));
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

export function compareOf(ctx: Context, node: Node, op: CompareOp, a: Draft, b: Draft): Draft {
  if (a.kind === "const" && b.kind === "const") return ctx.constant(node, foldCompare(op, a.value, b.value));
  const mask = op === "eq" || op === "ne" ? NUMERIC | BOOL : NUMERIC;
  for (const side of [a, b]) ctx.require(node, side, mask);
  ctx.unify(node, a, b);
  return ctx.draft(node, boolType(), { kind: "compare", op, a, b });
}

/** Bit operations give an i32, `>>>` a u32, whichever integers they are made of: JavaScript's rule. */
function bitwiseOf(ctx: Context, node: Node, operator: string, a: Draft, b: Draft): Draft {
  for (const side of [a, b]) ctx.require(node, side, INTEGER, "bit operations take integers: gpu.i32(x)");
  if (a.kind === "const" && b.kind === "const") {
    const [x, y] = [a.value as number, b.value as number];
    if (operator === ">>>") return ctx.draft(node, u32Type(), { kind: "const", value: x >>> y });
    const value = operator === ">>" ? x >> y : foldBinary(BITWISE[operator], x, y)!;
    return ctx.draft(node, i32Type(), { kind: "const", value });
  }
  const unsigned = operator === ">>>";
  const op = operator === ">>" || unsigned ? "shr" : BITWISE[operator];
  const left = lateOf(ctx, node, unsigned ? "toU32" : "toI32", [a]);
  const right = lateOf(ctx, node, unsigned ? "toU32" : "toI32", [b]);
  return ctx.draft(node, left.type, { kind: "binary", op, a: left, b: right });
}
