/** Sensitivities: derivatives along paths by some parameters, and copies with others shifted. */
import { SpecError } from "../base/errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { PathModel } from "./model.ts";
import type { ControlMean } from "./moments.ts";
import {
  type Column,
  columnAt,
  columnsOf,
  isByStep,
  mapColumns,
  type Parameter,
  type Parameters,
  stepOf,
} from "./parameters.ts";
import type { PathProduct } from "./product.ts";

/**
 * How a sensitivity was found: "pathwise", by derivatives of model and product along each path; "adjoint", by
 * the same derivatives, many of them together; "bump", by central differences of copies with the same random numbers;
 * "likelihood-ratio", by payoffs times scores of the model.
 * @experimental
 */
export type SensitivityMethod = "pathwise" | "adjoint" | "bump" | "likelihood-ratio";

/** A sensitivity: the derivative of some order by a parameter, and its method. */
export interface Sensitivity {
  readonly name: string;
  readonly parameter: string;
  readonly order: 1 | 2;
  readonly method: "pathwise" | "bump";
}

/** Relative shifts of parameters, or absolute ones where the parameter may be 0 or negative. */
const WIDTHS = { spot: 0.01, volatility: 0.01, other: 1e-4 } as const;
/** Other shifts in f32 are this many times wider: a rate's step of 1e-4 / 50 is lost beside a logarithm of 5. */
const WIDER_IN_F32 = 30;

/**
 * Returns sensitivities by name: those that the model defines, or derivatives by any parameter of model or product.
 * "auto" is pathwise for first derivatives where neither payoff nor steps jump. @throws SpecError
 */
export function sensitivitiesOf(
  model: PathModel,
  product: PathProduct,
  names: readonly string[],
  method: "auto" | "pathwise" | "bump",
): Sensitivity[] {
  const known = model.sensitivities ?? {};
  const parameters = [...Object.keys(model.parameters), ...Object.keys(product.parameters)];
  return names.flatMap((name) => {
    // "delta" of several assets is that of each.
    const chosen = Object.keys(known).filter((one) => one === name || one.replace(/\d+$/, "") === name);
    const order = chosen.length > 0 && name.startsWith("gamma") ? 2 : 1;
    if (order === 2 && method === "pathwise")
      throw new SpecError(
        `sensitivities: "${name}" pathwise: the payoff has no second derivative along a path; ` +
          `use "auto", "bump" or "likelihood-ratio"`,
      );
    const by = (parameter: string, of: 1 | 2): Omit<Sensitivity, "name"> => {
      const ofModel = parameter in model.parameters;
      const jumps = ofModel ? model.jumpsWith?.includes(parameter) : false;
      if (jumps === true && method === "pathwise")
        throw new SpecError(
          `sensitivities: "${name}" pathwise: steps of the model "${model.name}" jump with ${parameter}, and ` +
            `derivatives along paths leave out the jumps; use "auto" or "bump"`,
        );
      const isSmooth = of === 1 && product.isDiscontinuous === false && jumps === false;
      return { parameter, order: of, method: method !== "auto" ? method : isSmooth ? "pathwise" : "bump" };
    };
    if (chosen.length > 0)
      return chosen.flatMap((one) => known[one].map((parameter) => ({ name: one, ...by(parameter, order) })));
    if (parameters.includes(name)) return [{ name, ...by(name, 1) }];
    const all = [...new Set([...Object.keys(known), ...parameters])];
    throw new SpecError(`sensitivities: got "${name}", expected one of ${all.join(", ")}`);
  });
}

/**
 * A direction: how fast the parameters move of model, product and control, and the dates. What it does not name stays.
 * @experimental
 */
export interface Direction {
  readonly model: Parameters;
  readonly product: Parameters;
  readonly control: Parameters;
  readonly dates?: readonly Column[];
  /** How fast the control's mean moves, where it is a column. */
  readonly mean?: Column;
}

