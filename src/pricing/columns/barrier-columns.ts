import type { Barrier } from "../../book/index.ts";

/** The value of `schedule` for a barrier that is monitored continuously. */
export const CONTINUOUS = -1;

/**
 * The barriers of a batch's trades as typed arrays, with one entry for each barrier. The barriers of one trade in one
 * scenario date are consecutive.
 */
export class BarrierColumns {
  /** The flags (1) of barriers that are breached at the level or above; 0 for at the level or below. */
  readonly isUp: Uint8Array;
  /** The flags (1) of knock-ins. */
  readonly isKnockIn: Uint8Array;
  /** The flags (1) of barriers whose rebate is paid at expiry, not at the breach. */
  readonly paysAtExpiry: Uint8Array;
  readonly level: Float64Array;
  readonly rebate: Float64Array;
  /** The start of the period in which the barrier is monitored, in years from the date. */
  readonly from: Float64Array;
  /** The end of this period, in years from the date. */
  readonly to: Float64Array;
  /** The number of the list of its monitoring dates (`TradeColumns.schedule`), or `CONTINUOUS`. */
  readonly schedule: Int32Array;
  #count = 0;

  constructor(capacity: number) {
    this.isUp = new Uint8Array(capacity);
    this.isKnockIn = new Uint8Array(capacity);
    this.paysAtExpiry = new Uint8Array(capacity);
    this.level = new Float64Array(capacity);
    this.rebate = new Float64Array(capacity);
    this.from = new Float64Array(capacity);
    this.to = new Float64Array(capacity);
    this.schedule = new Int32Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  add({ type, level, rebate, rebateAt, from, to }: Barrier, schedule: number): void {
    const row = this.#count++;
    this.isUp[row] = type.startsWith("up") ? 1 : 0;
    this.isKnockIn[row] = type.endsWith("-in") ? 1 : 0;
    this.paysAtExpiry[row] = rebateAt === "expiry" ? 1 : 0;
    this.level[row] = level;
    this.rebate[row] = rebate;
    this.from[row] = from;
    this.to[row] = to;
    this.schedule[row] = schedule;
  }
}
