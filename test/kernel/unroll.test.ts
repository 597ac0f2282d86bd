/** Loops that are unrolled for compilers of WGSL: those that keep a small private array out of registers. */
import { expect, test } from "vitest";
import { emitWgsl } from "../../src/kernel/emit/wgsl/index.ts";
import { kernelFromSource, lower, read, real, write } from "../../src/kernel/index.ts";

const IO = { x: read(real), out: write(real) } as const;

/** Loops left in WGSL. */
function loopsIn(source: string, precision: "f32" | "f32x2" = "f32"): number {
  const { code } = emitWgsl(lower(kernelFromSource({ params: IO, source }), precision));
  return code.match(/\bloop \{/g)?.length ?? 0;
}

const filled = (length: number): string =>
  `({ x, out }, gpu) => { const t = gpu.privateReal(${length}); for (let k = 0; k < ${length}; k++) t[k] = x[k]; let s = 0;
    for (let k = 0; k < ${length}; k++) s += t[k]; out[gpu.globalId()] = s; }`;

test("arrays that registers hold have constant indexes, larger ones keep their loops", () => {
  expect(loopsIn(filled(100))).toBe(0);
  expect(loopsIn(filled(129))).toBe(2);
  expect(loopsIn(filled(33), "f32x2")).toBe(2);
});

test("inner loops of a nest that is too large as a whole are unrolled, not outer ones", () => {
  const nest = `({ x, out }, gpu) => { const t = gpu.privateReal(16); for (let k = 0; k < 16; k++) t[k] = 0;
    for (let p = 0; p < 30; p++) for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) t[4 * i + j] += x[p] * x[i + p] * x[j];
    let s = 0; for (let k = 0; k < 16; k++) s += t[k]; out[gpu.globalId()] = s; }`;
  expect(loopsIn(nest)).toBe(1);
});

test("a branch that constant indexes make dead is gone, and with it an index beyond the array's end", () => {
  const edge = `({ x, out }, gpu) => { const t = gpu.privateReal(40); for (let k = 0; k < 40; k++) t[k] = x[k];
    let s = 0; for (let k = 0; k < 40; k++) { if (k < 39) s += t[k + 1] * t[k]; } out[gpu.globalId()] = s; }`;
  expect(loopsIn(edge)).toBe(0);
  const { code } = emitWgsl(lower(kernelFromSource({ params: IO, source: edge }), "f32"));
  expect(code).not.toMatch(/\[40i\]|39i \+ 1i/);
});

test("loops that break, or whose trips nobody knows, stay", () => {
  expect(
    loopsIn(`({ x, out }, gpu) => { const t = gpu.privateReal(40); for (let k = 0; k < 40; k++) { if (x[k] > 1) break; t[k] = x[k]; }
      out[gpu.globalId()] = t[0]; }`),
  ).toBe(1);
  expect(
    loopsIn(`({ x, out }, gpu) => { const t = gpu.privateReal(40); const n = gpu.i32(x[0]); for (let k = 0; k < n; k++) t[k] = x[k];
      out[gpu.globalId()] = t[0]; }`),
  ).toBe(1);
});

test("of && and || with a constant side, what the other side decides is left", () => {
  const source = (test: string): string =>
    `({ x, out }, gpu) => { const t = gpu.privateReal(40); for (let k = 0; k < 40; k++) t[k] = x[k]; let s = 0;
      for (let k = 0; k < 40; k++) { if (${test}) s += t[k]; } out[gpu.globalId()] = s; }`;
  const code = (test: string): string =>
    emitWgsl(lower(kernelFromSource({ params: IO, source: source(test) }), "f32")).code;
  const ifs = (test: string): number => code(test).match(/\bif \(/g)?.length ?? 0;
  const none = ifs("k < 40");
  // Every fourth test is true: with && x decides these terms, with || the others.
  expect(ifs("(k & 3) === 0 && x[k] > 0") - none).toBe(10);
  expect(ifs("(k & 3) === 0 || x[k] > 0") - none).toBe(30);
});
