/** Values of exercise rights by dynamic programming. Rights on the same tree or grid are valued together. */
import type { SwingsResult } from "../../quadrature/quantization/index.ts";
import { grouped, type RequestSettings, together } from "../plan/request.ts";
import { isExercisable, type Terms } from "../terms.ts";
import { chainOf, type FactorChain } from "./chain.ts";
import type { ExerciseRightsEstimate, RightsRequest } from "./estimator.ts";
import { exactEstimate } from "./exact-rights.ts";
import { datesOf, unitsOf } from "./factors.ts";

/** One value to be computed for a request: on one tree or grid, with given decision times. */
export interface RightsTask {
  readonly request: RightsRequest;
  readonly times: readonly number[];
  readonly factors: FactorChain;
  value: number;
}

/** The values from which the estimate of a request is computed. */
export interface RightsTasks<T extends RightsTask> {
  readonly fine: T;
  readonly coarse: T;
  /** The coarse value with half of the dates of American exercise. */
  readonly half: T | undefined;
  /** The coarse value with other random numbers; undefined where there are none. */
  readonly resampled?: T | undefined;
}

/** A method that values exercise rights by dynamic programming on trees or grids. */
export interface RightsSolver<T extends RightsTask> {
  /** Returns the tasks of a request; `taskOf` makes one, with half of the dates of American exercise or with all. */
  tasksOf(request: RightsRequest, settings: RequestSettings, taskOf: (isHalf: boolean) => RightsTask): RightsTasks<T>;
  /** Returns the key of a task. The values of tasks with equal keys are computed together. */
  keyOf(task: T): string;
  /** Returns the values of tasks of one key. Early exercise is a swing of one unit. */
  valuesOf(tasks: readonly T[], settings: RequestSettings): Promise<Pick<SwingsResult, "value" | "error">>;
  /**
   * Returns the estimate of a request from the values of its tasks; `inDates` is the change of the value that another
   * doubling of the number of dates of American exercise would bring.
   */
  estimateOf(
    request: RightsRequest,
    tasks: RightsTasks<T>,
    inDates: number,
    settings: RequestSettings,
  ): ExerciseRightsEstimate;
}

/**
 * Computes the values of requests and stores them in the requests. `minShare` is passed to `chainOf`. @throws the
 * signal's reason; the error of a lost device
 */
export async function solveRights<T extends RightsTask>(
  solver: RightsSolver<T>,
  requests: readonly RightsRequest[],
  settings: RequestSettings,
  minShare?: number,
): Promise<void> {
  const open: { readonly request: RightsRequest; readonly tasks: RightsTasks<T> }[] = [];
  for (const request of requests) {
    if (request.failure !== undefined) continue;
    const known = exactEstimate(request);
    const taskOf = (isHalf: boolean): RightsTask => {
      const dates = datesOf(request.terms, isHalf);
      const times = dates[0] === 0 ? dates : [0, ...dates];
      // Where nothing is random there is an exact value.
      const factors = chainOf(request.terms.assets[0].volatility, times, minShare)!;
      return { request, times, factors, value: Number.NaN };
    };
    if (known === undefined) open.push({ request, tasks: solver.tasksOf(request, settings, taskOf) });
    else request.estimate = known;
  }
  const all = open.flatMap(({ tasks }) => Object.values(tasks).filter((task: T | undefined) => task !== undefined));
  for (const group of grouped(all, (task) => solver.keyOf(task)))
    await together(
      group,
      ({ request }) => request,
      settings,
      async (tasks) => {
        const { value, error } = await solver.valuesOf(tasks, settings);
        tasks.forEach((task, i) => {
          task.value = value[i];
          task.request.failure ??= error[i];
        });
      },
    );
  for (const { request, tasks } of open) {
    if (request.failure !== undefined) continue;
    const { coarse, half } = tasks;
    const inDates = half === undefined ? 0 : coarse.value - half.value;
    const estimate = solver.estimateOf(request, tasks, inDates, settings);
    const { terms, spots } = request;
    const today = isExercisable(terms) ? gainOf(terms, spots[0][0]) : Number.NEGATIVE_INFINITY;
    request.estimate = { ...estimate, values: estimate.values.map((held) => Math.max(held, today)) };
  }
}

/** Tells whether an option may be exercised at any time, which is approximated by exercise on dates. */
export const isAmerican = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind !== "swing" && exercise.kind === "american";

/** Returns the payoff at a spot: of one unit of a swing option, or of the exercise of another option. */
export function gainOf({ payoff }: Terms, spot: number): number {
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") throw new Error(`no rights: ${payoff.kind}`);
  return payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
}

/** Returns the least and the most units that the trade of a task must and may take, in the form of `quadrature`. */
export function boundsOf({ request: { terms } }: RightsTask): { readonly least: number; readonly most: number } {
  const { min, max } = unitsOf(terms);
  return { least: min, most: max };
}
