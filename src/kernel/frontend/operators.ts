/** Lowers operators: their types, their constants, and the meanings of JavaScript's spellings. */
import type { BinaryExpression, Expression, Node, UnaryExpression } from "acorn";
import type { BinaryOp, CompareOp } from "../ir.ts";
import { arithmeticOf, comparisonOf, divisionOf, lateOperation } from "./arithmetic.ts";
import { lowerPower } from "./math-calls.ts";
import { type LowerBranch, lowerCondition, lowerConditional, negationOf } from "./conditions.ts";
import { type Context, i32Type, type Scope, u32Type, type Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerEffect, lowerOperands, lowerScalar, lowerValue, scalar, scalarOf } from "./expressions.ts";
import { foldBinary } from "../fold.ts";
import { withoutParentheses } from "./syntax.ts";
import { BOOL, I32, INTEGER, NUMERIC, REAL } from "./types.ts";

/** Lowers a unary operation. */
export function lowerUnary(ctx: Context, node: UnaryExpression, scope: Scope, out: DraftStatement[]): Value {
  if (node.operator === "void") {
    lowerEffect(ctx, node.argument, scope, out);
    return { kind: "nothing" };
  }
  if (node.operator === "!") return scalar(negationOf(ctx, node, lowerCondition(ctx, node.argument, scope, out)));
  if (node.operator === "~") return bitNotOf(ctx, node, lowerWord(ctx, node.argument, scope, out), out);
  const a = numberOf(ctx, node.argument, lowerScalar(ctx, node.argument, scope, out));
  if (node.operator === "+") return scalar(ctx.require(node.argument, a, NUMERIC));
  if (node.operator !== "-") throw ctx.fail(node, `${node.operator} is not part of the kernel language`);
  if (a.kind === "const") {
    ctx.require(node.argument, a, NUMERIC);
    return { kind: "constant", value: -(a.value as number), origin: a.origin };
  }
  ctx.require(node.argument, a, REAL | I32, "negate an i32 or a real: gpu.i32(x)");
  return scalar(ctx.draft(node, a.type, { kind: "unary", op: "neg", a }));
}

function bitNotOf(ctx: Context, node: UnaryExpression, operand: Draft, out: DraftStatement[]): Value {
  const a = wordOf(ctx, node.argument, numberOf(ctx, node.argument, operand), out);
  ctx.require(node.argument, a, INTEGER);
  if (a.kind === "const") return { kind: "constant", value: ~(a.value as number) };
  if (a.kind === "unary" && a.op === "bitnot")
    return scalar(a.a.type === a.type ? a.a : lateOperation(ctx, node, "toI32", [a.a]));
  return scalar(ctx.draft(node, i32Type(), { kind: "unary", op: "bitnot", a: lateOperation(ctx, node, "toI32", [a]) }));
}

/**
 * Returns a bool as 1 or 0 where a number is needed, as in JavaScript. Minifiers write `+c` for `c ? 1 : 0` and `2 * c`
 * for `c ? 2 : 0`.
 */
