/** Trades on rates: reference values to their own tolerances, parities, limits, sensitivities by differences. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseBook, priceBook, readBook, type BookInput, type PricedTrade } from "../../src/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { normalCdf } from "../support/normal.ts";

type Trade = Readonly<Record<string, unknown>>;
type Rates = BookInput["market"]["rates"][string];

let device: Device;
beforeAll(async () => {
  device = await openDevice({ backend: "cpu" });
});
afterAll(() => device[Symbol.dispose]());

async function price(rates: unknown, trades: readonly Trade[], scenarios?: BookInput["scenarios"]) {
  const book = readBook({
    asOf: "2026-11-20",
    market: { rates: { EUR: rates } },
    trades: trades.map((trade, i) => ({ id: String(i), currency: "EUR", ...trade })),
    ...(scenarios === undefined ? {} : { scenarios }),
  });
  const { results } = await priceBook(book, { device });
  return results.map((result): PricedTrade => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Readonly<Record<string, number> & Record<string, number[]> & Record<string, string>>;
  readonly expected: Readonly<Record<string, number> & Record<string, number[]>>;
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

/** The parameters of a case by type; absent ones are undefined. */
function read({ params }: Case) {
  const get = (name: string): unknown => (params as Readonly<Record<string, unknown>>)[name];
  return {
    number: (name: string): number => get(name) as number,
    list: (name: string): readonly number[] => get(name) as readonly number[],
    text: (name: string): string => get(name) as string,
    has: (name: string): boolean => get(name) !== undefined,
    flows: () => get("cashflows") as readonly (readonly [number, number])[],
  };
}

function ratesOf(one: Case): unknown {
  const p = read(one);
  const curve = p.has("curve_times")
    ? p.list("curve_times").map((date, i) => ({ date, zero: p.list("curve_zero_rates")[i] }))
    : p.number("flat_rate");
  const affine = { r0: p.number("r0"), kappa: p.number("mean_reversion"), theta: p.number("long_rate") };
  if (one.product.startsWith("vasicek")) return { vasicek: { ...affine, sigma: p.number("volatility") } };
  if (one.product.startsWith("cir")) return { cir: { ...affine, sigma: p.number("volatility") } };
  if (one.product.startsWith("g2"))
    return {
      g2: { ...Object.fromEntries(["a", "sigma", "b", "eta", "rho"].map((name) => [name, p.number(name)])), curve },
    };
  if (!one.product.startsWith("hull_white")) return curve;
  return { hullWhite: { meanReversion: p.number("mean_reversion"), volatility: p.number("volatility"), curve } };
}

/** The trades of a case with the names of what is expected of them. */
function tradesOf(one: Case): readonly (readonly [Trade, number])[] {
  const p = read(one);
  const { expected } = one;
  const zero = (time: number): Trade => ({ cashflows: [[time, 1]] });
  const option = (on: unknown): Trade => ({
    payoff: p.text("option_type"),
    strike: p.number("strike"),
    expiry: p.number("option_expiry"),
    on: { cashflows: on },
  });
  const value = expected["price"] ?? expected["option"];
  const strip = (kind: "cap" | "floor", start: number, end: number, accrual: number): Trade => ({
    strike: p.number("strike"),
    [kind]: { start, end, frequency: Math.round(1 / accrual), notional: 1 },
  });
  switch (one.product) {
    case "zero_bonds":
      return p.list("times").map((time, i) => [zero(time), expected["prices"][i]] as const);
    case "coupon_bond":
      return [[{ cashflows: p.flows() }, value]];
    case "vasicek_bond_and_option":
    case "cir_bond_and_option":
      return [
        [zero(p.number("option_expiry")), expected["bond_T"]],
        [zero(p.number("bond_maturity")), expected["bond_S"]],
        [option([[p.number("bond_maturity"), 1]]), value],
      ];
    case "hull_white_bond_option":
      return [[option([[p.number("bond_maturity"), 1]]), value]];
    case "hull_white_coupon_bond_option":
    case "vasicek_coupon_bond_option":
    case "cir_coupon_bond_option":
      return [[option(p.flows()), value]];
    case "hull_white_caplet":
    case "cir_caplet":
    case "hull_white_floorlet": {
      const [fixing, payment] = [p.number("fixing"), p.number("payment")];
      return [[strip(one.product.endsWith("caplet") ? "cap" : "floor", fixing, payment, payment - fixing), value]];
    }
    case "hull_white_cap":
    case "hull_white_floor": {
      const fixings = p.list("fixings");
      const end = fixings[fixings.length - 1] + p.number("accrual");
      return [[strip(one.product.endsWith("cap") ? "cap" : "floor", fixings[0], end, p.number("accrual")), value]];
    }
    case "hull_white_european_swaption":
    case "vasicek_european_swaption":
    case "g2pp_european_swaption": {
      const times = p.list("payment_times");
      const [start, step] = [p.number("expiry"), times[1] - times[0]];
      const swap = { start, end: times[times.length - 1], frequency: Math.round(1 / step), notional: 1 };
      return [[{ swaption: p.text("kind"), strike: p.number("fixed_rate"), expiry: start, swap }, value]];
    }
    default:
      return [];
  }
}

