/** The register hybrid in the shapes that only a GPU takes, on the interpreter, which looks for races, and on the CPU: against LAPACK's algorithm on the host. */
import { describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { registerHybridKernel } from "../../src/linalg/tridiagonal/register-hybrid.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";
import { dgtsv, dominant, type Equations } from "./tridiagonal-support.ts";

const contiguous = { layout: "contiguous", systems: 1, aligned: true, parked: false } as const;
const interleaved = { layout: "interleaved", aligned: false, parked: true } as const;

const SHAPES = [
  { ...contiguous, lanes: 32, rows: 4, n: 128 },
  { ...contiguous, lanes: 64, rows: 4, n: 252 },
  { ...contiguous, lanes: 32, rows: 2, n: 36 },
  { ...interleaved, lanes: 32, rows: 4, systems: 4, n: 128 },
  { ...interleaved, lanes: 32, rows: 4, systems: 4, n: 117 },
  { ...interleaved, lanes: 32, rows: 1, systems: 8, n: 29 },
] as const;

async function worstError(device: Device, shape: (typeof SHAPES)[number]): Promise<number> {
  const { lanes, rows, systems, layout, aligned, parked, n } = shape;
  const variant = { lanes, rows, systems, layout, aligned, parked, shuffles: false, shared: false, chunked: false };
  const compiled = await device.compile(registerHybridKernel(variant), { precision: "f64" });
  // One more than the groups hold, so that the last is not full.
  const batch = 2 * systems + 1;
  const given = Array.from({ length: batch }, (_, s) => dominant(n, s + 1));
  const place = (s: number, i: number): number => (layout === "contiguous" ? s * n + i : i * batch + s);
  const upload = (name: keyof Equations) => {
    const values = new Float64Array(n * batch);
    given.forEach((one, s) => one[name].forEach((value, i) => (values[place(s, i)] = value)));
    const buffer = device.createBuffer("f64", values.length);
    device.write(buffer, values);
    return buffer;
  };
  using lower = upload("lower");
  using diagonal = upload("diagonal");
  using upper = upload("upper");
  using rhs = upload("rhs");
  using status = device.createBuffer("i32", batch);
  const stride = layout === "contiguous" ? 1 : batch;
  const args = { rows: n, stride, batch, chunk: n, lower, diagonal, upper, ends: upper, rhs, status };
  device.launch(compiled, args, { groups: Math.ceil(batch / systems) });
  expect([...(await device.read(status))]).toEqual(new Array(batch).fill(0));
  const x = await device.read(rhs);
  let worst = 0;
  given.forEach((one, s) =>
    dgtsv(one).x.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - x[place(s, i)])))),
  );
  return worst;
}

describe.each(SHAPES)("$layout, $n rows as $lanes × $rows, $systems at a time", (shape) => {
  test("on the CPU", async () => {
    using device = createCpuDevice({ threads: 1 });
    // Both are backward stable; the systems' condition numbers are below 10.
    expect(await worstError(device, shape)).toBeLessThan(1e-14);
  });

  test("in the interpreter, without a race", async () => {
    using device = new InterpreterDevice();
    expect(await worstError(device, shape)).toBeLessThan(1e-14);
  });
});
