/**
 * Declares kernels and kernel functions as frozen specifications that hold a function's text, its parameters and its
 * compile-time values.
 */
import { SpecError } from "../../base/errors.ts";
import {
  checkEnvironment,
  declareFunction,
  type EntryFunction,
  declareFunctionWithGpu,
  storeDeclarationStack,
} from "../declared.ts";
import { hostGpu } from "../host-gpu.ts";
import { real } from "../language.ts";
import { declaredFunctions, type UserFunctions } from "./user-functions.ts";
import type { Gpu } from "../gpu.ts";
import type {
  Environment,
  FunctionDefinition,
  FunctionParams,
  FunctionResult,
  Kernel,
  KernelDefinition,
  KernelFunction,
  Params,
  ResidentGroups,
  ScalarDeclaration,
} from "../language.ts";

const DEFAULT_GROUP_SIZE = 64;
const MAX_GROUP_SIZE = 1024;

/**
 * Declares a kernel: the work of one item of a launch. docs/kernels.md shows how to write one.
 *
 * `params` are run-time values (scalars and buffers). `env` holds compile-time values (numbers, booleans, strings,
 * kernel functions). `body` gets both destructured and may use nothing else except `Math`. A generator body (`*body`)
 * may `yield` for a workgroup barrier.
 *
 * @param definition the name, the parameters, the environment, the group size and the body.
 * @returns a frozen specification without a device; `Device.compile` compiles it.
 * @throws SpecError if the group size is not a whole number from 1 to 1024, or a declared name is not an identifier.
 * @example
 * import { openDevice } from "feynkac/device";
 * import { kernel, read, real, write } from "feynkac/kernel";
 *
 * const scaled = kernel({
 *   params: { factor: real, x: read(real), y: write(real) },
 *   body({ factor, x, y }, gpu) {
 *     const i = gpu.globalId();
 *     y[i] = factor * x[i]!;
 *   },
 * });
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const compiled = await device.compile(scaled, { precision: "f64" });
 * const [x, y] = [device.createBuffer("f64", 3), device.createBuffer("f64", 3)];
 * device.write(x, Float64Array.of(1, 2, 3));
 * device.launch(compiled, { factor: 10, x, y }, { items: 3 });
 * console.log((await device.read(y)).join(" ")); // 10 20 30
 * @stable
 */
export function kernel<const P extends Params, const E extends Environment = Record<never, never>>(
  definition: KernelDefinition<P, E>,
): Kernel<P> {
  const { name = "kernel", params, groupSize = DEFAULT_GROUP_SIZE, residentGroups, loopBudget, body } = definition;
  const shape = { groupSize, residentGroups, loopBudget };
  return declareKernel(name, params, definition.env ?? {}, shape, body as Kernel["body"], body.toString(), kernel);
}

/** The definition that `kernelFromSource` takes: a kernel whose body is source text. @stable */
export interface KernelSource<P extends Params> {
  readonly name?: string;
  readonly params: P;
  readonly env?: Environment;
  readonly groupSize?: number;
  readonly loopBudget?: number;
  /** The text of the body: `({ n, u }, gpu, { SCALE }) => { … }`, `function* (…) { … }` or a method. */
  readonly source: string;
}

/**
 * Declares a kernel from its source text, for generated kernels. The kernel can be compiled, but not run as plain
 * JavaScript.
 *
 * @param definition the parts of a kernel, with the body as text.
 * @throws SpecError as `kernel`. Mistakes in the text are errors of `Device.compile`.
 * @example
 * import { kernelFromSource, real, write } from "feynkac/kernel";
 *
 * const ones = kernelFromSource({ params: { y: write(real) }, source: "({ y }, gpu) => { y[gpu.globalId()] = 1; }" });
 * console.log(ones.groupSize); // 64
 * @stable
 */
