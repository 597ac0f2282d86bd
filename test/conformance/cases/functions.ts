/** Kernel functions, environments and precision: what the compiler resolves. */
import { bool, fn, i32, kernel, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, uniforms } from "../case.ts";

const polar = fn({
  name: "polar",
  params: [real, real],
  body([x, y]) {
    return { square: x * x + y * y, sum: x + y, ahead: x > y };
  },
});

const clamp = fn({
  name: "clamp",
  params: [real, real, real],
  body([x, low, high]) {
    if (x < low) return low;
    if (x > high) return high;
    return x;
  },
});

const norm = fn({
  name: "norm",
  params: [real, real],
  env: { polar, clamp },
  body([x, y], _gpu, { polar, clamp }) {
    const { square, ahead } = polar(x, y);
    return ahead ? Math.sqrt(square) : clamp(square, 0.25, 0.75);
  },
});

const several: ConformanceCase = {
  name: "functions with several results, calling others",
  kernel: kernel({
    name: "severalResults",
    params: { a: read(real), b: read(real), out: write(real) },
    env: { polar, norm },
    body({ a, b, out }, gpu, { polar, norm }) {
      const i = gpu.globalId();
      const { sum, ahead } = polar(a[i], b[i]);
      out[3 * i] = sum;
      out[3 * i + 1] = ahead ? 1 : 0;
      out[3 * i + 2] = norm(a[i], b[i]) + norm(b[i], a[i]);
    },
  }),
  size: { items: 60 },
  args: ({ real, zeros }) => ({ a: real(uniforms(60)), b: real(uniforms(70).slice(10)), out: zeros(180) }),
  webgpu: { ulps: 8, because: "WGSL may contract, and its square root is good to a few ulp" },
};

const firstDivisor = fn({
  name: "firstDivisor",
  params: [i32],
  body([n]) {
    for (let d = 2; d * d <= n; d++) {
      if (n % d === 0) return d;
    }
    return n;
  },
});

const returnsFromLoop: ConformanceCase = {
  name: "a function that returns from a loop, called in a loop",
  kernel: kernel({
    name: "factors",
    params: { out: write(i32) },
    env: { firstDivisor },
    body({ out }, gpu, { firstDivisor }) {
      const i = gpu.globalId();
      let n = i + 2;
      let count = 0;
      while (n > 1) {
        n = (n / firstDivisor(n)) | 0;
        count++;
      }
      out[i] = count;
    },
  }),
  size: { items: 130 },
  args: () => ({ out: new Int32Array(130) }),
};

const sumOf = fn({
  name: "sumOf",
  params: [read(real), i32, i32],
  body([u, from, to]) {
    let sum = 0;
    for (let k = from; k < to; k++) sum += u[k];
    return sum;
  },
});

const fill = fn({
  name: "fill",
  params: [write(real), real],
  body([t, x], gpu) {
    for (let k = 0; k < t.length; k++) t[k] = x + gpu.real(k);
  },
});

const arrays: ConformanceCase = {
  name: "functions that take buffers and private arrays",
  kernel: kernel({
    name: "arrayArguments",
    params: { u: read(real), out: write(real) },
    env: { sumOf, fill },
    body({ u, out }, gpu, { sumOf, fill }) {
      const i = gpu.globalId();
      const t = gpu.privateReal(5);
      fill(t, u[i]);
      out[2 * i] = sumOf(u, i, u.length);
      out[2 * i + 1] = sumOf(t, 1, t.length);
    },
  }),
  size: { items: 21 },
  args: ({ real, zeros }) => ({ u: real(range(21)), out: zeros(42) }),
};

const pick = fn({
  name: "pick",
  params: [bool, u32, u32],
  body([first, a, b]) {
    return first ? a : b;
  },
});

const environment: ConformanceCase = {
  name: "constants of the environment, dead branches, unrolled loops",
  kernel: kernel({
    name: "environment",
    params: { n: i32, out: write(real), words: write(u32) },
    env: { SCALE: 0.75, STEPS: 5, FAST: false, MODE: "b", pick },
    body({ n, out, words }, gpu, { SCALE, STEPS, FAST, MODE, pick }) {
      const i = gpu.globalId();
      let s = gpu.real(n);
      for (let k = 0; k < STEPS; k++) s = s * SCALE + gpu.real(k * k);
      if (FAST) s = 0;
      if (MODE === "b") s += 0.5;
      else s = -1;
      out[i] = STEPS > 4 ? s : 0;
      words[i] = pick(i % 2 === 0, 0xffffffff, gpu.u32(i));
    },
  }),
  size: { items: 9 },
  args: ({ zeros }) => ({ n: 7, out: zeros(9), words: new Uint32Array(9) }),
};

const precision: ConformanceCase = {
  name: "branches on the precision",
  kernel: kernel({
    name: "precisionBranch",
    params: { out: write(real) },
    body({ out }, gpu) {
      const i = gpu.globalId();
      const digits = gpu.precision === "f32" ? 24 : 53;
      out[i] = gpu.ldexp(1, -digits) + (gpu.precision === "f64" ? 1 : 2);
    },
  }),
  size: { items: 5 },
  args: ({ zeros }) => ({ out: zeros(5) }),
};

const ownParameters = fn({
  name: "ownParameters",
  params: [real, i32],
  body([x, n]) {
    while (n > 0) {
      x *= 0.5;
      n--;
    }
    return x;
  },
});

const parameters: ConformanceCase = {
  name: "a function that changes its parameters leaves the caller's alone",
  kernel: kernel({
    name: "ownParameters",
    params: { x: real, out: write(real) },
    env: { ownParameters },
    body({ x, out }, gpu, { ownParameters }) {
      const i = gpu.globalId();
      let y = x;
      y += ownParameters(y, i);
      out[i] = y + x;
    },
  }),
  size: { items: 8 },
  args: ({ zeros }) => ({ x: 3, out: zeros(8) }),
};

const folding: ConformanceCase = {
  name: "integer constants fold as integers",
  kernel: kernel({
    name: "folding",
    params: { n: i32, out: write(i32), words: write(u32) },
    env: { ZERO: 0, MINUS: -5, A: 0x12345678, B: 0x1e3779b9 },
    body({ n, out, words }, gpu, { ZERO, MINUS, A, B }) {
      const i = gpu.globalId();
      out[6 * i] = Math.imul(A, B);
      out[6 * i + 1] = n + Math.imul(ZERO, MINUS);
      out[6 * i + 2] = n + ZERO * MINUS;
      out[6 * i + 3] = n - -ZERO;
      out[6 * i + 4] = ((MINUS / 2) | 0) + (MINUS % 5);
      out[6 * i + 5] = (A << 8) ^ (B >>> 3);
      words[2 * i] = Math.imul(A, 0x9e3779b9) >>> 0;
      words[2 * i + 1] = (A + 0xffffffff) >>> 0;
      if (i === 0) out[18] = gpu.i32(1e20);
    },
  }),
  size: { items: 3 },
  args: () => ({ n: 7, out: new Int32Array(19), words: new Uint32Array(6) }),
};

export const functionCases: readonly ConformanceCase[] = [
  several,
  returnsFromLoop,
  arrays,
  environment,
  precision,
  parameters,
  folding,
];
