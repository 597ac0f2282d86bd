/**
 * `fn` for this folder. The front end resolves `Math.exp` and its like through this folder, so the front end's own
 * `fn`, whose `gpu` has those functions, would be circular here. These functions call none of them.
 */
import { functionRunOn } from "../declared.ts";
import { hostScalars } from "../host-scalars.ts";
import type { Gpu } from "../gpu.ts";
import type { Environment, FunctionDefinition, FunctionParams, FunctionResult, KernelFunction } from "../language.ts";

/**
 * Declares a kernel function of the mathematical library. Unlike in the public `fn`, the argument `gpu` does not have
 * the library's own functions, which would be a circular import.
 */
export function fn<const P extends FunctionParams, const E extends Environment, R extends FunctionResult>(
  definition: FunctionDefinition<P, E, R>,
): KernelFunction<P, R> {
  return functionRunOn(hostScalars as Gpu, definition, fn);
}
