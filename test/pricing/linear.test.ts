/** Swaps, forward rate agreements, notes and forwards on currencies in books. Reference cases: test/market/linear. */
import { afterAll, describe, expect, it, test } from "vitest";
import { type BookInput, describeTrade, parseBook, type PricedTrade, readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const TENORS = ["1Y", "2Y", "5Y", "10Y"] as const;
const OIS = [0.019, 0.0195, 0.022, 0.0255];
const curveOf = (index: string, kind: "ois" | "swap", up = 0) => ({
  index,
  instruments: TENORS.map((tenor, k) => ({ [kind]: tenor, rate: OIS[k] + up })),
});
const CURVES = {
  "EUR-ESTR": curveOf("ESTR", "ois"),
  "EUR-6M": curveOf("EURIBOR-6M", "swap", 0.002),
  "USD-SOFR": curveOf("SOFR", "ois", 0.015),
};
const MARKET = {
  curves: CURVES,
  rates: { EUR: { discount: "EUR-ESTR" }, USD: { discount: "USD-SOFR" } },
  fx: { EURUSD: 1.16 },
  fixings: {
    "EURIBOR-6M": { "2026-08-27": 0.021 },
    ESTR: { "2026-11-17": 0.019, "2026-11-18": 0.0191, "2026-11-19": 0.0192 },
  },
};

const book = (trades: readonly object[], market: object = {}, more: object = {}): BookInput =>
  ({ asOf: "2026-11-20", market: { ...MARKET, ...market }, trades, ...more }) as object as BookInput;

async function priced(input: BookInput): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(parseBook(input), { device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const swap = (index: string, end: string, rate: number, more: object = {}) => ({
  id: `${index} ${end}`,
  swap: { end, notional: 1e6, pay: { rate }, receive: { index }, ...more },
});

const payer = swap("EURIBOR-6M", "7Y", 0.024, { start: "2026-08-31" });
const forward = { id: "F", fxForward: { pair: "EURUSD", amount: 1e6, rate: 1.17, delivery: "2027-11-24" } };
const foreign = {
  id: "X",
  swap: {
    end: "5Y",
    currency: "EUR",
    receive: { index: "EURIBOR-6M", notional: 1e6, exchange: "ends" },
    pay: { index: "SOFR", notional: 1.16e6, exchange: "ends" },
  },
};
const noteOf = (more: object) => ({ id: "N", note: { end: "3Y", notional: 1e6, ...more } });
const all = [
  payer,
  forward,
  foreign,
  { id: "O", swap: { end: "3Y", notional: 1e6, pay: { rate: 0.02 }, receive: { index: "ESTR", lookback: 5 } } },
  { id: "R", fra: { index: "EURIBOR-6M", start: "6M", rate: 0.021, notional: 1e6 } },
  { id: "N", note: { index: "EURIBOR-6M", spread: 0.003, end: "4Y", notional: 1e6 } },
];

describe("swaps and other linear trades", () => {
  test.each(["2026-11-20", "2028-02-29", "2027-12-31T17:30:00+01:00"])(
    "at par are worth nothing at %s",
    async (asOf) => {
      const par = (index: string, up: number) => TENORS.map((end, k) => swap(index, end, OIS[k] + up));
      const trades = [...par("ESTR", 0), ...par("EURIBOR-6M", 0.002), ...par("SOFR", 0.015)];
      const reversed = Object.fromEntries(
        Object.entries(CURVES)
          .toReversed()
          .map(([name, of]) => [name, { ...of, instruments: of.instruments.toReversed() }]),
      );
      for (const curves of [CURVES, reversed])
        for (const result of await priced(book(trades, { curves }, { asOf }))) {
          expect(Math.abs(result.value)).toBeLessThan(1e-12 * 1e6);
          const [index, end] = result.id.split(" ");
          const up = { ESTR: 0, "EURIBOR-6M": 0.002, SOFR: 0.015 }[index]!;
          expect(result.fairRate).toBeCloseTo(OIS[TENORS.indexOf(end as "1Y")] + up, 13);
          expect(result).toMatchObject({ method: "closed-form", delta: 0, vega: 0, warnings: [] });
        }
    },
  );

  it("are at par at their fair numbers, a note at par on its own curve", async () => {
    const [first, deal, cross, overnight, fra] = await priced(book(all));
    const { swap: terms } = payer;
    const [at] = await priced(book([{ ...payer, swap: { ...terms, pay: { rate: first.fairRate! } } }]));
    const receive = { ...foreign.swap.receive };
    const pay = { ...foreign.swap.pay, spread: cross.fairSpread };
    const [basis] = await priced(book([{ ...foreign, swap: { ...foreign.swap, receive, pay } }]));
    const rated = { ...forward, fxForward: { ...forward.fxForward, rate: deal.fairRate } };
    const settled = { ...all[4], fra: { ...(all[4] as { fra: object }).fra, rate: fra.fairRate } };
    for (const { value } of [at, basis, ...(await priced(book([rated, settled])))])
      expect(Math.abs(value)).toBeLessThan(1e-9);
    expect(overnight.fairRate).toBeGreaterThan(0.019);
    const note = { id: "N", note: { index: "ESTR", start: "2026-11-20", end: "4Y", notional: 100, paymentLag: 0 } };
    const [{ value }] = await priced(book([note]));
    expect(value).toBeCloseTo(100, 11);
  });

  it("have exact sensitivities: slopes of scenarios, of nodes and of quotes", async () => {
    const h = 1e-4;
    const scenarios = { rate: [-h, 0, h], time: [0, h], spot: [-0.01, 0, 0.01] };
    const trades = all.map((one) => ({ ...one, report: ["nodes", "quotes"] }));
    const results = await priced(book(trades, {}, { scenarios }));
    for (const { value, rho, theta, delta, scenarios: cube, nodeSensitivities, id } of results) {
      expect(cube![0][1][0][1]).toBeCloseTo(value, 8);
      expect(Math.abs((cube![0][1][0][2]! - cube![0][1][0][0]!) / (2 * h) / rho! - 1)).toBeLessThan(1e-5);
      expect(Math.abs((cube![1][1][0][1]! - value) / h - theta!)).toBeLessThan(2 + 1e-3 * Math.abs(theta!));
      const sum = Object.values(nodeSensitivities!).flatMap((nodes) => nodes.map(([, slope]) => slope));
      expect(sum.reduce((a, b) => a + b, 0) / rho!).toBeCloseTo(1, 10);
      const spot = ["F", "X"].includes(id) ? (cube![0][2][0][1]! - cube![0][0][0][1]!) / (0.02 * 1.16) : 0;
      expect(delta! - spot).toBeCloseTo(0, id === "X" ? -2 : 5);
    }
    const refit = async (up: number) => {
      const moved = { ...CURVES["EUR-ESTR"] };
      moved.instruments = moved.instruments.map((one, k) => (k === 2 ? { ...one, rate: OIS[2] + up } : one));
      return priced(book(all, { curves: { ...CURVES, "EUR-ESTR": moved } }));
    };
    const [down, up] = [await refit(-1e-5), await refit(1e-5)];
    results.forEach(({ quoteSensitivities }, i) => {
      const slope = (up[i].value - down[i].value) / 2e-5;
      expect(Math.abs((quoteSensitivities!["EUR-ESTR"]?.["5Y swap"] ?? 0) - slope)).toBeLessThan(0.5);
    });
  });

  it("repeat nothing that is paid, and report payments on request", async () => {
    const late = book([{ ...payer, report: ["cashflows"] }]);
    const [{ cashflows, legs, value }] = await priced(late);
    expect(cashflows!.filter(({ leg }) => leg === 0)).toHaveLength(14);
    const sums = [0, 1].map((leg) =>
      cashflows!.filter((one) => one.leg === leg).reduce((sum, { amount, discount }) => sum + amount * discount, 0),
    );
    expect(sums[0]).toBeCloseTo(legs![0].value, 6);
    expect(sums[0] - sums[1]).toBeCloseTo(value, 6);
    // The running coupon is known: 0.021 for 179 days, as 28 February is a Sunday.
    expect(cashflows![0]).toMatchObject({ date: "2027-02-26" });
    expect(cashflows![0].amount).toBeCloseTo((1e6 * 0.021 * 179) / 360, 8);
  });

  it("observe overnight rates as their rules say", async () => {
    const days = Array.from({ length: 40 }, (_, k) => new Date(Date.UTC(2026, 9, 12) + k * 864e5));
    const dates = days.map((day) => day.toISOString().slice(0, 10));
    const fixings = { ESTR: Object.fromEntries(dates.map((date, k) => [date, 0.01 + 0.0001 * k])) };
    const rules = [{}, { lookback: 5 }, { shift: 3 }, { lockout: 2 }, { compounding: "averaged" }] as const;
    const trades = rules.map((rule, k) => ({
      id: String(k),
      report: ["cashflows"],
      swap: {
        start: "2026-11-02",
        end: "2026-11-23",
        notional: 1e6,
        pay: { rate: 0.01 },
        receive: { index: "ESTR", ...rule },
      },
    }));
    const results = await priced(book(trades, { fixings }));
    const coupons = results.map(({ cashflows }) => cashflows![0].amount);
    // Rates rise, so that earlier ones are lower; compounding adds interest to a sum.
    const [plain, lookback, shift, lockout, averaged] = coupons;
    expect(lookback).toBeLessThan(plain);
    expect(shift).toBeLessThan(plain);
    expect(lockout).toBeLessThan(plain);
    expect(averaged).toBeLessThan(plain);
    expect(plain - averaged).toBeLessThan(1);
    expect(new Set(coupons).size).toBe(5);
  });

  it("are explained without a rest, with the cash that was paid", async () => {
    const before = book(all);
    const curves = {
      ...CURVES,
      "EUR-6M": curveOf("EURIBOR-6M", "swap", 0.003),
      "EUR-ESTR": curveOf("ESTR", "ois", 5e-4),
    };
    const fixings = { "EURIBOR-6M": { "2026-08-27": 0.021, "2026-11-20": 0.0215, "2027-02-24": 0.022 } };
    const market = { curves, fx: { EURUSD: 1.18 }, fixings };
    const trades = [payer, forward];
    const report = await explainBook(
      parseBook({ ...before, trades } as object as BookInput),
      parseBook(book(trades, market, { asOf: "2027-03-08" })),
      { device, method: "revaluation" },
    );
    for (const trade of report.results) {
      expect(trade.error?.message).toBeUndefined();
      expect(Math.abs(trade.unexplained!)).toBeLessThan(1e-6 * Math.abs(trade.change!) + 1e-6);
    }
    const [rates, currencies] = report.results;
    expect(rates.cash).toBeCloseTo((1e6 * 0.021 * 179) / 360, 6);
    expect(currencies.terms).toMatchObject({ spot: expect.any(Number), rate: expect.any(Number) });
    expect(Math.abs(currencies.terms!.spot!)).toBeGreaterThan(1e4);
  });

  it("need no curves by name: one curve discounts and projects", async () => {
    const flat = {
      curves: undefined,
      rates: { EUR: 0.02, USD: { hullWhite: { meanReversion: 0.1, volatility: 0, curve: 0.03 } } },
    };
    const trades = [swap("EURIBOR-6M", "2Y", 0.02), swap("SOFR", "2Y", 0.03), forward];
    const [euro, dollar, deal] = await priced(book(trades, flat));
    // Continuous rates of 2 and 3 %, as annual rates of 30/360 and Act/360.
    expect(euro.fairRate).toBeCloseTo(Math.expm1(0.02), 3);
    expect(dollar.fairRate).toBeCloseTo((Math.expm1(0.03) * 360) / 365, 3);
    expect(deal.fairRate).toBeCloseTo(1.16 * Math.exp(0.01), 6);
  });

  it("step, amortise and pay at the end", async () => {
    const legs = (pay: object, receive: object = {}) => ({
      swap: { end: "3Y", notional: 1e6, pay: { rate: 0.02, ...pay }, receive: { index: "EURIBOR-6M", ...receive } },
      report: ["cashflows"],
    });
    const [stepped, falling, zero] = await priced(
      book([
        { id: "1", ...legs({ rate: [0.01, 0.02, 0.03] }) },
        { id: "2", ...legs({ notional: [3e6, 2e6, 1e6] }, { notional: [3e6, 3e6, 2e6, 2e6, 1e6] }) },
        { id: "3", ...legs({ zeroCoupon: true, dayCount: "30/360" }, { zeroCoupon: true }) },
      ]),
    );
    const amounts = ({ cashflows }: PricedTrade) =>
      cashflows!.filter(({ leg }) => leg === 1).map(({ amount }) => amount);
    expect(amounts(stepped).map((one) => Math.round(one / 1e4))).toEqual([1, 2, 3]);
    expect(stepped.fairRate).toBeUndefined();
    expect(amounts(falling).map((one) => Math.round(one / 1e4))).toEqual([6, 4, 2]);
    expect(amounts(zero)[0]).toBeCloseTo(1e6 * (1.02 ** (3 + 2 / 360) - 1), 0);
    const fair = {
      ...legs({ zeroCoupon: true, dayCount: "30/360", rate: zero.fairRate }, { zeroCoupon: true }),
      id: "3",
    };
    expect((await priced(book([fair])))[0].value).toBeCloseTo(0, 6);
  });

  test.each([
    [{ fixings: { "EURIBOR-6M": { "2026-08-27": 2.1 } } }, payer, /EURIBOR-6M.*got 2.1, expected a rate/],
    [{ fixings: {} }, payer, /swap\.receive: .*fixings: EURIBOR-6M of 2026-08-27 is missing|EURIBOR-6M of 2026-08-27/],
    [{}, swap("EURIBOR-3M", "2Y", 0), /^market\.rates\.EUR\.forward: no curve projects EURIBOR-3M; add/],
    [{}, swap("SARON", "2Y", 0), /market\.rates has no "CHF"/],
    [{ fx: {} }, foreign, /no exchange rate leads from USD to EUR; add/],
    [
      {},
      { id: "1", swap: { end: "2Y", notional: 1, pay: {}, receive: { index: "ESTR" } } },
      /pay: expected either a "rate"/,
    ],
    [
      {},
      { id: "1", swap: { end: "2Y", pay: { rate: 0 }, receive: { index: "ESTR" } } },
      /notional: expected a notional/,
    ],
    [{}, swap("ESTR", "2026-11-24", 0), /end: expected a day after the start/],
    [{}, swap("ESTR", "2025-11-24", 0, { start: "2024-11-24" }), /all its payments lie before asOf/],
    [{}, { id: "1", note: { rate: 0.02, end: "2Y", notional: 1 } }, /currency: expected the currency of the leg/],
    [{}, { id: "1", note: { index: "EURIBOR-6M", lookback: 2, end: "2Y", notional: 1 } }, /lookback: only overnight/],
    [
      {},
      noteOf({ rate: [0.02, 0.03], zeroCoupon: true, currency: "EUR" }),
      /note: rate: a zero coupon leg has one rate/,
    ],
    [{}, noteOf({ index: "ESTR", spread: 0.01, zeroCoupon: true }), /note: spread: .*without a spread/],
    [{}, noteOf({ index: "ESTR", compounding: "averaged", zeroCoupon: true }), /note: compounding: .*compounds/],
    [{}, noteOf({ index: "ESTR", dayCount: "30/360", zeroCoupon: true }), /note: dayCount: .*counts days as ESTR/],
    [{}, noteOf({ index: "ESTR", notional: [2, 1], zeroCoupon: true }), /note: notional: .*one notional/],
    [{}, noteOf({ index: "ESTR", notional: [2, 1], exchange: "ends" }), /exchange: the notional changes; write "all"/],
    [{}, noteOf({ index: "ESTR", first: "2040-01-01" }), /first and penultimate: expected dates .*, got 2040-01-01/],
    [{}, { id: "1", fra: { index: "EURIBOR-6M", start: "2026-11-20", rate: 0, notional: 1 } }, /start: settled before/],
    [{}, { id: "1", fra: { index: "ESTR", start: "3M", rate: 0, notional: 1 } }, /index: .*term rate/],
    [{}, { id: "1", fxForward: { pair: "EURGBP", amount: 1, rate: 1, delivery: "1Y" } }, /no pair "EURGBP"/],
    [{}, { id: "1", fxForward: { ...forward.fxForward, delivery: "2026-11-20" } }, /delivered 0 years before asOf/],
    [
      { curves: {}, rates: { EUR: { vasicek: { r0: 0, kappa: 1, theta: 0, sigma: 0 } } } },
      swap("ESTR", "2Y", 0),
      /model without/,
    ],
  ])("%j, %j: an error that says what to do", (market, trade, message) => {
    const [parsed] = readBook(book([trade], market)).trades;
    expect(parsed.ok ? "read" : parsed.error.message).toMatch(message);
  });

  it("pay notional back as it falls, on business days, and beside compounded interest", async () => {
    const flowsOf = async (more: object) => {
      const [{ cashflows }] = await priced(book([{ ...noteOf(more), report: ["cashflows"] }]));
      return cashflows!.map(({ date, amount }) => [date, amount]);
    };
    // 24 November 2027 to 2029 are business days; 14 November 2027 and 2028 are a Sunday and a Tuesday.
    expect(await flowsOf({ rate: 0, currency: "EUR", notional: [3e6, 2e6, 2e6] })).toEqual(
      expect.arrayContaining([
        ["2027-11-24", 1e6],
        ["2029-11-26", 2e6],
      ]),
    );
    const unadjusted = { start: "2026-12-14", end: "2027-11-14", adjust: "unadjusted", currency: "EUR" };
    expect(await flowsOf({ rate: 0, ...unadjusted })).toContainEqual(["2027-11-15", 1e6]);
    const zero = await flowsOf({ rate: 0.02, zeroCoupon: true, currency: "EUR" });
    const total = zero.reduce((sum, [, amount]) => sum + (amount as number), 0);
    expect(total / 1e6).toBeCloseTo(1.02 ** 3, 3);
  });

  it("take the rate of the business day before a holiday on which a period begins", async () => {
    const days = ["2026-11-13", "2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19"];
    const fixings = { ESTR: Object.fromEntries(days.map((day) => [day, 0.02])) };
    const legs = ["lookback", "lockout"].map((rule) => ({ index: "ESTR", adjust: "unadjusted", [rule]: 0 }));
    for (const receive of legs) {
      const from = swap("ESTR", "2027-11-15", 0.02, { start: "2026-11-14", receive });
      expect((await priced(book([from], { fixings })))[0].fairRate).toBeGreaterThan(0.018);
    }
  });

  test.each([0, 0.001])("need curves that are not only quoted by each other, even with a spread of %s", (spread) => {
    const basis = (index: string, against: string, sign: number) => ({
      index,
      instruments: TENORS.map((tenor) => ({ basis: tenor, spread: sign * spread, against })),
    });
    const curves = {
      ...CURVES,
      "EUR-6M": basis("EURIBOR-6M", "EURIBOR-3M", 1),
      "EUR-3M": basis("EURIBOR-3M", "EURIBOR-6M", -1),
    };
    expect(() => parseBook(book([payer], { curves }))).toThrow(
      "market.curves.EUR-3M.instruments[0]: 1Y basis: it follows from the other quotes, which leave a curve open",
    );
  });

  it("need fixings and basis swaps of indices that exist", () => {
    expect(() => parseBook(book([payer], { fixings: { EURIBOR6M: {} } }))).toThrow(
      'market.fixings.EURIBOR6M: unknown index "EURIBOR6M" (did you mean "EURIBOR-6M"?)',
    );
    const instruments = [{ basis: "1Y", spread: 0.001, against: "ESTR" }];
    expect(() => parseBook(book([payer], { curves: { ...CURVES, A: { index: "ESTR", instruments } } }))).toThrow(
      "market.curves.A.instruments[0].against: expected another index than the curve's own, ESTR",
    );
  });

  it("say where they go on beyond the last instrument of a curve", async () => {
    const [inside, beyond] = await priced(book(["10Y", "12Y"].map((end) => swap("EURIBOR-6M", end, 0.02))));
    expect(inside.warnings).toEqual([]);
    expect(beyond.warnings.toSorted()).toEqual([
      "market.curves.EUR-6M: doubtful fit: extrapolated after the last instrument, 10Y swap; add later quotes",
      "market.curves.EUR-ESTR: doubtful fit: extrapolated after the last instrument, 10Y swap; add later quotes",
    ]);
  });

  it("are described", () => {
    const { trades } = parseBook(book(all));
    const words = trades.map((parsed) => (parsed.ok ? describeTrade(parsed.trade) : parsed.error.message));
    expect(words.map((text) => text.split(",")[0])).toEqual([
      "swap",
      "currency forward",
      "swap",
      "swap",
      "forward rate agreement",
      "note",
    ]);
  });
});