describe("reference values", () => {
  const cases = ["short-rate-models", "rates-products"].flatMap((family) => {
    const path = join(import.meta.dirname, `../fixtures/reference/${family}.json`);
    return (JSON.parse(readFileSync(path, "utf8")) as { readonly cases: readonly Case[] }).cases;
  });
  it.each(cases.filter((one) => tradesOf(one).length > 0).map((one) => [`${one.id} ${one.product}`, one] as const))(
    "%s",
    async (_, one) => {
      const trades = tradesOf(one);
      const results = await price(
        ratesOf(one),
        trades.map(([trade]) => trade),
      );
      results.forEach(({ value, errorEstimate, method }, i) => {
        const [, exact] = trades[i];
        // Rounding, and the quadrature over a second factor, which converges exponentially.
        if (method === "closed-form") expect(errorEstimate).toBeLessThan(1e-9 * (1 + Math.abs(exact)));
        const error = Math.abs(value - exact);
        expect(error).toBeLessThanOrEqual(one.tolerance.abs + one.tolerance.rel * Math.abs(exact));
        expect(error).toBeLessThanOrEqual(errorEstimate + 1e-15);
      });
      if (one.product !== "coupon_bond") return;
      const [bond] = results;
      expect(bond.yield).toBeCloseTo(one.expected["continuous_yield"], 12);
      expect(bond.duration).toBeCloseTo(one.expected["macaulay_duration"], 11);
    },
  );
});

const CURVE = [
  { date: 0.5, zero: -0.004 },
  { date: 2, zero: 0.01 },
  { date: 10, zero: 0.03 },
];
const MODELS: readonly (readonly [string, Rates])[] = [
  ["hullWhite", { hullWhite: { meanReversion: 0.05, volatility: 0.012, curve: CURVE } }],
  [
    "hullWhite by time",
    {
      hullWhite: {
        meanReversion: 0,
        volatility: [
          { date: 1, volatility: 0.005 },
          { date: 3, volatility: 0.015 },
        ],
        curve: CURVE,
      },
    },
  ],
  ["vasicek", { vasicek: { r0: 0.02, kappa: 0.3, theta: 0.04, sigma: 0.02 } }],
  ["cir", { cir: { r0: 0.03, kappa: 0.3, theta: 0.04, sigma: 0.12 } }],
  ["g2", { g2: { a: 0.6, sigma: 0.012, b: 0.05, eta: 0.009, rho: -0.7, curve: CURVE } }],
];
const swap = { start: 2.5, end: 7.5, frequency: 2, notional: 1e6 };
const leg = { start: 0.5, end: 5, frequency: 4, notional: 1e6 };
const QUOTES = [undefined, { normal: 0.008 }, { displaced: { sigma: 0.25, shift: 0.05 } }];

