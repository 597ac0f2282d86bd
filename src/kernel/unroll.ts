/**
 * Unrolls loops that the front end leaves because they have more iterations or a larger body than it unrolls: loops
 * whose counter indexes a private array, which stays in registers only with constant indexes. CUDA's compiler is told
 * to unroll them (`unrolls`). A WGSL compiler cannot be told, so they are unrolled here (`unrollLoops`).
 */
import { COMPARISON_FUNCTIONS, foldBinary } from "./fold.ts";
import type { ArrayRef, Expr, FixedArray, KernelIR, Stmt } from "./ir.ts";
import {
  assignedLocal,
  mapSubexpressions,
  mapStatement,
  expressionsOf,
  someExpr,
  someLoopExit,
  someStmt,
  codeSize,
} from "./visit.ts";

type Loop = Stmt & { readonly kind: "loop" };

/** The maximum number of statements and operations after unrolling. nvcc compiles twice as many without difficulty. */
const maxUnrolled = 16_384;
const maxUnrolledByNvcc = 32_768;

/**
 * The limit for loops that gain only the overlap of loads and their own instructions, because WGSL compilers take long
 * for large bodies.
 */
const maxUnrolledSum = 4096;

/**
 * Tells whether a loop is worth unrolling on CUDA. It is if the loop indexes private arrays, or if it adds products of
 * elements of workgroup arrays to private arrays, because loads then overlap with the sums of the preceding iteration.
 * For other loops nvcc decides.
 */
export function isWorthUnrolling(loop: Loop): boolean {
  const counter = counterOf(loop);
  if (counter === undefined) return false;
  if (!indexesPrivateArray(loop.body, counter) && !sumsWorkgroupArrays(loop.body, counter)) return false;
  return valuesOf(loop, counter, maxUnrolledByNvcc / codeSize(loop.body)) !== undefined;
}

/**
 * The largest number of elements of a private array that fits in registers, whatever its indexes are. A GPU thread has
 * 255 32-bit registers.
 */
const LARGEST_IN_REGISTERS = { f32: 128, f64: 64, f32x2: 32 } as const;
/** The number of f32 operations, as compilers see them, of one operation on a pair (f32x2). */
const PAIR_OPERATIONS = 16;

/**
 * Returns the kernel in which the loops that have constant bounds and index small private arrays are unrolled, inner
 * loops first.
 */
export function unrollLoops(ir: KernelIR): KernelIR {
  const isSmall = ({ length }: FixedArray): boolean => length <= LARGEST_IN_REGISTERS[ir.precision];
  if (!ir.privates.some(isSmall)) return ir;
  const share = ir.precision === "f32x2" ? PAIR_OPERATIONS : 1;
  const unroller: Unroller = {
    isSmall: ({ space, id }) => space === "private" && isSmall(ir.privates[id]),
    most: maxUnrolled / share,
    mostSum: maxUnrolledSum / share,
  };
  return { ...ir, body: unrolledList(ir.body, unroller) };
}

interface Unroller {
  isSmall(array: ArrayRef): boolean;
  readonly most: number;
  readonly mostSum: number;
}

const unrolledList = (list: readonly Stmt[], unroller: Unroller): Stmt[] => list.flatMap((s) => unrolled(s, unroller));

function unrolled(s: Stmt, unroller: Unroller): Stmt[] {
  const inside = mapStatement(
    s,
    (e) => e,
    (list) => unrolledList(list, unroller),
  );
  if (inside.kind !== "loop") return [inside];
  const counter = counterOf(inside);
  if (counter === undefined || someLoopExit(inside.body, () => true)) return [inside];
  const limit = indexesPrivateArray(inside.body, counter, unroller.isSmall)
    ? unroller.most
    : sumsWorkgroupArrays(inside.body, counter)
      ? unroller.mostSum
      : 0;
  const values = valuesOf(inside, counter, limit / codeSize(inside.body));
  if (values === undefined) return [inside];
  const trips = values
    .slice(0, -1)
    .flatMap((value) => unrolledList(withConstant(inside.body, counter, value), unroller));
  // What is assigned before the first trip, and the counter after the last, for whoever reads it.
  return [...inside.init, ...trips, { kind: "assign", local: counter, value: int(values.at(-1)!), place: s.place }];
}

const int = (value: number): Expr => ({ kind: "const", type: "i32", value });

/**
 * Returns the statements with a constant in place of a local variable, and with constants folded, because dead branches
 * may index beyond an array's end.
 */
