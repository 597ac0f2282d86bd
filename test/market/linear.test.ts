/**
 * Linear products and curves from quotes: reference cases of curves and swaps; over random curves, legs and quotes, the
 * gradient is the slope of the value, found curves reprice their quotes, and the risk by quote is that of a new fit.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCurves } from "../../src/calibration/curves/find.ts";
import { parSwap, simpleRate, type SwapQuotes } from "../../src/calibration/curves/quoted.ts";
import { calendarOf, type Day, dayOf, scheduleOf, tenorOf, yearFraction } from "../../src/market/conventions/index.ts";
import {
  Curve,
  type CurveRule,
  type Leg,
  legOf,
  type LegSpec,
  timeOf,
  Valuation,
} from "../../src/market/linear/index.ts";
import type { Case } from "../../tools/reference/case.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

describe.each(["curves", "swaps"])("reference cases of %s", (family) => {
  const { cases } = readFixture(`reference/${family}.json`) as { cases: Case[] };
  test.each(cases.map((one) => [one.id, one] as const))("%s", async (_, one) => {
    expect(await checked(one)).toEqual([]);
  });
});

const reference = dayOf("2026-11-20");
const calendar = calendarOf("TARGET");
const times = [0.1, 0.5, 1, 2, 3, 5, 7, 10];
const rule = fc.constantFrom("log-discount" as const, "zero-rate" as const);
const anyRule = fc.constantFrom<CurveRule>("log-discount", "zero-rate", "monotone-convex");
const curveOf = fc
  .tuple(
    rule,
    fc.array(fc.double({ min: -0.02, max: 0.12, noNaN: true }), { minLength: times.length, maxLength: times.length }),
  )
  .map(([how, zeros]) => new Curve(times, zeros, how));

const leg = fc
  .record({
    /** Some begin on the reference day, some end just before it. */
    from: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -400, max: 700 }) }, fc.constantFrom(0, "ended")),
    length: fc.integer({ min: 40, max: 5000 }),
    every: fc.constantFrom("1M", "3M", "6M", "1Y"),
    dayCount: fc.constantFrom("Act/360" as const, "30/360" as const, "Act/365F" as const, "30E/360 ISDA" as const),
    rate: fc.double({ min: -0.01, max: 0.1, noNaN: true }),
    kind: fc.constantFrom("fixed", "term", "compounded", "averaged", "lookback", "shift", "lockout"),
    exchange: fc.constantFrom("none" as const, "final" as const, "ends" as const, "all" as const),
    notional: fc.constantFrom(1e6, [5e6, 4e6, 4e6, 1e6]),
    paymentLag: fc.constantFrom(0, 2),
    adjust: fc.constantFrom("modified-following" as const, "unadjusted" as const),
    isReset: fc.boolean(),
    isFixed: fc.boolean(),
  })
  .filter(({ exchange, notional }) => exchange !== "ends" || typeof notional === "number")
  .map(({ from, length, every, kind, adjust, isReset, isFixed, ...rest }): LegSpec => {
    const start = calendar.adjust(reference + (typeof from === "string" ? -1 - length : from), "following");
    // That of today is published, or not yet.
    const fixings = new Map(
      Array.from({ length: 900 }, (_, k): [Day, number] => [reference - k, 0.02 + 1e-5 * (k % 7)] as const).slice(
        isFixed ? 0 : 1,
      ),
    );
    const reset = (day: Day) => {
      const time = timeOf(day, reference);
      const power = (at: 1 | -1) => ({ curve: at === 1 ? 1 : 0, time, power: at });
      return { scale: 1.1, factors: day > reference ? [power(1), power(-1)] : [] };
    };
    const index = { name: "index", curve: 1, calendar, dayCount: "Act/360" as const, fixingLag: 2, fixings };
    const observation = (["lookback", "shift", "lockout"] as const).find((name) => name === kind);
    const overnight = { averaged: kind === "averaged", ...(observation ? { observation, days: 3 } : {}) };
    return {
      ...rest,
      schedule: {
        from: start,
        to: start + length,
        every: tenorOf(every),
        calendar,
        ...(kind === "fixed" ? { adjust } : {}),
      },
      discount: 0,
      ...(kind === "fixed" ? {} : { index }),
      ...(kind === "fixed" || kind === "term" ? {} : { overnight }),
      ...(isReset ? { reset } : {}),
    };
  });

