/** Turns small private arrays that are indexed by constants only into local variables, which are held in registers. */
import type { ArrayRef, Expr, KernelIR, Local, Stmt } from "../../ir.ts";
import { forEachExpr, forEachStmt, mapSubexpressions, mapStatement, expressionsOf } from "../../visit.ts";

const LONGEST = 32;

/** Returns the kernel in which each private array that is indexed by constants only is replaced by local variables. */
export function scalariseArrays(ir: KernelIR): KernelIR {
  if (ir.privates.length === 0) return ir;
  const accessed = new Set<number>();
  const indexed = new Set<number>();
  const consider = (array: ArrayRef, index: Expr): void => {
    if (array.space !== "private") return;
    accessed.add(array.id);
    const value = index.kind === "const" ? Number(index.value) : -1;
    if (value < 0 || value >= ir.privates[array.id].length) indexed.add(array.id);
  };
  forEachStmt(ir.body, (s) => {
    if (s.kind === "store") consider(s.array, s.index);
    for (const e of expressionsOf(s)) forEachExpr(e, (x) => x.kind === "load" && consider(x.array, x.index));
  });
  const chosen = [...accessed].filter((id) => !indexed.has(id) && ir.privates[id].length <= LONGEST);
  return chosen.length === 0 ? ir : replaceArrays(ir, chosen);
}

function replaceArrays(ir: KernelIR, chosen: readonly number[]): KernelIR {
  const locals: Local[] = [...ir.locals];
  const firstLocal = new Map<number, number>();
  for (const id of chosen) {
    const { name, element, length } = ir.privates[id];
    firstLocal.set(id, locals.length);
    for (let i = 0; i < length; i++) locals.push({ name: `${name}_${i}`, type: element });
  }
  const localOf = (space: string, id: number, index: Expr): number | undefined => {
    const first = space === "private" ? firstLocal.get(id) : undefined;
    return first === undefined || index.kind !== "const" ? undefined : first + Number(index.value);
  };
  const rewrite = (e: Expr): Expr => {
    const local = e.kind === "load" ? localOf(e.array.space, e.array.id, e.index) : undefined;
    return local === undefined ? mapSubexpressions(e, rewrite) : { kind: "local", type: e.type, id: local };
  };
  const body = mapStmts(ir.body, rewrite, (s) => {
    const local = s.kind === "store" ? localOf(s.array.space, s.array.id, s.index) : undefined;
    return s.kind === "store" && local !== undefined ? { kind: "assign", local, value: s.value, place: s.place } : s;
  });
  return { ...ir, locals, body };
}

/** Rebuilds statements. `change` is applied to each one after `rewrite` has been applied to its expressions. */
function mapStmts(list: readonly Stmt[], rewrite: (e: Expr) => Expr, change: (s: Stmt) => Stmt): Stmt[] {
  return list.map((s) => change(mapStatement(s, rewrite, (body) => mapStmts(body, rewrite, change))));
}