function withConstant(list: readonly Stmt[], local: number, value: number): Stmt[] {
  const expression = (e: Expr): Expr =>
    e.kind === "local" && e.id === local ? int(value) : folded(mapSubexpressions(e, expression));
  const statements = (some: readonly Stmt[]): Stmt[] =>
    some.flatMap((s) => {
      const mapped = mapStatement(s, expression, statements);
      if (mapped.kind !== "if" || mapped.condition.kind !== "const") return [mapped];
      return mapped.condition.value === true ? mapped.then : mapped.else;
    });
  return statements(list);
}

/** Folds an operation on i32 constants, or a choice by a constant. */
function folded(e: Expr): Expr {
  if (e.kind === "select") return e.condition.kind === "const" ? (e.condition.value === true ? e.a : e.b) : e;
  if (e.kind === "logical" && e.a.kind === "const") {
    const decided = e.a.value === (e.op === "or");
    return decided ? e.a : e.b;
  }
  if (e.kind !== "binary" && e.kind !== "compare") return e;
  if (e.a.kind !== "const" || e.b.kind !== "const" || e.a.type !== "i32" || e.b.type !== "i32") return e;
  const [a, b] = [e.a.value as number, e.b.value as number];
  if (e.kind === "compare") return { kind: "const", type: "bool", value: COMPARISON_FUNCTIONS[e.op](a, b) };
  const value = e.op === "mul" ? Math.imul(a, b) : e.op === "shr" ? a >> b : foldBinary(e.op, a, b);
  return value === null || !Number.isFinite(value) ? e : int(Math.trunc(value) | 0);
}

/**
 * Returns the local variable that counts the loop's iterations. The update assigns nothing else, and the body does not
 * assign it.
 */
function counterOf({ update, body }: Loop): number | undefined {
  if (update.length !== 1 || update[0].kind !== "assign") return undefined;
  const counter = update[0].local;
  return someStmt(body, (s) => assignedLocal(s) === counter) ? undefined : counter;
}

/**
 * Returns the values of the counter, including the one after the last iteration. Undefined if there are more than
 * `limit` iterations, or if their number is not known.
 */
function valuesOf({ init, test, update }: Loop, counter: number, limit: number): number[] | undefined {
  const start = init.findLast((s) => assignedLocal(s) === counter);
  if (start?.kind !== "assign" || test === null || update[0].kind !== "assign") return undefined;
  const step = update[0].value;
  const values: number[] = [];
  let value = constantOf(start.value, counter, 0);
  while (typeof value === "number" && values.length <= limit) {
    values.push(value);
    const proceeds = constantOf(test, counter, value);
    if (proceeds === undefined) return undefined;
    if (proceeds === false) return values;
    value = constantOf(step, counter, value);
  }
  return undefined;
}

/** Returns the value of an expression of i32 constants and the counter; undefined for any other expression. */
function constantOf(e: Expr, counter: number, value: number): number | boolean | undefined {
  const put = (x: Expr): Expr =>
    x.kind === "local" && x.id === counter ? int(value) : folded(mapSubexpressions(x, put));
  const result = put(e);
  return result.kind === "const" && (result.type === "i32" || result.type === "bool") ? result.value : undefined;
}

/** Tells whether some private array that `wanted` accepts is indexed by an expression that depends on the counter. */
function indexesPrivateArray(
  body: readonly Stmt[],
  counter: number,
  wanted: (array: ArrayRef) => boolean = ({ space }) => space === "private",
): boolean {
  return someStmt(
    body,
    (s) => (s.kind === "store" && wanted(s.array) && dependsOn(s.index, counter)) || loadsBy(s, wanted, counter),
  );
}

/** Tells whether workgroup arrays are indexed by the counter, and the loaded values are added to private arrays. */
function sumsWorkgroupArrays(body: readonly Stmt[], counter: number): boolean {
  const stores = (s: Stmt): boolean => s.kind === "store" && s.array.space === "private";
  return someStmt(body, stores) && someStmt(body, (s) => loadsBy(s, ({ space }) => space === "workgroup", counter));
}

const dependsOn = (index: Expr, counter: number): boolean =>
  someExpr(index, (e) => e.kind === "local" && e.id === counter);

function loadsBy(s: Stmt, wanted: (array: ArrayRef) => boolean, counter: number): boolean {
  const loads = (e: Expr): boolean => e.kind === "load" && wanted(e.array) && dependsOn(e.index, counter);
  return expressionsOf(s).some((e) => someExpr(e, loads));
}
