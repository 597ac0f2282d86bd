/** What build tools make of kernels: the same results, and the same IR where they only rename; or an error that names the tool. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import { minify } from "terser";
import { describe, expect, test } from "vitest";
import { KernelError } from "../../src/errors.ts";
import { canonicalText, kernelFromSource, lower, real, write } from "../../src/kernel/index.ts";
import type * as Conformance from "../conformance/cases/index.ts";
import { arraysOf, type ConformanceCase } from "../conformance/case.ts";
import { cases } from "../conformance/cases/index.ts";
import { differences } from "../conformance/compare.ts";
import { inInterpreter } from "../conformance/run.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** One file with every case, and with the front end and the library of functions, as an application would ship them. */
async function bundle(
  options: { minify?: boolean; minifyIdentifiers?: boolean; minifyWhitespace?: boolean } = {},
): Promise<string> {
  const result = await build({
    entryPoints: [here("../conformance/cases/index.ts")],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    ...options,
  });
  return result.outputFiles[0].text;
}

async function terse(compress: boolean): Promise<string> {
  const { code } = await minify(await bundle(), {
    toplevel: true,
    mangle: { toplevel: true },
    compress: compress ? { passes: 3, unsafe_math: false } : false,
  });
  return code!;
}

function casesOf(code: string): readonly ConformanceCase[] {
  const module = { exports: {} as typeof Conformance };
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  new Function("module", "exports", code)(module, module.exports);
  return module.exports.cases;
}

const canonical = (list: readonly ConformanceCase[]): string[] =>
  list.map(({ kernel }) => canonicalText(lower(kernel, "f64")));

/** What is different about a minified kernel: results, or that it no longer compiles. */
function changes(original: ConformanceCase, minified: ConformanceCase): string[] {
  const args = original.args(arraysOf("f64"));
  const expected = inInterpreter(original, "f64", args);
  try {
    const actual = inInterpreter(minified, "f64", args);
    return Object.keys(expected).flatMap((name) =>
      differences(`${original.name}: ${name}`, actual[name], expected[name], undefined),
    );
  } catch (error) {
    return [`${original.name}: ${(error as Error).message}`];
  }
}

describe("tools that only rename and strip", () => {
  test.each([
    [
      "esbuild --minify-identifiers --minify-whitespace",
      () => bundle({ minifyIdentifiers: true, minifyWhitespace: true }),
    ],
  ])("%s: the same IR", async (_, make) => {
    expect(canonical(casesOf(await make()))).toEqual(canonical(cases));
  });

  test("tsx: the same IR as under the test runner", async () => {
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

describe.each([
  ["esbuild --minify", () => bundle({ minify: true })],
  // Its short names shadow each other, which the front end answers with a local more.
  ["terser --mangle toplevel", () => terse(false)],
  ["terser --toplevel --mangle --compress", () => terse(true)],
])("%s, which rewrites code", (_, make) => {
  test("every kernel gives the same results", async () => {
    expect(casesOf(await make()).flatMap((spec, k) => changes(cases[k], spec))).toEqual([]);
  });
});

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
