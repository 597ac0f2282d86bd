import { SpecError } from "../../errors.ts";
import type { EquationVariant } from "../operator/equation-variant.ts";
import { axesNumber } from "./axes-functions.ts";
import { boundaryCode } from "./boundaries.ts";
import type { AnyProblem } from "./equation.ts";
import { entryError } from "./quantity.ts";
import { codeOf, type Understood, understood } from "./understood.ts";

/** A problem on one axis that has been checked and understood. */
export interface Model extends Understood {
  /** True where nodes run from high to low: the exercise region is to be at the first ones. */
  readonly descending: boolean;
  /** The variant but for the capacity. */
  readonly variant: Omit<EquationVariant, "capacity">;
}

/** Makes the model of a problem on one axis. @throws SpecError | KernelError, with the place */
export function modelOf(problem: AnyProblem): Model {
  const common = understood(problem);
  const { names, ends, exercise, program } = common;
  const [name] = names;
  const [{ low, high }] = ends;
  const descending = exercise !== undefined && sideOf(exercise, common) === "high";
  return {
    ...common,
    descending,
    variant: {
      name,
      ...codeOf(problem, common),
      log: problem.axes[name].coordinate === "log",
      first: boundaryCode(descending ? high : low),
      last: boundaryCode(descending ? low : high),
      twoStages: program.scheme.stages.length > 1,
      ...exerciseCode(exercise),
    },
  };
}

function exerciseCode(exercise: Model["exercise"]): Pick<EquationVariant, "exercise" | "obstacle" | "recordsEvents"> {
  if (exercise === undefined) return { exercise: "none", obstacle: undefined, recordsEvents: false };
  const obstacle = axesNumber(exercise.payoff);
  const always = exercise.dates === undefined;
  return { exercise: always ? exercise.method : "none", obstacle, recordsEvents: !always };
}

/**
 * The end of the axis at which the payoff is larger at expiry, unless it is given. All entries run through their nodes
 * the same way.
 * @throws SpecError entries that differ
 */
function sideOf(
  { side, payoff, path }: NonNullable<Model["exercise"]>,
  { meshesOf, expiryOf, batch: { entries } }: Understood,
): "low" | "high" {
  if (side !== undefined) return side;
  const sides = entries.map((entry): "low" | "high" | undefined => {
    // An entry that fails is told so when its turn comes.
    if (entryError(() => meshesOf(entry)) !== undefined) return undefined;
    const [{ from, to }] = meshesOf(entry);
    const at = (S: number): number => payoff.at(expiryOf(entry), S, ...entry);
    const rise = at(to) - at(from);
    return Number.isNaN(rise) ? undefined : rise > 0 ? "high" : "low";
  });
  const [first, second] = [sides.indexOf("low"), sides.indexOf("high")].toSorted((a, b) => a - b);
  if (first < 0) return sides[second] ?? "low";
  throw new SpecError(
    `${path}.side: the payoff is larger at the ${sides[first]} end for entry ${first} and at the ${sides[second]} end for entry ${second}; ` +
      "solve them apart, or say side",
  );
}
