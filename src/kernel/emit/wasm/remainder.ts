/** The remainder of real numbers. */
import type { Emitter } from "./emitter.ts";
import { REMAINDER } from "./helpers.ts";

/**
 * Emits code that pushes the exact remainder of two real scalars. `pushA` and `pushB` emit the operands. The remainder
 * of two f32 is itself an f32, so it is computed in f64 and converted.
 */
export function pushRealRemainder(e: Emitter, pushA: () => void, pushB: () => void): void {
  const narrow = e.plan.real === "f32";
  for (const push of [pushA, pushB]) {
    push();
    if (narrow) e.code.op("f64.promote_f32");
  }
  e.code.call(e.helper(REMAINDER));
  if (narrow) e.code.op("f32.demote_f64");
}
