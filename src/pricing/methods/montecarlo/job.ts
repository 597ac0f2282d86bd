/** What is simulated for a request: its path, moved copies of it, and the measures of them. */
import type { SensitivityFormula } from "../../../base/differences.ts";
import { keyOf } from "../../../base/memoize.ts";
import type { Slope, Valuation } from "../../plan/differences.ts";
import type { Request } from "../../plan/request.ts";
import { datesOf, isEarly, type SimulationInstance } from "./acceptance.ts";
import { controlKind, type ControlKind } from "./control.ts";
import { boundedSteps, needsBrownianBridge, productKey, stepsOf } from "./product.ts";
import { onSamePath } from "./same-path.ts";
import { type Shift, shiftOf } from "./shift.ts";
import { endsOf, modelKey, substepsOf } from "./spot-model.ts";
import * as stepping from "./steps.ts";
import type { PathEstimate } from "./without-paths.ts";

/** The number of paths to begin with: fewer would do for most values, but not for their second differences. */
const FIRST_PATHS = 2 ** 12;

/** Returns the number of paths of a level. */
export const pathsOfLevel = (level: number): number => FIRST_PATHS * 2 ** level;

/** A moved copy of a path. */
export interface PathCopy {
  readonly path: SimulationInstance;
  /** What its value is multiplied by. */
  readonly factor: number;
  /** True where it has the path of the trade itself, and another payoff. */
  readonly sharesPath: boolean;
}

/** A request with what decides which kernel simulates it. */
export interface Job {
  readonly request: Request<PathEstimate>;
  readonly path: SimulationInstance;
  /**
   * Copies on the same random numbers, and what is measured on them: moved ones, if sensitivities are to be found, or
   * ones with longer steps, if their error is not known. Those that share the path come last.
   */
  readonly copies: readonly PathCopy[];
  readonly measures: readonly SensitivityFormula[];
  /** The derivatives along the path, with paths near it by whose numbers they are taken. */
  readonly slopes: readonly (SensitivityFormula & { readonly paths: readonly SimulationInstance[] })[];
  /** The fineness of the steps of paths whose scheme is not exact. */
  readonly fineness: number;
  /** The stream of random numbers; paths of one stream have the same random numbers. */
  readonly stream: number;
  readonly substeps: number;
  readonly control: ControlKind;
  /** The shift of each normal number of each step, see `shiftOf`. */
  readonly shifts: Shift | undefined;
}

/** The measures of the error of steps, between paths and coarser ones. */
export const STEPS = { double: "steps 2", fourfold: "steps 4" } as const;

/** The most copies with a path of their own that cost less beside the value than its paths cost again. */
const ALONG = 2;

/** Returns the job of a request. @param known the fineness of its steps, if their error is known @param trial to try */
export function jobOf(request: Request<PathEstimate>, stream: number, known: number | undefined, trial = 0): Job {
  const { terms, spots, differences, estimate, level } = request;
  const dates = datesOf(terms);
  const fineness = known ?? trial;
  const isStepped = stepping.usesLocalDiffusions(terms);
  const substeps = isStepped
    ? Math.max(stepping.stepsBetween(terms, dates), stepsOf(terms)) * 2 ** fineness
    : Math.max(substepsOf(terms, dates.length), stepsOf(terms), boundedSteps(terms, fineness, pathsOfLevel(level)));
  const steps = isStepped ? stepping.stepsOf(terms, dates, substeps) : undefined;
  const path: SimulationInstance = { terms, spots: spots[0], dates, ...(steps && { steps }) };
  const { copies, measures } = movedCopies(path, differences?.copies ?? [], differences?.formulas ?? []);
  const slopes = (differences?.slopes ?? []).map((slope) => slopeOf(path, slope));
  const shifts = shiftOf(path, endsOf(path, substeps));
  const kinds = [path, ...copies.map((copy) => copy.path)].map((one) => controlKind(one, shifts !== undefined));
  const control = kinds.every((kind) => kind === kinds[0]) ? kinds[0] : "none";
  const common = { request, path, stream, substeps, control, shifts, fineness };
  if (steps !== undefined && known === undefined && !stepping.isExactInSteps(terms))
    return onCoarserSteps(common, steps);
  const isCheap = steps === undefined && terms.barriers.length === 0 && countWalked(copies) <= ALONG;
  const isFinal = isCheap || isEarly(terms) || (estimate?.level === level && trial === 0);
  return isFinal ? { ...common, copies, measures, slopes } : { ...common, ...NO_COPIES };
}

const NO_COPIES = { copies: [], measures: [], slopes: [] } as const;

const countWalked = (copies: readonly PathCopy[]): number => copies.filter(({ sharesPath }) => !sharesPath).length;

/** The moved copies of a path, those that share it last, and the formulas in their order. */
function movedCopies(
  path: SimulationInstance,
  valuations: readonly Valuation[],
  formulas: readonly SensitivityFormula[],
): Pick<Job, "copies" | "measures"> {
  const all = valuations.map((one): PathCopy => {
    const shared = onSamePath(path, one);
    if (shared !== undefined) return { ...shared, sharesPath: true };
    return { path: movedPath(path, one), factor: 1, sharesPath: false };
  });
  const order = [false, true].flatMap((shares) => [...all.keys()].filter((v) => all[v].sharesPath === shares));
  return {
    copies: order.map((v) => all[v]),
    measures: formulas.map((one) => ({
      ...one,
      weights: [one.weights[0], ...order.map((v) => one.weights[v + 1])],
    })),
  };
}

const slopeOf = (path: SimulationInstance, { name, weights, copies }: Slope): Job["slopes"][number] => ({
  name,
  weights,
  paths: copies.map((copy) => movedPath(path, copy)),
});

/** The path of a valuation near that of a trade. */
function movedPath(path: SimulationInstance, copy: Valuation): SimulationInstance {
  const { terms, dates, steps } = path;
  // No date passes within the step of theta, and paths with as many dates use the same random numbers.
  const years = terms.expiry - copy.terms.expiry;
  if (years === 0) return { ...path, ...copy };
  const later = steps && { steps: stepping.rollSteps(steps, years) };
  return { ...copy, dates: dates.map((date) => date - years), ...later };
}

function onCoarserSteps(job: Omit<Job, "copies" | "measures" | "slopes">, steps: stepping.Steps): Job {
  const copies = [2, 4].map((kept): PathCopy => {
    const coarse = stepping.withFrozenDiffusion(steps, kept, needsBrownianBridge(job.path.terms));
    return { path: { ...job.path, steps: coarse }, factor: 1, sharesPath: false };
  });
  const measures = [
    { name: STEPS.double, weights: [1, -1, 0] },
    { name: STEPS.fourfold, weights: [0, 1, -1] },
  ];
  return { ...job, copies, measures, slopes: [] };
}

/** Returns a text that is equal for jobs that share a kernel, and are simulated together. */
export function keyOfJob(job: Job): string {
  const { request, path, copies, measures, slopes, control, shifts, substeps } = job;
  const { terms, dates } = path;
  const shape = [isEarly(terms), control, shifts !== undefined, dates.length, substeps, request.level];
  const measured = measures.map(({ name, weights }) => [name, weights.length]);
  const moved = copies.map((copy) => [
    copy.sharesPath,
    copy.path.dates.length,
    modelKey(copy.path.terms),
    productKey(copy.path.terms),
  ]);
  return keyOf([modelKey(terms), productKey(terms), shape, measured, moved, slopes.map(({ name }) => name)]);
}
