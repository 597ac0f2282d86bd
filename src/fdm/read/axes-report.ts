import { SpecError } from "../../errors.ts";
import type { AxesSolved } from "../execute/axes-batch.ts";
import { FAULT } from "../operator/status.ts";
import type { AxesModel } from "../problem/axes-model.ts";
import type { Given } from "../problem/functions.ts";
import { type ParameterValues, shown } from "../problem/quantity.ts";
import { CONDITION_SHIFT } from "../time/timeline.ts";
import { functionsOf, type Report, rounded, timeOfRow } from "./report.ts";

/** What was asked for, as far as messages name it; and what came of it. */
export type Asked = Pick<AxesModel, "names" | "batch" | "equation" | "terminal" | "ends" | "conditions" | "exercise">;
export type Came = Pick<AxesSolved, "meshes" | "status" | "program" | "timeline">;

/** What the status of an instance on several axes says, in words; see `reportOf`. */
export function axesReportOf(
  model: Asked,
  entry: ParameterValues,
  solved: Came,
  endless: ReadonlyMap<number, SpecError>,
): Report {
  const { status } = solved;
  const loop = endless.get(status.endless);
  if (loop !== undefined) return { warnings: [], error: loop };
  if (status.fault !== 0) return { warnings: [], error: faultOf(model, entry, solved) };
  const growth = "equation.V: grows by more than a step can follow, V·Δt ≥ 1; take more steps";
  return { warnings: status.growth ? [growth] : [], error: undefined };
}

function faultOf(model: Asked, entry: ParameterValues, solved: Came): SpecError {
  const { fault, row } = solved.status;
  const x = pointOf(solved);
  const t = timeOfRow(solved, fault, row);
  const place = model.names.map((name, k) => `${name} = ${rounded(x[k])}`).join(", ");
  const where = `at ${place}, t = ${rounded(t)}, ${shown(model.batch.names, entry)}`;
  if ((fault & FAULT.solution) !== 0)
    return new SpecError(
      `solution: not a finite number ${where}: it grows without bound; take more steps, or move the ends of the axes`,
    );
  const at = <T>(given: Given<T>): T => given.at(t, ...x, ...entry);
  const { equation, names } = model;
  if ((fault & (FAULT.indefinite | FAULT.negative)) !== 0) {
    const values = at(equation);
    const list = Object.entries(values)
      .filter(([name]) => names.some((a) => names.some((b) => name === a + b)))
      .map(([name, value]) => `${name} = ${rounded(value)}`);
    return new SpecError(
      `equation: ${list.join(", ")} ${where}; expected second derivatives whose matrix is positive semi-definite, ` +
        "SS ≥ 0 and Sv² ≤ 4·SS·vv for each pair of axes: backward from its terminal values the equation has no other " +
        "solution; look at signs and correlations",
    );
  }
  const { path, got } = blamed(model, solved, at);
  const value = Number.isFinite(got) ? "not finite in this precision" : String(got);
  return new SpecError(
    `${path}: ${value} ${where}; expected a finite number at every node: guard the formula there, or move the end of the axis`,
  );
}

/** The values of the axes at the node of a fault. */
function pointOf({ meshes, status: { node } }: Came): readonly number[] {
  let rest = node;
  return meshes.map(({ values }) => {
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    return value;
  });
}

/** Which function it was; of several that it may have been, the first that is not finite on the host. */
function blamed(
  { equation, terminal, ends, conditions, exercise }: Asked,
  { status: { fault, row }, program }: Came,
  at: <T>(given: Given<T>) => T,
): { readonly path: string; readonly got: number } {
  if ((fault & (FAULT.a | FAULT.b | FAULT.c | FAULT.d)) !== 0) {
    const values = at(equation);
    const bad = Object.keys(values).find((name) => !Number.isFinite(values[name])) ?? Object.keys(values)[0];
    return { path: `equation.${bad}`, got: values[bad] };
  }
  const atAllTimes = conditions.filter(({ kind, dates }) => kind === "knock-out" && dates === undefined);
  const condition = conditions[(program.words[2 * row] >> CONDITION_SHIFT) & 255];
  const candidates =
    (fault & FAULT.terminal) !== 0
      ? [terminal]
      : (fault & FAULT.payoff) !== 0
        ? [exercise!.payoff]
        : (fault & FAULT.event) !== 0
          ? functionsOf(condition)
          : [...ends.flatMap(({ low, high }) => [low.number, high.number]), ...atAllTimes.flatMap(functionsOf)];
  const found = candidates
    .filter((given) => given !== undefined)
    .map((given) => ({ path: given.path, got: at(given) }));
  return found.find(({ got }) => !Number.isFinite(got)) ?? found[0];
}
