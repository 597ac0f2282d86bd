import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { cycles, eagerPackages, importsOf, parts, rooms, violations, type Sources } from "./layers.ts";

const root = join(import.meta.dirname, "../../src");
const ours: Sources = new Map(
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [path.split(sep).join("/"), readFileSync(join(root, path), "utf8")]),
);
const planted = (path: string, text: string): Sources => new Map([[path, text]]);

describe("the sources", () => {
  test("are fourteen rooms and the package's entry", () => {
    expect([...new Set([...ours.keys()].map((path) => path.split("/")[0]))].sort()).toEqual([...rooms].sort());
  });

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
    "pde/fdm/index.ts",
    "quadrature/quantization/index.ts",
    "pde/sparsegrid/index.ts",
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
    ["base/errors.ts", 'export * from "../kernel/index.ts";', "points up"],
    ["pricing/a.ts", 'import { main } from "../cli/index.ts";', "points up, from pricing to cli"],
    ["pricing/a.ts", 'import { main } from "../index.ts";', "points up, from pricing to index.ts"],
    ["pde/a.ts", 'const late = import("../pricing/index.ts");', "points up, from pde to pricing"],
    ["market/models/a.ts", 'import { call } from "../products/index.ts";', "points sideways in market, from models"],
    ["market/models/a.ts", 'import { curve } from "../index.ts";', "points sideways in market, from models to *"],
    ["numerics/linalg/a.ts", 'import { philox } from "../random/index.ts";', "points up in numerics"],
    [
      "base/errors.ts",
      'import { pause } from "./event-loop.ts";',
      "points up in base, from errors.ts to event-loop.ts",
    ],
    ["pde/fdm/mesh/a.ts", 'import type { Arena } from "../execute/arena.ts";', "points up in pde/fdm"],
    ["pde/fdm/other/a.ts", 'import type { Mesh } from "../mesh/mesh.ts";', "is in no rank of pde/fdm"],
    ["pde/fdm/a.ts", 'import { lower } from "../../kernel/capture.ts";', "reaches past kernel/index.ts"],
    ["device/cpu/a.ts", 'import { lower } from "../../kernel/frontend/index.ts";', "reaches past kernel/index.ts"],
    ["pde/fdm/a.ts", 'import { emit } from "../../kernel/emit/wasm/index.ts";', "reaches past kernel/index.ts"],
    ["pde/fdm/mesh/a.ts", 'import { open } from "../../../device/cpu/index.ts";', "reaches past device/index.ts"],
    ["pde/sparsegrid/a.ts", 'import { mesh } from "../fdm/mesh/mesh.ts";', "reaches past pde/fdm/index.ts"],
    ["pde/fdm/a.ts", 'import { a } from "../../utilities/index.ts";', "utilities is no room"],
    ["pde/fdm/a.ts", 'import { run } from "../../../bench/run.ts";', "leaves src/"],
    ["helpers/a.ts", "", "src/helpers is no room"],
  ])("refuses %s: %s", (path, text, message) => {
    expect(violations(planted(path, text)).join("\n")).toContain(message);
  });

  test.each([
    ["cli/main.ts", 'import { priceBook } from "../pricing/index.ts";'],
    ["pricing/a.ts", 'import { rollback } from "../pde/fdm/index.ts";'],
    ["pde/fdm/mesh/a.ts", 'import { SpecError } from "../../../base/errors.ts";'],
    ["pde/fdm/mesh/a.ts", 'import { curve } from "../../../market/index.ts";'],
    ["pde/fdm/mesh/a.ts", 'import { normal } from "../../../market/models/index.ts";'],
    ["device/cpu/a.ts", 'import { Device } from "../device.ts";'],
    ["kernel/emit/wasm/a.ts", 'import { Expr } from "../../ir.ts";'],
    ["book/a.ts", 'import { z } from "zod";'],
    ["device/cpu/program.ts", 'import { emit } from "../../kernel/emit/wasm/index.ts";'],
    ["base/version.ts", 'const url = new URL("../../package.json", import.meta.url);'],
    ["cli/commands/reproduce.ts", 'const late = import("../../../bench/reproduce/index.ts" as string);'],
  ])("allows %s: %s", (path, text) => {
    expect(violations(planted(path, text))).toEqual([]);
  });

  test("finds a cycle, types included", () => {
    const pair = (word: string): Sources =>
      new Map([
        ["pde/a.ts", 'import { b } from "./b.ts";'],
        ["pde/b.ts", `${word} { a } from "./a.ts";`],
      ]);
    expect(cycles(pair("import"))).toEqual(["pde/a.ts → pde/b.ts → pde/a.ts"]);
    expect(cycles(pair("import type"))).toEqual(["pde/a.ts → pde/b.ts → pde/a.ts"]);
  });

  test("finds a package that an entry loads at once", () => {
    const sources: Sources = new Map([
      ["index.ts", 'export * from "./device/index.ts";\nconst gpu = import("webgpu");'],
      ["device/index.ts", 'import { Worker } from "node:worker_threads";\nimport type { A } from "node:fs";'],
    ]);
    expect(eagerPackages(sources, "index.ts", [])).toEqual(["src/device/index.ts: node:worker_threads"]);
  });

  test("no part stands in two places", () => {
    expect(new Set(parts).size).toBe(parts.length);
  });
});
