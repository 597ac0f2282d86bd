/** The schema of structured products: a script, its data and its underlyings. */
import * as z from "zod";
import { show } from "../names.ts";
import { parseTime, type TimeSpec } from "../time.ts";
import { scriptSchema } from "./script.ts";
import { dateForms } from "./schedule.ts";
import { choose, finite, list, mapOf, name, object, positive, tags, time, type Output } from "./values.ts";

/** The data of a script by kind; a list of numbers may be one of dates in years. */
export type ScriptDataSpec =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "numbers"; readonly values: readonly number[] }
  | { readonly kind: "each"; readonly values: ReadonlyMap<string, number> }
  | { readonly kind: "date"; readonly time: TimeSpec }
  | { readonly kind: "dates"; readonly times: readonly TimeSpec[] };

const datesOf = (times: readonly TimeSpec[]): ScriptDataSpec => ({ kind: "dates", times });

/** The schema of a date or tenor alone. */
const date = name.transform((text, context): TimeSpec => {
  const parsed = parseTime(text);
  if (parsed !== undefined) return parsed;
  context.addIssue({
    code: "custom",
    message: `expected an ISO date or instant, or a tenor (1Y, 6M), got ${show(text)}`,
  });
  return z.NEVER;
});

/** The schema of a datum of a script. */
export const scriptDatumSchema = choose(
  'a number, a date, a list of either, { "schedule" }, or numbers by underlying',
  {
    number: finite.transform((value): ScriptDataSpec => ({ kind: "number", value })),
    string: date.transform((of): ScriptDataSpec => ({ kind: "date", time: of })),
    list: list(time, "a list of numbers or dates, at least one", 1).transform((times): ScriptDataSpec => {
      const values = times.flatMap((one) => (one.kind === "years" ? [one.years] : []));
      return values.length === times.length ? { kind: "numbers", values } : datesOf(times);
    }),
    object: mapOf(finite, "numbers by underlying").transform((values): ScriptDataSpec => ({ kind: "each", values })),
    marked: { schedule: dateForms.marked.schedule.transform(datesOf) },
  },
);

/** The schema that validates a structured product. */
export const scriptedTradeSchema = object({
  id: name,
  underlying: name.optional(),
  underlyings: choose('a list of names, or names by those of the script, { "A": "ACME" }', {
    list: list(name, "a list of names, at least one", 1),
    object: mapOf(name, "names of underlyings by those of the script"),
  }).optional(),
  currency: name.optional(),
  script: choose('the name of a script, or { "state", "events" }', { string: name, object: scriptSchema }),
  data: mapOf(scriptDatumSchema, "an object of data by name").optional(),
  initial: choose("the initial fixing, or initial fixings by underlying of the script", {
    number: positive,
    list: list(positive, "a list of initial fixings, at least one", 1),
    object: mapOf(positive, "initial fixings by underlying of the script"),
  }).optional(),
  start: time.optional(),
  quantity: finite.optional(),
  tags: tags.optional(),
});

/** A structured product after validation by its schema, before its dates become years. */
export type ScriptedTradeSpec = Output<typeof scriptedTradeSchema>;
