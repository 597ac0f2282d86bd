/**
 * The functions written in the kernel language: equal bits wherever arithmetic is exact, close where WGSL contracts.
 */
import { kernel, read, real, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, uniforms } from "../case.ts";

const BECAUSE = "WGSL divides to 2.5 ulp and may contract";

const SMALL = [...uniforms(60, -20, 20), 0, 1, -1, 1e-5, -1e-5, 50, -50];
const POSITIVE = [...uniforms(60, 0.001, 30), 1, 2, 1e-6, 1e6, 0.999, 1.001, 1e30];

const exponentials: ConformanceCase = {
  name: "exp, expm1",
  kernel: kernel({
    name: "exponentials",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = Math.exp(a[i]);
      out[2 * i + 1] = Math.expm1(a[i]);
    },
  }),
  size: { items: SMALL.length },
  args: ({ real, zeros }) => ({ a: real(SMALL), out: zeros(2 * SMALL.length) }),
  webgpu: { ulps: 8, because: BECAUSE },
  javaScript: { ulps: 2, because: "the engine has functions of its own" },
};

const logarithms: ConformanceCase = {
  name: "log, log1p, log2, log10",
  kernel: kernel({
    name: "logarithms",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[4 * i] = Math.log(a[i]);
      out[4 * i + 1] = Math.log1p(a[i]);
      out[4 * i + 2] = Math.log2(a[i]);
      out[4 * i + 3] = Math.log10(a[i]);
    },
  }),
  size: { items: POSITIVE.length },
  args: ({ real, zeros }) => ({ a: real(POSITIVE), out: zeros(4 * POSITIVE.length) }),
  webgpu: { ulps: 8, absolute: 1e-9, because: `${BECAUSE}; near 1 the terms cancel` },
  javaScript: { ulps: 2, because: "the engine has functions of its own" },
};

const errorFunctions: ConformanceCase = {
  name: "erf, erfc",
  kernel: kernel({
    name: "errorFunctions",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = gpu.erf(a[i] * 0.25);
      out[2 * i + 1] = gpu.erfc(a[i] * 0.25);
    },
  }),
  size: { items: SMALL.length },
  args: ({ real, zeros }) => ({ a: real(SMALL), out: zeros(2 * SMALL.length) }),
  webgpu: { ulps: 64, because: `${BECAUSE}; the tails multiply relative errors of the exponent` },
};

const distribution: ConformanceCase = {
  name: "the normal distribution and its density",
  kernel: kernel({
    name: "normal",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = gpu.normalCdf(a[i] * 0.25);
      out[2 * i + 1] = gpu.normalPdf(a[i] * 0.25);
    },
  }),
  size: { items: SMALL.length },
  args: ({ real, zeros }) => ({ a: real(SMALL), out: zeros(2 * SMALL.length) }),
  webgpu: { ulps: 64, because: `${BECAUSE}; the tails multiply relative errors of the exponent` },
};

const QUANTILES = [...range(99).map((i) => (i + 1) / 100), 1e-6, 0.001, 0.9999];

const quantiles: ConformanceCase = {
  name: "the inverse of the normal distribution",
  kernel: kernel({
    name: "quantile",
    params: { p: read(real), out: write(real) },
    body({ p, out }, gpu) {
      const i = gpu.globalId();
      out[i] = gpu.inverseNormalCdf(p[i]);
    },
  }),
  size: { items: QUANTILES.length },
  args: ({ real, zeros }) => ({ p: real(QUANTILES), out: zeros(QUANTILES.length) }),
  webgpu: { ulps: 32, absolute: 1e-7, because: BECAUSE },
};

const powers: ConformanceCase = {
  name: "pow with real exponents",
  kernel: kernel({
    name: "powers",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[i] = a[i] ** (b[i] * 0.2);
    },
  }),
  size: { items: 60 },
  args: ({ real, zeros }) => ({ a: real(POSITIVE.slice(0, 60)), b: real(SMALL.slice(0, 60)), out: zeros(60) }),
  webgpu: { ulps: 128, because: `${BECAUSE}; the exponent multiplies the logarithm's error` },
  javaScript: { ulps: 4, because: "the engine has functions of its own" },
};

const trigonometry: ConformanceCase = {
  name: "sin, cos, tan, atan, atan2",
  kernel: kernel({
    name: "trigonometry",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[5 * i] = Math.sin(a[i]);
      out[5 * i + 1] = Math.cos(a[i]);
      out[5 * i + 2] = Math.tan(a[i]);
      out[5 * i + 3] = Math.atan(a[i]);
      out[5 * i + 4] = Math.atan2(a[i], b[i]);
    },
  }),
  size: { items: 60 },
  args: ({ real, zeros }) => ({ a: real(SMALL.slice(0, 60)), b: real(SMALL.slice(1, 61)), out: zeros(300) }),
  webgpu: { ulps: 64, absolute: 2e-6, because: `${BECAUSE}; near zeros only absolute errors are small` },
  javaScript: { ulps: 4, because: "the engine has functions of its own" },
};

const arcs: ConformanceCase = {
  name: "asin, acos, sinh, cosh, tanh, cbrt",
  kernel: kernel({
    name: "arcs",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[6 * i] = Math.asin(a[i]);
      out[6 * i + 1] = Math.acos(a[i]);
      out[6 * i + 2] = Math.sinh(a[i] * 5);
      out[6 * i + 3] = Math.cosh(a[i] * 5);
      out[6 * i + 4] = Math.tanh(a[i] * 5);
      out[6 * i + 5] = Math.cbrt(a[i] * 100);
    },
  }),
  size: { items: 63 },
  args: ({ real, zeros }) => ({ a: real([...uniforms(60, -1, 1), 1, -1, 0]), out: zeros(378) }),
  webgpu: { ulps: 64, absolute: 2e-6, because: `${BECAUSE}; near zeros only absolute errors are small` },
  javaScript: { ulps: 4, because: "the engine has functions of its own" },
};

const divergent: ConformanceCase = {
  name: "library functions in divergent branches",
  kernel: kernel({
    name: "divergentCalls",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      let x = a[i];
      if (i % 3 === 0) x = Math.exp(x * 0.1);
      else if (x > 0) x = Math.log(x);
      else x = gpu.normalCdf(x);
      out[i] = x;
    },
  }),
  size: { items: SMALL.length },
  args: ({ real, zeros }) => ({ a: real(SMALL), out: zeros(SMALL.length) }),
  webgpu: { ulps: 64, absolute: 1e-7, because: BECAUSE },
  javaScript: { ulps: 2, because: "the engine has functions of its own" },
};

export const libraryCases: readonly ConformanceCase[] = [
  exponentials,
  logarithms,
  errorFunctions,
  distribution,
  quantiles,
  powers,
  trigonometry,
  arcs,
  divergent,
];
