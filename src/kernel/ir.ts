/**
 * The typed intermediate representation of a kernel: what the front end makes of a TypeScript function, and all that a
 * back end has to understand.
 *
 * The front end has already inlined every call, lowered every `return` to structured control flow, folded the
 * environment's constants, removed dead branches and unrolled short constant loops. What is left is one flat work item:
 * scalar locals, arrays in four address spaces, `if`, `loop`, `break`, `continue`, barriers. Expressions are pure
 * (loads are their only reads of memory) and are evaluated at the statement that holds them; everything with an effect
 * is a statement.
 *
 * `real` stays abstract here. The precision a kernel is lowered for decides constants and precision-dependent branches,
 * and the back end decides what machine type `real` is.
 */

/**
 * The machine type of `real`. `f32x2` is emulated double precision for WebGPU, which has no f64: a real is the
 * unevaluated sum of two f32, the second at most half a unit in the last place of the first, with at least 48
 * significant bits and the exponents of f32.
 * @stable
 */
export type Precision = "f64" | "f32" | "f32x2";

/**
 * Returns the type of reals on the host and in buffers, for a kernel of the given precision. For f32x2 it is f64,
 * because each pair of f32 becomes one f64 outside the kernel.
 */
export const hostRealType = (precision: Precision): "f64" | "f32" => (precision === "f32" ? "f32" : "f64");

/** The type of a value in a kernel. @stable */
export type ScalarType = "real" | "i32" | "u32" | "bool";
/** The type of an element of an array in a kernel. @stable */
export type ElementType = "real" | "i32" | "u32";

/** A position in a kernel's source: the 1-based line and column, and the index of the function. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly source: number; // index into KernelIR.sources
}

/** The text of one parsed function, for messages and for comments in generated code. */
export interface SourceText {
  readonly name: string;
  readonly text: string;
  /** Returns the position of the declaration, "path/to/file.ts:12:5", if it is known. */
  readonly declared: () => string | undefined;
}

/** A local variable of a kernel. */
export interface Local {
  readonly name: string; // for readable generated code only; not unique
  readonly type: ScalarType;
}

/** A scalar parameter of a kernel. */
export interface ScalarParam {
  readonly name: string;
  readonly type: ScalarType;
}

/** A buffer parameter of a kernel. */
export interface BufferParam {
  readonly name: string;
  readonly element: ElementType;
  readonly access: "read" | "write"; // a buffer with "write" may also be read
  /**
   * True if some atomic operation accesses the buffer. A target language may then require that all accesses are atomic.
   */
  readonly atomic: boolean;
}

/**
 * An array of constant length that belongs to a work item (private) or is shared by a workgroup. Its elements are
 * initially undefined.
 */
export interface FixedArray {
  readonly name: string;
  readonly element: ElementType;
  readonly length: number;
  readonly atomic: boolean; // only ever true for workgroup arrays
}

/**
 * A reference to an array. `id` is an index into `KernelIR.buffers`, `.privates` or `.workgroups`, depending on
 * `space`.
 */
export interface ArrayRef {
  readonly space: "buffer" | "private" | "workgroup";
  readonly id: number;
}

/** A unary operation: "neg" of a real or an i32, "not" of a bool, "bitnot" of an i32 or a u32. */
export type UnaryOp = "neg" | "not" | "bitnot";
/**
 * A binary operation.
 *
 * * On reals: add, sub, mul, div, rem, min and max. The result of rem has the sign of the dividend, as C's fmod and
 *   JavaScript's %. min and max are JavaScript's, except that the result is unspecified if an argument is NaN or both
 *   are zeros of opposite sign.
 * * On i32 and u32: all operations. add, sub and mul wrap. div and rem truncate and are 0 if the divisor is 0; INT_MIN
 *   / −1 wraps. shl and shr shift by (count & 31); shr is arithmetic on i32 and logical on u32.
 */
export type BinaryOp = "add" | "sub" | "mul" | "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "shl" | "shr";
/** A comparison. On reals it follows IEEE 754. "eq" and "ne" also compare bools. */
export type CompareOp = "lt" | "le" | "gt" | "ge" | "eq" | "ne";

/**
 * A function of scalars that every back end implements itself. The comments give the types of the arguments; the result
 * has the type of the expression.
 */
