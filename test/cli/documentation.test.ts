/** Runs the examples of the documentation as a reader would; only the package's names become files of `src/`. */
import { transformSync } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { examplesOf, type Outcome, runExamples } from "../support/documentation.ts";
import { everything } from "../support/extent.ts";

/** Those of docs/pde.md that only `npm run test:all` runs: README.md has the same put, test/pde/fdm the equations. */
const LATER = [0, 2];
const codes = [
  ...examplesOf("README.md"),
  ...examplesOf("docs/start.md").slice(0, 1),
  ...examplesOf("docs/pde.md").filter((_, i) => everything || !LATER.includes(i)),
  ...(everything ? examplesOf("docs/explain.md") : []),
  ...examplesOf("docs/kernels.md"),
];
let outcomes: ReadonlyMap<string, Outcome>;
beforeAll(() => {
  const all = runExamples(codes);
  outcomes = new Map(codes.map((code, i) => [code, all[i]]));
});

/** What became of an example. */
function outcomeOf(code: string): Outcome {
  const outcome = outcomes.get(code)!;
  expect(outcome.errors).toBe("");
  expect(outcome.status).toBe(0);
  return outcome;
}

/** What an example writes. */
const run = (code: string): string => `${outcomeOf(code).printed.join("\n")}\n`;

const numbers = (text: string): number[] => (text.match(/-?\d+\.\d+|\b\d+\b(?=[,\s])/g) ?? []).map(Number);

/** The American put of README.md and docs/pde.md: value, delta and error estimate. */
function expectPut(output: string): void {
  const [value, delta, errorEstimate] = numbers(output);
  // 6.09038: a binomial tree of 500 and 1,000 steps, extrapolated.
  expect(Math.abs(value - 6.09038)).toBeLessThan(errorEstimate);
  expect(delta).toBeCloseTo(-0.411, 3);
}

test("README.md: an American put from a book", () => {
  const [example, ...others] = examplesOf("README.md");
  expect(others).toEqual([]);
  expectPut(run(example));
});

test("the first snippets run as `tsc --init` of TypeScript 7 leaves their syntax, on Node 20, too", () => {
  const [first] = examplesOf("README.md");
  const [start] = examplesOf("docs/start.md");
  // The sources themselves have `using`.
  const stripped = [first, start].map((code) => transformSync(code, { loader: "ts", target: "esnext" }).code);
  for (const code of stripped) expect(transformSync(code, { loader: "js", target: "node20.19" }).code).toBe(code);
  // Black–Scholes gives 8.393 for the European put.
  expect(numbers(run(start))[0]).toBeGreaterThan(8.393);
});

test.skipIf(!everything)("docs/pde.md: an American put by its equation", () => {
  expectPut(run(examplesOf("docs/pde.md")[0]));
});

/**
 * The barrier option of docs/pde.md by simulation (numpy, seed 7): 4·10⁷ paths with exact lognormal steps to 0.25, 0.5
 * and 1, weighted by the Brownian bridge's probability of staying above the barrier. With the standard deviation of the
 * mean.
 */
const simulated: Readonly<Record<number, { readonly value: number; readonly deviation: number }>> = {
  0.15: { value: 5.8233, deviation: 0.0015 },
  0.2: { value: 7.5259, deviation: 0.002 },
  0.25: { value: 9.014, deviation: 0.0026 },
};

test("docs/pde.md: down-and-out calls over a dividend, for three volatilities", () => {
  const [, example] = examplesOf("docs/pde.md");
  const rows = run(example)
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  expect(rows.map(([sigma]) => sigma)).toEqual([0.15, 0.2, 0.25]);
  for (const [sigma, value, delta, gamma, errorEstimate] of rows) {
    expect(Math.abs(value - simulated[sigma].value)).toBeLessThan(4 * simulated[sigma].deviation + errorEstimate);
    expect([delta, gamma, errorEstimate].every((number) => number > 0)).toBe(true);
  }
});

