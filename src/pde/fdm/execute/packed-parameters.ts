import type { PlannedInstance } from "./plan.ts";

/**
 * Returns the numbers that a problem's functions take: parameters, literals and dates. Value k of instance l is at
 * [k·instances + l].
 */
export function packedParameters(
  instances: readonly Pick<PlannedInstance, "entry" | "timeline">[],
  literals: readonly number[],
): Float64Array {
  const pitch = instances.length;
  const [{ entry, timeline }] = instances;
  const parameters = new Float64Array((entry.length + literals.length + timeline.dates.length) * pitch);
  instances.forEach(({ entry, timeline: { dates } }, l) => {
    [...entry, ...literals, ...dates].forEach((value, k) => (parameters[k * pitch + l] = value));
  });
  return parameters;
}