export function kernelFromSource<const P extends Params>(definition: KernelSource<P>): Kernel<P> {
  const { name = "kernel", params, env = {}, groupSize = DEFAULT_GROUP_SIZE, loopBudget, source } = definition;
  const body = (): never => {
    throw new SpecError(`kernel "${name}" was made from text and has no function to run; compile or interpret it`);
  };
  return declareKernel(name, params, env, { groupSize, loopBudget }, body, source, kernelFromSource);
}

/**
 * Returns the same kernel with other compile-time constants. Constants that `env` does not name keep their values.
 *
 * @param base the kernel.
 * @param env the constants that change.
 * @param name what errors call the new kernel; by default the name of `base`.
 * @throws SpecError if a name is not an identifier.
 * @example
 * import { kernel, real, withEnvironment, write } from "feynkac/kernel";
 *
 * const filled = kernel({
 *   params: { y: write(real) },
 *   env: { VALUE: 1 },
 *   body({ y }, gpu, { VALUE }) {
 *     y[gpu.globalId()] = VALUE;
 *   },
 * });
 * console.log(withEnvironment(filled, { VALUE: 2 }).env["VALUE"]); // 2
 * @stable
 */
export function withEnvironment<P extends Params>(base: Kernel<P>, env: Environment, name = base.name): Kernel<P> {
  return declareKernel(name, base.params, { ...base.env, ...env }, base, base.body, base.source, withEnvironment);
}

interface KernelShape {
  readonly groupSize: number;
  readonly residentGroups?: ResidentGroups | undefined;
  readonly loopBudget?: number | undefined;
}

function declareKernel<P extends Params>(
  name: string,
  params: P,
  env: Environment,
  { groupSize, residentGroups, loopBudget }: KernelShape,
  body: Kernel["body"],
  source: string,
  entry: EntryFunction,
): Kernel<P> {
  if (!Number.isInteger(groupSize) || groupSize < 1 || groupSize > MAX_GROUP_SIZE)
    throw new SpecError(
      `kernel "${name}": groupSize: got ${groupSize}, expected a whole number from 1 to ${MAX_GROUP_SIZE}`,
    );
  for (const groups of typeof residentGroups === "object" ? Object.values(residentGroups) : [residentGroups ?? 1])
    if (!(Number.isInteger(groups) && groups >= 1))
      throw new SpecError(`kernel "${name}": residentGroups: got ${groups}, expected a whole number ≥ 1`);
  if (loopBudget !== undefined && !(Number.isInteger(loopBudget) && loopBudget >= 1 && loopBudget < 2 ** 31))
    throw new SpecError(`kernel "${name}": loopBudget: got ${loopBudget}, expected a whole number from 1 to 2³¹ − 1`);
  for (const key of [...Object.keys(params), ...Object.keys(env)])
    if (!/^[A-Za-z_$][\w$]*$/.test(key))
      throw new SpecError(`kernel "${name}": "${key}" is not an identifier; rename it`);
  checkEnvironment(`kernel "${name}"`, env);
  const result: Kernel<P> = Object.freeze<Kernel<P>>({
    kind: "kernel",
    name,
    params: Object.freeze({ ...params }),
    env: Object.freeze({ ...env }),
    groupSize,
    ...(residentGroups === undefined ? {} : { residentGroups }),
    ...(loopBudget === undefined ? {} : { loopBudget }),
    source,
    body,
  });
  return storeDeclarationStack(result, entry);
}

/**
 * Declares a function that kernels may call. It is inlined where it is called. Called from plain JavaScript, it runs in
 * f64.
 *
 * @param definition the parameters by position, the environment, and the body.
 * @throws SpecError if a name of the environment cannot be used.
 * @example
 * import { fn, real } from "feynkac/kernel";
 *
 * const payoff = fn({
 *   params: [real, real],
 *   body([spot, strike]) {
 *     return Math.max(spot - strike, 0);
 *   },
 * });
 * console.log(payoff(110, 100)); // 10
 * @stable
 */
