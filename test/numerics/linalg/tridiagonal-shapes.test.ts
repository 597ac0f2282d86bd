/**
 * The register hybrid in the shapes that only a GPU takes, on the interpreter, which looks for races, and on the CPU:
 * against LAPACK's algorithm on the host.
 */
import { describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device, DeviceBuffer } from "../../../src/device/index.ts";
import { registerHybridKernel } from "../../../src/numerics/linalg/tridiagonal/register-hybrid.ts";
import { streamedHybridKernel } from "../../../src/numerics/linalg/tridiagonal/streamed-hybrid.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
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

/** What solves a batch of `n` rows on a device: launches that leave x in `rhs`. */
type Solve = (device: Device, batch: Batch) => Promise<void>;

interface Batch {
  readonly rows: number;
  readonly batch: number;
  readonly stride: number;
  readonly buffers: Readonly<Record<keyof Equations | "status", DeviceBuffer>>;
}

async function worstError(device: Device, rows: number, batch: number, stride: number, solve: Solve): Promise<number> {
  const given = Array.from({ length: batch }, (_, s) => dominant(rows, s + 1));
  const place = (s: number, i: number): number =>
    stride === 1 ? s * rows + i : Math.floor(s / stride) * rows * stride + (s % stride) + i * stride;
  const upload = (name: keyof Equations) => {
    const values = new Float64Array(rows * batch);
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
  await solve(device, { rows, batch, stride, buffers: { lower, diagonal, upper, rhs, status } });
  expect([...(await device.read(status))]).toEqual(new Array(batch).fill(0));
  const x = await device.read(rhs);
  let worst = 0;
  given.forEach((one, s) =>
    dgtsv(one).x.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - x[place(s, i)])))),
  );
  return worst;
}

/** Both are backward stable; the systems' condition numbers are below 10. */
const BOUND = 1e-14;

describe.each(SHAPES)("$layout, $n rows as $lanes × $rows, $systems at a time", (shape) => {
  const { lanes, rows, systems, layout, aligned, parked, n } = shape;
  const variant = { lanes, rows, systems, layout, aligned, parked, shuffles: false, shared: false, chunked: false };
  // One more than the groups hold, so that the last is not full.
  const batch = 2 * systems + 1;
  const stride = layout === "contiguous" ? 1 : batch;
  const solve: Solve = async (device, { buffers }) => {
    const compiled = await device.compile(registerHybridKernel(variant), { precision: "f64" });
    const args = { rows: n, stride, batch, chunk: n, ends: buffers.upper, ...buffers };
    device.launch(compiled, args, { groups: Math.ceil(batch / systems) });
  };

  test("on the CPU", async () => {
    using device = createCpuDevice({ threads: 1 });
    expect(await worstError(device, n, batch, stride, solve)).toBeLessThan(BOUND);
  });

  test("in the interpreter, without a race", async () => {
    using device = new InterpreterDevice();
    expect(await worstError(device, n, batch, stride, solve)).toBeLessThan(BOUND);
  });
});

/** Three groups for more tiles than that, the last of each row of tiles not full. */
const STREAMED = [
  { n: 48, batch: 26, stride: 26, words: 2 },
  { n: 41, batch: 26, stride: 26, words: 1 },
  { n: 37, batch: 3 * 12, stride: 12, words: 4 },
] as const;

describe.each(STREAMED)("streamed, $n rows, $batch systems, stride $stride", ({ n, batch, stride, words }) => {
  const shape = { systems: 4, lanes: 4, rows: 12, words, depth: 6, ahead: 4, shuffles: false };
  const solve: Solve = async (device, { buffers }) => {
    const compiled = await device.compile(streamedHybridKernel({ ...shape, whole: n === 48 }), { precision: "f64" });
    const tilesAcross = Math.ceil(stride / 4);
    const tiles = (batch / stride) * tilesAcross;
    device.launch(compiled, { rows: n, stride, tiles, tilesAcross, ...buffers }, { groups: 3 });
  };

  test("on the CPU", async () => {
    using device = createCpuDevice({ threads: 1 });
    expect(await worstError(device, n, batch, stride, solve)).toBeLessThan(BOUND);
  });

  test("in the interpreter, without a race and nothing read before it has arrived", async () => {
    using device = new InterpreterDevice();
    expect(await worstError(device, n, batch, stride, solve)).toBeLessThan(BOUND);
  });
});
