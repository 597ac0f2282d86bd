/** The state of one kernel's lowering: what has been declared so far, and the function that is being inlined. */
import type { Expression, Node } from "acorn";

import type { KernelError } from "../../errors.ts";
import type { ArrayRef, BufferParam, Place, Precision, ScalarParam } from "../ir.ts";
import type { FunctionSpec, Kernel } from "../language.ts";
import { declarationTrace } from "../declared.ts";
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
import { describe, literalMask, BOOL, I32, NUMERIC, REAL, TypeVariable, typeVariable, U32 } from "./types.ts";

/** The value that a name, or an expression, stands for. */
export type Value =
  | { readonly kind: "scalar"; readonly draft: Draft }
  | { readonly kind: "constant"; readonly value: number | boolean; readonly origin?: LiteralOrigin | undefined }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "local"; readonly id: number; readonly constant?: boolean }
  /** Declared further down in the same block. */
  | { readonly kind: "early" }
  | { readonly kind: "array"; readonly array: ArrayValue }
  | { readonly kind: "function"; readonly fn: FunctionSpec }
  | RecordValue
  | { readonly kind: "tuple"; readonly items: readonly Value[] }
  | { readonly kind: "namespace"; readonly name: "Math" | "Number" | "gpu" }
  | { readonly kind: "member"; readonly namespace: "Math" | "Number" | "gpu"; readonly name: string }
  /** An entry of `env` that is not there. */
  | { readonly kind: "undefined" }
  | { readonly kind: "nothing" };

export interface RecordValue {
  readonly kind: "record";
  readonly fields: ReadonlyMap<string, Value>;
  /** The variable that it belongs to; none for what an object in braces or a call has just made. See `records.ts`. */
  readonly variable?: RecordVariable;
}

/** The name that a record was declared by. */
export interface RecordVariable {
  readonly name: string;
  readonly frame: Frame;
  /** True where the name is assigned to as a whole after its declaration. */
  readonly rebound: boolean;
  /** True where its fields are assigned to. */
  readonly fieldsAssigned: boolean;
}

export interface ArrayValue {
  readonly ref: ArrayRef;
  readonly name: string;
  readonly element: "real" | "i32" | "u32";
  /** null for buffers: known only at run time. */
  readonly length: number | null;
  readonly writable: boolean;
  /** The place at which a part of an array (`gpu.part`) begins. */
  readonly from?: Draft;
}

export class Scope {
  private readonly names = new Map<string, Value>();
  readonly parent: Scope | null;

  constructor(parent: Scope | null) {
    this.parent = parent;
  }

  declare(name: string, value: Value): void {
    this.names.set(name, value);
  }

  /** Returns what a name declared in this very scope stands for. */
  own(name: string): Value | undefined {
    return this.names.get(name);
  }

  find(name: string): Value | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }

  /** Changes what a name stands for where it is declared. */
  replace(name: string, value: Value): void {
    if (this.names.has(name)) this.names.set(name, value);
    else this.parent?.replace(name, value);
  }
}

/** One function while its body is lowered; the kernel itself is the outermost. */
export interface Frame {
  readonly unit: SourceUnit;
  /** The kernel or function itself: two functions may share their text and differ in env. */
  readonly declared: object;
  /** The scope of `var` declarations. */
  readonly scope: Scope;
  /** Names assigned anywhere in the function: a `const`-like alias is only made of the others. See `fieldsOf`. */
  readonly assigned: ReadonlySet<string>;
  /** The names of its parameters that are assigned anywhere, as what blocks declare anew is none of them. */
  readonly assignedParameters: ReadonlySet<string>;
  readonly caller: Frame | null;
  /** The statement list the function's body begins in, and where. */
  readonly out: DraftStatement[];
  readonly start: number;
  /** Set once a return leaves from inside a loop or from a branch that may also fall through. */
  returned: number | null;
  loopDepth: number;
  /** The number of enclosing branches that may either return or fall through to what follows them. */
  fallThrough: number;
  /** The locals that receive the function's result; null until the first return. */
  results: Value | null;
  /** Whose record the result may be, where it is none of the function's own. */
  resultOwner: RecordVariable | null;
  readonly isKernel: boolean;
  /**
   * The local that counts the rounds that the loops of a user's function have left, once there is one to be counted.
   */
  roundsLeft: number | null;
  /** The values that its literals become, where those are not constants. */
  literals: FunctionLiterals | undefined;
}

