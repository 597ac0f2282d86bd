/**
 * Emits cooperative kernels: a loop over workgroups that contains, for each region between barriers, a loop over the
 * chunks of the workgroup.
 */
import { emitChunkStart, setItemsBelow } from "./chunk.ts";
import type { Label } from "./code.ts";
import { emitStatements, emitStatement } from "./control.ts";
import type { Emitter } from "./emitter.ts";
import type { GroupNode, GroupProgram, Region } from "./regions.ts";
import { localsOfRegion } from "./regions.ts";
import { pushUniform } from "./scalar.ts";

interface GroupLoop {
  readonly exit: Label;
  readonly next: Label;
}

/**
 * Emits the loop over the workgroups of a cooperative kernel, a kernel whose work items have barriers or share memory.
 */
export function emitGroups(e: Emitter, program: GroupProgram): void {
  const { code } = e;
  code.get(e.begin).set(e.groupId);
  const done = code.block();
  const again = code.loop();
  code.get(e.groupId).get(e.end).op("i32.ge_s").brIf(done);
  emitNodes(e, program, program.nodes, []);
  code.get(e.groupId).i32(1).op("i32.add").set(e.groupId);
  code.br(again);
  code.end().end();
}

function emitNodes(e: Emitter, program: GroupProgram, nodes: readonly GroupNode[], loops: readonly GroupLoop[]): void {
  for (const node of nodes) emitNode(e, program, node, loops);
}

function emitNode(e: Emitter, program: GroupProgram, node: GroupNode, loops: readonly GroupLoop[]): void {
  switch (node.kind) {
    case "region":
      return e.scope(() => emitRegion(e, program, node));
    case "once":
      return emitStatement(e, node.stmt);
    case "if":
      return emitIf(e, program, node, loops);
    case "loop":
      return emitLoop(e, program, node, loops);
    case "break":
    case "continue": {
      const loop = loops[loops.length - 1];
      return void e.code.br(node.kind === "break" ? loop.exit : loop.next);
    }
    default:
      node satisfies never;
  }
}

function emitIf(
  e: Emitter,
  program: GroupProgram,
  node: GroupNode & { kind: "if" },
  loops: readonly GroupLoop[],
): void {
  e.scope(() => pushUniform(e, node.condition));
  e.code.if();
  emitNodes(e, program, node.then, loops);
  e.code.else();
  emitNodes(e, program, node.else, loops);
  e.code.end();
}

function emitLoop(
  e: Emitter,
  program: GroupProgram,
  node: GroupNode & { kind: "loop" },
  loops: readonly GroupLoop[],
): void {
  const { code } = e;
  const { test } = node;
  emitNodes(e, program, node.init, loops);
  const exit = code.block();
  const again = code.loop();
  if (test !== null) {
    e.scope(() => pushUniform(e, test));
    code.op("i32.eqz").brIf(exit);
  }
  const next = code.block();
  emitNodes(e, program, node.body, [...loops, { exit, next }]);
  code.end();
  emitNodes(e, program, node.update, loops);
  code.br(again);
  code.end().end();
}

function emitRegion(e: Emitter, program: GroupProgram, region: Region): void {
  const { code, plan } = e;
  const saved = plan.chunks > 1 ? saveScalars(e, region) : [];
  const whole = Math.floor(e.ir.groupSize / plan.chunk) * plan.chunk;
  code.i32(0).set(e.first);
  code.get(e.scratch).set(e.privateBase);
  if (whole > plan.chunk) {
    const again = code.loop();
    runChunk(e, program, region, saved);
    code.get(e.privateBase).i32(plan.chunkBytes).op("i32.add").set(e.privateBase);
    code.get(e.first).i32(plan.chunk).op("i32.add").tee(e.first).i32(whole).op("i32.lt_s").brIf(again);
    code.end();
  } else if (whole > 0) {
    runChunk(e, program, region, saved);
    code.get(e.privateBase).i32(plan.chunkBytes).op("i32.add").set(e.privateBase);
    code.i32(whole).set(e.first);
  }
  if (whole < e.ir.groupSize) runLastChunk(e, program, region, saved);
}

/**
 * Saves the scalar variables that a region changes, because every chunk must start with their values before the region.
 */
function saveScalars(e: Emitter, region: Region): { local: number; copy: number }[] {
  const locals = [...localsOfRegion(region).written]
    .filter((id) => e.flow.locals[id] !== "varying")
    .map((id) => ({ id, local: e.scalars[id] }));
  return locals.map(({ id, local }) => {
    const type = e.ir.locals[id].type === "real" ? e.plan.real : "i32";
    const copy = e.take(type);
    e.code.get(local).set(copy);
    return { local, copy };
  });
}

function runChunk(
  e: Emitter,
  program: GroupProgram,
  region: Region,
  saved: readonly { local: number; copy: number }[],
): void {
  for (const { local, copy } of saved) e.code.get(copy).set(local);
  emitChunkStart(e);
  moveSpills(e, program, region, "in");
  emitStatements(e, region.list);
  moveSpills(e, program, region, "out");
}

function runLastChunk(
  e: Emitter,
  program: GroupProgram,
  region: Region,
  saved: readonly { local: number; copy: number }[],
): void {
  const mask = e.takeVectors();
  setItemsBelow(e, mask, () => void e.code.i32(e.ir.groupSize).get(e.first).op("i32.sub"));
  e.withMask(mask, () => runChunk(e, program, region, saved));
  e.giveVectors(mask);
}

/**
 * Emits loads or stores of the variables that are kept in memory across barriers. A workgroup of one chunk keeps them
 * in registers.
 */
function moveSpills(e: Emitter, program: GroupProgram, region: Region, way: "in" | "out"): void {
  if (e.plan.chunks === 1) return;
  const { all, written } = localsOfRegion(region);
  for (const local of way === "in" ? all : written) {
    const slot = program.slots[local];
    if (slot < 0) continue;
    for (const j of e.each) {
      const at = e.plan.spills + (slot * e.plan.vectors + j) * 16;
      if (way === "in")
        e.code
          .get(e.privateBase)
          .memory("v128.load", at)
          .set(e.vectors[local] + j);
      else
        e.code
          .get(e.privateBase)
          .get(e.vectors[local] + j)
          .memory("v128.store", at);
    }
  }
}
