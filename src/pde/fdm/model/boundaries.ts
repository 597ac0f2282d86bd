import { SpecError } from "../../../base/errors.ts";
import { isObject, knownKeys, oneOf } from "../../../base/argument-checks.ts";
import { stateNumber } from "./state-functions.ts";
import { type Given, givenNumber, type State } from "../problem/functions.ts";
import type { BoundaryCode } from "../operator/state.ts";
import type { AnyProblem, Boundary } from "../problem/equation.ts";

/** A boundary condition of the user: its kind, and the prescribed value or slope as a compiled function. */
export interface GivenBoundary {
  readonly kind: Boundary<string>["kind"];
  readonly number: Given | undefined;
}

/** The boundary conditions at the two ends of an axis. */
export interface GivenEnds {
  readonly low: GivenBoundary;
  readonly high: GivenBoundary;
}

/**
 * Returns the boundary conditions of an axis, the default where the user gave none. @throws SpecError | KernelError
 * with the path in the problem
 */
export function boundariesOf({ boundaries }: Pick<AnyProblem, "boundaries">, axis: string, state: State): GivenEnds {
  const axes = state.names.slice(1, 1 + state.axes);
  const stray = Object.keys(boundaries ?? {}).find((name) => !axes.includes(name));
  if (stray !== undefined)
    throw new SpecError(`boundaries.${stray}: there is no such axis; expected ${axes.join(" or ")}`);
  const ends = boundaries?.[axis] ?? {};
  isObject(`boundaries.${axis}`, ends, "an object with low and high");
  knownKeys(`boundaries.${axis}`, ends, ["low", "high"]);
  const { low = { kind: "linear" }, high = { kind: "linear" } } = ends;
  const path = `boundaries.${axis}`;
  return { low: givenBoundary(`${path}.low`, low, state), high: givenBoundary(`${path}.high`, high, state) };
}

function givenBoundary(path: string, boundary: Boundary<string, never>, state: State): GivenBoundary {
  isObject(path, boundary, "an object with its kind");
  switch (boundary.kind) {
    case "dirichlet":
      knownKeys(path, boundary, ["kind", "value"]);
      return { kind: boundary.kind, number: givenNumber(`${path}.value`, boundary.value, state) };
    case "neumann":
      knownKeys(path, boundary, ["kind", "slope"]);
      return { kind: boundary.kind, number: givenNumber(`${path}.slope`, boundary.slope, state) };
    default:
      knownKeys(path, boundary, ["kind"]);
      oneOf(`${path}.kind`, boundary.kind, ["linear", "zero-curvature", "dirichlet", "neumann"] as never[]);
      return { kind: boundary.kind, number: undefined };
  }
}

/** Compiles a boundary condition for a kernel. */
export function boundaryCode({ kind, number }: GivenBoundary): BoundaryCode {
  return { kind, number: number === undefined ? undefined : stateNumber(number) };
}
