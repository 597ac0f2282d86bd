/** Control flow: branches, loops and their exits, returns, short circuits; all of it divergent between items. */
import { fn, i32, kernel, read, real, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, range } from "../case.ts";

const nested: ConformanceCase = {
  name: "nested divergent branches",
  kernel: kernel({
    name: "nestedBranches",
    params: { out: write(i32) },
    body({ out }, gpu) {
      const i = gpu.globalId();
      let x = 0;
      if (i % 2 === 0) {
        x += 1;
        if (i % 3 === 0) {
          x += 10;
          if (i % 5 === 0) x += 100;
          else x += 200;
        } else if (i % 7 === 0) {
          x += 1000;
        }
      } else {
        x = i > 20 ? 5 : -5;
        if (i % 9 === 0) x *= 2;
      }
      out[i] = x;
    },
  }),
  size: { items: 131 },
  args: () => ({ out: new Int32Array(131) }),
};

const breaks: ConformanceCase = {
  name: "break and continue, each item after its own count",
  kernel: kernel({
    name: "breakAndContinue",
    params: { limit: i32, out: write(i32) },
    body({ limit, out }, gpu) {
      const i = gpu.globalId();
      let sum = 0;
      let trips = 0;
      for (let k = 0; k < limit; k++) {
        if (k % 3 === 1) continue;
        if (k > i) break;
        trips++;
        sum += k;
        if (sum > 200) break;
      }
      out[2 * i] = sum;
      out[2 * i + 1] = trips;
    },
  }),
  size: { items: 77 },
  args: () => ({ limit: 60, out: new Int32Array(154) }),
};

const collatz: ConformanceCase = {
  name: "while loops of very different lengths",
  kernel: kernel({
    name: "collatz",
    params: { out: write(i32) },
    body({ out }, gpu) {
      const i = gpu.globalId();
      let n = i + 1;
      let steps = 0;
      while (n !== 1) {
        n = n % 2 === 0 ? (n / 2) | 0 : 3 * n + 1;
        steps++;
      }
      out[i] = steps;
    },
  }),
  size: { items: 200 },
  args: () => ({ out: new Int32Array(200) }),
};

const nestedLoops: ConformanceCase = {
  name: "nested loops; break leaves only the inner one",
  kernel: kernel({
    name: "nestedLoops",
    params: { n: i32, out: write(i32) },
    body({ n, out }, gpu) {
      const i = gpu.globalId();
      let sum = 0;
      for (let j = 0; j < n; j++) {
        if (j === (i & 3)) continue;
        let k = 0;
        while (true) {
          if (k > j) break;
          if ((k ^ i) % 5 === 0) {
            k += 2;
            continue;
          }
          sum += j * k + 1;
          k++;
        }
        if (sum > 40 * i) break;
      }
      out[i] = sum;
    },
  }),
  size: { items: 65 },
  args: () => ({ n: 9, out: new Int32Array(65) }),
};

const doWhile: ConformanceCase = {
  name: "do-while runs once at least; continue goes to the test",
  kernel: kernel({
    name: "doWhile",
    params: { a: read(i32), out: write(i32) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      let left = a[i];
      let sum = 0;
      do {
        left--;
        if (left % 4 === 0) continue;
        sum += left;
      } while (left > 0);
      out[i] = sum;
    },
  }),
  size: { items: 40 },
  args: () => ({ a: i32s(...range(40).map((i) => i - 5)), out: new Int32Array(40) }),
};

const doubleExit: ConformanceCase = {
  name: "return from inside nested loops",
  kernel: kernel({
    name: "returnFromLoops",
    params: { n: i32, out: write(i32) },
    body({ n, out }, gpu) {
      const i = gpu.globalId();
      out[i] = -1;
      if (i === 13) return;
      for (let a = 1; a < n; a++) {
        for (let b = a; b < n; b++) {
          if (a * b === i) {
            out[i] = 100 * a + b;
            return;
          }
          if (a * b > i) break;
        }
        if (i > 60) return;
      }
      out[i] = -2;
    },
  }),
  size: { items: 70 },
  args: () => ({ n: 12, out: new Int32Array(70) }),
};

const guards: ConformanceCase = {
  name: "short circuits and conditionals guard loads",
  kernel: kernel({
    name: "guardedLoads",
    params: { n: i32, u: read(real), out: write(real) },
    body({ n, u, out }, gpu) {
      const i = gpu.globalId();
      const left = i > 0 ? u[i - 1] : 0;
      const right = i < n - 1 ? u[i + 1] : 0;
      let value = left + right;
      if (i + 5 < n && u[i + 5] > 10) value += 1000;
      if (i - 5 < 0 || u[i - 5] > 10) value += 2000;
      const far = i + 7 < n && (u[i + 7] > 20 || u[i] < 3);
      out[i] = far ? -value : value;
    },
  }),
  size: { items: 45 },
  args: ({ real, zeros }) => ({ n: 45, u: real(range(45).map((i) => (i * 7) % 31)), out: zeros(45) }),
};

