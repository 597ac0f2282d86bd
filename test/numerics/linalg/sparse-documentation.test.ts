/** The examples of docs/sparse.md, run as a reader would run them. */
import { expect, test } from "vitest";
import { examplesOf, runExample } from "../../support/documentation.ts";

test("each prints what its comments say", () => {
  const outputs = examplesOf("docs/sparse.md").map((example) => {
    const { printed, errors } = runExample(example);
    expect(errors).toBe("");
    return printed.join("\n");
  });
  const three = ["converged 100", "converged 100", "converged 100"].join("\n");
  expect(outputs).toEqual(["converged true", "converged 1 2", "1660 4300", three]);
});
