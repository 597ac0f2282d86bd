/**
 * Straight-line code, one vector after another.
 *
 * A sequence of assignments and stores is emitted completely for vector 0, then for vector 1, and so on. V8 schedules
 * all loads between two stores first. If the statements of all vectors were side by side, they would not fit into its
 * 16 registers (measured for a stencil of two vectors: a third of all instructions moved registers to the stack and
 * back). What all vectors share, such as the addresses of contiguous accesses, is computed before the sequence, in its
 * own order.
 */
import type { ArrayRef, Expr, Stmt } from "../../ir.ts";
import { forEachExpr, expressionsOf, someExpr } from "../../visit.ts";
import { emitAccessSequence } from "./blocks.ts";
import type { Emitter } from "./emitter.ts";
import { isContiguousAccess } from "./load.ts";
import { popToLocal } from "./masks.ts";
import { prepareSharedValues } from "./prepare.ts";
import { pushContiguousBase, pushUniform } from "./scalar.ts";
import { prepareContiguousStore, storeContiguousVector } from "./store.ts";
import { pushVector } from "./vector.ts";

type Assign = Stmt & { readonly kind: "assign" };
type Store = Stmt & { readonly kind: "store" };

/**
 * Emits code for a sequence of assignments and stores without control flow. It computes the whole sequence for vector
 * 0, then for vector 1, and so on, which needs fewer registers than computing all vectors side by side. The sequence
 * begins at `list[from]`. Returns the number of its statements, or 0 if none begins there.
 */
export function emitStraightLine(e: Emitter, list: readonly Stmt[], from: number): number {
  if (e.plan.vectors === 1 || e.mask !== null) return 0;
  const run = runAt(e, list, from);
  e.scope(() => {
    const rest = run.map((s) => marked(e, s, begin(e, s)));
    for (const j of e.each) for (const emit of rest) e.scope(() => emit?.(j));
    e.clearPrepared();
  });
  return run.length;
}

type Emit = (j: number) => void;

const marked = (e: Emitter, { place }: Stmt, emit: Emit | undefined): Emit | undefined =>
  emit &&
  ((j) => {
    e.code.mark(`${place.source}:${place.line}`);
    emit(j);
  });

/**
 * Emits what all vectors share, and returns the function that emits the rest for vector number `j`, if anything is
 * left.
 */
function begin(e: Emitter, s: Assign | Store): Emit | undefined {
  e.code.mark(`${s.place.source}:${s.place.line}`);
  if (s.kind === "store") {
    prepareSharedValues(e, s.value);
    const row = prepareContiguousStore(e, s);
    return (j) => {
      storeContiguousVector(e, s, row, j);
    };
  }
  const shape = e.flow.locals[s.local];
  if (shape !== "varying") {
    (shape === "uniform" ? pushUniform : pushContiguousBase)(e, s.value);
    e.code.set(e.scalars[s.local]);
    return undefined;
  }
  prepareSharedValues(e, s.value);
  return (j) => {
    pushVector(e, s.value, j);
    popToLocal(e, s.local, j);
  };
}

/**
 * Returns the statements that may be reordered in this way: no shared local variable changes that an earlier statement
 * reads, and no shared value is loaded from an array after a store to it.
 */
function runAt(e: Emitter, list: readonly Stmt[], from: number): (Assign | Store)[] {
  const run: (Assign | Store)[] = [];
  const read = new Set<number>();
  const stored: ArrayRef[] = [];
  for (let at = from; at < list.length; at++) {
    const s = list[at];
    if (!isStraight(e, s) || (at > from && emitAccessSequence(e, list, at, true) > 0)) break;
    const shared = s.kind === "assign" && e.flow.locals[s.local] !== "varying" ? s : undefined;
    if (shared !== undefined && read.has(shared.local)) break;
    if (expressionsOf(s).some((x) => loadsShared(e, x, stored))) break;
    for (const x of expressionsOf(s)) forEachExpr(x, (y) => void (y.kind === "local" && read.add(y.id)));
    if (s.kind === "store") stored.push(s.array);
    run.push(s);
  }
  return run;
}

/**
 * Tells whether all vectors must evaluate an expression side by side. It is so for exchanges of values through
 * workgroup arrays in subgroup operations, and for powers of two, which are computed for all vectors at once
 * (`prepare`).
 */
const belongsTogether = (x: Expr): boolean =>
  (x.kind === "load" && x.array.space === "workgroup") || (x.kind === "intrinsic" && x.op === "ldexp");

function isStraight(e: Emitter, s: Stmt): s is Assign | Store {
  if (s.kind !== "assign" && s.kind !== "store") return false;
  if (expressionsOf(s).some((x) => someExpr(x, belongsTogether))) return false;
  if (s.kind === "assign") return true;
  if (s.array.space === "workgroup" || !isContiguousAccess(e, s)) return false;
  // One scalar for all items.
  return (
    e.flow.variationOf(s.index) !== "uniform" ||
    e.flow.variationOf(s.value) !== "uniform" ||
    s.array.space === "private"
  );
}

/** Tells whether `x` contains a load, from one of the arrays `stored`, that is the same for all vectors. */
const loadsShared = (e: Emitter, x: Expr, stored: readonly ArrayRef[]): boolean =>
  stored.length > 0 &&
  someExpr(
    x,
    (y) =>
      y.kind === "load" &&
      e.flow.variationOf(y) !== "varying" &&
      stored.some(({ space, id }) => space === y.array.space && id === y.array.id),
  );
