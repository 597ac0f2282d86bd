/** Curves by name and exchange rates in books, against the reference cases of curves. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it, test } from "vitest";
import { type MarketInput, parseBook, type PricedTrade, readHeader } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { discountFactor, type ForwardCurve } from "../../src/market/index.ts";
import { priceBook } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

interface Quotes {
  readonly interpolation: string;
  readonly reference_date: string;
  readonly instruments: readonly Record<string, never>[];
}
interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Quotes & Readonly<Record<string, never>>;
  readonly expected: { readonly pillar_dates: readonly string[]; readonly discount_factors: readonly number[] };
}
const url = new URL("../fixtures/reference/curves.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(url, "utf8")) as { readonly cases: readonly Case[] };
const caseOf = (id: string): Case => cases.find((one) => one.id === id)!;

const overnight = ({ instruments, interpolation }: Quotes, index: string) => ({
  index,
  interpolation: interpolation === "linear_zero" ? "zero-rate" : "log-discount",
  instruments: instruments.map(({ tenor, rate }) => ({ ois: tenor, rate })),
});
const term = ({ instruments }: Pick<Quotes, "instruments">, index: string) => ({
  index,
  instruments: instruments.map(({ type, tenor, months_to_start, rate }) =>
    type === "fra" ? { fra: `${String(months_to_start)}M`, rate } : { [type]: tenor, rate },
  ),
});

/** The discount factors of a curve of a book at dates, as everything of a currency X sees them. */
function discounts(asOf: string, market: object, name: string, dates: readonly string[]): number[] {
  const { curves = {}, ...rest } = market as { readonly curves?: object };
  const rates = { ...(rest as { rates?: object }).rates, X: { discount: name } };
  const header = readHeader({ asOf, market: { ...rest, curves, rates } });
  const { curve } = header.market.rates.get("X") as { readonly curve: ForwardCurve };
  const years = (date: string): number => (Date.parse(date) - Date.parse(asOf)) / 864e5 / 365;
  return dates.map((date) => discountFactor(curve, years(date)));
}

const distance = (got: readonly number[], wanted: readonly number[]): number =>
  Math.max(...got.map((value, i) => Math.abs(value - wanted[i])));

const reversed = (market: { readonly instruments: readonly object[] }) => ({
  ...market,
  instruments: market.instruments.toReversed(),
});

