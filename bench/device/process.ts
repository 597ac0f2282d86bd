/** Whole processes and many devices: how long the first price takes, and whether anything is left behind. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openDevice } from "../../src/device/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { type Context, median } from "../harness.ts";
import { freeBytes } from "./driver.ts";

const book = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: { ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.02 }, volatility: 0.25 } },
  },
  trades: [{ id: "T", underlying: "ACME", payoff: "put", strike: 105, expiry: 1, exercise: "american" }],
};

/**
 * Seconds from the command to its exit, with nothing compiled before and with everything. `program`: bin/feynkac.js of
 * a build.
 */
export function starts(device: string, context: Context, program = resolve("bin/feynkac.js")): void {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-start-"));
  try {
    const path = join(folder, "one.json");
    writeFileSync(path, JSON.stringify(book));
    const seconds = (cache: string): number => {
      const start = performance.now();
      const args = [program, "price", path, "--backend", "cuda", "--format", "json"];
      const env = { ...process.env, FEYNKAC_CACHE: join(folder, cache) };
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
      if (status !== 0 || !stdout.includes('"backend":"cuda"'))
        throw new Error(`feynkac price --backend cuda: status ${status}: ${stderr}${stdout}`);
      return (performance.now() - start) / 1e3;
    };
    const times = context.quick ? 1 : 5;
    const cold = Array.from({ length: times }, (_, i) => seconds(`cold-${i}`));
    const warm = Array.from({ length: times }, () => seconds("cold-0"));
    const common = { device, precision: "f64", unit: "s" } as const;
    context.report({ ...common, case: "first price in a new process, nothing compiled", figure: median(cold) });
    context.report({ ...common, case: "first price in a new process, kernels on disk", figure: median(warm) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Opens, prices, closes; host memory after the first tenth and at the end. */
export async function cycles(device: string, context: Context): Promise<void> {
  const count = context.quick ? 10 : 1000;
  const parsed = parseBook(JSON.stringify(book));
  let early = 0;
  let [freeEarly, freeLate] = [0, 0];
  for (let i = 1; i <= count; i++) {
    using opened = await openDevice({ backend: "cuda" });
    const { results } = await priceBook(parsed, { device: opened });
    if (results[0].status !== "ok") throw new Error(`cycle ${i}: ${results[0].error.message}`);
    const free = await freeBytes();
    if (i === count / 10) [early, freeEarly] = [process.memoryUsage.rss(), free];
    freeLate = free;
  }
  const late = process.memoryUsage.rss();
  const common = { device, precision: "f64", unit: "MiB" } as const;
  const name = `${count.toLocaleString("en-US")} times open, price, close`;
  const peer = `after ${count / 10}`;
  context.report({
    ...common,
    case: `${name}: resident memory`,
    figure: late / 2 ** 20,
    peers: { [peer]: early / 2 ** 20 },
  });
  context.report({
    ...common,
    case: `${name}: free memory of the GPU`,
    figure: freeLate / 2 ** 20,
    peers: { [peer]: freeEarly / 2 ** 20 },
  });
}