export type IntrinsicOp =
  | "sqrt" // real → real, correctly rounded in f64
  | "reciprocal" // 1/x to 2 ulp where x and 1/x are normal; otherwise exact, NaN, or 0 for a subnormal result
  | "positivePart" // max(x, 0), for x < 0 anything from 0 to 2⁻¹⁰²² (f32: 0); of NaN unspecified
  | "abs" // real or i32
  | "floor" // real → real
  | "ceil"
  | "trunc"
  | "nearest" // to nearest, ties to even
  | "copysign" // (magnitude, sign)
  | "isNaN" // real → bool; must survive fast-math
  | "isFinite" // real → bool
  // (x: real, n: i32) → x·2ⁿ, for n in −2100…2100, correctly over- and underflowing (f32 may flush subnormals)
  | "ldexp"
  | "exponent" // x normal and nonzero: floor(log2|x|) → i32, from the exponent field
  | "significand" // x normal and nonzero: x / 2^exponent(x), in ±[1, 2)
  | "headBits" // x with the low 27 (f64) or 12 (f32) significand bits cleared; in f32x2 the first f32 of the pair
  | "mulHigh" // u32 × u32 → u32, the high word of the 64-bit product
  | "clz" // u32 or i32 → i32
  | "popcount";

/**
 * An i32 that the launch gives to a work item, such as its number. The workgroup's size is a compile-time constant
 * instead.
 */
export type IndexOp =
  | "globalId" // 0 … items−1
  | "localId"
  | "groupId"
  | "groupCount"
  | "subgroupLane"
  | "subgroupSize";

/** An expression of the kernel's intermediate representation. It has no side effects. */
export type Expr =
  | { readonly kind: "const"; readonly type: ScalarType; readonly value: number | boolean }
  | { readonly kind: "local"; readonly type: ScalarType; readonly id: number }
  | { readonly kind: "param"; readonly type: ScalarType; readonly id: number } // index into KernelIR.scalars
  | { readonly kind: "length"; readonly type: "i32"; readonly array: ArrayRef } // only of buffers; the others fold
  | { readonly kind: "load"; readonly type: ElementType; readonly array: ArrayRef; readonly index: Expr }
  | { readonly kind: "unary"; readonly type: ScalarType; readonly op: UnaryOp; readonly a: Expr }
  | { readonly kind: "binary"; readonly type: ScalarType; readonly op: BinaryOp; readonly a: Expr; readonly b: Expr }
  | { readonly kind: "compare"; readonly type: "bool"; readonly op: CompareOp; readonly a: Expr; readonly b: Expr }
  /** A logical operation with short circuit: `b` is not evaluated, and its loads are not made, if `a` decides. */
  | { readonly kind: "logical"; readonly type: "bool"; readonly op: "and" | "or"; readonly a: Expr; readonly b: Expr }
  /** A lazy choice: the operand that is not chosen makes no loads that could be out of bounds. */
  | { readonly kind: "select"; readonly type: ScalarType; readonly condition: Expr; readonly a: Expr; readonly b: Expr }
  /**
   * A conversion to `type` from `a.type`. real → i32/u32 truncates and saturates, NaN gives 0; i32 ↔ u32 keeps the
   * bits; i32/u32 → real rounds to nearest; bool → number gives 0 or 1.
   */
  | { readonly kind: "convert"; readonly type: ScalarType; readonly a: Expr }
  | { readonly kind: "intrinsic"; readonly type: ScalarType; readonly op: IntrinsicOp; readonly args: readonly Expr[] }
  | { readonly kind: "index"; readonly type: "i32"; readonly op: IndexOp };

/** An atomic operation on an element of an i32 or u32 array. */
export type AtomicOp = "add" | "min" | "max" | "and" | "or" | "xor" | "exchange" | "compareExchange" | "load" | "store";

/**
 * An operation in which the lanes of a subgroup exchange values. It is collective: every work item of the workgroup
 * reaches it, and the front end has checked this. Its `operand` is the source lane (shuffle, broadcast), the distance
 * to it (shuffleUp, shuffleDown), or the mask that is XORed with the lane number (shuffleXor). If the source lane is
 * outside the subgroup, the item gets its own value.
 */
