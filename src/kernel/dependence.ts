import type { KernelIR, Stmt } from "./ir.ts";
import { analyseUniformity } from "./uniform.ts";
import { bodies } from "./visit.ts";

/**
 * Tells for each element of a kernel's only buffer that is stored to by a constant index whether the stored value
 * depends on scalar parameter `id`.
 *
 * The analysis gives the parameter a different value in each work item; a value that is uniform even so does not depend
 * on it. Verified: test/kernel/dependence.
 */
export function storesThatDepend(ir: KernelIR, id: number): ReadonlyMap<number, boolean> {
  const varied = { ...ir, body: vary(ir.body, id) as readonly Stmt[] };
  const { shape, divergent } = analyseUniformity(varied, { writable: "varying" });
  const found = new Map<number, boolean>();
  const walk = (list: readonly Stmt[]): void => {
    for (const s of list) {
      if (s.kind === "store" && s.index.kind === "const") {
        const index = Number(s.index.value);
        found.set(index, (found.get(index) ?? false) || divergent(s) || shape(s.value) !== "uniform");
      }
      for (const body of bodies(s)) walk(body);
    }
  };
  walk(varied.body);
  return found;
}

/** A piece of code with the item's number for parameter `id`. */
function vary(code: unknown, id: number): unknown {
  if (Array.isArray(code)) return code.map((part) => vary(part, id));
  if (typeof code !== "object" || code === null) return code;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id)
    return { kind: "convert", type: "real", a: { kind: "index", type: "i32", op: "globalId" } };
  return Object.fromEntries(Object.entries(code).map(([key, part]) => [key, vary(part, id)]));
}
