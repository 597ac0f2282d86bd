/** Several barriers on paths: values from elsewhere, limits of correlation, what bounds and estimates cover. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

type Trade = BookInput["trades"][number];
const NAMES = ["A", "B", "C", "D"];

interface Priced {
  readonly value: number;
  readonly errorEstimate: number;
}

async function priced(trades: readonly object[], rho: number, method = "montecarlo"): Promise<readonly Priced[]> {
  const underlying = { spot: 100, currency: "EUR", volatility: 0.25, dividends: { yield: 0.01 } };
  const market = {
    rates: { EUR: 0.03 },
    underlyings: Object.fromEntries(NAMES.map((name) => [name, underlying])),
    correlations: NAMES.flatMap((a, i) => NAMES.slice(i + 1).map((b) => [a, b, rho] as [string, string, number])),
  };
  const all = trades.map((trade, i) => ({ id: `${i}`, expiry: 1, ...trade }) as Trade);
  const book = { asOf: "2026-01-01", method, market, trades: all } as BookInput;
  const { results } = await priceBook(readBook(book), { device, greeks: "none" });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return { value: result.value, errorEstimate: result.errorEstimate };
  });
}

const call = { underlyings: NAMES, payoff: { basket: "call", weights: [0.25, 0.25, 0.25, 0.25] }, strike: 100 };
const upAndOut = { ...call, barriers: [{ type: "up-and-out", level: 125 }] };
const downAndIn = {
  underlyings: NAMES,
  payoff: { worstOf: "put" },
  strike: 100,
  barriers: [{ type: "down-and-in", level: 70 }],
};
const corridor = [
  { type: "up-and-out", level: 125, underlying: "A" },
  { type: "down-and-out", level: 80, underlying: "A" },
];

describe("several barriers", () => {
  // A simulation of its own in NumPy with 250 to 1,000 steps, and what its standard errors leave open.
  test.each([
    [0.95, 0.605, 0.015, 6.63, 0.05],
    [0.8, 0.254, 0.01, 8.866, 0.06],
    [0.5, 0.108, 0.006, 11.766, 0.07],
  ])("on each of four underlyings with correlations of %f", async (rho, out, outError, put, putError) => {
    const [one, other] = await priced([upAndOut, downAndIn], rho);
    expect(Math.abs(one.value - out)).toBeLessThan(one.errorEstimate + outError);
    expect(Math.abs(other.value - put)).toBeLessThan(other.errorEstimate + putError);
    expect(one.errorEstimate).toBeLessThan(0.1);
  });

  test("with correlations of exactly 1 are those of one underlying", async () => {
    const [one, other] = await priced([upAndOut, downAndIn], 1);
    // By finite differences, and Reiner and Rubinstein's formula.
    expect(Math.abs(one.value - 1.309)).toBeLessThan(one.errorEstimate + 5e-4);
    expect(Math.abs(other.value - 4.703)).toBeLessThan(other.errorEstimate + 5e-4);
    expect(one.errorEstimate).toBeLessThan(0.01);
  });

  test("two on one of several underlyings are its corridor", async () => {
    const weights = [1, 0, 0, 0];
    const double = { ...call, payoff: { basket: "call", weights }, barriers: corridor };
    const noTouch = { underlyings: NAMES, payoff: { expression: "100" }, barriers: corridor };
    const [one, other] = await priced([double, noTouch], 0.5);
    // Finite differences, and the sine series of the law of a Brownian motion in a corridor.
    expect(Math.abs(one.value - 1.105)).toBeLessThan(one.errorEstimate + 5e-4);
    expect(Math.abs(other.value - 26.2414)).toBeLessThan(other.errorEstimate);
    expect(other.errorEstimate).toBeLessThan(0.1);
  });

  test("knocked in and knocked out are the trade without", async () => {
    const barriers = (kind: string) => [{ type: `up-and-${kind}`, level: 125 }];
    const [out, within, whole] = await priced([upAndOut, { ...call, barriers: barriers("in") }, call], 0.5);
    const error = out.errorEstimate + within.errorEstimate + whole.errorEstimate;
    expect(Math.abs(out.value + within.value - whole.value)).toBeLessThan(error);
  });

  test("a rebate that is paid at the breach beside one at expiry", async () => {
    // A batch of both: each is what it is alone.
    const rebate = (rebateAt: string) => ({
      underlying: "A",
      payoff: "call",
      strike: 100,
      barriers: [{ type: "up-and-out", level: 125, rebate: 10, rebateAt }],
    });
    const both = await priced([rebate("hit"), rebate("expiry")], 0);
    const exact = await priced([rebate("hit"), rebate("expiry")], 0, "fdm");
    both.forEach(({ value, errorEstimate }, i) => {
      expect(Math.abs(value - exact[i].value)).toBeLessThan(errorEstimate + exact[i].errorEstimate);
    });
    expect(exact[0].value - exact[1].value).toBeGreaterThan(0.05);
    for (const [i, kind] of ["hit", "expiry"].entries()) expect(await priced([rebate(kind)], 0)).toEqual([both[i]]);
  });

  test("on dates do not look at today's spot, and pay on the date of the breach", async () => {
    const dated = (level: number, rebate: number) => ({
      underlying: "A",
      payoff: "call",
      strike: 80,
      barriers: [{ type: "up-and-out", level, rebate, monitoring: [0.5, 1] }],
    });
    const trades = [dated(95, 0), dated(115, 30)];
    const [paths, grids] = [await priced(trades, 0), await priced(trades, 0, "fdm")];
    paths.forEach(({ value, errorEstimate }, i) => {
      expect(Math.abs(value - grids[i].value)).toBeLessThan(errorEstimate + grids[i].errorEstimate);
    });
    expect(paths[0].value).toBeGreaterThan(0.5);
  });
});