test.skipIf(!everything)(
  "docs/pde.md: American puts in the affine coordinate are those of a spot that jumps",
  async () => {
    const [, , example] = examplesOf("docs/pde.md");
    const rows = run(example)
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number));
    expect(rows.map(([strike]) => strike)).toEqual([80, 90, 100, 110, 120]);
    const discrete = [
      { date: 0.25, cash: 2 },
      { date: 0.75, cash: 2, proportional: 0.01 },
    ];
    const book = {
      asOf: "2026-01-01",
      market: {
        rates: { EUR: 0.03 },
        underlyings: {
          S: { spot: 100, currency: "EUR", dividends: { discrete }, volatility: { local: "0.2 + 0.1*exp(-S/100)" } },
        },
      },
      trades: rows.map(([strike]) => ({
        id: String(strike),
        underlying: "S",
        payoff: "put",
        strike,
        expiry: 1,
        exercise: "american",
      })),
    };
    using device = createCpuDevice({ threads: 1 });
    const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, accuracy: { relative: 1e-6 } });
    rows.forEach(([, value, delta], i) => {
      const exact = results[i];
      if (exact.status === "error") throw new Error(exact.error.message);
      // Of second order at 400 intervals and 100 steps.
      expect(Math.abs(value - exact.value)).toBeLessThan(2e-3);
      expect(Math.abs(delta - exact.delta!)).toBeLessThan(2e-4);
    });
  },
);

test("docs/pde.md: Heston's call on two axes", () => {
  const [, , affine, example] = examplesOf("docs/pde.md");
  expect(affine).toContain("affineDividends");
  const [value, delta, toVariance, gamma, mixed, errorEstimate] = numbers(run(example));
  // Case HES-O-04 of test/fixtures/reference: the value of the Fourier integral.
  expect(Math.abs(value - 8.894869360054)).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(5e-3);
  // The delta of the same integral, by SciPy; with a negative correlation it falls as the variance rises.
  expect(Math.abs(delta - 0.6715585)).toBeLessThan(2e-4);
  expect(toVariance).toBeGreaterThan(0);
  expect(gamma).toBeGreaterThan(0);
  expect(mixed).toBeLessThan(0);
});

test("docs/pde.md: columns of puts, one of which fails", () => {
  const [example, ...others] = examplesOf("docs/pde.md").slice(4);
  expect(others).toEqual([]);
  const { said, printed } = outcomeOf(example);
  expect(printed).toEqual(said);
  // Black and Scholes' formula at a rate of 0, in Python: 3.5891.
  expect(numbers(printed[0])[0]).toBe(3.59);
});

// test/pricing has explanations.
test.skipIf(!everything)("docs/explain.md: a put over a weekend", () => {
  const [example, ...others] = examplesOf("docs/explain.md");
  expect(others).toEqual([]);
  const [change, theta, delta, gamma, unexplained] = numbers(run(example));
  // Delta and theta of the put of README.md's example, to its digits; a year has 365 days.
  expect(delta).toBeCloseTo(-0.411, 2);
  expect(theta).toBeLessThan(0);
  expect(theta + delta + gamma).toBeCloseTo(change, 2);
  expect(Math.abs(unexplained)).toBeLessThan(0.01);
});

test("docs/kernels.md: calls, records, derivatives, and sums over workgroups", () => {
  const [calls, records, derivatives, sums, ...others] = examplesOf("docs/kernels.md");
  expect(others).toEqual([]);
  // Black and Scholes' formula, computed in Python.
  const expected = [16.69944840841599, 10.450583572185565, 6.040088129724232];
  const values = numbers(run(calls));
  expect(values).toHaveLength(3);
  values.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 12));
  // By hand: 5a − 2b = 1 and 5b − 4a = 1 for a, b, a at the inner nodes.
  const solved = numbers(run(records)).filter((u) => u !== 0);
  expect(solved).toHaveLength(3);
  [7 / 17, 9 / 17, 7 / 17].forEach((u, i) => expect(solved[i]).toBeCloseTo(u, 14));
  // The price, its delta Φ(0.1), its vega 100·φ(0.1) and its gamma φ(0.1)/20, computed in Python.
  const slopes = numbers(run(derivatives));
  [7.965567455405804, 0.5398278372770289, 39.69525474770118, 0.0198476273738506].forEach((slope, i) =>
    expect(slopes[i]).toBeCloseTo(slope, 10),
  );
  expect(run(sums)).toMatch(/2016, 6112, 257/);
});