describe.each(MODELS)("parities under %s", (_, rates) => {
  it.each(QUOTES)("payer − receiver is the swap, cap − floor the floating rate, quoted %o", async (volatility) => {
    const quoted = volatility === undefined ? {} : { volatility };
    for (const strike of [-0.01, 0.02, 0.08]) {
      const [payer, receiver, cap, floor, start, end, from, to, ...coupons] = await price(rates, [
        { swaption: "payer", strike, expiry: 2, swap, ...quoted },
        { swaption: "receiver", strike, expiry: 2, swap, ...quoted },
        { cap: leg, strike, ...quoted },
        { floor: leg, strike, ...quoted },
        ...[2.5, 7.5, 0.5, 5].map((time) => ({ cashflows: [[time, 1e6]] })),
        { cashflows: Array.from({ length: 10 }, (__, k) => [3 + k / 2, 0.5e6]) },
        { cashflows: Array.from({ length: 18 }, (__, k) => [0.75 + k / 4, 0.25e6]) },
      ]);
      const forward = start.value - end.value - strike * coupons[0].value;
      expect(payer.value - receiver.value).toBeCloseTo(forward, 6);
      expect(cap.value - floor.value).toBeCloseTo(from.value - to.value - strike * coupons[1].value, 6);
    }
  });
});

describe("sensitivities are those of values that moved", () => {
  const TRADES: readonly Trade[] = [
    { bond: { maturity: 7, coupon: 0.04, frequency: 2, notional: 100 } },
    {
      payoff: "put",
      strike: 101,
      strikeIs: "clean",
      expiry: 1.3,
      on: { bond: { maturity: 6, coupon: 0.03, frequency: 1, notional: 100 } },
    },
    { cap: leg, strike: 0.02 },
    { swaption: "payer", strike: 0.03, expiry: 2, swap },
    { swaption: "receiver", strike: 0.03, expiry: 2, swap, volatility: { normal: 0.008 } },
    { floor: leg, strike: 0.02, volatility: { displaced: { sigma: 0.25, shift: 0.05 } } },
  ];
  it.each(MODELS)("under %s", async (name, rates) => {
    const h = 1e-5;
    const scenarios = { rate: [-h, h], volatility: [-h, 0, h] };
    const results = await price(rates, TRADES, scenarios);
    const later = await price(rates, TRADES, { time: [0, 1e-4] });
    results.forEach(({ rho, vega, theta, keyRates = [], scenarios: ladder, value }, i) => {
      const at = (v: number, r: number): number => ladder?.[0][0][v][r] ?? Number.NaN;
      const size = 1e-4 * Math.max(Math.abs(value), 1);
      expect(Math.abs((rho ?? 0) - (at(1, 1) - at(1, 0)) / (2 * h))).toBeLessThan(size * 10);
      expect(keyRates.reduce((sum, [, one]) => sum + one, 0)).toBeCloseTo(rho ?? 0, 3);
      const up = 0.5 * (at(2, 0) + at(2, 1));
      const down = 0.5 * (at(0, 0) + at(0, 1));
      expect(Math.abs((vega ?? 0) - (up - down) / (2 * h))).toBeLessThan(size * 10);
      const soon = later[i].scenarios?.[1][0][0][0] ?? Number.NaN;
      // The difference is of first order: its error is the second derivative times half a step.
      const slope = (soon - value) / 1e-4;
      expect(Math.abs((theta ?? 0) - slope), `${name} ${i}`).toBeLessThan(2e-3 * (1 + Math.abs(slope)));
    });
  });
});

it("the option-adjusted spread is the move of the rates that gives the market price", async () => {
  const bond = { bond: { maturity: 6.5, coupon: 0.05, frequency: 2, notional: 100 } };
  const moved = { rate: [0.0123] };
  const [{ scenarios, accrued = 0 }] = await price(CURVE, [bond], moved);
  const marketPrice = (scenarios?.[0][0][0][0] ?? 0) - accrued;
  const [{ optionAdjustedSpread }] = await price(CURVE, [{ ...bond, marketPrice }]);
  expect(optionAdjustedSpread).toBeCloseTo(0.0123, 12);
});

