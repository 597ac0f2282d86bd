import { SpecError } from "../../../errors.ts";
import { isObject, knownKeys } from "../../problem/checks.ts";
import type { SchemeChoice } from "../../problem/equation.ts";
import { implicitEuler } from "./implicit-euler.ts";
import type { TimeScheme } from "./scheme.ts";
import { crankNicolson, theta } from "./theta.ts";
import { trBdf2 } from "./tr-bdf2.ts";

export interface ChosenScheme {
  readonly kind: SchemeChoice["kind"];
  readonly scheme: TimeScheme;
  readonly rannacherSteps: number;
}

/** @throws SpecError */
export function chosenScheme(choice: SchemeChoice): ChosenScheme {
  isObject("scheme", choice, 'an object with its kind: { kind: "tr-bdf2" }');
  knownKeys("scheme", choice, ["kind", "theta", "rannacherSteps"]);
  const { kind } = choice;
  const rannacherSteps = (byDefault: number): number => {
    const steps = ("rannacherSteps" in choice ? choice.rannacherSteps : undefined) ?? byDefault;
    if (!Number.isInteger(steps) || steps < 0 || steps > 7)
      throw new SpecError(`scheme.rannacherSteps: got ${steps}, expected a whole number from 0 to 7`);
    return steps;
  };
  switch (kind) {
    case "implicit-euler":
      return { kind, scheme: implicitEuler, rannacherSteps: 0 };
    case "crank-nicolson":
      return { kind, scheme: crankNicolson, rannacherSteps: rannacherSteps(2) };
    case "theta":
      if (!(choice.theta >= 0.5 && choice.theta <= 1))
        throw new SpecError(
          `scheme.theta: got ${choice.theta}, expected ½ … 1; below ½ the scheme is not stable for large steps`,
        );
      return { kind, scheme: theta(choice.theta), rannacherSteps: rannacherSteps(choice.theta < 1 ? 2 : 0) };
    case "tr-bdf2":
      return { kind, scheme: trBdf2, rannacherSteps: rannacherSteps(0) };
    default:
      throw new SpecError(
        `scheme.kind: got ${JSON.stringify(kind satisfies never)}, expected implicit-euler, crank-nicolson, theta or tr-bdf2`,
      );
  }
}
