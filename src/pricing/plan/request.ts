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
  /** NaN where the method does not know. */
  readonly error: number;
}

/** The answer to a request. */
export interface Estimate {
  /** The values by spot. */
  readonly values: readonly number[];
  /** The error estimates of the values. */
  readonly errors: readonly number[];
  /** The error of a leverage, which no refinement takes away: the result's estimate has it beside `errors`. */
  readonly bias?: number;
  readonly method: ResultMethod;
  /** The bits of `WARNING` that the values deserve. */
  readonly warnings?: number;
  /** True where the values depend on the seed. */
  readonly isSampled?: boolean;
}

/** A case of a trade, or a moved copy of one, whose values a method is asked for. */
export interface Request<E extends Estimate> {
  /** The trade's place in the batch. */
  readonly trade: number;
  readonly terms: Terms;
  /** The spots of all underlyings at which values are wanted. */
  readonly spots: readonly (readonly number[])[];
  /** The request that it is a copy of, whose mesh, tree or random numbers it has: errors cancel in a difference. */
  readonly original: Request<E> | undefined;
  /** The fineness; each method says what a level is. */
  level: number;
  /** The sensitivities that are to be found beside the values, if the method finds both at once. */
  differences: Differences | undefined;
  estimate: E | undefined;
  failure: unknown;
}

export const newRequest = <E extends Estimate>(
  given: Pick<Request<E>, "trade" | "terms" | "spots" | "original" | "level">,
): Request<E> => ({ ...given, differences: undefined, estimate: undefined, failure: undefined });

/** The settings that the requests of a batch have in common. */
export interface RequestSettings {
  /** The error to aim at, relative to the largest spot and the units. */
  readonly accuracy: number;
  readonly precision: Precision;
  readonly seed: number;
  readonly budget: TimeBudget;
  readonly signal: AbortSignal | undefined;
}

/** A method as the plan sees it: it answers requests, and says what a finer answer costs. */
export interface Estimator<E extends Estimate> {
  /** The error to aim at where nothing is said, and the least error in f32, both relative to the largest spot. */
  readonly accuracy: number;
  readonly accuracyOfF32: number;
  /** The bits of `WARNING` of values that are less accurate than they should be. */
  readonly limited: number;
  /** True where one solution serves all spots of a case. */
  readonly servesAllSpots: boolean;
  /** True where sensitivities are found beside the values, false where each copy is a request of its own. */
  readonly findsDifferences: boolean;
  /** True where every case is refined by its own error, false where all take the level of today's. */
  readonly refinesEach: boolean;
  /** Answers requests at their levels. @throws the signal's reason; what the device throws when it is lost */
  estimate(requests: readonly Request<E>[], settings: RequestSettings): Promise<void>;
  /** The level at which an error that is `ratio` times too large is small enough; its own if there is none finer. */
  finerLevel(request: Request<E>, ratio: number): number;
  /** The time that a finer level takes, relative to all before it. */
  growth(request: Request<E>, from: number, to: number): number;
  /** The level of the copies of a request. */
  copyLevel(request: Request<E>): number;
  /**
   * The sensitivities that are differences of values. `later`: the terms some years later, undefined where the trade is
   * settled by then.
   */
  differencesOf(today: Request<E>, greeks: Greeks, later: (years: number) => Terms | undefined): Differences;
  /** All sensitivities by the names of their measures. */
  measuresOf(today: Request<E>, differences: Differences, copies: readonly Request<E>[]): ReadonlyMap<string, Measured>;
}

/** The error of a request's values that is small enough, in the currency. */
export function targetOf({ assets, payoff }: Terms, accuracy: number): number {
  const units = payoff.kind === "swing" ? Math.max(Math.min(payoff.max, payoff.times.length), 1) : 1;
  return accuracy * Math.max(...assets.map(({ underlying }) => underlying.spot)) * units;
}

/**
 * Does a job for all tasks of a key together. What it throws is the failure of their requests.
 * @throws the signal's reason; what the device throws when it is lost
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

/** Tasks by their key, in the order in which the keys occur. */
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
