/** The schema of scripts; their texts are checked where a trade says which data they have. */
import type { ScriptInput, StateInput } from "../../market/scripts/index.ts";
import { checked, choose, finite, formula, isPlainObject, list, mapOf, name, object } from "./values.ts";

const date = choose("a date, a tenor, years from asOf, or a name of the data", { number: finite, string: name });

const STATE = 'a number, true, false, a name of the data or { "each" }';

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

/** The schema of a state's initial value. */
const stateValue = checked<StateInput>(
  STATE,
  {
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
  },
  (value) =>
    isNumber(value) ||
    typeof value === "boolean" ||
    (typeof value === "string" && value !== "") ||
    (isPlainObject(value) && Object.keys(value).join() === "each" && isNumber(value.each)),
);

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
