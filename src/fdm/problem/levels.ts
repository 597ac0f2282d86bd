/** Prices at which something happens to a trade once the spot has reached them. */

/**
 * A price that is breached once the spot is on or past it: monitored at all times from `from` to `to`, both included,
 * or at `times` only. Times are in years from today.
 */
export interface MonitoredLevel {
  readonly side: "up" | "down";
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** The dates of monitoring, increasing, 0 … expiry; undefined for one that is monitored continuously. */
  readonly times: readonly number[] | undefined;
}

/** A barrier that ends a trade when breached. */
export interface KnockOut extends MonitoredLevel {
  /** The amount paid after a breach, at once or at expiry. */
  readonly rebate: number;
  readonly rebateAt: "hit" | "expiry";
  /** True where the mesh continues beyond the barrier, because another problem is solved on it. */
  readonly open: boolean;
}

/**
 * The knock-ins of a trade: until one of `levels` is breached it cannot be exercised; if none ever is, `rebate` is paid
 * at expiry.
 */
export interface KnockIns {
  readonly levels: readonly MonitoredLevel[];
  readonly rebate: number;
}

/** The tolerance for equal dates, as a fraction of the life. */
export const SAME_DATE = 1e-9;
