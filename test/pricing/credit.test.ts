/** Credit default swaps in books. Published upfronts and quadrature of the model: test/market/credit. */
import fc from "fast-check";
import { afterAll, describe, expect, it, test } from "vitest";
import { type AnyTrade, type BookInput, describeTrade, parseBook, type PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const AS_OF = "2026-11-20";
const TENORS = ["6M", "1Y", "3Y", "5Y", "10Y"] as const;
const SPREADS = [0.008, 0.01, 0.014, 0.018, 0.022];
const OIS = {
  index: "ESTR",
  instruments: ["1Y", "5Y", "12Y"].map((ois, k) => ({ ois, rate: 0.019 + 0.003 * k })),
};
const cdsAt = (spreads: readonly number[]) => TENORS.map((cds, k) => ({ cds, spread: spreads[k] }));
const issuer = (instruments: readonly object[], recovery = 0.4) => ({ currency: "EUR", recovery, instruments });
const MARKET = {
  curves: {
    ACME: issuer(cdsAt(SPREADS)),
    "EUR-ESTR": OIS,
    "USD-SOFR": { index: "SOFR", zeros: [{ date: "5Y", zero: 0.04 }] },
  },
  rates: { EUR: { discount: "EUR-ESTR" }, USD: { discount: "USD-SOFR" } },
  fx: { EURUSD: 1.16 },
};

const book = (trades: readonly object[], market: object = {}, more: object = {}): BookInput =>
  ({ asOf: AS_OF, market: { ...MARKET, ...market }, trades, ...more }) as object as BookInput;
const withIssuer = (one: object) => ({ curves: { ...MARKET.curves, ACME: one } });

async function priced(input: BookInput): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(parseBook(input), { device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const cds = (more: object = {}, outside: object = {}) => ({
  id: "C",
  ...outside,
  cds: { curve: "ACME", end: "5Y", notional: 1e6, coupon: 0.01, ...more },
});

describe("credit default swaps", () => {
  test("traded today at their quotes are worth nothing, up to issuers in distress", async () => {
    const number = (min: number, max: number, parts: number) => fc.integer({ min, max }).map((one) => one / parts);
    const day = fc.date({ min: new Date("2020-01-01"), max: new Date("2035-12-31"), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(
        day.map((date) => date.toISOString().slice(0, 10)),
        number(-200, 800, 1e4),
        number(1, 10_000, 1e4),
        fc.constantFrom(0, 0.2, 0.4),
        fc.constantFrom("buy", "sell"),
        async (asOf, zero, spread, recovery, side) => {
          const instruments = TENORS.map((tenor) => ({ cds: tenor, spread }));
          const market = {
            curves: { ACME: issuer(instruments, recovery), flat: { zeros: [{ date: "1Y", zero }] } },
            rates: { EUR: { discount: "flat" } },
            fx: {},
          };
          const trades = instruments.map((one) =>
            cds({ end: one.cds, notional: 1, side, coupon: one.spread, upfront: 0 }, { id: one.cds }),
          );
          const results = await priced(book(trades, market, { asOf }));
          results.forEach(({ value, fairRate, fairUpfront }) => {
            expect(Math.abs(value)).toBeLessThan(1e-12);
            expect(fairRate).toBeCloseTo(spread, 12);
            expect(fairUpfront).toBeCloseTo(0, 12);
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it("at their fair upfront are worth nothing, and both sides nothing together", async () => {
    const [bought, sold] = await priced(book([cds(), cds({ side: "sell" }, { id: "S" })]));
    expect(bought.value + sold.value).toBe(0);
    expect(bought.value).toBeGreaterThan(0);
    expect(bought.clean! + bought.accrued!).toBeCloseTo(bought.value, 8);
    // 62 days from 21 September to the day after the trade.
    expect(bought.accrued).toBeCloseTo((-1e6 * 0.01 * 61) / 360, 8);
    expect(bought.legs!.map(({ currency }) => currency)).toEqual(["EUR", "EUR"]);
    expect(bought.legs![0].value).toBeCloseTo(bought.fairRate! * bought.annuity!, 6);
    const [at] = await priced(book([cds({ upfront: bought.fairUpfront })]));
    expect(at.value).toBeCloseTo(0, 8);
    expect(describeTrade((parseBook(book([cds()])).trades[0] as { trade: AnyTrade }).trade)).toBe(
      "credit default swap, 5.090411 years",
    );
  });

  it("have exact sensitivities: slopes of scenarios, of hazard rates, recovery and quotes", async () => {
    const trades = [cds({}, { report: ["nodes", "quotes"] }), cds({ recovery: 0.1, side: "sell" }, { id: "D" })];
    const h = 1e-4;
    const results = await priced(book(trades, {}, { scenarios: { rate: [-h, 0, h], time: [0, h] } }));
    for (const { value, rho, theta, scenarios: cube } of results) {
      expect(cube![0][0][0][1]).toBeCloseTo(value, 8);
      expect(Math.abs((cube![0][0][0][2]! - cube![0][0][0][0]!) / (2 * h) / rho! - 1)).toBeLessThan(1e-5);
      expect(Math.abs((cube![1][0][0][1]! - value) / h / theta! - 1)).toBeLessThan(1e-3);
    }
    const slope = async (size: number, move: (up: number) => object): Promise<number[]> => {
      const [down, up] = [await priced(book(trades, move(-size))), await priced(book(trades, move(size)))];
      return up.map(({ value }, i) => (value - down[i].value) / (2 * size));
    };
    const near = (value: number, expected: number): void => {
      expect(Math.abs(value - expected)).toBeLessThan(1e-5 * Math.abs(expected) + 1e-2);
    };
    const [own, fixed] = await slope(1e-5, (up) => withIssuer(issuer(cdsAt(SPREADS), 0.4 + up)));
    near(results[0].recoverySensitivity!, own);
    // A trade with a recovery of its own has its hazard rates from the curve, whose recovery it does not see.
    expect(fixed).not.toBeCloseTo(0, 0);
    expect(results[1].recoverySensitivity).toBeCloseTo(results[1].legs![0].value / -0.9, 6);
    for (const [k, tenor] of TENORS.entries()) {
      const [moved] = await slope(1e-6, (up) =>
        withIssuer(issuer(cdsAt(SPREADS.map((one, i) => (i === k ? one + up : one))))),
      );
      near(results[0].quoteSensitivities!["ACME"][`${tenor} CDS`], moved);
    }
    const [byRate] = await slope(1e-6, (up) => ({
      curves: {
        ...MARKET.curves,
        "EUR-ESTR": {
          ...OIS,
          instruments: OIS.instruments.map((one, k) => (k === 1 ? { ...one, rate: one.rate + up } : one)),
        },
      },
    }));
    near(results[0].quoteSensitivities!["EUR-ESTR"]["5Y swap"], byRate);
    const given = (up: number) =>
      withIssuer({ currency: "EUR", recovery: 0.4, zeros: TENORS.map((date) => ({ date, zero: 0.02 + up })) });
    const [flat] = await priced(book([trades[0]], given(0)));
    near(flat.creditSensitivity!, (await slope(1e-5, given))[0]);
    const [nodes] = [flat.nodeSensitivities!["ACME"]];
    expect(nodes.reduce((sum, [, one]) => sum + one, 0)).toBeCloseTo(flat.creditSensitivity!, 6);
    expect(flat.recoverySensitivity).toBeCloseTo(flat.legs![0].value / -0.6, 6);
  });

  it("pay the loss and the accrued coupon where the issuer defaults", async () => {
    const [at, free] = await priced(book([cds(), cds({ recovery: 0, coupon: 0 }, { id: "F", report: ["cashflows"] })]));
    // The model adds half a day to the coupon that has accrued.
    expect(at.jumpToDefault! + at.value).toBeCloseTo(0.6e6 - (1e6 * 0.01 * 61.5) / 360, 6);
    expect(free.jumpToDefault! + free.value).toBeCloseTo(1e6, 6);
    expect(free.cashflows).toEqual([]);
  });

  it("have the coupons and the upfront that are left, also on days of coupons", async () => {
    const terms = { start: "2025-11-20", end: "2028-12-20", upfront: 0.02, coupon: 0.05 };
    const on = async (asOf: string) => {
      const flat = withIssuer({ currency: "EUR", recovery: 0.4, zeros: [{ date: "5Y", zero: 0.02 }] });
      const [result] = await priced(book([cds(terms, { report: ["cashflows"] })], flat, { asOf }));
      return result;
    };
    const before = await on("2025-11-20");
    // The upfront, three business days later, less the coupon of 61 days.
    const upfront = before.cashflows!.find(({ leg }) => leg === 2)!;
    expect(upfront).toMatchObject({ date: "2025-11-25" });
    expect(upfront.amount).toBeCloseTo(1e6 * (0.02 - (0.05 * 60) / 360), 6);
    expect((await on("2025-11-25")).legs).toHaveLength(2);
    const [last, paid] = [await on("2026-03-19"), await on("2026-03-20")];
    // The coupon of the next day is paid for sure; that of today has been.
    expect(last.cashflows![0]).toMatchObject({ date: "2026-03-20", leg: 1 });
    expect(last.cashflows![0].amount).toBeCloseTo((1e6 * 0.05 * 88) / 360, 6);
    expect(last.cashflows![0].discount).toBeGreaterThan(0.9999);
    expect(paid.cashflows![0]).toMatchObject({ date: "2026-06-22", leg: 1 });
    expect(paid.accrued).toBeCloseTo((-1e6 * 0.05) / 360, 6);
    expect(Math.abs(paid.value - last.value - (1e6 * 0.05 * 88) / 360)).toBeLessThan(300);
    // The last one has a day more, and is paid on a business day.
    const end = await on("2028-12-19");
    expect(end.cashflows!.at(-1)!.amount).toBeCloseTo((1e6 * 0.05 * 92) / 360, 6);
  });

  it("are worth the same in another currency, at the exchange rate", async () => {
    const [euro, dollar] = await priced(book([cds(), cds({ currency: "USD" }, { id: "D" })]));
    expect(dollar).toMatchObject({ currency: "USD", underlying: "EURUSD" });
    // Exchange rates are for the spot day.
    expect(Math.abs(dollar.value / euro.value / 1.16 - 1)).toBeLessThan(1e-3);
    expect(dollar.delta! * 1.16).toBeCloseTo(dollar.value, 6);
    expect(dollar.clean! + dollar.accrued!).toBeCloseTo(dollar.value, 6);
    expect(dollar.fairRate).toBeCloseTo(euro.fairRate!, 14);
  });

  it("are those of a book of its own under scenarios, whose hazard rates are 0 or above", async () => {
    const terms = { start: AS_OF, end: "2033-12-20", coupon: 0.05 };
    /** Rates between times; the last one holds beyond them. */
    interface Rates {
      readonly ends: readonly number[];
      readonly rates: readonly number[];
    }
    const until = ({ ends, rates }: Rates, time: number): number =>
      rates.reduce((sum, rate, k) => {
        return sum + rate * Math.max(Math.min(time, ends[k] ?? time) - (ends[k - 1] ?? 0), 0);
      }, 0);
    /** The zero rates of a curve as seen some years later, after its forward rates have moved from then on. */
    const zerosOf = (rates: Rates, from: number, by: Rates) => {
      const times = [...rates.ends.map((end) => end - from), ...by.ends, 12].sort((a, b) => a - b);
      return times.map((date) => {
        return { date, zero: (until(rates, from + date) - until(rates, from) + until(by, date)) / date };
      });
    };
    const still = { ends: [], rates: [0] };
    /** A hazard rate of which rounding makes no survival probability that rises. */
    const TINY = 1e-14;
    const discount = { ends: [1, 6], rates: [0.015, 0.0225, 0.035] };
    const market = (hazards: Rates, from = 0, by: Rates = still) => ({
      curves: {
        "EUR-ESTR": { index: "ESTR", zeros: zerosOf(discount, from, by) },
        ACME: { currency: "EUR", recovery: 0.4, zeros: zerosOf(hazards, from, still) },
      },
      rates: { EUR: { discount: "EUR-ESTR" } },
      fx: {},
    });
    const percent = (min: number, max: number) => fc.integer({ min, max }).map((one) => one / 100);
    const three = fc.array(percent(0, 8), { minLength: 3, maxLength: 3 });
    const moves = { credit: percent(-10, 3), early: percent(-3, 3), late: percent(-3, 3) };
    const cases = fc.record({ ...moves, rates: three, days: fc.constantFrom(0, 0, 1, 40, 100) });
    const run = fc.asyncProperty(cases, async ({ credit, early, late, rates, days }) => {
      const hazards = { ends: [1, 4], rates: rates.map((one) => Math.max(one, TINY)) };
      const rate = { "730D": early, "1825D": late };
      const scenarios = [{ name: "a", moves: { credit: { ACME: credit }, rate: { EUR: rate }, time: days / 365 } }];
      const [{ scenarioValues }] = await priced(book([cds(terms)], market(hazards), { scenarios }));
      const moved = { ends: [1, 4], rates: rates.map((one) => Math.max(one + credit, TINY)) };
      // The moves of z·t are linear between two and five years.
      const by = { ends: [2, 5], rates: [early, (5 * late - 2 * early) / 3, late] };
      const asOf = new Date(Date.parse(AS_OF) + days * 864e5).toISOString().slice(0, 10);
      const [{ value }] = await priced(book([cds(terms)], market(moved, days / 365, by), { asOf }));
      expect(Math.abs(scenarioValues![0]! - value)).toBeLessThan(1e-6);
    });
    await fc.assert(run, { numRuns: 60 });
  });

  it("are explained without a rest, with the coupons that were paid", async () => {
    const terms = { start: "2026-11-20", end: "2031-12-20" };
    const later = { ...withIssuer(issuer(cdsAt(SPREADS.map((one) => 1.5 * one)))) };
    const ois = OIS.instruments.map(({ ois: tenor, rate }) => ({ ois: tenor, rate: rate + 0.002 }));
    const market = { curves: { ...later.curves, "EUR-ESTR": { ...OIS, instruments: ois } } };
    const before = book([cds(terms)]);
    const after = book([cds(terms)], market, { asOf: "2027-01-20" });
    for (const method of ["revaluation", "taylor"] as const) {
      const { results } = await explainBook(parseBook(before), parseBook(after), { device, method });
      const [{ change, unexplained, cash, terms: parts, error }] = results;
      expect(error).toBeUndefined();
      expect(Math.abs(unexplained!)).toBeLessThan(method === "revaluation" ? 1e-6 : 0.1 * Math.abs(change!));
      expect(cash).toBeCloseTo((-1e6 * 0.01 * 91) / 360, 6);
      expect(parts!.credit).toBeGreaterThan(1e4);
      if (method === "revaluation") expect(Math.abs(parts!.cross!)).toBeLessThan(0.02 * Math.abs(parts!.credit!));
    }
  });

  it("have buckets by quote of the issuer, the rates and the pair", async () => {
    const trades = [cds({ currency: "USD" }, { report: ["quotes"] })];
    const { results } = await priceBook(parseBook(book(trades)), { device, greeks: "buckets" });
    const [{ buckets = [], quoteSensitivities }] = results as readonly PricedTrade[];
    const spread = buckets.filter(({ factor }) => factor === "spread");
    expect(Object.fromEntries(spread.map(({ at, value }) => [at, value]))).toEqual({
      ...quoteSensitivities!["ACME"],
      "10Y CDS": undefined,
    });
    expect(new Set(buckets.map(({ factor }) => factor))).toEqual(new Set(["spot", "spread", "rate"]));
  });

  test.each([
    [
      withIssuer(
        issuer([
          { cds: "1Y", spread: 0.1 },
          { cds: "2Y", spread: 0.01 },
        ]),
      ),
      /^market\.curves\.ACME\.instruments\[1\]: 2Y CDS: it is below 0\.0\d+, its quote if there were no default after/,
    ],
    [
      withIssuer(issuer([{ cds: "1Y", upfront: 0.7, coupon: 0.01 }])),
      /instruments\[0\]: 1Y CDS: it is above 0\.600\d+, its quote if default were certain/,
    ],
    [
      withIssuer(issuer([{ cds: "1Y", upfront: 0.7 }])),
      /instruments\[0\].*expected "spread", or "upfront" and "coupon"/,
    ],
    [
      withIssuer(issuer([{ ois: "1Y", rate: 0.01 }])),
      /instruments\[0\]: a curve with "recovery" has quotes with "cds"/,
    ],
    [withIssuer({ currency: "EUR", instruments: cdsAt(SPREADS) }), /ACME\.recovery: expected the part of a notional/],
    [withIssuer({ recovery: 0.4, instruments: cdsAt(SPREADS) }), /ACME\.currency: expected the currency of credit/],
    [
      withIssuer({ ...issuer(cdsAt(SPREADS)), interpolation: "zero-rate" }),
      /ACME\.interpolation: a curve of survival probabilities has piecewise constant/,
    ],
    [
      withIssuer({
        currency: "EUR",
        recovery: 0,
        zeros: [
          { date: "1Y", zero: 0.02 },
          { date: "2Y", zero: 0.005 },
        ],
      }),
      /ACME\.zeros\[1\]\.zero: the probability of survival rises/,
    ],
    [{ rates: { EUR: { discount: "ACME" } } }, /rates\.EUR\.discount: "ACME" has survival probabilities, not/],
    [
      { rates: { EUR: 0.03 } },
      /ACME\.discount: expected a curve by name, here or as the "discount" of market\.rates\.EUR/,
    ],
  ])("refuse by name what no curve has: %#", (market, message) => {
    expect(() => parseBook(book([cds()], market))).toThrow(message);
  });

  test.each([
    [{ curve: "EUR-ESTR" }, /cds\.curve: "EUR-ESTR" has discount factors, expected a curve with "recovery"/],
    [{ curve: "ACNE" }, /cds\.curve: unknown curve "ACNE".*ACME/],
    [{ start: "2026-11-21" }, /cds\.start: expected a day up to asOf/],
    [{ start: "2020-01-01", end: "2019-12-20" }, /cds\.end: expected a day after the start/],
    [{ start: "2020-01-01", end: "2025-12-20" }, /all its payments lie before asOf/],
  ])("refuse terms: %j", (terms, message) => {
    const [result] = parseBook(book([cds(terms)])).trades;
    expect(result.ok ? "" : result.error.message).toMatch(message);
  });
});
