/** The examples of docs/linear-algebra.md on tridiagonal systems, run as a reader would run them. */
import { expect, test } from "vitest";
import { examplesOf, runExamples } from "../../support/documentation.ts";

test("each prints what its comments say", () => {
  const mine = examplesOf("docs/linear-algebra.md").filter((code) => /tridiagonal/i.test(code));
  expect(mine).toHaveLength(2);
  const [first, second] = mine.join("\n").split(/(?=^import \{ openDevice)/m);
  const outputs = runExamples([first, second]).map(({ printed, errors }) => {
    expect(errors).toBe("");
    return printed.join("\n");
  });
  expect(outputs).toEqual(["1.1071 1.0714 1.1071 0", "[]\n0.500000000000"]);
});
