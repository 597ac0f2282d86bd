/** Trades in the middle of their lives and at their ends, priced as books, beside published reference cases. */
import { expect, it } from "vitest";
import type { Case } from "../../tools/reference/case.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

const { cases } = readFixture("reference/life_cycle.json") as { readonly cases: readonly Case[] };

it.each(cases.map((one) => [one.id, one.product, one] as const))("%s %s", async (_, __, one) => {
  expect(await checked(one)).toEqual([]);
});
