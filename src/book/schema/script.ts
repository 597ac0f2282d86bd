/** The schema of scripts; their texts are checked where a trade says which data they have. */
import type { ScriptInput } from "../../market/scripts/index.ts";
import { choose, finite, formula, list, mapOf, name, object, type Schema, trueOrFalse } from "./values.ts";

const date = choose("a date, a tenor, years from asOf, or a name of the data", { number: finite, string: name });

const initial = choose('a number, true, false, a name of the data or { "each" }', {
  number: finite,
  string: name,
  object: object({ each: finite }),
});

/** The schema of a state's initial value; `choose` has no form for true and false. */
const stateValue = trueOrFalse.or(initial);

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
})) as unknown as Schema<ScriptInput>;
