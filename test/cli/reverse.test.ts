/** `feynkac reverse`: multiples of a scenario against those of closed forms, by bisection. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openEngine } from "../../src/cli/engine.ts";
import type { ReverseStress } from "../../src/cli/format/reverse.ts";
import { main } from "../../src/cli/main.ts";
import { firstMultiple } from "../../src/pricing/index.ts";
import { normalCdf } from "../support/normal.ts";
import { kept } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-reverse-"));
afterAll(() => rmSync(folder, { recursive: true }));
const book = join(folder, "book.json");

const market = {
  rates: { EUR: 0.02 },
  underlyings: {
    SAP: { spot: 100, currency: "EUR", volatility: 0.2 },
    IBM: { spot: 50, currency: "EUR", volatility: 0.3 },
  },
};
const trades = [
  { id: "put", underlying: "SAP", payoff: "put", strike: 95, expiry: 1, quantity: -10 },
  { id: "forward", underlying: "IBM", forward: 51, expiry: 0.5, quantity: 2 },
];
const scenarios = [
  { name: "other", moves: { spot: { "*": 0.1 } } },
  { name: "crash", moves: { spot: { SAP: -0.1, IBM: -0.2 }, volatility: { SAP: 0.04 }, rate: { EUR: -0.002 } } },
  { name: "calm", moves: { volatility: { SAP: -0.01 } } },
];
writeFileSync(book, JSON.stringify({ asOf: "2026-11-20", market, trades, scenarios }));

async function reverse(...args: readonly string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { terminal, stdout, stderr } = kept();
  const all = ["reverse", book, ...args, "--threads", "1"];
  const status = await main(all, terminal, new AbortController().signal, openEngine);
  return { status, stdout: stdout(), stderr: stderr() };
}

/** The value of the book at a multiple of the crash, by Black and Scholes. */
function valueAt(multiple: number): number {
  const [spot, other, sigma, rate] = [
    100 * (1 - 0.1 * multiple),
    50 * (1 - 0.2 * multiple),
    0.2 + 0.04 * multiple,
    0.02 - 0.002 * multiple,
  ];
  const [d1, d2] = [0.5, -0.5].map((half) => (Math.log(spot / 95) + rate + half * sigma * sigma) / sigma);
  const put = 95 * Math.exp(-rate) * normalCdf(-d2) - spot * normalCdf(-d1);
  return -10 * put + 2 * (other - 51 * Math.exp(-0.5 * rate));
}

/** The root of an increasing function. */
function bisected(f: (x: number) => number, low: number, high: number): number {
  for (let i = 0; i < 60; i++) {
    const middle = 0.5 * (low + high);
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  return high;
}

test("the first multiple is that of the closed form, with the moves and the parts there", async () => {
  const loss = 60;
  const { status, stdout } = await reverse("--scenario", "crash", "--loss", String(loss), "--format", "json");
  expect(status).toBe(0);
  const answer = JSON.parse(stdout) as ReverseStress;
  const exact = bisected((multiple) => valueAt(0) - valueAt(multiple) - loss, 0, 4);
  expect(answer.found!.multiple).toBeCloseTo(exact, 5);
  expect(answer.found!.low).toBeLessThanOrEqual(exact);
  expect(answer.found!.high).toBeGreaterThanOrEqual(exact);
  expect(answer.moves["spot SAP"]).toBeCloseTo(-0.1 * exact, 6);
  expect(answer.lost).toBeCloseTo(loss, 3);
  const parts = answer.parts["underlying"];
  expect(parts.reduce((sum, part) => sum + part.loss, 0)).toBeCloseTo(answer.lost, 9);
  const text = await reverse("--scenario", "crash", "--loss", String(loss));
  expect(text.stdout).toContain("× crash loses 60");
});

test("what no multiple loses is said, with the loss at the largest: spots keep a hundredth", async () => {
  const text = await reverse("--scenario", "crash", "--loss", "1e6");
  expect([text.status, text.stdout]).toEqual([1, expect.stringContaining("no multiple of crash up to 4.95 loses")]);
  const calm = await reverse("--scenario", "calm", "--loss", "1", "--most", "3", "--format", "json");
  expect(calm.status).toBe(1);
  const { found, most, lost } = JSON.parse(calm.stdout) as ReverseStress;
  expect([found, most]).toEqual([undefined, 3]);
  expect(lost).toBeLessThan(0);
});

test("an unknown scenario names the nearest one", async () => {
  expect((await reverse("--scenario", "crush", "--loss", "1")).stderr).toContain('(did you mean "crash"?)');
});

describe("the first multiple of a loss that is known", () => {
  const exact =
    (f: (at: number) => number, error = 0) =>
    async (multiples: readonly number[]) => ({
      losses: multiples.map(f),
      errors: multiples.map(() => error),
    });

  test("of one that grows and falls is before it falls", async () => {
    const found = await firstMultiple(
      exact((at) => 3 * Math.sin(at)),
      2,
      10,
    );
    expect(found!.multiple).toBeCloseTo(Math.asin(2 / 3), 8);
  });
  test("is found far below the largest one, where the loss overflows", async () => {
    const lossesAt = (multiples: readonly number[]) => {
      const losses = multiples.map(Math.expm1);
      return Promise.resolve({ losses, errors: losses.map((one) => 1e-13 * one) });
    };
    const found = await firstMultiple(lossesAt, 1e30, 1e9);
    const root = Math.log1p(1e30);
    expect(found!.multiple / root).toBeCloseTo(1, 8);
    expect(found!.low).toBeLessThanOrEqual(root);
  });

  test("of one that jumps is the jump", async () => {
    const found = await firstMultiple(
      exact((at) => (at < 2.345678 ? 0.1 * at : 5)),
      2,
      10,
    );
    expect(found!.multiple).toBeCloseTo(2.345678, 6);
    expect(found!.low).toBeLessThanOrEqual(2.345678);
    expect(found!.high).toBeGreaterThanOrEqual(2.345678);
  });
  test("of one that is there already is 0", async () => {
    expect(
      await firstMultiple(
        exact((at) => 3 - at),
        2,
        10,
      ),
    ).toMatchObject({ multiple: 0, low: 0, high: 0 });
  });
  test("of one that is known to an error is between the bounds", async () => {
    const cases = fc.record({
      power: fc.double({ min: 0.5, max: 3, noNaN: true }),
      root: fc.double({ min: 0.1, max: 9, noNaN: true }),
      error: fc.double({ min: 1e-9, max: 1e-2, noNaN: true }),
      phase: fc.double({ min: 0, max: 6, noNaN: true }),
    });
    const run = fc.asyncProperty(cases, async ({ power, root, error, phase }) => {
      const loss = root ** power;
      const noisy = exact((at) => at ** power + error * Math.sin(1e4 * at + phase), error);
      const found = (await firstMultiple(noisy, loss, 10))!;
      expect(found.low).toBeLessThanOrEqual(root);
      expect(found.high).toBeGreaterThanOrEqual(root);
      // The bounds are a few times the error, over the least slope between them, apart.
      const slope = power * Math.min(found.low ** (power - 1), found.high! ** (power - 1));
      if (found.low > 0) expect(found.high! - found.low).toBeLessThan((12 * error) / slope + 1e-7);
    });
    await fc.assert(run, { numRuns: 200 });
  });
});
