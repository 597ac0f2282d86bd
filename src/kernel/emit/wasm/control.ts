/**
 * Statements. If work items take different branches, lane masks say which lanes are active. Code under a mask runs only
 * if some lane is active.
 */
import type { Expr, Stmt } from "../../ir.ts";
import { expressionsOf, someExpr, someLoopExit, someStmt, codeSize } from "../../visit.ts";
import { emitAtomic } from "./atomic.ts";
import { emitAccessSequence } from "./blocks.ts";
import type { Emitter } from "./emitter.ts";
import { emitLoop, emitLoopExit } from "./loops.ts";
import { pushAllLanes, pushAnyLane, setComplement, popToLocal } from "./masks.ts";
import { prepareSharedValues } from "./prepare.ts";
import { pushContiguousBase, pushUniform } from "./scalar.ts";
import { emitStore } from "./store.ts";
import { emitStraightLine } from "./straight.ts";
import { pushVector } from "./vector.ts";

type If = Stmt & { readonly kind: "if" };

/** The largest size, in IR nodes, of a body that runs under its mask without a check whether any lane is active. */
const SMALL = 24;
/**
 * The largest size, in IR nodes, of a body of which a copy without masks is emitted for the case that all lanes execute
 * it.
 */
const COPYABLE = 4000;
const MAX_COPIES = 2;

/** Emits WebAssembly code for a list of statements. */
export function emitStatements(e: Emitter, list: readonly Stmt[]): void {
  for (let i = 0; i < list.length; i++) {
    const run = emitAccessSequence(e, list, i) || emitStraightLine(e, list, i);
    if (run > 0) {
      if (!list.slice(i, i + run).every(repeatable)) e.restart = null;
      i += run - 1;
      continue;
    }
    emitStatement(e, list[i]);
    if (!repeatable(list[i])) e.restart = null;
    if (list[i].kind === "break" || list[i].kind === "continue") return; // what follows is never reached
    if (!mayPart(e, list[i])) continue;
    narrow(e);
    const rest = list.slice(i + 1);
    if (rest.length === 0) return;
    pushAnyLane(e, e.mask);
    e.code.if();
    emitStatements(e, rest);
    e.code.end();
    return;
  }
}

/** Tells whether some but not all lanes may have left the loop or the iteration in statement `s`. */
function mayPart(e: Emitter, s: Stmt): boolean {
  const loop = e.loops.at(-1);
  return loop !== undefined && loop.live !== null && s.kind === "if" && someLoopExit([s], () => true);
}

/** Emits code that removes from the current mask the lanes that have left the iteration. */
function narrow(e: Emitter): void {
  const live = e.loops.at(-1)?.live ?? null;
  if (live === null || e.mask === null || e.mask === live) return;
  for (const j of e.each)
    e.code
      .get(e.mask + j)
      .get(live + j)
      .op("v128.and")
      .set(e.mask + j);
}

/** Emits WebAssembly code for a statement, and releases the temporaries that it takes. */
export function emitStatement(e: Emitter, s: Stmt): void {
  e.code.mark(`${s.place.source}:${s.place.line}`);
  e.scope(() => {
    emitUnscoped(e, s);
    e.clearPrepared();
  });
}

function emitUnscoped(e: Emitter, s: Stmt): void {
  switch (s.kind) {
    case "assign":
      return assign(e, s.local, s.value);
    case "store":
      return emitStore(e, s);
    case "atomic":
      return emitAtomic(e, s);
    case "if":
      return emitIf(e, s);
    case "loop":
      return emitLoop(e, s);
    case "break":
    case "continue":
      return emitLoopExit(e, s.kind);
    case "fetch":
    case "barrier":
    case "subgroup":
      throw new Error(`internal: ${s.kind} inside a region`);
    default:
      s satisfies never;
  }
}

