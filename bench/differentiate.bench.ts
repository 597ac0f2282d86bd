/** Derivatives of kernel functions beside their values: a closed form, and a path of 64 steps under Heston's model. */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import { fn, type FunctionSpec, gradient, kernelFromSource, read, real, tangent, write } from "../src/kernel/index.ts";
import type { CompiledKernel } from "../src/device/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";

const formula = fn({
  params: { S: real, K: real, sigma: real, r: real, t: real },
  body({ S, K, sigma, r, t }, gpu) {
    const s = sigma * Math.sqrt(t);
    const d1 = (Math.log(S / K) + (r + 0.5 * sigma ** 2) * t) / s;
    return S * gpu.normalCdf(d1) - K * Math.exp(-r * t) * gpu.normalCdf(d1 - s);
  },
});

/** A put on a path of the full truncation scheme, on 64 steps; its draws are not normal, which costs the same. */
const path = fn({
  params: { S: real, v: real, kappa: real, theta: real, xi: real, rho: real, seed: real },
  body({ S, v, kappa, theta, xi, rho, seed }) {
    let x = Math.log(S);
    let u = v;
    let w = seed;
    for (let k = 0; k < 64; k++) {
      w = w * 16807.13;
      w = w - Math.floor(w);
      const a = 2 * w - 1;
      w = w * 48271.7 + 0.13;
      w = w - Math.floor(w);
      const b = 2 * w - 1;
      const positive = Math.max(u, 0);
      const root = Math.sqrt(0.01 * positive);
      x = x - 0.005 * positive + root * (rho * a + Math.sqrt(1 - rho * rho) * b);
      u = u + kappa * (theta - positive) * 0.01 + xi * root * a;
    }
    return Math.max(100 - Math.exp(x), 0);
  },
});

interface Case {
  readonly name: string;
  readonly items: number;
  readonly of: FunctionSpec;
  readonly call: string;
  readonly inputs: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: "Black and Scholes's formula",
    items: 200_000,
    of: formula,
    call: "{ S: 90 + 20 * u[i], K: 95, sigma: 0.2, r: 0.03, t: 0.7 }",
    inputs: ["S", "sigma", "r", "t", "K"],
  },
  {
    name: "Heston, 64 steps",
    items: 20_000,
    of: path,
    call: "{ S: 90 + 20 * u[i], v: 0.04, kappa: 1.5, theta: 0.05, xi: 0.4, rho: -0.6, seed: u[i] }",
    inputs: ["S", "v", "kappa", "theta", "xi", "rho"],
  },
];

async function run(context: Context): Promise<void> {
  using device = createCpuDevice({ threads: 1 });
  for (const { name, items, of, call, inputs } of CASES) {
    const u = device.createBuffer("f64", items);
    device.write(
      u,
      Float64Array.from({ length: items }, (_, k) => (k * 0.6180339887) % 1),
    );
    const compile = (f: FunctionSpec, result: string): Promise<CompiledKernel> =>
      device.compile(
        kernelFromSource({
          params: { u: read(real), out: write(real) },
          env: { f },
          source: `({ u, out }, gpu, { f }) => { const i = gpu.globalId(); const r = f(${call}); out[i] = ${result}; }`,
        }),
        { precision: "f64" },
      );
    const out = device.createBuffer("f64", items);
    const sum = (names: readonly string[]): string => ["r.value", ...names.map((input) => `r.d.${input}`)].join(" + ");
    const values = await compile(of, "r");
    const ways: [string, CompiledKernel][] = [];
    for (const count of [1, 3, inputs.length]) {
      const names = inputs.slice(0, count);
      ways.push([`tangents of ${count} inputs`, await compile(tangent(of as never, { of: names }), sum(names))]);
    }
    ways.push([
      `gradient to ${inputs.length} inputs`,
      await compile(gradient(of as never, { of: inputs }), sum(inputs)),
    ]);
    const seconds = async (kernel: CompiledKernel): Promise<number> => {
      const start = performance.now();
      device.launch(kernel, { u, out }, { items });
      await device.read(out);
      return performance.now() - start;
    };
    for (const [what, kernel] of ways) {
      const ratios: number[] = [];
      for (let round = 0; round < (context.quick ? 3 : 25); round++) {
        const value = await seconds(values);
        ratios.push((await seconds(kernel)) / value);
      }
      const figure = median(ratios);
      context.report({
        case: `${name}, ${what}, beside the value`,
        device: context.cpu,
        precision: "f64",
        figure,
        unit: "times",
      });
    }
  }
}

export const benchmark: Benchmark = {
  name: "differentiate",
  description: "derivatives of kernel functions beside their values, one thread",
  run,
};
