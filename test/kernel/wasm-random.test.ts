import { describe, it } from "vitest";

import { i32, kernelFromSource, type Precision, read, real, write } from "../../src/kernel/index.ts";
import { randomKernel } from "./wasm-random-kernels.ts";
import { expectSame } from "./wasm-support.ts";

/** More of them: FEYNKAC_RANDOM_KERNELS=1000 npx vitest run test/kernel/wasm-random */
const COUNT = Number(process.env.FEYNKAC_RANDOM_KERNELS ?? 40);
const FIRST = Number(process.env.FEYNKAC_RANDOM_SEED ?? 0);

const PARAMS = { n: i32, u: read(real), k: read(i32), out: write(real), m: write(i32) };

function argumentsFor(precision: Precision, items: number, n: number) {
  const reals = (length: number) => (precision === "f64" ? new Float64Array(length) : new Float32Array(length));
  const u = reals(items + 4).map((_, i) => ((i * 37) % 23) - 11.5);
  const k = new Int32Array(items).map((_, i) => ((i * 29) % 17) - 8);
  return { n, u, k, out: reals(items), m: new Int32Array(items) };
}

describe("WebAssembly: random kernels do what the interpreter does", () => {
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    it(`kernel ${seed}`, async () => {
      const k = kernelFromSource({ params: PARAMS, source: randomKernel(seed) });
      const precision = seed % 2 === 0 ? "f64" : "f32";
      const items = [1, 8, 21, 32][seed % 4];
      await expectSame(k, precision, argumentsFor(precision, items, seed % 5), { items });
    });

    it(`kernel ${seed} with barriers`, async () => {
      const groupSize = [5, 8, 24][seed % 3];
      const k = kernelFromSource({ params: PARAMS, groupSize, source: randomKernel(seed, groupSize) });
      const precision = seed % 2 === 0 ? "f64" : "f32";
      await expectSame(k, precision, argumentsFor(precision, 2 * groupSize, seed % 5), { groups: 2 });
    });
  }
});
