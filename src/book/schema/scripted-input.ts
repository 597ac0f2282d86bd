/** The type of a structured product in the form that users write. */
import type { ScriptInput } from "../../market/scripts/index.ts";
import type { Tags } from "../types.ts";
import type { TimeInput } from "./market-input.ts";
import type { DatesInput } from "./schedule.ts";

/** A datum of a script: a number, a date, a list of either, a schedule, or numbers by underlying of the script. */
type ScriptDatumInput = TimeInput | DatesInput | { readonly [underlying: string]: number };

/** A structured product, as a book contains it. docs/scripts.md describes scripts. @experimental */
export interface ScriptedInput {
  readonly id: string;
  /** The underlying of a script on one. */
  readonly underlying?: string | undefined;
  /** The underlyings: A, B and so on of the script, or by their names in it. */
  readonly underlyings?: readonly string[] | { readonly [name: string]: string } | undefined;
  /** The currency of its value; that of the first underlying by default. */
  readonly currency?: string | undefined;
  /** The script: the name of one of the market or of the library, or the script itself. */
  readonly script: string | ScriptInput;
  /** The data of the script by name. */
  readonly data?: { readonly [name: string]: ScriptDatumInput } | undefined;
  /** The initial fixings, S0 of the script. */
  readonly initial?: number | readonly number[] | { readonly [name: string]: number } | undefined;
  /** The date of the initial fixings, in place of these. */
  readonly start?: TimeInput | undefined;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}
