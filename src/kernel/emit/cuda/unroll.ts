/**
 * Which loops nvcc is told to unroll. The front end has unrolled the short ones; what is left has more trips or a larger
 * body. Unrolling those pays where it turns the indexes of a private array into constants, which is what puts the array
 * into registers, and where products of workgroup arrays are summed in private ones: the loads of one step then overlap the sums
 * of the step before, and the loop's own instructions go. Elsewhere nvcc decides by itself.
 */
import type { Expr, Stmt } from "../../ir.ts";
import { assigned, operands, someExpr, someStmt, weight } from "../../visit.ts";
import type { StmtOf } from "../c-like/dialect.ts";

type Loop = StmtOf<"loop">;

/** Statements and operations in all that may come of it. */
const maxUnrolled = 16_384;

export function unrolls(loop: Loop): boolean {
  const counter = counterOf(loop);
  if (counter === undefined) return false;
  if (!indexesPrivateArray(loop.body, counter) && !sumsWorkgroupArrays(loop.body, counter)) return false;
  return tripsOf(loop, counter, maxUnrolled / weight(loop.body)) !== undefined;
}

/** The local that the loop counts with; nothing else in it is assigned by the update, and the body leaves it alone. */
function counterOf({ update, body }: Loop): number | undefined {
  if (update.length !== 1 || update[0].kind !== "assign") return undefined;
  const counter = update[0].local;
  return someStmt(body, (s) => assigned(s) === counter) ? undefined : counter;
}

/** How often the body runs, at most `limit` times; undefined if that is more, or unknown. */
function tripsOf({ init, test, update }: Loop, counter: number, limit: number): number | undefined {
  const start = init.findLast((s): s is StmtOf<"assign"> => assigned(s) === counter);
  if (start === undefined || test === null || update[0].kind !== "assign") return undefined;
  const step = update[0].value;
  let value = evaluated(start.value, counter, 0);
  for (let trips = 0; trips <= limit && value !== undefined; trips++) {
    const proceeds = evaluated(test, counter, value);
    if (proceeds === undefined) return undefined;
    if (proceeds === 0) return trips;
    value = evaluated(step, counter, value);
  }
  return undefined;
}

/** An expression of constants and the counter, in i32; undefined for any other. */
function evaluated(e: Expr, counter: number, value: number): number | undefined {
  if (e.kind === "const") return e.type === "real" ? undefined : Number(e.value);
  if (e.kind === "local") return e.id === counter ? value : undefined;
  if (e.kind !== "binary" && e.kind !== "compare") return undefined;
  const [a, b] = [evaluated(e.a, counter, value), evaluated(e.b, counter, value)];
  return a === undefined || b === undefined ? undefined : apply(e.op, a, b);
}

function apply(op: string, a: number, b: number): number | undefined {
  switch (op) {
    case "add":
      return (a + b) | 0;
    case "sub":
      return (a - b) | 0;
    case "mul":
      return Math.imul(a, b);
    case "lt":
      return Number(a < b);
    case "le":
      return Number(a <= b);
    case "gt":
      return Number(a > b);
    case "ge":
      return Number(a >= b);
    case "ne":
      return Number(a !== b);
    default:
      return undefined;
  }
}

/** Whether some private array is indexed by what depends on the counter itself. */
function indexesPrivateArray(body: readonly Stmt[], counter: number): boolean {
  return someStmt(body, (s) => {
    if (s.kind === "store" && s.array.space === "private" && dependsOn(s.index, counter)) return true;
    return loadsBy(s, "private", counter);
  });
}

/** Whether workgroup arrays are indexed by the counter itself, and private arrays take what comes of it. */
function sumsWorkgroupArrays(body: readonly Stmt[], counter: number): boolean {
  const stores = (s: Stmt): boolean => s.kind === "store" && s.array.space === "private";
  return someStmt(body, stores) && someStmt(body, (s) => loadsBy(s, "workgroup", counter));
}

const dependsOn = (index: Expr, counter: number): boolean =>
  someExpr(index, (e) => e.kind === "local" && e.id === counter);

function loadsBy(s: Stmt, space: "private" | "workgroup", counter: number): boolean {
  const loads = (e: Expr): boolean => e.kind === "load" && e.array.space === space && dependsOn(e.index, counter);
  return operands(s).some((e) => someExpr(e, loads));
}
