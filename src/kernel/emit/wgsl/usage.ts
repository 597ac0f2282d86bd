import type { IndexOp, KernelIR } from "../../ir.ts";
import { operands, someExpr, someStmt } from "../../visit.ts";

/** Tells whether a kernel reads the index `op` of its work items, such as "globalId". */
export function usesIndex(ir: KernelIR, op: IndexOp): boolean {
  return someStmt(ir.body, (s) =>
    operands(s).some((e) => someExpr(e, (inner) => inner.kind === "index" && inner.op === op)),
  );
}

/** Tells whether the kernel uses subgroup operations. */
export function usesSubgroups(ir: KernelIR): boolean {
  return (
    someStmt(ir.body, (s) => s.kind === "subgroup") || usesIndex(ir, "subgroupLane") || usesIndex(ir, "subgroupSize")
  );
}
