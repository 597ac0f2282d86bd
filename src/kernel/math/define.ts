/**
 * `fn` for this folder. The front end resolves `Math.exp` and its like through this folder, so the front end's own
 * `fn`, whose `gpu` has those functions, would be circular here. These functions call none of them.
 */
import { declareFunction, declareFunctionWithGpu } from "../declared.ts";
import { hostScalars } from "../host-scalars.ts";
import type { Gpu } from "../gpu.ts";
import { real } from "../language.ts";
import type { Environment, FunctionDefinition, FunctionParams, FunctionResult, KernelFunction } from "../language.ts";

/**
 * Declares a kernel function of the mathematical library. Unlike in the public `fn`, the argument `gpu` does not have
 * the library's own functions, which would be a circular import.
 */
export function fn<const P extends FunctionParams, const E extends Environment, R extends FunctionResult>(
  definition: FunctionDefinition<P, E, R>,
): KernelFunction<P, R> {
  return declareFunctionWithGpu(hostScalars as Gpu, definition, fn);
}

/**
 * Returns the kernel function that evaluates a polynomial of degree 2 or more by Horner's scheme. `f32` has the
 * coefficients in f32, and `f64` those in the other precisions, both with the constant one first.
 */
export function polynomial(coefficients: { readonly f32: readonly number[]; readonly f64: readonly number[] }) {
  const parts = (all: readonly number[]) => ({ top: all[all.length - 1], next: all[all.length - 2] });
  const [f32, f64] = [coefficients.f32, coefficients.f64].map((all) => all.slice(0, -2).reverse());
  const [short, long] = [parts(coefficients.f32), parts(coefficients.f64)];
  const env = { short, SHORT: f32, long, LONG: f64 };
  const { body } = {
    body([x]: readonly [number], gpu: Gpu, { short, SHORT, long, LONG }: typeof env) {
      let p = gpu.precision === "f32" ? short.next + x * short.top : long.next + x * long.top;
      if (gpu.precision === "f32") for (const c of SHORT) p = c + x * p;
      else for (const c of LONG) p = c + x * p;
      return p;
    },
  };
  // Hosts call functions millions of times, so that this one has no list of arguments and no choice of a precision.
  const { next, top } = long;
  const run = (x: number): number => {
    let p = next + x * top;
    for (let k = 0; k < f64.length; k++) p = f64[k] + x * p;
    return p;
  };
  const declared = { run, functionName: "polynomial", params: [real] as const, env, source: body.toString() };
  return declareFunction<readonly [typeof real], number>({ ...declared, entry: polynomial });
}