/** Copies of the parameters, and the weight of every copy in each measure; the first measure is the value. */
export interface Variants {
  readonly model: readonly Parameters[];
  readonly product: readonly Parameters[];
  readonly control: readonly Parameters[];
  readonly dates: readonly (readonly Column[])[];
  /** How many of the copies, the last ones, share the path of the first (`sharesPath`). */
  readonly sharing: number;
  /** The weights, [measures][variants]. */
  readonly weights: readonly (readonly Column[])[];
  /** The directions of the derivatives of the first copy, which are further measures. */
  readonly directions: readonly Direction[];
}

/**
 * Returns the copies for central differences: (V(θ + h) − V(θ − h))/2h, and (V(θ + h) − 2V(θ) + V(θ − h))/h². At the
 * end of its range, as of a variance of 0, θ is moved by h and 2h: (4V(θ + h) − 3V(θ) − V(θ + 2h))/2h. The derivatives
 * by one parameter share bumps. Pathwise sensitivities have a direction each.
 */
export function sensitivityVariants(
  { model, product, control, dates }: Paths,
  all: readonly Sensitivity[],
  precision: Precision,
): Variants {
  const models: Parameters[] = [model.parameters];
  const products: Parameters[] = [product.parameters];
  const controls: Parameters[] = [control?.parameters ?? {}];
  const shifted = new Map<string, { readonly at: number; readonly h: Column; readonly isAtZero: Column }>();
  const bumps = all.filter(({ method }) => method === "bump");
  for (const { parameter } of bumps) {
    if (shifted.has(parameter)) continue;
    const ofModel = parameter in model.parameters;
    const owner = ofModel ? model.parameters : product.parameters;
    const usual = widthOf(parameter, owner[parameter], ofModel ? 1 : unitOf(model));
    const factor = precision === "f32" && kindOf(parameter) === "other" ? WIDER_IN_F32 : 1;
    // A variance that is shifted below 0 has no paths.
    const isPositive = ofModel && model.jumpsWith?.includes(parameter) === true;
    const h = mapColumns([usual, ...columnsOf(owner[parameter])], (width, ...numbers) => {
      const least = isPositive ? Math.min(...numbers.map((x) => Math.abs(x))) : 0;
      return least > 0 ? Math.min(factor * width, 0.5 * least) : factor * width;
    });
    const isAtZero = mapColumns(columnsOf(owner[parameter]), (...numbers) =>
      isPositive && Math.min(...numbers.map(Math.abs)) === 0 ? 1 : 0,
    );
    shifted.set(parameter, { at: models.length, h, isAtZero });
    for (const down of [0, 1]) {
      const by = mapColumns([h, isAtZero], (x, zero) => (down === 0 ? x : zero === 1 ? 2 * x : -x));
      const moved = { [parameter]: plus(owner[parameter], by, 1) };
      models.push(ofModel ? { ...model.parameters, ...moved } : model.parameters);
      products.push(ofModel ? product.parameters : { ...product.parameters, ...moved });
      controls.push({ ...controls[0], ...(ofModel ? {} : sharedBy(control, product, moved)) });
    }
  }
  const row = (entries: Readonly<Record<number, Column>>): Column[] => models.map((_, v) => entries[v] ?? 0);
  const weights = bumps.map(({ parameter, order }) => {
    const { at, h, isAtZero } = shifted.get(parameter)!;
    const weight = (v: number): Column =>
      mapColumns([h, isAtZero], (x, zero) => {
        if (order === 2) return (v === 0 ? -2 : 1) / (x * x);
        return (zero === 1 ? [-1.5, 2, -0.5] : [0, 0.5, -0.5])[v] / x;
      });
    return row({ 0: weight(0), [at]: weight(1), [at + 1]: weight(2) });
  });
  const directions = all.flatMap(({ parameter, method }): Direction[] => {
    if (method === "bump") return [];
    const along = { [parameter]: 1 };
    if (parameter in model.parameters) return [{ model: along, product: {}, control: {} }];
    return [{ model: {}, product: along, control: sharedBy(control, product, along) }];
  });
  return {
    model: models,
    product: products,
    control: controls,
    dates: models.map(() => dates),
    sharing: 0,
    weights: [row({ 0: 1 }), ...weights],
    directions,
  };
}

