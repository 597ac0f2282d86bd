/** Checks of what a simulation is asked for. */
import { type Accuracy, allowedError, checkAccuracy } from "../base/accuracy.ts";
import { ShapeError, SpecError } from "../base/errors.ts";
import { checkList, checkObject, checkOneOf } from "../base/argument-checks.ts";
import type { Control } from "./controls.ts";
import type { PathModel } from "./model.ts";
import { type Column, columnAt, failuresOf, type ParameterFailure } from "./parameters.ts";
import type { PathProduct } from "./product.ts";
import type { Direction } from "./sensitivities.ts";

/** The settings that all simulations share. */
export interface SimulationSettings {
  readonly model: PathModel;
  readonly product: PathProduct;
  readonly dates: readonly Column[];
  readonly substeps?: number;
  readonly sampling?: string;
  readonly scramblings?: number;
  readonly accuracy?: Accuracy<Column>;
  readonly precision?: string;
  readonly sensitivityMethod?: string;
  readonly sensitivities?: readonly string[];
  readonly control?: Control | "auto" | "none";
}

const isWhole = (x: number, min: number, max: number): boolean => Number.isInteger(x) && x >= min && x <= max;

/** Checks that a number of paths is whole and returns it. @throws SpecError */
export function checkPaths(name: string, paths: number): number {
  if (!isWhole(paths, 1, 2 ** 31)) throw new SpecError(`${name}: got ${paths}, expected a whole number from 1 to 2³¹`);
  return paths;
}

/** Checks the settings of a simulation, and returns the failures of single instances. @throws SpecError | ShapeError */
export function checkSettings(settings: SimulationSettings): readonly ParameterFailure[] {
  const { model, product, dates, substeps = 1, sampling = "philox", scramblings = 32, accuracy } = settings;
  checkObject("model", model, "a model of paths, such as blackScholes({ spot: 100, volatility: 0.2 })");
  checkObject("product", product, 'a product on paths, such as european({ payoff: "put", strike: 100 })');
  if (!ArrayBuffer.isView(dates)) checkList("dates", dates, "years");
  if (settings.control !== undefined && !["auto", "none"].includes(settings.control as string))
    checkObject("control", settings.control, 'a product and its mean, "auto" or "none"');
  if (dates.length === 0) throw new ShapeError("dates: got none, expected at least one, in years");
  const failures = [...dateFailures(dates)];
  if (!isWhole(substeps, 1, 2 ** 20))
    throw new SpecError(`substeps: got ${substeps}, expected a whole number from 1 on`);
  checkOneOf("sampling", sampling, ["philox", "sobol"]);
  if (sampling === "sobol" && !isWhole(scramblings, 8, 1024))
    throw new SpecError(
      `scramblings: got ${scramblings}, expected a whole number from 8 to 1024: the standard error is their scatter`,
    );
  if (accuracy !== undefined) {
    checkAccuracy("accuracy", accuracy);
    for (const [kind, column] of columnsOfAccuracy(accuracy))
      failures.push(...failuresOf(kind, column, "above 0", (x) => x > 0));
  }
  if ((product.assets ?? 0) > model.assets)
    throw new ShapeError(
      `product "${product.name}": needs ${product.assets} assets, the model "${model.name}" has ${model.assets}`,
    );
  if (product.monitoring === "bridge" && model.variances === undefined)
    throw new SpecError(
      `product "${product.name}": monitored continuously by Brownian bridges, for which the model "${model.name}" has no ` +
        `variances; monitor it on dates`,
    );
  checkSensitivities(settings);
  return failures;
}

function checkSensitivities({ product, sensitivities = [], sensitivityMethod = "auto" }: SimulationSettings): void {
  checkList("sensitivities", sensitivities, 'names: ["delta", "vega"]');
  checkOneOf("sensitivityMethod", sensitivityMethod, ["auto", "pathwise", "bump", "likelihood-ratio"]);
  if (sensitivityMethod !== "pathwise" || sensitivities.length === 0) return;
  if (product.isDiscontinuous === true)
    throw new SpecError(
      `sensitivityMethod: "pathwise" for "${product.name}", whose payoff jumps: its derivative along paths leaves ` +
        `out the jumps; use "auto", "bump" or "likelihood-ratio"`,
    );
}

/** The settings that directions are checked against. */
interface DirectionSettings {
  readonly model: PathModel;
  readonly product: PathProduct;
  readonly sensitivities?: readonly string[];
  readonly directions?: Readonly<Record<string, Direction>>;
}

/**
 * Checks that derivatives exist in all given directions. @throws SpecError beside sensitivities, of a payoff or a model
 * that jumps, or without the slope of a control's mean
 */
export function checkDirections(
  { model, product, sensitivities = [], directions = {} }: DirectionSettings,
  control: Control | undefined,
): void {
  const all = Object.entries(directions);
  if (all.length === 0) return;
  const refuse = (name: string, why: string): never => {
    throw new SpecError(`directions.${name}: ${why}`);
  };
  if (sensitivities.length > 0)
    refuse(all[0][0], `got one beside sensitivities ${sensitivities.join(", ")}, expected one kind of them`);
  if (product.isDiscontinuous !== false)
    refuse(all[0][0], `got one for "${product.name}", expected a product that declares isDiscontinuous: false`);
  const { jumpsWith = Object.keys(model.parameters) } = model;
  for (const [name, { model: along, dates, mean }] of all) {
    const jumping = Object.keys(along).find((one) => jumpsWith.includes(one)) ?? (dates && jumpsWith[0]);
    if (jumping !== undefined)
      refuse(
        name,
        `steps of the model "${model.name}" jump with ${jumping}, which derivatives leave out; use variants`,
      );
    const isKnown = typeof control?.mean === "function" && dates === undefined;
    if (control !== undefined && !isKnown && mean === undefined)
      refuse(name, `got no mean, expected how fast the mean of the control "${control.name}" moves`);
  }
}

/** Returns the columns of an accuracy, each with its path for error messages. */
export const columnsOfAccuracy = (accuracy: Accuracy<Column>): readonly (readonly [string, Column])[] =>
  (["absolute", "relative"] as const).flatMap((kind) => {
    const column = accuracy[kind];
    return column === undefined ? [] : [[`accuracy.${kind}`, column]];
  });

/** Returns the largest error that an accuracy allows in the value of an instance. */
export const allowedOf = ({ absolute = 0, relative = 0 }: Accuracy<Column>, i: number, value: number): number =>
  allowedError({ absolute: columnAt(absolute, i), relative: columnAt(relative, i) }, value);

/** Returns the failures of instances whose dates do not increase from above 0. @throws SpecError dates of all */
function* dateFailures(dates: readonly Column[]): Generator<ParameterFailure> {
  const width = Math.max(...dates.map((date) => (typeof date === "number" ? 1 : date.length)));
  for (const [k, date] of dates.entries()) {
    const previous = k === 0 ? 0 : dates[k - 1];
    for (let i = 0; i < width; i++) {
      const [t, before] = [columnAt(date, i), columnAt(previous, i)];
      if (t > before && t < Infinity) continue;
      const error = new SpecError(
        `dates[${k}]${width > 1 ? ` of instance ${i}` : ""}: got ${t}, expected more than ${before}, in years`,
      );
      if (typeof date === "number" && typeof previous === "number") throw error;
      yield { instance: width === 1 ? undefined : i, error };
    }
  }
}
