import { SpecError } from "../../errors.ts";
import type { Solved } from "../execute/equation-batch.ts";
import type { Given } from "../problem/functions.ts";
import { STATUS, FAULT } from "../operator/status.ts";
import type { Model } from "../problem/model.ts";
import { type ParameterValues, shown } from "../problem/quantity.ts";
import { CONDITION_SHIFT, ROW_REALS } from "../time/timeline.ts";

export interface Report {
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
}

/**
 * What the status words of an instance say, in words.
 * @param endless the errors of loops that did not end, by number, of the solution's kernel
 */
export function reportOf(
  model: Model,
  entry: ParameterValues,
  solved: Solved,
  endless: ReadonlyMap<number, SpecError>,
): Report {
  const { status } = solved;
  const loop = endless.get(status[STATUS.endless]);
  if (loop !== undefined) return { warnings: [], error: loop };
  if (status[STATUS.fault] !== 0) return { warnings: [], error: faultOf(model, entry, solved) };
  const warnings: string[] = [];
  if (matters(model, entry, solved)) warnings.push(driftWarning(model, solved));
  if (status[STATUS.unconverged] > 0)
    warnings.push(`exercise: ${status[STATUS.unconverged]} stages ended before policy iteration did; take more steps`);
  if (status[STATUS.growth] !== 0)
    warnings.push("equation.V: grows by more than a step can follow, V·Δt ≥ 1; take more steps");
  return { warnings, error: undefined };
}

/**
 * Near S = 0 drift dominates for nearly every model, and does no harm. It is said where it reaches the axis' points
 * (without any: the middle half of the nodes), or a tenth of all nodes.
 */
function matters(model: Model, entry: ParameterValues, { status, mesh: { values } }: Solved): boolean {
  const cuts = status[STATUS.cuts];
  if (cuts === 0) return false;
  if (cuts > values.length / 10) return true;
  const points = model.meshOf(entry).points.map(({ at }) => at);
  const [low, high] =
    points.length > 0
      ? [Math.min(...points), Math.max(...points)]
      : [values[values.length >> 2], values[(3 * values.length) >> 2]];
  return values[status[STATUS.cutLow]] <= high && values[status[STATUS.cutHigh]] >= low;
}

function driftWarning({ axisName, variant }: Model, { status, mesh: { values } }: Solved): string {
  const [low, high] = [values[status[STATUS.cutLow]], values[status[STATUS.cutHigh]]];
  const what = `equation.${axisName}: drift outweighs diffusion at ${status[STATUS.cuts]} of ${values.length} nodes, ${axisName} from ${rounded(low)} to ${rounded(high)}`;
  const remedy = "take more nodes there";
  return variant.fitted
    ? `${what}; diffusion was raised there, which is of first order: ${remedy}`
    : `${what}; the solution may oscillate there: ${remedy}, or convection: "fitted"`;
}

export const rounded = (x: number): string => String(Number(x.toPrecision(4)));

/** A function that is to blame for what was found at a node, and its value there on the host. */
interface Found {
  readonly path: string;
  readonly got: number;
}

function faultOf(model: Model, entry: ParameterValues, solved: Solved): SpecError {
  const S = solved.mesh.values[solved.status[STATUS.node]];
  const bits = solved.status[STATUS.fault];
  const t = timeOfRow(solved, bits, solved.status[STATUS.row]);
  const where = `at ${model.axisName} = ${rounded(S)}, t = ${rounded(t)}, ${shown(model.batch.names, entry)}`;
  if ((bits & FAULT.solution) !== 0)
    return new SpecError(
      `solution: not a finite number ${where}: it grows without bound; take more steps, or move the ends of the axis`,
    );
  const { path, got } = blamed(model, solved, (given) => given.at(t, S, ...entry));
  if ((bits & FAULT.negative) !== 0)
    return new SpecError(
      `${path}: ${rounded(got)} ${where}; expected a diffusion that is nowhere negative, as ½σ²S² is: backward from its terminal values ` +
        "the equation has no other solution; look at the sign, or guard the formula there: Math.max(0, …)",
    );
  const value = Number.isFinite(got) && bits !== FAULT.edge ? "not finite in this precision" : String(got);
  return new SpecError(
    `${path}: ${value} ${where}; expected a finite number at every node: guard the formula there, or move the end of the axis`,
  );
}

/** The time of the row in which the trouble was: of the stage for the matrix, of its end for values. */
export function timeOfRow(
  { program: { words, reals }, timeline: { dates } }: Pick<Solved, "program" | "timeline">,
  bits: number,
  row: number,
): number {
  const segment = words[2 * row + 1];
  if ((bits & FAULT.terminal) !== 0) return dates[dates.length - 1];
  if ((bits & FAULT.solution) !== 0) return 0;
  if ((bits & FAULT.event) !== 0) return dates[segment];
  const atEnd = (bits & (FAULT.payoff | FAULT.pinned | FAULT.edge)) !== 0;
  return dates[segment] + reals[ROW_REALS * row + (atEnd ? 1 : 0)] * (dates[segment + 1] - dates[segment]);
}

/** The coefficients of an equation on one axis, and the faults that they have. */
const COEFFICIENTS = [
  ["a00", FAULT.a | FAULT.negative],
  ["b0", FAULT.b],
  ["c", FAULT.c],
  ["d", FAULT.d],
] as const;

/** Which function it was; of several that it may have been, the first that is not finite on the host. */
function blamed(model: Model, solved: Solved, valueOf: <T>(given: Given<T>) => T): Found {
  const { status, program } = solved;
  const bits = status[STATUS.fault];
  const { equation, terminal, ends, conditions, exercise } = model;
  const coefficient = COEFFICIENTS.find(([, faults]) => (bits & faults) !== 0);
  if (coefficient !== undefined) {
    const label = equation.labels[coefficient[0]]!;
    return { path: `equation.${label}`, got: valueOf(equation)[label] };
  }
  const end = status[STATUS.node] === 0 ? ends.low.number : ends.high.number;
  const flags = program.words[2 * status[STATUS.row]];
  const atAllTimes = conditions.filter(({ kind, dates }) => kind === "knock-out" && dates === undefined);
  const candidates =
    (bits & FAULT.terminal) !== 0
      ? [terminal]
      : (bits & FAULT.payoff) !== 0
        ? [exercise!.payoff]
        : (bits & FAULT.slope) !== 0
          ? [end]
          : (bits & FAULT.event) !== 0
            ? functionsOf(conditions[(flags >> CONDITION_SHIFT) & 255])
            : [end, ...atAllTimes.flatMap(functionsOf)];
  const found = candidates
    .filter((given) => given !== undefined)
    .map((given): Found => ({ path: given.path, got: valueOf(given) }));
  return found.find(({ got }) => !Number.isFinite(got)) ?? found[0];
}

export function functionsOf(condition: Model["conditions"][number]): (Given | undefined)[] {
  switch (condition.kind) {
    case "exercise":
      return [condition.payoff];
    case "jump":
      return [condition.to];
    default:
      return [condition.value, condition.below, condition.above, condition.where];
  }
}
