/**
 * Finds workgroup arrays that may be declared as arrays of `vec4f`. The remainder modulo 4 of each of their indexes is
 * known, and stores come in sequences of four neighbouring elements. Loads of neighbours are then loads of one vector
 * with one clamped index, where GPU compilers otherwise see four of each.
 *
 * Stores must come in such sequences because WGSL allows a store to a component to write its whole vector. Here the
 * work item that stores one component stores all four.
 */
import type { ArrayRef, Expr, KernelIR, Stmt } from "../../ir.ts";
import { assignedLocal, nestedLists, forEachExpr, forEachStmt, expressionsOf, someExpr } from "../../visit.ts";

/** The remainder of an index modulo 4. It is "any" if it is not known, and undefined before the first assignment. */
type Remainder = 0 | 1 | 2 | 3 | "any" | undefined;

/**
 * The workgroup arrays of a kernel that are declared as arrays of `vec4f`, so that four neighbouring elements are
 * accessed at once.
 */
export interface QuadArrays {
  /** The numbers of these arrays among the kernel's workgroup arrays. */
  readonly arrays: ReadonlySet<number>;
  /** Returns the remainder modulo 4 of an index of these arrays. */
  component(index: Expr): 0 | 1 | 2 | 3;
}

/** Returns the workgroup arrays of a kernel that can be declared as arrays of `vec4f`. */
export function quadArraysOf(ir: KernelIR): QuadArrays {
  const remainders = localRemainders(ir);
  const remainder = (e: Expr): Remainder => remainderOf(e, remainders);
  const arrays = new Set<number>();
  ir.workgroups.forEach(({ element, length, atomic }, id) => {
    if (ir.precision === "f32" && element === "real" && !atomic && length % 4 === 0) arrays.add(id);
  });
  if (arrays.size > 0) {
    forEachStmt(ir.body, (s) => {
      for (const e of expressionsOf(s))
        forEachExpr(e, (x) => {
          if (x.kind === "load" && isWorkgroup(x.array) && !isKnown(remainder(x.index))) arrays.delete(x.array.id);
        });
    });
    checkStores(ir.body, { remainder, definitions: definitionsIn(ir) }, arrays);
  }
  const component = (index: Expr): 0 | 1 | 2 | 3 => remainder(index) as 0 | 1 | 2 | 3;
  return { arrays, component };
}

const isWorkgroup = ({ space }: ArrayRef): boolean => space === "workgroup";
const isKnown = (remainder: Remainder): boolean => typeof remainder === "number";

interface Facts {
  readonly remainder: (e: Expr) => Remainder;
  /**
   * The definitions of local variables that are assigned once. The front end keeps an index in such a variable while it
   * computes the stored value.
   */
  readonly definitions: ReadonlyMap<number, Expr>;
}

/** Removes from `arrays` those whose stores are not sequences of four neighbours that begin at a multiple of four. */
function checkStores(list: readonly Stmt[], facts: Facts, arrays: Set<number>): void {
  const stores: Store[] = [];
  const endRuns = (): void => {
    for (let i = 0; i < stores.length; i += 4)
      if (!isRun(stores.slice(i, i + 4), facts))
        for (const { array } of stores.slice(i, i + 4)) arrays.delete(array.id);
    stores.length = 0;
  };
  for (const s of list) {
    if (s.kind === "store" && isWorkgroup(s.array)) stores.push(s);
    else if (s.kind !== "assign" && s.kind !== "store") endRuns();
    for (const body of nestedLists(s)) checkStores(body, facts, arrays);
  }
  endRuns();
}

type Store = Stmt & { readonly kind: "store" };

function isRun(run: readonly Store[], { remainder, definitions }: Facts): boolean {
  const [first] = run;
  if (run.length < 4 || remainder(first.index) !== 0) return false;
  const start = split(first.index, definitions);
  return run.every(({ array, index, value }, r) => {
    const { base, constant } = split(index, definitions);
    const loads = someExpr(value, (e) => e.kind === "load" && isWorkgroup(e.array));
    return array.id === first.array.id && !loads && constant === start.constant + r && isSame(base, start.base);
  });
}

/** Splits an index into a base expression and a constant. */
function split(
  e: Expr,
  definitions: ReadonlyMap<number, Expr>,
): { readonly base: Expr | undefined; readonly constant: number } {
  if (e.kind === "const") return { base: undefined, constant: Number(e.value) };
  const sum = e.kind === "local" ? definitions.get(e.id) : e;
  if (sum?.kind !== "binary" || sum.op !== "add" || sum.b.kind !== "const") return { base: e, constant: 0 };
  const { base, constant } = split(sum.a, definitions);
  return { base, constant: constant + Number(sum.b.value) };
}

function definitionsIn(ir: KernelIR): ReadonlyMap<number, Expr> {
  const definitions = new Map<number, Expr>();
  const several = new Set<number>();
  forEachStmt(ir.body, (s) => {
    if (s.kind !== "assign") return;
    if (definitions.has(s.local)) several.add(s.local);
    definitions.set(s.local, s.value);
  });
  for (const local of several) definitions.delete(local);
  return definitions;
}

/**
 * Tells whether two expressions are equal sums and products of local variables, parameters and constants. Other
 * expressions count as different.
 */
function isSame(a: Expr | undefined, b: Expr | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if ((a.kind === "local" && b.kind === "local") || (a.kind === "param" && b.kind === "param")) return a.id === b.id;
  if (a.kind === "const" && b.kind === "const") return a.value === b.value;
  if (a.kind !== "binary" || b.kind !== "binary") return false;
  return a.op === b.op && isSame(a.a, b.a) && isSame(a.b, b.b);
}

/** Returns the remainder of every local variable over all of its assignments, by a fixed-point iteration. */
function localRemainders(ir: KernelIR): readonly Remainder[] {
  const found: Remainder[] = ir.locals.map(() => undefined);
  for (let changed = true; changed;) {
    changed = false;
    forEachStmt(ir.body, (s) => {
      const local = assignedLocal(s);
      if (local === null) return;
      const next = s.kind === "assign" ? either(found[local], remainderOf(s.value, found)) : "any";
      if (next !== found[local]) [found[local], changed] = [next, true];
    });
  }
  return found;
}

function either(a: Remainder, b: Remainder): Remainder {
  if (a === undefined || a === b) return b;
  return b === undefined ? a : "any";
}

function remainderOf(e: Expr, locals: readonly Remainder[]): Remainder {
  if (e.type !== "i32" && e.type !== "u32") return "any";
  switch (e.kind) {
    case "const":
      return (Number(e.value) & 3) as Remainder;
    case "local":
      return locals[e.id];
    case "select":
      return either(remainderOf(e.a, locals), remainderOf(e.b, locals));
    case "binary":
      return combined(e.op, remainderOf(e.a, locals), remainderOf(e.b, locals), e.b);
    default:
      return "any";
  }
}

/** Returns the remainder of a sum or product. These wrap modulo 2³², which 4 divides. */
function combined(op: string, a: Remainder, b: Remainder, right: Expr): Remainder {
  if (op === "mul" && (a === 0 || b === 0)) return 0;
  if (op === "shl") return right.kind === "const" && (Number(right.value) & 31) >= 2 ? 0 : "any";
  if (op !== "add" && op !== "sub" && op !== "mul") return "any";
  if (a === undefined || b === undefined) return undefined;
  if (a === "any" || b === "any") return "any";
  return ((op === "add" ? a + b : op === "sub" ? a - b : a * b) & 3) as Remainder;
}
