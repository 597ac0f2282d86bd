/**
 * The differences between C-like languages. The walks over expressions and statements (`expressions.ts`,
 * `statements.ts`) are shared by WGSL and CUDA C++; a dialect supplies the syntax, and the operations whose IR
 * semantics the language does not have by itself.
 *
 * All operands are texts of complete, parenthesised expressions.
 */
import type { ArrayRef, BinaryOp, CompareOp, Expr, IndexOp, IntrinsicOp, ScalarType, Stmt, UnaryOp } from "../../ir.ts";
import type { Lines } from "./lines.ts";

export type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { readonly kind: K }>;

/** An operand: its text, its type, its value when it is a literal, and what it was printed from, if it was. */
export interface Operand {
  readonly text: string;
  readonly source?: Expr;
  readonly type: ScalarType;
  readonly constant: number | boolean | undefined;
}

export interface Operators {
  constant(type: ScalarType, value: number | boolean): string;
  /**
   * The same value, but no constant in the eyes of the language's compiler. Used where all operands are constants: some
   * languages evaluate such an expression at compile time and reject overflow or NaN.
   */
  opaque(type: ScalarType, text: string): string;
  unary(op: UnaryOp, a: Operand): string;
  binary(op: BinaryOp, a: Operand, b: Operand): string;
  compare(op: CompareOp, a: Operand, b: Operand): string;
  convert(to: ScalarType, a: Operand): string;
  intrinsic(op: IntrinsicOp, args: readonly Operand[]): string;
  select(condition: string, a: string, b: string): string;
  /** True where `select` evaluates only the branch it takes, as C's `?:` does. */
  readonly lazySelect: boolean;
}

export interface Memory {
  param(id: number): string;
  length(array: ArrayRef): string;
  load(array: ArrayRef, index: Operand): string;
  store(array: ArrayRef, index: Operand, value: string): string;
  index(op: IndexOp): string;
}

/**
 * Printers of a loop's parts, to be called once each and in this order; preludes of the test go to the list they are
 * given. A language that prints them otherwise starts from the statement itself.
 */
export interface LoopParts {
  readonly statement: StmtOf<"loop">;
  readonly print: (expression: Expr, out: Lines) => string;
  readonly test: ((out: Lines) => string) | null;
  readonly body: (out: Lines) => void;
  readonly update: ((out: Lines) => void) | null;
}

/**
 * The statements that languages spell differently; `print` turns an expression to text, its preludes going to `out`.
 */
export interface Statements {
  declare(type: ScalarType, name: string, value?: string): string;
  assign(name: string, value: string): string;
  loop(out: Lines, parts: LoopParts): void;
  barrier(statement: StmtOf<"barrier">, out: Lines): void;
  fetch(statement: StmtOf<"fetch">, print: (expression: Expr) => Operand, out: Lines): void;
  atomic(statement: StmtOf<"atomic">, print: (expression: Expr) => Operand, out: Lines): void;
  subgroup(statement: StmtOf<"subgroup">, print: (expression: Expr) => Operand, out: Lines): void;
  /**
   * The condition of an `if` or a loop, as the language wants it: WGSL demands conditions around barriers that it can
   * prove uniform.
   */
  condition(statement: StmtOf<"if"> | StmtOf<"loop">, text: string, out: Lines): string;
}

export interface Dialect {
  readonly operators: Operators;
  readonly memory: Memory;
  readonly statements: Statements;
}
