/**
 * The values that all vectors of a statement share, computed once before them: subexpressions that are the same for all
 * items, and addresses of contiguous accesses.
 */
import type { Expr } from "../../ir.ts";
import { children } from "../../visit.ts";
import type { Emitter } from "./emitter.ts";
import { isRow, rowAddress } from "./load.ts";
import { valueType } from "./plan.ts";
import { offset, scalar } from "./scalar.ts";
import { ldexpVectors } from "./vector-intrinsics.ts";

/**
 * Emits code that computes the subexpressions whose value or address all SIMD vectors share, once before the code of
 * the vectors. The enclosing statement releases the temporaries (see `statement` in control.ts).
 */
export function prepare(e: Emitter, x: Expr): void {
  if (e.prepared.has(x)) return;
  const shape = e.flow.shape(x);
  if (shape === "uniform") return keep(e, x, () => scalar(e, x));
  if (shape === "contiguous") return keep(e, x, () => offset(e, x));
  if (x.kind === "load") return prepareLoad(e, x);
  if (x.kind === "logical") return prepareLazily(e, [x.a], [x.b]);
  if (x.kind === "select") return prepareLazily(e, [x.condition], [x.a, x.b]);
  for (const child of children(x)) prepare(e, child);
  if (x.kind === "intrinsic" && x.op === "ldexp" && !e.preparedVectors.has(x))
    e.preparedVectors.set(x, ldexpVectors(e, x));
}

function prepareLazily(e: Emitter, always: readonly Expr[], perhaps: readonly Expr[]): void {
  for (const x of always) prepare(e, x);
  e.withGuard(() => {
    for (const x of perhaps) prepare(e, x);
  });
}

function prepareLoad(e: Emitter, x: Expr & { kind: "load" }): void {
  if (!isRow(e, x)) return prepare(e, x.index);
  if (x.index.kind === "const") return; // all of it is in the instruction's offset
  const address = e.take("i32");
  const fixed = rowAddress(e, x);
  e.fixedOffsets.set(x, fixed);
  e.code.set(address);
  e.prepared.set(x, address);
}

function keep(e: Emitter, x: Expr, push: () => void): void {
  if (children(x).length === 0) return; // as cheap to push again
  push();
  const local = e.take(x.kind === "load" || e.flow.shape(x) === "uniform" ? valueType(x.type, e.plan) : "i32");
  e.code.set(local);
  e.prepared.set(x, local);
}
