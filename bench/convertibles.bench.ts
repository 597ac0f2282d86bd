/** Convertible bonds on one core beside QuantLib's binomial tree, and books of them by the whole command. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type BookInput, parseBook } from "../src/book/index.ts";
import { createCpuDevice } from "../src/device/cpu/index.ts";
import type { Device } from "../src/device/index.ts";
import { priceBook } from "../src/pricing/index.ts";
import { type Benchmark, type Context, inTurns, median } from "./harness.ts";
import { binomial, buildConvertiblePeer, type ConvertibleJob } from "./peers/convertible.ts";
import { runProgram } from "./program.ts";

/** Steps of QuantLib's tree in its own example, to an odd number. */
const TREE_STEPS = 801;

/** Thirty bonds without credit spread: QuantLib's tree solves another equation where there is one. */
const jobs: readonly ConvertibleJob[] = [0.2, 0.35].flatMap((vol) =>
  [70, 85, 100, 115, 130].flatMap((spot) =>
    [0, 1, 2].map((rights): ConvertibleJob => ({
      spot,
      rate: 0.04,
      yield: 0.02,
      vol,
      spread: 0,
      years: 5,
      ratio: 1,
      coupon: 0.02,
      calls: rights === 0 ? [] : ([[2, 110], [3, 108], [4, 105]] as const), // prettier-ignore
      puts: rights === 2 ? ([[3, 100]] as const) : [],
    })),
  ),
);

const rightsOf = (rights: ConvertibleJob["calls"]) => rights.map(([date, price]) => ({ date, price }));

/** A book of `count` bonds, those of the jobs over and over, on underlyings of their own. */
function bookOf(count: number, spread: number, window: boolean): BookInput {
  const all = Array.from({ length: count }, (_, i) => jobs[i % jobs.length]);
  return {
    asOf: "2026-11-20",
    market: {
      rates: { EUR: 0.04 },
      underlyings: Object.fromEntries(
        all.map((job, i) => [
          `U${i}`,
          { spot: job.spot, currency: "EUR", volatility: job.vol, dividends: { yield: job.yield } },
        ]),
      ),
      credit: Object.fromEntries(all.map((_, i) => [`U${i}`, { spread }])),
    },
    trades: all.map((job, i) => ({
      id: `${i}`,
      underlying: `U${i}`,
      convertible: {
        maturity: job.years,
        coupon: job.coupon,
        frequency: 1,
        notional: 100,
        ratio: job.ratio,
        calls: window && job.calls.length > 0 ? [{ from: 2, to: 5, price: 105, trigger: 130 }] : rightsOf(job.calls),
        puts: rightsOf(job.puts),
      },
    })),
  };
}

async function valuesOf(device: Device, book: BookInput, accuracy: number): Promise<number[]> {
  const { results } = await priceBook(parseBook(book), { device, greeks: "none", accuracy: { relative: accuracy } });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result.value;
  });
}

const maxOf = (errors: readonly number[]): number => Math.max(...errors.map(Math.abs));

/** The coarsest accuracy, relative to the notional, at which no error is larger than the tree's largest. */
async function besideQuantLib(context: Context): Promise<void> {
  if (!buildConvertiblePeer((text) => { context.note(text); })) return; // prettier-ignore
  using device = createCpuDevice({ threads: 1 });
  const exact = await valuesOf(device, bookOf(jobs.length, 0, false), 1e-7);
  const trees = binomial(jobs, TREE_STEPS, 0);
  const treeError = maxOf(trees.map(({ price }, i) => price - exact[i]));
  context.note(
    `QuantLib's tree of ${TREE_STEPS} steps: largest error ${treeError.toExponential(1)} on a notional of 100`,
  );
  const many = bookOf(context.quick ? 60 : 960, 0, false);
  for (const accuracy of [1e-3, 1e-4, 1e-5]) {
    const values = await valuesOf(device, many, accuracy);
    const error = maxOf(values.map((value, i) => value - exact[i % jobs.length]));
    const { one, other } = await inTurns(
      context.quick ? 0 : 5000,
      async () => {
        const start = performance.now();
        await valuesOf(device, many, accuracy);
        return (performance.now() - start) / 1e3 / values.length;
      },
      () => median(binomial(jobs, TREE_STEPS, 1).map(({ seconds }) => seconds)),
    );
    context.report({
      case: `a convertible's value at an accuracy of ${accuracy}, in a book of ${values.length}, 1 thread`,
      device: context.cpu,
      precision: "f64",
      figure: 1e3 * one,
      unit: "ms",
      error,
      peers: {
        [`QuantLib BinomialConvertibleEngine, ${TREE_STEPS} steps, error ${treeError.toExponential(1)}`]: 1e3 * other,
      },
    });
  }
}

/** The whole command: half of the bonds with a call window and a trigger, a credit spread, all Greeks. */
async function wholeCommand(context: Context): Promise<void> {
  const program = join(import.meta.dirname, "..", "bin/feynkac.js");
  const folder = mkdtempSync(join(tmpdir(), "feynkac-convertibles-"));
  try {
    const count = context.quick ? 60 : 2000;
    const [book, output] = [join(folder, "book.json"), join(folder, "out.json")];
    writeFileSync(book, JSON.stringify(bookOf(count, 0.03, true)));
    for (const threads of new Set([1, availableParallelism()])) {
      const { seconds } = await runProgram(program, ["price", book, "--output", output, "--threads", String(threads)]);
      const { results } = JSON.parse(readFileSync(output, "utf8")) as { results: readonly { status: string }[] };
      if (results.some(({ status }) => status !== "ok")) throw new Error("a trade was not priced");
      context.report({
        case: `feynkac price, ${count} convertibles, all Greeks, threads: ${threads}, from start to exit`,
        device: context.cpu,
        precision: "f64",
        figure: seconds,
        unit: "s",
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const benchmark: Benchmark = {
  name: "convertibles",
  description: "convertible bonds beside QuantLib's binomial tree, and the whole command",
  async run(context) {
    await besideQuantLib(context);
    await wholeCommand(context);
  },
};
