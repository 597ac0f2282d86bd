import type { KernelIR, Stmt } from "./ir.ts";
import { analyseUniformity } from "./uniform.ts";
import { nestedLists } from "./visit.ts";

/**
 * Returns a map from each constant index at which a kernel stores to its only output buffer. Its value tells whether
 * the stored value depends on scalar parameter number `id`.
 *
 * The analysis pretends that the parameter differs between work items. A stored value that is still the same for all
 * items does not depend on the parameter. Verified: test/kernel/dependence.
 */
export function dependenceOfStores(ir: KernelIR, id: number): ReadonlyMap<number, boolean> {
  const varied = { ...ir, body: vary(ir.body, id) as readonly Stmt[] };
  const { variationOf: shape, isDivergent: divergent } = analyseUniformity(varied, { writable: "varying" });
  const found = new Map<number, boolean>();
  const walk = (list: readonly Stmt[]): void => {
    for (const s of list) {
      if (s.kind === "store" && s.index.kind === "const") {
        const index = Number(s.index.value);
        found.set(index, (found.get(index) ?? false) || divergent(s) || shape(s.value) !== "uniform");
      }
      for (const body of nestedLists(s)) walk(body);
    }
  };
  walk(varied.body);
  return found;
}

/** Returns code in which the work item's number takes the place of parameter `id`. */
function vary(code: unknown, id: number): unknown {
  if (Array.isArray(code)) return code.map((part) => vary(part, id));
  if (typeof code !== "object" || code === null) return code;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id)
    return { kind: "convert", type: "real", a: { kind: "index", type: "i32", op: "globalId" } };
  return Object.fromEntries(Object.entries(code).map(([key, part]) => [key, vary(part, id)]));
}
