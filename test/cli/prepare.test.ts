/** After `doctor --prepare` a book under named scenarios finds all of its kernels. */
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { compileFor } from "../../src/cli/commands/prepare.ts";
import { sampleBooks } from "../../src/cli/commands/prepare-book.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { specificationText } from "../../src/kernel/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { Random } from "../../tools/properties/random.ts";

const cpu = createCpuDevice({ threads: 1 });
afterAll(() => cpu[Symbol.dispose]());

/** The kernels that were asked for, by all that they are made from, with their names. */
const asked = new Map<string, string>();
beforeEach(() => asked.clear());
const { compile } = cpu;
vi.spyOn(cpu, "compile").mockImplementation((kernel, options) => {
  asked.set(`${options.precision} ${specificationText(kernel)}`, kernel.name);
  return compile.call(cpu, kernel, options);
});

const { signal } = new AbortController();
const random = new Random(3);

const scenarios = Array.from({ length: 70 }, (_, k) => ({
  name: `day ${k}`,
  moves: {
    spot: { U: 0.02 * random.normal() },
    volatility: { U: 0.01 * random.normal() },
    rate: { EUR: 0.001 * random.normal() },
    time: "1D",
  },
}));

/** Other trades of a kind than those that were prepared, in another market. */
function otherBook(underlying: object, terms: object, rates: unknown = 0.025) {
  return readBook({
    asOf: "2026-11-20",
    market: { rates: { EUR: rates }, underlyings: { U: { spot: 90, currency: "EUR", ...underlying } } },
    scenarios,
    trades: Array.from({ length: 4 }, (_, i) => ({
      id: `T${i}`,
      underlying: "U",
      payoff: i % 3 === 0 ? "call" : "put",
      strike: random.uniform(70, 110),
      expiry: random.uniform(0.1, 2.5),
      ...terms,
    })),
  });
}

const CURVE = [
  { date: "2027-05-20", zero: 0.028 },
  { date: "2028-11-20", zero: 0.026 },
  { date: "2031-11-20", zero: 0.027 },
];
const dividends = { discrete: ["2027-04-10", "2028-04-10"].map((date) => ({ date, cash: 1.5 })) };

test.each([
  ["American, a curve and cash dividends", { volatility: 0.25, dividends }, { exercise: "american" }, CURVE],
  ["American, constant volatility", { volatility: 0.2 }, { exercise: "american" }],
  ["European, constant volatility", { volatility: 0.2 }, {}],
  ["knock-out, cash dividends", { volatility: 0.3, dividends }, { barriers: [{ type: "down-and-out", level: 60 }] }],
  [
    "american, Heston",
    { volatility: { heston: { v0: 0.06, kappa: 2, theta: 0.06, sigma: 0.5, rho: -0.6 } } },
    { exercise: "american" },
  ],
])("trades of the kind %s", async (name, underlying, terms, rates?: unknown) => {
  const kind = sampleBooks().find((one) => one.name === name)!;
  expect(await compileFor(kind, cpu, signal)).toBe(true);
  const prepared = new Map(asked);
  asked.clear();
  const { results } = await priceBook(otherBook(underlying, terms, rates), { device: cpu });
  expect(results.map((one) => (one.status === "ok" ? one.scenarioValues?.length : one.error))).toEqual(
    results.map(() => scenarios.length),
  );
  expect(asked.size).toBeGreaterThan(0);
  expect([...asked].filter(([text]) => !prepared.has(text)).map(([, kernel]) => kernel)).toEqual([]);
});
