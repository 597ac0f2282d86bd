/** The examples of docs/linear-algebra.md on tridiagonal systems, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

test("each prints what its comments say", () => {
  const text = readFileSync(new URL("docs/linear-algebra.md", root), "utf8");
  const examples = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  const mine = examples.filter((code) => /tridiagonal/i.test(code));
  expect(mine).toHaveLength(2);
  const code = mine
    .join("\n")
    .replace(/"feynkac(\/\w+)"/g, (_, door: string) => JSON.stringify(new URL(`src${door}/index.ts`, root).href));
  const folder = mkdtempSync(join(tmpdir(), "feynkac-docs-"));
  try {
    const [first, second] = code.split(/(?=^import \{ openDevice)/m);
    const outputs = [first, second].map((example, i) => {
      const path = join(folder, `example-${i}.mts`);
      writeFileSync(path, example);
      const { stdout, stderr } = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), path], {
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      return stdout.trim();
    });
    expect(outputs).toEqual(["1.1071 1.0714 1.1071 0", "[]\n0.500000000000"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
