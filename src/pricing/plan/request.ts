/** Requests of a plan to a method, and its answers. */
import { DeviceLostError } from "../../base/errors.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultMethod } from "../columns/result-columns.ts";
import type { Greeks } from "../options.ts";
import type { Terms } from "../terms.ts";
import type { TimeBudget } from "./method.ts";
import type { Differences, Measured } from "./differences.ts";

export type { Measured } from "./differences.ts";

/** The answer of a method to a request. */
export interface Estimate {
  /** The value at each requested spot. */
  readonly values: readonly number[];
  /** The error estimate of each value. */
  readonly errors: readonly number[];
  /**
   * The error that refinement does not reduce: of a leverage function, or of steps at their limit. It is added to the
   * result's estimate.
   */
  readonly bias?: number;
  readonly method: ResultMethod;
  /** The bits of `WARNING` of the values. */
  readonly warnings?: number;
  /** True where the values depend on the seed of random numbers. */
  readonly isSampled?: boolean;
}

/** A request for the values of a trade in one case of the scenarios, or of a bumped copy of it. */
export interface Request<E extends Estimate> {
  /** The trade's index in the batch. */
  readonly trade: number;
  readonly terms: Terms;
  /** The spots at which values are wanted, [number][underlying]. */
  readonly spots: readonly (readonly number[])[];
  /**
   * The request of which this is a bumped copy. It must use the same mesh, tree or random numbers, so that errors
   * cancel in differences.
   */
  readonly original: Request<E> | undefined;
  /** The level of refinement, whose meaning each method defines. */
  level: number;
  /** The sensitivities to compute together with the values, for methods that compute both at once. */
  differences: Differences | undefined;
  /** The answer, once there is one. */
  estimate: E | undefined;
  /** The error, if the request has failed. */
  failure: unknown;
}

/** Returns a request that is not answered yet. */
export const newRequest = <E extends Estimate>(
  given: Pick<Request<E>, "trade" | "terms" | "spots" | "original" | "level">,
): Request<E> => ({ ...given, differences: undefined, estimate: undefined, failure: undefined });

/** The settings that all requests of a batch have in common. */
export interface RequestSettings {
  /** The target error, relative to the largest spot times the number of units. */
  readonly accuracy: number;
  readonly precision: Precision;
  readonly seed: number;
  readonly budget: TimeBudget;
  readonly signal: AbortSignal | undefined;
}

/** A method as `ValuationPlan` sees it: it answers requests and predicts the cost of a finer answer. */
export interface Estimator<E extends Estimate> {
  /** The default target error, relative to the largest spot. */
  readonly accuracy: number;
  /** The smallest relative error to aim at in f32. */
  readonly accuracyOfF32: number;
  /** The warning (`WARNING`) of values that are less accurate than requested. */
  readonly limited: number;
  /** True where one solution gives the values at all spots of a case. */
  readonly servesAllSpots: boolean;
  /**
   * True where sensitivities are computed together with the values; false where each bumped copy is a request of its
   * own.
   */
  readonly findsDifferences: boolean;
  /**
   * True where every case of the scenarios is refined by its own error; false where all have the level of today's
   * value.
   */
  readonly refinesEach: boolean;
  /** Answers requests at their levels of refinement. @throws the signal's reason; the error of a lost device */
  estimate(requests: readonly Request<E>[], settings: RequestSettings): Promise<void>;
  /**
   * Returns the level at which an error that is now `ratio` times too large is small enough; the request's own level if
   * there is none finer.
   */
  finerLevel(request: Request<E>, ratio: number): number;
  /** Returns the computing time of level `to`, relative to that of all levels up to `from`. */
  growth(request: Request<E>, from: number, to: number): number;
  /** Returns the level of refinement of a request's bumped copies. */
  copyLevel(request: Request<E>): number;
  /**
   * Returns the bumped copies for the requested sensitivities. `later` returns the terms some years later, or undefined
   * where the trade is settled by then.
   */
  differencesOf(today: Request<E>, greeks: Greeks, later: (years: number) => Terms | undefined): Differences;
  /** Returns the function that tells which first derivatives, by name, are taken along paths; none without it. */
  smoothAlongPaths?(terms: Terms, spots: readonly number[]): (measure: string) => boolean;
  /**
   * Returns all sensitivities by name. Those along directions (`ALONG`) have error estimates of the method alone, NaN
   * where it has none.
   */
  measuresOf(today: Request<E>, differences: Differences, copies: readonly Request<E>[]): ReadonlyMap<string, Measured>;
}

/** Returns the target error of a request's values in the currency, for a relative accuracy. */
export function targetOf({ assets, payoff }: Terms, accuracy: number): number {
  if (payoff.kind === "script") return accuracy * payoff.unit;
  const units = payoff.kind === "swing" ? Math.max(Math.min(payoff.max, payoff.times.length), 1) : 1;
  return accuracy * Math.max(...assets.map(({ underlying }) => underlying.spot)) * units;
}

/**
 * Runs `job` for tasks that are computed together, and adds its time to the budget of their trades. If it throws, the
 * requests of all tasks fail with this error. @throws the signal's reason; the error of a lost device
 */
export async function together<T>(
  tasks: readonly T[],
  requestOf: (task: T) => { readonly trade: number; failure: unknown },
  { budget, signal }: RequestSettings,
  job: (tasks: readonly T[]) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  try {
    await budget.spend(
      tasks.map((task) => requestOf(task).trade),
      () => job(tasks),
    );
  } catch (error) {
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    for (const task of tasks) requestOf(task).failure ??= error;
  }
}

/** Groups tasks by key, in the order in which keys first occur. */
export function grouped<T>(tasks: Iterable<T>, keyOf: (task: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const task of tasks) {
    const key = keyOf(task);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [task]);
    else group.push(task);
  }
  return [...groups.values()];
}
