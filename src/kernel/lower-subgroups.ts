/**
 * Rewrites subgroup operations as exchanges through a workgroup array, for back ends without subgroups. Every item
 * writes its value, then reads those of its subgroup. Reductions add in the fixed order ((v₀ + v₁) + v₂) + …
 */
import type { ArrayRef, ElementType, Expr, FixedArray, KernelIR, Local, Place, Stmt, SubgroupOp } from "./ir.ts";
import { mapSubexpressions, mapStatement, expressionsOf, someExpr, someStmt } from "./visit.ts";

/** The options of `lowerSubgroups`. */
export interface SubgroupLoweringOptions {
  /** The number of items of a subgroup: a power of two. */
  readonly size: number;
  /** True if exchanges need barriers. They do not if a subgroup runs in lock step. */
  readonly barriers: boolean;
}

const SUBGROUP_INDEX = (x: Expr): boolean => x.kind === "index" && (x.op === "subgroupLane" || x.op === "subgroupSize");

/**
 * Returns the kernel in which subgroup operations are replaced by exchanges through workgroup memory, for devices
 * without subgroups of the needed size.
 */
export function lowerSubgroups(ir: KernelIR, options: SubgroupLoweringOptions): KernelIR {
  const used = someStmt(
    ir.body,
    (s) => s.kind === "subgroup" || expressionsOf(s).some((x) => someExpr(x, SUBGROUP_INDEX)),
  );
  return used ? new Lowering(ir, options).run() : ir;
}

const int = (value: number): Expr => ({ kind: "const", type: "i32", value });
const op = (name: "add" | "sub" | "mul" | "and" | "xor", a: Expr, b: Expr): Expr => ({
  kind: "binary",
  type: "i32",
  op: name,
  a,
  b,
});
const localId: Expr = { kind: "index", type: "i32", op: "localId" };

class Lowering {
  private readonly ir: KernelIR;
  private readonly options: SubgroupLoweringOptions;
  private readonly locals: Local[];
  private readonly arrays: FixedArray[];
  private readonly exchange = new Map<ElementType, ArrayRef>();
  private readonly lane: Expr;

  constructor(ir: KernelIR, options: SubgroupLoweringOptions) {
    this.ir = ir;
    this.options = options;
    this.locals = [...ir.locals];
    this.arrays = [...ir.workgroups];
    this.lane = op("and", localId, int(options.size - 1));
  }

  run(): KernelIR {
    const body = this.list(this.ir.body);
    return { ...this.ir, body, locals: this.locals, workgroups: this.arrays };
  }

  private list(list: readonly Stmt[]): Stmt[] {
    return list.flatMap((s) => this.statement(s));
  }

  private statement(s: Stmt): Stmt[] {
    const mapped = mapStatement(
      s,
      (e) => this.expression(e),
      (list) => this.list(list),
    );
    return mapped.kind === "subgroup" ? this.operation(mapped) : [mapped];
  }

  private expression(e: Expr): Expr {
    if (e.kind === "index" && e.op === "subgroupLane") return this.lane;
    if (e.kind === "index" && e.op === "subgroupSize") return int(this.options.size);
    return mapSubexpressions(e, (child) => this.expression(child));
  }

  private operation(s: Stmt & { kind: "subgroup" }): Stmt[] {
    const { place } = s;
    const type = this.locals[s.result].type;
    if (type === "bool") throw new Error("internal: subgroup operation on bool");
    const array = this.arrayOf(type);
    const barrier: Stmt[] = this.options.barriers ? [{ kind: "barrier", place }] : [];
    const write: Stmt = { kind: "store", array, index: localId, value: s.value, place };
    const read = isReduction(s.op) ? this.reduction(s.op, array, s.result, place) : this.pick(s, array);
    return [write, ...barrier, ...read, ...barrier];
  }

  /** A workgroup array for values of one type. */
  private arrayOf(type: ElementType): ArrayRef {
    let ref = this.exchange.get(type);
    if (ref === undefined) {
      const id =
        this.arrays.push({ name: `subgroup_${type}`, element: type, length: this.ir.groupSize, atomic: false }) - 1;
      this.exchange.set(type, (ref = { space: "workgroup", id }));
    }
    return ref;
  }

  private local(name: string, type: Local["type"]): number {
    return this.locals.push({ name, type }) - 1;
  }

  /** Reads the item that the operand names; itself where that one is outside the subgroup or the workgroup. */
  private pick(s: Stmt & { kind: "subgroup" }, array: ArrayRef): Stmt[] {
    const { place } = s;
    const type = this.locals[s.result].type as ElementType;
    const from = this.local("from", "i32");
    const source = sourceLane(s.op, this.lane, s.operand ?? int(0));
    const at: Expr = { kind: "local", type: "i32", id: from };
    const asUnsigned: Expr = { kind: "convert", type: "u32", a: at };
    const base = op("sub", localId, this.lane);
    const { width = this.options.size } = s;
    const apart: Expr = { kind: "convert", type: "u32", a: op("xor", at, this.lane) };
    const inside = both(
      width < this.options.size ? below(apart, width) : below(asUnsigned, this.options.size),
      below({ kind: "convert", type: "u32", a: op("add", base, at) }, this.ir.groupSize),
    );
    const index: Expr = { kind: "select", type: "i32", condition: inside, a: op("add", base, at), b: localId };
    return [
      { kind: "assign", local: from, value: source, place },
      { kind: "assign", local: s.result, value: { kind: "load", type, array, index }, place },
    ];
  }

  private reduction(name: "add" | "min" | "max", array: ArrayRef, result: number, place: Place): Stmt[] {
    const type = this.locals[result].type as ElementType;
    const base = this.local("base", "i32");
    const at: Expr = { kind: "local", type: "i32", id: base };
    const sum: Expr = { kind: "local", type, id: result };
    const steps: Stmt[] = [
      { kind: "assign", local: base, value: op("sub", localId, this.lane), place },
      { kind: "assign", local: result, value: { kind: "load", type, array, index: at }, place },
    ];
    for (let i = 1; i < this.options.size; i++) {
      const index = op("add", at, int(i));
      const next: Expr = { kind: "binary", type, op: name, a: sum, b: { kind: "load", type, array, index } };
      const partial = this.ir.groupSize % this.options.size !== 0;
      const inside = below({ kind: "convert", type: "u32", a: index }, this.ir.groupSize);
      const value: Expr = partial ? { kind: "select", type, condition: inside, a: next, b: sum } : next;
      steps.push({ kind: "assign", local: result, value, place });
    }
    return steps;
  }
}

function isReduction(name: SubgroupOp): name is "add" | "min" | "max" {
  return name === "add" || name === "min" || name === "max";
}

function sourceLane(name: SubgroupOp, lane: Expr, operand: Expr): Expr {
  if (name === "shuffleUp") return op("sub", lane, operand);
  if (name === "shuffleDown") return op("add", lane, operand);
  if (name === "shuffleXor") return op("xor", lane, operand);
  return operand;
}

function below(unsigned: Expr, bound: number): Expr {
  return { kind: "compare", type: "bool", op: "lt", a: unsigned, b: { kind: "const", type: "u32", value: bound } };
}

function both(a: Expr, b: Expr): Expr {
  return { kind: "logical", type: "bool", op: "and", a, b };
}
