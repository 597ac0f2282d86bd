/**
 * Which values are the same for every work item, which follow its number, and where items part company.
 *
 * A fixed point over the locals' shapes. Control flow that depends on a varying value opens a region, in which only some
 * items run. A local may stay uniform inside such a region if it lives there altogether: every item that reads it then also
 * ran each of its assignments. Without this rule, a loop counter after `if (i >= n) return;` would vary.
 */
import type { Expr, KernelIR, Stmt } from "./ir.ts";
import { type Block, common, type Mentions, nested, type Region } from "./uniform-blocks.ts";
import { assigned, bodies, children, operands, someLeave } from "./visit.ts";

/** contiguous: an i32 or u32 that is a uniform number plus the item's number. */
export type Shape = "uniform" | "contiguous" | "varying";

export interface LoopDivergence {
  /** Items leave by the test, by a break, skip by a continue, at different times. */
  readonly test: boolean;
  readonly break: boolean;
  readonly continue: boolean;
}

export interface Uniformity {
  readonly locals: readonly Shape[];
  /** Locals of which an assignment may overwrite the values of items that do not run it, because those never read them. */
  readonly unmasked: readonly boolean[];
  shape(e: Expr): Shape;
  loop(s: Stmt): LoopDivergence;
  /** Whether a statement is in a place that not all items (of a workgroup) need reach. */
  divergent(s: Stmt): boolean;
}

export interface UniformityOptions {
  /**
   * Loads at a uniform index of memory that the kernel also writes: "uniform" if items that run together read the same
   * value (true of any race-free kernel that runs in lock step), "varying" where a language must prove it.
   */
  readonly writable: "uniform" | "varying";
}

/** What is known of a local so far; `none` until its first assignment has been seen. */
type Known = Shape | "none";

export function analyseUniformity(ir: KernelIR, options: UniformityOptions): Uniformity {
  const analysis = new Analysis(ir, options);
  while (analysis.pass()) {
    // Shapes only ever rise, so this ends after at most two changes a local.
  }
  return analysis.result();
}

class Analysis {
  private readonly ir: KernelIR;
  private readonly options: UniformityOptions;
  private readonly shapes: Known[];
  private mentions: (Mentions | undefined)[] = [];
  private values: { local: number; shape: Known }[] = [];
  private divergentStmts = new Set<Stmt>();
  private readonly root: Region = { parent: null };

  constructor(ir: KernelIR, options: UniformityOptions) {
    this.ir = ir;
    this.options = options;
    this.shapes = ir.locals.map(() => "none");
  }

  /** One walk over the kernel; whether it learnt anything. */
  pass(): boolean {
    this.mentions = this.ir.locals.map(() => undefined);
    this.values = [];
    this.divergentStmts = new Set();
    this.walk(this.ir.body, { parent: null, depth: 0, region: this.root });
    let changed = false;
    const raise = (local: number, shape: Known): void => {
      const joined = join(this.shapes[local], shape);
      changed ||= joined !== this.shapes[local];
      this.shapes[local] = joined;
    };
    for (const { local, shape } of this.values) raise(local, this.livesTogether(local) ? shape : "varying");
    return changed;
  }

  result(): Uniformity {
    const memo = new Map<Expr, Shape>();
    const settled = (shape: Known): Shape => (shape === "none" ? "uniform" : shape);
    const shape = (e: Expr): Shape => {
      let known = memo.get(e);
      if (known === undefined) memo.set(e, (known = settled(this.shape(e))));
      return known;
    };
    const divergent = this.divergentStmts;
    return {
      locals: this.shapes.map(settled),
      unmasked: this.ir.locals.map((_, local) => this.livesTogether(local)),
      shape,
      loop: (s) => this.divergence(s),
      divergent: (s) => divergent.has(s),
    };
  }

  private walk(list: readonly Stmt[], block: Block): void {
    for (const s of list) {
      if (block.region !== this.root) this.divergentStmts.add(s);
      if (s.kind === "loop") this.walkLoop(s, block);
      else {
        for (const e of operands(s)) this.read(e, block);
        if (s.kind === "if") this.walkIf(s, block);
        const local = assigned(s);
        if (local !== null) this.write(local, s.kind === "assign" ? this.shape(s.value) : "varying", block);
      }
    }
  }

  private walkIf(s: Stmt & { kind: "if" }, block: Block): void {
    const parts = varies(this.shape(s.condition));
    for (const body of bodies(s)) this.walk(body, nested(block, parts));
  }

