import { afterEach, describe, expect, test, vi } from "vitest";
import { bench } from "../../src/cli/commands/bench.ts";
import { doctor } from "../../src/cli/commands/doctor.ts";
import type { Probe } from "../../src/cli/commands/doctor-cuda.ts";
import { prepare } from "../../src/cli/commands/prepare.ts";
import { sampleBooks } from "../../src/cli/commands/prepare-book.ts";
import { readBook } from "../../src/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { fakeEngine } from "./fake-engine.ts";
import { kept } from "./in-process.ts";

afterEach(() => void vi.unstubAllEnvs());

async function consult(probe: Probe): Promise<{ status: number; report: string }> {
  const { terminal, stdout } = kept();
  return { status: await doctor(terminal, probe), report: stdout() };
}

describe("doctor", () => {
  test("names what is there", async () => {
    const { status, report } = await consult(async (backend) => `a ${backend} device`);
    expect(status).toBe(0);
    expect(report).toMatch(/^ok {4}node +v\d+/m);
    expect(report).toMatch(/^ok {4}WebAssembly SIMD /m);
    expect(report).toMatch(/^ok {4}CPU back end +a cpu device; f64, f32$/m);
    expect(report).toMatch(/^ok {4}WebGPU back end +a webgpu device; f32$/m);
  });

  test("says how to get what is missing; without a GPU all is well", async () => {
    const { status, report } = await consult(async (backend) => {
      if (backend === "webgpu") throw new DeviceUnavailableError("WebGPU: no adapter.\nInstall a driver.");
      return "CPU";
    });
    expect(status).toBe(0);
    expect(report).toMatch(/^– {5}WebGPU back end .*\n +WebGPU: no adapter\.\n +Install a driver\.$/m);
  });

  test("without a CPU back end nothing can be priced", async () => {
    const { status, report } = await consult(async () => {
      throw new Error("no threads");
    });
    expect(status).toBe(1);
    expect(report).toMatch(/^FAIL {2}CPU back end +no threads$/m);
  });
});

describe("doctor --prepare", () => {
  const { signal } = new AbortController();

  test("has trades of every kind, all of which can be read", () => {
    const books = sampleBooks().flatMap(({ books }) => books);
    expect(books.length).toBeGreaterThan(100);
    for (const book of books) expect(readBook(book).trades.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("prices them on each device that is here, and says which could not be priced", async () => {
    const [kind] = sampleBooks();
    const bad = { name: "a bad one", books: [{ ...kind.books[0], trades: [{ id: "T" }] }] };
    const { terminal, stdout } = kept();
    expect(await prepare(terminal, signal, "/nowhere", [kind, bad])).toBe(1);
    expect(stdout()).toMatch(/^CPU.*: 0 kernels compiled in [\d.]+ s, kept in \/nowhere; not priced: a bad one$/m);
  });

  test("needs a place for kernels, which sources do not have", async () => {
    vi.stubEnv("FEYNKAC_CACHE", "off");
    await expect(prepare(kept().terminal, signal)).rejects.toThrow("--prepare: no kernel is kept on disk here");
  });
});

test("bench reports options a second on the device it opened", async () => {
  const { terminal, stdout } = kept();
  const options = {
    backend: "cpu",
    precision: "f64",
    device: undefined,
    threads: undefined,
    greeks: "grid",
    accuracy: 1e-5,
    trades: 30,
  } as const;
  const engine = fakeEngine();
  expect(await bench(options, terminal, new AbortController().signal, engine.open)).toBe(0);
  expect(stdout()).toMatch(/^30 American puts, f64, greeks grid, on fake\n[\d,]+ options a second/);
  expect(engine.closed()).toBe(1);
});
