/** A file that several threads read, price and write gives what one thread writes of the same book as a stream. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { TradeResult } from "../../../src/book/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { Pipeline, type TextFormat } from "../../../src/service/pipeline/index.ts";
import { openBook } from "../../../src/service/runs/index.ts";
import { kept } from "../../cli/in-process.ts";
import { stray } from "../../device/cuda-kernels.ts";
import { openEmulatedCuda } from "../../support/cuda.ts";
import { bundled, programFolder } from "../../support/program.ts";
import { buildCudaEmulator, controlCudaEmulator } from "../../../tools/cuda-emulator/index.ts";

const quotes = [0.2, 1.5].flatMap((expiry) =>
  [35, 42, 47, 50, 54, 60, 70].map((strike) => ({ expiry, strike, implied: 0.25 + 0.1 * Math.log(strike / 50) ** 2 })),
);
const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
      ÖL: { spot: 50, currency: "EUR", volatility: 0.3 },
      QUOTED: { spot: 50, currency: "EUR", volatility: { quotes, fit: "svi" } },
    },
  },
};
/** One of ten cannot be read. Ids come again in other chunks; the first trade with some of them cannot be read. */
const trades = Array.from({ length: 1700 }, (_, i) => ({
  id: `T${i % 1600}`,
  underlying: i % 100 === 50 ? "QUOTED" : i % 3 === 0 ? "ÖL" : "ACME",
  payoff: i % 2 === 0 ? "put" : "call",
  strike: i % 10 === 7 && i < 1600 ? -1 : 60 + (i % 80),
  expiry: 0.1 + (i % 7) / 4,
  ...(i % 50 === 0 ? { exercise: "american" } : {}),
  tags: { note: `"],[{\\ ${i}` },
}));
const lines = trades.map((trade) => JSON.stringify(trade));
const odd = '\n \u00a0\n{"id": \n\u00e9\n\n'; // blank lines, a line that is no JSON, one that is no trade
const texts = {
  json: JSON.stringify({ ...header, trades }, undefined, 1),
  ndjson: `\ufeff${JSON.stringify(header)}\r\n\r\n${lines.slice(0, 900).join("\r\n")}${odd}${lines.slice(900).join("\n")}`,
  csv: `id,underlying,payoff,strike,expiry,tag.kind\n${trades
    .map((one) => `${one.id},${one.underlying},${one.payoff},${one.strike},${one.expiry},"a ""tag"""`)
    .join("\n")}\n`,
};

const workers: Worker[] = [];
const start = (workerData: unknown) => (): Worker => {
  const worker = new Worker(program, { workerData });
  workers.push(worker);
  return worker;
};

let folder: string;
let programs: string;
let program: string;
beforeAll(() => {
  programs = programFolder();
  program = bundled('import "./test/service/pipeline/worker.ts";', programs);
  folder = mkdtempSync(join(tmpdir(), "feynkac-pipeline-"));
  writeFileSync(join(folder, "market.json"), JSON.stringify(header));
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, `book.${name}`), text);
  writeFileSync(
    join(folder, "few.ndjson"),
    [header, ...trades.slice(0, 3)].map((one) => JSON.stringify(one)).join("\n"),
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(programs, { recursive: true });
});

const marketOf = (format: TextFormat): string | undefined =>
  format === "csv" ? join(folder, "market.json") : undefined;

/** By one thread, from standard input. */
async function streamed(format: TextFormat): Promise<string> {
  const { terminal, stdout } = kept(texts[format]);
  const market = marketOf(format);
  const args = ["price", "-", "--backend", "cpu", "--threads", "1", "--format", format];
  const status = await main(market === undefined ? args : [...args, "--market", market], terminal, never);
  expect(status).toBe(1); // there are trades that cannot be priced
  return stdout();
}

const never = new AbortController().signal;

/** By so many threads, which take a while to start; one is this one. */
function inParts(
  format: TextFormat,
  { threads = 1, signal = never, onPart = (): void | Promise<void> => {} } = {},
): Promise<string> {
  return inPartsOn(createCpuDevice({ threads }), format, { signal, onPart });
}

/** By the threads of a device, which is disposed of. */
async function inPartsOn(
  opened: Device,
  format: TextFormat,
  { signal = never, onPart = (): void | Promise<void> => {} } = {},
): Promise<string> {
  using device = opened;
  workers.length = 0;
  using pipeline = new Pipeline(device, (options) => options.map(start));
  const place = { place: join(folder, `book.${format}`), format, market: marketOf(format) };
  await using book = await openBook(place);
  const { asOf, scenarios } = book.book;
  const named = { backend: "cpu", name: "CPU, 1 thread, WebAssembly SIMD" } as const;
  const tags = await book.book.tags();
  const begin = { asOf, scenarios, tags, device: named, sensitivityErrors: false };
  const setting = { format, start: begin, precision: "f64", options: {} } as const;
  const fractions: number[] = [];
  const done: number[] = [];
  const onProgress = (progress: { readonly done: number; readonly fraction: number }): void => {
    fractions.push(progress.fraction);
    done.push(progress.done);
  };
  let text = "";
  for await (const part of pipeline.price({ book, source: place, setting, signal, onProgress })) {
    await onPart();
    text += typeof part === "string" ? part : new TextDecoder().decode(part);
  }
  expect(fractions.length).toBeGreaterThan(2);
  // 64 chunks, the last quarter of which are four each, and a smaller one at the end of either part.
  expect(fractions.length).toBeLessThanOrEqual(48 + 64 + 2);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(done.at(-1)).toBeGreaterThanOrEqual(trades.length);
  return text;
}

