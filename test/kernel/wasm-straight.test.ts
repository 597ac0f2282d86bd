/** Straight-line code of several vectors, one after the other (emit/wasm/straight.ts), against the interpreter. */
import { describe, it } from "vitest";
import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";
import { expectSame } from "./wasm-support.ts";

const ITEMS = 37;
const values = (precision: "f64" | "f32"): Float64Array | Float32Array => {
  const all = Array.from({ length: 4 * ITEMS + 8 }, (_, i) => Math.fround(Math.sin(i)));
  return precision === "f64" ? new Float64Array(all) : new Float32Array(all);
};

describe.each(["f64", "f32"] as const)("%s", (precision) => {
  it("a uniform local that changes between statements that read it", async () => {
    const k = kernel({
      params: { x: read(real), n: i32, out: write(real) },
      body({ x, n, out }, gpu) {
        const i = gpu.globalId();
        let at = n;
        const a = x[i + at] * x[at];
        at = at + 3;
        const b = x[i + at] - a;
        at = 2 * at;
        out[i] = a + b * x[at];
      },
    });
    await expectSame(k, precision, { x: values(precision), n: 2, out: values(precision) }, { items: ITEMS });
  });

  it("an element that all items read after each has stored its own", async () => {
    const k = kernel({
      params: { x: read(real), out: write(real) },
      body({ x, out }, gpu) {
        const i = gpu.globalId();
        const first = out[150];
        out[i] = x[i] * first;
        const again = out[i] + x[i + 1];
        out[i + 40] = again * again;
        out[i + 80] = out[i + 40] - again;
      },
    });
    await expectSame(k, precision, { x: values(precision), out: values(precision) }, { items: ITEMS });
  });

  it("functions whose powers of two are made for all vectors at once", async () => {
    const k = kernel({
      params: { x: read(real), out: write(real) },
      body({ x, out }, gpu) {
        const i = gpu.globalId();
        const a = x[i] + 1;
        const b = Math.exp(a) * a;
        const c = Math.exp(-b) + a;
        out[i] = c * b;
      },
    });
    await expectSame(k, precision, { x: values(precision), out: values(precision) }, { items: ITEMS });
  });
});
