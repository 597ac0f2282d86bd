/** Bonds with calls and puts and Bermudan swaptions under Gaussian short rates, from the book to the result. */
import { afterAll, describe, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import type { PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../src/pricing/index.ts";
import { readFixture } from "../support/fixtures.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

interface Reference {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly flat_rate?: number;
    readonly curve_times?: readonly number[];
    readonly curve_zero_rates?: readonly number[];
    readonly mean_reversion: number;
    readonly volatility: number;
    readonly kind: string;
    readonly fixed_rate: number;
    readonly exercise_times: readonly number[];
    readonly last_payment: number;
    readonly accrual: number;
    readonly maturity: number;
    readonly coupon_rate: number;
    readonly coupon_step: number;
    readonly call_schedule_clean: readonly (readonly [number, number])[];
    readonly put_schedule_clean: readonly (readonly [number, number])[];
  };
  readonly expected: { readonly price: number };
}

const references = ["short-rate", "rates-products"].flatMap(
  (family) => (readFixture(`reference/${family}.json`) as { readonly cases: readonly Reference[] }).cases,
);

type Rates = Readonly<Record<string, unknown>>;

async function priced(
  rates: Rates,
  trades: readonly unknown[],
  options: Partial<PricingOptions> = {},
  more: Rates = {},
): Promise<readonly PricedTrade[]> {
  const book = readBook({ asOf: "2026-01-01", market: { rates: { EUR: rates } }, trades, ...more });
  const { results } = await priceBook(book, { device, ...options });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    return result;
  });
}

function bookOf({ id, product, params }: Reference): { readonly rates: Rates; readonly trade: unknown } {
  const { flat_rate, curve_times = [], curve_zero_rates = [], mean_reversion, volatility } = params;
  const curve = flat_rate ?? curve_times.map((time, i) => ({ date: time, zero: curve_zero_rates[i] }));
  const rates = { hullWhite: { meanReversion: mean_reversion, volatility, curve } };
  const { kind, fixed_rate, exercise_times, last_payment, accrual, maturity, coupon_rate, coupon_step } = params;
  if (product.endsWith("swaption")) {
    const swap = { start: exercise_times[0], end: last_payment, frequency: 1 / accrual, notional: 1 };
    return {
      rates,
      trade: { id, currency: "EUR", swaption: kind, strike: fixed_rate, exercise: exercise_times, swap },
    };
  }
  const [calls, puts] = [params.call_schedule_clean, params.put_schedule_clean].map((schedule) =>
    schedule.map(([date, price]) => ({ date, price })),
  );
  const bond = { maturity, coupon: coupon_rate, frequency: 1 / coupon_step, notional: 1, calls, puts };
  return { rates, trade: { id, currency: "EUR", bond } };
}

const hullWhite = { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.04 } };
const swap = { start: 1, end: 8, frequency: 2, notional: 1e6 };
const bermudan = { id: "S", currency: "EUR", swaption: "payer", strike: 0.04, exercise: [1, 2, 3.5, 5], swap };
const windowed = {
  maturity: 10,
  coupon: 0.05,
  frequency: 2,
  notional: 100,
  calls: [
    { date: 2.25, price: 102 },
    { from: 5, to: 10, price: 100 },
  ],
};

