/** Messages of the schemas are sentences of the project, never raw text of the library that validates. */
import { expect, test } from "vitest";
import type { ZodType } from "zod";
import {
  basketTradeSchema,
  bookSchema,
  convertibleTradeSchema,
  ratesTradeSchema,
  tradeSchema,
} from "../../src/book/schema/index.ts";
import { originOf } from "../../src/book/schema/schema.ts";
import { explainOptionsSchema, priceOptionsSchema } from "../../src/service/http/requests.ts";

/** Adds a schema and all schemas inside it. */
function collect(schema: ZodType, all: Set<ZodType>): Set<ZodType> {
  if (all.has(schema)) return all;
  all.add(schema);
  const {
    shape,
    innerType,
    element,
    in: first,
    items,
  } = schema.def as never as Record<string, ZodType | undefined> & {
    items?: readonly ZodType[];
  };
  const inside = [...Object.values(shape ?? {}), innerType, element, first, ...(items ?? [])];
  const { forms = [], values } = originOf(schema)?.inside ?? {};
  for (const one of [...inside, ...forms.map(({ zod }) => zod), values?.zod])
    if (one !== undefined) collect(one as ZodType, all);
  return all;
}

test("whatever is wrong, the message says what is expected and what was got", () => {
  const roots = [bookSchema, tradeSchema, basketTradeSchema, ratesTradeSchema, convertibleTradeSchema];
  const all = [...roots.map(({ zod }) => zod), priceOptionsSchema, explainOptionsSchema].reduce(
    (found, schema) => collect(schema as ZodType, found),
    new Set<ZodType>(),
  );
  expect(all.size).toBeGreaterThan(400);
  const wrong = [null, 1, -1, 1e9, true, "", "x", [], [1, 2, 3, 4], [[]], [["a"]], {}, { a: 1 }];
  const messages = [...all].flatMap((schema) =>
    wrong.flatMap((value) => schema.safeParse(value).error?.issues.map(({ message }) => message) ?? []),
  );
  expect(messages.length).toBeGreaterThan(2000);
  expect(messages.filter((message) => !/^(expected |unknown field)/.test(message))).toEqual([]);
});
