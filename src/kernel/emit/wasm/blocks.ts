/**
 * Sequences of loads, or of stores, in which every work item accesses consecutive elements of its own, such as
 *
 *   const a = u[at];  const b = u[at + 1];
 *
 * One vector is loaded for each item, and a transposition of lanes × lanes elements turns these into one vector for
 * each statement. This takes 2 loads and 2 shuffles in f64 instead of 4 loads, and 4 loads and 8 shuffles in f32
 * instead of 16 loads. Each cache line is requested once.
 */
import type { ArrayRef, Expr, Stmt } from "../../ir.ts";
import { someExpr } from "../../visit.ts";
import { type ArrayAccess, elementSize } from "./address.ts";
import type { Emitter } from "./emitter.ts";
import { pushLaneAddress, pushLaneOffsets } from "./load.ts";
import { pushVector } from "./vector.ts";

type Assign = Stmt & { readonly kind: "assign" };
type Load = Expr & { readonly kind: "load" };
type Store = Stmt & { readonly kind: "store" };

/** An index that is the sum of a local variable and a constant, in an array. */
interface BlockPosition {
  readonly array: ArrayRef;
  readonly local: number;
  readonly constant: number;
}

/** One load or store of such a sequence. */
interface Step<S extends Stmt> {
  readonly stmt: S;
  readonly place: BlockPosition;
  /** The assignment of the index of a store to a local variable, which the front end makes. */
  readonly index: Assign | null;
}

/**
 * Emits code for a sequence of loads, or of stores, in which every work item accesses consecutive elements. Each item
 * then needs one vector access, and a transposition distributes the elements to the lanes. The sequence begins at
 * `list[from]`. Returns the number of its statements, or 0 if none begins there or not all SIMD lanes are active.
 * With `countOnly`, it emits nothing.
 */
export function emitAccessSequence(e: Emitter, list: readonly Stmt[], from: number, countOnly = false): number {
  if (e.mask !== null) return 0;
  const loads = runOf(e, list, from, loadAt);
  const stores = loads.length > 0 ? [] : runOf(e, list, from, storeAt);
  const run = [...loads, ...stores];
  if (run.length === 0) return 0;
  const indexes = run.flatMap(({ index }) => index ?? []);
  if (countOnly) return run.length + indexes.length;
  e.code.mark(`${run[0].stmt.place.source}:${run[0].stmt.place.line}`);
  for (const one of indexes) assignIndex(e, one);
  for (const j of e.each) e.scope(() => (loads.length > 0 ? loadRun(e, loads, j) : storeRun(e, stores, j)));
  return run.length + indexes.length;
}

type StepAt<S extends Stmt> = (e: Emitter, list: readonly Stmt[], at: number) => Step<S> | null;

/** Returns the loads or stores of a sequence. Their number is a multiple of the number of lanes. */
function runOf<S extends Assign | Store>(
  e: Emitter,
  list: readonly Stmt[],
  from: number,
  stepAt: StepAt<S>,
): Step<S>[] {
  const run: Step<S>[] = [];
  for (let at = from; at < list.length;) {
    const step = stepAt(e, list, at);
    if (step === null) break;
    const { stmt, place, index } = step;
    const [first] = run;
    if (first !== undefined && !follows(place, first.place, run.length)) break;
    const target = stmt.kind === "assign" ? stmt.local : index?.local;
    // Addresses come first, and indexes before values.
    if (target === place.local || run.some((earlier) => mentions(earlier.stmt.value, target))) break;
    run.push(step);
    at += index === null ? 1 : 2;
  }
  return run.slice(0, run.length - (run.length % e.plan.lanes));
}

const mentions = (x: Expr, local: number | undefined): boolean =>
  someExpr(x, (y) => y.kind === "local" && y.id === local);

const follows = (place: BlockPosition, first: BlockPosition, by: number): boolean =>
  place.array.space === first.array.space &&
  place.array.id === first.array.id &&
  place.local === first.local &&
  place.constant === first.constant + by;

function loadAt(e: Emitter, list: readonly Stmt[], at: number): Step<Assign> | null {
  const stmt = list[at];
  if (stmt.kind !== "assign" || stmt.value.kind !== "load") return null;
  const place = placeOf(e, stmt.value.array, stmt.value.index);
  return place === null ? null : { stmt, place, index: null };
}

function storeAt(e: Emitter, list: readonly Stmt[], at: number): Step<Store> | null {
  const first = list[at];
  const index = first.kind === "assign" ? first : null;
  const stmt = index === null ? first : list[at + 1];
  // A value that is made of a load may be of what the run has just stored.
  if (stmt?.kind !== "store" || someExpr(stmt.value, (x) => x.kind === "load")) return null;
  if (index !== null && !(stmt.index.kind === "local" && stmt.index.id === index.local)) return null;
  const place = placeOf(e, stmt.array, index?.value ?? stmt.index);
  return place === null ? null : { stmt, place, index };
}