describe("curves of a book", () => {
  test.each([
    ["CRV-O-01", "ESTR"],
    ["CRV-O-02", "ESTR"],
    ["CRV-O-03", "SOFR"],
    ["CRV-O-04", "SONIA"],
  ])("%s: %s from overnight swaps, in any order", (id, index) => {
    const { params, expected } = caseOf(id);
    for (const curve of [overnight(params, index), reversed(overnight(params, index))]) {
      const got = discounts(params.reference_date, { curves: { C: curve } }, "C", expected.pillar_dates);
      expect(distance(got, expected.discount_factors)).toBeLessThan(1e-13);
    }
  });

  test.each(["CRV-O-05", "CRV-O-06"])("%s: a term curve on an overnight curve, each needing the other's", (id) => {
    const { params, expected } = caseOf(id);
    const curves = {
      "EUR-6M": reversed(term(params, "EURIBOR-6M")),
      "EUR-ESTR": overnight(params["discount_curve"], "ESTR"),
    };
    const market = { curves, rates: { EUR: { discount: "EUR-ESTR" } } };
    const got = discounts(params.reference_date, market, "EUR-6M", expected.pillar_dates);
    expect(distance(got, expected.discount_factors)).toBeLessThan(1e-13);
  });

  test("CRV-O-08 and 09: curves that forward points and cross-currency swaps imply", () => {
    const implied = caseOf("CRV-O-08");
    const basis = caseOf("CRV-O-09");
    const fxSwaps = (one: Case) =>
      one.params.instruments.map(({ tenor, forward_points, basis_on_eur_leg }) =>
        forward_points === undefined
          ? { crossCurrency: tenor, spread: basis_on_eur_leg }
          : { fxSwap: tenor, points: forward_points },
      );
    const curves = {
      "USD-SOFR": overnight(implied.params["known_curve"], "SOFR"),
      "EUR-ESTR": overnight(basis.params["eur_overnight_curve"], "ESTR"),
      "EUR-3M": term({ instruments: basis.params["eur_3m_curve_instruments"] }, "EURIBOR-3M"),
      FORWARDS: { pair: "EURUSD", currency: "EUR", instruments: fxSwaps(implied) },
      XCCY: { index: "EURIBOR-3M", pair: "EURUSD", currency: "EUR", instruments: fxSwaps(basis) },
    };
    const market = {
      curves,
      rates: { EUR: { discount: "EUR-ESTR" }, USD: { discount: "USD-SOFR" } },
      fx: { EURUSD: 1.1587 },
    };
    for (const [name, { expected, params }] of [
      ["FORWARDS", implied],
      ["XCCY", basis],
    ] as const) {
      const got = discounts(params.reference_date, market, name, expected.pillar_dates);
      expect(distance(got, expected.discount_factors)).toBeLessThan(1e-12);
    }
  });

  test.each(["log-discount", "zero-rate", "monotone-convex"])(
    "%s: a turn lifts the forward rate, not the quotes",
    (how) => {
      const { params, expected } = caseOf("CRV-O-01");
      const turns = [{ from: "2026-12-31", to: "2027-01-04", spread: 0.01 }];
      const plain = { ...overnight(params, "ESTR"), interpolation: how };
      const days = ["2026-12-31", "2027-01-04"];
      const at = params.reference_date;
      const forward = (curve: object): number => {
        const [from, to] = discounts(at, { curves: { C: curve } }, "C", days);
        return (Math.log(from / to) * 365) / 4;
      };
      // The quotes around the turn do not move, so the rest of its month is lower.
      const lift = forward({ ...plain, turns }) - forward(plain);
      expect(lift).toBeGreaterThan(0.005);
      expect(lift).toBeLessThan(0.01);
      const far = expected.pillar_dates.slice(-3);
      const gap = distance(
        discounts(at, { curves: { C: { ...plain, turns } } }, "C", far),
        discounts(at, { curves: { C: plain } }, "C", far),
      );
      expect(gap).toBeLessThan(1e-5);
      const given = { zeros: [1, 2].map((date) => ({ date, zero: 0.02 })), interpolation: how };
      const nodes = discounts(at, { curves: { C: { ...given, turns } } }, "C", ["2027-11-20"]);
      expect(-Math.log(nodes[0])).toBeCloseTo(0.02, 12);
    },
  );

  it("fits Svensson's curve to the quotes of a curve by name, and has its sensitivities by quote", async () => {
    const { params } = caseOf("CRV-O-01");
    const curves = (up: number) => ({
      C: {
        ...overnight(params, "ESTR"),
        instruments: params.instruments.map(({ tenor, rate }, k) => ({
          ois: tenor,
          rate: Number(rate) + (k === 5 ? up : 0),
        })),
        fit: "svensson",
      },
    });
    const priced = async (up: number) => {
      const swap = { end: "7Y", notional: 100, pay: { rate: 0.02 }, receive: { index: "ESTR" } };
      const market = { curves: curves(up), rates: { EUR: { discount: "C" } } };
      const scenarios = [1e-4, -1e-4].map((by) => ({ name: String(by), moves: { rate: { EUR: by } } }));
      const trades = [{ id: "1", swap, report: ["quotes", "nodes"] }];
      const book = { asOf: params.reference_date, market, trades, scenarios };
      const { results } = await priceBook(parseBook(book as never), { device });
      return (results as readonly PricedTrade[])[0];
    };
    const { quoteSensitivities, nodeSensitivities, rho, scenarioValues } = await priced(0);
    const [above, below] = scenarioValues!.map(Number);
    // Central differences over 2e-4 miss a third derivative, some 1e-7 of the slope.
    expect(Math.abs(rho! / ((above - below) / 2e-4) - 1)).toBeLessThan(1e-5);
    // A fit ends before its last digits, so a move is larger than those of other tests.
    const slope = ((await priced(2e-5)).value - (await priced(-2e-5)).value) / 4e-5;
    const own = Object.values(quoteSensitivities!["C"])[5];
    expect(Math.abs(own - slope)).toBeLessThan(1e-4 * Math.abs(slope) + 1e-3);
    expect(nodeSensitivities).toEqual({});
  });

  it("has basis swaps against another index, and futures", () => {
    const { params } = caseOf("CRV-O-05");
    const curves = {
      "EUR-ESTR": overnight(params["discount_curve"], "ESTR"),
      "EUR-6M": term(params, "EURIBOR-6M"),
      "EUR-3M": {
        index: "EURIBOR-3M",
        instruments: [
          { deposit: "3M", rate: 0.0203 },
          { future: "2027-03-17", price: 97.93 },
          ...["2Y", "5Y", "10Y"].map((basis) => ({ basis, spread: 0, against: "EURIBOR-6M" })),
        ],
      },
    };
    const market = { curves, rates: { EUR: { discount: "EUR-ESTR" } } };
    const at = ["2027-03-17", "2027-06-17"];
    const [start, end] = discounts("2026-11-20", market, "EUR-3M", at);
    expect((start / end - 1) / (92 / 360)).toBeCloseTo(0.0207, 12);
    // A spread of zero means that both indices grow alike, up to what their discounting differs by.
    const long = ["2036-11-24"];
    const [three] = discounts("2026-11-20", market, "EUR-3M", long);
    const [six] = discounts("2026-11-20", market, "EUR-6M", long);
    expect(three / six).toBeCloseTo(1, 3);
  });

  it("discounts options, bonds and the curve of a model, as the same nodes do", async () => {
    const zeros = [
      { date: "2027-11-20", zero: 0.02 },
      { date: "2029-11-20", zero: 0.03 },
    ];
    const priced = async (rates: MarketInput["rates"][string], model: object) => {
      const book = parseBook({
        asOf: "2026-11-20",
        market: {
          curves: { C: { zeros } },
          rates: { EUR: rates, USD: { hullWhite: { meanReversion: 0.05, volatility: 0.01, ...model } as never } },
          underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } },
        },
        trades: [
          { id: "1", underlying: "A", payoff: "put", strike: 100, expiry: "2028-05-20" },
          { id: "2", currency: "EUR", bond: { maturity: "2029-05-20", coupon: 0.03, frequency: 2, notional: 100 } },
          {
            id: "3",
            currency: "USD",
            swaption: "payer",
            strike: 0.03,
            expiry: 1,
            swap: { start: 1, end: 4, frequency: 1, notional: 100 },
          },
        ],
        scenarios: { rate: [0, 0.01] },
      });
      const { results } = await priceBook(book, { device });
      return (results as readonly PricedTrade[]).map(({ value, rho, scenarios }) => ({ value, rho, scenarios }));
    };
    const named = await priced({ discount: "C" }, { curve: { discount: "C" } });
    expect(named).toEqual(await priced(zeros, { curve: zeros }));
    expect(named.every(({ value }) => value > 0)).toBe(true);
  });

  it("keeps a linear zero rate up to a ten-thousandth of a basis point where forward rates are asked for", () => {
    const zeros = [1, 5, 10].map((date) => ({ date, zero: 0.02 + 0.001 * date }));
    const curves = { C: { zeros, interpolation: "zero-rate" } };
    const [inside, beyond] = discounts("2026-11-20", { curves }, "C", ["2029-02-08", "2046-11-15"]);
    const t = 811 / 365;
    expect(-Math.log(inside) / t).toBeCloseTo(0.02 + 0.001 * t, 4);
    expect(-Math.log(beyond) / 20).toBeCloseTo(0.03, 12);
  });

  const market = (more: object, rates: object = { EUR: 0.02 }) => ({ asOf: "2026-11-20", market: { rates, ...more } });
  const quotes = [{ ois: "1Y", rate: 0.02 }];
  test.each([
    [{ curves: { C: { instruments: quotes } } }, /^market\.curves\.C\.index: expected the index/],
    [{ curves: { C: { index: "ESTX", instruments: quotes } } }, /^market\.curves\.C\.index: .*did you mean "ESTR"/],
    [{ curves: { C: { index: "ESTR", instruments: [{ ois: "1 year", rate: 0 }] } } }, /instruments\[0\]\.ois: .*6M/],
    [
      { curves: { C: { index: "ESTR", instruments: [{ ois: "2Y", rate: 0.02 }, ...quotes, ...quotes] } } },
      /^market\.curves\.C\.instruments\[2\]: .*leave one out/,
    ],
    [
      { curves: { C: { index: "ESTR", instruments: [...quotes, { ois: "2Y", rate: -5 }] } } },
      /^market\.curves\.C\.instruments\[\d\]: .*no curve reproduces/,
    ],
    [
      { curves: { C: { index: "EURIBOR-6M", instruments: [{ swap: "2Y", rate: 0.02 }] } } },
      /^market\.curves\.C\.discount: expected the curve that discounts/,
    ],
    [{ curves: { C: { index: "ESTR", discount: "D", instruments: quotes } } }, /^market\.curves\.C\.discount: unknown/],
    [
      { curves: { C: { index: "ESTR", instruments: [{ basis: "2Y", spread: 0, against: "EURIBOR-3M" }] } } },
      /instruments\[0\]\.against: no curve has the index/,
    ],
    [
      { curves: { C: { index: "ESTR", instruments: [{ fxSwap: "1M", points: 0 }] } } },
      /^market\.curves\.C\.pair: expected the currency pair/,
    ],
    [
      {
        curves: {
          C: {
            zeros: [
              { date: 2, zero: 0 },
              { date: 1, zero: 0 },
            ],
          },
        },
      },
      /zeros\[1\]\.date: expected dates/,
    ],
    [{ fx: { EURUSD: 1.1, USDJPY: 150, EURJPY: 166 } }, /^market\.fx\.\w+: .* contradicts .*leave one out/],
    [{ fx: { EURNOK: 11.6 } }, /^market\.fx\.EURNOK: the calendar of NOK is not known; write/],
    [{ fx: { EURO: 1 } }, /^market\.fx\.EURO: expected the name of a pair/],
  ])("%j is an error with its path", (more, message) => {
    expect(() => readHeader(market(more))).toThrow(message);
  });

  test.each([
    [{ discount: "D" }, /^market\.rates\.EUR\.discount: unknown curve "D"/],
    [{ discount: "C", forward: { "EURIBOR-6M": "E" } }, /^market\.rates\.EUR\.forward\.EURIBOR-6M: unknown curve/],
    [{ discount: "C", forward: { LIBOR: "C" } }, /^market\.rates\.EUR\.forward\.LIBOR: unknown index/],
  ])("rates %j are an error with its path", (rates, message) => {
    expect(() => readHeader(market({ curves: { C: { index: "ESTR", instruments: quotes } } }, { EUR: rates }))).toThrow(
      message,
    );
  });

  it("takes pairs that follow from each other up to their rounding", () => {
    expect(() => readHeader(market({ fx: { EURUSD: 1.1587, USDJPY: 156.42, EURJPY: 181.24 } }))).not.toThrow();
    expect(() => readHeader(market({ fx: { EURNOK: { rate: 11.6, date: "2026-11-24" } } }))).not.toThrow();
  });
});