export type SubgroupOp = "shuffle" | "shuffleUp" | "shuffleDown" | "shuffleXor" | "broadcast" | "add" | "min" | "max";

/** A statement of the kernel's intermediate representation. */
export type Stmt = { readonly place: Place } & (
  | { readonly kind: "assign"; readonly local: number; readonly value: Expr }
  | { readonly kind: "store"; readonly array: ArrayRef; readonly index: Expr; readonly value: Expr }
  | { readonly kind: "if"; readonly condition: Expr; readonly then: readonly Stmt[]; readonly else: readonly Stmt[] }
  /**
   * while (test) { body; update }, after `init`. `test` null means true. `continue` in `body` goes to `update`.
   * `break` and `continue` belong to the innermost loop and never appear in `init` or `update`.
   */
  | {
      readonly kind: "loop";
      readonly init: readonly Stmt[];
      readonly test: Expr | null;
      readonly body: readonly Stmt[];
      readonly update: readonly Stmt[];
    }
  | { readonly kind: "break" }
  | { readonly kind: "continue" }
  /**
   * Starts an asynchronous copy of `words` elements (1, 2 or 4) from a buffer to a workgroup array. Both indexes are
   * multiples of `words`. The elements have arrived after a barrier that awaits them.
   */
  | {
      readonly kind: "fetch";
      readonly array: ArrayRef;
      readonly index: Expr;
      readonly from: ArrayRef;
      readonly fromIndex: Expr;
      readonly words: number;
    }
  /**
   * A barrier of the workgroup, which orders accesses to workgroup and buffer memory. It is only in uniform control
   * flow. With `fetches`, an item's copies since its last such barrier become a group, and after the barrier at most
   * `fetches` of its newest groups have not arrived.
   */
  | { readonly kind: "barrier"; readonly fetches?: number }
  | {
      readonly kind: "atomic";
      readonly op: AtomicOp;
      readonly array: ArrayRef;
      readonly index: Expr;
      readonly value: Expr | null; // null for "load"
      readonly expected: Expr | null; // only for "compareExchange"
      readonly result: number | null; // local that receives the old value
    }
  | {
      readonly kind: "subgroup";
      readonly op: SubgroupOp;
      readonly value: Expr;
      readonly operand: Expr | null; // i32; null for the reductions
      /** The number of consecutive lanes, a power of two, that exchange values; by default the whole subgroup. */
      readonly width?: number;
      readonly result: number;
    }
);

/**
 * The properties of a kernel that devices and launches still need after compilation, when the rest of the IR is
 * discarded.
 */
export interface KernelSignature {
  readonly name: string;
  readonly precision: Precision;
  /** The scalar parameters, in the order of their declaration. */
  readonly scalars: readonly ScalarParam[];
  /** The buffer parameters, in the order of their declaration. */
  readonly buffers: readonly BufferParam[];
  /** The arrays that belong to a work item. */
  readonly privates: readonly FixedArray[];
  /** The arrays that a workgroup shares. */
  readonly workgroups: readonly FixedArray[];
  /** The number of work items per workgroup, a compile-time constant. */
  readonly groupSize: number;
  /**
   * True if the work items of a workgroup must run together, because the kernel has a barrier, a subgroup operation or
   * a workgroup array, or uses its local or group index. Cooperative kernels are launched with a number of workgroups,
   * `groups`. All others are launched with a number of work items, `items`, beyond which no item runs.
   */
  readonly cooperative: boolean;
}

/** Returns the properties of a kernel that devices and launches need after compilation. */
export function signatureOf(ir: KernelIR): KernelSignature {
  const { name, precision, scalars, buffers, privates, workgroups, groupSize, cooperative } = ir;
  return { name, precision, scalars, buffers, privates, workgroups, groupSize, cooperative };
}

/** The intermediate representation of a kernel for one precision. */
export interface KernelIR extends KernelSignature {
  readonly locals: readonly Local[];
  /** The requested number of workgroups that a multiprocessor can run at once; undefined if the compiler decides. */
  readonly residentGroups?: number;
  readonly body: readonly Stmt[];
  /**
   * The positions of the loops whose iterations count against `loopBudget`. `endlessLoop` returns numbers, from 1, of
   * this list. Back ends ignore it.
   */
  readonly countedLoops?: readonly Place[];
  readonly sources: readonly SourceText[];
}
