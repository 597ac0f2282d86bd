/** What a simulation estimates: its copies, directions and scores, and where the moments of each measure are. */
import type { Accuracy } from "../base/accuracy.ts";
import { SpecError } from "../base/errors.ts";
import type { CallOptions } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import { seedOf } from "../numerics/random/index.ts";
import { type Control, recognisedControl } from "./controls.ts";
import { type Instances, instancesIn } from "./instances.ts";
import { END_OF_STEP, type PathModel } from "./model.ts";
import { type ControlMean, controlMeanOf } from "./moments.ts";
import { type Column, columnAt, type Parameter } from "./parameters.ts";
import { BLOCK, type Sampling } from "./paths/shape.ts";
import { type Batch, stepEnds } from "./paths/table.ts";
import type { WalkShape } from "./paths/walk-shape.ts";
import type { PathProduct } from "./product.ts";
import {
  type Direction,
  givenMeanAlong,
  givenVariants,
  meanAlong,
  type Paths,
  sensitivitiesOf,
  type Sensitivity,
  type SensitivityMethod,
  sensitivityVariants,
  type Variants,
} from "./sensitivities.ts";
import { checkDirections, checkSettings } from "./settings.ts";
import { copiesOf, type Variant } from "./variants.ts";

/** The settings of `monteCarlo`. @experimental */
export interface MonteCarloSettings extends CallOptions {
  readonly model: PathModel;
  readonly product: PathProduct;
  /**
   * The dates in years, increasing; numbers, or columns with one for each instance. The payoff is paid on the last one.
   */
  readonly dates: readonly Column[];
  /** The number of model steps between dates, 1 by default; models that are not exact need more. */
  readonly substeps?: number;
  /**
   * The number of paths of each instance, 2¹⁶ by default, rounded up to whole blocks; with `accuracy` the initial
   * number.
   */
  readonly paths?: number;
  /** The error that the value may have: paths are added until `errorEstimate` is no larger. */
  readonly accuracy?: Accuracy<Column>;
  /** The maximum number of paths per instance with `accuracy`; 2²⁴ by default. */
  readonly maxPaths?: number;
  /** The seed, a whole number below 2⁶⁴; 1 by default. The same seed gives the same numbers on every device. */
  readonly seed?: number | bigint;
  /**
   * The source of random numbers: "philox", the default; "sobol": Sobol' points with Brownian bridge, in independent
   * scramblings by Owen.
   */
  readonly sampling?: Sampling;
  /**
   * The number of independent scramblings of Sobol' points, 32 by default, from whose scatter the standard error is
   * computed.
   */
  readonly scramblings?: number;
  /** True for antithetic paths: each path has a reflection; false by default. */
  readonly antithetic?: boolean;
  /** The control variate. "auto", the default, recognises geometric averages under Black and Scholes. */
  readonly control?: Control | "auto" | "none";
  /**
   * The sensitivities by name: delta, gamma, vega, rho of the model, or names of parameters. Thirteen or more
   * derivatives along random paths without a control are found together by adjoints, in a few times the time of the
   * value. Their errors are then the scatter of blocks of 64 paths.
   */
  readonly sensitivities?: readonly string[];
  /**
   * The method for sensitivities, "auto" by default: "pathwise" for first derivatives of products that declare that
   * their payoff does not jump, "bump" for all others.
   */
  readonly sensitivityMethod?: Exclude<SensitivityMethod, "adjoint"> | "auto";
  /**
   * The directions by name, in which derivatives along paths are taken and reported among the sensitivities, beside
   * variants, too.
   */
  readonly directions?: Readonly<Record<string, Direction>>;
  /**
   * Copies with other parameters, on the same random numbers. Those at the end of the list that have the settings' own
   * model and dates, and differ in what payoffs read alone (`PathProduct.payoffParameters`), cost no paths.
   */
  readonly variants?: readonly Variant[];
  /**
   * The measures by name, reported among the sensitivities: linear combinations, with weights of the value and of the
   * value of each variant.
   */
  readonly measures?: Readonly<Record<string, readonly Column[]>>;
  /**
   * The shifts of importance sampling, added to the normal numbers of each step, one for each normal number of the
   * model. Each path is weighted by the ratio of the densities, so that no mean changes.
   */
  readonly shifts?: readonly Parameter[];
  /** The stream of random numbers of each instance, 0, 1, 2 … by default; equal streams are common random numbers. */
  readonly streams?: ArrayLike<number>;
  /** The precision, "f64" by default; WebGPU has "f32". */
  readonly precision?: Precision;
}

