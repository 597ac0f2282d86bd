/** The schema of a whole book. */
import * as z from "zod";
import { METHOD_NAMES } from "../methods.ts";
import { marketSchema } from "./market.ts";
import { linearForms } from "./linear.ts";
import { ratesTradeSchema } from "./rates.ts";
import { namedScenariosSchema } from "./scenarios.ts";
import { originOf, REFUSED, ZodBacked } from "./schema.ts";
import { scriptedTradeSchema } from "./scripted.ts";
import { basketTradeSchema, convertibleTradeSchema, forwardTradeSchema, tradeSchema } from "./trade.ts";
import { asOf, choose, list, object, wholeNumber, word, mapOf, numberWhere, time, type Output } from "./values.ts";

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
export type ScenariosSpec = Output<typeof scenariosSchema>;

/** The schema of any trade: on one or several underlyings, on rates, a convertible bond, a forward, or a swap. */
const anyTradeSchema = choose("a trade (an object)", {
  marked: {
    script: scriptedTradeSchema,
    underlyings: basketTradeSchema,
    currency: ratesTradeSchema,
    convertible: convertibleTradeSchema,
    forward: forwardTradeSchema,
    ...linearForms,
    id: tradeSchema,
  },
});

const address = new ZodBacked(
  (value) => (typeof value === "string" ? value : REFUSED),
  () => z.string({ error: "expected the address of a JSON Schema, a string" }),
);

/** The schema that validates a whole book. */
export const bookSchema = object({
  /** The place at which an editor finds the format's JSON Schema. */
  $schema: address.optional(),
  asOf,
  market: marketSchema,
  trades: list(anyTradeSchema, "a list of trades"),
  scenarios: choose('axes of scenarios, { "spot": [-0.1, 0.1] }, or a list of named scenarios', {
    object: scenariosSchema,
    list: namedScenariosSchema,
  }).optional(),
  method: word(METHOD_NAMES).optional(),
  seed: wholeNumber.optional(),
});

type Json = z.core.JSONSchema.BaseSchema;

/**
 * Returns the JSON Schema (draft 2020-12) of a book. The parser also checks the calendar, names, the order of dates,
 * and formulas.
 */
export function bookJsonSchema(): Record<string, unknown> {
  const convert = (schema: z.ZodType): Json =>
    z.toJSONSchema(schema, {
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const { forms, values } = originOf(zodSchema)?.inside ?? {};
        if (forms !== undefined) jsonSchema.anyOf = forms.map(({ zod }) => inner(zod));
        if (values !== undefined) jsonSchema.additionalProperties = inner(values.zod);
      },
    });
  const inner = (schema: z.ZodType): Json => {
    const { $schema: _, ...rest } = convert(schema);
    return rest;
  };
  return { title: "A book of trades for Feynkac", ...convert(bookSchema.zod) };
}
