import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openDevice } from "../src/device/index.ts";
import { DeviceUnavailableError } from "../src/errors.ts";
import { H200 } from "./device/h200.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { runProgram } from "./program.ts";

const range = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((from + ((to - from) * i) / (count - 1)).toFixed(4)));

/** 21 spots, 7 volatilities and 3 rates: 441 scenarios, of which a solution serves the spots. */
const scenarios = { spot: range(21, -0.2, 0.2), volatility: range(7, -0.06, 0.06), rate: range(3, -0.01, 0.01) };
const SOLUTIONS = scenarios.volatility.length * scenarios.rate.length;
const SCENARIOS = SOLUTIONS * scenarios.spot.length;

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: { ACME: { spot: 100, currency: "EUR", dividends: { yield: 0.02 }, volatility: 0.25 } },
  },
  scenarios,
};

type Exercise = "european" | "american";

/** Strikes, expiries and volatilities that come round at different lengths, so that no trade is there twice. */
async function writeBook(path: string, count: number, exercise: Exercise): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${JSON.stringify(header)}\n`);
  for (let i = 0; i < count; i++) {
    const trade = {
      id: `T${i}`,
      underlying: "ACME",
      payoff: i % 2 === 0 ? "call" : "put",
      strike: 80 + (i % 41),
      expiry: 0.25 + (i % 97) / 50,
      exercise,
      volatility: 0.15 + (i % 29) / 100,
    };
    if (!file.write(`${JSON.stringify(trade)}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
}

async function present(backend: "cuda" | "webgpu"): Promise<{ readonly name: string } | undefined> {
  try {
    using device = await openDevice({ backend });
    return { name: device.name };
  } catch (error) {
    if (error instanceof DeviceUnavailableError) return undefined;
    throw error;
  }
}

/** Nodes and steps of a trade's first look, both meshes: most trades need no more. European ones have a closed form. */
const NODE_STEPS = 113 * 36 + 57 * 18;

async function run(context: Context): Promise<void> {
  const program = [resolve("bin/feynkac.js"), join(import.meta.dirname, "../bin/feynkac.js")].find(
    existsSync,
  ) as string;
  const count = context.quick ? 100 : 10_000;
  const folder = mkdtempSync(join(tmpdir(), "feynkac-ladder-"));
  try {
    for (const exercise of ["european", "american"] as const) {
      const [book, output] = [join(folder, "book.ndjson"), join(folder, "out.ndjson")];
      await writeBook(book, count, exercise);
      for (const backend of ["cpu", "cuda", "webgpu"] as const) {
        const device = backend === "cpu" ? context.cpu : (await present(backend))?.name;
        if (device === undefined) {
          context.note(`${backend}: not here`);
          continue;
        }
        const precision = backend === "webgpu" ? "f32" : "f64";
        const args = ["price", book, "--backend", backend, "--precision", precision, "--greeks", "none"];
        const seconds: number[] = [];
        for (let i = 0; i < (context.quick ? 1 : 3); i++)
          seconds.push((await runProgram(program, [...args, "--format", "ndjson", "--output", output])).seconds);
        const nodeSteps = count * SOLUTIONS * NODE_STEPS;
        context.report({
          case: `${count.toLocaleString("en-US")} ${exercise} trades × ${SCENARIOS} scenarios, value only, from file to file (${(statSync(output).size / 1e6).toFixed(0)} MB)`,
          device,
          precision,
          figure: median(seconds),
          unit: "s",
          ...(exercise === "american" && backend !== "cpu" && /h200/i.test(device)
            ? { floor: nodeSteps / H200.nodeSteps[precision] }
            : {}),
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "ladder",
  description:
    "a book under 441 scenarios of spot, volatility and rate, through the command line (build first: npm run build)",
  run,
};
