/** What a structured product is after reading: its script, its data, and what its past has left. */
import type { Conversion, Program } from "../market/scripts/index.ts";

/** A date of a script that is still to come, or is today. */
export interface ScriptDateTerms {
  /** The time in years, ≥ 0. */
  readonly time: number;
  /**
   * The numbers of the date, in the order of `Program.columns`; those of later payments are the times in years at which
   * they are paid.
   */
  readonly dated: readonly number[];
}

/** A payment that is known. */
export interface OwedPayment {
  /** The time in years. */
  readonly time: number;
  readonly amount: number;
  /** What converts it to the trade's currency; undefined where it is in that. */
  readonly rate: Conversion | undefined;
}

/** What a script pays from now on: the script, its data, and what its past has left. */
export interface ScriptPayoff {
  readonly kind: "script";
  readonly program: Program;
  /** The numbers of the data, in the order of `Program.scalars`. */
  readonly scalars: readonly number[];
  /** The dates from today on, increasing. */
  readonly dates: readonly ScriptDateTerms[];
  /** The numbers that the script carries after its past dates. */
  readonly running: readonly number[];
  /** The payments that were decided in the past and are still to come, with their times in years. */
  readonly owed: readonly OwedPayment[];
  /** The amount that accuracies are relative to: the notional of the data, or else the largest spot. */
  readonly unit: number;
}
