import { SpecError } from "../../../base/errors.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import { FAULT, type Status, STATUS, statusOf } from "../operator/status.ts";
import type { OneAxisEquation } from "../model/full-grid.ts";
import type { CompiledFunction } from "../problem/functions.ts";
import type { CompiledEquation } from "../model/model.ts";
import { type ParameterValues, formattedParameters } from "../problem/settings.ts";
import { CONDITION_SHIFT, ROW_REALS, type TimeProgram, type Timeline } from "../time/timeline.ts";

/** The warnings and the error of an entry, as users see them. */
export interface Report {
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
}

/** The specification of a problem, as far as messages name it. */
type ReportedModel = Pick<
  CompiledEquation,
  "names" | "batch" | "equation" | "terminal" | "ends" | "conditions" | "exercise"
>;

/** The outcome of its solution. */
interface SolvedInstance {
  readonly meshes: readonly Pick<AxisMesh, "values">[];
  readonly status: Status;
  readonly program: TimeProgram;
  readonly timeline: Timeline;
}

/**
 * Converts the status of an instance to messages. @param endless the errors of endless loops, by the loop's number in
 * the kernel
 */
export function reportOf(
  model: ReportedModel,
  entry: ParameterValues,
  solved: SolvedInstance,
  endless: ReadonlyMap<number, SpecError>,
): Report {
  const { status } = solved;
  const loop = endless.get(status.endless);
  if (loop !== undefined) return { warnings: [], error: loop };
  if (status.fault !== 0) return { warnings: [], error: faultOf(model, entry, solved) };
  const growth = "equation.V: grows by more than a step can follow, V·Δt ≥ 1; take more steps";
  return { warnings: status.growth ? [growth] : [], error: undefined };
}

/** The solution of an equation on one axis, whose status is words. */
type SolvedOnAxis = Omit<SolvedInstance, "status"> & { readonly status: Int32Array };

/**
 * Converts the status of an instance on one axis to messages, as `reportOf`, with warnings about dominating drift and
 * about policy iteration.
 */
export function axisReportOf(
  model: OneAxisEquation,
  entry: ParameterValues,
  solved: SolvedOnAxis,
  endless: ReadonlyMap<number, SpecError>,
): Report {
  const { status } = solved;
  const { warnings, error } = reportOf(model, entry, { ...solved, status: statusOf(status) }, endless);
  if (error !== undefined) return { warnings, error };
  const drift = matters(model, entry, solved) ? [driftWarning(model, solved)] : [];
  const unconverged = status[STATUS.unconverged];
  const rounds = `exercise: ${unconverged} stages ended before policy iteration did; take more steps`;
  return { warnings: [...drift, ...(unconverged > 0 ? [rounds] : []), ...warnings], error };
}

/**
 * Near S = 0 drift dominates for nearly every model, and does no harm. It is said where it reaches the axis' points
 * (without any: the middle half of the nodes), or a tenth of all nodes.
 */
function matters(
  model: OneAxisEquation,
  entry: ParameterValues,
  { status, meshes: [{ values }] }: SolvedOnAxis,
): boolean {
  const limitedRows = status[STATUS.limitedRows];
  if (limitedRows === 0) return false;
  if (limitedRows > values.length / 10) return true;
  const points = model.meshesOf(entry)[0].points.map(({ at }) => at);
  const [low, high] =
    points.length > 0
      ? [Math.min(...points), Math.max(...points)]
      : [values[values.length >> 2], values[(3 * values.length) >> 2]];
  return values[status[STATUS.limitedLow]] <= high && values[status[STATUS.limitedHigh]] >= low;
}

function driftWarning(
  { names: [name], variant }: OneAxisEquation,
  { status, meshes: [{ values }] }: SolvedOnAxis,
): string {
  const [low, high] = [values[status[STATUS.limitedLow]], values[status[STATUS.limitedHigh]]];
  const what =
    `equation.${name}: drift outweighs diffusion at ${status[STATUS.limitedRows]} of ${values.length} nodes, ` +
    `${name} from ${rounded(low)} to ${rounded(high)}`;
  const remedy = "take more nodes there";
  return variant.fitted
    ? `${what}; diffusion was raised there, which is of first order: ${remedy}`
    : `${what}; the solution may oscillate there: ${remedy}, or convection: "fitted"`;
}

const rounded = (x: number): string => String(Number(x.toPrecision(4)));

function faultOf(model: ReportedModel, entry: ParameterValues, solved: SolvedInstance): SpecError {
  const { names, equation } = model;
  const { fault } = solved.status;
  const nodes = nodesOf(solved);
  const x = solved.meshes.map(({ values }, k) => values[nodes[k]]);
  const t = timeOf(solved);
  const place = names.map((name, k) => `${name} = ${rounded(x[k])}`).join(", ");
  const where = `at ${place}, t = ${rounded(t)}, ${formattedParameters(model.batch.names, entry)}`;
  if ((fault & FAULT.solution) !== 0)
    return new SpecError(
      `solution: not a finite number ${where}: it grows without bound; take more steps, or move the ends of the ` +
        (names.length === 1 ? "axis" : "axes"),
    );
  const at = <T>(given: CompiledFunction<T>): T => given.at(t, ...x, ...entry);
  if ((fault & (FAULT.indefinite | FAULT.negative)) !== 0) return diffusionError(names, at(equation), where);
  const { path, got } = blamed(model, solved, nodes, at);
  const value = Number.isFinite(got) && fault !== FAULT.edge ? "not finite in this precision" : String(got);
  return new SpecError(
    `${path}: ${value} ${where}; expected a finite number at every node: guard the formula there, or move the end ` +
      "of the axis",
  );
}