/** The discount factor of a curve, by lines through its nodes. */
function discountOf({ times: nodes, zeros, rule: how }: Curve, time: number): number {
  const last = nodes.length - 1;
  if (time <= nodes[0] || (how === "zero-rate" && time >= nodes[last]))
    return Math.exp(-zeros[time <= nodes[0] ? 0 : last] * time);
  const right = time > nodes[last] ? last : nodes.findIndex((node) => node >= time);
  const y = (k: number): number => zeros[k] * (how === "zero-rate" ? 1 : nodes[k]);
  const line =
    y(right - 1) + ((y(right) - y(right - 1)) * (time - nodes[right - 1])) / (nodes[right] - nodes[right - 1]);
  return Math.exp(-line * (how === "zero-rate" ? time : 1));
}

/** The value of a leg, payment by payment and day by day. */
function byHand(spec: LegSpec, curves: readonly Curve[]): number {
  const { schedule, notional, dayCount, paymentLag = 0, rate, index, overnight, exchange, reset } = spec;
  const p = (curve: number, day: Day): number => discountOf(curves[curve], timeOf(day, reference));
  const { dates } = scheduleOf(schedule);
  const units = (k: number): number => (typeof notional === "number" ? notional : notional[Math.min(k, 3)]);
  const published = (day: Day): number | undefined => (day > reference ? undefined : index!.fixings!.get(day));
  const simple = (start: Day, end: Day): number => (p(1, start) / p(1, end) - 1) / ((end - start) / 360);
  const rateOf = (start: Day, end: Day): number => {
    if (index === undefined) return 0;
    if (overnight === undefined) return published(calendar.addBusinessDays(start, -2)) ?? simple(start, end);
    const { averaged, observation = "plain", days: count = 0 } = overnight;
    const back = (day: Day): Day => calendar.addBusinessDays(day, -count);
    const [from, to] = observation === "shift" ? [back(start), back(end)] : [start, end];
    const days = Array.from({ length: to - from }, (_, k) => from + k).filter((day) => calendar.isBusinessDay(day));
    let [sum, product] = [0, 1];
    for (const [k, day] of days.entries()) {
      const kept =
        observation === "lockout" ? calendar.addBusinessDays(from, Math.min(k, days.length - 1 - count)) : day;
      const observed = observation === "lookback" ? back(day) : kept;
      const daily = published(observed) ?? simple(observed, calendar.addBusinessDays(observed, 1));
      const interest = (daily * ((days[k + 1] ?? to) - day)) / 360;
      sum += interest;
      product *= 1 + interest;
    }
    return (averaged ? sum : product - 1) / ((to - from) / 360);
  };
  let total = 0;
  const pay = (amount: number, day: Day): void => void (total += day > reference ? amount * p(0, day) : 0);
  for (let k = 0; k + 1 < dates.length; k++) {
    const [start, end] = [dates[k], dates[k + 1]];
    const paid = calendar.addBusinessDays(end, paymentLag);
    if (paid <= reference) continue;
    const accrual = yearFraction(dayCount, start, end, { termination: schedule.to });
    const worth = reset === undefined ? 1 : 1.1 * (start > reference ? p(1, start) / p(0, start) : 1);
    pay(worth * units(k) * accrual * ((rate as number) + rateOf(start, end)), paid);
    if (reset === undefined) continue;
    pay(-worth * units(k), calendar.adjust(start, "following"));
    pay(worth * units(k), calendar.adjust(end, "following"));
  }
  if (exchange === "none") return total;
  const last = dates.length - 2;
  const paid = (k: number): Day => calendar.adjust(dates[k], "following");
  if (exchange !== "final") pay(-units(0), paid(0));
  for (let k = 1; k <= last; k++) pay(units(k - 1) - units(k), paid(k));
  pay(units(last), paid(last + 1));
  return total;
}