describe("Gaussian short rates in a book", () => {
  const some = references.filter(({ product }) => /^hull_white_(bermudan|callable|puttable)/.test(product));

  test.each(some)("$id, $product: the reference value", async (reference) => {
    const { rates, trade } = bookOf(reference);
    const [{ value, errorEstimate, method }] = await priced(rates, [trade]);
    const error = Math.abs(value - reference.expected.price);
    expect(method).toBe("convolution");
    expect(error).toBeLessThan(3e-8);
    expect(error).toBeLessThan(errorEstimate);
  });

  test("one date is the European option: payer less receiver is the forward swap", async () => {
    const [payer, receiver] = await priced(
      hullWhite,
      ["payer", "receiver"].map((side) => ({ ...bermudan, id: side, swaption: side, exercise: [1] })),
      { method: "convolution" },
    );
    const coupons = Array.from({ length: 14 }, (_, i) => 0.02 * Math.exp(-0.04 * (1.5 + 0.5 * i)));
    const forward = Math.exp(-0.04) - Math.exp(-0.04 * 8) - coupons.reduce((sum, coupon) => sum + coupon, 0);
    expect((payer.value - receiver.value) / 1e6).toBeCloseTo(forward, 7);
  });

  test("sensitivities are those of repriced books", async () => {
    const bump = 1e-3;
    const scenarios = { rate: [-bump, 0, bump], volatility: [-bump, 0, bump], time: [0, 0.01] };
    const [one] = await priced(hullWhite, [bermudan], {}, { scenarios });
    const revalued = async (change: Rates): Promise<number> => {
      const [{ value }] = await priced({ hullWhite: { ...hullWhite.hullWhite, ...change } }, [bermudan]);
      return value;
    };
    const rates = [await revalued({ curve: 0.04 - bump }), await revalued({ curve: 0.04 + bump })];
    expect(one.rho).toBeCloseTo((rates[1] - rates[0]) / (2 * bump), -4);
    const sigmas = [await revalued({ volatility: 0.009 }), await revalued({ volatility: 0.011 })];
    expect(one.vega! / ((sigmas[1] - sigmas[0]) / (2 * bump))).toBeCloseTo(1, 2);
    const reversions = [await revalued({ meanReversion: 0.049 }), await revalued({ meanReversion: 0.051 })];
    expect(one.parameters!.meanReversion / ((reversions[1] - reversions[0]) / 0.002)).toBeCloseTo(1, 3);
  });

  test("windows: a call lowers and a put raises the bond, and rights at any time beat those on dates", async () => {
    const yearly = [5, 6, 7, 8, 9].map((date) => ({ date, price: 100 }));
    const [straight, dates, any, put] = await priced(hullWhite, [
      { id: "straight", currency: "EUR", bond: { ...windowed, calls: [] } },
      { id: "dates", currency: "EUR", bond: { ...windowed, calls: [windowed.calls[0], ...yearly] } },
      { id: "any", currency: "EUR", bond: windowed },
      { id: "put", currency: "EUR", bond: { ...windowed, calls: [], puts: [{ from: 2, to: 10, price: 100 }] } },
    ]);
    expect(any.value).toBeLessThan(dates.value);
    expect(dates.value).toBeLessThan(straight.value);
    expect(put.value).toBeGreaterThan(straight.value);
    expect(any.errorEstimate).toBeLessThan(0.002);
  });

  test("called or put at once, and at its last payment", async () => {
    const terms = { maturity: 5, coupon: 0.06, frequency: 1, notional: 100 };
    const [called, put, last, straight] = await priced(hullWhite, [
      { id: "called", currency: "EUR", bond: { ...terms, calls: [{ date: 0, price: 100 }] } },
      { id: "put", currency: "EUR", bond: { ...terms, coupon: 0.01, puts: [{ date: 0, price: 99 }] } },
      { id: "last", currency: "EUR", bond: { ...terms, calls: [{ date: 5, price: 100 }] } },
      { id: "straight", currency: "EUR", bond: terms },
    ]);
    expect(called.value).toBeCloseTo(100, 12);
    expect(put.value).toBeCloseTo(99, 12);
    expect(last.value).toBeCloseTo(straight.value, 10);
  });

  test("Vasicek's model is Hull and White's with its own curve", async () => {
    const [r0, kappa, theta, sigma] = [0.03, 0.2, 0.05, 0.012];
    const log = (t: number): number => {
      const b = (1 - Math.exp(-kappa * t)) / kappa;
      return (theta - (sigma * sigma) / (2 * kappa * kappa)) * (b - t) - (sigma * sigma * b * b) / (4 * kappa) - b * r0;
    };
    const curve = Array.from({ length: 16 }, (_, i) => ({
      date: (i + 1) / 2,
      zero: (-2 * log((i + 1) / 2)) / (i + 1),
    }));
    const [own] = await priced({ vasicek: { r0, kappa, theta, sigma } }, [bermudan]);
    const [fitted] = await priced({ hullWhite: { meanReversion: kappa, volatility: sigma, curve } }, [bermudan]);
    expect(own.value / fitted.value).toBeCloseTo(1, 9);
  });

  test("the sensitivities and scenarios of Vasicek's model are those of its closed form", async () => {
    const vasicek = { r0: 0.03, kappa: 0.2, theta: 0.05, sigma: 0.012 };
    const trades = [{ ...bermudan, exercise: [1] }];
    const more = { scenarios: { volatility: [0.005], rate: [0.01] } };
    const [formula] = await priced({ vasicek }, trades, { method: "closed-form" }, more);
    const [own] = await priced({ vasicek }, trades, { method: "convolution" }, more);
    expect(own.scenarios!.flat(3)[0]! / formula.scenarios!.flat(3)[0]!).toBeCloseTo(1, 6);
    for (const name of ["vega", "rho", "theta"] as const) expect(own[name]! / formula[name]!).toBeCloseTo(1, 3);
    for (const [name, value] of Object.entries(formula.parameters!))
      expect(own.parameters![name] / value).toBeCloseTo(1, 3);
  });
});

describe("Black, Derman and Toy's lattice in a book", () => {
  const annualYields = [0.1, 0.11, 0.12, 0.125, 0.13];
  const bdt = { annualYields, yieldVolatilities: [0.2, 0.19, 0.18, 0.17, 0.16] };
  const terms = { maturity: 3, coupon: 0.1, frequency: 1, notional: 100 };
  const called = [1, 2].map((date) => ({ date, price: 100 }));

  /** The paper's yields; values computed with 40 digits (RTP-O-27). */
  test("the published example", async () => {
    const [bond, call, put, callable] = await priced({ bdt }, [
      { id: "bond", currency: "EUR", bond: terms },
      { id: "call", currency: "EUR", payoff: "call", strike: 95, expiry: 2, on: { bond: terms } },
      { id: "put", currency: "EUR", payoff: "put", strike: 95, strikeIs: "clean", expiry: 2, on: { bond: terms } },
      { id: "callable", currency: "EUR", bond: { ...terms, calls: called } },
    ]);
    expect(bond.value).toBeCloseTo(95.50296068282486, 10);
    expect(call.value).toBeCloseTo(1.765680774620157, 10);
    expect(put.value).toBeCloseTo(0.5739846733301432, 10);
    expect(callable.value).toBeCloseTo(95.45769708784218, 10);
    expect(callable.method).toBe("lattice");
    expect(callable.rho!).toBeLessThan(0);
    expect(callable.theta).toBeNull();
    const keys = callable.keyRates!.reduce((sum, [, value]) => sum + value, 0);
    expect(keys / callable.rho!).toBeCloseTo(1, 6);
  });

  test("a right between whole years is refused with the reason", async () => {
    const late = { ...terms, calls: [{ date: 1.5, price: 100 }] };
    await expect(priced({ bdt }, [{ id: "late", currency: "EUR", bond: late }])).rejects.toThrow(/whole years/);
  });
});
