/** Traversal of the IR, shared by analyses and back ends. */
import type { Expr, Stmt } from "./ir.ts";
import { memoizeBy } from "../base/memoize.ts";

/** Returns the direct subexpressions of an expression. */
export function subexpressions(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case "const":
    case "local":
    case "param":
    case "length":
    case "index":
      return [];
    case "load":
      return [e.index];
    case "unary":
    case "convert":
      return [e.a];
    case "binary":
    case "compare":
    case "logical":
      return [e.a, e.b];
    case "select":
      return [e.condition, e.a, e.b];
    case "intrinsic":
      return e.args;
    default:
      return e satisfies never;
  }
}

/** Returns an expression with `f` applied to its direct subexpressions. */
export function mapSubexpressions(e: Expr, f: (child: Expr) => Expr): Expr {
  switch (e.kind) {
    case "const":
    case "local":
    case "param":
    case "length":
    case "index":
      return e;
    case "load":
      return { ...e, index: f(e.index) };
    case "unary":
    case "convert":
      return { ...e, a: f(e.a) };
    case "binary":
    case "compare":
    case "logical":
      return { ...e, a: f(e.a), b: f(e.b) };
    case "select":
      return { ...e, condition: f(e.condition), a: f(e.a), b: f(e.b) };
    case "intrinsic":
      return { ...e, args: e.args.map(f) };
    default:
      return e satisfies never;
  }
}

/**
 * Returns the expressions that a statement itself evaluates, in order. Those of statements nested inside it are not
 * included.
 */
export function expressionsOf(s: Stmt): readonly Expr[] {
  switch (s.kind) {
    case "assign":
      return [s.value];
    case "store":
      return [s.index, s.value];
    case "fetch":
      return [s.index, s.fromIndex];
    case "if":
      return [s.condition];
    case "loop":
      return s.test === null ? [] : [s.test];
    case "break":
    case "continue":
    case "barrier":
      return [];
    case "atomic":
      return [s.index, s.value, s.expected].filter((x) => x !== null);
    case "subgroup":
      return s.operand === null ? [s.value] : [s.value, s.operand];
    default:
      return s satisfies never;
  }
}

/**
 * Returns the lists of statements that are nested in a statement, such as a loop's body, in the order in which they
 * first run.
 */
export function nestedLists(s: Stmt): readonly (readonly Stmt[])[] {
  if (s.kind === "if") return [s.then, s.else];
  if (s.kind === "loop") return [s.init, s.body, s.update];
  return [];
}

/**
 * Returns a statement with `expression` applied to the expressions that it itself evaluates, and `list` applied to the
 * lists of statements nested in it.
 */
export function mapStatement(s: Stmt, expression: (e: Expr) => Expr, list: (list: readonly Stmt[]) => Stmt[]): Stmt {
  const maybe = (e: Expr | null): Expr | null => (e === null ? null : expression(e));
  switch (s.kind) {
    case "assign":
      return { ...s, value: expression(s.value) };
    case "store":
      return { ...s, index: expression(s.index), value: expression(s.value) };
    case "fetch":
      return { ...s, index: expression(s.index), fromIndex: expression(s.fromIndex) };
    case "if":
      return { ...s, condition: expression(s.condition), then: list(s.then), else: list(s.else) };
    case "loop":
      return { ...s, init: list(s.init), test: maybe(s.test), body: list(s.body), update: list(s.update) };
    case "break":
    case "continue":
    case "barrier":
      return s;
    case "atomic":
      return { ...s, index: expression(s.index), value: maybe(s.value), expected: maybe(s.expected) };
    case "subgroup":
      return { ...s, value: expression(s.value), operand: maybe(s.operand) };
    default:
      return s satisfies never;
  }
}

/** Returns the number of the local variable that a statement itself assigns, or null if it assigns none. */
export function assignedLocal(s: Stmt): number | null {
  if (s.kind === "assign") return s.local;
  if (s.kind === "atomic" || s.kind === "subgroup") return s.result;
  return null;
}

/** Tells whether a test holds for any statement, including nested ones. */
export function someStmt(list: readonly Stmt[], test: (s: Stmt) => boolean): boolean {
  return list.some((s) => test(s) || nestedLists(s).some((body) => someStmt(body, test)));
}

/** Tells whether a test holds for an expression or any of its subexpressions. */
export function someExpr(e: Expr, test: (e: Expr) => boolean): boolean {
  return test(e) || subexpressions(e).some((child) => someExpr(child, test));
}

/** Calls a function for each statement, including nested ones. */
export function forEachStmt(list: readonly Stmt[], f: (s: Stmt) => void): void {
  for (const s of list) {
    f(s);
    for (const body of nestedLists(s)) forEachStmt(body, f);
  }
}

/** Calls a function for an expression and each of its subexpressions. */
export function forEachExpr(e: Expr, f: (e: Expr) => void): void {
  f(e);
  for (const child of subexpressions(e)) forEachExpr(child, f);
}

/**
 * Tells whether a test holds for any `break` or `continue` in `list` that belongs to the loop around the list, not to a
 * loop inside it.
 */
export function someLoopExit(list: readonly Stmt[], test: (s: Stmt) => boolean): boolean {
  return list.some((s) => {
    if (s.kind === "break" || s.kind === "continue") return test(s);
    return s.kind === "if" && (someLoopExit(s.then, test) || someLoopExit(s.else, test));
  });
}

/** Returns the size of code: the total number of its statements and expression nodes. */
export function codeSize(list: readonly Stmt[]): number {
  let total = 0;
  for (const s of list) total += statementWeight(s);
  return total;
}

/** Returns the weight of a statement. It is cached, because it is needed repeatedly on the way down into a kernel. */
const statementWeight = memoizeBy((s: Stmt): number => {
  let total = 1;
  for (const e of expressionsOf(s)) total += expressionWeight(e);
  for (const body of nestedLists(s)) total += codeSize(body);
  return total;
});

function expressionWeight(e: Expr): number {
  let total = 1;
  for (const child of subexpressions(e)) total += expressionWeight(child);
  return total;
}
