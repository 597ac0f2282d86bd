/** Which tests `npm run check` runs for a file. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { testsBeside } from "../../scripts/tests-beside.ts";

const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(Boolean);

it("are files of tests, for each file of the repository, and a test is its own", () => {
  for (const file of files) {
    const tests = testsBeside(file);
    expect(tests.filter((test) => !(test.endsWith(".test.ts") && existsSync(test)))).toEqual([]);
    if (file.endsWith(".test.ts") && existsSync(file)) expect(tests).toEqual([file]);
    if (/^(?:src\/\w+|bench|web|clients)\//.test(file)) expect([file, tests.length]).not.toEqual([file, 0]);
  }
});

it("are those of a folder for a file in it that is gone", () => {
  const folders = new Set(files.filter((file) => file.endsWith(".test.ts")).map((file) => dirname(file)));
  folders.delete("test");
  for (const folder of folders) {
    const gone = `${folder.replace("test/", "src/")}/gone-from-here.ts`;
    const expected = files.filter((file) => dirname(file) === folder && file.endsWith(".test.ts"));
    expect(testsBeside(gone)).toEqual(expect.arrayContaining(expected.filter((file) => existsSync(file))));
  }
});

it("are the language and the links of a page, and none of a file that has none", () => {
  expect(testsBeside("docs/start.md")).toContain("test/documents/links.test.ts");
  expect(testsBeside("package.json")).toEqual([]);
  expect(testsBeside("test/documents/gone.test.ts")).toEqual([]);
});