/** What moves of a control with its product: the parameters that are the same number or column in both. */
const sharedBy = (control: PathProduct | undefined, product: PathProduct, moved: Parameters): Parameters =>
  Object.fromEntries(Object.entries(moved).filter(([name]) => control?.parameters[name] === product.parameters[name]));

/**
 * The steps of differences of closed forms, relative to what moves: each is an eighth of the one before, until a
 * difference changes by less than a part of itself; and the weights at ±1 and ±2 steps.
 */
const STEPS = [1e-4, 1.25e-5, 1.5625e-6, 1.953125e-7, 2.44140625e-8];
const CHANGE = 1e-8;
const FOURTH_ORDER = [
  [1, 2 / 3],
  [2, -1 / 12],
] as const;

/**
 * Returns the derivative along a direction of the mean of a control, a closed form without noise, by the central
 * difference of fourth order; and the size of means over that of what moves.
 */
export function meanAlong(
  { model, product, control }: Paths,
  along: Direction,
  mean: (model: Parameters, control: Parameters, i: number) => number,
): (i: number) => ControlMean {
  const scales = [...scalesOf(model, along.model, 1), ...scalesOf(product, along.product, unitOf(model))];
  const scale = mapColumns(scales, Math.min);
  const termsAt = STEPS.map((step) =>
    FOURTH_ORDER.flatMap(([steps, weight]) =>
      [1, -1].map((sign) => {
        const by = mapColumns([scale], (x) => sign * steps * step * x);
        return { weight: sign * weight, p: moved(model, along.model, by), q: moved(control, along.control, by) };
      }),
    ),
  );
  const slopeBy = (k: number, i: number): number =>
    termsAt[k].reduce((sum, { weight, p, q }) => sum + weight * mean(p, q, i), 0) / (STEPS[k] * columnAt(scale, i));
  return (i) => {
    let slope = slopeBy(0, i);
    let least = Infinity;
    for (let k = 1, last = slope; k < STEPS.length && least > CHANGE * Math.abs(slope); k++) {
      const next = slopeBy(k, i);
      const change = Math.abs(next - last);
      if (change < least) [slope, least] = [next, change];
      last = next;
    }
    const size = Math.abs(mean(model.parameters, control?.parameters ?? {}, i));
    return { mean: slope, size: size / columnAt(scale, i) };
  };
}

/** The size of parameters that are smaller, or 0, such as rates. */
const UNIT = 0.1;

/**
 * Returns the derivative of a control's mean that a direction has, as a column, and the size of the mean over that of
 * what moves.
 */
export function givenMeanAlong(
  { model, product, control }: Paths,
  along: Direction,
  slope: Column,
  meanOf: (i: number) => number,
): (i: number) => ControlMean {
  const moving = [
    [model.parameters, along.model],
    [product.parameters, along.product],
    [control?.parameters ?? {}, along.control],
  ].flatMap(([parameters, speeds]) =>
    Object.entries(speeds).flatMap(([name, speed]) => {
      const sizes = columnsOf(parameters[name]);
      return columnsOf(speed).map((column, k) => ({ column, size: sizes[Math.min(k, sizes.length - 1)] }));
    }),
  );
  return (i) => {
    const speed = moving.reduce(
      (most, { column, size }) =>
        Math.max(most, Math.abs(columnAt(column, i)) / Math.max(Math.abs(columnAt(size, i)), UNIT)),
      0,
    );
    return { mean: columnAt(slope, i), size: speed * Math.abs(meanOf(i)) };
  };
}

/** The sizes of the parameters that move, over their speeds. */
const scalesOf = ({ parameters }: PathModel | PathProduct, along: Parameters, unit: Column): readonly Column[] =>
  Object.entries(along).map(([name, speed]) =>
    mapColumns([widthOf(name, parameters[name], unit), ...columnsOf(speed)], (x, ...speeds) => {
      const fastest = Math.max(...speeds.map(Math.abs));
      return x / WIDTHS[kindOf(name)] / (fastest > 0 ? fastest : 1);
    }),
  );

