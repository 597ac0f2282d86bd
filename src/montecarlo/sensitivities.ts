/** Sensitivities: which parameters are shifted, by how much, and how values of shifted copies combine. */
import { SpecError } from "../base/errors.ts";
import type { PathModel } from "./model.ts";
import { type Column, columnAt, isByStep, mapColumns, type Parameter, type Parameters } from "./parameters.ts";
import type { PathProduct } from "./product.ts";

/**
 * The method for sensitivities: "bump", central differences of copies with the same random numbers; "pathwise", the
 * derivative along each path; "likelihood-ratio", payoffs times scores of the model.
 * @experimental
 */
export type SensitivityMethod = "bump" | "pathwise" | "likelihood-ratio";

/** A bumped parameter and the order of the derivative. */
export interface Bump {
  readonly name: string;
  readonly parameter: string;
  readonly order: 1 | 2;
}

/** Relative shifts of parameters, or absolute ones where the parameter may be 0 or negative. */
const WIDTHS = { spot: 0.01, volatility: 0.01, other: 1e-4 } as const;
/** The relative bump of pathwise derivatives: what rounding leaves of a difference is below 1e-10 of the value. */
const PATHWISE = 1e-5;

/**
 * Returns the bumps of Greeks by name: those that the model defines, or derivatives by any parameter of model or
 * product. @throws SpecError
 */
export function bumpsOf(
  model: PathModel,
  product: PathProduct,
  names: readonly string[],
  method: SensitivityMethod,
): Bump[] {
  const known = model.sensitivities ?? {};
  const parameters = [...Object.keys(model.parameters), ...Object.keys(product.parameters)];
  return names.flatMap((name) => {
    // "delta" of several assets is that of each.
    const chosen = Object.keys(known).filter((one) => one === name || one.replace(/\d+$/, "") === name);
    const order = name.startsWith("gamma") ? 2 : 1;
    if (order === 2 && method === "pathwise")
      throw new SpecError(
        `sensitivities: "${name}" pathwise: the payoff has no second derivative along a path; ` +
          `use "bump" or "likelihood-ratio"`,
      );
    if (chosen.length > 0)
      return chosen.flatMap((one) => known[one].map((parameter) => ({ name: one, parameter, order }) as const));
    if (parameters.includes(name)) return [{ name, parameter: name, order: 1 } as const];
    const all = [...new Set([...Object.keys(known), ...parameters])];
    throw new SpecError(`sensitivities: got "${name}", expected one of ${all.join(", ")}`);
  });
}

/** Copies of the parameters, and the weight of every copy in each measure; the first measure is the value. */
export interface Variants {
  readonly model: readonly Parameters[];
  readonly product: readonly Parameters[];
  readonly control: readonly Parameters[];
  readonly dates: readonly (readonly Column[])[];
  /** The weights, [measures][variants]. */
  readonly weights: readonly (readonly Column[])[];
}

/**
 * Returns the copies for central differences: (V(θ + h) − V(θ − h))/2h, and (V(θ + h) − 2V(θ) + V(θ − h))/h². The
 * derivatives by one parameter share bumps.
 */
export function bumpedVariants(
  { model, product, control, dates }: Paths,
  bumps: readonly Bump[],
  method: SensitivityMethod,
): Variants {
  const models: Parameters[] = [model.parameters];
  const products: Parameters[] = [product.parameters];
  const shifted = new Map<string, { readonly at: number; readonly h: Column }>();
  for (const { parameter } of bumps) {
    if (shifted.has(parameter)) continue;
    const ofModel = parameter in model.parameters;
    const owner = ofModel ? model.parameters : product.parameters;
    const h = widthOf(parameter, owner[parameter], method);
    shifted.set(parameter, { at: models.length, h });
    for (const sign of [1, -1]) {
      const moved = { ...owner, [parameter]: plus(owner[parameter], h, sign) };
      models.push(ofModel ? moved : model.parameters);
      products.push(ofModel ? product.parameters : moved);
    }
  }
  const row = (entries: Readonly<Record<number, Column>>): Column[] => models.map((_, v) => entries[v] ?? 0);
  const weights = bumps.map(({ parameter, order }) => {
    const { at, h } = shifted.get(parameter)!;
    const outer = (sign: number): Column => mapColumns([h], (x) => (order === 1 ? sign / (2 * x) : 1 / (x * x)));
    const middle = order === 1 ? {} : { 0: mapColumns([h], (x) => -2 / (x * x)) };
    return row({ ...middle, [at]: outer(1), [at + 1]: outer(-1) });
  });
  return {
    model: models,
    product: products,
    control: products.map((moved) =>
      control === undefined ? {} : sharedParameters(control.parameters, product.parameters, moved),
    ),
    dates: models.map(() => dates),
    weights: [row({ 0: 1 }), ...weights],
  };
}

/** A control moves with its product where that is shifted, in what it has of it: the same number or column. */
function sharedParameters(control: Parameters, product: Parameters, moved: Parameters): Parameters {
  return Object.fromEntries(
    Object.entries(control).map(([name, own]) => [name, own === product[name] ? moved[name] : own]),
  );
}

/** The functions and dates of a simulation: those of the settings, or of a copy with other parameters. */
export interface Paths {
  readonly model: PathModel;
  readonly product: PathProduct;
  readonly control: PathProduct | undefined;
  readonly dates: readonly Column[];
}

/** Returns copies with given parameters after the first, and measures by the weights of all copies, after the value. */
export function givenVariants(all: readonly Paths[], measures: readonly (readonly Column[])[]): Variants {
  const value = all.map((_, v) => (v === 0 ? 1 : 0));
  return {
    model: all.map(({ model }) => model.parameters),
    product: all.map(({ product }) => product.parameters),
    control: all.map(({ control }) => control?.parameters ?? {}),
    dates: all.map(({ dates }) => dates),
    weights: [value, ...measures],
  };
}

/** The shift of a parameter. A volatility is shifted by less than itself, so that it stays positive. */
function widthOf(name: string, parameter: Parameter, method: SensitivityMethod): Column {
  const kind = name.startsWith("spot") ? "spot" : name.startsWith("volatility") ? "volatility" : "other";
  const width = method === "pathwise" ? PATHWISE : WIDTHS[kind];
  const first = isByStep(parameter) ? parameter.byStep : [parameter];
  return mapColumns(first, (...numbers) => {
    const least = Math.min(...numbers.map(Math.abs));
    return width * (kind === "other" ? Math.max(least, 1) : least > 0 ? least : 1);
  });
}

const plus = (parameter: Parameter, h: Column, sign: number): Parameter =>
  isByStep(parameter)
    ? { byStep: parameter.byStep.map((column) => mapColumns([column, h], (x, by) => x + sign * by)) }
    : mapColumns([parameter, h], (x, by) => x + sign * by);

/** Returns the weights of some instances: [measures, variants, instances]. */
export function weightTable({ weights }: Variants, members: Uint32Array): Float64Array {
  const instances = members.length;
  const variants = weights[0].length;
  const table = new Float64Array(weights.length * variants * instances);
  weights.forEach((row, m) =>
    row.forEach((column, v) => {
      for (let i = 0; i < instances; i++) table[(m * variants + v) * instances + i] = columnAt(column, members[i]);
    }),
  );
  return table;
}
