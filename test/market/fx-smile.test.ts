/** Conventions of currency options: reference cases; a strike has the delta that was asked for; smiles are complete. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type DeltaKind,
  fxDelta,
  fxOption,
  smilePoints,
  strangleSmile,
  strikeOfDelta,
} from "../../src/market/models/fx-smile.ts";
import type { Case } from "../../tools/reference/case.ts";
import { fx } from "../../tools/reference/fx.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

describe("reference cases of strikes and smiles", () => {
  const { cases } = readFixture("reference/fx_options.json") as { cases: Case[] };
  test.each(cases.filter(({ product }) => product in fx).map((one) => [one.id, one] as const))("%s", async (_, one) => {
    expect(await checked(one)).toEqual([]);
  });
});

const kind = fc.constantFrom<DeltaKind>("spot", "forward", "premium-adjusted-spot", "premium-adjusted-forward");
const expiry = fc
  .record({
    forward: fc.double({ min: 0.01, max: 300, noNaN: true }),
    years: fc.double({ min: 1 / 365, max: 30, noNaN: true }),
    rd: fc.double({ min: -0.02, max: 0.2, noNaN: true }),
    rf: fc.double({ min: -0.02, max: 0.2, noNaN: true }),
  })
  .map(({ forward, years, rd, rf }) => ({
    forward,
    years,
    domestic: Math.exp(-rd * years),
    foreign: Math.exp(-rf * years),
  }));
const sigma = fc.double({ min: 0.01, max: 1, noNaN: true });

test("a strike has the delta that it was asked for, or the delta is refused as too large", () => {
  fc.assert(
    fc.property(
      kind,
      expiry,
      sigma,
      fc.constantFrom(1, -1),
      fc.double({ min: 1e-4, max: 0.99, noNaN: true }),
      (...of) => {
        const [how, at, volatility, right, delta] = of;
        let strike: number;
        try {
          strike = strikeOfDelta(right, right * delta, volatility, at, how);
        } catch (error) {
          // No strike on a grid has so large a delta either.
          expect(String(error)).toContain("no strike has it; expected one below");
          for (let x = -40; x <= 40; x += 0.25) {
            const k = at.forward * Math.exp(x * volatility * Math.sqrt(at.years));
            expect(Math.abs(fxDelta(right, k, volatility, at, how))).toBeLessThan(delta * (1 + 1e-9));
          }
          return;
        }
        expect(Math.abs(fxDelta(right, strike, volatility, at, how))).toBeCloseTo(delta, 9);
        // Further out of the money the delta is smaller.
        expect(Math.abs(fxDelta(right, strike * 1.001 ** right, volatility, at, how))).toBeLessThan(delta);
      },
    ),
    { numRuns: 400 },
  );
});

test("a smile by its market strangle prices the strangle, and by its mean strangle has its quotes", () => {
  const wing = fc.record({
    riskReversal: fc.double({ min: -0.02, max: 0.02, noNaN: true }),
    strangle: fc.double({ min: 0.0005, max: 0.01, noNaN: true }),
  });
  const at = { forward: 1.2, years: 0.5, domestic: 0.98, foreign: 0.99 };
  fc.assert(
    fc.property(kind, wing, fc.double({ min: 0.05, max: 0.3, noNaN: true }), (how, { riskReversal, strangle }, atm) => {
      const wings = [{ delta: 0.25, riskReversal: riskReversal * atm * 5, strangle: strangle * atm * 5 }];
      const quotes = { atm, wings, kind: how, atmKind: "delta-neutral-straddle" as const };
      const { points, polynomial, market } = strangleSmile(quotes, at);
      const volatility = (strike: number): number => {
        const x = Math.log(strike / at.forward);
        return polynomial[0] + x * polynomial[1] + x * x * polynomial[2];
      };
      for (const point of points) expect(volatility(point.strike)).toBeCloseTo(point.volatility, 10);
      expect(points[2].volatility - points[0].volatility).toBeCloseTo(wings[0].riskReversal, 12);
      const value =
        fxOption(-1, market.put, volatility(market.put), at) + fxOption(1, market.call, volatility(market.call), at);
      expect(value).toBeCloseTo(market.value, 12);
      const mean = smilePoints(quotes, at);
      expect((mean[0].volatility + mean[2].volatility) / 2 - atm).toBeCloseTo(wings[0].strangle, 12);
    }),
    { numRuns: 100 },
  );
});
