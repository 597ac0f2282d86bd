import type { AxesVariant } from "../operator/axes-variant.ts";
import type { AxesCoefficientName } from "../operator/state.ts";
import { axesNumber } from "./axes-functions.ts";
import { boundaryCode } from "./boundaries.ts";
import type { AnyProblem } from "./equation.ts";
import { codeOf, mixedOf, type Understood, understood } from "./understood.ts";

/** A problem on two or three axes that has been checked and understood. */
export interface AxesModel extends Understood {
  readonly variant: Omit<AxesVariant, "groupSize" | "runs">;
}

/** Makes the model of a problem on two or three axes. @throws SpecError | KernelError, with the place */
export function axesModelOf(problem: AnyProblem): AxesModel {
  const common = understood(problem);
  const { names, equation, terminal, ends, exercise, program } = common;
  const code = codeOf(problem, common);
  // A pinned node's row is that of the identity.
  const pins = code.region !== undefined || ends.some(({ low, high }) => [low.kind, high.kind].includes("dirichlet"));
  const depends = (coefficients: readonly AxesCoefficientName[], axis: number): boolean =>
    pins || coefficients.some((name) => equation.coefficientDepends(name, axis));
  const others = names.map((_, k) => k).slice(1);
  const isFree = (name: "a01" | "a02" | "a12", axis: number): boolean => names.length > 2 && !depends([name], axis);
  const [m01, m02, m12] = mixedOf(equation);
  return {
    ...common,
    variant: {
      ...code,
      axes: names.map((name, k) => ({
        name,
        log: problem.axes[name].coordinate === "log",
        first: boundaryCode(ends[k].low),
        last: boundaryCode(ends[k].high),
        averaged: terminal.dependsOnAxis(k),
        isUniform: k > 0 && !depends([`a${k}${k}` as AxesCoefficientName, `b${k}` as AxesCoefficientName, "c"], 0),
      })),
      mixed: [m01, m02, m12],
      isFirstUniform: !others.some((axis) => depends(["a00", "b0", "c"], axis)),
      isMixedUniform: [isFree("a01", 2), isFree("a02", 1), isFree("a12", 0)],
      correction: program.scheme.correction,
      obstacle: exercise !== undefined && exercise.dates === undefined ? axesNumber(exercise.payoff) : undefined,
    },
  };
}