const moved = (owner: PathModel | PathProduct | undefined, along: Parameters, h: Column): Parameters => ({
  ...owner?.parameters,
  ...Object.fromEntries(
    Object.entries(along).map(([name, speed]) => {
      const parameter = owner!.parameters[name];
      const by = (k: number): Column =>
        mapColumns([stepOf(parameter, k), stepOf(speed, k), h], (x, each, step) => x + each * step);
      if (!isByStep(parameter) && !isByStep(speed)) return [name, by(0)];
      const steps = Math.max(columnsOf(parameter).length, columnsOf(speed).length);
      return [name, { byStep: Array.from({ length: steps }, (_, k) => by(k)) }];
    }),
  ),
});

/** The functions and dates of a simulation: those of the settings, or of a copy with other parameters. */
export interface Paths {
  readonly model: PathModel;
  readonly product: PathProduct;
  readonly control: PathProduct | undefined;
  readonly dates: readonly Column[];
}

/** Returns copies with given parameters after the first, and measures by the weights of all copies, after the value. */
export function givenVariants(
  all: readonly Paths[],
  measures: readonly (readonly Column[])[],
  directions: readonly Direction[] = [],
): Variants {
  const lastWalked = all.findLastIndex((one, v) => v === 0 || !sharesPath(all[0], one));
  const value = all.map((_, v) => (v === 0 ? 1 : 0));
  return {
    model: all.map(({ model }) => model.parameters),
    product: all.map(({ product }) => product.parameters),
    control: all.map(({ control }) => control?.parameters ?? {}),
    dates: all.map(({ dates }) => dates),
    sharing: all.length - 1 - lastWalked,
    weights: [value, ...measures],
    directions,
  };
}

/** Tells whether a copy has the path of the first: it has the same model, and differs in what payoffs read alone. */
const sharesPath = (first: Paths, copy: Paths): boolean =>
  copy.model === first.model &&
  copy.dates === first.dates &&
  differInPayoff(first.product, copy.product) &&
  differInPayoff(first.control, copy.control);

const differInPayoff = (one: PathProduct | undefined, other: PathProduct | undefined): boolean =>
  Object.entries(one?.parameters ?? {}).every(
    ([name, parameter]) =>
      one!.payoffParameters?.includes(name) === true || areEqual(parameter, other!.parameters[name]),
  );

/** Parameters of products are columns. */
function areEqual(one: Parameter, other: Parameter): boolean {
  if (one === other || isByStep(one) || isByStep(other)) return one === other;
  const length = typeof one === "number" ? 1 : one.length;
  if (length !== (typeof other === "number" ? 1 : other.length)) return false;
  return Array.from({ length }, (_, i) => columnAt(one, i) === columnAt(other, i)).every(Boolean);
}

const kindOf = (name: string): keyof typeof WIDTHS =>
  name.startsWith("spot") ? "spot" : name.startsWith("volatility") ? "volatility" : "other";

/**
 * The shift of a parameter. A volatility is shifted by less than itself, so that it stays positive. `unit` is the size
 * of other parameters that are smaller, or 0.
 */
function widthOf(name: string, parameter: Parameter, unit: Column): Column {
  const kind = kindOf(name);
  const width = WIDTHS[kind];
  return mapColumns([unit, ...columnsOf(parameter)], (one, ...numbers) => {
    const least = Math.min(...numbers.map(Math.abs));
    return width * (kind === "other" ? Math.max(least, one) : least > 0 ? least : 1);
  });
}

/** The size of small amounts of a product, such as strikes: that of the smallest spot, at most 1. */
function unitOf({ parameters }: PathModel): Column {
  const spots = Object.keys(parameters).filter((name) => kindOf(name) === "spot");
  return mapColumns([1, ...spots.flatMap((name) => columnsOf(parameters[name]))], (...all) =>
    all.reduce((least, x) => (Math.abs(x) > 0 ? Math.min(least, Math.abs(x)) : least)),
  );
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
