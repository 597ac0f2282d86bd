/** The declaration of kernel functions, with any `gpu` that plain JavaScript passes to the function. */
import { SpecError } from "../base/errors.ts";
import { checkFieldNames, isTuple } from "./language.ts";
import type { Gpu } from "./gpu.ts";
import type {
  Environment,
  EnvironmentList,
  FunctionDefinition,
  FunctionParams,
  FunctionResult,
  FunctionSpec,
  KernelFunction,
  LiftedLiterals,
} from "./language.ts";

interface Trace {
  readonly stack?: string;
}

/** The call stacks at which declarations were made, for error messages. A stack is formatted only when it is read. */
const declaredAt = new WeakMap<object, Trace>();

/**
 * Returns the text of the call stack at which a kernel or kernel function was declared; undefined if it is not known.
 */
export function declarationStack(declared: object): string | undefined {
  return declaredAt.get(declared)?.stack;
}

/**
 * Stores the call stack at which a kernel or kernel function was declared, for error messages, and returns `declared`.
 * `entry` is the public function that the author called. The stack begins at the caller of `entry`.
 */
export function storeDeclarationStack<T extends object>(declared: T, entry: EntryFunction): T {
  declaredAt.set(declared, traceAbove(entry));
  return declared;
}

/** A public function that declares kernels or kernel functions, such as `kernel` or `fn`. */
export type EntryFunction = (...args: never[]) => unknown;

/**
 * Returns the stack entry of the caller of `entry`, and no more. V8's traces keep `this` of every entry alive, so that
 * a kernel declared below a solver's method would keep the solver with all its arrays.
 */
function traceAbove(entry: EntryFunction): Trace {
  if (Error.captureStackTrace === undefined) return new Error(); // a text already, where it is not V8's
  const trace: Trace = {};
  const limit = Error.stackTraceLimit;
  Reflect.set(Error, "stackTraceLimit", 1); // refused, not thrown, where `Error` is frozen
  Error.captureStackTrace(trace, entry);
  Reflect.set(Error, "stackTraceLimit", limit);
  return trace;
}

/** Declares a kernel function whose body receives `gpu` as its second argument when plain JavaScript calls it. */
export function declareFunctionWithGpu<
  const P extends FunctionParams,
  const E extends Environment,
  R extends FunctionResult,
>(gpu: Gpu, definition: FunctionDefinition<P, E, R>, entry: EntryFunction): KernelFunction<P, R> {
  const { name = "function", params, env = {} as E, body } = definition;
  const derivative = definition.derivative && partialsIn(name, params, definition.derivative);
  // Hosts call functions millions of times: a record needs no list of arguments.
  const run = isTuple(params)
    ? (...args: unknown[]): R => body(args as never, gpu, env as never)
    : (record: unknown): R => body(record as never, gpu, env as never);
  return declareFunction({ run, functionName: name, params, env, source: body.toString(), derivative, entry });
}

/** Returns the partial derivatives of a declaration in the order of its parameters. @throws SpecError */
function partialsIn(name: string, params: FunctionParams, given: object): readonly (FunctionSpec | undefined)[] {
  const owner = `function "${name}": derivative`;
  const entries = Object.entries(params);
  const bad = entries.find(([, { kind }]) => kind !== "scalar");
  if (bad !== undefined)
    throw new SpecError(`${owner}: parameter ${bad[0]} is no number; only a function of numbers may have a derivative`);
  const count = entries.length;
  for (const [key, partial] of Object.entries(given) as [string, FunctionSpec | undefined][]) {
    if (!Object.hasOwn(params, key)) throw new SpecError(`${owner}.${key}: the function has no such parameter`);
    if (partial === undefined) continue;
    const takes = partial.kind === "function" ? Object.keys(partial.params) : undefined;
    if (
      takes?.length !== count + 1 ||
      (!isTuple(params) && [...entries.map(([n]) => n), "result"].some((n) => !takes.includes(n)))
    )
      throw new SpecError(`${owner}.${key}: expected fn({ … }) of the function's arguments and then its result`);
  }
  return entries.map(([key]) => (given as Readonly<Record<string, FunctionSpec | undefined>>)[key]);
}

/**
 * Checks the compile-time values (`env`) of a kernel or kernel function.
 * @throws SpecError for a value that is neither a constant, nor a kernel function, nor undefined
 */
export function checkEnvironment(owner: string, env: Environment | EnvironmentList): void {
  for (const [name, value] of Object.entries(env) as [string, unknown][]) {
    const prototype: unknown = typeof value === "object" && value !== null ? Object.getPrototypeOf(value) : undefined;
    if (prototype === Object.prototype || prototype === Array.prototype) {
      checkEnvironment(`${owner}: env.${name}`, value as Environment);
      continue;
    }
    const isFunction = typeof value === "function" && (value as Partial<FunctionSpec>).kind === "function";
    if (isFunction || ["number", "boolean", "string", "undefined"].includes(typeof value)) continue;
    const got =
      typeof value === "function"
        ? "a plain function; declare it with fn({ … })"
        : value === null
          ? "null"
          : typeof value;
    throw new SpecError(
      `${owner}: env.${name}: expected a number, a boolean, a string, a kernel function, or a list or record of these, got ${got}`,
    );
  }
}

/** The declaration of a kernel function, from which `declareFunction` makes a callable function. */
export interface KernelFunctionDeclaration<P extends FunctionParams> {
  /** The function that plain JavaScript runs when it calls the kernel function. */
  readonly run: (...args: never[]) => unknown;
  readonly functionName: string;
  readonly params: P;
  readonly env: Environment;
  /** The text of the function that the front end compiles. */
  readonly source: string;
  readonly argumentNames?: readonly string[] | undefined;
  readonly lifted?: LiftedLiterals | undefined;
  readonly userWritten?: FunctionSpec["userWritten"];
  readonly derivative?: FunctionSpec["derivative"];
  readonly differentiated?: FunctionSpec["differentiated"];
  readonly entry: EntryFunction;
}

/** Makes a callable kernel function from its declaration. */
export function declareFunction<P extends FunctionParams, R extends FunctionResult>(
  declared: KernelFunctionDeclaration<P>,
): KernelFunction<P, R> {
  const { run, functionName, params, env, source, argumentNames, lifted, userWritten, entry } = declared;
  const { derivative, differentiated } = declared;
  const owner = `function "${functionName}"`;
  checkEnvironment(owner, env);
  if (!isTuple(params)) checkFieldNames(owner, params);
  const result = Object.assign(run, {
    kind: "function" as const,
    functionName,
    params: Object.freeze(isTuple(params) ? [...params] : Object.assign({}, params)) as unknown as P,
    argumentNames: argumentNames && Object.freeze([...argumentNames]),
    env: Object.freeze({ ...env }),
    source,
    lifted,
    userWritten,
    derivative,
    differentiated,
  });
  return Object.freeze(storeDeclarationStack(result, entry)) as unknown as KernelFunction<P, R>;
}
