/** The parser of plain kernels against acorn: what it reads, it reads as acorn does. */
import { parse } from "acorn";
import { describe, expect, test } from "vitest";
import { mathFunctions } from "../../src/kernel/math/index.ts";
import { parsePlain } from "../../src/kernel/frontend/parse.ts";
import { cases } from "../conformance/cases/index.ts";
import { generated, mutated, Random, soup } from "./fuzz-inputs.ts";
import { randomKernel } from "./wasm-random-kernels.ts";

/** acorn's reading, as `parsePlain` gives it; undefined for text that is no function. */
function byAcorn(text: string): unknown {
  for (const [prefix, suffix] of [
    ["(", ")"],
    ["({", "})"],
  ]) {
    try {
      const program: any = parse(`${prefix}${text}\n${suffix}`, { ecmaVersion: 2023, sourceType: "script" });
      let node = program.body[0].expression;
      if (node?.type === "ObjectExpression" && node.properties.length === 1) node = node.properties[0].value;
      if (program.body.length !== 1 || !["ArrowFunctionExpression", "FunctionExpression"].includes(node?.type))
        continue;
      if (node.async) continue;
      return plainTree({ params: node.params, body: node.body, generator: node.generator }, prefix.length);
    } catch {
      // the other reading
    }
  }
  return undefined;
}

/** Without what the front end does not look at, and with positions in the text itself. */
function plainTree(value: unknown, offset: number): unknown {
  if (Array.isArray(value)) return value.map((item) => plainTree(item, offset));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "end" && name !== "raw");
  return Object.fromEntries(fields.map(([name, v]) => [name, name === "start" ? v - offset : plainTree(v, offset)]));
}

function agrees(text: string): boolean {
  const plain = parsePlain(text);
  if (plain === null) return false;
  expect({ text, tree: plainTree(plain, 0) }).toEqual({ text, tree: byAcorn(text) });
  return true;
}

describe("reads as acorn does", () => {
  const kernels = [
    ...Object.values(mathFunctions).map(({ functionName, source }) => [functionName, source] as const),
    ...cases.map(({ name, kernel: { source } }) => [name, source] as const),
  ];
  test.each(kernels)("%s", (_, source) => {
    expect(agrees(source)).toBe(true);
  });

  test.each([
    "({ n }, gpu) => { let x = 1, y; let z = .5e-3; const w = 0x1F; return }",
    "([a, b], _gpu, { f }) => f(a, -b) ** 2 ** 3 + (a, b)",
    "function* named({ a: c, b }) { const y = yield gpu.shuffle(c, 0); yield; yield\n}",
    "*body({ u }) { for (let i = 0, j = 1; i < 3; i++, j--) { if (i & 1) continue; else break; } }",
    "body([a, , b]) { do a--; while (a > 0) return { a, b: a ? 1 : b ? 2 : 3 } }",
    "({ u }) => { u[0]++\n++u[1]\nu[2] = u[3] = -u[4]; ; /* c */ // d\n return\nu[5] }",
    "({ a, b }) => a || b && a | b ^ a & b == a < b << a + b * -a ** 1",
    "({ a, b, c }) => a - b - c / a / b % c !== !(a >>> b)",
    "({ a }) => { for (;;) { while (a) { a = 'text' === \"text\" ? true : false; break } } }",
    "({ of }, gpu, { of: a }) => { for (const { f, k } of a) { f(k) } for (const of of a) of(1) }",
    "({ of }) => { for (let of = 0; ; ) break }",
  ])("%s", (source) => {
    const isPlain = !source.includes("-a ** 1");
    expect(agrees(source)).toBe(isPlain);
  });
});

test.each([
  "x => x",
  "async ({ a }) => a",
  "({ a }) => { switch (a) {} }",
  "({ a }) => { label: for (;;) break label; }",
  "({ a }) => { for (const x in a) {} }",
  "({ a = 1 }) => a",
  "({ ...a }) => a",
  "({ a }) => a?.b",
  "({ a }) => a ?? 1",
  "({ a }) => `text`",
  "({ a }) => [a]",
  "({ a }) => new a()",
  "({ a }) => () => a",
  "({ a }) => 10n + 1_000",
  "({ a }) => /a/.test(a)",
  "({ a }) => { const b = 1; const b = 2; }",
  "({ a }) => { if (a) const b = 1; }",
  "({ a }) => { let a = 1; }",
  "({ a }) => { var b = 1; }",
  "({ a }) => { break; }",
  "({ a }) => { 1 = a; }",
  "({ a }) => { a b }",
  "({ a }) => { a",
  "({ a }) => a }",
])("leaves to acorn: %s", (source) => {
  expect(parsePlain(source)).toBeNull();
});

test("random kernels", () => {
  for (let seed = 0; seed < 100; seed++) expect(agrees(randomKernel(seed))).toBe(true);
  for (let seed = 0; seed < 100; seed++) expect(agrees(randomKernel(seed, 32))).toBe(true);
});

test("random inputs, most of them wrong", () => {
  const random = new Random(20261121);
  const plain = [soup, (r: Random) => mutated(r).source, generated].map((make) => {
    let count = 0;
    for (let k = 0; k < 10_000; k++) if (agrees(make(random))) count++;
    return count;
  });
  expect(Math.min(...plain)).toBeGreaterThan(50);
});