function numberOf(ctx: Context, node: Node, draft: Draft): Draft {
  if (draft.type.possible !== BOOL) return draft;
  if (draft.kind === "const") return ctx.constant(node, Number(draft.value));
  const [one, zero] = [ctx.constant(node, 1), ctx.constant(node, 0)];
  ctx.unify(node, one, zero);
  return ctx.draft(node, one.type, { kind: "select", condition: draft, a: one, b: zero });
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

/** Lowers a binary operation. */
export function lowerBinary(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft {
  const equality = compareUndefined(ctx, node, scope, out) ?? compareTexts(ctx, node, scope, out);
  if (equality) return equality;
  const late = lowerConversionIdiom(ctx, node, scope, out);
  if (late) return late;
  const operands = lowerOperands(ctx, [node.left, node.right], scope, out, operandLoweringOf(node.operator));
  return binaryOperationOf(ctx, node, node.operator, operands[0], operands[1], out);
}

/** Lowers a comparison of an entry of `env` with undefined, which is decided at compile time. */
function compareUndefined(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft | null {
  if (!/^[!=]==?$/.test(node.operator)) return null;
  const [left, right] = [node.left as Expression, node.right];
  const other = isUndefined(right, scope) ? left : isUndefined(left, scope) ? right : null;
  if (other === null) return null;
  const value = lowerValue(ctx, other, scope, out);
  if (value.kind === "nothing") throw ctx.fail(other, "there is no value here", "compare an entry of `env`");
  return ctx.constant(node, (value.kind === "undefined") === node.operator.startsWith("="));
}

/** Tells whether an expression is `undefined`, or `void 0` as minifiers write it. */
function isUndefined(node: Expression, scope: Scope): boolean {
  const inner = withoutParentheses(node);
  if (inner.type === "Identifier") return inner.name === "undefined" && scope.find("undefined") === undefined;
  return inner.type === "UnaryExpression" && inner.operator === "void" && inner.argument.type === "Literal";
}

/** Lowers a comparison of texts such as `gpu.precision === "f32"`, which is decided at compile time. */
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

/**
 * Lowers the conversions `x | 0` (`0 | x` after minification) and `x >>> 0`, and with them `(a / b) | 0` and `(a / b)
 * >>> 0`.
 */
function lowerConversionIdiom(ctx: Context, node: BinaryExpression, scope: Scope, out: DraftStatement[]): Draft | null {
  const inner = convertedBy(node);
  if (inner === null) return null;
  const unsigned = node.operator === ">>>";
  const quotient = lowerQuotient(ctx, inner, scope, out);
  if (quotient !== null) {
    const { a, b, negated } = quotient;
    return lateOperation(ctx, node, unsigned ? "divideToU32" : "divideToI32", [a, b], negated);
  }
  const x = ctx.require(inner, numberOf(ctx, inner, lowerScalar(ctx, inner, scope, out)), NUMERIC);
  if (x.kind !== "const") return lateOperation(ctx, node, unsigned ? "toU32" : "toI32", [x]);
  // A constant is JavaScript's own: (A + 0xffffffff) >>> 0 wraps.
  const value = x.value as number;
  return ctx.draft(node, unsigned ? u32Type() : i32Type(), {
    kind: "const",
    value: unsigned ? value >>> 0 : value | 0,
  });
}

/** Returns the operand that `x | 0`, `0 | x` or `x >>> 0` converts. */
function convertedBy({ left, operator, right }: BinaryExpression): Expression | null {
  const isZero = (side: Node): boolean => side.type === "Literal" && (side as { value?: unknown }).value === 0;
  if ((operator === "|" || operator === ">>>") && isZero(right)) return left as Expression;
  return operator === "|" && isZero(left) ? right : null;
}

interface Quotient {
  readonly a: Draft;
  readonly b: Draft;
  readonly negated: boolean;
}

/**
 * Lowers the operands of `a / b`, or of `-(a / b)`, which minifiers write for `a / -1`. Returns null for any other
 * expression.
 */
function lowerQuotient(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Quotient | null {
  const outer = withoutParentheses(node);
  const negated = outer.type === "UnaryExpression" && outer.operator === "-";
  const inner = negated ? withoutParentheses(outer.argument) : outer;
  if (inner.type !== "BinaryExpression" || inner.operator !== "/") return null;
  const [left, right] = lowerOperands(ctx, [inner.left, inner.right], scope, out) as [Draft, Draft];
  const a = ctx.require(inner.left, numberOf(ctx, inner.left, left), NUMERIC);
  const b = ctx.require(inner.right, numberOf(ctx, inner.right, right), NUMERIC);
  ctx.unify(inner, a, b);
  return { a, b, negated };
}

const isBitwise = (operator: string): boolean => operator in BITWISE || operator === ">>" || operator === ">>>";

/**
 * Returns the function that lowers the operands of an operator. Those of a bitwise operator are converted to 32-bit
 * integers.
 */
export const operandLoweringOf = (operator: string): typeof lowerScalar =>
  isBitwise(operator) ? lowerWord : lowerScalar;

/**
 * Lowers an operand of a bitwise operator, which in JavaScript converts it. Minifiers write `(a / b | 0) & 3` as `a / b
 * & 3`, and `(x | 0) & 3` as `x & 3`. Quotients of integers are therefore converted here, and reals in `wordOf`.
 */
function lowerWord(ctx: Context, node: Node, scope: Scope, out: DraftStatement[]): Draft {
  const inner = withoutParentheses(node as Expression);
  if (inner.type === "ConditionalExpression") {
    // The sides may be integers of different types: `(c ? w | 0 : i) & 3` comes as `(c ? w : i) & 3`.
    const side: LowerBranch = (part, branch) => {
      const word = wordOf(ctx, part, numberOf(ctx, part, lowerWord(ctx, part, scope, branch)), branch);
      return scalar(lateOperation(ctx, part, "toI32", [ctx.require(part, word, INTEGER)]));
    };
    return scalarOf(ctx, node, lowerConditional(ctx, inner, scope, out, side));
  }
  const quotient = lowerQuotient(ctx, inner, scope, out);
  if (quotient === null) return lowerScalar(ctx, node, scope, out);
  const { a, b, negated } = quotient;
  if (a.type.possible !== REAL) return lateOperation(ctx, node, "divideToI32", [a, b], negated);
  const ratio = divisionOf(ctx, node, a, b);
  return negated ? ctx.draft(node, ratio.type, { kind: "unary", op: "neg", a: ratio }) : ratio;
}

/** Converts a real to the 32-bit integer that JavaScript's bitwise operators take, for reals from −2³¹ to 2³². */
function wordOf(ctx: Context, node: Node, operand: Draft, out: DraftStatement[]): Draft {
  if (operand.type.possible !== REAL) return operand;
  if (operand.kind === "const") return ctx.constant(node, (operand.value as number) | 0);
  const x = ctx.materialise(node, operand, out);
  const condition = comparisonOf(ctx, node, "ge", x, ctx.constant(node, 2 ** 31));
  const a = lateOperation(ctx, node, "toI32", [lateOperation(ctx, node, "toU32", [x])]);
  return ctx.draft(node, i32Type(), { kind: "select", condition, a, b: lateOperation(ctx, node, "toI32", [x]) });
}

/**
 * Returns the expression for a binary operator applied to two lowered operands, for binary expressions and compound
 * assignments.
 */
export function binaryOperationOf(
  ctx: Context,
  node: Node,
  operator: string,
  left: Draft,
  right: Draft,
  out: DraftStatement[],
): Draft {
  const comparison = COMPARISONS[operator];
  const isExact = operator === "===" || operator === "!==" || left.type.possible === right.type.possible;
  if (isExact && (comparison === "eq" || comparison === "ne")) return comparisonOf(ctx, node, comparison, left, right);
  const [a, b] = [numberOf(ctx, node, left), numberOf(ctx, node, right)];
  if (comparison) return comparisonOf(ctx, node, comparison, a, b);
  if (operator === "**") return lowerPower(ctx, node, a, b, out);
  if (isBitwise(operator)) return bitwiseOf(ctx, node, operator, wordOf(ctx, node, a, out), wordOf(ctx, node, b, out));
  for (const side of [a, b]) ctx.require(node, side, NUMERIC);
  if (operator === "/") return divisionOf(ctx, node, a, b);
  const op = ARITHMETIC[operator];
  if (!op) throw ctx.fail(node, `${operator} is not part of the kernel language`);
  return arithmeticOf(ctx, node, op, a, b);
}

/**
 * Returns the expression for a bitwise operator. By JavaScript's rule its result is an i32, for `>>>` a u32, whatever
 * the types of its operands.
 */
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
  const left = lateOperation(ctx, node, unsigned ? "toU32" : "toI32", [a]);
  const right = lateOperation(ctx, node, unsigned ? "toU32" : "toI32", [b]);
  return ctx.draft(node, left.type, { kind: "binary", op, a: left, b: right });
}
