/**
 * The state that the emitting functions share: the code so far, the WebAssembly locals of the kernel's variables, and
 * the active lanes.
 */
import type { Expr, KernelIR, Stmt } from "../../ir.ts";
import type { Uniformity } from "../../uniform.ts";
import { FunctionCode } from "./code.ts";
import type { Label } from "./code.ts";
import type { ValueType } from "./opcodes.ts";
import type { CodePlan } from "./plan.ts";
import { valueType } from "./plan.ts";

/**
 * A mask of active SIMD lanes: the index of the first of the v128 locals that hold it, one for each vector. A lane is
 * all ones while it is active. Null means that all lanes are known to be active.
 */
export type LaneMask = number | null;

/** The branch targets and the lane masks of a loop whose body is being emitted. */
export interface LoopScope {
  /** The label after the loop, to which `break` jumps. */
  readonly exit: Label;
  /** The label of the loop's update, to which `continue` jumps. */
  readonly next: Label;
  /** The lanes that are still in the loop; null if all lanes leave it together. */
  readonly active: LaneMask;
  /**
   * The lanes that are still in this iteration. It equals `active` unless lanes may skip the rest of an iteration
   * separately.
   */
  readonly live: LaneMask;
}

/** A function of a WebAssembly module: its name and its code. */
export interface NamedFunction {
  readonly name: string;
  readonly code: FunctionCode;
}

/** A helper function that is added to a WebAssembly module when a kernel first calls it. */
export interface HelperFunction {
  readonly name: string;
  build(): FunctionCode;
}

/**
 * A kernel that has been analysed for code generation: its IR, the layout of its code, and the analysis of which values
 * are the same for all work items.
 */
export interface AnalysedKernel {
  readonly ir: KernelIR;
  readonly plan: CodePlan;
  readonly flow: Uniformity;
  /** True if the module's memory is shared between threads. */
  readonly sharedMemory: boolean;
}

/**
 * The functions that emit expressions and statements. They call each other recursively, and are passed as an object
 * because they are in different files.
 */
export interface EmitterFunctions {
  /** Emits code that pushes a value that is the same for all work items; see `scalar.ts`. */
  pushUniform(e: Emitter, x: Expr): void;
  /** Emits code that pushes the uniform part of a contiguous integer; see `scalar.ts`. */
  pushContiguousBase(e: Emitter, x: Expr): void;
  /** Emits code that pushes vector number `j` of a value; see `vector.ts`. */
  pushVector(e: Emitter, x: Expr, j: number): void;
  /** Emits a list of statements; see `control.ts`. */
  emitStatements(e: Emitter, statements: readonly Stmt[]): void;
}

/** The state of code generation for a WebAssembly kernel. */
export class Emitter {
  readonly emission: EmitterFunctions;
  readonly code = new FunctionCode(["i32", "i32", "i32", "i32"], []);
  readonly ir: KernelIR;
  readonly plan: CodePlan;
  readonly flow: Uniformity;
  readonly sharedMemory: boolean;
  /** The numbers of the SIMD vectors, for loops over them. */
  readonly each: readonly number[];
  /**
   * The WebAssembly local of each kernel variable that is the same for all work items or increases by one from item to
   * item. In the second case it holds the value minus the item's number in the chunk.
   */
  readonly scalars: readonly number[];
  /** The first of the `plan.vectors` v128 locals of each kernel variable that varies between work items. */
  readonly vectors: readonly number[];
  readonly params: readonly number[];
  readonly bufferBase: readonly number[];
  readonly bufferLength: readonly number[];
  /** The locals with buffer addresses advanced to the chunk's first work item, for contiguous accesses. */
  readonly bufferChunk: readonly number[];
  readonly groupCount: number;
  readonly groupId: number;
  /**
   * The local with the number of the chunk's first work item in the launch, or, for cooperative kernels, in its
   * workgroup.
   */
  readonly first: number;
  readonly scratch4: number;
  readonly scratch8: number;
  readonly privateBase: number;
  mask: LaneMask = null;
  /**
   * True while the emitted code may run for lanes that the kernel would not reach, so that loads must be clamped to
   * their arrays.
   */
  guarded = false;
  /** The number of times that the surrounding code has been duplicated for a copy without lane masks. */
  copies = 0;
  readonly loops: LoopScope[] = [];
  /** The locals with values and addresses that are computed once for all vectors of a statement, by expression. */
  readonly prepared = new Map<Expr, number>();
  /** The constant byte offsets that belong to prepared addresses. */
  readonly fixedOffsets = new Map<Expr, number>();
  /** The first of the locals with values that are computed for all vectors of a statement together, by expression. */
  readonly preparedVectors = new Map<Expr, number>();
  /** The functions of the module so far. The first is `run`. */
  readonly functions: NamedFunction[];
  /**
   * The label that starts the chunk again with lane masks. It is valid while all lanes are active and only locals and
   * private arrays have changed.
   */
  restart: Label | null = null;
  private readonly free = new Map<ValueType, number[]>();
  private readonly taken: { type: ValueType; local: number }[] = [];

