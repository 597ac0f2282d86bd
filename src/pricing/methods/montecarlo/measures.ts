/** Sensitivities and the error of steps of a group of jobs: copies and directions for the path engine. */
import type { Column, Direction, Estimates, Parameter, Parameters, Variant } from "../../../montecarlo/index.ts";
import { type Bias, withBias } from "../../plan/differences.ts";
import type { Measured } from "../../plan/request.ts";
import type { Terms } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";
import { type ControlKind, controlOf } from "./control.ts";
import { errorAtLevel, unseenOfNone, unseenSlope } from "./error.ts";
import { type Job, STEPS } from "./job.ts";
import { productOf, scaleOf } from "./product.ts";
import { modelOf } from "./spot-model.ts";
import { exactEstimate } from "./without-paths.ts";

/**
 * The model, product, control variate and dates of paths. A control that is not given is left out: none is recognised.
 */
export type PathSettings = Pick<Variant, "model" | "product" | "control"> & { readonly dates: readonly Float64Array[] };

/** What all paths of a group have in common. */
interface Common {
  readonly substeps: number;
  readonly kind: ControlKind;
  /** The terms of one of them, before moves. */
  readonly original: Terms;
}

/** Returns the settings of paths that share a kernel. */
export function pathsOf(paths: readonly SimulationInstance[], { substeps, kind, original }: Common): PathSettings {
  const control = controlOf(paths, substeps, kind);
  return {
    model: modelOf(paths, substeps),
    product: productOf(paths, original, substeps),
    dates: paths[0].dates.map((_, k) => Float64Array.from(paths, ({ dates }) => dates[k])),
    ...(control === undefined ? {} : { control }),
  };
}

/** The copies and directions of a group, and what follows from their estimates. */
export interface GroupMeasures {
  readonly variants: readonly Variant[];
  /** The weights of the trade and of each copy in each measure. */
  readonly weights: Readonly<Record<string, readonly Float64Array[]>>;
  readonly directions: Readonly<Record<string, Direction>>;
  /** The sums that copies of known value add to each measure. */
  readonly added: ReadonlyMap<string, Float64Array>;
  /** The factors of a derivative along the path, and of the value in it. */
  readonly factors: ReadonlyMap<string, readonly (readonly [slope: number, value: number])[]>;
}

/** Returns the copies and directions of a group of jobs, `base` being the settings of its paths; undefined for none. */
export function measuresOfGroup(group: readonly Job[], base: PathSettings): GroupMeasures | undefined {
  const [{ copies, substeps, control: kind, measures: asked, slopes, path }] = group;
  if (asked.length + slopes.length === 0) return undefined;
  const common = { substeps, kind, original: path.terms };
  const all = group.map((job) => [job.path, ...job.copies.map((copy) => copy.path)]);
  const known = group.map((job) =>
    [{ path: job.path, factor: 1 }, ...job.copies].map(({ path: { terms, spots }, factor }) => {
      const exact = exactEstimate(terms, spots)?.values[0];
      return exact === undefined ? undefined : factor * exact;
    }),
  );
  const scales = all.map((paths, i) =>
    paths.map((one, v) =>
      known[i][v] === undefined ? scaleOf(one) * (v === 0 ? 1 : group[i].copies[v - 1].factor) : 0,
    ),
  );
  const variants = copies.map(({ sharesPath }, v): Variant => {
    // Paths of a copy whose value is known are not looked at.
    const paths = all.map((some, i) => (known[i][v + 1] === undefined ? some[v + 1] : some[0]));
    if (!sharesPath) return pathsOf(paths, common);
    const control = controlOf(
      paths,
      substeps,
      kind,
      all.map(([own]) => own),
    );
    return { model: base.model, product: productOf(paths, path.terms, substeps), ...(control && { control }) };
  });
  const weightOf = (i: number, m: number, v: number): number => group[i].measures[m].weights[v];
  const weights: Record<string, Float64Array[]> = {};
  const added = new Map<string, Float64Array>();
  asked.forEach(({ name, weights: own }, m) => {
    weights[name] = own.map((_, v) => Float64Array.from(group, (_one, i) => weightOf(i, m, v) * scales[i][v]));
    const sums = known.map((values, i) => values.reduce<number>((sum, x, v) => sum + weightOf(i, m, v) * (x ?? 0), 0));
    added.set(name, Float64Array.from(sums));
  });
  const directions = Object.fromEntries(slopes.map(({ name }, k) => [name, directionOf(group, base, k, common)]));
  const factors = new Map(
    slopes.map(({ name }, k) => [
      name,
      group.map((job) => {
        const scale = scaleOf(job.path);
        const near = job.slopes[k];
        const slope = near.paths.reduce((sum, one, c) => sum + near.weights[c + 1] * (scaleOf(one) - scale), 0);
        return [scale, slope] as const;
      }),
    ]),
  );
  return { variants, weights, directions, added, factors };
}

