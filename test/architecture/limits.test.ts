/** What keeps the sources readable, as far as it can be counted. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commentLines, positionalParameters, typesOfAny } from "./limits.ts";

const root = join(import.meta.dirname, "../..");
const MAX_LINES = 400;
const MAX_WIDTH = 120;
const MAX_PARAMETERS = 8;

const files = execFileSync(
  "git",
  ["ls-files", "-co", "--exclude-standard", "src", "test", "tools", "bench", "scripts"],
  {
    cwd: root,
    encoding: "utf8",
  },
)
  .split("\n")
  // Folders whose names begin with a dot belong to tests that run at the same time.
  .filter((path) => /\.[tj]s$/.test(path) && !path.includes("/fixtures/") && !path.includes("/."));
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = files.filter((path) => path.startsWith("src/"));

describe("the sources", () => {
  test("have no file of more than 400 lines", () => {
    const long = sources.filter((path) => textOf(path).trimEnd().split("\n").length > MAX_LINES);
    expect(long).toEqual([]);
  });

  test("have no kernel function with more than 8 positional parameters", () => {
    const long = sources.flatMap((path) =>
      positionalParameters(textOf(path)).flatMap(({ line, count }) =>
        count > MAX_PARAMETERS ? [`${path}:${line}: ${count} parameters`] : [],
      ),
    );
    expect(long).toEqual([]);
  });

  test("have no `any` where kernels are declared", () => {
    const found = sources.flatMap((path) => typesOfAny(textOf(path)).map((line) => `${path}:${line}`));
    expect(found).toEqual([]);
  });

  test("and all that is beside them keep comments within 120 characters a line", () => {
    const wide = files.flatMap((path) =>
      commentLines(textOf(path)).flatMap(({ line, text }) =>
        Array.from(text).length > MAX_WIDTH ? [`${path}:${line}`] : [],
      ),
    );
    expect(wide).toEqual([]);
  });
});

describe("the checks themselves", () => {
  test("count parameters over several lines", () => {
    const text = [
      "const f = fn({",
      '  name: "f",',
      "  params: [",
      "    read(real),",
      "    record({ a: real, b: [real] }),",
      "    ...others,",
      "    i32,",
      "  ],",
      "});",
      "const g = fn({ params: [real, real] });",
      "const h = fn({ params: [] });",
    ].join("\n");
    expect(positionalParameters(text)).toEqual([
      { line: 3, count: 3 },
      { line: 10, count: 2 },
      { line: 11, count: 0 },
    ]);
  });

  test("find `any` in types of kernels, and not in sentences", () => {
    const text = ["// any", "const a: KernelFunction<any, number> = f;", "  body([x], gpu, env: any) {", "* any of"];
    expect(typesOfAny(text.join("\n"))).toEqual([2, 3]);
  });

  test("find comments at the end of a line, too", () => {
    const text = ["const a = 1; // one", "/** two */", " * three", 'const url = "https://four";'].join("\n");
    expect(commentLines(text).map(({ line }) => line)).toEqual([1, 2, 3]);
  });
});
