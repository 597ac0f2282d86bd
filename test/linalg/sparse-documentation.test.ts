/** The examples of docs/sparse.md, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

test("each prints what its comments say", () => {
  const text = readFileSync(new URL("docs/sparse.md", root), "utf8");
  const examples = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) =>
    code.replace(/"feynkac(\/\w+)"/g, (_, door: string) => JSON.stringify(new URL(`src${door}/index.ts`, root).href)),
  );
  const folder = mkdtempSync(join(tmpdir(), "feynkac-docs-"));
  try {
    const outputs = examples.map((example, i) => {
      const path = join(folder, `example-${i}.mts`);
      writeFileSync(path, example);
      const { stdout, stderr } = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), path], {
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      return stdout.trim();
    });
    const three = ["converged 100", "converged 100", "converged 100"].join("\n");
    expect(outputs).toEqual(["converged true", "converged 1 2", "1660 4300", three]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
