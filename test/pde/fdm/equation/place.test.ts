/** The place in the user's file, from the stack at the call of `solve` and the text of a function. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { KernelError } from "../../../../src/base/errors.ts";
import { withSourcePosition, positionText } from "../../../../src/pde/fdm/problem/lowered.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac me@home "));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "model.mjs");
const source = "({ S, K }) => {\n    return S - strike;\n  }";
writeFileSync(file, `await solve({\n  terminal: ${source},\n  twice: "S^2",\n  again: "S^2",\n});\n`);

const called = (...frames: readonly string[]): Error => Object.assign(new Error("solve"), { stack: frames.join("\n") });
const at = { name: "terminal", source, line: 2, column: 16 };

describe("where a function's text stands in the file", () => {
  test.each([
    ["V8", ["Error: solve", "    at solve (file:///lib/solve.js:80:9)", `    at ${pathToFileURL(file).href}:1:7`]],
    ["V8, in a function", ["Error: solve", "    at Module.solve (/lib/solve.js:80:9)", `    at main (${file}:1:7)`]],
    ["V8, asynchronous", ["Error: solve", "    at solve (/lib/solve.js:80:9)", `    at async main (${file}:1:7)`]],
  ])("%s", (_, stack) => {
    expect(positionText(at, called(...stack))).toBe(`terminal at ${file}:3:16`);
    // In its first line the columns before it count.
    expect(positionText({ ...at, line: 1, column: 4 }, called(...stack))).toBe(`terminal at ${file}:2:16`);
  });
});

describe("where that cannot be known, the place in the function and the call are said", () => {
  const inFunction = "terminal, line 2, column 16";
  test.each([
    ["another text", { ...at, source: "({ S }) => S" }, `${inFunction} (solve called at ${file}:1:7)`],
    ["a text that is there twice", { ...at, source: '"S^2"' }, `${inFunction} (solve called at ${file}:1:7)`],
  ])("%s", (_, place, title) => {
    expect(positionText(place, called("Error", "    at solve (/lib/solve.js:80:9)", `    at main (${file}:1:7)`))).toBe(
      title,
    );
  });
  test.each([
    ["Firefox", ["solve@https://me.org/lib.js:80:9", "main@https://me.org/app.js:1:7", "@https://me.org/app.js:9:1"]],
    ["Chromium", ["Error: solve", "    at solve (https://me.org/lib.js:80:9)", "    at https://me.org/app.js:1:7"]],
  ])("a page, %s", (_, stack) => {
    expect(positionText(at, called(...stack))).toBe(`${inFunction} (solve called at https://me.org/app.js:1:7)`);
  });
  test("no stack", () => {
    expect(positionText(at, called())).toBe(inFunction);
  });
});

test("an error keeps what it says, its line and column, and its cause; others are left alone", () => {
  const what = "strike is not declared";
  const error = new KernelError("kernel", { ...at, what });
  const moved = withSourcePosition(error, called()) as KernelError;
  expect(moved.message).toBe(`terminal, line 2, column 16: ${what}`);
  expect(moved).toMatchObject({ line: 2, column: 16, cause: error, code: "KERNEL" });
  const other = new Error("another");
  expect(withSourcePosition(other, called())).toBe(other);
});
