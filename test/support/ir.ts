/** Hand-made IR, for tests of what works on IR alone. */
import type {
  ArrayRef,
  BinaryOp,
  CompareOp,
  Expr,
  IntrinsicOp,
  KernelIR,
  ScalarType,
  Stmt,
} from "../../src/kernel/ir.ts";

type Bare<T> = T extends unknown ? Omit<T, "place"> : never;

/** A statement on line `line` of the made-up source. */
export function at(line: number, stmt: Bare<Stmt>): Stmt {
  return { ...stmt, place: { line, column: 1, source: 0 } };
}

export const buffer = (id = 0): ArrayRef => ({ space: "buffer", id });
export const workgroup = (id = 0): ArrayRef => ({ space: "workgroup", id });
export const privateArray = (id = 0): ArrayRef => ({ space: "private", id });

export const constant = (type: ScalarType, value: number | boolean): Expr => ({ kind: "const", type, value });
export const int = (value: number): Expr => constant("i32", value);
export const local = (type: ScalarType, id: number): Expr => ({ kind: "local", type, id });
export const globalId: Expr = { kind: "index", type: "i32", op: "globalId" };
export const localId: Expr = { kind: "index", type: "i32", op: "localId" };
export const load = (array: ArrayRef, index: Expr, type: "real" | "i32" | "u32" = "real"): Expr => ({
  kind: "load",
  type,
  array,
  index,
});
export const binary = (op: BinaryOp, a: Expr, b: Expr): Expr => ({ kind: "binary", type: a.type, op, a, b });
export const compare = (op: CompareOp, a: Expr, b: Expr): Expr => ({ kind: "compare", type: "bool", op, a, b });
export const convert = (type: ScalarType, a: Expr): Expr => ({ kind: "convert", type, a });
export const intrinsic = (type: ScalarType, op: IntrinsicOp, ...args: Expr[]): Expr => ({
  kind: "intrinsic",
  type,
  op,
  args,
});

export const store = (line: number, array: ArrayRef, index: Expr, value: Expr): Stmt =>
  at(line, { kind: "store", array, index, value });
export const assign = (line: number, id: number, value: Expr): Stmt => at(line, { kind: "assign", local: id, value });
export const barrier = (line: number): Stmt => at(line, { kind: "barrier" });

/** A kernel of one real buffer `u`, in f64, with groups of 4; any part may be replaced. */
export function kernelIR(body: readonly Stmt[], parts: Partial<KernelIR> = {}): KernelIR {
  return {
    name: "byHand",
    precision: "f64",
    scalars: [],
    buffers: [{ name: "u", element: "real", access: "write", atomic: false }],
    privates: [],
    workgroups: [],
    locals: [],
    groupSize: 4,
    cooperative: false,
    body,
    sources: [{ name: "byHand", text: "line one\nline two\nline three", declared: () => "model.ts:10:3" }],
    ...parts,
  };
}
