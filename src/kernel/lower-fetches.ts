/**
 * Rewrites asynchronous copies as loads and stores, for back ends without asynchronous copies. The barriers that await
 * them stay barriers.
 */
import type { Expr, KernelIR, Stmt } from "./ir.ts";
import { mapStatement, someStmt } from "./visit.ts";

/** Returns the kernel in which asynchronous copies (`gpu.fetch`) are replaced by loads and stores. */
export function lowerFetches(ir: KernelIR): KernelIR {
  return someStmt(ir.body, ({ kind }) => kind === "fetch") ? { ...ir, body: lowered(ir, ir.body) } : ir;
}

function lowered(ir: KernelIR, list: readonly Stmt[]): Stmt[] {
  return list.flatMap((s) =>
    s.kind === "fetch"
      ? Array.from({ length: s.words }, (_, word) => copy(ir, s, word))
      : [
          mapStatement(
            s,
            (e) => e,
            (inner) => lowered(ir, inner),
          ),
        ],
  );
}

function copy(ir: KernelIR, { array, index, from, fromIndex, place }: Stmt & { kind: "fetch" }, word: number): Stmt {
  const type = ir.workgroups[array.id].element;
  return {
    kind: "store",
    array,
    index: after(index, word),
    value: { kind: "load", type, array: from, index: after(fromIndex, word) },
    place,
  };
}

function after(index: Expr, word: number): Expr {
  if (word === 0) return index;
  return { kind: "binary", type: "i32", op: "add", a: index, b: { kind: "const", type: "i32", value: word } };
}
