/** Rounding in kernels is JavaScript's: halves go up. */
import { expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";

const rounded = kernel({
  name: "rounded",
  params: { items: i32, u: read(real), out: write(real) },
  body({ items, u, out }, gpu) {
    const l = gpu.globalId();
    if (l < items) out[l] = Math.round(u[l]);
  },
});

test("halves go up, on both sides of 0, and the number just below a half down", async () => {
  using device = createCpuDevice({ threads: 1 });
  const values = [-2.5, -1.5, -0.5, -0.2, 0.5, 1.5, 2.5, 0.49999999999999994, 1.4, -1.6, 2 ** 52 + 1];
  const items = values.length;
  const compiled = await device.compile(rounded, { precision: "f64" });
  using u = device.createBuffer("f64", items);
  using out = device.createBuffer("f64", items);
  device.write(u, Float64Array.from(values));
  device.launch(compiled, { items, u, out }, { items });
  expect([...(await device.read(out))]).toEqual(values.map((value) => Math.round(value)));
});
