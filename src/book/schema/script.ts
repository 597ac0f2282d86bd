/** The schema of scripts; their texts are checked where a trade says which data they have. */
import * as z from "zod";
import type { ScriptInput, StateInput } from "../../market/scripts/index.ts";
import { show } from "../names.ts";
import { choose, finite, formula, isPlainObject, list, mapOf, name, object, type Schema } from "./values.ts";

const date = choose("a date, a tenor, years from asOf, or a name of the data", { number: finite, string: name });

const STATE = 'a number, true, false, a name of the data or { "each" }';

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

/** The schema of a state's initial value. */
const stateValue: Schema<StateInput> = z
  .custom<StateInput>(
    (value) =>
      isNumber(value) ||
      typeof value === "boolean" ||
      (typeof value === "string" && value !== "") ||
      (isPlainObject(value) && Object.keys(value).join() === "each" && isNumber(value.each)),
    { error: ({ input }) => `expected ${STATE}, got ${show(input)}` },
  )
  .meta({
    description: STATE,
    anyOf: [
      { type: ["number", "boolean"] },
      { type: "string", minLength: 1 },
      {
        type: "object",
        properties: { each: { type: "number" } },
        required: ["each"],
        additionalProperties: false,
      },
    ],
  });

/** The schema that validates a script. */
export const scriptSchema = object({
  state: mapOf(stateValue, "an object of initial values by name").optional(),
  events: list(
    object({
      on: choose("a name of the data, a date, or a list of dates", {
        number: finite,
        string: name,
        list: list(date, "a list of dates, at least one", 1),
      }),
      do: formula,
    }),
    'a list of { "on", "do" }, at least one',
    1,
  ),
}).transform(({ state, events }): ScriptInput => ({
  ...(state === undefined ? {} : { state: Object.fromEntries(state) }),
  events,
}));
