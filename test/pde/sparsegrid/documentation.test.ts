/** The examples of docs/sparsegrid.md. */
import { expect, test } from "vitest";
import { examplesOf, runExample } from "../../support/documentation.ts";

const examples = examplesOf("docs/sparsegrid.md");

test.each(examples.map((code, i) => [i + 1, code] as const))("example %i prints what its comments say", (_, code) => {
  const { said, printed, errors } = runExample(code);
  expect(errors).toBe("");
  expect(printed).toEqual(said);
});

test("there are examples", () => expect(examples.length).toBeGreaterThan(1));
