/**
 * The execution of a whole workgroup by one thread. Statements with barriers are executed once for the workgroup,
 * because their control flow is uniform. Each longest sequence of statements without a barrier becomes a region, which
 * is a loop over the chunks of the workgroup. Variables that are used in several regions are kept in memory, in one
 * slot for each chunk. The transformation is that of pocl (Jääskeläinen et al., 2015).
 */
import type { Expr, KernelIR, Stmt } from "../../ir.ts";
import type { Uniformity } from "../../uniform.ts";
import { assignedLocal, forEachExpr, forEachStmt, expressionsOf, someLoopExit, someStmt } from "../../visit.ts";

/**
 * A sequence of statements between two barriers of a cooperative kernel. All work items of a workgroup execute it
 * before any of them executes what follows.
 */
export interface Region {
  readonly kind: "region";
  readonly list: readonly Stmt[];
  /** True if the sequence is inside a loop that contains a barrier. */
  readonly inLoop: boolean;
}

/**
 * A node of the code that one thread executes for a whole workgroup: a region between barriers, an assignment that is
 * the same for all work items, or control flow around these.
 */
export type GroupNode =
  | Region
  | { readonly kind: "once"; readonly stmt: Stmt } // a uniform assignment
  | {
      readonly kind: "if";
      readonly condition: Expr;
      readonly then: readonly GroupNode[];
      readonly else: readonly GroupNode[];
    }
  | {
      readonly kind: "loop";
      readonly init: readonly GroupNode[];
      readonly test: Expr | null;
      readonly body: readonly GroupNode[];
      readonly update: readonly GroupNode[];
    }
  | { readonly kind: "break" | "continue" };

/**
 * The code that one thread executes for a whole workgroup, with the memory slots of the local variables that must be
 * kept across barriers.
 */
export interface GroupProgram {
  readonly nodes: readonly GroupNode[];
  /** The slot in memory of each local variable; −1 for a variable that is not kept. */
  readonly slots: readonly number[];
  readonly slotCount: number;
}

/** Splits a cooperative kernel at its barriers into code that one thread can execute for a whole workgroup. */
export function groupProgram(ir: KernelIR, flow: Uniformity): GroupProgram {
  const nodes = partition(ir.body, flow, false);
  const regions: Region[] = [];
  collect(nodes, regions);
  const slots = ir.locals.map(() => -1);
  let slotCount = 0;
  for (const local of outliving(ir, flow, regions)) slots[local] = slotCount++;
  return { nodes, slots, slotCount };
}

function partition(list: readonly Stmt[], flow: Uniformity, inLoop: boolean): GroupNode[] {
  const nodes: GroupNode[] = [];
  let run: Stmt[] = [];
  const flush = (): void => {
    nodes.push(...peel(run, flow, inLoop));
    run = [];
  };
  for (const s of list) {
    if (!isGroupLevel(s, inLoop)) run.push(s);
    else {
      flush();
      if (s.kind !== "barrier") nodes.push(groupNode(s, flow, inLoop));
    }
  }
  flush();
  return nodes;
}

/** Tells whether a statement contains a barrier, or leaves a loop that contains one. */
function isGroupLevel(s: Stmt, inLoop: boolean): boolean {
  return someStmt([s], (x) => x.kind === "barrier") || (inLoop && someLoopExit([s], () => true));
}

function groupNode(s: Stmt, flow: Uniformity, inLoop: boolean): GroupNode {
  const part = (list: readonly Stmt[], loop: boolean): GroupNode[] => partition(list, flow, loop);
  if (s.kind === "break" || s.kind === "continue") return { kind: s.kind };
  if (s.kind === "if" && flow.variationOf(s.condition) === "uniform") {
    return { kind: "if", condition: s.condition, then: part(s.then, inLoop), else: part(s.else, inLoop) };
  }
  if (s.kind === "loop" && (s.test === null || flow.variationOf(s.test) === "uniform")) {
    return {
      kind: "loop",
      test: s.test,
      init: part(s.init, true),
      body: part(s.body, true),
      update: part(s.update, true),
    };
  }
  throw new Error(`internal: a barrier in divergent control flow (line ${s.place.line})`);
}

/**
 * Splits off assignments at the ends of a region that are the same for all items, because they need not be executed for
 * each chunk.
 */
function peel(run: readonly Stmt[], flow: Uniformity, inLoop: boolean): GroupNode[] {
  const uniform = (s: Stmt): boolean => s.kind === "assign" && flow.locals[s.local] === "uniform";
  let start = 0;
  let end = run.length;
  while (start < end && uniform(run[start])) start++;
  while (end > start && uniform(run[end - 1])) end--;
  const once = (s: Stmt): GroupNode => ({ kind: "once", stmt: s });
  const middle: GroupNode[] = start < end ? [{ kind: "region", list: run.slice(start, end), inLoop }] : [];
  return [...run.slice(0, start).map(once), ...middle, ...run.slice(end).map(once)];
}

function collect(nodes: readonly GroupNode[], regions: Region[]): void {
  for (const node of nodes) {
    if (node.kind === "region") regions.push(node);
    if (node.kind === "if") for (const list of [node.then, node.else]) collect(list, regions);
    if (node.kind === "loop") for (const list of [node.init, node.body, node.update]) collect(list, regions);
  }
}

/**
 * Returns the varying local variables that are used in more than one region, or that a region in a loop may read before
 * it writes them.
 */
function outliving(ir: KernelIR, flow: Uniformity, regions: readonly Region[]): number[] {
  const mentions = regions.map(localsOfRegion);
  return [...ir.locals.keys()].filter((local) => {
    if (flow.locals[local] !== "varying") return false;
    const places = regions.filter((_, i) => mentions[i].all.has(local));
    return places.length > 1 || (places.length === 1 && places[0].inLoop && !writesFirst(places[0].list, local));
  });
}

/** The local variables of a region by number: those that it reads or writes, and those that it writes. */
export interface RegionLocals {
  readonly all: ReadonlySet<number>;
  readonly written: ReadonlySet<number>;
}

/** Returns the local variables that a region reads or writes. */
export function localsOfRegion(region: Region): RegionLocals {
  const all = new Set<number>();
  const written = new Set<number>();
  forEachStmt(region.list, (s) => {
    const local = assignedLocal(s);
    if (local !== null) {
      all.add(local);
      written.add(local);
    }
    for (const e of expressionsOf(s)) forEachExpr(e, (x) => x.kind === "local" && all.add(x.id));
  });
  return { all, written };
}

/** Tells whether the first statement of a list that mentions a local variable is an assignment to it. */
function writesFirst(list: readonly Stmt[], local: number): boolean {
  const mentioned = (s: Stmt): boolean => someStmt([s], (x) => assignedLocal(x) === local || reads(x, local));
  const first = list.find(mentioned);
  if (first === undefined) return true;
  if (assignedLocal(first) === local) return !reads(first, local);
  // Declared inside a block: the front end gives such locals a value where they are declared.
  return first.kind === "if" || first.kind === "loop" ? declaredInside(first, local) : false;
}

function reads(s: Stmt, local: number): boolean {
  let found = false;
  for (const e of expressionsOf(s)) forEachExpr(e, (x) => (found ||= x.kind === "local" && x.id === local));
  return found;
}

function declaredInside(s: Stmt & { kind: "if" | "loop" }, local: number): boolean {
  if (reads(s, local)) return false;
  const lists = s.kind === "if" ? [s.then, s.else] : [[...s.init, ...s.body, ...s.update]];
  return lists.every((list) => writesFirst(list, local));
}
