/**
 * The values that all vectors of a statement share, computed once before them: subexpressions that are the same for all
 * items, and addresses of contiguous accesses.
 */
import type { Expr } from "../../ir.ts";
import { subexpressions } from "../../visit.ts";
import type { Emitter } from "./emitter.ts";
import { isContiguousAccess, pushFirstVectorAddress } from "./load.ts";
import { valueType } from "./plan.ts";
import { pushContiguousBase, pushUniform } from "./scalar.ts";
import { emitLdexp } from "./vector-intrinsics.ts";

/**
 * Emits code that computes, once before the code of the SIMD vectors, the values and addresses in an expression that
 * all vectors share. The enclosing statement releases the temporaries (see `emitStatement`).
 */
export function prepareSharedValues(e: Emitter, x: Expr): void {
  if (e.prepared.has(x)) return;
  const shape = e.flow.variationOf(x);
  if (shape === "uniform") return keep(e, x, () => pushUniform(e, x));
  if (shape === "contiguous") return keep(e, x, () => pushContiguousBase(e, x));
  if (x.kind === "load") return prepareLoad(e, x);
  if (x.kind === "logical") return prepareLazily(e, [x.a], [x.b]);
  if (x.kind === "select") return prepareLazily(e, [x.condition], [x.a, x.b]);
  for (const child of subexpressions(x)) prepareSharedValues(e, child);
  if (x.kind === "intrinsic" && x.op === "ldexp" && !e.preparedVectors.has(x))
    e.preparedVectors.set(x, emitLdexp(e, x));
}

function prepareLazily(e: Emitter, always: readonly Expr[], perhaps: readonly Expr[]): void {
  for (const x of always) prepareSharedValues(e, x);
  e.withGuard(() => {
    for (const x of perhaps) prepareSharedValues(e, x);
  });
}

function prepareLoad(e: Emitter, x: Expr & { kind: "load" }): void {
  if (!isContiguousAccess(e, x)) return prepareSharedValues(e, x.index);
  if (x.index.kind === "const") return; // all of it is in the instruction's offset
  const address = e.take("i32");
  const fixed = pushFirstVectorAddress(e, x);
  e.fixedOffsets.set(x, fixed);
  e.code.set(address);
  e.prepared.set(x, address);
}

function keep(e: Emitter, x: Expr, push: () => void): void {
  if (subexpressions(x).length === 0) return; // as cheap to push again
  push();
  const local = e.take(x.kind === "load" || e.flow.variationOf(x) === "uniform" ? valueType(x.type, e.plan) : "i32");
  e.code.set(local);
  e.prepared.set(x, local);
}
