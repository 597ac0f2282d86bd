/**
 * Finds products of which a kernel uses both halves. One instruction computes all 64 bits if both halves are taken from
 * it.
 */
import type { Expr, KernelIR } from "../../ir.ts";
import { forEachExpr, forEachStmt, operands } from "../../visit.ts";

/** Returns a text for a local variable or a constant as 32 bits, signed or not; undefined for any other expression. */
function factorOf(e: Expr | undefined): string | undefined {
  if (e?.kind === "convert" && e.type !== "real" && e.a.type !== "real" && e.a.type !== "bool") return factorOf(e.a);
  if (e?.kind === "local") return `local ${e.id}`;
  return e?.kind === "const" ? `${Number(e.value) >>> 0}` : undefined;
}

const keyOf = (a: Expr | undefined, b: Expr | undefined): string | undefined => {
  const [first, second] = [factorOf(a), factorOf(b)];
  return first === undefined || second === undefined ? undefined : `${first} × ${second}`;
};

/**
 * Returns a function that tells whether the kernel also computes the upper 32 bits (`mulHigh`) of the product of two
 * given factors. One 64-bit product then serves both halves.
 */
export function wideProducts({ body }: KernelIR): (a: Expr | undefined, b: Expr | undefined) => boolean {
  const keys = new Set<string | undefined>();
  forEachStmt(body, (s) => {
    for (const root of operands(s))
      forEachExpr(root, (e) => {
        if (e.kind === "intrinsic" && e.op === "mulHigh") keys.add(keyOf(e.args[0], e.args[1]));
      });
  });
  keys.delete(undefined);
  return (a, b) => keys.has(keyOf(a, b));
}
