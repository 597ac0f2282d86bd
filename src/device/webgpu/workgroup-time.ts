/**
 * The time that a workgroup of a kernel takes, measured from the submissions that contained it. A submission that runs
 * for seconds freezes a browser's screen, and some drivers abort it, so launches are divided by these estimates.
 */

/** The planned duration of a submission in ms. It is half of the 100 ms allowed, because estimates are inexact. */
export const SUBMISSION_BUDGET_MS = 50;

/** The number of workgroups of the first dispatch of a kernel that has not been measured. */
const firstPiece = 64;

/**
 * The factor by which a dispatch may be larger than anything measured. Work may be unevenly distributed over the
 * workgroups.
 */
const growth = 16;

/**
 * The lower and upper bounds of a time in ms that could not be measured exactly. The host notices the end of a
 * submission only when its event loop runs, and a program that goes on recording commands therefore learns only bounds.
 */
export interface TimeBounds {
  readonly atLeast: number;
  readonly atMost: number;
}

/** The measured time of a workgroup of a kernel, from which the time of later launches is predicted. */
export class WorkgroupTime {
  #msPerGroup: number | undefined;
  #largest = 0;

  get measured(): boolean {
    return this.#msPerGroup !== undefined;
  }

  /**
   * Returns the predicted time in ms of a number of workgroups. It is 0 if it is unknown; such a launch is submitted
   * alone.
   */
  predict(groups: number): number {
    return groups * (this.#msPerGroup ?? 0);
  }

  /**
   * The largest number of workgroups that may be submitted on the basis of the measurements. A larger launch waits
   * until this many have been measured.
   */
  get trusted(): number {
    return this.#msPerGroup === undefined ? firstPiece : growth * this.#largest;
  }

  /** Returns the number of workgroups that are expected to take at most `ms`. */
  within(ms: number): number {
    return this.#msPerGroup === undefined ? firstPiece : Math.floor(ms / this.#msPerGroup);
  }

  /** Takes account of a measurement. A slower one is adopted at once, a faster one by half. */
  observe({ atLeast, atMost }: TimeBounds, groups: number): void {
    const [low, high] = [atLeast / groups, atMost / groups];
    // `trusted` bounds the damage of taking the lower bound for the truth.
    const old = this.#msPerGroup ?? low;
    this.#msPerGroup = Math.max(1e-9, low > old ? low : high < old ? (old + high) / 2 : old);
    this.#largest = Math.max(this.#largest, groups);
  }
}

/** The predicted duration of a submission in ms, with the kernels that it runs. */
export class SubmissionEstimate {
  readonly #groups = new Map<WorkgroupTime, number>();
  predicted = 0;

  add(workgroupTime: WorkgroupTime, groups: number): void {
    this.#groups.set(workgroupTime, (this.#groups.get(workgroupTime) ?? 0) + groups);
    this.predicted += workgroupTime.predict(groups);
  }

  /** Divides the measured time among the kernels in proportion to the predictions. */
  observe(measured: TimeBounds): void {
    const { predicted } = this;
    for (const [workgroupTime, groups] of this.#groups) {
      const share = this.#groups.size === 1 || predicted === 0 ? 1 : workgroupTime.predict(groups) / predicted;
      workgroupTime.observe({ atLeast: share * measured.atLeast, atMost: share * measured.atMost }, groups);
    }
  }
}