describe("what a model cannot be is an error with the reason", () => {
  it.each([
    [{ cir: { r0: -0.01, kappa: 0.5, theta: 0.04, sigma: 0.1 } }, "never negative"],
    [{ blackKarasinski: { meanReversion: 0.1, volatility: 0.2, curve: -0.01 } }, "never negative"],
    [{ bdt: { annualYields: [0.01, -0.01], yieldVolatilities: [0.2, 0.2] } }, "never negative"],
    [{ bdt: { annualYields: [0.01, 0.01], yieldVolatilities: [0.2] } }, "one for each annual yield"],
  ] as const)("%o", (rates, reason) => {
    const book = { asOf: "2026-11-20", market: { rates: { EUR: rates as Rates } }, trades: [] };
    expect(() => parseBook(book)).toThrow(reason);
  });

  it("names the path of a trade's mistake", () => {
    const trades = [
      { cap: { ...leg, start: -0.1, end: 5.1 }, strike: 0.02 },
      { swaption: "payer", strike: 0.03, expiry: 2.6, swap },
      { swaption: "receiver", strike: 0.03, expiry: 3, exercise: "american", swap },
      { bond: { maturity: -1, notional: 1 } },
      { currency: "USD", bond: { maturity: 1, notional: 1 } },
    ];
    const { trades: read } = readBook({
      asOf: "2026-11-20",
      market: { rates: { EUR: 0.02 } },
      trades: trades.map((trade, i) => ({ id: String(i), currency: "EUR", ...trade })),
    });
    expect(read.map((one) => (one.ok ? "" : one.error.path))).toEqual([
      "trades[0].cap.fixing",
      "trades[1].expiry",
      "trades[2].exercise",
      "trades[3].bond.maturity",
      "trades[4].currency",
    ]);
  });
});

it("a cap that is refused leaves the trades after it as they are", async () => {
  const cap = { cap: { start: 1, end: 3, frequency: 1, notional: 1 }, strike: 0.03 };
  // The second forward rate is below −shift: its caplet has no lognormal quote.
  const rates = [
    { date: 2, zero: 0.03 },
    { date: 3, zero: -0.02 },
  ];
  const trades = [
    { ...cap, volatility: 0.2 },
    { ...cap, volatility: { normal: 0.01 } },
  ].map((trade, i) => ({ id: String(i), currency: "EUR", ...trade }));
  const book = (list: readonly Trade[]) =>
    readBook({ asOf: "2026-11-20", market: { rates: { EUR: rates } }, trades: list });
  const { results } = await priceBook(book(trades), { device });
  const { results: alone } = await priceBook(book(trades.slice(1)), { device });
  expect(results[0].status).toBe("error");
  expect(results[1]).toEqual(alone[0]);
});

describe("a curve without volatility", () => {
  const leg = { start: 1, end: 3, frequency: 1, notional: 100 };
  const options: Trade[] = [
    { cap: leg, strike: 0.03 },
    { swaption: "payer", swap: leg, strike: 0.03, expiry: 1 },
    { payoff: "call", strike: 90, expiry: 1, on: { bond: { maturity: 3, notional: 100 } } },
  ];
  const warning = /^the rates of EUR are a curve without volatility.*give .*market\.rates\.EUR a model/;

  it("says that options have their intrinsic value, unless they have a volatility or the rates a model", async () => {
    for (const { warnings } of await price(0.02, options)) expect(warnings).toEqual([expect.stringMatching(warning)]);
    const quoted = options.slice(0, 2).map((trade) => ({ ...trade, volatility: 0.2 }));
    const bond = { bond: { maturity: 3, notional: 100 } };
    for (const { warnings } of await price(0.02, [...quoted, bond])) expect(warnings).toEqual([]);
    const model = { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.02 } };
    for (const { warnings } of await price(model, options)) expect(warnings).toEqual([]);
  });

  it("is no model for rights of exercise, which the error says", async () => {
    const callable = { bond: { maturity: 3, notional: 100, calls: [{ date: 1, price: 99 }] } };
    await expect(price(0.02, [callable])).rejects.toThrow(/give market\.rates\.EUR a model, such as hullWhite/);
  });

  it("that was probably written in percent is said", async () => {
    const bond = { bond: { maturity: 3, notional: 100 } };
    const [{ warnings }] = await price(3.2, [bond]);
    expect(warnings).toEqual(["the rate of EUR is 320 %; if that was not meant, write 5 % as 0.05"]);
  });
});

