/**
 * The kernel language as its users see it: how kernels and kernel functions are declared, and what a kernel's body may
 * call. Nothing here compiles anything; see `frontend/` for that, and LIMITATIONS.md for each deviation from
 * JavaScript.
 */
import type { Collective } from "./numbers.ts";
import type { Numbers } from "./numbers.ts";
import type { ReadonlyNumbers } from "./numbers.ts";
import { SpecError } from "../errors.ts";
import type { Gpu } from "./gpu.ts";
import type { ElementType, Precision, ScalarType } from "./ir.ts";

/** A scalar parameter of a kernel: `real`, `i32`, `u32` or `bool`. */
export interface ScalarDeclaration<T extends ScalarType = ScalarType> {
  readonly kind: "scalar";
  readonly type: T;
}

/** A buffer parameter of a kernel, from `read(…)` or `write(…)`. */
export interface BufferDeclaration<E extends ElementType = ElementType, A extends "read" | "write" = "read" | "write"> {
  readonly kind: "buffer";
  readonly element: E;
  readonly access: A;
}

/** The declarations by name of a record's fields, or of the arguments of a function that is called with one record. */
export type Fields = { readonly [name: string]: Declaration };

/** A record type: reals, integers, booleans, arrays and other records by name. See `record`. */
export interface RecordDeclaration<F extends Fields = Fields> {
  readonly kind: "record";
  readonly fields: F;
}

/** The declaration of one launch argument of a kernel. */
export type LaunchDeclaration = ScalarDeclaration | BufferDeclaration;
/** A parameter of a kernel function, or a field of a record. */
export type Declaration = LaunchDeclaration | RecordDeclaration;

/** A real number in the precision the kernel is compiled for. */
export const real: ScalarDeclaration<"real"> = { kind: "scalar", type: "real" };
/** A signed 32-bit integer. */
export const i32: ScalarDeclaration<"i32"> = { kind: "scalar", type: "i32" };
/** An unsigned 32-bit integer. */
export const u32: ScalarDeclaration<"u32"> = { kind: "scalar", type: "u32" };
/** A boolean. */
export const bool: ScalarDeclaration<"bool"> = { kind: "scalar", type: "bool" };

/**
 * Declares a buffer that the kernel only reads; as a parameter of a function, any array that the function only reads.
 *
 * @param element `real`, `i32` or `u32`.
 * @example
 * import { read, real } from "feynkac/kernel";
 *
 * console.log(read(real).access); // read
 */
export function read<E extends ElementType>(element: ScalarDeclaration<E>): BufferDeclaration<E, "read"> {
  return { kind: "buffer", element: element.type, access: "read" };
}

/**
 * Declares a buffer that the kernel writes and may read; as a parameter of a function, any array that the function
 * writes.
 *
 * @param element `real`, `i32` or `u32`.
 * @example
 * import { real, write } from "feynkac/kernel";
 *
 * console.log(write(real).access); // write
 */
export function write<E extends ElementType>(element: ScalarDeclaration<E>): BufferDeclaration<E, "write"> {
  return { kind: "buffer", element: element.type, access: "write" };
}

/**
 * Declares a record type for parameters of kernel functions. `read(…)` and `write(…)` stand for buffers, private and
 * shared arrays. Records exist at compile time only: the front end replaces each by its fields, so they cost nothing.
 *
 * @param fields declarations by name; a field may be another record.
 * @throws SpecError if the name of a field is not an identifier.
 * @example
 * import { fn, i32, read, real, record } from "feynkac/kernel";
 *
 * const Row = record({ lower: real, diagonal: real, upper: real });
 * const Mesh = record({ nodes: i32, x: read(real), first: Row });
 * const length = fn({
 *   params: { mesh: Mesh },
 *   body: ({ mesh }) => mesh.x[mesh.nodes - 1]! - mesh.x[0]!,
 * });
 * const first = { lower: 0, diagonal: 1, upper: 0 };
 * console.log(length({ mesh: { nodes: 3, x: Float64Array.of(1, 2, 4), first } })); // 3
 */
export function record<const F extends Fields>(fields: F): RecordDeclaration<F> {
  checkFieldNames("record", fields);
  return Object.freeze({ kind: "record", fields: Object.freeze({ ...fields }) });
}

/** Checks that all names are identifiers. @internal @throws SpecError */
export function checkFieldNames(owner: string, fields: object): void {
  for (const name of Object.keys(fields))
    if (!/^[A-Za-z_$][\w$]*$/.test(name) || name === "__proto__")
      throw new SpecError(`${owner}: "${name}" is not an identifier; rename it`);
}

