/** SVI against the reference cases, and by quotes of its own. */
import { describe, expect, it } from "vitest";
import { butterflyCheck, calendarCheck } from "../../src/calibration/arbitrage.ts";
import { fitSviSlice } from "../../src/calibration/svi-fit.ts";
import { fitSvi } from "../../src/calibration/svi-surface.ts";
import { sliceOf } from "../../src/calibration/variance-surface.ts";
import { type SviParameters, sviVariance } from "../../src/market/svi.ts";
import { readFixture } from "../support/fixtures.ts";
import { dax, quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";

interface SliceCase {
  readonly id: string;
  readonly product: string;
  readonly params: SviParameters & { readonly log_moneyness: number[]; readonly g_search_interval: [number, number] };
  readonly expected: {
    readonly total_variance: number[];
    readonly butterfly_arbitrage: boolean;
    readonly g_min: number;
    readonly g_argmin: number;
  };
}
const covered = (readFixture("reference/calibration.json") as { cases: SliceCase[] }).cases.filter(
  ({ product }) => product === "svi_slice",
);
const place = { time: 1, forward: 100 } as const;

describe("SVI", () => {
  it.each(covered.map((c) => [c.id, c] as const))("%s", (_, { params, expected }) => {
    const { log_moneyness: k, g_search_interval: range, ...parameters } = params;
    const w = expected.total_variance;
    w.forEach((variance, i) => expect(sviVariance({ parameters, k: k[i] }).variance).toBeCloseTo(variance, 12));
    const quotes = quotesOf(1, k, (at) => Math.sqrt(sviVariance({ parameters, k: at }).variance));
    const fit = fitSviSlice(quotes);
    expect(fit.status).toBe("converged");
    for (const [i, variance] of w.entries())
      expect(Math.abs(sviVariance({ parameters: fit.parameters, k: k[i] }).variance - variance)).toBeLessThan(1e-10);
    const { free, min, at } = butterflyCheck([
      sliceOf({ ...place, range }, { kind: "svi", parameters: fit.parameters }),
    ]);
    expect(free).toBe(!expected.butterfly_arbitrage);
    expect(Math.abs(min - expected.g_min)).toBeLessThan(1e-9);
    expect(Math.abs(at!.logMoneyness - expected.g_argmin)).toBeLessThan(1e-6);
  });

  it("is recovered from its own quotes", () => {
    const next = uniform(34);
    for (let i = 0; i < 300; i++) {
      const rho = -0.95 + 1.9 * next();
      const sigma = 0.02 * 40 ** next();
      const b = (2 / (1 + Math.abs(rho))) * Math.exp(-5 * next());
      const m = -0.4 + 0.8 * next();
      const time = 0.05 * 100 ** next();
      const parameters = { a: 0.001 * 300 ** next() - b * sigma * Math.sqrt(1 - rho * rho), b, rho, m, sigma };
      const k = Array.from({ length: 9 + (i % 30) }, (_, j, count = 8 + (i % 30)) => -1 + (2 * j) / count);
      const quotes = quotesOf(time, k, (at) => Math.sqrt(sviVariance({ parameters, k: at }).variance / time));
      const fit = fitSviSlice(quotes);
      expect(fit.residual).toBeLessThan(1e-9);
    }
  });

  it("fits the DAX quotes, says where expiries cross, and has a local volatility in the book's form", () => {
    const fit = fitSvi(dax());
    expect(fit.status).toBe("converged");
    expect(fit.butterfly.free).toBe(true);
    const { volatility } = fit;
    if (volatility.kind !== "surface") throw new Error("expected a surface");
    expect(volatility.surface.volatility.flat().every((sigma) => sigma > 0.02 && sigma < 3)).toBe(true);
    const flat = (time: number, level: number) =>
      sliceOf(
        { time, forward: 100, range: [-1, 1] },
        { kind: "svi", parameters: { a: level, b: 0, rho: 0, m: 0, sigma: 1 } },
      );
    expect(calendarCheck([flat(1, 0.04), flat(2, 0.03)])).toMatchObject({ free: false, at: { time: 2 } });
    expect(calendarCheck([flat(1, 0.04)])).toMatchObject({ free: true, at: undefined });
  });

  it("takes one quote and says that its wings are unknown", () => {
    const fit = fitSvi({ spot: 100, expiries: [quotesOf(1, [0], () => 0.2)] });
    expect(fit.impliedVolatility(0, 1)).toBeCloseTo(0.2, 9);
    expect(fit.message).toContain("fewer quotes than SVI has parameters");
  });
});