test("a leg is worth its payments, each by hand", () => {
  fc.assert(
    fc.property(curveOf, curveOf, leg, (discount, projection, spec) => {
      const curves = [discount, projection];
      expect(Math.abs(value(legOf(spec, reference), curves) - byHand(spec, curves))).toBeLessThan(1e-12 * 5e6 * 100);
    }),
    { numRuns: 80 },
  );
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
      const raised = value(legOf({ ...spec, rate: (spec.rate as number) + 1 }, reference), curves);
      expect(raised - value(made, curves)).toBeCloseTo(new Valuation(curves).value(made.byRate), 3);
    }),
    { numRuns: 60 },
  );
});

test("a curve's derivatives are the slopes of its values, whatever its form, and turns add their spread", () => {
  const zeros = fc.array(fc.double({ min: -0.02, max: 0.12, noNaN: true }), { minLength: 8, maxLength: 8 });
  const svensson = fc
    .tuple(zeros, fc.double({ min: 0.3, max: 3, noNaN: true }), fc.double({ min: 2, max: 20, noNaN: true }))
    .map(([betas, first, second]) => [...betas.slice(0, 4), first, second]);
  const spread = { from: 0.11, to: 0.12, spread: 0.01 };
  const formed = fc.oneof(
    // A flat monotone convex curve has a kink.
    fc.tuple(anyRule, zeros).map(
      ([how, values]) =>
        new Curve(
          times,
          values.map((zero, k) => zero + 0.003 * ((7 * k) % 5)),
          how,
          [spread],
        ),
    ),
    svensson.map((values) => new Curve(times, values, "svensson", [spread])),
  );
  fc.assert(
    fc.property(formed, fc.double({ min: 0.01, max: 12, noNaN: true }), (curve, time) => {
      const plain = new Curve(times, curve.zeros, curve.rule);
      const turned = 0.01 * Math.max(Math.min(time, 0.12) - 0.11, 0);
      expect(curve.logDiscount(time)).toBeCloseTo(plain.logDiscount(time) + turned, 14);
      const slopes = new Float64Array(curve.zeros.length);
      curve.weights(time, (node, weight) => (slopes[node] += weight));
      for (let k = 0; k < slopes.length; k++) {
        const value = curve.zeros[k];
        const at = (move: number): number => {
          curve.zeros[k] = value + move;
          return curve.logDiscount(time);
        };
        const slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        curve.zeros[k] = value;
        expect(Math.abs(slopes[k] - slope)).toBeLessThan(1e-5 * (1 + time));
      }
    }),
    { numRuns: 300 },
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
  const found = (discounts: readonly number[], terms: readonly number[], how: CurveRule) =>
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
    );

  test("reprice two curves' quotes at once, and move with a quote as the derivatives say", () => {
    fc.assert(
      fc.property(rates, rates, anyRule, fc.nat(13), (raw, other, how, moved) => {
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

  test("swaps from the last business day of a month pay on the last ones of others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4000 }), (ahead) => {
        const spot = calendar.lastOfMonth(reference + ahead);
        const market = { ...quotes(0, 0, false), reference: calendar.addBusinessDays(spot, -2) };
        const { start, end, flows, byQuote } = parSwap("2Y", 0.02, tenorOf("2Y"), market);
        expect(start).toBe(spot);
        const paid = [...flows, ...byQuote].map(({ factors: [{ time }] }) => market.reference + Math.round(365 * time));
        for (const day of [...paid, end]) expect(day).toBe(calendar.lastOfMonth(day));
      }),
    );
  });

  test("quotes that no curve reproduces are refused by name", () => {
    const twice = ["2Y", "2Y"].map((t) => parSwap(t, 0.02, tenorOf(t), quotes(0, 0, true)));
    expect(() => findCurves([], [{ name: "ESTR", rule: "zero-rate", instruments: twice }])).toThrow(
      "ESTR: 2Y ends when 2Y, too; leave one out",
    );
    const absurd = [parSwap("1Y", -2, tenorOf("1Y"), quotes(0, 0, true))];
    expect(() => findCurves([], [{ name: "ESTR", rule: "zero-rate", instruments: absurd }])).toThrow(
      "1Y: no curve reproduces this quote",
    );
  });
});
