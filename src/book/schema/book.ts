/** The schema of a whole book. */
import * as z from "zod";
import { METHOD_NAMES } from "../methods.ts";
import { marketSchema } from "./market.ts";
import { convertibleTradeSchema } from "./convertible.ts";
import { scenariosSchema } from "./scenarios.ts";
import { ratesTradeSchema } from "./rates.ts";
import { basketTradeSchema, tradeSchema } from "./trade.ts";
import { asOf, choose, formsOf, list, object, valuesOf, wholeNumber, word } from "./values.ts";

/** The schema of any trade: on one or several underlyings, on the rates of a currency, or a convertible bond. */
const anyTradeSchema = choose("a trade (an object)", {
  marked: {
    underlyings: basketTradeSchema,
    currency: ratesTradeSchema,
    convertible: convertibleTradeSchema,
    id: tradeSchema,
  },
});

/** The schema that validates a whole book. */
export const bookSchema = object({
  /** The place at which an editor finds the format's JSON Schema. */
  $schema: z.string({ error: "expected the address of a JSON Schema, a string" }).optional(),
  asOf,
  market: marketSchema,
  trades: list(anyTradeSchema, "a list of trades"),
  scenarios: scenariosSchema.optional(),
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
        const forms = formsOf.get(zodSchema);
        const values = valuesOf.get(zodSchema);
        if (forms !== undefined) jsonSchema.anyOf = forms.map(inner);
        if (values !== undefined) jsonSchema.additionalProperties = inner(values);
      },
    });
  const inner = (schema: z.ZodType): Json => {
    const { $schema: _, ...rest } = convert(schema);
    return rest;
  };
  return { title: "A book of trades for Feynkac", ...convert(bookSchema) };
}
