/**
 * What build tools make of kernels: the same results, and the same IR where they only rename; or an error that names
 * the tool.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import {
  bool,
  canonicalText,
  functionFromSource,
  i32,
  kernelFromSource,
  lower,
  read,
  real,
  write,
} from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { arraysOf, type ConformanceCase } from "../conformance/case.ts";
import { cases } from "../conformance/cases/index.ts";
import { differences } from "../conformance/compare.ts";
import { caseOf } from "../conformance/programs/case.ts";
import { functions } from "../conformance/programs/functions.ts";
import { programs } from "../conformance/programs/generate.ts";
import { expectedOf, inInterpreter } from "../conformance/run.ts";
import { counted, everything } from "../support/extent.ts";
import { minifiers, renamer } from "../support/minifiers.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** One module with every case, and with the library of functions, as an application would ship them. */
async function bundle(options: { minifyIdentifiers?: boolean; minifyWhitespace?: boolean } = {}): Promise<string> {
  const result = await build({
    entryPoints: [here("../conformance/cases/index.ts")],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "esnext",
    ...options,
  });
  return result.outputFiles[0].text;
}

const load = async <T>(code: string): Promise<T> =>
  (await import(/* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)) as T;
const casesOf = async (code: string): Promise<readonly ConformanceCase[]> =>
  (await load<{ cases: readonly ConformanceCase[] }>(code)).cases;

const canonical = (list: readonly ConformanceCase[]): string[] =>
  list.map(({ kernel }) => canonicalText(lower(kernel, "f64")));

/** What is different about a minified kernel: results, or that it no longer compiles. */
function changes(original: ConformanceCase, minified: ConformanceCase): string[] {
  const expected = expectedOf(original, "f64");
  try {
    const actual = inInterpreter(minified, "f64", original.args(arraysOf("f64")));
    return Object.keys(expected).flatMap((name) =>
      differences(`${original.name}: ${name}`, actual[name], expected[name], undefined),
    );
  } catch (error) {
    return [`${original.name}: ${(error as Error).message}\n${original.kernel.source}`];
  }
}

describe("tools that only rename and strip", () => {
  test("esbuild --minify-identifiers --minify-whitespace: the same IR", async () => {
    const code = await bundle({ minifyIdentifiers: true, minifyWhitespace: true });
    expect(canonical(await casesOf(code))).toEqual(canonical(cases));
  });

  // test/documents/api runs every example of a docstring by tsx.
  test.skipIf(!everything)("tsx: the same IR as under the test runner", async () => {
    const script = `
      import { cases } from ${JSON.stringify(here("../conformance/cases/index.ts"))};
      import { canonicalText, lower } from ${JSON.stringify(here("../../src/kernel/index.ts"))};
      process.stdout.write(JSON.stringify(cases.map(({ kernel }) => canonicalText(lower(kernel, "f64")))));`;
    const args = ["--import", "tsx", "--input-type=module", "--eval", script];
    const options = { cwd: here("../.."), maxBuffer: 2 ** 28 };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    expect(JSON.parse(stdout)).toEqual(canonical(cases));
  });
});

const PROGRAMS = counted("FEYNKAC_PROGRAMS", 20, 100);
const seed = Number(process.env["FEYNKAC_SEED"] ?? 20261121);

describe("tools that rewrite code", async () => {
  const suite = await bundle();
  const generated = fc.sample(programs("anything"), { numRuns: PROGRAMS, seed }).map(({ source }) => source);
  const originals = generated.map((source) => caseOf(source));

  // `npm run check:package` runs the whole package by each of them.
  const chosen = everything ? minifiers : minifiers.filter(({ name }) => /Terser|Oxc/.test(name));
  describe.each([...chosen, renamer])("$name", ({ name, minify }) => {
    // Terser takes seconds for so much code.
    test.skipIf(!everything && name !== "Oxc")(
      "every kernel of the conformance suite gives the same results",
      async () => {
        const minified = await casesOf(await minify(suite));
        expect(minified.flatMap((spec, k) => changes(cases[k], spec))).toEqual([]);
      },
    );

    test("random kernels give the same results", async () => {
      const module = `export const list = [${generated.map((source) => `(${source})`).join(",\n")}];`;
      const { list } = await load<{ list: readonly (() => void)[] }>(await minify(module));
      expect(list.flatMap((body, k) => changes(originals[k], caseOf(body.toString())))).toEqual([]);
    });
  });
});

const PARAMS = { n: i32, x: real, flag: bool, u: read(real), out: write(real), counts: write(i32), more: write(i32) };

const returning = (name: string, source: string) => functionFromSource({ name, params: [real, i32], source });
const ENV = {
  ...functions,
  last: functionFromSource({ name: "last", params: [i32, read(real)], source: "([k, t]) => t[k]" }),
  early: returning(
    "early",
    "([x, n]) => { if (x > 1) return { a: 1, b: n }; if (n > 2) return { a: x, b: 3 }; return { a: 0, b: 0 }; }",
  ),
  late: returning("late", "([x, n]) => x > 1 ? { a: 1, b: n } : n > 2 ? { a: x, b: 3 } : { a: 0, b: 0 }"),
};

function irOf(body: string): string {
  const source = `({ n, x, flag, u, out, counts, more }, gpu, { pair, stir, search, last }) => { ${body} }`;
  return canonicalText(lower(kernelFromSource({ name: "k", params: PARAMS, env: ENV, source }), "f64"));
}

describe("what minifiers write means what was written", () => {
  test.each([
    ["out[0] = x > 1 ? 1 : 0;", "out[0] = +(x > 1);"],
    ["out[0] = flag ? 1 : 0;", "out[0] = +!!flag;"],
    ["out[0] = flag ? 0 : 1;", "out[0] = +!flag;"],
    ["counts[0] = x > 1 ? 1 : 0;", "counts[0] = +(x > 1);"],
    ["const k = flag ? 1 : 0; out[0] = k * x;", "out[0] = flag * x;"],
    ["const k = flag ? 1 : 0; counts[k] = n - k;", "const k = +flag; counts[k] = n - k;"],
    ["out[0] = 0.5 * (x > 1 ? 1 : 0);", "out[0] = .5 * (x > 1);"],
    ["counts[0] = -(x > 1 ? 1 : 0);", "counts[0] = -(x > 1);"],
    ["counts[0] = (flag ? 1 : 0) | 0;", "counts[0] = flag | 0;"],
    ["counts[0] = ~(flag ? 1 : 0);", "counts[0] = ~flag;"],
    ["counts[0] += flag ? 1 : 0;", "counts[0] += flag;"],
    ["if (true === x > 1) out[0] = 1;", "if (1 == x > 1) out[0] = 1;"],
    ["let a = x > 1; a = a || x < 0; out[0] = a ? x : 2;", "let a = x > 1; out[0] = a || x < 0 ? x : 2;"],
    ["let a = flag; if (!a) a = x < 0; out[0] = a ? x : 2;", "let a = flag; a ||= x < 0; out[0] = a ? x : 2;"],
    ["let a = flag; if (a) a = x < 0; out[0] = a ? x : 2;", "let a = flag; a &&= x < 0; out[0] = a ? x : 2;"],
    ["let a = n & 3; if (!a) a = 7; counts[0] = a;", "let a = n & 3; a ||= 7; counts[0] = a;"],
    ["if (!counts[n & 3]) counts[n & 3] = 7;", "counts[n & 3] ||= 7;"],
    ["counts[0] = n ? n : 7;", "counts[0] = n || 7;"],
    ["counts[0] = n ? 7 : n;", "counts[0] = n && 7;"],
    ["if (flag && (n & 1) !== 0) out[0] = 1;", "flag && n & 1 && (out[0] = 1);"],
    ["if (!(flag && (n & 1) !== 0)) out[0] = 1;", "flag && n & 1 || (out[0] = 1);"],
    ["if (flag ? x > 1 : (n & 1) !== 0) out[0] = 1;", "(flag ? x > 1 : n & 1) && (out[0] = 1);"],
    ["counts[0] = ((n / counts[1]) | 0) & 3;", "counts[0] = n / counts[1] & 3;"],
    ["counts[0] = n << ((n / 3) | 0);", "counts[0] = n << n / 3;"],
    ["counts[0] ^= (n / 3) | 0;", "counts[0] ^= n / 3;"],
    ["counts[0] = ~((n / 3) | 0);", "counts[0] = ~(n / 3);"],
    ["counts[0] = (n / 3) | 0;", "counts[0] = 0 | n / 3;"],
    ["counts[0] = (flag ? (n >>> 1) | 0 : n) & 7;", "counts[0] = 7 & (flag ? n >>> 1 : n);"],
    ["let a = 3 & n; a = 2 ^ 0; if (a) a = n; counts[0] = a;", "let a = 2; a &&= n; counts[0] = a;"],
    ["let a; a = 2; out[0] = a * x;", "let a = void 0; a = 2; out[0] = a * x;"],
    ["if (n > 2) { return; } else { out[0] = 1; }", "return n > 2 ? void 0 : void (out[0] = 1);"],
    ["if (flag) stir(out, n, flag);", "return flag ? void stir(out, n, flag) : void 0;"],
    [
      "if (flag) gpu.atomicAdd(counts, 0, n); else gpu.atomicAdd(more, 0, n);",
      "gpu.atomicAdd(flag ? counts : more, 0, n);",
    ],
    ["out[0] = u[n & 3];", "out[0] = u?.[n & 3];"],
    ["let a = x; a = a + 1; out[0] = a;", "let a = x; a ??= 2; a = a + 1; out[0] = a ?? 3;"],
  ])("%s  %s", (written, minified) => expectSame(written, minified, [-3.7, 0.25, 2, 2e9]));

  test.each([
    {
      written: "counts[0] = (n / -1) | 0; more[0] = (n / -7) | 0;",
      minified: "counts[0] = 0 | -(n / 1); more[0] = -(n / 7) | 0;",
    },
    {
      written: "counts[0] = (x / -0.3) | 0; more[0] = (((n >>> 0) / 7) >>> 0) | 0;",
      minified: "counts[0] = 0 | -(x / .3); more[0] = (n >>> 0) / 7 | 0;",
    },
    {
      written: "counts[0] = (x | 0) & 255; more[0] = ((x | 0) >>> 3) | 0;",
      minified: "counts[0] = x & 255; more[0] = x >>> 3 | 0;",
    },
    {
      written: "counts[0] = (x >>> 0) & 255; more[0] = ((x >>> 0) >>> 3) | 0;",
      minified: "counts[0] = x & 255; more[0] = x >>> 3 | 0;",
      reals: [0.25, 3e9],
    },
    {
      written: "if (flag) stir(out, n & 3, true); else stir(other, n & 3, true);",
      minified: "stir(flag ? out : other, n & 3, !0);",
    },
    {
      written:
        "const q = search(3, n); if (x > 1) { stir(out, q, true); } else if (flag) { stir(other, q, true); } else { stir(out, 1, true); }",
      minified: "const q = search(3, n); x > 1 ? stir(out, q, !0) : stir(flag ? other : out, flag ? q : 1, !0);",
    },
    {
      written:
        "let p = 0.5; if (flag) { const { half } = pair(x, n); p = half; } else { const { half } = pair(out[1], 3); p = half; } out[0] = p;",
      minified: "const { half: p } = flag ? pair(x, n) : pair(out[1], 3); out[0] = p;",
    },
    {
      written: "const { a, b } = early(x, n); out[0] = a; counts[0] = b;",
      minified: "const { a, b } = late(x, n); out[0] = a; counts[0] = b;",
    },
  ])("$written  $minified", ({ written, minified, reals = [-3.7, 0.25, 2, 2e9] }) =>
    expectSame(written, minified, reals),
  );

  test.each([
    ["out[0] = u[n] ?? 0;", /an element of an array is never null/],
    ["let a; if (flag) a = x; out[0] = a ?? 0;", /declared without a value/],
    ["let a; if (flag) a = x; a ??= 0; out[0] = a;", /declared without a value/],
    ["let k = 0; stir((k = 1, flag ? out : counts), 0, flag);", /used as a number/],
    ["const a = flag ? u : out; out[0] = a[0];", /used as a number/],
    ["out[0] = last(n++, n > 3 ? u : out);", /an array is chosen at run time, after an argument with effects/],
    ["if (1 === flag) out[0] = 1;", /mixed/],
  ])("%s is refused", (body, message) => {
    expect(() => irOf(body)).toThrow(message);
  });
});

function expectSame(written: string, minified: string, reals: readonly number[]): void {
  for (const n of [-2147483648, -8, 0, 1, 3])
    for (const flag of [true, false])
      for (const x of reals) expect(resultsOf(minified, { n, flag, x })).toEqual(resultsOf(written, { n, flag, x }));
}

/** Everything that a body leaves in its arrays. */
function resultsOf(body: string, args: { n: number; x: number; flag: boolean }): Record<string, ArrayLike<number>> {
  const kernel = kernelFromSource({
    name: "k",
    params: { ...PARAMS, other: write(real) },
    env: ENV,
    source: `({ n, x, flag, u, out, other, counts, more }, gpu, { pair, stir, search, early, late }) => { ${body} }`,
  });
  const arrays = {
    u: Float64Array.of(1, 2, 3, 4),
    out: Float64Array.of(5, 6, 7, 8),
    other: Float64Array.of(-1, -2, -3, -4),
    counts: new Int32Array(4),
    more: new Int32Array(4),
  };
  interpret(lower(kernel, "f64"), { ...args, ...arrays }, { items: 1 });
  return arrays;
}

describe("tools that leave something behind are named", () => {
  const messageOf = (source: string): string => {
    try {
      lower(kernelFromSource({ name: "k", params: { x: real, out: write(real) }, source }), "f64");
    } catch (error) {
      expect(error).toBeInstanceOf(KernelError);
      return (error as Error).message;
    }
    throw new Error("no error");
  };

  test("esbuild --keep-names", async () => {
    const source = "({ x, out }) => { const half = (y) => 0.5 * y; out[0] = half(x); }";
    const { code } = await transform(`use(${source});`, { keepNames: true });
    const text = /use\(([\s\S]*)\);/.exec(code)![1];
    expect(text).toContain("__name(");
    expect(messageOf(text)).toMatch(/keepNames/);
  });

  test("istanbul's counters", () => {
    const message = messageOf("({ x, out }) => { cov_1f3kd9().f[0]++; cov_1f3kd9().s[1]++; out[0] = x; }");
    expect(message).toMatch(/istanbul/);
    expect(message).toMatch(/V8 coverage/);
  });

  test("vite's imports, Stryker's switches", () => {
    expect(messageOf("({ x, out }) => { out[0] = x * __vite_ssr_import_0__.SCALE; }")).toMatch(/vite/);
    expect(messageOf('({ x, out }) => { if (stryMutAct_9fa48("1")) {} else { out[0] = x; } }')).toMatch(/Stryker/);
  });
});
