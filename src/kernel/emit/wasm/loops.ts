/**
 * Loops, and leaving them. If all lanes leave together, it is a branch; otherwise lanes are removed from the loop's
 * masks.
 */
import type { Expr, Stmt } from "../../ir.ts";
import type { Emitter, LoopScope, LaneMask } from "./emitter.ts";
import { pushAnyLane, copyMask } from "./masks.ts";
import { prepareSharedValues } from "./prepare.ts";
import { pushUniform } from "./scalar.ts";
import { pushVector } from "./vector.ts";

type Loop = Stmt & { readonly kind: "loop" };

/** Emits WebAssembly code for a loop. */
export function emitLoop(e: Emitter, s: Loop): void {
  const { test, break: breaks, continue: skips } = e.flow.divergenceOf(s);
  e.emitStatements(s.init);
  e.restart = null; // later turns come after the effects of earlier ones
  const active = test || breaks || skips ? e.takeVectors() : null;
  const live = skips ? e.takeVectors() : active;
  if (active !== null) copyMask(e, e.mask, active);
  const exit = e.code.block();
  const again = e.code.loop();
  e.withMask(active ?? e.mask, () => {
    emitTest(e, s, exit);
    if (live !== null && live !== active) copyMask(e, active, live);
    const next = e.code.block();
    e.loops.push({ exit, next, active, live });
    e.withMask(live ?? e.mask, () => e.emitStatements(s.body));
    e.loops.pop();
    e.code.end();
    if (breaks) leaveUnlessAny(e, active, exit);
    // Nothing in `update` leaves the loop; an outer loop's scope must not narrow its mask.
    e.emitStatements(s.update);
  });
  e.code.br(again);
  e.code.end().end();
  if (live !== null && live !== active) e.giveVectors(live);
  if (active !== null) e.giveVectors(active);
}

/**
 * Emits the test of a loop. The loop ends if no lane passes it; lanes that fail it are removed from the loop's mask,
 * which is the current one.
 */
function emitTest(e: Emitter, s: Loop, exit: number): void {
  const { test } = s;
  if (test === null) return;
  e.scope(() => {
    if (e.flow.variationOf(test) === "uniform") {
      pushUniform(e, test);
      e.code.op("i32.eqz").brIf(exit);
    } else {
      narrowByTest(e, test);
      leaveUnlessAny(e, e.mask, exit);
    }
    e.clearPrepared();
  });
}

function narrowByTest(e: Emitter, test: Expr): void {
  const mask = e.mask;
  if (mask === null) throw new Error("internal: a varying test without a mask");
  prepareSharedValues(e, test);
  for (const j of e.each) {
    e.scope(() => {
      pushVector(e, test, j);
      e.code
        .get(mask + j)
        .op("v128.and")
        .set(mask + j);
    });
  }
}

function leaveUnlessAny(e: Emitter, mask: LaneMask, exit: number): void {
  pushAnyLane(e, mask);
  e.code.op("i32.eqz").brIf(exit);
}

/** Emits WebAssembly code by which the active lanes leave a loop (`break`) or its present iteration (`continue`). */
export function emitLoopExit(e: Emitter, kind: "break" | "continue"): void {
  const loop = e.loops.at(-1);
  if (loop === undefined) throw new Error(`internal: ${kind} outside a loop`);
  if (leavesTogether(e, loop, kind)) return void e.code.br(kind === "break" ? loop.exit : loop.next);
  const mask = e.mask;
  if (mask === null || loop.live === null) throw new Error("internal: a divergent exit without a mask");
  const leaving = kind === "break" && loop.active !== loop.live ? [loop.active, loop.live] : [loop.live];
  for (const target of leaving) {
    if (target === null) continue;
    for (const j of e.each)
      e.code
        .get(target + j)
        .get(mask + j)
        .op("v128.andnot")
        .set(target + j);
  }
}

/**
 * Tells whether all lanes of the iteration leave at once. For a `break`, no lane of the loop may be skipping the rest
 * of the iteration.
 */
function leavesTogether(e: Emitter, loop: LoopScope, kind: "break" | "continue"): boolean {
  if (loop.live === null) return true;
  return e.mask === loop.live && (kind === "continue" || loop.active === loop.live);
}