/** The position of a measure's moments, and the known mean of its control variate. */
export interface MeasurePlace {
  /** The index of the measure. */
  readonly at: number;
  /**
   * The index of the measure that estimates half the distance of the bounds; undefined for a product without bounds.
   */
  readonly widthAt: number | undefined;
  readonly controlMean: (instance: number) => ControlMean;
}

/** A measure with its name: a sensitivity, or a weighted sum over copies that the settings give. */
export interface NamedMeasure extends MeasurePlace {
  readonly name: string;
  readonly method: SensitivityMethod;
}

/** The batch to simulate, and the measures that its moments belong to. */
export interface SimulationPlan {
  readonly instances: Instances;
  readonly batch: Batch;
  readonly value: MeasurePlace;
  readonly measures: readonly NamedMeasure[];
  readonly control: Control | undefined;
  /** True where derivatives along paths are found by adjoints. Their measures have moments of their own. */
  readonly isAdjoint: boolean;
  /**
   * The settings of several simulations that share the derivatives, where they are too many for one in forward mode.
   */
  readonly parts: readonly MonteCarloSettings[];
}

/** From this number of derivatives along paths on, adjoints take less time than tangents. */
const ADJOINTS_FROM = 13;
/** The largest number of tangents that one kernel follows. */
const TANGENTS_AT_MOST = 32;
/** The number of blocks whose scatter says what the error of a derivative is. */
const BLOCKS_AT_LEAST = 16;

/**
 * Tells whether derivatives along paths are found by adjoints: many of them, alone, of random paths. A control has a
 * factor for each derivative, points that fill space have errors by the scatter of scramblings, half widths have
 * derivatives of their own, and times have no adjoints.
 */
function takesAdjoints({ paths, accuracy }: MonteCarloSettings, shape: WalkShape, { directions }: Variants): boolean {
  const { sampling, control, measures, variants, scores, product, antithetic } = shape;
  const first = paths ?? (accuracy === undefined ? Infinity : 2 ** 12);
  const isEnough = first >= BLOCKS_AT_LEAST * BLOCK * (antithetic ? 2 : 1);
  const isPlain = sampling === "philox" && measures === 1 && variants === 1 && scores === 0 && control === undefined;
  const isMoved = directions.some(({ model, dates }) => dates !== undefined || END_OF_STEP in model);
  return directions.length >= ADJOINTS_FROM && isEnough && isPlain && !isMoved && product.halfWidth === undefined;
}

/** Returns the settings of simulations with as many derivatives each as forward mode takes at once. */
function partsOf(settings: MonteCarloSettings, sensitivities: readonly Sensitivity[]): MonteCarloSettings[] {
  const names = [...new Set(sensitivities.map(({ name }) => name))];
  return [
    ...chunks(names).map((some) => ({ ...settings, sensitivities: some })),
    ...chunks(Object.entries(settings.directions ?? {})).map((some, k) => ({
      ...settings,
      ...(k === 0 ? {} : { variants: [], measures: {} }),
      directions: Object.fromEntries(some),
    })),
  ];
}

const chunks = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / TANGENTS_AT_MOST) }, (_, k) =>
    list.slice(k * TANGENTS_AT_MOST, (k + 1) * TANGENTS_AT_MOST),
  );

/**
 * Returns the plan of a simulation with given settings, by tangents alone with "forward". @throws SpecError |
 * ShapeError
 */