const effects: ConformanceCase = {
  name: "assignments and steps inside expressions, in JavaScript's order",
  kernel: kernel({
    name: "effects",
    params: { out: write(i32) },
    body({ out }, gpu) {
      const i = gpu.globalId();
      const at = 8 * i;
      let k = i;
      out[at] = k++ + k;
      out[at + 1] = ++k * 2 - k--;
      let a = 1;
      let b = 2;
      a = b = k + 3;
      out[at + 2] = a + b;
      out[at + 3] = a + (a = 5) + a;
      a += b -= 3;
      out[at + 4] = a;
      const old = a;
      a = 77;
      out[at + 5] = old;
      b = (a > 3 && (b = 9) > 2) || (a = 4) > 0 ? b : a;
      out[at + 6] = b * 100 + a;
      out[at + 7] = out[at + 5] + 1;
      out[at + 7] += out[at + 6];
    },
  }),
  size: { items: 5 },
  args: () => ({ out: new Int32Array(40) }),
};

const memory: ConformanceCase = {
  name: "a value read before a store stays what it was",
  kernel: kernel({
    name: "readThenStore",
    params: { u: write(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      const before = u[i];
      u[i] = before + 1;
      const stored = (u[i] = u[i] * 2);
      out[3 * i] = before;
      out[3 * i + 1] = stored;
      u[i] += stored;
      out[3 * i + 2] = u[i] - before;
    },
  }),
  size: { items: 11 },
  args: ({ real, zeros }) => ({ u: real(range(11)), out: zeros(33) }),
};

const uniform: ConformanceCase = {
  name: "branches and loops on parameters",
  kernel: kernel({
    name: "uniformFlow",
    params: { mode: i32, n: i32, x: real, out: write(real) },
    body({ mode, n, x, out }, gpu) {
      const i = gpu.globalId();
      let s = x;
      for (let k = n; k > 0; k -= 2) {
        if (mode === 1) s += 0.5;
        else if (mode === 2) {
          if (k < 4) break;
          s -= 0.25;
        }
      }
      out[i] = s;
    },
  }),
  size: { items: 33 },
  args: ({ zeros }) => ({ mode: 2, n: 9, x: 4, out: zeros(33) }),
};

const newton: ConformanceCase = {
  name: "iteration until convergence, in reals",
  kernel: kernel({
    name: "newton",
    params: { a: read(real), out: write(real), steps: write(i32) },
    body({ a, out, steps }, gpu) {
      const i = gpu.globalId();
      let x = 1;
      let n = 0;
      while (n < 50) {
        n++;
        const next = x - (x * x * x - a[i]) * 0.01;
        if (Math.abs(next - x) < 0.001) break;
        x = next;
      }
      out[i] = x;
      steps[i] = n;
    },
  }),
  size: { items: 37 },
  args: ({ real, zeros }) => ({ a: real(range(37).map((i) => i / 4)), out: zeros(37), steps: new Int32Array(37) }),
  webgpu: { absolute: 1e-5, because: "WGSL may contract; the stopping decisions of these items are not that close" },
};

const square = fn({ params: [real], body: ([x]) => x * x });
const atLeastOne = fn({ params: [real], body: ([x]) => Math.max(x, 1) });

/** Entries of `env` by number, by name and one after another; small arrays with constant indexes. */
const lists = kernel({
  name: "lists",
  params: { a: read(real), out: write(real) },
  env: {
    terms: [
      { weight: 0.5, f: square, k: 1 },
      { weight: -2, f: undefined, k: 0 },
      { weight: 3, f: atLeastOne, k: 2 },
    ],
    scales: [1, 10, 100],
    rest: { shift: 0.25 },
  },
  body({ a, out }, gpu, { terms, scales, rest }) {
    const i = gpu.globalId();
    const x = gpu.privateReal(terms.length);
    for (let k = 0; k < terms.length; k++) x[k] = a[i] + scales[k];
    let sum = rest.shift;
    for (const { weight, f, k } of terms) {
      if (f !== undefined) sum += weight * f(x[k]);
      if (a[i] > 4) x[k] = sum;
    }
    out[i] = sum + x[0] - x[2] * scales[1];
  },
});

const listCase: ConformanceCase = {
  name: "a loop over a list of functions and constants",
  kernel: lists,
  size: { items: 37 },
  args: ({ real, zeros }) => ({ a: real(range(37).map((i) => i / 4)), out: zeros(37) }),
};

export const controlCases: readonly ConformanceCase[] = [
  nested,
  breaks,
  collatz,
  nestedLoops,
  doWhile,
  doubleExit,
  guards,
  effects,
  memory,
  uniform,
  newton,
  listCase,
];
