/**
 * Drafts: the IR while its types are still being inferred. Expressions have the form of the IR with a type variable in
 * place of a type. `finalize.ts` turns them into IR when every type is known.
 */
import type {
  ArrayRef,
  AtomicOp,
  BinaryOp,
  CompareOp,
  ElementType,
  IndexOp,
  IntrinsicOp,
  Place,
  SubgroupOp,
} from "../ir.ts";
import type { FunctionSpec } from "../language.ts";
import type { SourceUnit } from "./source.ts";
import type { TypeVariable } from "./types.ts";

/** An operation of JavaScript whose meaning depends on types that are inferred later. */
export type LateOp =
  | "toI32" // x | 0, gpu.i32(x)
  | "toU32" // x >>> 0, gpu.u32(x)
  | "toReal" // gpu.real(x)
  | "divideToI32" // (a / b) | 0
  | "divideToU32"; // (a / b) >>> 0; `negated`, (-(a / b)) >>> 0, and so the one above

/**
 * The run-time values that replace the real literals of a function, so that functions that differ only in their
 * literals share one compilation.
 */
export interface FunctionLiterals {
  /**
   * Returns the run-time value of a constant that is the literal at position `start`, or was folded from literals
   * there. Undefined if the constant stays a constant.
   */
  valueOf(literal: Draft, start: number, value: number): Draft | undefined;
}

/**
 * The literal from which a constant comes, at position `start` of the source, and the run-time values that may replace
 * it.
 */
export interface LiteralOrigin {
  readonly literals: FunctionLiterals;
  readonly start: number;
}

/**
 * An expression while a kernel is lowered, before its type is inferred. It has the form of an IR expression (`Expr`)
 * without a type.
 */
export type DraftShape =
  | { readonly kind: "const"; readonly value: number | boolean; readonly origin?: LiteralOrigin | undefined }
  | { readonly kind: "local"; readonly id: number }
  | { readonly kind: "param"; readonly id: number }
  | { readonly kind: "length"; readonly array: ArrayRef }
  | { readonly kind: "load"; readonly array: ArrayRef; readonly index: Draft }
  | { readonly kind: "unary"; readonly op: "neg" | "not" | "bitnot"; readonly a: Draft }
  | { readonly kind: "binary"; readonly op: BinaryOp; readonly a: Draft; readonly b: Draft }
  | { readonly kind: "compare"; readonly op: CompareOp; readonly a: Draft; readonly b: Draft }
  | { readonly kind: "logical"; readonly op: "and" | "or"; readonly a: Draft; readonly b: Draft }
  | {
      readonly kind: "select";
      readonly condition: Draft;
      readonly a: Draft;
      readonly b: Draft;
      /** The factors if it is a product that is zero where one of them is, whatever the other is. */
      readonly product?: readonly [Draft, Draft] | undefined;
    }
  | { readonly kind: "late"; readonly op: LateOp; readonly args: readonly Draft[]; readonly negated: boolean }
  | { readonly kind: "intrinsic"; readonly op: IntrinsicOp; readonly args: readonly Draft[] }
  | { readonly kind: "index"; readonly op: IndexOp };

/**
 * An expression while a kernel is lowered, with a type variable in place of a type, and with its position in the
 * source.
 */
export type Draft = DraftShape & {
  readonly type: TypeVariable;
  /** The function in whose source the expression is; `start` is the position in it. Both are for error messages. */
  readonly unit: SourceUnit;
  readonly start: number;
};

/**
 * A statement while a kernel is lowered, before the types of its expressions are inferred. It has the form of an IR
 * statement (`Stmt`).
 */
export type DraftStatement = { readonly place: Place } & (
  | { readonly kind: "assign"; readonly local: number; readonly value: Draft }
  | { readonly kind: "store"; readonly array: ArrayRef; readonly index: Draft; readonly value: Draft }
  | { readonly kind: "if"; readonly condition: Draft; readonly then: DraftStatement[]; readonly else: DraftStatement[] }
  | {
      readonly kind: "loop";
      readonly init: DraftStatement[];
      readonly test: Draft | null;
      readonly body: DraftStatement[];
      readonly update: DraftStatement[];
      /** The largest number of iterations, where constant bounds give one. */
      readonly rounds?: number | undefined;
    }
  /**
   * The call of a function that has a derivative of its own, in a function that is being differentiated: `body` sets
   * the local variable `result`. The arguments are constants, parameters or variables that keep their values.
   */
  | {
      readonly kind: "call";
      readonly fn: FunctionSpec;
      readonly derivative: readonly (FunctionSpec | undefined)[];
      readonly args: readonly Draft[];
      readonly result: number;
      readonly body: DraftStatement[];
    }
  | { readonly kind: "break" }
  | { readonly kind: "continue" }
  | {
      readonly kind: "fetch";
      readonly array: ArrayRef;
      readonly index: Draft;
      readonly from: ArrayRef;
      readonly fromIndex: Draft;
      readonly words: number;
    }
  | { readonly kind: "barrier"; readonly fetches?: number }
  | {
      readonly kind: "atomic";
      readonly op: AtomicOp;
      readonly array: ArrayRef;
      readonly index: Draft;
      readonly value: Draft | null;
      readonly expected: Draft | null;
      readonly result: number | null;
    }
  | {
      readonly kind: "subgroup";
      readonly op: SubgroupOp;
      readonly value: Draft;
      readonly operand: Draft | null;
      readonly width?: number;
      readonly result: number;
    }
);

/** A local variable while a kernel is lowered. */
export interface DraftLocal {
  readonly name: string;
  readonly type: TypeVariable;
}

/** A private array or workgroup array while a kernel is lowered. */
export interface DraftArray {
  readonly name: string;
  readonly element: ElementType;
  readonly length: number;
}

/** Returns the direct subexpressions of a draft, an expression whose type is still being inferred. */
export function draftSubexpressions(d: Draft): readonly Draft[] {
  switch (d.kind) {
    case "load":
      return [d.index];
    case "unary":
      return [d.a];
    case "binary":
    case "compare":
    case "logical":
      return [d.a, d.b];
    case "select":
      return [d.condition, d.a, d.b];
    case "late":
    case "intrinsic":
      return d.args;
    default:
      return [];
  }
}

/** Calls a function for each expression in a list of statements, and for each of its subexpressions. */
export function forEachDraft(statements: readonly DraftStatement[], f: (d: Draft) => void): void {
  const visit = (d: Draft | null): void => {
    if (d === null) return;
    f(d);
    draftSubexpressions(d).forEach(visit);
  };
  for (const s of statements) {
    if (s.kind === "assign") visit(s.value);
    else if (s.kind === "store") [s.index, s.value].forEach(visit);
    else if (s.kind === "call") {
      s.args.forEach(visit);
      forEachDraft(s.body, f);
    } else if (s.kind === "if") {
      visit(s.condition);
      for (const list of [s.then, s.else]) forEachDraft(list, f);
    } else if (s.kind === "loop") {
      visit(s.test);
      for (const list of [s.init, s.body, s.update]) forEachDraft(list, f);
    }
  }
}
