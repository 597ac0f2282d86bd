/** Programs of the CPU on disk: the same bits with and without them, and nothing believed that is not theirs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KernelCache } from "../../src/device/cache/kernel-cache.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { ProgramStore } from "../../src/device/cache/stored.ts";
import type { ProgramImage } from "../../src/device/cpu/programs.ts";
import { thisHost } from "../../src/device/host.ts";
import {
  fn,
  type Kernel,
  kernel,
  liftLiterals,
  read,
  real,
  specificationText,
  userFunction,
  write,
} from "../../src/kernel/index.ts";

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "feynkac-programs-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const square = fn({ params: [real], body: ([x]) => x * x });
const cube = fn({ params: [real], body: ([x]) => x * x * x });

const kernelOf = (inner = square, factor = 0.1): Kernel =>
  kernel({
    name: "scaled",
    params: { x: read(real), y: write(real) },
    env: { inner, FACTOR: factor },
    body({ x, y }, gpu, { inner, FACTOR }) {
      const i = gpu.globalId();
      y[i] = FACTOR * inner(x[i]) + Math.exp(-x[i]);
    },
  });

/** As another process would: a device and a cache of its own. */
async function run(one: Kernel, build = "build 1"): Promise<{ values: Float64Array; code: string; stored: number }> {
  const cache = new KernelCache({ ...thisHost(), environment: { FEYNKAC_CACHE: directory } });
  const stores: string[] = [];
  const stored = new ProgramStore<ProgramImage>("WebAssembly", build, cache);
  const spied = Object.assign(Object.create(stored) as ProgramStore<ProgramImage>, {
    find: (text: string) => stored.find(text),
    store: (text: string, image: ProgramImage) => {
      stores.push(text);
      stored.store(text, image);
    },
  });
  using device = createCpuDevice({ threads: 1, stored: spied });
  const compiled = await device.compile(one, { precision: "f64" });
  const numbers = Float64Array.from({ length: 37 }, (_, i) => Math.sin(i + 1));
  using x = device.createBuffer("f64", 37);
  using y = device.createBuffer("f64", 37);
  device.write(x, numbers);
  device.launch(compiled, { x, y }, { items: 37 });
  return { values: await device.read(y), code: compiled.code, stored: stores.length };
}

const files = (): string[] => readdirSync(directory).map((name) => join(directory, name));

describe("a program on disk", () => {
  test("gives the bits and the listing of one that is compiled", async () => {
    const first = await run(kernelOf());
    const second = await run(kernelOf());
    expect([first.stored, second.stored]).toEqual([1, 0]);
    expect(second.values).toEqual(first.values);
    expect(second.values[0]).toBeCloseTo(0.1 * Math.sin(1) ** 2 + Math.exp(-Math.sin(1)), 15);
    expect(second.code).toBe(first.code);
  });

  test("of another function, constant or build is another", async () => {
    await run(kernelOf());
    const { values, stored } = await run(kernelOf(cube));
    expect(stored).toBe(1);
    expect(values[0]).toBeCloseTo(0.1 * Math.sin(1) ** 3 + Math.exp(-Math.sin(1)), 15);
    expect((await run(kernelOf(square, 0.2))).stored).toBe(1);
    expect((await run(kernelOf(), "build 2")).stored).toBe(1);
    expect(files()).toHaveLength(4);
  });

  test.each([
    ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["of one flipped bit", (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === 900 ? byte ^ 1 : byte)))],
    ["empty", () => Buffer.alloc(0)],
  ])("%s is not believed, and is written anew", async (_, damage) => {
    const { values } = await run(kernelOf());
    for (const file of files()) writeFileSync(file, damage(readFileSync(file)));
    const again = await run(kernelOf());
    expect(again.values).toEqual(values);
    expect(again.stored).toBe(1);
    expect((await run(kernelOf())).stored).toBe(0);
  });

  test("whose module V8 does not take is compiled", async () => {
    const cache = new KernelCache({ ...thisHost(), environment: { FEYNKAC_CACHE: directory } });
    const { values } = await run(kernelOf());
    const [file] = files();
    const bytes = readFileSync(file);
    const keyBytes = bytes.readUInt32LE(17);
    const key = bytes.subarray(25, 25 + keyBytes).toString();
    const image = Uint8Array.from(cache.find(key) ?? []);
    image.fill(0xff, image.length - 100);
    cache.store(key, image);
    expect((await run(kernelOf())).values).toEqual(values);
  });
});

describe("a kernel's specification as text", () => {
  test("is the same for the same kernel, declared twice", () => {
    expect(specificationText(kernelOf())).toBe(specificationText(kernelOf()));
  });

  test("tells apart what may compute something else", () => {
    const body = { params: { x: read(real), y: write(real) }, body: () => undefined };
    const ofFormula = (literals: boolean): Kernel => {
      const plain = userFunction(["x"], ({ x }) => x + 3.5);
      const inner = literals ? liftLiterals(plain).call : plain;
      return kernel({ ...body, env: { inner } });
    };
    const texts = [
      kernelOf(),
      kernelOf(cube),
      kernelOf(square, -0),
      kernelOf(square, 0),
      kernelOf(square, Number.NaN),
      kernel({ ...body, env: { A: "1" } }),
      kernel({ ...body, env: { A: 1 } }),
      kernel({ ...body, env: { A: undefined } }),
      kernel({ ...body, env: { A: true } }),
      kernel({ ...body, groupSize: 32 }),
      kernel({ ...body, loopBudget: 32 }),
      kernel({ ...body, params: { x: write(real), y: write(real) } }),
      ofFormula(false),
      ofFormula(true),
    ].map(specificationText);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
