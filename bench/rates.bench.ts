/** Caps, swaptions and callable bonds beside QuantLib: pricing alone on one thread, and whole commands. */
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { readBook } from "../src/book/index.ts";
import { openDevice } from "../src/device/index.ts";
import { priceBook } from "../src/pricing/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { lineOf, openProgram, type QuantLib, runJobs } from "./peers/quantlib.ts";
import { runProgram } from "./program.ts";
import { type Engine, header, jobOf, type Kind, KINDS, tradeOf, valuesByQuadrature } from "./rates/trades.ts";

const NAMES: Readonly<Record<Kind, string>> = {
  cap: "caps and floors of 4 to 8 years",
  european: "European swaptions",
  g2: "European swaptions, G2++",
  bermudan: "Bermudan swaptions of 4 to 8 dates",
  callable: "callable bonds of 6 dates",
};
/** Trades that a pricing call takes, and those whose error is measured and that QuantLib prices. */
const COUNTS: Readonly<Record<Kind, number>> = { cap: 8192, european: 8192, g2: 4096, bermudan: 2048, callable: 2048 };
const SAMPLE = 12;

/** QuantLib's engines, each by increasing fineness. */
const ENGINES: Readonly<Record<Kind, Readonly<Record<string, readonly Engine[]>>>> = {
  cap: { AnalyticCapFloorEngine: [{}] },
  european: { JamshidianSwaptionEngine: [{ engine: "jamshidian" }] },
  g2: { G2SwaptionEngine: [16, 32, 64, 128].map((intervals) => ({ engine: "g2", intervals })) },
  bermudan: {
    TreeSwaptionEngine: [25, 50, 100, 200].map((steps) => ({ engine: "tree", steps })),
    FdHullWhiteSwaptionEngine: [25, 50, 100, 200, 400].map((n) => ({ engine: "fd", steps: n, nodes: n })),
  },
  callable: { TreeCallableFixedRateBondEngine: [50, 100, 200, 400, 800, 1600].map((steps) => ({ steps })) },
};

/** Errors that QuantLib is measured at, on a notional of 100: a basis point, a tenth of one. */
const TARGETS = [1e-2, 1e-3];
/** Nothing finer is tried once a trade takes QuantLib so many seconds. */
const LONG = 0.1;

type Peer = QuantLib<object>;
const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Independent values of the sample; those of two factors by QuantLib's integral with many intervals. */
async function exactValues(kind: Kind, quantLib: Peer | undefined): Promise<readonly number[] | undefined> {
  if (kind !== "g2") return valuesByQuadrature(kind, SAMPLE);
  const engine: Engine = { engine: "g2", intervals: 2000 };
  return (await quantLib?.price(indices(SAMPLE).map((i) => jobOf(kind, i, engine, 0))))?.map(({ price }) => price);
}

const worst = (values: readonly number[], exact: readonly number[]): number =>
  Math.max(...exact.map((one, i) => Math.abs(values[i] - one)));

/** Trades a second of each engine at the first fineness that meets a target. */
async function peersOf(kind: Kind, quantLib: Peer, exact: readonly number[]): Promise<Record<string, number>> {
  const peers: Record<string, number> = {};
  for (const [name, finenesses] of Object.entries(ENGINES[kind])) {
    let met = 0;
    let seconds = 0;
    for (const engine of finenesses) {
      if (met === TARGETS.length || seconds > LONG) break;
      const answers = await quantLib.price(indices(SAMPLE).map((i) => jobOf(kind, i, engine, 1)));
      const error = worst(
        answers.map(({ price }) => price),
        exact,
      );
      seconds = answers.reduce((sum, answer) => sum + answer.seconds, 0) / SAMPLE;
      if (error > TARGETS[met]) continue;
      while (met < TARGETS.length && error <= TARGETS[met]) met++;
      const { engine: _, ...fineness } = engine;
      const terms = Object.entries(fineness).map(([key, value]) => `, ${value} ${key}`);
      peers[`QuantLib ${name}${terms.join("")}, error ${error.toExponential(1)}`] = 1 / seconds;
    }
  }
  return peers;
}

