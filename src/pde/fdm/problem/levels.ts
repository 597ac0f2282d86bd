/** Prices at which something happens to a trade once the spot has reached them. */

/**
 * A barrier: a price that is breached once the spot is on or beyond it. It is monitored at all times from `from` to
 * `to`, both included, or at `times` only. Times are in years from today.
 * @experimental
 */
export interface MonitoredLevel {
  /** The side on which the breach lies: "up" is at the level or above. */
  readonly side: "up" | "down";
  /** The level as a price of the underlying. */
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** The dates of monitoring, increasing, in 0 … expiry; undefined for continuous monitoring. */
  readonly times: readonly number[] | undefined;
}

/** A barrier that ends a trade when it is breached. @experimental */
export interface KnockOut extends MonitoredLevel {
  /** The amount paid after a breach. */
  readonly rebate: number;
  /** The time of the payment: at the breach ("hit") or at expiry. */
  readonly rebateAt: "hit" | "expiry";
  /** True where the mesh must continue beyond the barrier, because another problem is solved on the same mesh. */
  readonly open: boolean;
}

/**
 * The knock-ins of a trade. Until one of the `levels` is breached the trade cannot be exercised; if none is ever
 * breached, `rebate` is paid at expiry.
 */
export interface KnockIns {
  readonly levels: readonly MonitoredLevel[];
  readonly rebate: number;
}

/** The tolerance within which two dates are equal, as a fraction of the life. @experimental */
export const SAME_DATE = 1e-9;