/**
 * The value of a declared parameter or field inside a body; only the variable that a record was declared with may
 * change it.
 */
export type ValueOf<D extends Declaration> =
  D extends ScalarDeclaration<infer T>
    ? T extends "bool"
      ? boolean
      : number
    : D extends BufferDeclaration<infer E, infer A>
      ? A extends "read"
        ? ReadonlyNumbers<E>
        : Numbers<E>
      : D extends RecordDeclaration<infer F>
        ? { readonly [K in keyof F]: ValueOf<F[K]> }
        : never;

/** The parameters of a kernel by name. */
export type Params = Readonly<Record<string, LaunchDeclaration>>;
/** The parameters of a kernel function by position. */
export type ParamTuple = readonly Declaration[];
/** A function's parameters: a tuple for positional ones, or one record by its fields. */
export type FunctionParams = ParamTuple | Fields;
/**
 * Tells whether the parameters of a function are positional.
 *
 * @internal
 */
export const isTuple = (params: FunctionParams): params is ParamTuple => Array.isArray(params);

/** The values of a kernel's parameters inside its body. */
export type ParamValues<P extends Params> = { [K in keyof P]: ValueOf<P[K]> };
/** The values of positional parameters of a kernel function inside its body. */
export type TupleValues<P extends ParamTuple> = { [K in keyof P]: ValueOf<P[K]> };
/** The arguments of a call for a function's parameters. */
export type Arguments<P extends FunctionParams> = P extends ParamTuple
  ? Readonly<TupleValues<P>>
  : P extends Fields
    ? [fields: { readonly [K in keyof P]: ValueOf<P[K]> }]
    : never;
/** The first argument of a function's body, which destructures it. */
export type BodyArgument<P extends FunctionParams> = P extends ParamTuple
  ? TupleValues<P>
  : P extends Fields
    ? { readonly [K in keyof P]: ValueOf<P[K]> }
    : never;

/**
 * A value that kernels and functions know at compile time: a constant, a function, a list of such values, or several by
 * name; undefined stands for an absent optional function.
 */
export type EnvironmentValue = EnvironmentEntry | EnvironmentList;
/** A list of compile-time values, over which `for (const entry of list)` is unrolled. */
export type EnvironmentList = readonly EnvironmentEntry[];
/** An entry of a compile-time list: a constant, a function, or several of them by name. */
export type EnvironmentEntry = KnownValue | Readonly<Record<string, KnownValue>>;
type KnownValue = number | boolean | string | FunctionSpec | undefined;
/** The values by name that kernels and functions know at compile time. */
export type Environment = Readonly<Record<string, EnvironmentValue>>;
/**
 * Tells whether a value of an environment is a kernel function.
 *
 * @internal
 */
export const isFunctionSpec = (value: EnvironmentValue): value is FunctionSpec => typeof value === "function";
/**
 * Tells whether a value of an environment is a list.
 *
 * @internal
 */
export const isList = (value: EnvironmentList | Environment): value is EnvironmentList => Array.isArray(value);

/** Any number where a constant is a number, so that comparisons make sense to TypeScript. */
type Widened<T> = T extends FunctionSpec | undefined
  ? T
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends string
        ? string
        : { readonly [K in keyof T]: Widened<T[K]> };

/** The types that the values of a kernel's environment `E` have inside the kernel's body. */
export type EnvironmentValues<E extends Environment> = { readonly [K in keyof E]: Widened<E[K]> };

/** The result of a kernel function: one value, or several in a record; undefined if it only writes arrays. */
export type ResultValue = number | boolean | Numbers | ReadonlyNumbers | ResultRecord;
/** Several results of a kernel function, by name. */
export type ResultRecord = { readonly [name: string]: ResultValue };
/** The results of a kernel function that is not a generator. */
export type Results = ResultValue | undefined | void;
/** The result of a kernel function, or a generator where the function has barriers and is called with `yield* f(…)`. */
export type FunctionResult = Results | KernelBody<Results>;

/** The body of a kernel with barriers: a generator, which yields barriers and collective operations. */
export type KernelBody<R = void> = Generator<Collective | undefined, R, number>;