export function fn<const P extends FunctionParams, const E extends Environment, R extends FunctionResult>(
  definition: FunctionDefinition<P, E, R>,
): KernelFunction<P, R> {
  return declareFunctionWithGpu(hostGpu, definition, fn);
}

/** The definition that `functionFromSource` takes: a kernel function whose body is source text. @stable */
export interface FunctionSource<P extends FunctionParams> {
  readonly name: string;
  readonly params: P;
  readonly env?: Environment;
  /** The text of the body: `([x, y], gpu, { f }) => f(x) + y`, or a method. */
  readonly source: string;
  /** The function that plain JavaScript runs; without it only kernels can call the function. */
  readonly run?: (...args: never[]) => unknown;
}

/**
 * Declares a kernel function from its source text, for generated adapters between functions.
 *
 * @param definition the name, the parameters, the text, and what plain JavaScript runs instead, if anything.
 * @example
 * import { functionFromSource, real } from "feynkac/kernel";
 *
 * const sum = functionFromSource({ name: "sum", params: [real, real], source: "([x, y]) => x + y" });
 * console.log(sum.functionName); // sum
 * @stable
 */
export function functionFromSource<const P extends FunctionParams, R extends FunctionResult>(
  definition: FunctionSource<P>,
): KernelFunction<P, R> {
  const { name, params, env = {}, source, run } = definition;
  const refuse = (): never => {
    throw new SpecError(`function "${name}" was made from text and has no function to run`);
  };
  return declareFunction({ run: run ?? refuse, functionName: name, params, env, source, entry: functionFromSource });
}

/**
 * A function that a user of a solver writes. It takes one object of named reals and returns a number or several named
 * numbers: `({ t, S, kappa }, gpu) => ({ S: …, SS: … })`. Its third argument contains, by name, the functions that it
 * may call.
 * @stable
 */
export type UserFunction<N extends string, R extends FunctionResult, F = unknown> = (
  state: Readonly<Record<N, number>>,
  gpu: Gpu,
  functions: F,
) => R;

/**
 * Makes a kernel function from a plain function of named reals, as users write models. The function takes one object,
 * returns a number or several named numbers, and may use `Math` and its second argument. Kernels call the result with
 * the values in the order of `names`.
 *
 * @param names the names of the values that the function takes.
 * @param body the function.
 * @param name the function's name in error messages.
 * @param functions the functions that it may call, by name: plain functions of numbers, or kernel functions of reals.
 *
 * @throws SpecError if a name is not an identifier, or for a function that cannot be called.
 * @example
 * import { userFunction } from "feynkac/kernel";
 *
 * const drift = userFunction(["S", "t"], ({ S, t }) => 0.05 * S * Math.exp(-t));
 * console.log(drift(100, 0)); // 5
 * @stable
 */
export function userFunction<const N extends string, R extends FunctionResult, F extends UserFunctions = UserFunctions>(
  names: readonly N[],
  body: UserFunction<N, R, F>,
  name = body.name || "user function",
  functions?: F,
): KernelFunction<readonly ScalarDeclaration<"real">[], R> {
  const bad = names.find((name) => !/^[A-Za-z_$][\w$]*$/.test(name));
  if (bad !== undefined) throw new SpecError(`user function: "${bad}" is not an identifier; rename it`);
  const env = declaredFunctions(functions);
  const run = (...args: number[]): R => {
    // Runs for each entry of a batch, and `Object.fromEntries` would take four times as long as the rest.
    const state = {} as Record<N, number>;
    for (let k = 0; k < names.length; k++) state[names[k]] = args[k];
    return body(state, hostGpu, env as never);
  };
  const params = names.map(() => real);
  const source = body.toString();
  return declareFunction({
    run,
    functionName: name,
    params,
    env,
    source,
    argumentNames: names,
    entry: userFunction,
  });
}