/** The direction of slope k of a group: what the numbers of paths move by. */
function directionOf(group: readonly Job[], base: PathSettings, k: number, common: Common): Direction {
  const near = group[0].slopes[k].paths.map((_, c) =>
    pathsOf(
      group.map((job) => job.slopes[k].paths[c]),
      common,
    ),
  );
  const weights = near.map((_, c) => Float64Array.from(group, (job) => job.slopes[k].weights[c + 1]));
  /** Differences from today's numbers, so that those that stay have none. */
  const slope = (today: Column, moved: readonly Column[]): Float64Array | undefined => {
    const column = Float64Array.from(group, (_, i) =>
      moved.reduce<number>((sum, other, c) => sum + weights[c][i] * (at(other, i) - at(today, i)), 0),
    );
    return column.some((x) => x !== 0) ? column : undefined;
  };
  const slopes = (of: (one: PathSettings) => Parameters): Parameters =>
    Object.fromEntries(
      Object.entries(of(base)).flatMap(([name, today]) => {
        const columns = stepsIn(today).map((column, n) =>
          slope(
            column,
            near.map((one) => stepsIn(of(one)[name])[n]),
          ),
        );
        if (columns.every((column) => column === undefined)) return [];
        const filled = columns.map((column) => column ?? 0);
        return [[name, typeof today === "object" && "byStep" in today ? { byStep: filled } : filled[0]]];
      }),
    );
  const dates = base.dates.map((date, n) =>
    slope(
      date,
      near.map((one) => one.dates[n]),
    ),
  );
  const mean = (one: PathSettings): Column => (one.control?.mean ?? 0) as Column;
  return {
    model: slopes(({ model }) => model.parameters),
    product: slopes(({ product }) => product.parameters),
    control: slopes(({ control }) => control?.product.parameters ?? {}),
    ...(dates.some((date) => date !== undefined) ? { dates: dates.map((date) => date ?? 0) } : {}),
    mean: slope(mean(base), near.map(mean)) ?? 0,
  };
}

const at = (column: Column, i: number): number =>
  typeof column === "number" ? column : column[column.length === 1 ? 0 : i];

const stepsIn = (parameter: Parameter): readonly Column[] =>
  typeof parameter === "object" && "byStep" in parameter ? parameter.byStep : [parameter];

/** What moves leave in the sensitivities of a job; nothing of other measures. */
const biasOf = ({ request: { differences }, measures }: Job): Bias | undefined =>
  measures.some(({ name }) => name === STEPS.double) ? undefined : differences?.bias;

type Found = Estimates & { readonly halfWidth?: Float64Array };

/** The estimates of a group, and of one of its jobs what no path has shown of the value. */
interface GroupEstimates {
  readonly found: Readonly<Record<string, Found>>;
  readonly value: Estimates;
  /** The number of paths of each job. */
  readonly paths: ArrayLike<number>;
  /** The degrees of freedom of standard errors. */
  readonly freedom: number;
  readonly unseen: number;
}

/** Returns the measures of job i of a group. */
export function measuresOfJob(
  { added, factors }: GroupMeasures,
  job: Job,
  i: number,
  { found, value, paths, freedom, unseen }: GroupEstimates,
): ReadonlyMap<string, Measured> {
  const estimateOf = (name: string): Measured => {
    const { value: values, errorEstimate, halfWidth } = found[name];
    const half = halfWidth?.[i] ?? 0;
    const error = errorAtLevel(errorEstimate[i] - half, freedom) + half + unseenSlope(job.path, name, unseen);
    const isNone = values[i] === 0 && error === 0;
    return { value: values[i], error: isNone ? unseenOfNone(job.path, name, paths[i]) : error };
  };
  const differences = Array.from(added, ([name, sums]): [string, Measured] => {
    const { value: sum, error } = estimateOf(name);
    return [name, { value: sum + sums[i], error }];
  });
  const slopes = Array.from(factors, ([name, each]): [string, Measured] => {
    const [scale, ofValue] = each[i];
    const { value: slope, error } = estimateOf(name);
    const ofScale = Math.abs(ofValue) * errorAtLevel(value.errorEstimate[i], freedom);
    return [name, { value: scale * slope + ofValue * value.value[i], error: Math.abs(scale) * error + ofScale }];
  });
  return withBias(new Map([...differences, ...slopes]), biasOf(job));
}