export function planOf(settings: MonteCarloSettings, mode: "auto" | "forward" = "auto"): SimulationPlan {
  const { model, product, dates, substeps = 1, sampling = "philox", antithetic = false } = settings;
  const failures = checkSettings(settings);
  const method = settings.sensitivityMethod ?? "auto";
  const asked = settings.sensitivities ?? [];
  const isScored = method === "likelihood-ratio" && asked.length > 0;
  const sensitivities = method === "likelihood-ratio" ? [] : sensitivitiesOf(model, product, asked, method);
  const control = controlOf(settings);
  const own: Paths = { model, product, control: control?.product, dates };
  const copies = copiesOf(settings, own);
  const given = Object.entries(settings.measures ?? {});
  const givenWeights = given.map(([, weights]) => weights);
  const directions = Object.entries(settings.directions ?? {});
  checkDirections(settings, control);
  const variants =
    copies.length > 0 || directions.length > 0
      ? givenVariants(
          [own, ...copies],
          givenWeights,
          directions.map(([, direction]) => direction),
        )
      : sensitivityVariants(own, sensitivities, settings.precision ?? "f64");
  const instances = instancesIn(settings, [own, ...copies], variants, failures);
  const all: WalkShape = {
    model,
    product,
    control: control?.product,
    substeps,
    sampling,
    isShifted: settings.shifts !== undefined,
    antithetic,
    variants: variants.model.length,
    sharing: variants.sharing,
    measures: variants.weights.length,
    slopes: variants.directions.length,
    scores: isScored ? (model.score?.names.length ?? 0) : 0,
    scramblings: sampling === "sobol" ? (settings.scramblings ?? 32) : 1,
    single: instances.valid.length === 1,
  };
  const isAdjoint = mode === "auto" && takesAdjoints(settings, all, variants);
  const shape: WalkShape = isAdjoint ? { ...all, slopes: 0 } : all;
  const batch: Batch = {
    shape,
    precision: settings.precision ?? "f64",
    seed: seedOf(settings.seed ?? 1),
    dates,
    variants,
    streams: Uint32Array.from({ length: instances.count }, (_, i) => settings.streams?.[i] ?? i),
    shifts: settings.shifts,
  };
  if (control !== undefined && typeof control.mean !== "function" && sensitivities.length > 0)
    throw new SpecError(
      `control.mean: got a column beside sensitivities, expected a function of the parameters, which change there; ` +
        `or ask for control: "none"`,
    );
  const means = meansOf(settings, own, control, batch);
  const bumped = sensitivities.filter((one) => one.method === "bump").map(({ name }) => name);
  const weighted = [...bumped, ...given.map(([name]) => name)];
  const pathwise = [
    ...sensitivities.filter((one) => one.method === "pathwise").map(({ name }) => name),
    ...directions.map(([name]) => name),
  ];
  return {
    instances,
    batch,
    control,
    isAdjoint,
    parts: shape.slopes > TANGENTS_AT_MOST ? partsOf(settings, sensitivities) : [],
    value: means.weighted(0),
    measures: [
      ...weighted.map((name, m) => ({ name, method: "bump" as const, ...means.weighted(1 + m) })),
      ...pathwise.map((name, k) => ({
        name,
        method: isAdjoint ? ("adjoint" as const) : ("pathwise" as const),
        ...(isAdjoint ? means.adjoint(k) : means.slope(k)),
      })),
      ...(isScored ? scoresOf(model, asked) : []).map(({ name, s }) => ({
        name,
        method: "likelihood-ratio" as const,
        ...means.score(s),
      })),
    ],
  };
}

/** The places of the moments of measures by kind, with the means of their controls. */
function meansOf(settings: MonteCarloSettings, own: Paths, control: Control | undefined, { shape, variants }: Batch) {
  const { measures, slopes, scores } = shape;
  const widths = measures + slopes + scores;
  const means = [control, ...(settings.variants ?? []).map((one) => one.control)].map((one) => one?.mean ?? 0);
  const meanOf = (variant: number, i: number): number => {
    const mean = means[means.length > 1 ? variant : 0];
    return typeof mean === "function" ? mean(variants.model[variant], variants.control[variant], i) : columnAt(mean, i);
  };
  const first = (i: number): ControlMean => controlMeanOf([1], () => meanOf(0, i));
  const mean = control?.mean;
  const along = variants.directions.map((direction) => {
    if (typeof mean === "function" && direction.mean === undefined) return meanAlong(own, direction, mean);
    return direction.mean === undefined ? first : givenMeanAlong(own, direction, direction.mean, (i) => meanOf(0, i));
  });
  return {
    weighted: (m: number): MeasurePlace => ({
      at: m,
      widthAt: widths + m,
      controlMean: (i) =>
        controlMeanOf(
          variants.weights[m].map((weight) => columnAt(weight, i)),
          (v) => meanOf(v, i),
        ),
    }),
    slope: (k: number): MeasurePlace => ({
      at: measures + k,
      widthAt: widths + measures + k,
      controlMean: along[k],
    }),
    adjoint: (k: number): MeasurePlace => ({ at: k, widthAt: undefined, controlMean: () => ({ mean: 0, size: 0 }) }),
    score: (s: number): MeasurePlace => ({ at: measures + slopes + s, widthAt: undefined, controlMean: first }),
  };
}

function controlOf({ control = "auto", model, product, dates, substeps = 1 }: MonteCarloSettings): Control | undefined {
  if (control === "none") return undefined;
  return control === "auto" ? recognisedControl(model, product, stepEnds(dates, substeps), dates) : control;
}

/** The scores of sensitivities by name, with their numbers. @throws SpecError for a model without one of them */
function scoresOf(model: PathModel, sensitivities: readonly string[]): readonly { name: string; s: number }[] {
  const known = model.score?.names ?? [];
  const unknown = sensitivities.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SpecError(
      `sensitivities: got "${unknown}" by likelihood ratio of the model "${model.name}", expected one of ` +
        (known.join(", ") || "none: it has no scores; use bumps"),
    );
  return sensitivities.map((name) => ({ name, s: known.indexOf(name) }));
}
