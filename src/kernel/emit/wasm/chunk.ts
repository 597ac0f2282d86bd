/**
 * The beginning of a chunk, the set of work items that are computed side by side, and the lanes of an incomplete chunk.
 */
import type { Emitter } from "./emitter.ts";
import { pushItemNumbers } from "./vector.ts";
import { spreadLowHalves } from "./vector-int.ts";

/**
 * Emits the code at the start of a chunk, the set of work items that are computed side by side in SIMD lanes. It
 * advances the base addresses of contiguous accesses to the first work item of the chunk.
 */
export function emitChunkStart(e: Emitter): void {
  const { code } = e;
  e.ir.buffers.forEach((b, i) => {
    const size = b.element === "real" && e.plan.wide ? 3 : 2;
    code.get(e.bufferBase[i]).get(e.first).i32(size).op("i32.shl").op("i32.add").set(e.bufferChunk[i]);
  });
  code.get(e.scratch).get(e.first).i32(2).op("i32.shl").op("i32.add").set(e.scratch4);
  code.get(e.scratch).get(e.first).i32(3).op("i32.shl").op("i32.add").set(e.scratch8);
}

/**
 * Emits code that activates, in a lane mask, the work items of the chunk whose numbers are below a count. `mask` is the
 * first local of the mask, and `pushCount` emits the code that pushes the count.
 */
export function setItemsBelow(e: Emitter, mask: number, pushCount: () => void): void {
  for (const j of e.each) {
    pushItemNumbers(e, j);
    pushCount();
    e.code.op("i32x4.splat").op("i32x4.lt_s");
    spreadLowHalves(e);
    e.code.set(mask + j);
  }
}
