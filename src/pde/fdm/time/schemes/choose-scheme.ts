import { SpecError } from "../../../../base/errors.ts";
import { isObject, knownKeys, wholeNumber } from "../../../../base/argument-checks.ts";
import type { SchemeChoice } from "../../problem/equation.ts";
import { craigSneyd, MCS_THETA, modifiedCraigSneyd } from "./craig-sneyd.ts";
import { douglas } from "./douglas.ts";
import { HV_THETA, hundsdorferVerwer } from "./hundsdorfer-verwer.ts";
import { implicitEuler } from "./implicit-euler.ts";
import type { TimeScheme } from "./scheme.ts";
import { crankNicolson, theta } from "./theta.ts";
import { trBdf2 } from "./tr-bdf2.ts";

/** The time-stepping scheme of a problem with all of its parameters. */
export interface ChosenScheme {
  readonly kind: SchemeChoice["kind"];
  readonly scheme: TimeScheme;
  /** The number of steps after expiry and after each date that two half steps of implicit Euler replace. */
  readonly rannacherSteps: number;
}

const ONE_AXIS = ["implicit-euler", "crank-nicolson", "theta", "tr-bdf2"];
const SEVERAL_AXES = ["douglas", "craig-sneyd", "modified-craig-sneyd", "hundsdorfer-verwer"];

/**
 * Returns the scheme that a user chose, with default parameters for a number of axes. @throws SpecError a scheme that
 * is not for so many axes, or an invalid parameter
 */
export function chosenScheme(choice: SchemeChoice, axes = 1, hasMixed = false): ChosenScheme {
  isObject("scheme", choice, 'an object with its kind: { kind: "tr-bdf2" }');
  knownKeys("scheme", choice, ["kind", "theta", "mu", "rannacherSteps"]);
  const { kind } = choice;
  if (axes > 1 && ONE_AXIS.includes(kind))
    throw new SpecError(`scheme.kind: "${kind}" is for one axis; of several, expected ${SEVERAL_AXES.join(", ")}`);
  if (axes === 1 && SEVERAL_AXES.includes(kind))
    throw new SpecError(`scheme.kind: "${kind}" is for several axes; of one, expected ${ONE_AXIS.join(", ")}`);
  const given = choice as { readonly theta?: number; readonly mu?: number; readonly rannacherSteps?: number };
  const rannacherSteps = (byDefault: number): number => {
    const steps = given.rannacherSteps ?? byDefault;
    wholeNumber("scheme.rannacherSteps", steps, 0, 7);
    return steps;
  };
  const thetaOf = (byDefault: number, min: number): number => {
    const value = given.theta ?? byDefault;
    if (!(value >= min && value <= 1))
      throw new SpecError(
        `scheme.theta: got ${value}, expected ${min === 0.5 ? "½" : "¼"} … 1; below it steps are unstable`,
      );
    return value;
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
    case "douglas":
      return { kind, scheme: douglas(thetaOf(0.5, 0.5), hasMixed), rannacherSteps: rannacherSteps(2) };
    case "craig-sneyd":
      return { kind, scheme: craigSneyd(thetaOf(0.5, 0.5)), rannacherSteps: rannacherSteps(2) };
    case "modified-craig-sneyd":
      return { kind, scheme: modifiedCraigSneyd(thetaOf(MCS_THETA[axes], 0.25)), rannacherSteps: rannacherSteps(2) };
    case "hundsdorfer-verwer": {
      const { mu = 0.5 } = given;
      if (!(mu >= 0 && mu <= 1)) throw new SpecError(`scheme.mu: got ${mu}, expected 0 … 1; ½ is of second order`);
      return { kind, scheme: hundsdorferVerwer(thetaOf(HV_THETA, 0.25), mu), rannacherSteps: rannacherSteps(2) };
    }
    default:
      throw new SpecError(
        `scheme.kind: got ${JSON.stringify(kind satisfies never)}, expected ${[...ONE_AXIS, ...SEVERAL_AXES].join(", ")}`,
      );
  }
}
