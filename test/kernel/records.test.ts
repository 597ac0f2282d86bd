/**
 * Records in the front end: what they become, what is refused and in which words, and what JavaScript makes of them.
 */
import { runInThisContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { KernelError, SpecError } from "../../src/base/errors.ts";
import {
  bool,
  canonicalText,
  fn,
  functionFromSource,
  i32,
  kernel,
  kernelFromSource,
  lower,
  read,
  real,
  record,
  write,
} from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";

const Row = record({ lower: real, diagonal: real, upper: real });
const Mesh = record({ nodes: i32, x: read(real), first: Row });

const PARAMS = { n: i32, x: real, flag: bool, u: read(real), v: read(i32), out: write(real), counts: write(i32) };
const ENV = {
  assemble: fn({
    name: "assemble",
    params: { mesh: Mesh, rate: real, out: write(real) },
    body({ mesh, rate, out }) {
      out[0] = mesh.x[0] * rate + mesh.first.upper;
    },
  }),
  total: fn({ name: "total", params: [Row], body: ([{ lower, diagonal, upper }]) => lower + diagonal + upper }),
  same: fn({ name: "same", params: [Row], body: ([row]) => row }),
  rowOf: fn({ name: "rowOf", params: [real], body: ([x]) => ({ lower: x, diagonal: 1, upper: 2 * x }) }),
  either: fn({
    name: "either",
    params: [Row, bool],
    body([row, flag]) {
      if (flag) return row;
      return { lower: 0, diagonal: 1, upper: 0 };
    },
  }),
  changes: functionFromSource({ name: "changes", params: [Row], source: "([row]) => { row.lower = 1; }" }),
  replaces: fn({
    name: "replaces",
    params: [Row],
    body([row]) {
      row = { lower: row.upper, diagonal: 1, upper: row.lower };
      return row.lower;
    },
  }),
  plus: fn({ name: "plus", params: [Row, real], body: ([{ lower }, x]) => lower + x }),
  none: undefined,
};
const NAMES = Object.keys(ENV).join(", ");

const lowered = (statements: string): string =>
  canonicalText(
    lower(
      kernelFromSource({
        name: "wrong",
        params: PARAMS,
        env: ENV,
        source: `body({ ${Object.keys(PARAMS).join(", ")} }, gpu, { ${NAMES} }) {\n  ${statements}\n}`,
      }),
      "f64",
    ),
  );

function failureOf(act: () => unknown): KernelError {
  try {
    act();
  } catch (error) {
    if (error instanceof KernelError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const ROW = "{ lower: 1, diagonal: x, upper: 2 }";

/** Statements, with « before what the caret must stand under; the complaint; the remedy. */
const wrong: readonly (readonly [string, string, string])[] = [
  // calls
  [
    `assemble(«{ mesh: { nodes: n, x: u, first: ${ROW} }, out });`,
    "assemble takes a field rate, which is missing here",
    "pass { mesh, rate, out }",
  ],
  [
    `assemble({ mesh: { nodes: n, x: u, first: ${ROW} }, «rates: x, rate: x, out });`,
    "assemble takes no field rates",
    "its fields are mesh, rate, out",
  ],
  [
    "assemble({ mesh: { nodes: n, x: u, first: «{ lower: 1, diagonal: 1 } }, rate: x, out });",
    "mesh.first of assemble takes a field upper, which is missing here",
    "pass { lower, diagonal, upper }",
  ],
  [
    `assemble({ mesh: { nodes: n, x: «v, first: ${ROW} }, rate: x, out });`,
    "mesh.x: v holds i32, the function takes real",
    "pass an array of real",
  ],
  [
    `assemble({ mesh: { nodes: n, x: «x, first: ${ROW} }, rate: x, out });`,
    "mesh.x: an array is expected here",
    "pass a buffer, a private or a shared array by its name",
  ],
  [
    `assemble({ mesh: { nodes: n, x: u, first: ${ROW} }, rate: «u, out });`,
    "rate: a number is expected here (real), got the array u",
    "index it: u[i]",
  ],
  [
    `assemble({ mesh: { nodes: n, x: u, first: ${ROW} }, rate: «rowOf(x), out });`,
    "rate: a number is expected here (real), got a record",
    "pick one: .lower, .diagonal, .upper",
  ],
  [
    `assemble({ mesh: { nodes: n, x: u, first: ${ROW} }, rate: x, out: «u });`,
    "out: u is declared with read(…), the function writes it",
    "declare it with write(real)",
  ],
  [
    `assemble({ mesh: { nodes: «x, x: u, first: ${ROW} }, rate: x, out });`,
    "mixed real and i32",
    "convert the integer with gpu.real(…), or the real with gpu.i32(…)",
  ],
  [
    "assemble({ mesh: «u, rate: x, out });",
    "mesh of assemble takes a record, got the array u",
    "pass { nodes, x, first }",
  ],
  ["«assemble(u, x, out);", "assemble takes one record, got 3 arguments", "by name: { mesh, rate, out }"],
  ["out[0] = total(«x);", "total takes a record, got a number", "pass { lower, diagonal, upper }"],
  [
    "out[0] = total(«{ lower: x });",
    "total takes a field diagonal, which is missing here",
    "pass { lower, diagonal, upper }",
  ],
  ["out[0] = total(«u);", "total takes a record, got the array u", "pass { lower, diagonal, upper }"],
  // objects
  ["const row = { «...rowOf(x) }; out[0] = row.lower;", "spread is not part of the kernel language", "name each field"],
  ["const row = { «[n]: x }; out[0] = row.lower;", "fields are named one by one", "write { a: …, b: … }"],
  ["const row = { «__proto__: x }; out[0] = 1;", "fields are named one by one", "write { a: …, b: … }"],
  ["const row = { «low() { return 1; } }; out[0] = 1;", "a function inside a kernel", "through `env`"],
  ["const row = { «get low() { return 1; } }; out[0] = 1;", "a function inside a kernel", "through `env`"],
  ["const row = { low: «total }; out[0] = 1;", "the function total is used as a number", "call it"],
  ["const row = { low: x }; out[0] = «row.high;", "there is no high here", "there are: low"],
  ["const row = { low: x }; out[0] = «row;", "several named values are used as one number", "pick one: .low"],
  ["const row = { low: x }; out[0] = «row[0];", "only arrays can be indexed", ""],
  ["var «row = { low: x }; out[0] = row.low;", "a record is declared with var", "const or let"],
  // assignments to fields
  [
    "const row = { u, a: x }; «row.u = out; out[0] = 1;",
    "u is an array of this record",
    "write its elements: u[i] = …",
  ],
  [
    "const row = { a: x }; const other = row; «other.a = 1; out[0] = row.a;",
    "the fields of this record cannot be assigned to",
    "const own = { a: row.a, … }",
  ],
  [
    "const outer = { row: { a: x } }; «outer.row.a = 1; out[0] = outer.row.a;",
    "the fields of this record cannot be assigned to",
    "const own =",
  ],
  [
    "const outer = { row: { a: x }, b: 1 }; const row = outer.row; «row.a = 1; out[0] = outer.row.a;",
    "the fields of this record cannot be assigned to",
    "const own =",
  ],
  [
    "const outer = { row: { a: x } }; «outer.row = { a: 1 }; out[0] = outer.row.a;",
    "row is a record, which cannot be replaced here",
    "declare it by a name of its own with let",
  ],
  [
    "const row = rowOf(x); const other = same(row); «other.lower = 1; out[0] = row.lower;",
    "the fields of this record cannot be assigned to",
    "const own =",
  ],
  [
    "const row = rowOf(x); const other = either(row, flag); «other.lower = 1; out[0] = row.lower;",
    "the fields of this record cannot be assigned to",
    "const own =",
  ],
  [
    "const a = rowOf(x); const b = flag ? a : rowOf(1); «b.lower = 1; out[0] = a.lower;",
    "the fields of this record cannot be assigned to",
    "const own =",
  ],
  // copies that JavaScript would not make
  [
    "const a = rowOf(x); a.lower = 1; const b = «flag ? a : rowOf(1); out[0] = b.lower;",
    "fields of a are assigned to, so that it cannot be chosen or assigned as a whole",
    "copy its fields: { lower: a.lower, diagonal: a.diagonal, upper: a.upper }",
  ],
  [
    "const a = rowOf(x); a.lower = 1; let b = rowOf(2); b = «a; out[0] = b.lower;",
    "fields of a are assigned to, so that it cannot be chosen or assigned as a whole",
    "copy its fields: { lower: a.lower, diagonal: a.diagonal, upper: a.upper }",
  ],
  [
    "const a = rowOf(x); let b = rowOf(2); b = «a; b.lower = 1; out[0] = a.lower;",
    "a field of b is assigned to, and b is another name of this record here",
    "copy its fields: b = { a: row.a, … }",
  ],
  [
    "let a = rowOf(x); a.lower = 1; const b = «a; a = rowOf(2); out[0] = b.lower;",
    "a is assigned to as a whole and in its fields, so that no second name can stand for it",
    "copy its fields: { lower: a.lower, diagonal: a.diagonal, upper: a.upper }",
  ],
  [
    "let a = rowOf(x); out[0] = either(«a, (a = rowOf(2)).lower > 1).lower;",
    "a later argument assigns a, which is passed here",
    "assign it before the call",
  ],
  // assignments as a whole
  [
    "const row = rowOf(x); «row = rowOf(1); out[0] = row.lower;",
    "row cannot be assigned to",
    "declare a local with let",
  ],
  ["let row = rowOf(x); row = «{ lower: 1 }; out[0] = row.lower;", "records with different fields", "the same names"],
  ["let row = rowOf(x); row = «x; out[0] = row.lower;", "a record in one place, a number in another", "one kind"],
  ["let y = x; y = «rowOf(x); out[0] = y;", "several named values are used as one number", "pick one: .lower"],
  [
    "let row = { u, a: 1 }; row = «{ u: out, a: 2 }; out[0] = row.u[0];",
    "the array out would take the place of u",
    "copy its elements",
  ],
  [
    "const row = «flag ? { w: u } : { w: out }; out[0] = row.w[0];",
    "the array out would take the place of u",
    "copy its elements",
  ],
  // environment
  ["out[0] = «none(x);", "this function is undefined in `env`", "if (f !== undefined)"],
  ["out[0] = «none;", "this is undefined in the kernel's environment", "if (f !== undefined)"],
];

describe("errors with records have a place, a caret and a remedy", () => {
  test.each(wrong)("%s", (marked, complaint, remedy) => {
    const start = marked.indexOf("«");
    const { line, column, message } = failureOf(() => lowered(marked.replace("«", "")));
    const [head, , caret, rest = ""] = message.split("\n");
    expect(head).toContain(complaint);
    expect(rest).toContain(remedy);
    expect([line, column]).toEqual([2, start + 3]);
    expect(caret.indexOf("^")).toBe(column! + 3);
  });

  test("a function that changes its record is told so, in its own text", () => {
    const error = failureOf(() => lowered("changes(rowOf(x)); out[0] = 1;"));
    expect(error.message).toMatch(/"changes", line 1.*the fields of this record cannot be assigned to/);
  });

  test("names that are no identifiers", () => {
    expect(() => record({ "a b": real })).toThrow(SpecError);
    expect(() => record({ ["__proto__"]: real })).toThrow(/rename it/);
    expect(() => fn({ name: "f", params: { "a-b": real }, body: () => 1 })).toThrow(/function "f": "a-b"/);
  });
});

describe("records cost nothing", () => {
  test.each([
    [
      "a call is its body",
      `out[0] = total({ lower: x, diagonal: 1, upper: n > 2 ? x : 3 });`,
      "const a = n > 2 ? x : 3; const b = x + 1 + a; out[0] = b;",
    ],
    ["a field is a name", "const row = { a: x, w: u }; out[0] = row.w[n] + row.a;", "out[0] = u[n] + x;"],
    [
      "a field that is assigned to is a local",
      "const row = { a: x }; row.a += 1; out[0] = row.a;",
      "let a = x; a += 1; out[0] = a;",
    ],
    [
      "constants fold",
      "const row = { count: 3 }; for (let k = 0; k < row.count; k++) out[k] = x;",
      "for (let k = 0; k < 3; k++) out[k] = x;",
    ],
    [
      "an optional function that is not there folds",
      "if (none !== undefined) out[0] = none(x); else out[1] = x;",
      "out[1] = x;",
    ],
    ["and so does its truth", "out[0] = none ? none(x) : x;", "out[0] = x;"],
    ["however minified", "void 0 === none ? out[0] = x : out[0] = none(x);", "out[0] = x;"],
  ])("%s", (_name, records, plain) => {
    const shape = (text: string): string => text.replace(/locals .*\n/, "").replaceAll(/%\d+/g, "%");
    const copies = (text: string): string => shape(text).replaceAll(/^% = .*\n/gm, "");
    expect(copies(lowered(records))).toBe(copies(lowered(plain)));
  });
});

describe("meaning", () => {
  /** What a body leaves in `out`, by the interpreter and as plain JavaScript. */
  function both(statements: string): [number[], number[]] {
    const source = `({ x, out }, gpu, { ${NAMES} }) => { ${statements} }`;
    const interpreted = new Float64Array(4);
    const params = { x: real, out: write(real) };
    interpret(
      lower(kernelFromSource({ params, env: ENV, source }), "f64"),
      { x: 0.75, out: interpreted },
      { items: 1 },
    );
    const plain = new Float64Array(4);
    const body = runInThisContext(`(${source})`) as (args: object, gpu: object, env: object) => void;
    body({ x: 0.75, out: plain }, {}, ENV);
    return [[...interpreted], [...plain]];
  }

  test.each([
    "const a = { p: x, q: 1 }; const b = a; a.p = 4; out[0] = b.p; out[1] = a.p;",
    "let a = { p: x }; const b = a; a = { p: 4 }; out[0] = b.p; out[1] = a.p;",
    "let a = { p: x, q: 2 }; a = { p: a.q, q: a.p }; out[0] = a.p; out[1] = a.q;",
    "let a = { p: { v: x }, q: { v: 2 } }; a = { p: a.q, q: a.p }; out[0] = a.p.v; out[1] = a.q.v;",
    "const a = { p: x }; const o = { a, z: 1 }; a.p = 4; out[0] = o.a.p; o.z = 9; out[1] = o.z;",
    "const a = { p: x, p: 5 }; out[0] = a.p;",
    "const a = { p: x }; const { p } = a; a.p = 4; out[0] = p;",
    "const a = { p: x }; const p = a.p; a.p = 4; out[0] = p + a.p++ + a.p;",
    "const a = { p: x }; out[0] = total({ lower: a.p, diagonal: (a.p = 3), upper: a.p });",
    "const a = rowOf(x); out[0] = plus(a, (a.lower = 3));",
    "let a = rowOf(x); a.upper = 7; a = rowOf(a.upper); out[0] = total(a); out[2] = a.lower;",
    "const a = rowOf(x); out[0] = replaces(a); out[1] = a.lower;",
    "let a; if (x > 0.5) a = rowOf(x); else a = rowOf(1); out[0] = a.upper; a = rowOf(3); out[1] = a.upper;",
    "let a; a = rowOf(x); const b = same(a); a = rowOf(2); out[0] = b.upper; out[1] = a.upper;",
    "let s = { v: x }; for (let k = 0; k < 40; k++) { const t = { v: s.v + k }; t.v *= 0.5; s = { v: t.v }; } out[0] = s.v;",
    "const o = { 'p': x, q: { r: 2, t: out } }; o.q.t[1] = o.p; out[0] = o.q.r;",
    "let a = { p: x }; out[0] = (a = { p: 5 }).p + a.p;",
    "const a = x > 0.5 ? { p: 1, q: { r: x } } : { p: 2, q: { r: 3 } }; a.p = a.q.r; out[0] = a.p;",
    "const a = rowOf(x), { upper: u } = a; out[0] = u;",
  ])("%s", (statements) => {
    const [interpreted, plain] = both(statements);
    expect(interpreted).toEqual(plain);
  });

  test("plain JavaScript calls a function of records with one record", () => {
    const out = new Float64Array(1);
    ENV.assemble({
      mesh: { nodes: 1, x: Float64Array.of(4), first: { lower: 0, diagonal: 0, upper: 3 } },
      rate: 2,
      out,
    });
    expect(out[0]).toBe(11);
    expect(ENV.total({ lower: 1, diagonal: 2, upper: 3 })).toBe(6);
  });

  test("a record by its name may have more fields than the function looks at", () => {
    const [interpreted, plain] = both(
      "const a = { lower: x, diagonal: 1, upper: 2, more: 3 }; out[0] = total(a) + a.more;",
    );
    expect(interpreted).toEqual(plain);
  });

  test("kernels infer the types of records", () => {
    const k = kernel({
      params: { out: write(real), counts: write(i32) },
      env: { same: ENV.same },
      body({ out, counts }, _gpu, { same }) {
        const of = { lower: 1, diagonal: 2, upper: 3 };
        let state = { step: 0, level: 0 };
        while (state.step < 3) state = { step: state.step + 1, level: state.level + 0.5 };
        out[0] = same(of).diagonal + state.level;
        counts[0] = state.step;
      },
    });
    const [out, counts] = [new Float64Array(1), new Int32Array(1)];
    interpret(lower(k, "f64"), { out, counts }, { items: 1 });
    expect([out[0], counts[0]]).toEqual([3.5, 3]);
  });
});
