/** The state of lowering one kernel: what has been declared so far, and the function that is being inlined. */
import type { Expression, Node } from "acorn";

import type { KernelError } from "../../base/errors.ts";
import type { ArrayRef, BufferParam, Place, Precision, ScalarParam } from "../ir.ts";
import type { Differentiated, FunctionSpec, Kernel } from "../language.ts";
import { declarationStack } from "../declared.ts";
import type {
  Draft,
  DraftArray,
  DraftLocal,
  DraftShape,
  DraftStatement,
  FunctionLiterals,
  LiteralOrigin,
} from "./draft.ts";
import { declarationSite, errorAt, parseFunction, placeOf, type SourceUnit } from "./source.ts";
import { assignedNames, assignedParameters } from "./syntax.ts";
import { describeTypes, literalMask, BOOL, I32, NUMERIC, REAL, TypeVariable, typeVariable, U32 } from "./types.ts";

/** The value of a name or an expression, as it is described while a kernel is lowered. */
export type Value =
  | { readonly kind: "scalar"; readonly draft: Draft }
  | { readonly kind: "constant"; readonly value: number | boolean; readonly origin?: LiteralOrigin | undefined }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "local"; readonly id: number; readonly constant?: boolean }
  /** A name that is declared further down in the same block. */
  | { readonly kind: "early" }
  | { readonly kind: "array"; readonly array: ArrayValue }
  | { readonly kind: "function"; readonly fn: FunctionSpec }
  | RecordValue
  | { readonly kind: "tuple"; readonly items: readonly Value[] }
  | { readonly kind: "namespace"; readonly name: "Math" | "Number" | "gpu" }
  | { readonly kind: "member"; readonly namespace: "Math" | "Number" | "gpu"; readonly name: string }
  /** An entry that `env` does not have. */
  | { readonly kind: "undefined" }
  | { readonly kind: "nothing" };

/** A record while a kernel is lowered: its fields, and the variable that owns them and may change them. */
export interface RecordValue {
  readonly kind: "record";
  readonly fields: ReadonlyMap<string, Value>;
  /** The variable that owns the record; none for a new object or a call's result. See `records.ts`. */
  readonly variable?: RecordVariable;
}

/** The variable that a record was declared with and that owns it. */
export interface RecordVariable {
  readonly name: string;
  readonly frame: Frame;
  /** True where the variable is reassigned as a whole after its declaration. */
  readonly rebound: boolean;
  /** True where fields of the record are assigned. */
  readonly fieldsAssigned: boolean;
}

/** An array while a kernel is lowered: a buffer, a private array or a workgroup array. */
export interface ArrayValue {
  readonly ref: ArrayRef;
  readonly name: string;
  readonly element: "real" | "i32" | "u32";
  /** The constant length, or null for buffers, whose length is known only at run time. */
  readonly length: number | null;
  readonly writable: boolean;
  /** The run-time index at which a part of an array (`gpu.part`) begins. */
  readonly from?: Draft;
}

/** The names of a block and their values while a kernel is lowered. */
export class Scope {
  private readonly names = new Map<string, Value>();
  readonly parent: Scope | null;

  constructor(parent: Scope | null) {
    this.parent = parent;
  }

  declare(name: string, value: Value): void {
    this.names.set(name, value);
  }

  /** Returns the value of a name that this scope itself declares, without looking at enclosing scopes. */
  own(name: string): Value | undefined {
    return this.names.get(name);
  }

  find(name: string): Value | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }

  /** Replaces the value of a name in the scope that declares it. */
  replace(name: string, value: Value): void {
    if (this.names.has(name)) this.names.set(name, value);
    else this.parent?.replace(name, value);
  }
}

/** The state of lowering one function's body at one of its calls. The kernel itself is the outermost frame. */
export interface Frame {
  readonly unit: SourceUnit;
  /** The kernel or function itself, because two functions may share their text and differ in `env`. */
  readonly declared: object;
  /** The scope of `var` declarations. */
  readonly scope: Scope;
  /** The names that are assigned anywhere in the function. Others need no copy of their value. See `fieldsMarker`. */
  readonly assigned: ReadonlySet<string>;
  /** The parameters that are assigned anywhere in the function, without names that inner blocks redeclare. */
  readonly assignedParameters: ReadonlySet<string>;
  readonly caller: Frame | null;
  /** The list of statements to which the function's body is appended. */
  readonly out: DraftStatement[];
  readonly start: number;
  /**
   * The local that records a return from inside a loop or from a branch that may fall through; null if there is none.
   */
  returned: number | null;
  loopDepth: number;
  /** The number of enclosing branches that may either return or continue with the statements after them. */
  fallThrough: number;
  /** The local variables that receive the function's result; null until the first return. */
  results: Value | null;
  /** The variable that owns the returned record, if it belongs to a calling function. */
  resultOwner: RecordVariable | null;
  readonly isKernel: boolean;
  /**
   * The local variable that counts the remaining loop iterations of a user's function; null until a loop is counted.
   */
  roundsLeft: number | null;
  /** The run-time values of the function's literals; undefined if they stay constants. */
  literals: FunctionLiterals | undefined;
}

