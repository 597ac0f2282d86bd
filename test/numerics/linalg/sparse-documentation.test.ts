/** The examples of docs/sparse.md, run as a reader would run them. */
import { expect, test } from "vitest";
import { examplesOf, runExamples } from "../../support/documentation.ts";

test("each prints what its comments say", () => {
  const outputs = runExamples(examplesOf("docs/sparse.md")).map(({ printed, errors }) => {
    expect(errors).toBe("");
    return printed.join("\n");
  });
  const three = ["converged 100", "converged 100", "converged 100"].join("\n");
  expect(outputs).toEqual(["converged true", "converged 1 2", "1660 4300", three]);
});
