import type { ParameterValues } from "../problem/quantity.ts";
import type { Timeline } from "../time/timeline.ts";

/** An entry of a batch with its dates. */
interface Entry {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
}

/** What functions of a problem read: parameters, literals and dates, value k of instance l at [k·instances + l]. */
export function packedParameters(instances: readonly Entry[], literals: readonly number[]): Float64Array {
  const pitch = instances.length;
  const [{ entry, timeline }] = instances;
  const parameters = new Float64Array((entry.length + literals.length + timeline.dates.length) * pitch);
  instances.forEach(({ entry, timeline: { dates } }, l) => {
    [...entry, ...literals, ...dates].forEach((value, k) => (parameters[k * pitch + l] = value));
  });
  return parameters;
}
