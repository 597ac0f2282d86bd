/** The examples of docs/quantization.md. */
import { beforeAll, expect, test } from "vitest";
import { examplesOf, runExamples } from "../../support/documentation.ts";

const examples = examplesOf("docs/quantization.md");

let outcomes: ReturnType<typeof runExamples> = [];
beforeAll(() => void (outcomes = runExamples(examples)));

test.each(examples.map((_, i) => i + 1))("example %i prints what its comments say", (i) => {
  const { said, printed, errors } = outcomes[i - 1];
  expect(errors).toBe("");
  expect(printed).toEqual(said);
});

test("there are examples", () => expect(examples.length).toBeGreaterThan(3));