/** Second derivatives with which the equation cannot be solved backward. */
function diffusionError(names: readonly string[], values: Readonly<Record<string, number>>, where: string): SpecError {
  if (names.length === 1) {
    const label = names[0] + names[0];
    return new SpecError(
      `equation.${label}: ${rounded(values[label])} ${where}; expected a diffusion that is nowhere negative, ` +
        "as ½σ²S² is: backward from its terminal values " +
        "the equation has no other solution; look at the sign, or guard the formula there: Math.max(0, …)",
    );
  }
  const list = Object.entries(values)
    .filter(([name]) => names.some((a) => names.some((b) => name === a + b)))
    .map(([name, value]) => `${name} = ${rounded(value)}`);
  return new SpecError(
    `equation: ${list.join(", ")} ${where}; expected second derivatives whose matrix is positive semi-definite, ` +
      "SS ≥ 0 and Sv² ≤ 4·SS·vv for each pair of axes: backward from its terminal values the equation has no other " +
      "solution; look at signs and correlations",
  );
}

/** The node of a fault on each axis. */
function nodesOf({ meshes, status: { node } }: SolvedInstance): readonly number[] {
  let rest = node;
  return meshes.map(({ values: { length } }) => {
    const own = rest % length;
    rest = Math.floor(rest / length);
    return own;
  });
}

/** The time of the row in which the trouble was: of the stage for the matrix, of its end for values. */
function timeOf({ program: { words, reals }, timeline: { dates }, status: { fault, row } }: SolvedInstance): number {
  const segment = words[2 * row + 1];
  if ((fault & FAULT.terminal) !== 0) return dates[dates.length - 1];
  if ((fault & FAULT.solution) !== 0) return 0;
  if ((fault & FAULT.event) !== 0) return dates[segment];
  const atEnd = (fault & (FAULT.payoff | FAULT.pinned | FAULT.edge)) !== 0;
  return dates[segment] + reals[ROW_REALS * row + (atEnd ? 1 : 0)] * (dates[segment + 1] - dates[segment]);
}

/** A function that is to blame for what was found at a node, and its value there on the host. */
interface Found {
  readonly path: string;
  readonly got: number;
}

/** The function to blame; of several that it may have been, the first that is not finite on the host. */
function blamed(
  model: ReportedModel,
  solved: SolvedInstance,
  nodes: readonly number[],
  at: <T>(given: CompiledFunction<T>) => T,
): Found {
  const { fault } = solved.status;
  const all =
    (fault & COEFFICIENTS) === 0
      ? functionsToBlame(model, solved, nodes).flatMap((given) =>
          given === undefined ? [] : [{ path: given.path, got: at(given) }],
        )
      : coefficientsToBlame(model, fault, at(model.equation));
  return all.find(({ got }) => !Number.isFinite(got)) ?? all[0];
}

const COEFFICIENTS = FAULT.a | FAULT.b | FAULT.c | FAULT.d;

/** The coefficients that a fault's bits say: second derivatives, mixed ones too, drifts, V, the source. */
function coefficientsToBlame(
  { equation }: ReportedModel,
  fault: number,
  values: Readonly<Record<string, number>>,
): Found[] {
  const { b, c, d } = FAULT;
  const bits: Readonly<Record<string, number>> = { b, c, d };
  return Object.entries<string | undefined>(equation.labels).flatMap(([key, label = ""]) =>
    label in values && (fault & (bits[key[0]] ?? FAULT.a)) !== 0
      ? [{ path: `equation.${label}`, got: values[label] }]
      : [],
  );
}

function functionsToBlame(
  { terminal, ends, conditions, exercise }: ReportedModel,
  { meshes, program, status: { fault, row } }: SolvedInstance,
  nodes: readonly number[],
): readonly (CompiledFunction | undefined)[] {
  if ((fault & FAULT.terminal) !== 0) return [terminal];
  if ((fault & FAULT.payoff) !== 0) return [exercise!.payoff];
  if ((fault & FAULT.event) !== 0) return functionsOf(conditions[(program.words[2 * row] >> CONDITION_SHIFT) & 255]);
  const here = ends.flatMap(({ low, high }, k) => [
    nodes[k] === 0 ? low.number : undefined,
    nodes[k] === meshes[k].values.length - 1 ? high.number : undefined,
  ]);
  const atAllTimes = conditions.filter(({ kind, dates }) => kind === "knock-out" && dates === undefined);
  // A node of a sparse grid is beside its end.
  const elsewhere = ends.flatMap(({ low, high }) => [low.number, high.number]);
  return [...here, ...atAllTimes.flatMap(functionsOf), ...elsewhere];
}

function functionsOf(condition: CompiledEquation["conditions"][number]): (CompiledFunction | undefined)[] {
  switch (condition.kind) {
    case "exercise":
      return [condition.payoff];
    case "jump":
      return [condition.to];
    default:
      return [condition.value, condition.below, condition.above, condition.where];
  }
}