/** A kernel function of any parameters and results, as the front end sees it. */
export interface FunctionSpec {
  readonly kind: "function";
  readonly functionName: string;
  readonly params: FunctionParams;
  /** The names of the arguments where the body takes them as one object (`userFunction`), otherwise undefined. */
  readonly argumentNames: readonly string[] | undefined;
  readonly env: Environment;
  /** The text of the function, `(…) => …` or a method, as the front end parses it. */
  readonly source: string;
  /** The literals that have become its last parameters (`liftLiterals`), otherwise undefined. */
  readonly lifted?: LiftedLiterals | undefined;
  /**
   * The form of a function that a user names in `functions`: a plain one, `(S, t) => …`, with positional arguments, or
   * one declared with `fn`.
   */
  readonly userWritten?: "plain" | "declared" | undefined;
}

/** The literals of a function that have become its parameters. */
export interface LiftedLiterals {
  /** The number of the parameter by place and value, counted from the first that stands for a literal. */
  readonly places: ReadonlyMap<string, number>;
  /** A text that is equal exactly for functions that lower to the same code but for the values of their literals. */
  readonly shape: string;
}

/**
 * The type of a kernel function by its call signature:
 *
 *     function assemble(variant: Variant): FunctionOf<(of: { mesh: ValueOf<typeof Mesh>; rate: number }) => Row>
 */
export type FunctionOf<F extends (...args: never) => FunctionResult> = FunctionSpec & F;

/**
 * A function that kernels may call, inlined at each call. Called from plain JavaScript, it runs in f64. `params` are
 * positional (a tuple, which `body` destructures as an array) or named (one record, which `body` destructures by name).
 */
export interface KernelFunction<
  P extends FunctionParams = ParamTuple,
  R extends FunctionResult = FunctionResult,
> extends FunctionSpec {
  (...args: Arguments<P>): R;
  readonly params: P;
}

/** A kernel function of any number of reals, as formulas and users' functions are. */
export type RealFunction<R extends FunctionResult = number> = KernelFunction<readonly ScalarDeclaration<"real">[], R>;

/** The parameters that the calls of a function take: its record, or its tuple. */
export type ParamsOf<F extends FunctionSpec> = BodyArgument<F["params"]>;
/** The result of a function, through `yield*` if it is a generator. */
export type ResultOf<F extends FunctionOf<(...args: never) => FunctionResult>> =
  ReturnType<F> extends KernelBody<infer R> ? R : ReturnType<F>;

/** The definition that `fn` takes. */
export interface FunctionDefinition<P extends FunctionParams, E extends Environment, R extends FunctionResult> {
  readonly name?: string;
  readonly params: P;
  readonly env?: E;
  body(args: BodyArgument<P>, gpu: Gpu, env: EnvironmentValues<E>): R;
}

/** The number of workgroups that a multiprocessor shall have room for at once, in all precisions or by precision. */
export type ResidentGroups = number | Readonly<Partial<Record<Precision, number>>>;

/** A numerical kernel: the work of one item of a launch. It is a specification: frozen, device-free, cacheable. */
export interface Kernel<P extends Params = Params> {
  readonly kind: "kernel";
  readonly name: string;
  readonly params: P;
  readonly env: Environment;
  /** The number of items per workgroup. */
  readonly groupSize: number;
  /** The hint of resident workgroups; see `KernelDefinition`. */
  readonly residentGroups?: ResidentGroups;
  readonly loopBudget?: number;
  readonly source: string;
  /** The body itself, for running it as plain JavaScript. */
  readonly body: (args: never, gpu: Gpu, env: never) => void | KernelBody;
}

/** The definition that `kernel` takes. */
export interface KernelDefinition<P extends Params, E extends Environment> {
  readonly name?: string;
  readonly params: P;
  readonly env?: E;
  /** The number of items per workgroup, 64 by default. */
  readonly groupSize?: number;
  /**
   * The number of workgroups that a multiprocessor shall have room for at once on CUDA: a bound on registers. Left to
   * the compiler by default; other back ends do as they like.
   */
  readonly residentGroups?: ResidentGroups;
  /**
   * The maximum total number of loop rounds in one call of a user's function (`userFunction`), after which its loops
   * end, so that user code cannot hang a device. Loops with few constant rounds and the loops of other functions are
   * not counted. Unbounded by default. See `Gpu.endlessLoop`.
   */
  readonly loopBudget?: number;
  // undefined, not void: only so does TypeScript know what `yield` gives in a generator.
  body(args: ParamValues<P>, gpu: Gpu, env: EnvironmentValues<E>): undefined | KernelBody;
}
