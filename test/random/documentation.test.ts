/** The examples of docs/random.md, run as a reader would run them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const text = readFileSync(new URL("docs/random.md", root), "utf8");
const examples = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);

test.each(examples.map((code, i) => [i + 1, code] as const))("example %i prints what its comments say", (_, code) => {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-docs-"));
  try {
    const path = join(folder, "example.mts");
    const door = (name: string): string => JSON.stringify(new URL(`src${name}/index.ts`, root).href);
    writeFileSync(
      path,
      code.replaceAll(/"feynkac(\/\w+)"/g, (_found, name: string) => door(name)),
    );
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), path], {
      encoding: "utf8",
    });
    const printed = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect(stderr).toBe("");
    expect(stdout.split("\n").filter((line) => line !== "")).toEqual(printed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("there are examples", () => expect(examples.length).toBeGreaterThan(4));
