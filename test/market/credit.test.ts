/** Credit default swaps by ISDA's standard model: published upfronts, and quadrature of its integrals. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CreditQuote, creditSwap } from "../../src/calibration/curves/credit.ts";
import type { QuotedInstrument } from "../../src/calibration/curves/curve-set.ts";
import { findCurves } from "../../src/calibration/curves/find.ts";
import { parSwap, simpleRate, type SwapQuotes } from "../../src/calibration/curves/quoted.ts";
import { calendarOf, civilDate, creditMaturity, type Day, dayOf, tenorOf } from "../../src/market/conventions/index.ts";
import {
  creditSwapOf,
  Curve,
  type CurveRule,
  endOf,
  knotsOf,
  timeOf,
  timesOf,
  Valuation,
} from "../../src/market/linear/index.ts";

const weekends = calendarOf("weekends");

const survivalOf = (instruments: readonly QuotedInstrument[]) =>
  ({ name: "ISSUER", rule: "log-discount", isSurvival: true, instruments }) as const;

describe("upfronts that Markit published for 21 May 2009", () => {
  // Rates, spreads, recoveries and upfronts of 10,000,000 at a coupon of 1 %, as QuantLib's tests cite them.
  const traded = dayOf("2009-05-21");
  const RATES: readonly (readonly [string, number])[] = [
    ["1M", 0.003081],
    ["2M", 0.005525],
    ["3M", 0.007163],
    ["6M", 0.012413],
    ["9M", 0.014],
    ["1Y", 0.015488],
    ["2Y", 0.011907],
    ["3Y", 0.01699],
    ["4Y", 0.021198],
    ["5Y", 0.02444],
    ["6Y", 0.026937],
    ["7Y", 0.028967],
    ["8Y", 0.030504],
    ["9Y", 0.031719],
    ["10Y", 0.03279],
    ["12Y", 0.034535],
    ["15Y", 0.036217],
    ["20Y", 0.036981],
    ["25Y", 0.037246],
    ["30Y", 0.037605],
  ];
  const quotes: SwapQuotes = {
    reference: traded,
    calendar: weekends,
    spotLag: 2,
    index: { name: "LIBOR", curve: 0, calendar: weekends, dayCount: "Act/360" },
    overnight: false,
    discount: 0,
    fixedMonths: 6,
    fixedDayCount: "30/360",
    floatingMonths: 3,
  };
  const discount = findCurves(
    [],
    [
      {
        name: "USD",
        rule: "log-discount",
        instruments: RATES.map(([tenor, rate], k) =>
          k < 6 ? simpleRate(tenor, rate, tenorOf(tenor), quotes) : parSwap(tenor, rate, tenorOf(tenor), quotes),
        ),
      },
    ],
  ).curves[0];
  test.each([
    ["2010-06-20", [-97798.29358, -97776.11889, 914971.5977, 894985.6298]],
    ["2011-06-20", [-186921.3594, -186839.8148, 1646623.672, 1579803.626]],
    ["2012-06-20", [-274298.9203, -274122.4725, 2279730.93, 2147972.527]],
    ["2016-06-20", [-592420.2297, -591571.2294, 3993550.206, 3545843.418]],
    ["2019-06-20", [-797501.1422, -795915.9787, 4702034.688, 4042340.999]],
  ] as const)("are those of maturity %s", (maturity, published) => {
    const spec = {
      maturity: dayOf(maturity),
      calendar: weekends,
      discount: 0,
      survival: 1,
    };
    const upfronts = [0.001, 0.1].flatMap((quote) =>
      [0.2, 0.4].map((recovery) => {
        const [atSpread, atCoupon] = (
          [
            { kind: "spread", quote },
            { kind: "upfront", quote: 0, coupon: 0.01 },
          ] as const
        ).map((of) => creditSwap("CDS", of, recovery, spec, traded));
        const { curves } = findCurves([discount], [survivalOf([atSpread])]);
        const on = new Valuation(curves);
        return (-1e7 * on.value(atCoupon.flows)) / on.value(atCoupon.byQuote);
      }),
    );
    upfronts.forEach((upfront, k) => expect(Math.abs(upfront / published[k] - 1)).toBeLessThan(1e-8));
  });
});

describe("over random curves, quotes and days", () => {
  const TENORS = [6, 12, 24, 36, 60, 84, 120];
  const basisPoints = (min: number, max: number) => fc.integer({ min, max }).map((one) => one / 1e4);
  const discountOf = fc
    .tuple(
      fc.constantFrom<CurveRule>("log-discount", "zero-rate", "monotone-convex"),
      basisPoints(-200, 1200),
      fc.array(basisPoints(-60, 60), { minLength: 4, maxLength: 4 }),
    )
    .map(([rule, level, moves]) => {
      const times = [183, 730, 1825, 4015].map((days) => days / 365);
      return new Curve(
        times,
        moves.map((move) => level + move),
        rule,
      );
    });
  const day = fc.integer({ min: dayOf("2020-01-01"), max: dayOf("2040-12-31") });
  /** Hazard rates between tenors, up to those of an issuer in distress. */
  const hazards = fc.array(fc.oneof(basisPoints(0, 500), basisPoints(0, 20_000)), {
    minLength: TENORS.length,
    maxLength: TENORS.length,
  });
  const recovery = fc.constantFrom(0, 0.25, 0.4, 0.8);

  /** The days of coupons by counting, beginning with the period of the day after the trade. */
  function couponDays(traded: Day, maturity: Day): { start: Day; end: Day; paid: Day }[] {
    const following = (at: Day): Day => (!weekends.isBusinessDay(at) ? following(at + 1) : at);
    const twentieths: Day[] = [];
    for (let at = traded - 100; at < maturity; at++) {
      const { month, day: date } = civilDate(at);
      if (date === 20 && month % 3 === 0) twentieths.push(at);
    }
    const periods = twentieths.map((at, k) => {
      const next = twentieths[k + 1] ?? maturity;
      const isLast = k + 1 === twentieths.length;
      return { start: following(at), end: isLast ? maturity + 1 : following(next), paid: following(next) };
    });
    return periods.filter(({ end }) => end > traded + 1);
  }

  /** The sum of a function's values at the points of Gauss in each day, times weights. */
  function overDays(from: Day, to: Day, f: (at: number) => number): number {
    let sum = 0;
    for (let at = from; at < to; at++) for (const x of [-1, 1]) sum += f(at + 0.5 + x / Math.sqrt(12)) / 2;
    return sum;
  }

  test("legs are the integrals of the model, at any time of a swap's life", () => {
    fc.assert(
      fc.property(
        discountOf,
        hazards,
        day,
        fc.integer({ min: 1, max: 3800 }),
        fc.nat(900),
        (curve, list, now, length, age) => {
          const [traded, maturity] = [now - Math.min(age, length), now + length - Math.min(age, length) + 1];
          const times = TENORS.map((months) => Math.round((365 * months) / 12) / 365);
          let sum = 0;
          const means = list.map((hazard, k) => (sum += hazard * (times[k] - (times[k - 1] ?? 0))) / times[k]);
          const survival = new Curve(times, means);
          const hazardOf = (at: number): number => list.find((_, k) => at < times[k]) ?? list.at(-1)!;
          const years = (at: number): number => (at - now) / 365;
          // Forward rates are constant between knots and coupon days.
          const periods = couponDays(traded, maturity);
          const ends = [...periods.map(({ end }) => years(end - 1)), ...knotsOf(curve), ...times, 0].sort(
            (a, b) => a - b,
          );
          const logDiscount = (at: number): number => {
            const k = ends.findIndex((end) => end > at);
            if (k <= 0) return curve.logDiscount(at);
            const [a, b] = [ends[k - 1], ends[k]];
            return curve.logDiscount(a) + ((at - a) / (b - a)) * (curve.logDiscount(b) - curve.logDiscount(a));
          };
          const density = (at: number): number =>
            (hazardOf(years(at)) / 365) * Math.exp(-logDiscount(years(at)) - survival.logDiscount(years(at)));
          const loss = overDays(now, maturity, density);
          let premium = 0;
          for (const { start, end, paid } of periods) {
            if (paid <= now) continue;
            const alive = Math.max(end - 1, now);
            premium +=
              ((end - start) / 360) * Math.exp(-curve.logDiscount(years(paid)) - survival.logDiscount(years(alive)));
            premium += overDays(Math.max(start - 1, now), alive, (at) => ((at - start + 1.5) / 360) * density(at));
          }
          const spec = {
            traded,
            maturity,
            calendar: weekends,
            discount: 0,
            survival: 1,
          };
          const flows = creditSwapOf(spec, now);
          const on = new Valuation([curve, survival]);
          expect(Math.abs(on.value(flows.protection) - loss)).toBeLessThan(1e-9);
          expect(Math.abs(on.value(flows.premium) - premium)).toBeLessThan(1e-9);
        },
      ),
      { numRuns: 100 },
    );
  });

  const now = dayOf("2026-11-20");
  const at = TENORS.map((months) => creditMaturity(now, months));
  const times = at.map((maturity) => timeOf(maturity, now));
  const spec = (k: number) => ({ maturity: at[k], calendar: weekends, discount: 0, survival: 1 });
  const instrument = (k: number, of: CreditQuote, part: number) =>
    creditSwap(`${TENORS[k]}M CDS`, of, part, spec(k), now);
  const quoteOf = (on: Valuation, { flows, byQuote }: QuotedInstrument): number => -on.value(flows) / on.value(byQuote);
  const quotesOf = (curve: Curve, survival: Curve, part: number) => {
    const on = new Valuation([curve, survival]);
    return at.map((_, k): CreditQuote => {
      const of = k % 3 === 1 ? ({ kind: "upfront", coupon: 0.05 } as const) : ({ kind: "spread" } as const);
      return { ...of, quote: quoteOf(on, instrument(k, { ...of, quote: 0 }, part)) };
    });
  };
  const meansOf = (list: readonly number[]): Curve => {
    let sum = 0;
    return new Curve(
      times,
      list.map((hazard, k) => (sum += hazard * (times[k] - (times[k - 1] ?? 0))) / times[k]),
    );
  };

  test("hazard rates are found again from spreads and upfronts, also of issuers in distress", () => {
    fc.assert(
      fc.property(discountOf, hazards, recovery, (curve, list, part) => {
        const survival = meansOf(list);
        const quotes = quotesOf(curve, survival, part);
        const instruments = quotes.map((one, k) => instrument(k, one, part));
        const set = findCurves([curve], [survivalOf(instruments.toReversed())]);
        expect(set.error).toBeLessThan(1e-12);
        times.forEach((time) => {
          const [known, again] = [survival, set.curves[1]].map((one) => Math.exp(-one.logDiscount(time)));
          expect(Math.abs(known - again)).toBeLessThan(1e-11);
        });
      }),
      { numRuns: 300 },
    );
  });

  test("the gradient is the slope of the value, and rolling a swap forward is valuing it later", () => {
    fc.assert(
      fc.property(discountOf, hazards, fc.integer({ min: 1, max: 1000 }), (curve, list, age) => {
        // A monotone convex curve has kinks; its own derivatives have a test.
        fc.pre(curve.rule !== "monotone-convex");
        const survival = meansOf(list.map((hazard) => hazard + 1e-3));
        const { protection, premium } = creditSwapOf({ ...spec(5), traded: now }, now);
        const flows = [...protection, ...timesOf(premium, -0.03)];
        const gradient = new Valuation([curve, survival]).gradient(flows);
        for (const [c, one] of [curve, survival].entries())
          gradient[c].forEach((slope, node) => {
            const known = one.zeros[node];
            const [up, down] = [1e-6, -1e-6].map((move) => {
              one.zeros[node] = known + move;
              return new Valuation([curve, survival]).value(flows);
            });
            one.zeros[node] = known;
            expect(Math.abs((up - down) / 2e-6 - slope)).toBeLessThan(1e-6);
          });
        // The same swap on curves that begin later.
        const years = age / 365;
        const later = (of: Curve) => {
          const left = [...knotsOf(of).filter((time) => time > years + 1e-9), 12];
          return new Curve(
            left.map((time) => time - years),
            left.map((time) => (of.logDiscount(time) - of.logDiscount(years)) / (time - years)),
          );
        };
        const flat = new Curve(curve.times, curve.zeros);
        const [then, alive] = [later(flat), later(survival)];
        const known = creditSwapOf({ ...spec(5), traded: now }, now);
        const own = creditSwapOf({ ...spec(5), traded: now }, now + age);
        const rolled = new Valuation([flat, survival], { years, shift: 0, isSurvival: [false, true] });
        const fresh = new Valuation([then, alive]);
        for (const leg of ["protection", "premium"] as const) {
          const left = known[leg].filter((flow) => endOf(flow) > years + 1e-9);
          expect(Math.abs(rolled.value(left) - fresh.value(own[leg]))).toBeLessThan(1e-12);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("quotes without a hazard rate from 0 on are refused by name", () => {
    const curve = new Curve([1], [0.03]);
    const refused = (list: readonly CreditQuote[]) => () =>
      findCurves([curve], [survivalOf(list.map((one, k) => instrument(k, one, 0.4)))]);
    const spread = (quote: number): CreditQuote => ({ kind: "spread", quote });
    expect(refused([spread(0.05), spread(0.01)])).toThrow(
      /^12M CDS: it is below 0\.0\d+, its quote if there were no default after the end of 6M CDS: the hazard rate would/,
    );
    expect(refused([spread(0.01), { kind: "upfront", quote: 0.7, coupon: 0.05 }])).toThrow(
      /^12M CDS: it is above 0\.[56]\d+, its quote if default were certain after the end of 6M CDS$/,
    );
    expect(refused([spread(-1e-4)])).toThrow(/^6M CDS: it is below 0, its quote if there were no default: the hazard/);
  });
});
