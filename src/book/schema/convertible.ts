/** The schemas of convertible bonds and of issuer credit. */
import type * as z from "zod";
import { volatilitySchema } from "./market.ts";
import {
  choose,
  finite,
  isPlainObject,
  list,
  name,
  notNegative,
  object,
  positive,
  rate,
  tags,
  time,
  wholeNumberFrom,
  word,
} from "./values.ts";

const call = choose('{ "date", "price", "trigger" } or { "from", "to", "price", "trigger" }', {
  marked: {
    date: object({ date: time, price: positive, trigger: notNegative.optional() }).transform(({ date, ...rest }) => ({
      from: date,
      to: date,
      ...rest,
    })),
    from: object({ from: time, to: time, price: positive, trigger: notNegative.optional() }),
  },
});

const put = choose('{ "date", "price" } or { "from", "to", "price" }', {
  marked: {
    date: object({ date: time, price: positive }).transform(({ date, price }) => ({ from: date, to: date, price })),
    from: object({ from: time, to: time, price: positive }),
  },
});

const conversion = choose('"american", "european", "none", a list of dates or { "from", "to" }', {
  string: word(["american", "european", "none"]).transform((kind) => ({ kind })),
  list: list(time, "a list of dates, at least one", 1).transform((times) => ({ kind: "dates" as const, times })),
  marked: {
    from: object({ from: time, to: time }).transform((window) => ({ kind: "window" as const, ...window })),
  },
});

/** The schema that validates a convertible bond. */
export const convertibleTradeSchema = object({
  id: name,
  underlying: name,
  convertible: object({
    maturity: time,
    coupon: rate.optional(),
    frequency: wholeNumberFrom(1, 365, "payments a year, a whole number from 1 to 365").optional(),
    notional: positive,
    ratio: notNegative,
    conversion: conversion.optional(),
    calls: list(call, 'a list of { "date", "price" } or { "from", "to", "price" }').optional(),
    puts: list(put, 'a list of { "date", "price" } or { "from", "to", "price" }').optional(),
    calledCashComponent: word(["callPrice", "zero"]).optional(),
  }),
  volatility: volatilitySchema.optional(),
  quantity: finite.optional(),
  tags: tags.optional(),
});

/** A convertible bond after validation by its schema, before its dates become years. */
export type ConvertibleTradeSpec = z.infer<typeof convertibleTradeSchema>;

/** Tells whether an entry of a book's list of trades is a convertible bond. */
export function isConvertibleEntry(value: unknown): boolean {
  return isPlainObject(value) && Object.hasOwn(value, "convertible");
}
