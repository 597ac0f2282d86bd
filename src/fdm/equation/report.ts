import { SpecError } from "../../errors.ts";
import type { Solved } from "./batch-solver.ts";
import { STATUS, TROUBLE } from "./kernel/assemble.ts";
import type { Model } from "./model.ts";
import { type ParameterValues, shown } from "./quantity.ts";
import { ROW_REALS } from "./timeline.ts";

export interface Report {
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
}

/** What the status words of a lane say, in words. */
export function reportOf(model: Model, entry: ParameterValues, solved: Solved): Report {
  const { status } = solved;
  if (status[STATUS.trouble] !== 0) return { warnings: [], error: troubleOf(model, entry, solved) };
  const warnings: string[] = [];
  if (matters(model, entry, solved)) warnings.push(driftWarning(model, solved));
  if (status[STATUS.unconverged] > 0)
    warnings.push(
      `exercise: ${status[STATUS.unconverged]} stages ended before the penalty iteration did; take more steps`,
    );
  if (status[STATUS.growth] !== 0)
    warnings.push("equation.V: grows by more than a step can follow, V·Δt ≥ 1; take more steps");
  return { warnings, error: undefined };
}

/**
 * Near S = 0 drift dominates for nearly every model, and does no harm. It is said where it reaches the axis' points (without any: the
 * middle half of the nodes), or a tenth of all nodes.
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

const rounded = (x: number): string => String(Number(x.toPrecision(4)));

function troubleOf(model: Model, entry: ParameterValues, solved: Solved): SpecError {
  const { status, mesh, program, timeline } = solved;
  const bits = status[STATUS.trouble];
  const S = mesh.values[status[STATUS.node]];
  const where = (t: number): string =>
    `at ${model.axisName} = ${rounded(S)}, t = ${rounded(t)}, ${shown(model.batch.names, entry)}`;
  if ((bits & TROUBLE.terminal) !== 0)
    return new SpecError(`terminal: not a finite number ${where(timeline.dates[timeline.dates.length - 1])}`);
  const coefficient = (["a", "b", "c", "d"] as const).find((name) => (bits & TROUBLE[name]) !== 0);
  if (coefficient === undefined)
    return new SpecError(
      `solution: not a finite number ${where(0)}; a payoff, boundary or knock-out that is not finite, or a solution that grows without bound`,
    );
  const row = status[STATUS.row];
  const segment = program.words[2 * row + 1];
  const start = timeline.dates[segment];
  const t = start + program.reals[ROW_REALS * row] * (timeline.dates[segment + 1] - start);
  const label = model.equation.labels[coefficient];
  const got = (model.equation.call(t, S, ...entry) as Record<string, number>)[label];
  return new SpecError(
    `equation.${label}: ${Number.isFinite(got) ? "not finite in this precision" : got} ${where(t)}; expected a finite number at every node: guard the formula there, or move the end of the axis`,
  );
}
