import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readNdjson } from "../src/book/index.ts";
import { type Device, type DeviceBuffer, type LaunchArguments, openDevice } from "../src/device/index.ts";
import { DeviceUnavailableError } from "../src/base/errors.ts";
import { stepCountOf } from "../src/pde/fdm/index.ts";
import { priceTrades } from "../src/pricing/index.ts";
import { H200 } from "./device/h200.ts";
import { type Benchmark, clockGHz, type Context, median } from "./harness.ts";
import { runProgram } from "./program.ts";

const range = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((from + ((to - from) * i) / (count - 1)).toFixed(4)));

/** 21 spots, 7 volatilities and 3 rates: 441 scenarios, of which a solution serves the spots. */
const scenarios = { spot: range(21, -0.2, 0.2), volatility: range(7, -0.06, 0.06), rate: range(3, -0.01, 0.01) };
const SCENARIOS = scenarios.volatility.length * scenarios.rate.length * scenarios.spot.length;

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
function* bookLines(count: number, exercise: Exercise): Generator<string> {
  yield `${JSON.stringify(header)}\n`;
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
    yield `${JSON.stringify(trade)}\n`;
  }
}

async function writeBook(path: string, count: number, exercise: Exercise): Promise<void> {
  const file = createWriteStream(path);
  for (const line of bookLines(count, exercise)) if (!file.write(line)) await once(file, "drain");
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

/** Trades whose launches are counted: every strike, volatility and expiry several times. */
const COUNTED = 400;

/**
 * Nodes times steps that an American trade of the book takes with all its scenarios, on every mesh on which it is
 * solved. European ones have a closed form.
 */
async function nodeStepsATrade(): Promise<number> {
  using device = await openDevice({ backend: "cpu", precision: "f64" });
  const counts: Promise<number>[] = [];
  const launch: Device["launch"] = (kernel, args, size) => {
    if (args["flags"] !== undefined) counts.push(nodeStepsOf(args));
    device.launch(kernel, args, size);
  };
  const nodeStepsOf = async ({ instances, nodes, runs, flags }: LaunchArguments): Promise<number> => {
    const words = await device.read(flags as DeviceBuffer<"i32">, 0, Number(runs));
    return Number(instances) * Number(nodes) * words.reduce((steps, run) => steps + stepCountOf(run), 0);
  };
  const counting = new Proxy(device, {
    get: (target, name) => {
      if (name === "launch") return launch;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const book = await readNdjson(chunks(bookLines(COUNTED, "american")));
  for await (const results of priceTrades(book.trades, book, { device: counting, greeks: "none" }))
    if (results.some(({ status }) => status === "error")) throw new Error("a trade of the ladder has no price");
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0) / COUNTED;
}

async function* chunks(lines: Iterable<string>): AsyncGenerator<string> {
  yield* lines;
}

/**
 * Seconds that the time loops of so many node-steps take at least. On a core 7/4 cycles each, two 16-byte loads a cycle
 * bringing the seven words of 8 bytes that an American one reads (`one-factor.bench.ts`).
 */
function floorOf(nodeSteps: number, device: string, backend: string, precision: "f64" | "f32"): { floor?: number } {
  if (backend === "cpu") return { floor: (nodeSteps * (7 / 4)) / (clockGHz() * 1e9) / availableParallelism() };
  return /h200/i.test(device) ? { floor: nodeSteps / H200.nodeSteps[precision] } : {};
}

/** Runs are repeated up to three times, but not beyond so many seconds. */
const LONG = 20;

async function run(context: Context): Promise<void> {
  const program = [resolve("bin/feynkac.js"), join(import.meta.dirname, "../bin/feynkac.js")].find(
    existsSync,
  ) as string;
  const count = context.quick ? 100 : 10_000;
  const folder = mkdtempSync(join(tmpdir(), "feynkac-ladder-"));
  try {
    const nodeSteps = count * (await nodeStepsATrade());
    context.note(`an American trade takes ${Math.round(nodeSteps / count)} nodes × steps with its scenarios`);
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
        do seconds.push((await runProgram(program, [...args, "--format", "ndjson", "--output", output])).seconds);
        while (!context.quick && seconds.length < 3 && seconds.reduce((sum, one) => sum + one) < LONG);
        context.report({
          case: `${count.toLocaleString("en-US")} ${exercise} trades × ${SCENARIOS} scenarios, value only, from file to file (${(statSync(output).size / 1e6).toFixed(0)} MB)`,
          device,
          precision,
          figure: median(seconds),
          unit: "s",
          ...(exercise === "american" ? floorOf(nodeSteps, device, backend, precision) : {}),
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