function assign(e: Emitter, local: number, value: Expr): void {
  const shape = e.flow.locals[local];
  if (shape !== "varying") {
    (shape === "uniform" ? pushUniform : pushContiguousBase)(e, value);
    return void e.code.set(e.scalars[local]);
  }
  prepareSharedValues(e, value);
  for (const j of e.each) {
    e.scope(() => {
      pushVector(e, value, j);
      popToLocal(e, local, j);
    });
  }
}

function emitIf(e: Emitter, s: If): void {
  if (e.flow.variationOf(s.condition) !== "uniform") return emitVaryingIf(e, s);
  pushUniform(e, s.condition);
  e.clearPrepared();
  e.code.if();
  emitStatements(e, s.then);
  if (s.else.length > 0) {
    e.code.else();
    emitStatements(e, s.else);
  }
  e.code.end();
}

function emitVaryingIf(e: Emitter, s: If): void {
  const taken = e.takeVectors();
  prepareSharedValues(e, s.condition);
  for (const j of e.each) {
    e.scope(() => {
      pushVector(e, s.condition, j);
      if (e.mask !== null) e.code.get(e.mask + j).op("v128.and");
      e.code.set(taken + j);
    });
  }
  e.clearPrepared();
  // The other side's mask comes first: the condition may change under this one.
  if (e.restart !== null && e.mask === null && restartable(e, s, taken, e.restart)) return e.giveVectors(taken);
  const others = s.else.length > 0 ? setComplement(e, taken) : null;
  if (s.then.length > 0) branch(e, taken, s.then);
  if (others !== null) {
    branch(e, others, s.else);
    e.giveVectors(others);
  }
  e.giveVectors(taken);
}

/**
 * Emits a condition around most of the kernel, such as an early return. If all lanes agree, they continue without
 * masks; otherwise the chunk starts again with masks. This saves a third copy of the body.
 */
function restartable(e: Emitter, s: If, taken: number, restart: number): boolean {
  if (2 * codeSize([s]) < codeSize(e.ir.body) || [s.then, s.else].every(harmless)) return false;
  const { code } = e;
  pushAllLanes(e, taken);
  code.if();
  emitStatements(e, s.then);
  code.else();
  pushAnyLane(e, taken);
  code.brIf(restart);
  e.restart = restart;
  emitStatements(e, s.else);
  code.end();
  e.restart = null;
  return true;
}

/**
 * Tells whether a chunk may still start again after a statement, because the statement is cheap and has no effect
 * outside its lanes.
 */
function repeatable(s: Stmt): boolean {
  return s.kind === "assign" || (s.kind === "store" && s.array.space === "private");
}

function branch(e: Emitter, mask: number, body: readonly Stmt[]): void {
  if (harmless(body)) return e.withMask(mask, () => emitStatements(e, body));
  if (e.mask === null && worthCopy(e, body)) return branchTwice(e, mask, body);
  pushAnyLane(e, mask);
  e.code.if();
  e.withMask(mask, () => emitStatements(e, body));
  e.code.end();
}

/** Emits a body for three cases: all lanes are active, some are, or none is. */
function branchTwice(e: Emitter, mask: number, body: readonly Stmt[]): void {
  e.copies++;
  pushAllLanes(e, mask);
  e.code.if();
  emitStatements(e, body);
  e.code.else();
  pushAnyLane(e, mask);
  e.code.if();
  e.withMask(mask, () => emitStatements(e, body));
  e.code.end().end();
  e.copies--;
}

function worthCopy(e: Emitter, body: readonly Stmt[]): boolean {
  if (e.copies >= MAX_COPIES || codeSize(body) > COPYABLE) return false;
  return e.copies === 0 || someStmt(body, (s) => s.kind === "loop");
}

/**
 * Tells whether a body consists of a few assignments without loads, which are cheaper to execute under an empty mask
 * than to branch around.
 */
function harmless(body: readonly Stmt[]): boolean {
  return (
    codeSize(body) <= SMALL &&
    body.every((s) => s.kind === "assign" && expressionsOf(s).every((x) => !someExpr(x, (y) => y.kind === "load")))
  );
}
