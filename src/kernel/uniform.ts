/**
 * Analyses which values are the same for every work item, which increase with its number, and where items may take
 * different branches.
 *
 * It is a fixed-point iteration over the local variables. Control flow that depends on a varying value begins a region
 * that only some items execute. A variable may stay uniform inside such a region if it is used only there, because
 * every item that reads it then also executed each of its assignments. Without this rule, a loop counter after `if (i
 * >= n) return;` would vary.
 */
import type { Expr, KernelIR, Stmt } from "./ir.ts";
import { assignedLocal, nestedLists, subexpressions, expressionsOf, someLoopExit } from "./visit.ts";

/**
 * A list of statements in the analysis of which values are the same for all work items. A loop has two blocks: one for
 * `init`, test and `update` together, and inside it one for the body.
 */
interface Block {
  readonly parent: Block | null;
  readonly depth: number;
  /** The `if` or loop to which the block belongs. */
  readonly of: Stmt | null;
  /** The outermost enclosing block that, as far as is known, the same work items execute. */
  region: Block;
}

/** The blocks in which one local variable is read or written. */
interface Mentions {
  /** The innermost block that contains all of them. */
  home: Block;
  readonly first: { readonly block: Block; readonly write: boolean };
  readonly writes: Block[];
}

/** Returns a new block inside `parent` that belongs to the `if` or loop `of`. */
function newBlock(parent: Block | null, of: Stmt | null): Block {
  const block = { parent, depth: parent === null ? 0 : parent.depth + 1, of } as Block;
  block.region = block;
  return block;
}

/** Returns the innermost block that contains both blocks. */
function common(a: Block, b: Block): Block {
  let x = a;
  let y = b;
  while (x.depth > y.depth && x.parent !== null) x = x.parent;
  while (y.depth > x.depth && y.parent !== null) y = y.parent;
  while (x !== y && x.parent !== null && y.parent !== null) {
    x = x.parent;
    y = y.parent;
  }
  return x;
}

/**
 * The variation of a value between work items: the same for all (uniform), the number of the item plus a value that is
 * the same for all (contiguous), or anything else (varying).
 */
export type Variation = "uniform" | "contiguous" | "varying";

/** The ways in which work items may leave a loop, or an iteration of it, at different times. */
export interface LoopDivergence {
  /** True where items may leave the loop by its test at different times. */
  readonly test: boolean;
  /** True where items may leave the loop by `break` at different times. */
  readonly break: boolean;
  /** True where only some items may skip the rest of an iteration by `continue`. */
  readonly continue: boolean;
}

/**
 * The result of `analyseUniformity`: which values of a kernel are the same for all work items, and which work items
 * diverge.
 */
export interface Uniformity {
  readonly locals: readonly Variation[];
  /**
   * True for a local variable whose assignments need no mask. They may overwrite the values of work items that do not
   * execute the assignment, because those items never read the variable afterwards.
   */
  readonly unmasked: readonly boolean[];
  variationOf(e: Expr): Variation;
  divergenceOf(s: Stmt): LoopDivergence;
  /** Tells whether only some work items (of a workgroup) may reach a statement. */
  isDivergent(s: Stmt): boolean;
}

/** The options of `analyseUniformity`. */
export interface UniformityOptions {
  /**
   * The assumed variation of a value that is loaded, at an index that is the same for all items, from memory that the
   * kernel also writes. "uniform" holds for any race-free kernel that runs in lock step. "varying" is for target
   * languages that must prove uniformity.
   */
  readonly writable: "uniform" | "varying";
}

/** The knowledge of a local variable so far; "none" before its first assignment has been seen. */
type Known = Variation | "none";

/** Finds which values and conditions of a kernel are the same for all work items. */
export function analyseUniformity(ir: KernelIR, options: UniformityOptions): Uniformity {
  const analysis = new Analysis(ir, options);
  while (analysis.pass()) {
    // Shapes only ever rise, so this ends after at most two changes a local.
  }
  return analysis.result();
}

/** An assignment to a local variable. `value` is null if the result varies whatever the operands are. */
interface Assignment {
  readonly local: number;
  readonly value: Expr | null;
}

class Analysis {
  private readonly ir: KernelIR;
  private readonly options: UniformityOptions;
  private readonly shapes: Known[];
  private readonly mentions: (Mentions | undefined)[];
  private readonly assignments: Assignment[] = [];
  /** All lists of statements, outer ones first. */
  private readonly blocks: Block[] = [];
  private readonly placeOf = new Map<Stmt, Block>();

