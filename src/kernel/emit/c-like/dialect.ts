/**
 * The differences between C-like languages. The walks over expressions and statements (`expressions.ts`,
 * `statements.ts`) are shared by WGSL and CUDA C++; a dialect supplies the syntax, and the operations whose IR
 * semantics the language does not have by itself.
 *
 * All operands are texts of complete, parenthesised expressions.
 */
import type { ArrayRef, BinaryOp, CompareOp, Expr, IndexOp, IntrinsicOp, ScalarType, Stmt, UnaryOp } from "../../ir.ts";
import type { Lines } from "./lines.ts";

/** The type of the IR statements whose `kind` is `K`. */
export type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { readonly kind: K }>;

/**
 * An operand in the target language. It holds the text of the operand, its type, its value if it is a literal, and the
 * IR expression from which the text was printed, if any.
 */
export interface Operand {
  readonly text: string;
  readonly source?: Expr;
  readonly type: ScalarType;
  readonly constant: number | boolean | undefined;
}

/** The syntax of a target language's operators: functions that print an operation as text. */
export interface OperatorSyntax {
  constant(type: ScalarType, value: number | boolean): string;
  /**
   * Prints the same value in a form that the compiler does not treat as a constant. It is used if all operands of an
   * operation are constants, because some languages evaluate such operations at compile time and reject overflow or
   * NaN.
   */
  opaque(type: ScalarType, text: string): string;
  unary(op: UnaryOp, a: Operand): string;
  binary(op: BinaryOp, a: Operand, b: Operand): string;
  compare(op: CompareOp, a: Operand, b: Operand): string;
  convert(to: ScalarType, a: Operand): string;
  intrinsic(op: IntrinsicOp, args: readonly Operand[]): string;
  select(condition: string, a: string, b: string): string;
  /** True if `select` evaluates only the operand that it returns, as C's `?:` does. */
  readonly lazySelect: boolean;
}

/**
 * The syntax of a target language's accesses to parameters, buffers and arrays: functions that print an access as text.
 */
export interface MemorySyntax {
  param(id: number): string;
  length(array: ArrayRef): string;
  load(array: ArrayRef, index: Operand): string;
  store(array: ArrayRef, index: Operand, value: string): string;
  index(op: IndexOp): string;
}

/**
 * A loop as IR, with the functions that print its test, body and update. A target language calls each of these
 * functions once, in this order. `test` appends to `out` the statements that must precede the condition. A language
 * without a C-like loop prints the IR in `statement` itself.
 */
export interface LoopParts {
  readonly statement: StmtOf<"loop">;
  readonly print: (expression: Expr, out: Lines) => string;
  readonly test: ((out: Lines) => string) | null;
  readonly body: (out: Lines) => void;
  readonly update: ((out: Lines) => void) | null;
}

/**
 * The syntax of the statements that differ between target languages: functions that print a statement as text. The
 * argument `print` turns an expression into text and appends to `out` the statements that must precede it.
 */
export interface StatementSyntax {
  declare(type: ScalarType, name: string, value?: string): string;
  assign(name: string, value: string): string;
  loop(out: Lines, parts: LoopParts): void;
  barrier(statement: StmtOf<"barrier">, out: Lines): void;
  fetch(statement: StmtOf<"fetch">, print: (expression: Expr) => Operand, out: Lines): void;
  atomic(statement: StmtOf<"atomic">, print: (expression: Expr) => Operand, out: Lines): void;
  subgroup(statement: StmtOf<"subgroup">, print: (expression: Expr) => Operand, out: Lines): void;
  /**
   * Prints the condition of an `if` or a loop. WGSL accepts barriers only under conditions that it can prove to be
   * uniform.
   */
  condition(statement: StmtOf<"if"> | StmtOf<"loop">, text: string, out: Lines): string;
}

/** A C-like target language: the functions that print its operators, memory accesses and statements. */
export interface Dialect {
  readonly operators: OperatorSyntax;
  readonly memory: MemorySyntax;
  readonly statements: StatementSyntax;
}
