/** Scripts as books contain them, and the kinds of data that they refer to. */

/** A date of an event: an ISO date, a tenor, or years from `asOf`. */
export type ScriptDate = string | number;

/** The initial value of a state: a number, a flag, the name of a number of the data, or one for each underlying. */
export type StateInput = number | boolean | string | { readonly each: number };

/** An event of a script, as a book contains it. @experimental */
export interface EventInput {
  /** The dates: the name of a date or a list of dates of the data, a date, or a list of dates. */
  readonly on: ScriptDate | readonly ScriptDate[];
  /** The statements that run on each of the dates. */
  readonly do: string;
}

/**
 * A script, as a book contains it: numbers that are carried from event to event, and what happens on dates.
 * docs/scripts.md describes the language.
 * @experimental
 */
export interface ScriptInput {
  /** The numbers and flags that are carried from event to event, with their initial values; none by default. */
  readonly state?: { readonly [name: string]: StateInput } | undefined;
  readonly events: readonly EventInput[];
}

/**
 * The kinds of data of a trade: a number; a list of numbers, one for each date of an event; one number for each
 * underlying; a date or a list of dates.
 */
export type DataKind = "number" | "numbers" | "each" | "date" | "dates";

/** The kinds of a trade's data by name. */
export type DataKinds = ReadonlyMap<string, DataKind>;
