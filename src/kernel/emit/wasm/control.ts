/**
 * Statements. If work items take different branches, lane masks say which lanes are active. Code under a mask runs only
 * if some lane is active.
 */
import type { Expr, Stmt } from "../../ir.ts";
import { operands, someExpr, someLeave, someStmt, weight } from "../../visit.ts";
import { emitAtomic } from "./atomic.ts";
import { emitRun } from "./blocks.ts";
import type { Emitter } from "./emitter.ts";
import { emitLoop, leave } from "./loops.ts";
import { allLanesOf, anyLane, complement, setVector } from "./masks.ts";
import { prepare } from "./prepare.ts";
import { offset, scalar } from "./scalar.ts";
import { emitStore } from "./store.ts";
import { emitStraight } from "./straight.ts";
import { vector } from "./vector.ts";

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
export function emitList(e: Emitter, list: readonly Stmt[]): void {
  for (let i = 0; i < list.length; i++) {
    const run = emitRun(e, list, i) || emitStraight(e, list, i);
    if (run > 0) {
      if (!list.slice(i, i + run).every(repeatable)) e.restart = null;
      i += run - 1;
      continue;
    }
    statement(e, list[i]);
    if (!repeatable(list[i])) e.restart = null;
    if (list[i].kind === "break" || list[i].kind === "continue") return; // what follows is never reached
    if (!mayPart(e, list[i])) continue;
    narrow(e);
    const rest = list.slice(i + 1);
    if (rest.length === 0) return;
    anyLane(e, e.mask);
    e.code.if();
    emitList(e, rest);
    e.code.end();
    return;
  }
}

/** Tells whether some but not all lanes may have left the loop or the iteration in statement `s`. */
function mayPart(e: Emitter, s: Stmt): boolean {
  const loop = e.loops.at(-1);
  return loop !== undefined && loop.live !== null && s.kind === "if" && someLeave([s], () => true);
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

/** Emits WebAssembly code for a statement. */
export function statement(e: Emitter, s: Stmt): void {
  e.code.mark(`${s.place.source}:${s.place.line}`);
  e.scope(() => {
    emitStatement(e, s);
    e.clearPrepared();
  });
}

function emitStatement(e: Emitter, s: Stmt): void {
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
      return leave(e, s.kind);
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
    (shape === "uniform" ? scalar : offset)(e, value);
    return void e.code.set(e.scalars[local]);
  }
  prepare(e, value);
  for (const j of e.each) {
    e.scope(() => {
      vector(e, value, j);
      setVector(e, local, j);
    });
  }
}

function emitIf(e: Emitter, s: If): void {
  if (e.flow.shape(s.condition) !== "uniform") return emitVaryingIf(e, s);
  scalar(e, s.condition);
  e.clearPrepared();
  e.code.if();
  emitList(e, s.then);
  if (s.else.length > 0) {
    e.code.else();
    emitList(e, s.else);
  }
  e.code.end();
}

function emitVaryingIf(e: Emitter, s: If): void {
  const taken = e.takeVectors();
  prepare(e, s.condition);
  for (const j of e.each) {
    e.scope(() => {
      vector(e, s.condition, j);
      if (e.mask !== null) e.code.get(e.mask + j).op("v128.and");
      e.code.set(taken + j);
    });
  }
  e.clearPrepared();
  // The other side's mask comes first: the condition may change under this one.
  if (e.restart !== null && e.mask === null && restartable(e, s, taken, e.restart)) return e.giveVectors(taken);
  const others = s.else.length > 0 ? complement(e, taken) : null;
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
  if (2 * weight([s]) < weight(e.ir.body) || [s.then, s.else].every(harmless)) return false;
  const { code } = e;
  allLanesOf(e, taken);
  code.if();
  emitList(e, s.then);
  code.else();
  anyLane(e, taken);
  code.brIf(restart);
  e.restart = restart;
  emitList(e, s.else);
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
  if (harmless(body)) return e.withMask(mask, () => emitList(e, body));
  if (e.mask === null && worthCopy(e, body)) return branchTwice(e, mask, body);
  anyLane(e, mask);
  e.code.if();
  e.withMask(mask, () => emitList(e, body));
  e.code.end();
}

/** Emits a body for three cases: all lanes are active, some are, or none is. */
function branchTwice(e: Emitter, mask: number, body: readonly Stmt[]): void {
  e.copies++;
  allLanesOf(e, mask);
  e.code.if();
  emitList(e, body);
  e.code.else();
  anyLane(e, mask);
  e.code.if();
  e.withMask(mask, () => emitList(e, body));
  e.code.end().end();
  e.copies--;
}

function worthCopy(e: Emitter, body: readonly Stmt[]): boolean {
  if (e.copies >= MAX_COPIES || weight(body) > COPYABLE) return false;
  return e.copies === 0 || someStmt(body, (s) => s.kind === "loop");
}

/**
 * Tells whether a body consists of a few assignments without loads, which are cheaper to execute under an empty mask
 * than to branch around.
 */
function harmless(body: readonly Stmt[]): boolean {
  return (
    weight(body) <= SMALL &&
    body.every((s) => s.kind === "assign" && operands(s).every((x) => !someExpr(x, (y) => y.kind === "load")))
  );
}