describe("quotes that make no curve are errors with their place", () => {
  const problemOf = (curve: object): string => {
    try {
      discounts(ASOF, { curves: { E: { index: "ESTR", ...curve } } }, "E", ["2028-11-20"]);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const ASOF = "2026-11-20";
  const euribor = (future: object) => ({
    index: "EURIBOR-6M",
    discount: "E",
    instruments: [
      { deposit: "6M", rate: 0.02 },
      { price: 97.8, ...future },
    ],
  });
  test.each([
    [euribor({ future: "2026-06-17" }), "market.curves.E.instruments[1].future: it began before asOf"],
    [euribor({ future: "2027-06-16", end: "2027-06-01" }), "market.curves.E.instruments[1].end: expected a day after"],
    [{ instruments: [{ ois: "0D", rate: 0.02 }] }, "market.curves.E.instruments[0]: expected a tenor above zero"],
    [{ instruments: [{ ois: "1Y", rate: 0.02 }], fit: "svensson" }, "market.curves.E.instruments: expected at least 6"],
  ])("%j", (curve, problem) => {
    expect(problemOf(curve)).toContain(problem);
  });

  test("turns that have passed do not count, and of one that has begun what is left", () => {
    const turning = (turns: readonly object[]) => ({
      curves: { E: { index: "ESTR", instruments: [{ ois: "2Y", rate: 0.02 }], turns } },
    });
    const at = ["2026-11-23", "2026-12-01", "2028-11-20"];
    const spread = 0.01;
    const begun = discounts(ASOF, turning([{ from: "2026-11-18", to: "2026-11-25", spread }]), "E", at);
    expect(begun).toEqual(discounts(ASOF, turning([{ from: ASOF, to: "2026-11-25", spread }]), "E", at));
    const passed = discounts(ASOF, turning([{ from: "2025-12-31", to: "2026-01-05", spread }]), "E", at);
    expect(passed).toEqual(discounts(ASOF, turning([]), "E", at));
  });
});