/** Tells whether a user of a solver wrote the function, whose loops are counted. */
export const isUsers = ({ declared }: Frame): boolean => {
  const { argumentNames, userWritten } = declared as Partial<FunctionSpec>;
  return argumentNames !== undefined || userWritten !== undefined;
};

/** Tells whether that function takes a state by name: its author is told about it and not about declarations. */
export const takesState = ({ declared }: Frame): boolean =>
  (declared as Partial<FunctionSpec>).argumentNames !== undefined;

/** A frame for the body of `unit`; without a caller it is the kernel's own. */
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

/** A statement still to be lowered, and the scope its names are looked up in. */
export interface Pending {
  readonly node: Node;
  readonly scope: Scope;
}

/** Expressions hold expressions, and statements statements: every file that lowers some reaches the others by this. */
export interface Lowering {
  expression(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): Value;
  effect(ctx: Context, node: Expression, scope: Scope, out: DraftStatement[]): void;
  statements(ctx: Context, list: readonly Pending[], out: DraftStatement[]): void;
}

const MAX_DRAFTS = 250_000;

export class Context {
  readonly lowering: Lowering;
  readonly kernelName: string;
  readonly precision: Precision;
  readonly groupSize: number;
  /** See `KernelDefinition`; undefined: loops are not counted. */
  readonly loopBudget: number | undefined;
  /** The local that `gpu.endlessLoop` reads, and the loops that may set it. */
  readonly endlessLoop: number | null;
  readonly countedLoops: Place[] = [];
  /** Rounds of the loops around the code being lowered whose rounds are few and known. */
  knownRounds = 1;
  readonly scalars: ScalarParam[] = [];
  readonly buffers: Omit<BufferParam, "atomic">[] = [];
  readonly privates: DraftArray[] = [];
  readonly workgroups: DraftArray[] = [];
  readonly locals: DraftLocal[] = [];
  readonly units: SourceUnit[] = [];
  readonly atomics = new Set<string>();
  /** Locals that keep the value of their declaration: they can be named again instead of copied. */
  readonly settled = new Set<number>();
  /** Locals declared without a value. */
  readonly unset = new Set<number>();
  /** The locals that nothing has been assigned to so far: what is assigned first may be a record. */
  readonly untouched = new Set<number>();
  /** True where the work item asks for its place in the workgroup, or shares memory or values with it. */
  cooperative = false;
  frame!: Frame;
  /** Asked for the literals of each function that is inlined. */
  readonly literalsOf: ((declared: object) => FunctionLiterals | undefined) | undefined;
  /** The number of times that the code being lowered is repeated by the unrolled loops around it. */
  repetitions = 1;
  private nesting = 0;
  private drafts = 0;

  constructor(
    { name, groupSize, loopBudget }: Pick<Kernel, "name" | "groupSize" | "loopBudget">,
    precision: Precision,
    lowering: Lowering,
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

  /** The source of a kernel or function; each is listed once. */
  unit(name: string, declared: object, text: string): SourceUnit {
    const known = this.units.find((unit) => unit.text === text && unit.name === name);
    if (known) return known;
    // Formatting a stack takes a good part of a millisecond; only messages need it.
    const site = (): string | undefined => declarationSite(declarationTrace(declared));
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
   * Lowers something inside something else. Deep nesting would overflow somebody's stack: ours, or a shader compiler's.
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

  /** Makes a draft of `shape`, which becomes it. */
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

  /** Evaluates once, now: the value of `draft` at this point of the program. */
  materialise(node: Node, draft: Draft, out: DraftStatement[], name = "t"): Draft {
    if (draft.kind === "const" || draft.kind === "param") return draft;
    if (draft.kind === "local" && this.settled.has(draft.id)) return draft;
    return this.settle(node, draft, out, name);
  }

  /** A local that holds the value of `draft` at this point of the program. */
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
        `expected ${describe(mask)}, got ${describe(draft.type.possible)}`,
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
      `mixed ${describe(a.possible)} and ${describe(b.possible)}`,
      conversionRemedy(a.possible, b.possible),
    );
  }

  private constantMisfit(node: Node, value: number, mask: number): KernelError {
    if (mask & (I32 | U32) && Number.isInteger(value))
      return this.fail(
        node,
        `the constant ${value} is out of range for ${describe(mask)}`,
        "use a constant that fits, or make the other operand real with gpu.real(…)",
      );
    return this.fail(
      node,
      `mixed ${describe(mask)} and the constant ${value}, which is real`,
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

export const i32Type = (): TypeVariable => typeVariable("i32");
export const u32Type = (): TypeVariable => typeVariable("u32");
export const boolType = (): TypeVariable => typeVariable("bool");
