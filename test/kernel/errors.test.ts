/** What users see when a kernel cannot be compiled: code, line, column, a caret under the place, and what to do. */
import { describe, expect, test } from "vitest";
import { KernelError, SpecError } from "../../src/base/errors.ts";
import { bool, fn, i32, kernel, kernelFromSource, lower, read, real, u32, write } from "../../src/kernel/index.ts";

const PARAMS = {
  n: i32,
  k: u32,
  x: real,
  flag: bool,
  u: read(real),
  v: read(i32),
  out: write(real),
  counts: write(i32),
};

function failure(act: () => unknown): KernelError {
  try {
    act();
  } catch (error) {
    if (error instanceof KernelError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Declared functions are frozen, so recursion has to be forged. */
const recursive: any = Object.assign(() => 0, {
  kind: "function",
  functionName: "recursive",
  params: [real],
  env: {},
  source: "([x], gpu, { again }) => again(x)",
});
recursive.env.again = recursive;

const ENV = {
  SIZE: 4,
  MODE: "fast",
  pair: fn({ name: "pair", params: [real], body: ([x]) => ({ a: x, b: -x }) }),
  fill: fn({ name: "fill", params: [write(real)], body: ([t]) => void (t[0] = 1) }),
};

/** Compiles statements on line 2 of a body, in a generator if they yield. */
function failureOf(statements: string): KernelError {
  const star = /\byield\b/.test(statements) ? "*" : "";
  const source = `${star}body({ n, k, x, flag, u, v, out, counts }, gpu, { SIZE, MODE, pair, fill }) {\n  ${statements}\n}`;
  return failure(() => lower(kernelFromSource({ name: "wrong", params: PARAMS, env: ENV, source }), "f64"));
}

/** Statements, with «» around what the caret must stand under; a part of the complaint; a part of the remedy. */
const wrong: readonly (readonly [string, string | RegExp, string | RegExp])[] = [
  // names
  ["out[0] = «captured» * x;", "captured is not declared", "declare it"],
  ["out[0] = «globalThis».x;", "globalThis is not declared", "declare it"],
  ["«total» = 1;", "total is not declared", "let inside the body"],
  ["const c = x; «c» = 2; out[0] = c;", "c cannot be assigned to", "let"],
  // calls
  ["out[0] = «Math.random(x)»;", "Math.random is an unknown function", /FEATURES\.md|fn\(/],
  ["out[0] = «gpu.gamma(x)»;", "gpu.gamma is an unknown function", /FEATURES\.md|fn\(/],
  ["out[0] = «Number.parseFloat(x)»;", "Number.parseFloat is not part", "Number.isNaN"],
  ["out[0] = «x(1)»;", "cannot be called", "env"],
  ["out[0] = «Math.sqrt(x, x)»;", "takes 1 argument", ""],
  ["out[0] = «pair(x, x)».a;", "takes 1 argument", ""],
  ["out[0] = Math.max(«...u»);", "spread", "write the arguments out"],
  ["out[0] = «gpu.shuffle(x, 1)»;", "collective", "yield"],
  // types
  ["for (let j = 0; j < 40; j++) out[j] = «x * j»;", /i32/, "gpu.real("],
  // Whether a loop is unrolled decides nothing about types.
  ["for (let j = 0; j < 4; j++) out[j] = «x * j»;", /i32/, "gpu.real("],
  ["out[0] = «x * n»;", /i32/, "gpu.real("],
  ["out[0] = x; counts[0] = «n + x»;", /real/, /gpu\.(i32|real)\(/],
  ["counts[0] = «n + k»;", /u32/, /gpu\.(i32|u32)\(/],
  ["«out[0] = n»;", /i32/, "gpu.real("],
  ["«counts[0] = x»;", /real/, "gpu.i32("],
  ["counts[0] = «n» / 2;", /real division|real, got i32/, "| 0"],
  ["out[0] = «u[x]»;", /real/, "gpu.i32("],
  ["if («x») out[0] = 1;", /bool/, "compare"],
  ["«out[0] = x & 1»;", /i32/, "gpu.real"],
  ["out[0] = «1 === flag»;", /bool/, ""],
  ["out[0] = «pair(x)» + 1;", "several named values", ".a, .b"],
  ["out[0] = «u»;", "the array u is used as a number", "u[i]"],
  ['out[0] = «"text"»;', "string", "compile time"],
  ["out[0] = «null»;", "null", "numbers and booleans"],
  ["out[0] = «pair(x).c»;", "no c here", "a, b"],
  // constants and arrays
  ["«out[-1]» = x;", "index -1 is outside out", "length"],
  ["const t = gpu.privateReal(4); t[0] = x; out[0] = «t[4]»;", "index 4 is outside t, of length 4", "length"],
  ["const t = «gpu.privateReal(n)»; out[0] = 1;", "known only at run time", "env"],
  ["const t = «gpu.privateReal(0)»; out[0] = 1;", "the length of an array is 0", "whole number"],
  ["«counts[0] = 3000000000»;", /i32|fit/, ""],
  ["counts[0] = «n + 0.5»;", /real/, ""],
  ["«u[0]» = x;", "declared with read", "write(real)"],
  ["gpu.atomicAdd(«v», 0, 1);", /read\(/, "write(i32)"],
  ["gpu.atomicAdd(«out», 0, 1);", "array of reals", "i32 and u32"],
  ["fill(«u»);", /read\(/, "write(real)"],
  ["out[0] = «[1, 2]»[0];", "arrays cannot be created", "privateReal"],
  ["const t = «new Float64Array(3)»; out[0] = 1;", "arrays cannot be created", "privateReal"],
  // syntax outside the language
  ["«switch (n) { case 1: out[0] = 1; }»", "switch", "if"],
  ["const f = «(y) => y»; out[0] = f(x);", "function inside a kernel", "fn({"],
  ["«function f() {}» out[0] = x;", "function inside a kernel", "fn({"],
  ["«a: for (;;) { for (;;) { break a; } }»", /label/i, ""],
  ["«try { out[0] = x; } catch {}»", "try is not part", "LIMITATIONS.md"],
  ["«throw x;»", "throw is not part", "LIMITATIONS.md"],
  ["for (const y of «u») out[0] = y;", "runs over a list of `env`", "let i = 0"],
  ["out[0] = «u[0]» ?? 1;", "never null", "length"],
  ["let y; if (flag) y = x; out[0] = «y» ?? 1;", "declared without a value", "where it is declared"],
  ["out[0] = «typeof x»;", "typeof", ""],
  ["out[0] = «this».x;", "this is not part", ""],
  ["out[0] = «10n»;", "bigint", "numbers"],
  ["«return x;»", "returns no value", "buffers"],
  ["const { a = 1 } = pair(x); out[0] = a;", "default", ""],
  // barriers
  ["const i = gpu.localId(); if (i > 3) { «yield»; } out[i] = 1;", "divergent", "move it out"],
  ["const i = gpu.localId(); for (let j = 0; j < i; j++) «yield»;", "divergent", "move it out"],
  ["const i = gpu.localId(); if (i > 3) return; «yield»; out[i] = 1;", "divergent", "early return"],
  ["const i = gpu.localId(); if (v[i] > 0) { out[i] = yield «gpu.subgroupAdd(x)»; }", "divergent", "move it out"],
  ["yield «x»;", /yielded/, "yield gpu.shuffleDown"],
  ["const i = gpu.localId(); if (i > 3) { yield «gpu.awaitFetches(1)»; } out[i] = 1;", "divergent", "move it out"],
  ["«gpu.awaitFetches(1)»;", "collective", "yield"],
  ["yield gpu.awaitFetches(«n»);", "not a constant", "env"],
  ["const t = gpu.sharedReal(8); gpu.fetch(t, 0, u, 0, «3»); out[0] = 1;", "1, 2 or 4", "constant"],
  ["const t = gpu.privateReal(8); gpu.fetch(«t», 0, u, 0, 1); out[0] = 1;", "a shared array here", "gpu.fetch(shared"],
  ["const t = gpu.sharedReal(8); gpu.fetch(t, 0, «t», 0, 1); out[0] = 1;", "a buffer here", "gpu.fetch(shared"],
  ["const t = gpu.sharedI32(8); gpu.fetch(t, 0, «u», 0, 1); out[0] = 1;", "copies real to i32", "one type"],
  ["const t = gpu.sharedReal(8); «gpu.fetch(t, 0, u)»; out[0] = 1;", "takes 5 arguments", ""],
  ["out[0] = yield gpu.shuffleUp(x, 1, «n»);", "not a constant power of two", "env"],
  ["out[0] = yield gpu.shuffleUp(x, 1, «12»);", "not a constant power of two", ""],
  ["out[0] = yield «gpu.shuffleXor(x, 1, 8)»;", "2 argument(s) expected, got 3", ""],
  ["const t = gpu.sharedReal(8); const p = «gpu.part(t)»; out[0] = p[0];", "takes 3 arguments", ""],
  [
    "const t = gpu.sharedReal(8); const p = gpu.part(«t», 4); out[0] = p[0];",
    "a buffer and an index",
    "gpu.part(shared",
  ],
  ["const p = gpu.part(«u», 0, 4); out[0] = p[0];", "a shared array first", "gpu.part(shared"],
  ["const t = gpu.sharedReal(8); const p = gpu.part(t, 4, «n»); out[0] = p[0];", "known only at run time", "env"],
  ["const t = gpu.sharedReal(8); const p = gpu.part(t, 4, «9»); out[0] = p[0];", "9 elements of t, which has 8", ""],
  [
    "const t = gpu.sharedReal(8); const p = gpu.part(t, n, 4); out[0] = «p[4]»;",
    "index 4 is outside t, of length 4",
    "",
  ],
  ["const t = gpu.sharedReal(8); const p = gpu.part(t, «x», 4); out[0] = p[0];", "i32", ""],
];

describe("every error has a place, a caret and a remedy", () => {
  test.each(wrong)("%s", (marked, complaint, remedy) => {
    const start = marked.indexOf("«");
    const error = failureOf(marked.replaceAll(/[«»]/g, ""));
    expect(error.code).toBe("KERNEL");
    expect(error.line).toBe(2);
    const [head, source, caret, ...rest] = error.message.split("\n");
    expect(head).toContain('kernel "wrong", line 2, column ');
    expect(head).toMatch(
      complaint instanceof RegExp ? complaint : new RegExp(complaint.replaceAll(/[.?()[\]]/g, String.raw`\$&`)),
    );
    if (start >= 0) expect(error.column).toBe(start + 3);
    expect(source.slice(4)).toBe(`  ${marked.replaceAll(/[«»]/g, "")}`);
    expect(caret.indexOf("^")).toBe(error.column! + 3);
    if (remedy !== "") {
      expect(rest[0]).toMatch(/^ {2}remedy: /);
      expect(rest[0]).toMatch(
        remedy instanceof RegExp ? remedy : new RegExp(remedy.replaceAll(/[.?()[\]{|]/g, String.raw`\$&`)),
      );
    }
  });
});

describe("other errors", () => {
  test("text that is no function names the place", () => {
    const error = failure(() =>
      lower(kernelFromSource({ name: "broken", params: {}, source: "({ out }) => {\n  out[0] = ;\n}" }), "f64"),
    );
    expect(error.line).toBe(2);
    expect(error.column).toBe(12);
    expect(error.message).toContain("cannot be read as a function");
  });

  test("an error inside a kernel function names that function", () => {
    const inner = fn({ name: "inner", params: [real], body: ([x]) => x + (globalThis as any).offset });
    const k = kernel({
      name: "outer",
      params: { out: write(real) },
      env: { inner },
      body({ out }, _gpu, { inner }) {
        out[0] = inner(1);
      },
    });
    const error = failure(() => lower(k, "f64"));
    expect(error.message).toContain('"inner"');
    expect(error.message).toContain("globalThis is not declared");
  });

  test("recursion", () => {
    const k = kernelFromSource({
      params: PARAMS,
      env: { recursive },
      source: "({ out, x }, gpu, { recursive }) => { out[0] = recursive(x); }",
    });
    expect(failure(() => lower(k, "f64")).message).toMatch(/calls itself[\s\S]*remedy: .*loop/);
  });

  test("the file and line of the declaration are given", () => {
    const k = kernel({
      name: "placed",
      params: { out: write(real) },
      body({ out }) {
        out[0] = Math.random();
      },
    });
    expect(failure(() => lower(k, "f64")).message).toMatch(/declared at .*errors\.test\.ts:\d+:\d+/);
  });

  test("declarations that cannot be", () => {
    const body = (): undefined => undefined;
    expect(() => kernel({ params: {}, groupSize: 0, body })).toThrow(SpecError);
    expect(() => kernel({ params: {}, groupSize: 1.5, body })).toThrow(/whole number from 1 to 1024/);
    expect(() => kernel({ params: { "a b": real }, body })).toThrow(/rename it/);
  });
});
