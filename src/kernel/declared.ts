/** What every declaration of a kernel function does, whichever `gpu` plain JavaScript runs it with. */
import { SpecError } from "../errors.ts";
import type { Environment, FunctionDefinition, FunctionResult, Gpu, KernelFunction, ParamTuple } from "./language.ts";

/** Where a declaration was made, for error messages; the stack is only formatted when somebody asks. */
const declaredAt = new WeakMap<object, Error>();

export function declarationTrace(declared: object): string | undefined {
  return declaredAt.get(declared)?.stack;
}

export function recordDeclaration<T extends object>(declared: T): T {
  declaredAt.set(declared, new Error());
  return declared;
}

/** A kernel function that runs with `gpu` when plain JavaScript calls it. */
export function functionRunOn<const P extends ParamTuple, const E extends Environment, R extends FunctionResult>(
  gpu: Gpu,
  definition: FunctionDefinition<P, E, R>,
): KernelFunction<P, R> {
  const { name = "function", params, env = {} as E, body } = definition;
  const run = (...args: unknown[]): R => body(args as never, gpu, env as never);
  return declareFunction(run, name, params, env, body.toString());
}

/** @throws SpecError for a value that is no constant and no kernel function */
export function checkEnvironment(owner: string, env: Environment): void {
  for (const [name, value] of Object.entries(env) as [string, unknown][]) {
    const isFunction = typeof value === "function" && (value as Partial<KernelFunction>).kind === "function";
    if (isFunction || ["number", "boolean", "string"].includes(typeof value)) continue;
    const got =
      typeof value === "function"
        ? "a plain function; declare it with fn({ … })"
        : value === null
          ? "null"
          : typeof value;
    throw new SpecError(
      `${owner}: env.${name}: expected a number, a boolean, a string or a kernel function, got ${got}`,
    );
  }
}

export function declareFunction<P extends ParamTuple, R extends FunctionResult>(
  run: (...args: never[]) => unknown,
  functionName: string,
  params: P,
  env: Environment,
  source: string,
  argumentNames?: readonly string[],
): KernelFunction<P, R> {
  checkEnvironment(`function "${functionName}"`, env);
  const result = Object.assign(run, {
    kind: "function" as const,
    functionName,
    params: Object.freeze([...params]) as unknown as P,
    argumentNames: argumentNames && Object.freeze([...argumentNames]),
    env: Object.freeze({ ...env }),
    source,
  });
  return Object.freeze(recordDeclaration(result)) as unknown as KernelFunction<P, R>;
}
