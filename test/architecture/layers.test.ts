import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { cycles, eagerPackages, importsOf, layers, violations, type Sources } from "./layers.ts";

const root = join(import.meta.dirname, "../../src");
const ours: Sources = new Map(
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [path.split(sep).join("/"), readFileSync(join(root, path), "utf8")]),
);
const planted = (path: string, text: string): Sources => new Map([[path, text]]);

describe("the sources", () => {
  test("import only downwards, and only through index.ts", () => {
    expect(violations(ours)).toEqual([]);
  });

  test("have no cycles of imports, types included", () => {
    expect(cycles(ours)).toEqual([]);
  });

  // A browser loads these entries as they are: Node's modules and optional packages come in by `import()` only.
  test.each([
    "index.ts",
    "kernel/index.ts",
    "device/index.ts",
    "fdm/index.ts",
    "quantization/index.ts",
    "sparsegrid/index.ts",
  ])("%s can be loaded in a browser", (entry) => {
    expect(eagerPackages(ours, entry, ["acorn", "zod"])).toEqual([]);
  });
});

describe("the check itself", () => {
  test("finds every way to name a module", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type { B } from "./b.ts";',
      "import {",
      "  c,",
      "  d,",
      '} from "./c.ts";',
      'import "./e.ts";',
      'export * from "./f.ts";',
      'export type { G } from "./g.ts";',
      'const h = await import("./h.ts");',
      'const worker = new Worker(new URL("./i.ts", import.meta.url));',
      ' * import { example } from "./in-a-comment.ts";',
    ].join("\n");
    expect(importsOf(text).map(({ specifier }) => specifier)).toEqual(
      ["a", "b", "c", "e", "f", "g", "h", "i"].map((name) => `./${name}.ts`),
    );
    expect(importsOf(text).map(({ line }) => line)).toEqual([1, 2, 6, 7, 8, 9, 10, 11]);
  });

  test.each([
    ["kernel/capture.ts", 'import { Device } from "../device/index.ts";', "points up, from kernel to device"],
    ["kernel/emit/wasm/a.ts", 'import type { Device } from "../../../device/index.ts";', "points up"],
    ["errors.ts", 'export * from "./kernel/index.ts";', "points up"],
    ["pricing/a.ts", 'import { main } from "../cli/index.ts";', "points up, from pricing to cli"],
    ["pricing/a.ts", 'import { main } from "../index.ts";', "points up, from pricing to index.ts"],
    ["fdm/a.ts", 'const late = import("../pricing/index.ts");', "points up, from fdm to pricing"],
    ["models/a.ts", 'import { call } from "../products/index.ts";', "points sideways, from models to products"],
    ["fdm/a.ts", 'import { lower } from "../kernel/capture.ts";', "reaches past kernel/index.ts"],
    ["device/cpu/a.ts", 'import { lower } from "../../kernel/frontend/index.ts";', "reaches past kernel/index.ts"],
    ["fdm/a.ts", 'import { emit } from "../kernel/emit/wasm/index.ts";', "reaches past kernel/index.ts"],
    ["fdm/mesh/a.ts", 'import { open } from "../../device/cpu/index.ts";', "reaches past device/index.ts"],
    ["fdm/a.ts", 'import { a } from "../utilities/index.ts";', "utilities is in no layer"],
    ["fdm/a.ts", 'import { run } from "../../bench/run.ts";', "leaves src/"],
    ["helpers/a.ts", "", "src/helpers is in no layer"],
  ])("refuses %s: %s", (path, text, message) => {
    expect(violations(planted(path, text)).join("\n")).toContain(message);
  });

  test.each([
    ["cli/main.ts", 'import { priceBook } from "../index.ts";'],
    ["pricing/a.ts", 'import { rollback } from "../fdm/index.ts";'],
    ["fdm/mesh/a.ts", 'import { SpecError } from "../../errors.ts";'],
    ["device/cpu/a.ts", 'import { Device } from "../device.ts";'],
    ["kernel/emit/wasm/a.ts", 'import { Expr } from "../../ir.ts";'],
    ["book/a.ts", 'import { z } from "zod";'],
    ["device/cpu/program.ts", 'import { emit } from "../../kernel/emit/wasm/index.ts";'],
    ["formats/version.ts", 'const url = new URL("../../package.json", import.meta.url);'],
  ])("allows %s: %s", (path, text) => {
    expect(violations(planted(path, text))).toEqual([]);
  });

  test("finds a cycle, types included", () => {
    const pair = (word: string): Sources =>
      new Map([
        ["fdm/a.ts", 'import { b } from "./b.ts";'],
        ["fdm/b.ts", `${word} { a } from "./a.ts";`],
      ]);
    expect(cycles(pair("import"))).toEqual(["fdm/a.ts → fdm/b.ts → fdm/a.ts"]);
    expect(cycles(pair("import type"))).toEqual(["fdm/a.ts → fdm/b.ts → fdm/a.ts"]);
  });

  test("finds a package that an entry loads at once", () => {
    const sources: Sources = new Map([
      ["index.ts", 'export * from "./device/index.ts";\nconst gpu = import("webgpu");'],
      ["device/index.ts", 'import { Worker } from "node:worker_threads";\nimport type { A } from "node:fs";'],
    ]);
    expect(eagerPackages(sources, "index.ts", [])).toEqual(["src/device/index.ts: node:worker_threads"]);
  });

  test("no folder stands in two layers", () => {
    const all = layers.flat();
    expect(new Set(all).size).toBe(all.length);
  });
});