  constructor(
    name: string,
    functions: NamedFunction[],
    { ir, plan, flow, sharedMemory }: AnalysedKernel,
    emission: EmitterFunctions,
  ) {
    this.emission = emission;
    functions.push({ name, code: this.code });
    this.functions = functions;
    this.ir = ir;
    this.plan = plan;
    this.flow = flow;
    this.sharedMemory = sharedMemory;
    this.each = Array.from({ length: plan.vectors }, (_, j) => j);
    const i32 = (): number => this.code.addLocal("i32");
    this.params = ir.scalars.map((p) => this.code.addLocal(valueType(p.type, plan)));
    this.bufferBase = ir.buffers.map(i32);
    this.bufferLength = ir.buffers.map(i32);
    this.bufferChunk = ir.buffers.map(i32);
    [this.groupCount, this.groupId, this.first, this.scratch4, this.scratch8, this.privateBase] = [
      i32(),
      i32(),
      i32(),
      i32(),
      i32(),
      i32(),
    ];
    this.scalars = ir.locals.map((l, id) =>
      flow.locals[id] === "varying" ? -1 : this.code.addLocal(valueType(l.type, plan)),
    );
    this.vectors = ir.locals.map((_, id) => (flow.locals[id] === "varying" ? this.addVectors() : -1));
  }

  /** The index of the first parameter of `run`. */
  readonly begin = 0;
  readonly end = 1;
  readonly argumentBlock = 2;
  readonly scratch = 3;

  get simd(): "f64x2" | "f32x4" {
    return this.plan.wide ? "f64x2" : "f32x4";
  }

  /** The 32-bit lanes of a vector in which integers are held. */
  get words(): readonly number[] {
    return this.plan.wide ? [0, 2] : [0, 1, 2, 3];
  }

  /** Emits code that pushes a value that is the same for all work items. */
  pushUniform(x: Expr): void {
    this.emission.pushUniform(this, x);
  }

  /**
   * Emits code that pushes the uniform part of a contiguous integer: its value at the first item of the chunk, minus
   * the number of that item.
   */
  pushContiguousBase(x: Expr): void {
    this.emission.pushContiguousBase(this, x);
  }

  /** Emits code that pushes vector number `j` of a value. */
  pushVector(x: Expr, j: number): void {
    this.emission.pushVector(this, x, j);
  }

  emitStatements(statements: readonly Stmt[]): void {
    this.emission.emitStatements(this, statements);
  }

  addVectors(): number {
    const first = this.code.addLocal("v128");
    for (let j = 1; j < this.plan.vectors; j++) this.code.addLocal("v128");
    return first;
  }

  take(type: ValueType): number {
    const local = this.free.get(type)?.pop() ?? this.code.addLocal(type);
    this.taken.push({ type, local });
    return local;
  }

  /** Calls `emit` and releases all temporaries that it took. */
  scope(emit: () => void): void {
    const before = this.taken.length;
    emit();
    for (const { type, local } of this.taken.splice(before)) {
      const list = this.free.get(type);
      if (list === undefined) this.free.set(type, [local]);
      else list.push(local);
    }
  }

  /** Temporaries for a set of vectors; given back by hand, since they are neighbours. */
  private readonly freeVectors: number[] = [];
  takeVectors(): number {
    return this.freeVectors.pop() ?? this.addVectors();
  }
  giveVectors(first: number): void {
    this.freeVectors.push(first);
  }

  /** Forgets prepared values, at a new statement or when they may have changed. */
  clearPrepared(): void {
    for (const first of this.preparedVectors.values()) this.giveVectors(first);
    this.preparedVectors.clear();
    this.prepared.clear();
    this.fixedOffsets.clear();
  }

  withGuard(emit: () => void): void {
    const before = this.guarded;
    this.guarded = true;
    emit();
    this.guarded = before;
  }

  withMask(mask: LaneMask, emit: () => void): void {
    const before = this.mask;
    this.mask = mask;
    emit();
    this.mask = before;
  }

  helper(f: HelperFunction): number {
    const index = this.functions.findIndex((h) => h.name === f.name);
    return index >= 0 ? index : this.functions.push({ name: f.name, code: f.build() }) - 1;
  }
}
