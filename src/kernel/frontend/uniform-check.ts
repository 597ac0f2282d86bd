/** Barriers and subgroup operations must be reached by every item of a workgroup, or by none. */
import type { KernelError } from "../../base/errors.ts";
import type { KernelIR, Place, Stmt } from "../ir.ts";
import { analyseUniformity } from "../uniform.ts";
import { bodies } from "../visit.ts";

type Report = (place: Place, what: string, remedy: string) => KernelError;

/**
 * Checks that all work items of a workgroup reach every barrier. @throws KernelError for a barrier in control flow that
 * differs between work items
 */
export function checkBarriers(ir: KernelIR, report: Report): void {
  if (!ir.cooperative) return;
  // Loads of memory that the kernel writes count as varying: WGSL demands a proof, so every back end gets the same
  // rule.
  const uniformity = analyseUniformity(ir, { writable: "varying" });
  const visit = (statements: readonly Stmt[]): void => {
    for (const s of statements) {
      if ((s.kind === "barrier" || s.kind === "subgroup") && uniformity.divergent(s))
        throw report(
          s.place,
          `${s.kind === "barrier" ? "a barrier" : "a subgroup operation"} in divergent flow: only some items of the workgroup may reach it`,
          "move it out of the if, loop or early return that depends on the item, and guard the work between barriers instead",
        );
      for (const body of bodies(s)) visit(body);
    }
  };
  visit(ir.body);
}
