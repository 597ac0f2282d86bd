/** Models of one's own. */
import { SpecError } from "../../base/errors.ts";
import type { PathModel } from "../model.ts";

/**
 * Checks and returns a user's model, which consists of kernel functions for its initial state, its step in time, and
 * its spots.
 *
 * @param model its functions and parameters.
 * @throws SpecError
 * @example
 * import { fn } from "feynkac/kernel";
 * import { modelParams, pathModel } from "feynkac/montecarlo";
 *
 * // Euler's scheme for dS = 2·√S dW, absorbed at zero.
 * const root = pathModel({
 *   name: "square root",
 *   assets: 1,
 *   state: 1,
 *   normals: 1,
 *   uniforms: 0,
 *   parameters: { spot: 100, rate: 0 },
 *   start: fn({
 *     params: modelParams.start,
 *     body({ p, state }) {
 *       state[0] = p[0]!;
 *     },
 *   }),
 *   step: fn({
 *     params: modelParams.step,
 *     body({ state, normals, dt }) {
 *       state[0] = Math.max(state[0]! + 2 * Math.sqrt(state[0]! * dt) * normals[0]!, 0);
 *     },
 *   }),
 *   observe: fn({
 *     params: modelParams.observe,
 *     body({ state, spots }) {
 *       spots[0] = state[0]!;
 *     },
 *   }),
 * });
 * console.log(root.name); // square root
 * @experimental
 */
export function pathModel(model: PathModel): PathModel {
  const counts = { assets: 1, state: 1, normals: 0, uniforms: 0 } as const;
  for (const [name, least] of Object.entries(counts)) {
    const value = model[name as keyof typeof counts];
    if (!Number.isInteger(value) || value < least)
      throw new SpecError(`pathModel: ${name}: got ${value}, expected a whole number from ${least} on`);
  }
  if (model.normals + model.uniforms === 0)
    throw new SpecError("pathModel: normals: got 0 and no uniforms, expected at least one random number per step");
  return Object.freeze({ ...model });
}