/** Pricing in this process, parsed trades in and results out. */
async function rates(context: Context, kind: Kind, quantLib: Peer | undefined): Promise<void> {
  const count = context.quick ? 256 : COUNTS[kind];
  const book = readBook({ ...header, trades: indices(count).map((i) => tradeOf(kind, i)) });
  const exact = await exactValues(kind, quantLib);
  const peers = quantLib === undefined || exact === undefined ? {} : await peersOf(kind, quantLib, exact);
  using device = await openDevice({ backend: "cpu", threads: 1 });
  for (const greeks of ["none", "all"] as const) {
    let values: number[] = [];
    const seconds: number[] = [];
    for (let k = 0; k < (context.quick ? 2 : 6); k++) {
      const start = performance.now();
      const { results } = await priceBook(book, { device, greeks });
      seconds.push((performance.now() - start) / 1e3);
      values = results.map((result) => (result.status === "ok" ? result.value : Number.NaN));
    }
    context.report({
      case: `${NAMES[kind]}, ${greeks === "none" ? "value only" : "all Greeks"}, 1 thread`,
      device: context.cpu,
      precision: "f64",
      figure: count / median(seconds.slice(1)),
      unit: "trades/s",
      ...(exact === undefined ? {} : { error: worst(values, exact) }),
      ...(greeks === "none" && Object.keys(peers).length > 0 ? { peers } : {}),
    });
  }
}

/** The engine that QuantLib's whole command uses. */
const COMMAND_ENGINES: Readonly<Record<Kind, readonly [name: string, Engine]>> = {
  cap: ["AnalyticCapFloorEngine", {}],
  european: ["JamshidianSwaptionEngine", { engine: "jamshidian" }],
  g2: ["G2SwaptionEngine, 64 intervals", { engine: "g2", intervals: 64 }],
  bermudan: ["FdHullWhiteSwaptionEngine, 50 steps × 50 nodes", { engine: "fd", steps: 50, nodes: 50 }],
  callable: ["TreeCallableFixedRateBondEngine, 200 steps", { steps: 200 }],
};
const COMMAND_COUNT = 20_000;
/** QuantLib prices fewer where it takes long, and its time is scaled to as many. */
const PEER_COUNTS: Readonly<Record<Kind, number>> = {
  cap: 20_000,
  european: 20_000,
  g2: 20_000,
  bermudan: 500,
  callable: 1000,
};

async function commands(context: Context, kind: Kind, quantLib: Peer | undefined, folder: string): Promise<void> {
  const count = context.quick ? 200 : COMMAND_COUNT;
  const [book, output] = [join(folder, "book.ndjson"), join(folder, "out.ndjson")];
  const file = createWriteStream(book);
  file.write(`${JSON.stringify(header)}\n`);
  for (const i of indices(count)) file.write(`${JSON.stringify(tradeOf(kind, i))}\n`);
  file.end();
  await once(file, "finish");
  const [name, engine] = COMMAND_ENGINES[kind];
  const peers: Record<string, number> = {};
  if (quantLib !== undefined) {
    const priced = Math.min(count, PEER_COUNTS[kind]);
    const jobs = join(folder, "jobs.txt");
    writeFileSync(
      jobs,
      indices(priced)
        .map((i) => `${lineOf(jobOf(kind, i, engine, 0))}\n`)
        .join(""),
    );
    const seconds = await runJobs(jobs, join(folder, "prices.txt"), "quantlib-rates");
    const scaled = priced < count ? `, scaled from ${priced} trades` : "";
    peers[`QuantLib ${name}, one process, value only${scaled}`] = (seconds * count) / priced;
  }
  for (const greeks of ["none", "all"] as const)
    for (const threads of new Set([1, availableParallelism()])) {
      const args = ["price", book, "--greeks", greeks, "--format", "ndjson", "--output", output];
      const { seconds } = await runProgram(program, [...args, "--threads", String(threads)]);
      const ok = readFileSync(output, "utf8").split('"status":"ok"').length - 1;
      if (ok !== count) throw new Error(`${kind}: ${ok} of ${count} trades have a value`);
      const what = `${count.toLocaleString("en-US")} ${NAMES[kind]}, ${greeks === "none" ? "value only" : "all Greeks"}`;
      context.report({
        case: `feynkac price, ${what}, ${threads} thread${threads === 1 ? "" : "s"}, from start to exit`,
        device: context.cpu,
        precision: "f64",
        figure: seconds,
        unit: "s",
        ...(greeks === "none" ? { peers } : {}),
      });
    }
}

const program = join(import.meta.dirname, "..", "bin/feynkac.js");

async function run(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-rates-"));
  try {
    using quantLib = openProgram<object>((text) => context.note(text), "quantlib-rates");
    for (const kind of KINDS) await rates(context, kind, quantLib);
    for (const kind of KINDS) await commands(context, kind, quantLib, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "rates",
  description: "caps, swaptions and callable bonds beside QuantLib: trades a second on one thread, and whole commands",
  run,
};
