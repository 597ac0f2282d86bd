/** Requests of a plan to a method, and its answers. */
import { DeviceLostError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import type { ResultMethod } from "../columns/result-columns.ts";
import type { Greeks } from "../options.ts";
import type { Terms } from "../terms.ts";
import type { TimeBudget } from "../time-budget.ts";
import type { Differences } from "./differences.ts";

/** A number and the estimate of its error. */
export interface Measured {
  readonly value: number;
  /** The error estimate; NaN where it is unknown. */
  readonly error: number;
}

/** The answer to a request. */
export interface Estimate {
  /** The values by spot. */
  readonly values: readonly number[];
  /** The error estimates of the values. */
  readonly errors: readonly number[];
  /** The error of a leverage, which refinement does not reduce; the result's estimate adds it to `errors`. */
  readonly bias?: number;
  readonly method: ResultMethod;
  /** The bits of `WARNING` of the values. */
  readonly warnings?: number;
  /** True where the values depend on the seed. */
  readonly isSampled?: boolean;
}

/** A case of a trade, or a bumped copy of one, whose values a method computes. */
export interface Request<E extends Estimate> {
  /** The trade's index in the batch. */
  readonly trade: number;
  readonly terms: Terms;
  /** The spots of all underlyings at which values are wanted. */
  readonly spots: readonly (readonly number[])[];
  /**
   * The request of which it is a copy, with the same mesh, tree or random numbers, so that errors cancel in a
   * difference.
   */
  readonly original: Request<E> | undefined;
  /** The level of refinement, defined by each method. */
  level: number;
  /** The sensitivities to compute with the values, if the method computes both at once. */
  differences: Differences | undefined;
  estimate: E | undefined;
  failure: unknown;
}

/** Returns a request without an answer. */
export const newRequest = <E extends Estimate>(
  given: Pick<Request<E>, "trade" | "terms" | "spots" | "original" | "level">,
): Request<E> => ({ ...given, differences: undefined, estimate: undefined, failure: undefined });

/** The common settings of a batch's requests. */
export interface RequestSettings {
  /** The target error, relative to the largest spot and the units. */
  readonly accuracy: number;
  readonly precision: Precision;
  readonly seed: number;
  readonly budget: TimeBudget;
  readonly signal: AbortSignal | undefined;
}

/** A method as the plan sees it: it answers requests and predicts the cost of a finer answer. */
export interface Estimator<E extends Estimate> {
  /** The default target error, relative to the largest spot. */
  readonly accuracy: number;
  readonly accuracyOfF32: number;
  /** The bits of `WARNING` of values that are less accurate than requested. */
  readonly limited: number;
  /** True where one solution serves all spots of a case. */
  readonly servesAllSpots: boolean;
  /** True where sensitivities are computed with the values, false where each copy is a request. */
  readonly findsDifferences: boolean;
  /** True where every case is refined by its own error, false where all take the level of today's. */
  readonly refinesEach: boolean;
  /** Answers requests at their levels. @throws the signal's reason; the error of a lost device */
  estimate(requests: readonly Request<E>[], settings: RequestSettings): Promise<void>;
  /**
   * Returns the level at which an error that is `ratio` times too large is small enough; the request's own if there is
   * none finer.
   */
  finerLevel(request: Request<E>, ratio: number): number;
  /** Returns the time of a finer level relative to all levels before it. */
  growth(request: Request<E>, from: number, to: number): number;
  /** Returns the level of the copies of a request. */
  copyLevel(request: Request<E>): number;
  /**
   * Returns the sensitivities that are differences of values. `later` returns the terms some years later, or undefined
   * where the trade is settled by then.
   */
  differencesOf(today: Request<E>, greeks: Greeks, later: (years: number) => Terms | undefined): Differences;
  /** Returns all sensitivities by the names of their measures. */
  measuresOf(today: Request<E>, differences: Differences, copies: readonly Request<E>[]): ReadonlyMap<string, Measured>;
}

/** Returns the target error of a request's values in the currency. */
export function targetOf({ assets, payoff }: Terms, accuracy: number): number {
  const units = payoff.kind === "swing" ? Math.max(Math.min(payoff.max, payoff.times.length), 1) : 1;
  return accuracy * Math.max(...assets.map(({ underlying }) => underlying.spot)) * units;
}

/**
 * Runs a job for all tasks with the same key together. An error fails their requests. @throws the signal's reason; the
 * error of a lost device
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

/** Groups tasks by key, in the order in which the keys occur. */
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