  constructor(ir: KernelIR, options: UniformityOptions) {
    this.ir = ir;
    this.options = options;
    this.shapes = ir.locals.map(() => "none");
    this.mentions = ir.locals.map(() => undefined);
    this.walk(ir.body, this.block(null, null));
  }

  /**
   * Derives regions from what is known of the variables, and then more knowledge from the regions. Returns whether
   * anything new was found.
   */
  pass(): boolean {
    for (const block of this.blocks) block.region = this.parts(block) ? block : (block.parent as Block).region;
    let changed = false;
    for (const { local, value } of this.assignments) {
      const shape = value === null || !this.livesTogether(local) ? "varying" : this.shape(value);
      const joined = join(this.shapes[local], shape);
      changed ||= joined !== this.shapes[local];
      this.shapes[local] = joined;
    }
    return changed;
  }

  result(): Uniformity {
    const memo = new Map<Expr, Variation>();
    const settled = (shape: Known): Variation => (shape === "none" ? "uniform" : shape);
    const shape = (e: Expr): Variation => {
      let known = memo.get(e);
      if (known === undefined) memo.set(e, (known = settled(this.shape(e))));
      return known;
    };
    const root = this.blocks[0];
    return {
      locals: this.shapes.map(settled),
      unmasked: this.ir.locals.map((_, local) => this.livesTogether(local)),
      variationOf: shape,
      divergenceOf: (s) => this.divergence(s),
      isDivergent: (s) => this.placeOf.get(s)?.region !== root,
    };
  }

  private walk(list: readonly Stmt[], block: Block): void {
    for (const s of list) {
      this.placeOf.set(s, block);
      if (s.kind === "loop") this.walkLoop(s, block);
      else {
        for (const e of expressionsOf(s)) this.read(e, block);
        for (const body of nestedLists(s)) this.walk(body, this.block(block, s));
        const local = assignedLocal(s);
        if (local !== null) this.write(local, s.kind === "assign" ? s.value : null, block);
      }
    }
  }

  private walkLoop(s: Stmt & { kind: "loop" }, block: Block): void {
    const around = this.block(block, s);
    this.walk(s.init, around);
    if (s.test !== null) this.read(s.test, around);
    this.walk(s.body, this.block(around, s));
    this.walk(s.update, around);
  }

  private block(parent: Block | null, of: Stmt | null): Block {
    const block = newBlock(parent, of);
    this.blocks.push(block);
    return block;
  }

  /** Tells whether only some of the items that execute the enclosing list may execute a block. */
  private parts({ parent, of }: Block): boolean {
    if (parent === null || of === null) return true;
    if (of.kind === "if") return varies(this.shape(of.condition));
    const leaves = this.divergence(of);
    const isBody = parent.of === of; // inside the block around test and update
    return leaves.continue || (!isBody && (leaves.test || leaves.break));
  }

  private divergence(s: Stmt): LoopDivergence {
    if (s.kind !== "loop") return { test: false, break: false, continue: false };
    const skips = this.leavesApart(s.body, "continue", false);
    // After some items have skipped the rest of the body, a break is not taken by all of those still in the loop.
    const breaks = skips ? someLoopExit(s.body, (b) => b.kind === "break") : this.leavesApart(s.body, "break", false);
    return { test: s.test !== null && varies(this.shape(s.test)), break: breaks, continue: skips };
  }

  /** Tells whether a `break` or `continue` of the loop around `list` is under a condition that varies between items. */
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
    for (const child of subexpressions(e)) this.read(child, block);
  }

  private write(local: number, value: Expr | null, block: Block): void {
    this.mention(local, block, true).writes.push(block);
    this.assignments.push({ local, value });
  }

  private mention(local: number, block: Block, write: boolean): Mentions {
    const known = this.mentions[local];
    if (known !== undefined) {
      known.home = common(known.home, block);
      return known;
    }
    return (this.mentions[local] = { home: block, first: { block, write }, writes: [] });
  }

  /**
   * Tells whether all assignments of a variable are in the region of the block that contains all its uses, and that
   * block begins with one.
   */
  private livesTogether(local: number): boolean {
    const m = this.mentions[local];
    if (m === undefined) return true;
    const { region } = m.home;
    if (m.writes.some((block) => block.region !== region)) return false;
    return region === this.blocks[0] || (m.first.write && m.first.block === m.home);
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

  /** Returns "uniform" if all operands are uniform, otherwise "varying". */
  private flat(e: Expr): Known {
    let all: Known = "uniform";
    for (const child of subexpressions(e)) {
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
