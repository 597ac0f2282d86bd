/** Where "auto" prices a book, and how it looks at trades before they are taken. */
import { afterEach, expect, test, vi } from "vitest";
import type { MethodName, ParsedTrade } from "../../src/book/index.ts";
import { chooseBackend } from "../../src/cli/choose-backend.ts";
import { BookError } from "../../src/base/errors.ts";
import { PeekableTrades } from "../../src/cli/expected-work.ts";
import { cpuSeconds, gpuSeconds, independentSeconds, type Work, workOf } from "../../src/pricing/index.ts";
import { feynkac } from "./in-process.ts";
import { buildCudaEmulator } from "../../tools/cuda-emulator/index.ts";

afterEach(() => vi.unstubAllEnvs());

const options = { backend: "auto", precision: "f64", threads: 1, device: undefined } as const;
const work = (method: MethodName, seconds: number): Work => new Map([[method, seconds]]);

test("a GPU is chosen for what it does faster, and not touched for what is done before it has started", async (context) => {
  const libraries = await buildCudaEmulator();
  if (libraries === undefined) return context.skip("needs g++ for the emulated GPU");
  vi.stubEnv("FEYNKAC_CUDA_DRIVER", libraries.driver);
  vi.stubEnv("FEYNKAC_NVRTC", libraries.nvrtc);
  const chosen = (of: Work): ReturnType<typeof chooseBackend> => chooseBackend(options, async () => of);
  expect(await chosen(work("adi", 0.1))).toEqual({
    backend: "cpu",
    reason: "0.20 s expected on the CPU, less than a GPU takes to start",
  });
  expect(await chosen(work("adi", 1000))).toMatchObject({
    backend: "auto",
    reason: expect.stringMatching(/^1\.0e\+3 s expected on the CPU, .* s on Emulated GPU$/) as unknown,
  });
  expect(await chosen(work("closed-form", 1000))).toMatchObject({ backend: "cpu" });
  const isAsked = vi.fn<() => Promise<undefined>>(async () => undefined);
  expect(await chooseBackend({ ...options, backend: "cuda" }, isAsked)).toBeUndefined();
  expect(isAsked).not.toHaveBeenCalled();
});

test("without an NVIDIA driver there is nothing to choose, and no trade is looked at", async () => {
  vi.stubEnv("FEYNKAC_CUDA_DRIVER", "");
  const isAsked = vi.fn<() => Promise<undefined>>(async () => undefined);
  expect(await chooseBackend(options, isAsked)).toBeUndefined();
  expect(isAsked).not.toHaveBeenCalled();
});

test("times on both kinds of device are those that were measured", () => {
  const h100 = { multiprocessors: 132, singleToDoubleRatio: 2 };
  // 100,000 options with curves took 178 s of the 16 cores, 7.6 s on the GPU; 1,000 Heston options 429 s and 7.4 s.
  expect(cpuSeconds(work("fdm", 178), 16)).toBeCloseTo(11.2, 1);
  expect(Math.abs(gpuSeconds(work("fdm", 178), 16, h100) - 7.6)).toBeLessThan(1);
  expect(Math.abs(gpuSeconds(work("adi", 429), 16, h100) - 7.4)).toBeLessThan(1);
  // A GPU for games does f64 at a 64th of the rate.
  const game = { multiprocessors: 132, singleToDoubleRatio: 64 };
  expect(gpuSeconds(work("adi", 429), 16, game)).toBeGreaterThan(cpuSeconds(work("adi", 429), 16));
});

test("threads price trades side by side whose work is their own", () => {
  const cost = { method: "fdm", seconds: 0.5, host: 0.2 } as const;
  const few = workOf([cost, cost, { method: undefined, seconds: 0, host: 0 }], 3);
  expect(independentSeconds(few)).toBeCloseTo(3);
  expect(independentSeconds(new Map([...few, ["adi", 4]]))).toBeCloseTo(7);
  expect(independentSeconds(new Map([...few, ["montecarlo", 4]]))).toBe(0);
});

test("several GPUs are named by their back end, and exclude another choice", async () => {
  const book = JSON.stringify({
    asOf: "2026-11-20",
    market: { rates: { EUR: 0.03 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
    trades: [{ id: "1", underlying: "A", payoff: "call", strike: 100, expiry: 1 }],
  });
  const { engine, status } = await feynkac(["price", "-", "--devices", "cuda:1, cuda:0"], { stdin: book });
  expect([status, engine.asked[0].backend, engine.asked[0].device]).toEqual([0, "cuda", [1, 0]]);
  for (const wrong of [["cuda:0,cuda:0"], ["0,1"], ["cuda:0", "--device", "1"], ["cuda:0", "--backend", "cpu"]]) {
    const refused = await feynkac(["price", "-", "--devices", ...wrong], { stdin: book });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("GPUs of the backend cuda")]);
  }
});

const unread = (index: number): ParsedTrade => ({
  ok: false,
  id: `${index}`,
  index,
  error: new BookError("", "not read"),
});

test("trades that have been looked at come again, in order, with what fails behind them", async () => {
  const peekable = new PeekableTrades(
    (async function* () {
      yield* [unread(0), unread(1), unread(2)];
      throw new Error("cut off");
    })(),
  );
  expect(await peekable.first(2)).toEqual({ trades: [unread(0), unread(1)], isAll: false });
  const seen: unknown[] = [];
  const all = async (): Promise<void> => {
    for await (const { index } of peekable) seen.push(index);
  };
  await expect(all()).rejects.toThrow("cut off");
  expect(seen).toEqual([0, 1, 2]);
});

test("trades that are slow to come are not waited for, and not lost", async () => {
  let come = (): void => {};
  const pause = new Promise<void>((resolve) => (come = resolve));
  const peekable = new PeekableTrades(
    (async function* () {
      yield unread(0);
      await pause;
      yield unread(1);
    })(),
  );
  expect(await peekable.first(5)).toEqual({ trades: [unread(0)], isAll: false });
  come();
  const seen: unknown[] = [];
  for await (const { index } of peekable) seen.push(index);
  expect(seen).toEqual([0, 1]);
});
