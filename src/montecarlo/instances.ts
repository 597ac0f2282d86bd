/** The instances of a batch: how many there are, and which of them have parameters within bounds. */
import type { Accuracy } from "../base/accuracy.ts";
import { type FeynkacError, ShapeError } from "../base/errors.ts";
import type { Paths, Variants } from "./sensitivities.ts";
import {
  type Column,
  columnsOf,
  failuresOf,
  instancesOf,
  type Parameter,
  type ParameterFailure,
  type Parameters,
} from "./parameters.ts";
import { columnsOfAccuracy } from "./settings.ts";

/**
 * The outcome of an instance: its accuracy was "reached", the "limit" of paths came first, or the number of paths was
 * "fixed"; "not-finite" where a path paid NaN or Infinity, and the value is meaningless; "error" where a column
 * has a number out of its parameter's bounds, so that all its results are NaN.
 * @experimental
 */
export type Status = "reached" | "limit" | "fixed" | "not-finite" | "error";

/** The instances of a batch. */
export interface Instances {
  readonly count: number;
  /** The instances that are simulated: those whose parameters are within bounds. */
  readonly valid: Uint32Array;
  /** The error of each instance that is not simulated, and undefined for the others, [count]. */
  readonly error: readonly (FeynkacError | undefined)[];
}

interface InstanceSettings {
  readonly accuracy?: Accuracy<Column>;
  readonly streams?: ArrayLike<number>;
  readonly shifts?: readonly Parameter[];
}

/**
 * Returns the instances of a batch, from the columns of all parameters; instances with a failure are omitted.
 *
 * @param all the simulation and its copies, whose models and products know their failures.
 * @param failures of the settings.
 * @throws ShapeError columns of different lengths | SpecError a number for all instances that is not finite
 */
export function instancesIn(
  { accuracy, streams, shifts = [] }: InstanceSettings,
  all: readonly Paths[],
  variants: Variants,
  failures: readonly ParameterFailure[],
): Instances {
  const groups: Record<string, Parameters> = {};
  variants.model.forEach((parameters, v) => {
    const path = v === 0 ? "" : ` of variant ${v - 1}`;
    groups[`model${path}`] = parameters;
    groups[`product${path}`] = variants.product[v];
    groups[`control${path}`] = variants.control[v];
    groups[`dates${path}`] = Object.fromEntries(variants.dates[v].map((date, k) => [String(k), date]));
  });
  groups["shifts"] = Object.fromEntries(shifts.map((shift, j) => [String(j), shift]));
  const asked = accuracy === undefined ? {} : { settings: Object.fromEntries(columnsOfAccuracy(accuracy)) };
  const count = Math.max(instancesOf({ ...groups, ...asked }), streams?.length ?? 1);
  if (streams !== undefined && streams.length !== count)
    throw new ShapeError(`streams: got ${streams.length}, expected ${count}, one for each instance`);
  const own = all.flatMap(({ model, product, control }) =>
    [model, product, control].flatMap((one) => one?.failures ?? []),
  );
  const error = Array.from<FeynkacError | undefined>({ length: count });
  for (const failure of [...own, ...failures, ...notFinite(groups)])
    if (failure.instance === undefined) error.forEach((_, i) => (error[i] ??= failure.error));
    else if (failure.instance < count) error[failure.instance] ??= failure.error;
  const valid = Uint32Array.from(error.keys()).filter((i) => error[i] === undefined);
  return { count, valid, error };
}

/** The failures of numbers that are not finite; columns that copies share are looked at once. */
function notFinite(groups: Readonly<Record<string, Parameters>>): readonly ParameterFailure[] {
  const seen = new Set<Column>();
  return Object.entries(groups).flatMap(([group, parameters]) =>
    Object.entries(parameters).flatMap(([name, parameter]) =>
      columnsOf(parameter).flatMap((column) => {
        if (seen.has(column)) return [];
        seen.add(column);
        return failuresOf(`${group}.${name}`, column, "a finite number", Number.isFinite);
      }),
    ),
  );
}

/** Returns the initial status of each instance: "error" where its parameters are out of bounds, otherwise "fixed". */
export const firstStatus = ({ error }: Instances): Status[] =>
  error.map((one) => (one === undefined ? "fixed" : "error"));