/** Tells whether a frame's function was written by a user of a solver. Iterations of its loops are then counted. */
export const isUserWritten = ({ declared }: Frame): boolean => {
  const { argumentNames, userWritten } = declared as Partial<FunctionSpec>;
  return argumentNames !== undefined || userWritten !== undefined;
};

/** Tells whether a frame's function takes a model's state, one object of named numbers. Error messages mention it. */
export const takesState = ({ declared }: Frame): boolean =>
  (declared as Partial<FunctionSpec>).argumentNames !== undefined;

/**
 * Returns the initial state of lowering a function's body. `declared` is the kernel or function itself, `caller` is
 * null for the kernel, and `out` receives the statements.
 */
export function newFrame(
  unit: SourceUnit,
  declared: object,
  scope: Scope,
  caller: Frame | null,
  out: DraftStatement[],
): Frame {
  const assigned = assignedNames(unit.syntax);
  const start = out.length;
  const isKernel = caller === null;
  return {
    unit,
    declared,
    scope,
    assigned,
    assignedParameters: assignedParameters(unit.syntax),
    caller,
    out,
    start,
    returned: null,
    loopDepth: 0,
    fallThrough: 0,
    results: null,
    resultOwner: null,
    isKernel,
    roundsLeft: null,
    literals: undefined,
  };
}

/** A statement still to be lowered, with its scope. */
export interface PendingStatement {
  readonly node: Node;
  readonly scope: Scope;
}

/** The functions that lower expressions and statements, which call each other recursively across files. */
export interface LoweringFunctions {
  expression(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value;
  effect(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): void;
  statements(ctx: Context, list: readonly PendingStatement[], out: DraftStatement[]): void;
  /** Lowers the call of a function that `tangent` or `gradient` made. */
  differentiated(ctx: Context, node: Node, of: Differentiated, args: readonly Value[], out: DraftStatement[]): Value;
  /** Returns the partial derivatives of a function that has some of its own, by parameter. */
  partialDerivativesOf(fn: FunctionSpec): readonly (FunctionSpec | undefined)[] | undefined;
}

const MAX_DRAFTS = 250_000;

/** The state of lowering one kernel: its declarations so far, and the function that is being inlined. */
export class Context {
  readonly lowering: LoweringFunctions;
  readonly kernelName: string;
  readonly precision: Precision;
  readonly groupSize: number;
  /** The maximum number of loop iterations (`KernelDefinition`); undefined if iterations are not counted. */
  readonly loopBudget: number | undefined;
  /** The local variable that `gpu.endlessLoop` reads; null if no loops are counted. */
  readonly endlessLoop: number | null;
  readonly countedLoops: Place[] = [];
  /** The product of the iteration counts of those enclosing loops whose counts are small constants. */
  knownRounds = 1;
  readonly scalars: ScalarParam[] = [];
  readonly buffers: Omit<BufferParam, "atomic">[] = [];
  readonly privates: DraftArray[] = [];
  readonly workgroups: DraftArray[] = [];
  readonly locals: DraftLocal[] = [];
  readonly units: SourceUnit[] = [];
  readonly atomics = new Set<string>();
  /** The local variables that are never reassigned, so that they can be used again instead of being copied. */
  readonly settled = new Set<number>();
  /** The local variables that were declared without a value. */
  readonly unset = new Set<number>();
  /** The local variables that have not been assigned yet. Their first assignment may make them records. */
  readonly untouched = new Set<number>();
  /** True if work items use their index in the workgroup, or share memory or values with other items of it. */
  cooperative = false;
  frame!: Frame;
  /** Returns the run-time values that replace the literals of a function that is inlined. */
  readonly literalsOf: ((declared: object) => FunctionLiterals | undefined) | undefined;
  /** The number of times that the unrolled loops around the code that is being lowered repeat it. */
  repetitions = 1;
  /** The number of functions around the code that is being lowered that are being differentiated. */
  differentiating = 0;
  private nesting = 0;
  private drafts = 0;

  constructor(
    { name, groupSize, loopBudget }: Pick<Kernel, "name" | "groupSize" | "loopBudget">,
    precision: Precision,
    lowering: LoweringFunctions,
    literalsOf?: Context["literalsOf"],
  ) {
    this.lowering = lowering;
    this.kernelName = name;
    this.precision = precision;
    this.groupSize = groupSize;
    this.literalsOf = literalsOf;
    this.loopBudget = loopBudget;
    this.endlessLoop = loopBudget === undefined ? null : this.newLocal("endlessLoop", i32Type());
  }

  /** Returns the parsed source of a kernel or function. Each source is listed once. */
  unit(name: string, declared: object, text: string): SourceUnit {
    const known = this.units.find((unit) => unit.text === text && unit.name === name);
    if (known) return known;
    // Formatting a stack takes a good part of a millisecond; only messages need it.
    const site = (): string | undefined => declarationSite(declarationStack(declared));
    const unit = parseFunction(name, text, site, this.units.length);
    this.units.push(unit);
    return unit;
  }

  fail(node: Node, what: string, remedy?: string): KernelError {
    return errorAt(this.frame.unit, node.start, what, remedy);
  }

