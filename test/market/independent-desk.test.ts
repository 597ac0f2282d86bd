/** Random schedules and swaps beside an independent program, of which `npm run check:desk` runs 10,000 each. */
import { expect, test } from "vitest";
import { differentSchedules, differentSwaps } from "../../tools/desk/compare.ts";

test("500 random schedules have the dates of an independent program", () => {
  expect(differentSchedules(500, 7)).toEqual([]);
});

test("200 random swaps, resetting ones too, have the value of an independent program", async () => {
  expect(await differentSwaps(200, 7)).toEqual([]);
});
