/** Lane masks: one v128 local for each vector, with all ones in the active lanes. */
import type { Emitter, LaneMask } from "./emitter.ts";

/**
 * Emits code that computes the mask of the lanes that are active now but not in the mask `taken`. Returns the first of
 * the locals that hold the result. The caller releases them.
 */
export function setComplement(e: Emitter, taken: number): number {
  const others = e.takeVectors();
  for (const j of e.each) {
    if (e.mask === null) e.code.get(taken + j).op("v128.not");
    else
      e.code
        .get(e.mask + j)
        .get(taken + j)
        .op("v128.andnot");
    e.code.set(others + j);
  }
  return others;
}

/** Emits code that pushes 1 if any lane of a mask is active, otherwise 0. */
export function pushAnyLane(e: Emitter, mask: LaneMask): void {
  if (mask === null) return void e.code.i32(1);
  combine(e, mask, "v128.or");
  e.code.op("v128.any_true");
}

/** Emits code that pushes 1 if all lanes of a mask are active, otherwise 0. */
export function pushAllLanes(e: Emitter, mask: number): void {
  combine(e, mask, "v128.and");
  e.code.op(e.plan.wide ? "i64x2.all_true" : "i32x4.all_true");
}

function combine(e: Emitter, mask: number, op: "v128.or" | "v128.and"): void {
  e.code.get(mask);
  for (const j of e.each.slice(1)) e.code.get(mask + j).op(op);
}

/** Emits code that copies a lane mask into the locals that begin at index `to`. */
export function copyMask(e: Emitter, from: LaneMask, to: number): void {
  for (const j of e.each) {
    if (from === null) e.code.v128([-1, -1, -1, -1]);
    else e.code.get(from + j);
    e.code.set(to + j);
  }
}

/**
 * Emits code that pops a vector from the stack and assigns it to vector number `j` of a local variable of the kernel.
 * Inactive lanes keep their old values if they may be read later.
 */
export function popToLocal(e: Emitter, local: number, j: number): void {
  const target = e.vectors[local] + j;
  if (e.mask !== null && !e.flow.unmasked[local])
    e.code
      .get(target)
      .get(e.mask + j)
      .op("v128.bitselect");
  e.code.set(target);
}
