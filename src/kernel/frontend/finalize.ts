/**
 * The last step from drafts to IR. Every type is known now, so that conversions and integer constants get their final
 * form.
 */
import type { Expr, ScalarType, Stmt } from "../ir.ts";
import type { Context } from "./context.ts";
import type { Draft, DraftStatement, LateOp } from "./draft.ts";
import { liftedValueOf } from "./literals.ts";
import { errorAt } from "./source.ts";

/** Converts lowered statements to IR, after the types of all expressions have been inferred. */
export function finalizeStatements(ctx: Context, statements: readonly DraftStatement[]): Stmt[] {
  return statements.flatMap((s) => (s.kind === "call" ? finalizeStatements(ctx, s.body) : finalizeStatement(ctx, s)));
}

function finalizeStatement(ctx: Context, s: Exclude<DraftStatement, { kind: "call" }>): Stmt {
  const expr = (draft: Draft): Expr => finalizeExpr(ctx, draft);
  const list = (statements: readonly DraftStatement[]): Stmt[] => finalizeStatements(ctx, statements);
  const { place } = s;
  switch (s.kind) {
    case "assign":
      return { kind: "assign", local: s.local, value: expr(s.value), place };
    case "store":
      return { kind: "store", array: s.array, index: indexExpr(expr(s.index)), value: expr(s.value), place };
    case "if":
      return { kind: "if", condition: expr(s.condition), then: list(s.then), else: list(s.else), place };
    case "loop":
      return {
        kind: "loop",
        init: list(s.init),
        test: s.test && expr(s.test),
        body: list(s.body),
        update: list(s.update),
        place,
      };
    case "atomic":
      return {
        ...s,
        index: indexExpr(expr(s.index)),
        value: s.value && expr(s.value),
        expected: s.expected && expr(s.expected),
      };
    case "subgroup":
      return { ...s, value: expr(s.value), operand: s.operand && expr(s.operand) };
    case "fetch":
      return { ...s, index: indexExpr(expr(s.index)), fromIndex: indexExpr(expr(s.fromIndex)) };
    case "barrier":
      return s;
    case "break":
    case "continue":
      return { kind: s.kind, place };
    default:
      return s satisfies never;
  }
}

/** Converts a lowered expression to IR, after its type has been inferred. */
export function finalizeExpr(ctx: Context, d: Draft): Expr {
  const expr = (draft: Draft): Expr => finalizeExpr(ctx, draft);
  const type = d.type.resolve();
  switch (d.kind) {
    case "const": {
      const value = type === "real" ? liftedValueOf(d) : undefined;
      return value === undefined ? constantExpr(ctx, d, d.value, type) : expr(value);
    }
    case "local":
      return { kind: "local", type, id: d.id };
    case "param":
      return { kind: "param", type, id: d.id };
    case "length":
      return { kind: "length", type: "i32", array: d.array };
    case "load":
      return { kind: "load", type: type as "real" | "i32" | "u32", array: d.array, index: indexExpr(expr(d.index)) };
    case "unary":
      return { kind: "unary", type, op: d.op, a: expr(d.a) };
    case "binary":
      return { kind: "binary", type, op: d.op, a: expr(d.a), b: expr(d.b) };
    case "compare":
      return { kind: "compare", type: "bool", op: d.op, a: expr(d.a), b: expr(d.b) };
    case "logical":
      return { kind: "logical", type: "bool", op: d.op, a: expr(d.a), b: expr(d.b) };
    case "select":
      return { kind: "select", type, condition: expr(d.condition), a: expr(d.a), b: expr(d.b) };
    case "intrinsic":
      return { kind: "intrinsic", type, op: d.op, args: d.args.map(expr) };
    case "index":
      return { kind: "index", type: "i32", op: d.op };
    case "late":
      return lateExpr(d.op, d.args.map(expr), type, d.negated);
    default:
      return d satisfies never;
  }
}

/** Converts an index to i32, the type of indexes in the IR. */
function indexExpr(index: Expr): Expr {
  return index.type === "i32" ? index : { kind: "convert", type: "i32", a: index };
}

function constantExpr(ctx: Context, d: Draft, value: number | boolean, type: ScalarType): Expr {
  if (typeof value === "number" && type !== "real") {
    const [least, most] = type === "u32" ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
    if (!Number.isInteger(value) || value < least || value > most) {
      throw errorAt(
        d.unit,
        d.start,
        `the constant ${value} is out of range for ${type}`,
        "use a constant that fits the type",
      );
    }
  }
  if (typeof value === "number" && type !== "real") return { kind: "const", type, value: value + 0 }; // −0 is 0
  // Rounded once, here, so that every back end and every cache key sees the same number.
  const rounded = typeof value === "number" && type === "real" && ctx.precision === "f32" ? Math.fround(value) : value;
  return { kind: "const", type, value: rounded };
}

function lateExpr(op: LateOp, args: readonly Expr[], type: ScalarType, negated: boolean): Expr {
  const [a, b] = args as [Expr, Expr];
  if (op === "toReal" || op === "toI32" || op === "toU32") return convertTo(type, a);
  const integral = a.type === "i32" || a.type === "u32";
  const quotient: Expr = { kind: "binary", type: a.type, op: "div", a, b };
  if (!negated) return integral ? convertTo(type, quotient) : { kind: "convert", type, a: quotient };
  // Integers are negated as what they become, and wrap; reals before, and saturate.
  if (!integral) return { kind: "convert", type, a: { kind: "unary", type: a.type, op: "neg", a: quotient } };
  return { kind: "binary", type, op: "sub", a: { kind: "const", type, value: 0 }, b: convertTo(type, quotient) };
}

function convertTo(type: ScalarType, a: Expr): Expr {
  if (a.type === type) return a;
  if (a.kind === "const" && type === "real") return { kind: "const", type, value: Number(a.value) };
  return { kind: "convert", type, a };
}
