/**
 * The kernel language as its users see it: how kernels and kernel functions are declared, and what a kernel's body may
 * call. Nothing here compiles anything; see `frontend/` for that, and docs/kernel-language.md for each deviation from
 * JavaScript.
 */
import type { Collective } from "./numbers.ts";
import type { Numbers } from "./numbers.ts";
import type { ReadonlyNumbers } from "./numbers.ts";
import { SpecError } from "../base/errors.ts";
import type { Gpu } from "./gpu.ts";
import type { ElementType, Precision, ScalarType } from "./ir.ts";

/** The declaration of a scalar parameter of a kernel: `real`, `i32`, `u32` or `bool`. @stable */
export interface ScalarDeclaration<T extends ScalarType = ScalarType> {
  readonly kind: "scalar";
  readonly type: T;
}

/** The declaration of a buffer parameter of a kernel, from `read(…)` or `write(…)`. @stable */
export interface BufferDeclaration<E extends ElementType = ElementType, A extends "read" | "write" = "read" | "write"> {
  readonly kind: "buffer";
  readonly element: E;
  readonly access: A;
}

/**
 * The declarations, by name, of a record's fields, or of the parameters of a function that is called with one record.
 * @stable
 */
export type Fields = { readonly [name: string]: Declaration };

/**
 * The declaration of a record type, whose fields are reals, integers, booleans, arrays or other records. See `record`.
 * @stable
 */
export interface RecordDeclaration<F extends Fields = Fields> {
  readonly kind: "record";
  readonly fields: F;
}

/** The declaration of one parameter of a kernel. @stable */
export type LaunchDeclaration = ScalarDeclaration | BufferDeclaration;
/** The declaration of a parameter of a kernel function, or of a field of a record. @stable */
export type Declaration = LaunchDeclaration | RecordDeclaration;

/** Declares a real number in the precision for which the kernel is compiled. @stable */
export const real: ScalarDeclaration<"real"> = { kind: "scalar", type: "real" };
/** Declares a signed 32-bit integer. @stable */
export const i32: ScalarDeclaration<"i32"> = { kind: "scalar", type: "i32" };
/** Declares an unsigned 32-bit integer. @stable */
export const u32: ScalarDeclaration<"u32"> = { kind: "scalar", type: "u32" };
/** Declares a boolean. @stable */
export const bool: ScalarDeclaration<"bool"> = { kind: "scalar", type: "bool" };

/**
 * Declares a buffer that the kernel only reads. As a parameter of a kernel function, it stands for any array that the
 * function only reads.
 *
 * @param element `real`, `i32` or `u32`.
 * @example
 * import { read, real } from "feynkac/kernel";
 *
 * console.log(read(real).access); // read
 * @stable
 */
export function read<E extends ElementType>(element: ScalarDeclaration<E>): BufferDeclaration<E, "read"> {
  return { kind: "buffer", element: element.type, access: "read" };
}

/**
 * Declares a buffer that the kernel writes and may read. As a parameter of a kernel function, it stands for any array
 * that the function writes.
 *
 * @param element `real`, `i32` or `u32`.
 * @example
 * import { real, write } from "feynkac/kernel";
 *
 * console.log(write(real).access); // write
 * @stable
 */
export function write<E extends ElementType>(element: ScalarDeclaration<E>): BufferDeclaration<E, "write"> {
  return { kind: "buffer", element: element.type, access: "write" };
}

/**
 * Declares a record type for parameters of kernel functions. Fields declared with `read(…)` and `write(…)` may be
 * buffers, private arrays or shared arrays. Records exist at compile time only: the compiler replaces each record by
 * its fields, so that records cost nothing at run time.
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
 * @stable
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
 * The TypeScript type that a declared parameter or field has inside a kernel's body. The fields of a record can only be
 * changed through the variable that the record was declared with.
 * @stable
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

/** The parameters of a kernel by name. @stable */
export type Params = Readonly<Record<string, LaunchDeclaration>>;
/** The parameters of a kernel function by position. @stable */
export type ParamTuple = readonly Declaration[];
/**
 * The parameters of a kernel function: a tuple for positional parameters, or the fields of the one record that it
 * takes.
 * @stable
 */
export type FunctionParams = ParamTuple | Fields;
/**
 * Tells whether the parameters of a function are positional.
 *
 * @internal
 */
export const isTuple = (params: FunctionParams): params is ParamTuple => Array.isArray(params);

/** The TypeScript types of a kernel's parameters inside its body, by name. @stable */
export type ParamValues<P extends Params> = { [K in keyof P]: ValueOf<P[K]> };
/** The TypeScript types of the positional parameters of a kernel function inside its body. @stable */
export type TupleValues<P extends ParamTuple> = { [K in keyof P]: ValueOf<P[K]> };
/** The TypeScript types of the arguments in a call of a kernel function with parameters `P`. @stable */
export type Arguments<P extends FunctionParams> = P extends ParamTuple
  ? Readonly<TupleValues<P>>
  : P extends Fields
    ? [fields: { readonly [K in keyof P]: ValueOf<P[K]> }]
    : never;