it("a currency beside an underlying is refused with what to write instead", async () => {
  const quanto = { underlying: "A", payoff: "call", strike: 100, expiry: 1 };
  await expect(price(0.02, [quanto])).rejects.toThrow(/leave "currency" out, and write "quanto" or "composite"/);
  // What to write instead of a swap is one: 5 coupons against the floating rate.
  const leg = { start: 0, end: 5, frequency: 1, notional: 1 };
  const [cap, floor] = await price(0.03, [
    { cap: leg, strike: 0.02 },
    { floor: leg, strike: 0.02 },
  ]);
  const annuity = [1, 2, 3, 4, 5].reduce((sum, time) => sum + Math.exp(-0.03 * time), 0);
  expect(cap.value - floor.value).toBeCloseTo(1 - Math.exp(-0.15) - 0.02 * annuity, 12);
});

it("of a period that has begun the fixing counts, for caps and floors, today and at a later date", async () => {
  const period = { start: -0.25, end: 0.75, frequency: 1, notional: 100 };
  const scenarios = { time: [0.1] };
  const of = (kind: "cap" | "floor", fixing: number): Trade => ({ [kind]: { ...period, fixing }, strike: 0.03 });
  const trades = [of("cap", 0.05), of("floor", 0.05), of("cap", 0.01), of("floor", 0.01)];
  const values = (await price(0.04, trades, scenarios)).map(({ value, scenarios: later }) => [
    value,
    later?.[0][0][0][0] ?? Number.NaN,
  ]);
  // 100·1·2 % are paid in ¾ years, of which a tenth is over.
  const paid = [0.75, 0.65].map((t) => 2 * Math.exp(-0.04 * t));
  [paid, [0, 0], [0, 0], paid].forEach((expected, i) =>
    expected.forEach((value, k) => expect(values[i][k]).toBeCloseTo(value, 12)),
  );
});

it("the market price of a bond with rights is clean, whose adjusted spread is by hand where nobody calls", async () => {
  const bond = { maturity: 6.5, coupon: 0.05, frequency: 1, notional: 100, calls: [{ date: 3.5, price: 1000 }] };
  const times = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5];
  const dirty = times.reduce((sum, t) => sum + (t === 6.5 ? 105 : 5) * Math.exp(-(0.03 + 0.0123) * t), 0);
  const rates = { hullWhite: { meanReversion: 0.05, volatility: 0.005, curve: 0.03 } };
  const [{ optionAdjustedSpread }] = await price(rates, [{ bond, marketPrice: dirty - 2.5 }]);
  expect(optionAdjustedSpread).toBeCloseTo(0.0123, 6);
});

it("a volatility by time decays by mean reversion to the option's expiry, as its closed form says", async () => {
  const [a, notional, strike] = [0.3, 100, 90];
  const rates = {
    hullWhite: {
      meanReversion: a,
      volatility: [
        { date: 1, volatility: 0.03 },
        { date: 2.5, volatility: 0.01 },
      ],
      curve: 0.03,
    },
  };
  const on = { bond: { maturity: 5, notional } };
  const [{ value }] = await price(rates, [{ payoff: "call", strike, expiry: 2, on }]);
  // Jamshidian's formula: ln P(2, 5) has the variance B(3)²·∫₀² σ(u)²·e^(−2a(2−u)) du.
  const b = (1 - Math.exp(-3 * a)) / a;
  const part = (from: number, to: number): number =>
    (Math.exp(-2 * a * (2 - to)) - Math.exp(-2 * a * (2 - from))) / (2 * a);
  const deviation = b * Math.sqrt(0.03 ** 2 * part(0, 1) + 0.01 ** 2 * part(1, 2));
  const [now, paid] = [notional * Math.exp(-0.15), strike * Math.exp(-0.06)];
  const d = Math.log(now / paid) / deviation + 0.5 * deviation;
  expect(value).toBeCloseTo(now * normalCdf(d) - paid * normalCdf(d - deviation), 10);
});
