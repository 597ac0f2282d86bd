/** Links between the documents lead to files and headings. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenLinks } from "../../scripts/check-links.ts";

test("in the repository", () => {
  expect(brokenLinks(join(import.meta.dirname, "../.."))).toEqual([]);
});

test("broken ones are found", () => {
  const root = mkdtempSync(join(tmpdir(), "feynkac-links-"));
  try {
    mkdirSync(join(root, "docs"));
    writeFileSync(join(root, "docs/b.md"), "# One & two\n");
    writeFileSync(
      join(root, "a.md"),
      "[1](docs/b.md) [2](docs/b.md#one--two) [3](docs/b.md#three) [4](c.md) [5](#here) [6](../x.md) [7](https://x.y)\n",
    );
    expect(brokenLinks(root)).toEqual(["a.md: docs/b.md#three", "a.md: c.md", "a.md: #here", "a.md: ../x.md"]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