/** The TypeScript type of the first argument of a kernel function's body, which the body destructures. @stable */
export type BodyArgument<P extends FunctionParams> = P extends ParamTuple
  ? TupleValues<P>
  : P extends Fields
    ? { readonly [K in keyof P]: ValueOf<P[K]> }
    : never;

/**
 * A value of `env`, known at compile time: a constant, a function, a list of these, or several of them by name.
 * Undefined stands for an optional function that is absent.
 * @stable
 */
export type EnvironmentValue = EnvironmentEntry | EnvironmentList;
/** A list of compile-time values, over which `for (const entry of list)` is unrolled. @stable */
export type EnvironmentList = readonly EnvironmentEntry[];
/** An entry of a compile-time list: a constant, a function, or several of them by name. @stable */
export type EnvironmentEntry = KnownValue | Readonly<Record<string, KnownValue>>;
type KnownValue = number | boolean | string | FunctionSpec | undefined;
/** The compile-time values (`env`) of a kernel or kernel function, by name. @stable */
export type Environment = Readonly<Record<string, EnvironmentValue>>;
/**
 * Tells whether a compile-time value (an entry of `env`) is a kernel function.
 *
 * @internal
 */
export const isFunctionSpec = (value: EnvironmentValue): value is FunctionSpec => typeof value === "function";
/**
 * Tells whether compile-time values are a list.
 *
 * @internal
 */
export const isList = (value: EnvironmentList | Environment): value is EnvironmentList => Array.isArray(value);

/** The type of any number where a constant is a number, so that TypeScript accepts comparisons with other numbers. */
type Widened<T> = T extends FunctionSpec | undefined
  ? T
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends string
        ? string
        : { readonly [K in keyof T]: Widened<T[K]> };

/** The types that the values of a kernel's environment `E` have inside the kernel's body. @stable */
export type EnvironmentValues<E extends Environment> = { readonly [K in keyof E]: Widened<E[K]> };

/** One result of a kernel function: a number, a boolean, an array, or several results in a record. @stable */
export type ResultValue = number | boolean | Numbers | ReadonlyNumbers | ResultRecord;
/** Several results of a kernel function, by name. @stable */
export type ResultRecord = { readonly [name: string]: ResultValue };
/**
 * The value that a kernel function returns or, if it has barriers, that its generator returns. It is undefined if the
 * function only writes arrays.
 * @stable
 */
export type Results = ResultValue | undefined | void;
/**
 * The result of a kernel function. A function with barriers is a generator, which kernels call with `yield* f(…)`.
 * @stable
 */
export type FunctionResult = Results | KernelBody<Results>;

/**
 * The generator that the body of a kernel with barriers returns. It yields barriers and collective operations.
 * @stable
 */
export type KernelBody<R = void> = Generator<Collective | undefined, R, number>;

/** A kernel function with any parameters and results, as the compiler sees it. @stable */
export interface FunctionSpec {
  readonly kind: "function";
  /** The function's name in error messages. */
  readonly functionName: string;
  readonly params: FunctionParams;
  /** The names of the arguments if the body takes them as one object (`userFunction`), otherwise undefined. */
  readonly argumentNames: readonly string[] | undefined;
  readonly env: Environment;
  /** The text of the function, `(…) => …` or a method, as the front end parses it. */
  readonly source: string;
  /** The literals that have become its last parameters (`liftLiterals`), otherwise undefined. */
  readonly lifted?: LiftedLiterals | undefined;
  /** The partial derivatives by parameter, each a function of the same arguments and, last, of the result. */
  readonly derivative?: readonly (FunctionSpec | undefined)[] | undefined;
  /** What the function is a derivative of, if `tangent` or `gradient` made it. */
  readonly differentiated?: Differentiated | undefined;
  /**
   * The form in which a user wrote a function that is named in `functions`: as a plain function with positional
   * arguments, `(S, t) => …`, or with `fn`. Undefined for any other function.
   */
  readonly userWritten?: "plain" | "declared" | undefined;
}

/** A function and the way in which `tangent` or `gradient` differentiates it. @experimental */
export interface Differentiated {
  readonly of: FunctionSpec;
  readonly mode: "tangent" | "gradient";
  /** The names in results of the inputs, by the names or positions of the parameters. */
  readonly inputs: Readonly<Record<string, string>>;
  /** The names of the directions that each call gives; undefined for the derivatives by input. */
  readonly directions?: readonly string[] | undefined;
}

/** The real literals of a function that have become its last parameters. @stable */
export interface LiftedLiterals {
  /** The number of each literal among these parameters, by the literal's position in the source and its value. */
  readonly places: ReadonlyMap<string, number>;
  /**
   * A text that is equal for two functions exactly if they lower to the same code, up to the values of their literals.
   */
  readonly shape: string;
}

