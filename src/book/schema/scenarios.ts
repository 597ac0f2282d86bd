/** The schema of the scenario axes of a book. */
import type * as z from "zod";
import { choose, list, mapOf, numberWhere, object, time, word } from "./values.ts";

const spotShift = numberWhere("a relative shift above −1 (−0.1 is −10 %)", { exclusiveMinimum: -1 });
const absoluteShift = numberWhere("a shift between −100 and 100 (0.01 is 1 %)", { minimum: -100, maximum: 100 });

const spotShifts = list(spotShift, "a list of relative spot shifts, at least one", 1);

/** The schema of spot shifts: one list for all underlyings, or a list for each underlying that is shifted. */
const spotSchema = choose('a list of relative spot shifts, or such a list by underlying, { "ACME": [-0.1, 0.1] }', {
  list: spotShifts,
  object: mapOf(spotShifts, "lists of relative spot shifts by underlying"),
});

/** The schema that validates the scenarios of a book. */
export const scenariosSchema = object({
  time: list(time, "a list of dates or years from asOf, at least one", 1).optional(),
  spot: spotSchema.optional(),
  volatility: list(absoluteShift, "a list of volatility shifts, at least one", 1).optional(),
  rate: list(absoluteShift, "a list of rate shifts, at least one", 1).optional(),
  quotes: word(["sticky-strike", "sticky-delta", "sticky-local-volatility"]).optional(),
});

/** The scenarios of a book after validation by their schema. */
export type ScenariosSpec = z.infer<typeof scenariosSchema>;
