/** Compiles expressions to JavaScript functions of a work item. */
import type { ArrayRef, Expr, KernelIR, Place } from "../ir.ts";
import { binaryOperator, compareOperator, conversion, rounding, unaryOperator } from "./arithmetic.ts";
import type { BoundArguments } from "./arguments.ts";
import { faultError } from "./faults.ts";
import { intrinsicFunction } from "./intrinsics.ts";
import type { Item } from "./item.ts";
import type { CheckedArray } from "./memory.ts";
import type { AccessKind } from "./races.ts";

/** An expression that the interpreter has compiled: a function of the work item. Booleans are 0 or 1. */
export type CompiledExpr = (item: Item) => number;

/** The kernel and the arguments of a launch, for which the interpreter compiles expressions. */
export interface CompileScope {
  readonly ir: KernelIR;
  readonly scalars: BoundArguments["scalars"];
  readonly buffers: readonly CheckedArray[];
}

/** A compiled array reference: a function that returns the referenced array for a given work item. */
export type ArrayLocator = (item: Item) => CheckedArray;

/** Compiles an array reference to a function that finds the array of a given work item. */
export function arrayLocator(scope: CompileScope, { space, id }: ArrayRef): ArrayLocator {
  if (space === "private") return (item) => item.privates[id];
  if (space === "workgroup") return (item) => item.group.arrays[id];
  const buffer = scope.buffers[id];
  return () => buffer;
}

/**
 * Checks an access of a work item to an array element. `needsValue` is true if the access reads the element. @throws
 * KernelRuntimeError if the access is out of bounds, reads an undefined element, or is a data race
 */
export function checkAccess(
  scope: CompileScope,
  place: Place,
  item: Item,
  array: CheckedArray,
  index: number,
  kind: AccessKind,
  needsValue: boolean,
): void {
  const complaint = array.check(index, kind, needsValue, item);
  if (complaint !== undefined) throw faultError(scope.ir, place, item, complaint);
}

function load(scope: CompileScope, place: Place, expr: Extract<Expr, { kind: "load" }>): CompiledExpr {
  const locate = arrayLocator(scope, expr.array);
  const index = compileExpr(scope, place, expr.index);
  return (item) => {
    const array = locate(item);
    const i = index(item);
    checkAccess(scope, place, item, array, i, "read", true);
    return array.values[i];
  };
}

function local(scope: CompileScope, place: Place, id: number): CompiledExpr {
  const { name } = scope.ir.locals[id];
  return (item) => {
    if (item.assigned[id] === 0)
      throw faultError(scope.ir, place, item, `reads ${name} before it has a value; assign it on every path`);
    return item.locals[id];
  };
}

function logical(scope: CompileScope, place: Place, expr: Extract<Expr, { kind: "logical" }>): CompiledExpr {
  const a = compileExpr(scope, place, expr.a);
  const b = compileExpr(scope, place, expr.b);
  return expr.op === "and" ? (item) => (a(item) === 0 ? 0 : b(item)) : (item) => (a(item) === 0 ? b(item) : 1);
}

function select(scope: CompileScope, place: Place, expr: Extract<Expr, { kind: "select" }>): CompiledExpr {
  const condition = compileExpr(scope, place, expr.condition);
  const a = compileExpr(scope, place, expr.a);
  const b = compileExpr(scope, place, expr.b);
  return (item) => (condition(item) === 0 ? b(item) : a(item));
}

function intrinsicCall(scope: CompileScope, place: Place, expr: Extract<Expr, { kind: "intrinsic" }>): CompiledExpr {
  const apply = intrinsicFunction(expr.op, expr.args[0].type, scope.ir.precision);
  const a = compileExpr(scope, place, expr.args[0]);
  if (expr.args.length === 1) return (item) => apply(a(item), 0);
  const b = compileExpr(scope, place, expr.args[1]);
  return (item) => apply(a(item), b(item));
}

function constant(scope: CompileScope, expr: Extract<Expr, { kind: "const" }>): CompiledExpr {
  const value = expr.type === "real" ? rounding(scope.ir.precision)(Number(expr.value)) : Number(expr.value);
  return () => value;
}

/** Compiles an expression to a JavaScript function of the work item. */
export function compileExpr(scope: CompileScope, place: Place, expr: Expr): CompiledExpr {
  const compile = (e: Expr): CompiledExpr => compileExpr(scope, place, e);
  const round = rounding(scope.ir.precision);
  switch (expr.kind) {
    case "const":
      return constant(scope, expr);
    case "local":
      return local(scope, place, expr.id);
    case "param": {
      const value = scope.scalars[expr.id];
      return () => value;
    }
    case "length": {
      const locate = arrayLocator(scope, expr.array);
      return (item) => locate(item).length;
    }
    case "load":
      return load(scope, place, expr);
    case "unary": {
      const [apply, a] = [unaryOperator(expr.op, expr.a.type), compile(expr.a)];
      return (item) => apply(a(item));
    }
    case "binary": {
      const [apply, a, b] = [binaryOperator(expr.op, expr.type, round), compile(expr.a), compile(expr.b)];
      return (item) => apply(a(item), b(item));
    }
    case "compare": {
      const [apply, a, b] = [compareOperator(expr.op), compile(expr.a), compile(expr.b)];
      return (item) => apply(a(item), b(item));
    }
    case "logical":
      return logical(scope, place, expr);
    case "select":
      return select(scope, place, expr);
    case "convert": {
      const [apply, a] = [conversion(expr.a.type, expr.type, round), compile(expr.a)];
      return (item) => apply(a(item));
    }
    case "intrinsic":
      return intrinsicCall(scope, place, expr);
    case "index": {
      const { op } = expr;
      return (item) => item.place[op];
    }
    default:
      throw new TypeError(`IR: unknown expression ${(expr satisfies never as Expr).kind}`);
  }
}
