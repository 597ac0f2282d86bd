/**
 * Linear products and curves from quotes: reference cases of curves and swaps; over random curves, legs and quotes, the
 * gradient is the slope of the value, found curves reprice their quotes, and the risk by quote is that of a new fit.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCurves } from "../../src/calibration/curves/find.ts";
import { parSwap, simpleRate, type SwapQuotes } from "../../src/calibration/curves/quoted.ts";
import { calendarOf, type Day, dayOf, tenorOf } from "../../src/market/conventions/index.ts";
import { Curve, type Leg, legOf, type LegSpec, timeOf, Valuation } from "../../src/market/linear/index.ts";
import type { Case } from "../../tools/reference/case.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

describe.each(["curves", "swaps"])("reference cases of %s", (family) => {
  const { cases } = readFixture(`reference/${family}.json`) as { cases: Case[] };
  test.each(cases.map((one) => [one.id, one] as const))("%s", (_, one) => {
    expect(checked(one)).toEqual([]);
  });
});

const reference = dayOf("2026-11-20");
const calendar = calendarOf("TARGET");
const times = [0.1, 0.5, 1, 2, 3, 5, 7, 10, 20, 40];
const rule = fc.constantFrom("log-discount" as const, "zero-rate" as const);
const curveOf = fc
  .tuple(
    rule,
    fc.array(fc.double({ min: -0.02, max: 0.12, noNaN: true }), { minLength: times.length, maxLength: times.length }),
  )
  .map(([how, zeros]) => new Curve(times, zeros, how));

const leg = fc
  .record({
    from: fc.integer({ min: -400, max: 700 }),
    length: fc.integer({ min: 40, max: 5000 }),
    every: fc.constantFrom("1M", "3M", "6M", "1Y"),
    dayCount: fc.constantFrom("Act/360" as const, "30/360" as const, "Act/365F" as const),
    rate: fc.double({ min: -0.01, max: 0.1, noNaN: true }),
    kind: fc.constantFrom("fixed", "term", "compounded", "averaged", "lookback", "shift", "lockout"),
    exchange: fc.constantFrom("none" as const, "final" as const, "ends" as const, "all" as const),
    notional: fc.constantFrom(1e6, [5e6, 4e6, 4e6, 1e6]),
  })
  .map(({ from, length, every, kind, ...rest }): LegSpec => {
    const start = calendar.adjust(reference + from, "following");
    const fixings = new Map(
      Array.from({ length: 900 }, (_, k): [Day, number] => [reference - 1 - k, 0.02 + 1e-5 * (k % 7)]),
    );
    const index = { name: "index", curve: 1, calendar, dayCount: "Act/360" as const, fixingLag: 2, fixings };
    const observation = (["lookback", "shift", "lockout"] as const).find((name) => name === kind);
    const overnight = { averaged: kind === "averaged", ...(observation ? { observation, days: 3 } : {}) };
    return {
      ...rest,
      schedule: { from: start, to: start + length, every: tenorOf(every), calendar },
      discount: 0,
      ...(kind === "fixed" ? {} : { index }),
      ...(kind === "fixed" || kind === "term" ? {} : { overnight }),
    };
  });

const value = (of: Leg, curves: readonly Curve[]): number => new Valuation(curves).value(of.flows);

test("the gradient of a leg is the slope of its value, by every node of every curve, and by its rate", () => {
  fc.assert(
    fc.property(curveOf, curveOf, leg, (discount, projection, spec) => {
      const curves = [discount, projection];
      const made = legOf(spec, reference);
      const gradient = new Valuation(curves).gradient(made.flows);
      for (const [c, { zeros }] of curves.entries())
        for (let k = 0; k < zeros.length; k++) {
          const zero = zeros[k];
          const at = (move: number): number => {
            zeros[k] = zero + move;
            return value(made, curves);
          };
          const slope = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4;
          zeros[k] = zero;
          expect(Math.abs(gradient[c][k] - slope)).toBeLessThan(2e-8 * 5e6);
        }
      const raised = value(legOf({ ...spec, rate: spec.rate + 1 }, reference), curves);
      expect(raised - value(made, curves)).toBeCloseTo(new Valuation(curves).value(made.byRate), 3);
    }),
    { numRuns: 60 },
  );
});

test("an overnight leg that telescopes is worth what its days are worth one by one", () => {
  fc.assert(
    fc.property(curveOf, fc.integer({ min: 30, max: 800 }), (curve, length) => {
      const start = calendar.adjust(reference, "following");
      const index = { name: "index", curve: 0, calendar, dayCount: "Act/360" as const };
      const spec = (overnight: LegSpec["overnight"]): LegSpec => ({
        schedule: { from: start, to: start + length, every: tenorOf("3M"), calendar },
        notional: 1e6,
        dayCount: "Act/360",
        rate: 0,
        index,
        discount: 0,
        ...(overnight ? { overnight } : {}),
      });
      const whole = value(legOf(spec({}), reference), [curve]);
      const daily = value(legOf(spec({ observation: "lookback", days: 0 }), reference), [curve]);
      expect(daily).toBeCloseTo(whole, 5);
    }),
    { numRuns: 40 },
  );
});

describe("curves from quotes", () => {
  const quotes = (discount: number, index: number, overnight: boolean): SwapQuotes => ({
    reference,
    calendar,
    spotLag: 2,
    endOfMonth: true,
    overnight,
    discount,
    index: { name: "index", curve: index, calendar, dayCount: "Act/360" },
    paymentLag: overnight ? 1 : 0,
    fixedMonths: 12,
    fixedDayCount: "30/360",
    floatingMonths: overnight ? 12 : 6,
  });
  const rates = fc.array(fc.double({ min: -0.01, max: 0.09, noNaN: true }), { minLength: 7, maxLength: 7 });
  const tenors = ["1Y", "2Y", "3Y", "5Y", "7Y", "10Y", "20Y"];
  const found = (discounts: readonly number[], terms: readonly number[], how: "log-discount" | "zero-rate") =>
    findCurves(
      [],
      [
        {
          name: "ESTR",
          rule: how,
          instruments: tenors.map((t, k) => parSwap(t, discounts[k], tenorOf(t), quotes(0, 0, true))),
        },
        {
          name: "6M",
          rule: how,
          instruments: [
            simpleRate("6M", terms[0], tenorOf("6M"), quotes(0, 1, false)),
            ...tenors.slice(1).map((t, k) => parSwap(t, terms[k + 1], tenorOf(t), quotes(0, 1, false))),
          ],
        },
      ],
      reference,
    );

  test("reprice two curves' quotes at once, and move with a quote as the derivatives say", () => {
    fc.assert(
      fc.property(rates, rates, rule, fc.nat(13), (raw, other, how, moved) => {
        // Quotes near each other, as those of a market are.
        const smooth = (list: readonly number[]): number[] => list.map((_, k) => 0.02 + 0.1 * list[k] + 0.001 * k);
        const [discounts, terms] = [smooth(raw), smooth(other)];
        const { curves, byQuotes, error } = found(discounts, terms, how);
        expect(error).toBeLessThan(1e-12);
        const bump = 1e-6;
        const all = [...discounts, ...terms];
        const at = (change: number) => {
          const list = all.map((rate, k) => rate + (k === moved ? change : 0));
          return found(list.slice(0, 7), list.slice(7), how).curves.flatMap(({ zeros }) => [...zeros]);
        };
        const [up, down] = [at(bump), at(-bump)];
        for (const [node, row] of byQuotes().entries())
          expect(Math.abs((up[node] - down[node]) / (2 * bump) - row[moved])).toBeLessThan(
            1e-5 * (1 + Math.abs(row[moved])),
          );
        expect(curves[0].times[0]).toBeCloseTo(timeOf(dayOf("2027-11-25"), reference), 12);
      }),
      { numRuns: 25 },
    );
  });

  test("quotes that no curve reproduces are refused by name", () => {
    const instruments = ["5Y", "2Y"].map((t) => parSwap(t, 0.02, tenorOf(t), quotes(0, 0, true)));
    expect(() => findCurves([], [{ name: "ESTR", rule: "zero-rate", instruments }], reference)).toThrow(
      "ESTR: 2Y ends at or before 5Y; leave one out",
    );
    const absurd = [parSwap("1Y", -2, tenorOf("1Y"), quotes(0, 0, true))];
    expect(() => findCurves([], [{ name: "ESTR", rule: "zero-rate", instruments: absurd }], reference)).toThrow(
      "1Y: no curve reproduces this quote",
    );
  });
});
