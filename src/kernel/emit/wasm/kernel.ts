/**
 * The function around a kernel's body: the arguments, the loop over chunks of work items, and the last, incomplete
 * chunk.
 */
import type { KernelIR } from "../../ir.ts";
import { analyseUniformity } from "../../uniform.ts";
import { lowerFetches } from "../../lower-fetches.ts";
import { lowerSubgroups } from "../../lower-subgroups.ts";
import { emitChunkStart, setItemsBelow } from "./chunk.ts";
import { emitStatements } from "./control.ts";
import type { AnalysedKernel, EmitterFunctions, NamedFunction } from "./emitter.ts";
import { Emitter } from "./emitter.ts";
import { emitGroups } from "./group.ts";
import type { MemoryImport } from "./module.ts";
import { moduleBytes } from "./module.ts";
import type { ArgumentLayout } from "./plan.ts";
import { chunkSize, planKernel } from "./plan.ts";
import type { GroupProgram } from "./regions.ts";
import { groupProgram } from "./regions.ts";
import { scalariseArrays } from "./scalarise.ts";
import { pushContiguousBase, pushUniform } from "./scalar.ts";
import { pushVector } from "./vector.ts";
import { wasmListing } from "./listing.ts";

/** The options of `emitWasm`. */
export interface WasmOptions {
  readonly memory: MemoryImport;
  /** The number of SIMD vectors that are computed side by side: 1, 2, 4 or 8. */
  readonly vectors?: number;
}

/**
 * A kernel as a WebAssembly binary. It imports `env.memory` and exports `run(begin, end, arguments, scratch)`, which
 * executes work items (or workgroups) begin … end − 1. `begin` is a multiple of `chunk`.
 */
export interface WasmKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The byte offsets of the arguments in the memory block at `arguments`. */
  readonly arguments: ArgumentLayout;
  /** The number of work items that are computed side by side in SIMD lanes. */
  readonly chunk: number;
  /** The number of bytes of memory that each thread needs at the address `scratch`. */
  readonly scratchBytes: number;
  /** Returns the instructions as text, with the source lines from which they come. */
  listing(): string;
}

/** Four vectors of two f64 hide the latency of a division chain and still leave most values in registers. */
const DEFAULT_VECTORS = 4;
/**
 * The number of work items of a subgroup. They belong to one chunk, which runs in lock step, so that their exchanges
 * need no barriers.
 */
const SUBGROUP = 4;

/** Compiles the IR of a kernel to a WebAssembly binary. */
export function emitWasm(source: KernelIR, options: WasmOptions): WasmKernel {
  const vectors = options.vectors ?? DEFAULT_VECTORS;
  const chunk = chunkSize(source, vectors);
  const ir = scalariseArrays(
    source.cooperative
      ? lowerSubgroups(lowerFetches(source), { size: Math.min(SUBGROUP, chunk), barriers: false })
      : source,
  );
  const flow = analyseUniformity(ir, { writable: "uniform" });
  const program = ir.cooperative ? groupProgram(ir, flow) : null;
  const plan = planKernel(ir, vectors, program?.slotCount ?? 0);
  const analysed = { ir, plan, flow, sharedMemory: options.memory.shared };
  const functions: NamedFunction[] = [];
  const exported =
    program === null ? emitIndependent(functions, analysed) : emitCooperative(functions, analysed, program);
  const codes = functions.map((f) => f.code);
  return {
    bytes: moduleBytes(codes, options.memory, exported),
    arguments: plan.arguments,
    chunk: plan.chunk,
    scratchBytes: plan.scratchBytes,
    listing: () => wasmListing(ir, plan, functions),
  };
}

const EMISSION: EmitterFunctions = { pushUniform, pushContiguousBase, pushVector, emitStatements };

/** The numbers of a module's entry points. `masked`, where there are no groups, executes the one chunk from `begin`. */
type EntryPoints = { readonly run: number; readonly masked?: number };

function emitCooperative(functions: NamedFunction[], analysed: AnalysedKernel, program: GroupProgram): EntryPoints {
  const e = new Emitter("run", functions, analysed, EMISSION);
  loadArguments(e);
  emitGroups(e, program);
  return { run: functions.findIndex((f) => f.code === e.code) };
}

/**
 * Emits two functions, so that the second is compiled only if it is needed: chunks in which all items do the same, and
 * one chunk with masks for all other cases.
 */
function emitIndependent(functions: NamedFunction[], analysed: AnalysedKernel): EntryPoints {
  const together = new Emitter("run", functions, analysed, EMISSION);
  const masked = new Emitter("one chunk under masks", functions, analysed, EMISSION);
  const numberOf = ({ code }: Emitter): number => functions.findIndex((f) => f.code === code);
  const entries = { run: numberOf(together), masked: numberOf(masked) };
  emitChunks(together, entries.masked);
  emitMaskedChunk(masked);
  return entries;
}

function loadArguments(e: Emitter): void {
  const { code, plan } = e;
  const load = (op: "i32.load" | "f64.load" | "f32.load", at: number, local: number): void =>
    void code.get(e.argumentBlock).memory(op, at).set(local);
  load("i32.load", plan.arguments.groupCount, e.groupCount);
  e.ir.buffers.forEach((_, i) => {
    load("i32.load", plan.arguments.buffers[i], e.bufferBase[i]);
    load("i32.load", plan.arguments.buffers[i] + 4, e.bufferLength[i]);
  });
  e.ir.scalars.forEach((p, i) => {
    load(p.type === "real" ? `${plan.real}.load` : "i32.load", plan.arguments.scalars[i], e.params[i]);
  });
  code.get(e.scratch).set(e.privateBase);
}

/**
 * This loop tests at its end: V8 moves constants out of a loop only from blocks that every way out passes through, and
 * rebuilding a vector of constants takes three instructions. (The kernel's own loops became no faster that way.)
 */
function emitChunks(e: Emitter, masked: number): void {
  const { code, plan } = e;
  const runMasked = (): void => void code.get(e.first).get(e.end).get(e.argumentBlock).get(e.scratch).call(masked);
  const pushWhole = (): void => void code.get(e.end).get(e.first).op("i32.sub").i32(plan.chunk).op("i32.ge_s");
  loadArguments(e);
  code.get(e.begin).set(e.first);
  pushWhole();
  code.if();
  const again = code.loop();
  const next = code.block();
  e.restart = code.block();
  emitChunkStart(e);
  emitStatements(e, e.ir.body);
  code.br(next);
  code.end();
  runMasked(); // reached only if something restarts
  code.end();
  code.get(e.first).i32(plan.chunk).op("i32.add").set(e.first);
  pushWhole();
  code.brIf(again);
  code.end().end();
  code.get(e.first).get(e.end).op("i32.lt_s").if();
  runMasked();
  code.end();
}

function emitMaskedChunk(e: Emitter): void {
  loadArguments(e);
  e.code.get(e.begin).set(e.first);
  emitChunkStart(e);
  const mask = e.takeVectors();
  setItemsBelow(e, mask, () => void e.code.get(e.end).get(e.first).op("i32.sub"));
  e.withMask(mask, () => emitStatements(e, e.ir.body));
}