  place(node: Node): Place {
    return placeOf(this.frame.unit, node.start);
  }

  /**
   * Lowers a nested construct. Its depth is limited, because deep nesting would overflow the stack here or in a
   * compiler.
   */
  nested<T>(node: Node, most: number, run: () => T): T {
    if (this.nesting >= most)
      throw this.fail(node, "nested too deeply", "split it: fewer early returns in a row, shorter expressions");
    this.nesting++;
    try {
      return run();
    } finally {
      this.nesting--;
    }
  }

  /** Makes an expression of the given form. */
  draft(node: Node, type: TypeVariable, shape: DraftShape): Draft {
    if (++this.drafts > MAX_DRAFTS)
      throw this.fail(
        node,
        `the kernel has more than ${MAX_DRAFTS} operations once calls are inlined and loops unrolled`,
        "split the kernel, or loop over more than 32 trips, which are not unrolled",
      );
    // Every shape is made for one draft: a copy of it would cost more than all else here.
    const draft = shape as DraftShape & { type: TypeVariable; unit: SourceUnit; start: number };
    draft.type = type;
    draft.unit = this.frame.unit;
    draft.start = node.start;
    return draft;
  }

  constant(node: Node, value: number | boolean, origin?: LiteralOrigin): Draft {
    const mask = typeof value === "boolean" ? BOOL : literalMask(value);
    return this.draft(node, new TypeVariable(mask), { kind: "const", value, origin });
  }

  newLocal(name: string, type = new TypeVariable(NUMERIC | BOOL)): number {
    this.locals.push({ name, type });
    return this.locals.length - 1;
  }

  local(node: Node, id: number): Draft {
    return this.draft(node, this.locals[id].type, { kind: "local", id });
  }

  /** Evaluates an expression once, at this point of the program, if its value could otherwise change later. */
  materialise(node: Node, draft: Draft, out: DraftStatement[], name = "t"): Draft {
    if (draft.kind === "const" || draft.kind === "param") return draft;
    if (draft.kind === "local" && this.settled.has(draft.id)) return draft;
    return this.settle(node, draft, out, name);
  }

  /** Evaluates an expression at this point of the program and returns the local variable that holds its value. */
  settle(node: Node, draft: Draft, out: DraftStatement[], name: string): Draft {
    const id = this.newLocal(name, draft.type);
    this.settled.add(id);
    out.push({ kind: "assign", local: id, value: draft, place: this.place(node) });
    return this.local(node, id);
  }

  require(node: Node, draft: Draft, mask: number, remedy?: string): Draft {
    if (!draft.type.narrow(mask)) {
      if (
        draft.kind === "const" &&
        typeof draft.value === "number" &&
        mask !== BOOL &&
        (literalMask(draft.value) & mask) === 0
      )
        throw this.constantMisfit(node, draft.value, mask);
      throw this.fail(
        node,
        `expected ${describeTypes(mask)}, got ${describeTypes(draft.type.possible)}`,
        remedy ?? conversionRemedy(mask, draft.type.possible),
      );
    }
    return draft;
  }

  unify(node: Node, a: Draft, b: Draft): void {
    this.unifyTypes(node, a.type, b.type, a, b);
  }

  unifyTypes(node: Node, a: TypeVariable, b: TypeVariable, ...drafts: Draft[]): void {
    if (a.unify(b)) return;
    for (const [draft, other] of [
      [drafts[0], b],
      [drafts[1], a],
    ] as const)
      if (
        draft?.kind === "const" &&
        typeof draft.value === "number" &&
        (literalMask(draft.value) & other.possible) === 0
      )
        throw this.constantMisfit(node, draft.value, other.possible);
    throw this.fail(
      node,
      `mixed ${describeTypes(a.possible)} and ${describeTypes(b.possible)}`,
      conversionRemedy(a.possible, b.possible),
    );
  }

  private constantMisfit(node: Node, value: number, mask: number): KernelError {
    if (mask & (I32 | U32) && Number.isInteger(value))
      return this.fail(
        node,
        `the constant ${value} is out of range for ${describeTypes(mask)}`,
        "use a constant that fits, or make the other operand real with gpu.real(…)",
      );
    return this.fail(
      node,
      `mixed ${describeTypes(mask)} and the constant ${value}, which is real`,
      "convert the integer with gpu.real(…), or the real with gpu.i32(…)",
    );
  }
}

function conversionRemedy(a: number, b: number): string {
  const both = a | b;
  if (both & BOOL) return "compare, for instance x !== 0, to make a bool; gpu.i32(flag) to make a number of one";
  if (both & REAL) return "convert the integer with gpu.real(…), or the real with gpu.i32(…)";
  return "convert with gpu.i32(…) or gpu.u32(…), or write x | 0 or x >>> 0";
}

/** Returns a new type variable whose type is known to be i32. */
export const i32Type = (): TypeVariable => typeVariable("i32");
/** Returns a new type variable whose type is known to be u32. */
export const u32Type = (): TypeVariable => typeVariable("u32");
/** Returns a new type variable whose type is known to be bool. */
export const boolType = (): TypeVariable => typeVariable("bool");