  private walkLoop(s: Stmt & { kind: "loop" }, block: Block): void {
    const leaves = this.divergence(s);
    const around = nested(block, leaves.test || leaves.break || leaves.continue);
    this.walk(s.init, around);
    if (s.test !== null) this.read(s.test, around);
    this.walk(s.body, nested(around, leaves.continue));
    this.walk(s.update, around);
  }

  private divergence(s: Stmt): LoopDivergence {
    if (s.kind !== "loop") return { test: false, break: false, continue: false };
    const skips = this.leavesApart(s.body, "continue", false);
    // After some items have skipped the rest of the body, a break is not taken by all of those still in the loop.
    const breaks = skips ? someLeave(s.body, (b) => b.kind === "break") : this.leavesApart(s.body, "break", false);
    return { test: s.test !== null && varies(this.shape(s.test)), break: breaks, continue: skips };
  }

  /** Whether a `kind` of the loop around `list` stands under a varying condition. */
  private leavesApart(list: readonly Stmt[], kind: "break" | "continue", apart: boolean): boolean {
    return list.some((s) => {
      if (s.kind === kind) return apart;
      if (s.kind !== "if") return false;
      const inner = apart || varies(this.shape(s.condition));
      return this.leavesApart(s.then, kind, inner) || this.leavesApart(s.else, kind, inner);
    });
  }

  private read(e: Expr, block: Block): void {
    if (e.kind === "local") this.mention(e.id, block, false);
    for (const child of children(e)) this.read(child, block);
  }

  private write(local: number, shape: Known, block: Block): void {
    this.mention(local, block, true).writes.push(block.region);
    this.values.push({ local, shape });
  }

  private mention(local: number, block: Block, write: boolean): Mentions {
    const known = this.mentions[local];
    if (known !== undefined) {
      known.home = common(known.home, block);
      return known;
    }
    return (this.mentions[local] = { home: block, first: { block, write }, writes: [] });
  }

  /** All assignments stand in the region of the block that holds every mention, and that block begins with one. */
  private livesTogether(local: number): boolean {
    const m = this.mentions[local];
    if (m === undefined) return true;
    if (m.writes.some((region) => region !== m.home.region)) return false;
    return m.home.region === this.root || (m.first.write && m.first.block === m.home);
  }

  private shape(e: Expr): Known {
    switch (e.kind) {
      case "const":
      case "param":
      case "length":
        return "uniform";
      case "local":
        return this.shapes[e.id];
      case "index":
        return INDEX_SHAPES[e.op];
      case "load":
        return this.loadShape(e);
      case "convert":
        return e.type !== "real" && e.a.type !== "real" && e.a.type !== "bool" ? this.shape(e.a) : this.flat(e);
      case "binary":
        return e.type !== "real" && (e.op === "add" || e.op === "sub") ? this.sumShape(e) : this.flat(e);
      case "select":
        return this.selectShape(e);
      default:
        return this.flat(e);
    }
  }

  /** Uniform if all operands are. */
  private flat(e: Expr): Known {
    let all: Known = "uniform";
    for (const child of children(e)) {
      const s = this.shape(child);
      if (varies(s)) return "varying";
      if (s === "none") all = "none";
    }
    return all;
  }

  private loadShape(e: Expr & { kind: "load" }): Known {
    if (e.array.space === "private") return "varying";
    const written = e.array.space === "buffer" && this.ir.buffers[e.array.id].access === "write";
    if (written && this.options.writable === "varying") return "varying";
    return this.flat(e);
  }

  private sumShape(e: Expr & { kind: "binary" }): Known {
    const a = this.shape(e.a);
    const b = this.shape(e.b);
    if (a === "none" || b === "none") return "none";
    if (a === "contiguous" && b === "uniform") return "contiguous";
    if (e.op === "add" && a === "uniform" && b === "contiguous") return "contiguous";
    return this.flat(e);
  }

  private selectShape(e: Expr & { kind: "select" }): Known {
    if (varies(this.shape(e.condition))) return "varying";
    return join(this.shape(e.a), this.shape(e.b));
  }
}

const INDEX_SHAPES = {
  globalId: "contiguous",
  localId: "contiguous",
  groupId: "uniform",
  groupCount: "uniform",
  subgroupLane: "varying",
  subgroupSize: "uniform",
} as const;

function varies(shape: Known): boolean {
  return shape === "contiguous" || shape === "varying";
}

function join(a: Known, b: Known): Known {
  if (a === "none" || a === b) return b;
  return b === "none" ? a : "varying";
}