/**
 * The type of a kernel function with the call signature `F`:
 *
 *     function assemble(variant: Variant): FunctionOf<(of: { mesh: ValueOf<typeof Mesh>; rate: number }) => Row>
 * @stable
 */
export type FunctionOf<F extends (...args: never) => FunctionResult> = FunctionSpec & F;

/**
 * A function that kernels may call. It is inlined at each call. When plain JavaScript calls it, it runs in f64. Its
 * `params` are positional (a tuple, which `body` destructures as an array) or named (one record, which `body`
 * destructures by name).
 * @stable
 */
export interface KernelFunction<
  P extends FunctionParams = ParamTuple,
  R extends FunctionResult = FunctionResult,
> extends FunctionSpec {
  (...args: Arguments<P>): R;
  readonly params: P;
}

/** A kernel function of any number of reals, such as a formula or a user's function. @stable */
export type RealFunction<R extends FunctionResult = number> = KernelFunction<readonly ScalarDeclaration<"real">[], R>;

/** The TypeScript type of the arguments that a kernel function takes: its record, or its tuple. @stable */
export type ParamsOf<F extends FunctionSpec> = BodyArgument<F["params"]>;
/**
 * The TypeScript type of a kernel function's result. If the function is a generator, it is the result of `yield*`.
 * @stable
 */
export type ResultOf<F extends FunctionOf<(...args: never) => FunctionResult>> =
  ReturnType<F> extends KernelBody<infer R> ? R : ReturnType<F>;

/** The definition of a kernel function that `fn` takes. @stable */
export interface FunctionDefinition<P extends FunctionParams, E extends Environment, R extends FunctionResult> {
  /** The function's name in error messages; by default that of `body`. */
  readonly name?: string;
  /** The declarations of the parameters: a tuple, or a record by name. */
  readonly params: P;
  /** The compile-time values, which `body` receives as its third argument. */
  readonly env?: E;
  /** The function. It destructures its first argument. */
  body(args: BodyArgument<P>, gpu: Gpu, env: EnvironmentValues<E>): R;
  /** The function's own derivative, which `tangent` and `gradient` then use in place of the body's. */
  readonly derivative?: Derivative<P>;
}

/**
 * The partial derivatives of a kernel function of scalars with one real result: functions in the order of its
 * parameters, or by their names. Each takes the arguments of the function and then its result (by name: `result`).
 * A parameter without one must not depend on the inputs of a differentiation.
 * @experimental
 */
export type Derivative<P extends FunctionParams> = P extends ParamTuple
  ? readonly (FunctionSpec | undefined)[]
  : { readonly [K in keyof P]?: FunctionSpec };

/**
 * The number of workgroups that one multiprocessor of a CUDA device should be able to run at once: one number, or one
 * for each precision.
 * @stable
 */
export type ResidentGroups = number | Readonly<Partial<Record<Precision, number>>>;

/**
 * A numerical kernel: the code of one work item of a launch. It is a frozen specification without a device, which can
 * serve as a cache key.
 * @stable
 */
export interface Kernel<P extends Params = Params> {
  readonly kind: "kernel";
  /** The kernel's name in error messages. */
  readonly name: string;
  readonly params: P;
  /** The compile-time values. */
  readonly env: Environment;
  /** The number of work items per workgroup. */
  readonly groupSize: number;
  /** The requested number of workgroups that a multiprocessor can run at once; see `KernelDefinition`. */
  readonly residentGroups?: ResidentGroups;
  /** The maximum number of loop iterations in a call of a user's function; see `KernelDefinition`. */
  readonly loopBudget?: number;
  /** The text of the body, which is compiled. */
  readonly source: string;
  /** The body as a JavaScript function. */
  readonly body: (args: never, gpu: Gpu, env: never) => void | KernelBody;
}

/** The definition of a kernel that `kernel` takes. @stable */
export interface KernelDefinition<P extends Params, E extends Environment> {
  /** The kernel's name in error messages. */
  readonly name?: string;
  /** The declarations of the parameters by name. */
  readonly params: P;
  /** The compile-time values, which `body` receives as its third argument. */
  readonly env?: E;
  /** The number of work items per workgroup, 64 by default. */
  readonly groupSize?: number;
  /**
   * The number of workgroups that one multiprocessor shall be able to run at once on CUDA. It bounds the number of
   * registers of a work item. By default the compiler decides; other back ends ignore it.
   */
  readonly residentGroups?: ResidentGroups;
  /**
   * The maximum total number of loop iterations in one call of a user's function (`userFunction`), after which its
   * loops end, so that user code cannot hang a device. Loops with few constant iterations and the loops of other
   * functions are not counted. Unbounded by default. See `Gpu.endlessLoop`.
   */
  readonly loopBudget?: number;
  // undefined, not void: only so does TypeScript know what `yield` gives in a generator.
  body(args: ParamValues<P>, gpu: Gpu, env: EnvironmentValues<E>): undefined | KernelBody;
}