test.each(["json", "ndjson", "csv"] as const)(
  "%s: trades, errors, repeated ids, blank lines and all",
  async (format) => {
    const [expected, got] = [await streamed(format), await inParts(format)];
    expect(expected).toContain("again");
    if (format !== "json") {
      expect(got).toBe(expected);
      return;
    }
    const [{ totals, ...rest }, { totals: sums, ...others }] = [JSON.parse(got), JSON.parse(expected)];
    expect(rest).toEqual(others);
    // Totals are added up chunk by chunk.
    expect(totals[0].value).toBeCloseTo(sums[0].value, 8);
    expect(totals[0].trades).toBe(sums[0].trades);
  },
);

test("a thread that is lost leaves its chunks to the others, or to who asked", async () => {
  const expected = await streamed("ndjson");
  const endAll = (): void => void workers.map((worker) => worker.terminate());
  expect(await inParts("ndjson", { threads: 2, onPart: endAll })).toBe(expected);
});

test("threads that share a GPU write what one writes", async (test) => {
  const libraries = await buildCudaEmulator();
  const device = await openEmulatedCuda();
  const context = device?.parts?.options[0].shared;
  const alone = context && (await openEmulatedCuda({ shared: context }));
  if (libraries === undefined || device === undefined || alone === undefined)
    return test.skip("needs g++ for the emulated GPU, and two cores");
  process.env["FEYNKAC_CUDA_DRIVER"] = libraries.driver;
  process.env["FEYNKAC_NVRTC"] = libraries.nvrtc;
  const control = await controlCudaEmulator(libraries);
  const expected = await inPartsOn(alone, "csv");
  const modules = control?.live.modules;
  expect(await inPartsOn(device, "csv")).toBe(expected);
  expect(workers.length).toBeGreaterThan(1);
  expect(control?.live.modules).toBe(modules); // each is loaded once for all
});

test("what a lost GPU leaves is priced on the CPU, and says so", async (test) => {
  const device = await openEmulatedCuda();
  if (device === undefined) return test.skip("needs g++ for the emulated GPU");
  const compiled = await device.compile(stray, { precision: "f64" });
  device.launch(compiled, { u: device.createBuffer("f64", 64) }, { items: 64 });
  await expect(device.finish()).rejects.toThrow("lost");
  const rows = (await inPartsOn(device, "ndjson"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as TradeResult);
  const priced = rows.filter(({ status }) => status === "ok");
  expect(priced.length).toBeGreaterThan(1000);
  // What is doubtful about the fit of its quotes is said of a trade, too.
  for (const { warnings } of priced)
    expect(warnings.filter((text) => text.includes("was lost"))).toEqual([
      expect.stringMatching(/was lost .*; priced on CPU, .* in f64/),
    ]);
});

test("a book of a few trades has them all", async () => {
  using device = createCpuDevice({ threads: 1 });
  using pipeline = new Pipeline(device, () => undefined);
  const place = { place: join(folder, "few.ndjson"), format: "ndjson", market: undefined } as const;
  await using book = await openBook(place);
  const { asOf, scenarios } = book.book;
  const start = {
    asOf,
    scenarios,
    tags: [],
    device: { backend: "cpu", name: "CPU" },
    sensitivityErrors: false,
  } as const;
  const setting = { format: "ndjson", start, precision: "f64", options: {} } as const;
  let text = "";
  for await (const part of pipeline.price({ book, source: place, setting, signal: never, onProgress: () => {} }))
    text += typeof part === "string" ? part : new TextDecoder().decode(part);
  const ids = text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);
  expect(ids).toEqual(["T0", "T1", "T2"]);
});

test("a run that is stopped writes nothing more, whatever is priced already", { timeout: 60_000 }, async () => {
  for (const last of [1, 2, 3]) {
    const stop = new AbortController();
    let parts = 0;
    // The next chunk is under way: it has time to end before the run is stopped.
    const onPart = async (): Promise<void> => {
      if (++parts < last) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
      stop.abort(new Error("enough"));
    };
    await expect(inParts("csv", { signal: stop.signal, onPart })).rejects.toThrow("enough");
    expect(parts).toBe(last);
  }
});

test("a run that is stopped ends with the reason", async () => {
  const stop = new AbortController();
  const run = inParts("csv", { signal: stop.signal, onPart: () => stop.abort(new Error("enough")) });
  await expect(run).rejects.toThrow("enough");
});

test("the command prices a long file so", async () => {
  const many = Array.from({ length: 9 }, (_, k) => lines.map((line) => line.replace('"id":"T', `"id":"${k}-T`))).flat();
  const path = join(folder, "long.ndjson");
  writeFileSync(path, `${JSON.stringify(header)}\n${many.join("\n")}\n`);
  const { terminal, stdout, stderr } = kept();
  const args = ["price", path, "--backend", "cpu", "--threads", "2", "--format", "ndjson", "--greeks", "none"];
  expect(await main(args, terminal, never)).toBe(1);
  const results = stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly id: string; readonly status: string });
  expect(results.map(({ id }) => id)).toEqual(many.map((line) => (JSON.parse(line) as { readonly id: string }).id));
  expect(stderr()).toMatch(/trades priced in .* not priced/);
});
