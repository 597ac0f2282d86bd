/** The linker of the command line (scripts/lazy-program.js), on programs of a few modules. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runInThisContext } from "node:vm";
import { afterEach, expect, test } from "vitest";

/** JavaScript without types, as all of the build. */
const LINKER = new URL("../../scripts/lazy-program.js", import.meta.url).href;
const { lazyProgram } = (await import(LINKER)) as {
  readonly lazyProgram: (
    entry: string,
    options: {
      readonly root: string;
      readonly define: Readonly<Record<string, string>>;
      readonly packages: readonly string[];
      readonly apart: Readonly<Record<string, string>>;
    },
  ) => Promise<{ readonly parts: ReadonlyMap<string, string> }>;
};

type Part = Record<string, () => unknown>;

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

/** Links the program of the given sources, and returns its exports, the modules that ran, and the parts loaded. */
async function run(sources: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "feynkac-lazy-"));
  folders.push(root);
  const ran: string[] = [];
  for (const [name, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `globalThis.ran?.push("${name}");\n${text}`);
  }
  const options = { root, define: {}, packages: [], apart: {} };
  const { parts } = await lazyProgram("src/cli/main.ts", options);
  const loaded = new Map<string, Part>();
  const imported = (specifier: string): Promise<unknown> => import(specifier);
  const load = (name: string): Part => {
    const known = loaded.get(name);
    if (known !== undefined) return known;
    const around = runInThisContext(parts.get(name)!) as (...given: readonly unknown[]) => Part;
    const part = around(createRequire(import.meta.url), imported, "file:///", load);
    loaded.set(name, part);
    return part;
  };
  Object.assign(globalThis, { ran });
  return { program: load("main").entry() as Record<string, (...given: readonly unknown[]) => unknown>, ran, loaded };
}

test("a module runs when something of it is used, and once", async () => {
  const { program, ran } = await run({
    "src/cli/main.ts": `import { two } from "../base/two.ts"; import { never } from "../base/never.ts";
      export const twice = () => two + two; export const unused = () => never;`,
    "src/base/two.ts": "export const two = 2;",
    "src/base/never.ts": "export const never = 0;",
  });
  expect(ran).toEqual(["src/cli/main.ts"]);
  expect(program.twice()).toBe(4);
  expect(program.twice()).toBe(4);
  expect(ran).toEqual(["src/cli/main.ts", "src/base/two.ts"]);
});

test("a module runs once, also if several parts use it, and parts are loaded when they are used", async () => {
  const { program, ran, loaded } = await run({
    "src/cli/main.ts": `import { Base } from "../base/base.ts"; import { Grid } from "../pde/grid.ts";
      export const isBase = () => new Grid() instanceof Base; export const isOwn = () => new Base() instanceof Base;`,
    "src/base/base.ts": "export class Base {}",
    "src/pde/grid.ts": `import { Base } from "../base/base.ts"; export class Grid extends Base {}`,
  });
  expect(program.isOwn()).toBe(true);
  expect([...loaded.keys()]).toEqual(["main"]);
  expect(program.isBase()).toBe(true);
  expect([...loaded.keys()]).toEqual(["main", "pde"]);
  expect(ran).toEqual(["src/cli/main.ts", "src/base/base.ts", "src/pde/grid.ts"]);
});

test("exports of others are taken from the module that makes them", async () => {
  const { program, ran } = await run({
    "src/cli/main.ts": `import { inner as one, outer } from "../market/index.ts"; export const all = () => [one, outer()];`,
    "src/market/index.ts": `export * from "./inner.ts"; export { made as outer } from "./outer.ts";`,
    "src/market/inner.ts": "export const inner = 1;",
    "src/market/outer.ts": "export function made() { return 2; }",
  });
  expect(program.all()).toEqual([1, 2]);
  expect(ran).toEqual(["src/cli/main.ts", "src/market/inner.ts", "src/market/outer.ts"]);
});

test("import() gives all exports, and runs nothing of those that are not read", async () => {
  const { program, ran } = await run({
    "src/cli/main.ts": `export const read = async () => (await import("../market/index.ts")).inner;`,
    "src/market/index.ts": `export * from "./inner.ts"; export { made as outer } from "./outer.ts";`,
    "src/market/inner.ts": "export const inner = 1;",
    "src/market/outer.ts": "export const made = 2;",
  });
  await expect(program.read()).resolves.toBe(1);
  expect(ran).toEqual(["src/cli/main.ts", "src/market/index.ts", "src/market/inner.ts"]);
});

test("functions are there for modules that import each other; spread, `using` and Node's modules work", async () => {
  const { program } = await run({
    "src/cli/main.ts": `import { even } from "../base/even.ts"; import { list } from "../base/list.ts";
      import * as path from "node:path";
      export const check = () => { using held = list; return [even(7), ...held.all, path.posix.join("a", "b")]; };`,
    "src/base/even.ts": `import { odd } from "./odd.ts"; export function even(n) { return n === 0 || odd(n - 1); }`,
    "src/base/odd.ts": `import { even } from "./even.ts"; export function odd(n) { return n !== 0 && even(n - 1); }`,
    "src/base/list.ts": "export const list = { all: [1, 2], [Symbol.dispose]() {} };",
  });
  expect(program.check()).toEqual([false, 1, 2, "a/b"]);
});

test("an import of what a module does not export is an error", async () => {
  const wrong = run({
    "src/cli/main.ts": `import { missing } from "../base/one.ts"; export const read = () => missing;`,
    "src/base/one.ts": "export const one = 1;",
  });
  await expect(wrong).rejects.toThrow("src/cli/main.ts: src/base/one.ts does not export missing");
});