/**
 * Returns the array and index of an access; null if lanes do not access separate elements, or if elements do not have
 * the width of a lane.
 */
function placeOf(e: Emitter, array: ArrayRef, index: Expr): BlockPosition | null {
  if (array.space === "private" || e.flow.variationOf(index) !== "varying") return null;
  if (elementSize(e, array) * e.plan.lanes !== 16) return null;
  if (index.kind === "local") return { array, local: index.id, constant: 0 };
  if (index.kind !== "binary" || index.op !== "add" || index.a.kind !== "local" || index.b.kind !== "const")
    return null;
  return { array, local: index.a.id, constant: Number(index.b.value) };
}

/** Emits the assignment of an index to its local variable, which later statements may use as well. */
function assignIndex(e: Emitter, { local, value }: Assign): void {
  for (const j of e.each)
    e.scope(() => {
      pushVector(e, value, j);
      e.code.set(e.vectors[local] + j);
    });
}

function loadRun(e: Emitter, run: readonly Step<Assign>[], j: number): void {
  const { lanes } = e.plan;
  const { addresses, fixed } = laneAddresses(e, run[0].stmt.value as Load, j);
  const rows = addresses.map(() => e.take("v128"));
  for (let k = 0; k < run.length; k += lanes) {
    addresses.forEach((address, lane) =>
      e.code
        .get(address)
        .memory("v128.load", fixed[lane] + 4 * lanesWords(lanes) * k)
        .set(rows[lane]),
    );
    transpose(e, rows, (column) => void e.code.set(e.vectors[run[k + column].stmt.local] + j));
  }
}

function storeRun(e: Emitter, run: readonly Step<Store>[], j: number): void {
  const { lanes } = e.plan;
  const { addresses, fixed } = laneAddresses(e, addressOf(run[0]), j);
  const columns = addresses.map(() => e.take("v128"));
  const rows = addresses.map(() => e.take("v128"));
  for (let k = 0; k < run.length; k += lanes) {
    columns.forEach((column, i) => {
      pushVector(e, run[k + i].stmt.value, j);
      e.code.set(column);
    });
    transpose(e, columns, (row) => void e.code.set(rows[row]));
    addresses.forEach((address, lane) =>
      e.code
        .get(address)
        .get(rows[lane])
        .memory("v128.store", fixed[lane] + 4 * lanesWords(lanes) * k),
    );
  }
}

/**
 * Returns the access of a store by the expression of its index, because one local variable may hold the indexes of
 * several stores.
 */
const addressOf = ({ stmt, index }: Step<Store>): ArrayAccess => ({
  array: stmt.array,
  index: index?.value ?? stmt.index,
});

/** Returns the number of 32-bit integers in a lane. */
const lanesWords = (lanes: number): number => 4 / lanes;

/**
 * Emits code that computes the addresses which the lanes of vector number `j` access. Returns the locals that hold them
 * and the constant byte offsets to add.
 */
function laneAddresses(e: Emitter, access: ArrayAccess, j: number): { addresses: number[]; fixed: number[] } {
  const offsets = e.take("v128");
  const beyond = pushLaneOffsets(e, access, j);
  e.code.set(offsets);
  const fixed: number[] = [];
  const addresses = Array.from({ length: e.plan.lanes }, (_, lane) => {
    const address = e.take("i32");
    fixed.push(pushLaneAddress(e, access, offsets, lane, j) + beyond);
    e.code.set(address);
    return address;
  });
  return { addresses, fixed };
}

/**
 * Emits the transposition of a square matrix whose rows are vectors. It pushes each column and calls `take` with the
 * column's number.
 */
function transpose(e: Emitter, rows: readonly number[], take: (column: number) => void): void {
  const { code } = e;
  if (rows.length === 2) {
    code.get(rows[0]).get(rows[1]).shuffleWords([0, 1, 4, 5]);
    take(0);
    code.get(rows[0]).get(rows[1]).shuffleWords([2, 3, 6, 7]);
    take(1);
    return;
  }
  const halves = [0, 1, 2, 3].map(() => e.take("v128"));
  for (const pair of [0, 1]) {
    const [a, b] = [rows[2 * pair], rows[2 * pair + 1]];
    code.get(a).get(b).shuffleWords([0, 4, 1, 5]).set(halves[pair]);
    code
      .get(a)
      .get(b)
      .shuffleWords([2, 6, 3, 7])
      .set(halves[2 + pair]);
  }
  for (const column of [0, 1, 2, 3]) {
    const at = column < 2 ? 0 : 2;
    code
      .get(halves[at])
      .get(halves[at + 1])
      .shuffleWords(column % 2 === 0 ? [0, 1, 4, 5] : [2, 3, 6, 7]);
    take(column);
  }
}
