/** `feynkac calibrate` on the reference cases, on hostile quotes, and what its output prices. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { priceBook } from "../../src/index.ts";
import { type MarketCalibration, readBook } from "../../src/book/index.ts";
import { blackDeviation } from "../../src/calibration/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-calibrate-"));
afterAll(() => rmSync(folder, { recursive: true }));

const cases = (readFixture("reference/calibration.json") as { cases: readonly any[] }).cases;
const casesOf = (product: string): readonly any[] => cases.filter((one) => one.product === product);

const underlying = (quotes: unknown, fit: unknown, more: object = {}): object => ({
  spot: 100,
  currency: "EUR",
  ...more,
  volatility: { quotes, fit },
});
const book = (underlyings: object, rates: object = { EUR: 0 }): object => ({
  asOf: "2026-11-20",
  market: { rates, underlyings },
});

async function calibrated(of: object, ...options: string[]) {
  const run = await feynkac(["calibrate", "-", "--format", "json", ...options], { stdin: JSON.stringify(of) });
  return { ...run, report: run.status === 2 ? undefined : JSON.parse(run.stdout) };
}

test("implied volatilities of the reference case", async () => {
  const [{ params, expected, tolerance_rel_each: each }] = casesOf("black_implied_volatility");
  const entries = params.forward.map((spot: number, i: number) => {
    const quote = {
      expiry: params.expiry[i],
      strike: params.strike[i],
      type: params.option_type[i],
      price: params.price[i],
    };
    return [`U${i}`, underlying([quote], "none", { spot })];
  });
  const { status, report } = await calibrated(book(Object.fromEntries(entries)));
  expect(status).toBe(0);
  expected.implied_volatility.forEach((volatility: number, i: number) => {
    const [{ implied }] = report.underlyings[`U${i}`].quotes;
    expect(Math.abs(implied / volatility - 1)).toBeLessThan(Math.max(1e-13, each[i]));
  });
});

test.each(casesOf("svi_slice").map((one) => [one.id, one]))("SVI of %s", async (_, { params, expected }) => {
  const k: readonly number[] = params.log_moneyness;
  const quotes = k.map((one, i) => ({
    expiry: 1,
    strike: 100 * Math.exp(one),
    implied: Math.sqrt(expected.total_variance[i]),
  }));
  const { report } = await calibrated(book({ A: underlying(quotes, "svi") }));
  const { parameters, rmse, butterfly, worst, model } = report.underlyings.A;
  expect(model).toBe("svi");
  expect(rmse).toBeLessThan(1e-9);
  expect(Math.abs(worst.error)).toBeLessThan(1e-8);
  for (const name of ["a", "b", "rho", "m", "sigma"]) expect(parameters[name][0]).toBeCloseTo(params[name], 6);
  expect(butterfly.free).toBe(!expected.butterfly_arbitrage);
  if (k[0] === params.g_search_interval[0]) {
    expect(butterfly.min).toBeCloseTo(expected.g_min, 6);
    expect(butterfly.at.logMoneyness).toBeCloseTo(expected.g_argmin, 4);
  }
});

test.each(casesOf("ssvi_surface").map((one) => [one.id, one]))("SSVI of %s", async (_, { params, expected }) => {
  const wings = [-1, -0.5, 0, 0.5, 1];
  const rows: readonly (readonly number[])[] = expected.total_variance_atm_and_wings;
  const quotes = rows.flatMap((row, i) =>
    row.map((variance, j) => ({
      expiry: params.times[i],
      strike: 100 * Math.exp(wings[j]),
      implied: Math.sqrt(variance / params.times[i]),
    })),
  );
  const { report } = await calibrated(book({ A: underlying(quotes, "ssvi") }));
  const { model, butterfly, calendar } = report.underlyings.A;
  expect(model).toBe("ssvi");
  // Whatever the quotes, the surface that comes back is free of arbitrage.
  expect([butterfly.free, calendar.free]).toEqual([true, true]);
});

test("the curve of the reference case", async () => {
  const [{ params, expected }] = casesOf("curve_bootstrap");
  const instruments = [
    ...params.deposits.map(([deposit, rate]: number[]) => ({ deposit, rate })),
    ...params.par_swaps_annual.map(([swap, rate]: number[]) => ({ swap, rate, frequency: 1 })),
  ];
  for (const interpolation of ["linear-zero", "log-discount"]) {
    const { report } = await calibrated(book({}, { EUR: { instruments, interpolation, fit: "bootstrap" } }));
    const { curve, rmse, status } = report.rates.EUR;
    expect({ status, dates: curve.map(({ date }: { date: number }) => date) }).toEqual({
      status: "converged",
      dates: expected.pillars,
    });
    expect(rmse).toBeLessThan(1e-14);
    expected.discount_factors.forEach((discount: number, i: number) =>
      expect(Math.abs(curve[i].discount - discount)).toBeLessThan(1e-12),
    );
  }
});

const smile = (expiry: number, type?: string) =>
  [70, 80, 90, 100, 110, 120, 130].map((strike) => ({
    expiry,
    strike,
    ...(type === undefined ? {} : { type }),
    implied: 0.2 - 0.1 * Math.log(strike / 100) + 0.1 * Math.log(strike / 100) ** 2,
  }));

test("SABR by expiry gives back the volatilities of its own formula", async () => {
  // Hagan's formula for β = 1 at the money: α·(1 + (ρνα/4 + (2 − 3ρ²)ν²/24)·T), ρ = 0.
  const { report } = await calibrated(book({ A: underlying(smile(0.5), { sabr: { beta: 1 } }) }));
  const { model, rmse, parameters, status } = report.underlyings.A;
  expect({ model, status }).toEqual({ model: "sabr", status: "converged" });
  expect(rmse).toBeLessThan(2e-3);
  const [alpha, rho, nu] = [parameters.alpha[0], parameters.rho[0], parameters.nu[0]];
  const atTheMoney = alpha * (1 + ((rho * nu * alpha) / 4 + ((2 - 3 * rho * rho) * nu * nu) / 24) * 0.5);
  expect(report.underlyings.A.quotes[3].fitted).toBeCloseTo(atTheMoney, 12);
});

/** The largest errors of repriced volatilities that the reference asks for, root mean squares. */
const REPRICED: Readonly<Record<string, number>> = { "CAL-O-09": 5e-4, "CAL-O-10": 5e-4, "CAL-O-11": 2e-3 };
const dupireCases = cases.filter(({ id }) => Object.hasOwn(REPRICED, id));

test.each(dupireCases.map((one) => [one.id, one]))("the local volatility of %s prices its quotes", async (id, one) => {
  const { expiries, strikes, call_prices: prices } = one.params;
  const all = expiries.flatMap((expiry: number, i: number) =>
    strikes.map((strike: number, j: number) => ({ expiry, strike, price: prices[i][j], i, j })),
  );
  const quotes = all.map(({ expiry, strike, price }: any) => ({ expiry, strike, type: "call", price }));
  const trades = all.map(({ expiry, strike }: any, k: number) => ({
    id: `${k}`,
    underlying: "A",
    payoff: "call",
    strike,
    expiry,
  }));
  const whole = { ...book({ A: underlying(quotes, "local") }), trades };
  const { status, report } = await calibrated(whole);
  expect([status, report.underlyings.A.model]).toEqual([0, "local"]);
  using device = createCpuDevice({ threads: 1 });
  const { results } = await priceBook(readBook(whole), { device, greeks: "none" });
  const errors = all.flatMap(({ expiry, strike, i, j }: any, k: number) => {
    const wanted = one.expected.implied_volatilities[i][j] * Math.sqrt(expiry);
    // Far from the money a price says nothing of a volatility.
    if (Math.abs(Math.log(strike / 100)) > 2.5 * wanted) return [];
    const quoted = { forward: 100, strike, price: results[k].value ?? Number.NaN, sign: 1 };
    return [(blackDeviation({ quoted }).deviation - wanted) / Math.sqrt(expiry)];
  });
  expect(errors.length).toBeGreaterThan(80);
  const sum = errors.reduce((total: number, error: number) => total + error * error, 0);
  expect(Math.sqrt(sum / errors.length)).toBeLessThan(REPRICED[id]);
});

test("Andreasen and Huge's surface is free of arbitrage, and fits a smile", async () => {
  const quotes = [0.5, 1, 2].flatMap((expiry) => smile(expiry));
  const { status, report } = await calibrated(book({ A: underlying(quotes, "andreasen-huge") }));
  const { model, rmse, butterfly, calendar } = report.underlyings.A;
  expect([status, model, butterfly.free, calendar.free]).toEqual([0, "andreasen-huge", true, true]);
  expect(rmse).toBeLessThan(1e-6);
});

test("Heston's model of the reference case, which prices as the written one", async () => {
  const [{ params, expected, tolerance }] = casesOf("heston_calibration_exact_quotes");
  const times = params.days_to_expiry.map((days: number) => days / 365);
  const quotes = times.flatMap((expiry: number, i: number) =>
    params.strikes.map((strike: number, j: number) => ({
      expiry,
      strike,
      implied: params.implied_volatilities[i][j],
    })),
  );
  const rates = { EUR: times.map((date: number, i: number) => ({ date, zero: params.zero_rates[i] })) };
  const trades = [{ id: "T", underlying: "A", payoff: "call", strike: 100, expiry: 1 }];
  const whole = { ...book({ A: underlying(quotes, "heston") }, rates), trades };
  const path = join(folder, "heston.json");
  const { status, report } = await calibrated(whole, "-o", path);
  const { parameters, rmse } = report.underlyings.A;
  expect(status).toBe(0);
  expect(rmse).toBeLessThan(1e-6);
  for (const name of ["v0", "kappa", "theta", "sigma", "rho"])
    expect(Math.abs(parameters[name] - expected[name])).toBeLessThan(tolerance.abs + tolerance.rel * expected[name]);
  using device = createCpuDevice({ threads: 1 });
  const [before, after] = await Promise.all(
    [whole, JSON.parse(readFileSync(path, "utf8"))].map((one) => priceBook(readBook(one), { device, greeks: "none" })),
  );
  expect(before.results[0]).toMatchObject({ status: "ok", method: "heston" });
  expect(after.results[0].value).toBeCloseTo(before.results[0].value!, 9);
});

test("a stochastic local volatility is written as it is read, with the variance given or fitted", async () => {
  const heston = { v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.6, rho: -0.7 };
  const quotes = [0.5, 1].flatMap((expiry) =>
    [80, 90, 100, 110, 120, 130].map((strike) => ({ expiry, strike, implied: 0.2 + 0.001 * (100 - strike) })),
  );
  const given = underlying(quotes, { stochasticLocal: { heston, mixing: 0.5 } });
  const whole = book({ given, fitted: underlying(quotes, { stochasticLocal: { surface: "ssvi" } }) });
  const path = join(folder, "stochastic-local.json");
  const { report } = await calibrated(whole, "-o", path);
  expect(report.underlyings.given).toMatchObject({ model: "stochastic-local", status: "converged" });
  expect(report.underlyings.given.parameters["variance.sigma"]).toBe(0.3);
  const { underlyings } = JSON.parse(readFileSync(path, "utf8")).market;
  expect(underlyings.given.volatility.stochasticLocal.heston).toEqual({ ...heston, sigma: 0.3 });
  expect(underlyings.fitted.volatility.stochasticLocal.heston.rho).toBeLessThan(0);
  expect(readBook({ asOf: "2026-11-20", market: { rates: { EUR: 0 }, underlyings }, trades: [] })).toBeDefined();
});

test.each(casesOf("hull_white_calibration").map((one) => [one.id, one]))(
  "Hull and White's model of %s, which the book prices by",
  async (_, { params, expected, tolerance }) => {
    const prices: readonly number[] = params.prices;
    const quotes =
      params.instruments === "caps"
        ? {
            caps: prices.map((price, i) => ({
              start: 0.5,
              maturity: params.cap_maturities[i],
              frequency: 2,
              strike: params.strikes[i],
              price,
            })),
          }
        : {
            swaptions: prices.map((price, i) => {
              const [expiry, length] = params.payer_swaptions[i];
              return { type: "payer", expiry, length, frequency: 1, strike: params.strikes[i], price };
            }),
          };
    const curve = params.curve_times.map((date: number, i: number) => ({ date, zero: params.curve_zero_rates[i] }));
    const rates = { EUR: { hullWhite: { curve, ...quotes } } };
    // The second quote as a trade.
    const trade =
      params.instruments === "caps"
        ? { cap: { start: 0.5, end: params.cap_maturities[1], frequency: 2, notional: 1 } }
        : {
            swaption: "payer",
            expiry: params.payer_swaptions[1][0],
            swap: {
              start: params.payer_swaptions[1][0],
              end: params.payer_swaptions[1][0] + params.payer_swaptions[1][1],
              frequency: 1,
              notional: 1,
            },
          };
    const trades = [{ id: "T", currency: "EUR", strike: params.strikes[1], ...trade }];
    const whole = { ...book({}, rates), trades };
    const { status, report } = await calibrated(whole);
    const { model, parameters } = report.rates.EUR;
    expect([status, model]).toEqual([0, "hull-white"]);
    const near = tolerance.abs + tolerance.rel;
    expect(Math.abs(parameters.meanReversion - expected.mean_reversion)).toBeLessThan(near);
    expect(Math.abs(parameters.volatility - expected.volatility)).toBeLessThan(near);
    using device = createCpuDevice({ threads: 1 });
    const { results } = await priceBook(readBook(whole), { device, greeks: "none" });
    expect(results[0].value).toBeCloseTo(prices[1], 12);
  },
);

test("the written book prices its quotes, as the book with the quotes does", async () => {
  const quotes = [0.5, 1].flatMap((expiry) => smile(expiry));
  const rates = {
    EUR: {
      instruments: [
        { deposit: "6M", rate: 0.03 },
        { swap: "2Y", rate: 0.034, frequency: 1 },
      ],
    },
  };
  const trades = [90, 100, 110].map((strike) => ({
    id: `${strike}`,
    underlying: "A",
    payoff: "call",
    strike,
    expiry: 1,
  }));
  const whole = { ...book({ A: underlying(quotes, "svi", { dividends: { yield: 0.01 } }) }, rates), trades };
  const path = join(folder, "fitted.json");
  const { report, status } = await calibrated(whole, "-o", path, "--picture", join(folder, "fit.svg"));
  expect(status).toBe(0);
  const written = JSON.parse(readFileSync(path, "utf8"));
  expect(Object.keys(written.market.underlyings.A.volatility)).toEqual(["surface"]);
  expect(written.market.rates.EUR[0].date).toBe("2027-05-20");
  expect(readFileSync(join(folder, "fit.svg"), "utf8")).toContain("<svg");
  using device = createCpuDevice({ threads: 1 });
  const [before, after] = await Promise.all([whole, written].map((one) => priceBook(readBook(one), { device })));
  const { underlyings }: MarketCalibration = report;
  const ofYear = underlyings.A.quotes.filter(({ expiry }) => expiry === 1);
  const fitted = new Map(ofYear.map((quote) => [quote.strike, quote.fitted]));
  const curve = report.rates.EUR.curve;
  const share = (1 - curve[0].time) / (curve[1].time - curve[0].time);
  const discount = curve[0].discount ** (1 - share) * curve[1].discount ** share;
  before.results.forEach(({ value, status: priced }, i) => {
    expect(priced).toBe("ok");
    const { strike } = trades[i];
    const errorOf = (price: number): number => {
      const quote = { forward: (100 * Math.exp(-0.01)) / discount, strike, price: price / discount, sign: 1 } as const;
      return Math.abs(blackDeviation({ quoted: quote }).deviation - fitted.get(strike)!);
    };
    expect(errorOf(value!)).toBeLessThan(1e-9);
    // The written book has the local volatility alone: Dupire's formula on a grid gives the smile back to about 1e-3.
    expect(errorOf(after.results[i].value!)).toBeLessThan(1e-3);
  });
});

describe("hostile quotes", () => {
  const quote = { expiry: 1, strike: 100, type: "call" };
  const at = "market.underlyings.A.volatility.quotes";
  test.each([
    ["crossed", [{ ...quote, bid: 3, ask: 2 }], `${at}[0].bid: expected a bid that is not above the ask`],
    [
      "repeated",
      [
        { ...quote, price: 3 },
        { ...quote, price: 4 },
      ],
      `${at}[1]: repeats quotes[0]`,
    ],
    ["of two kinds", [{ ...quote, price: 3, implied: 0.2 }], `${at}[0]: expected one of "implied"`],
    ["half", [{ ...quote, bid: 3 }], `${at}[0]: expected one of "implied"`],
    ["expired", [{ ...quote, expiry: -1, price: 3 }], `${at}[0].expiry: expected an expiry after asOf`],
  ])("%s: an error with its path", async (_, quotes, message) => {
    const { status, stderr } = await calibrated(book({ A: underlying(quotes, "svi") }));
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  test("outside of the bounds or without a bid: a warning with its path, and no number", async () => {
    const quotes = [
      { ...quote, price: 100 },
      { ...quote, strike: 90, price: 9 },
      { ...quote, strike: 130, bid: 0, ask: 0.05 },
      ...smile(1, "put"),
    ];
    const { status, report } = await calibrated(book({ A: underlying(quotes, "svi") }));
    expect(status).toBe(0);
    const { quotes: rows, warnings } = report.underlyings.A;
    expect([rows[0].implied, rows[1].implied]).toEqual([null, null]);
    expect(rows[2].implied).toBeGreaterThan(0);
    expect(warnings.map((text: string) => text.slice(0, at.length + 3))).toEqual([`${at}[0]`, `${at}[1]`, `${at}[2]`]);
  });

  test("no usable quote is infeasible, and its trades say so", async () => {
    const of = book({ A: underlying([{ ...quote, price: 100 }], "svi") });
    const { status, report } = await calibrated(of);
    expect(status).toBe(1);
    expect(report.underlyings.A.status).toBe("infeasible");
    const trade = { id: "T", underlying: "A", payoff: "call", strike: 100, expiry: 1 };
    const [parsed] = readBook({ ...of, trades: [trade] }).trades;
    expect(parsed.ok ? "" : parsed.error.message).toContain("but none that can be fitted: quotes[0]: ");
  });

  test("a market without quotes has nothing to fit", async () => {
    const { status, stderr } = await calibrated(book({ A: { spot: 100, currency: "EUR", volatility: 0.2 } }));
    expect(status).toBe(2);
    expect(stderr).toMatch(/^feynkac: standard input: there are no quotes to fit/);
    const cut = join(folder, "cut.json");
    writeFileSync(cut, "{");
    expect((await feynkac(["calibrate", cut])).stderr).toMatch(`feynkac: ${cut}: not JSON`);
  });
});

test("prices from the written market repeat what is doubtful about its fits", async () => {
  const rough = [90, 95, 100, 105, 110].flatMap((strike, k) =>
    [0.5, 1].map((expiry) => ({ expiry, strike, implied: k % 2 === 0 ? 0.2 : 0.32 })),
  );
  const contradictory = {
    hullWhite: {
      curve: 0.03,
      caps: [2, 3, 4, 5].map((maturity, k) => {
        return { start: 0.5, maturity, frequency: 2, strike: 0.03, price: k % 2 === 0 ? 0.002 : 0.03 };
      }),
    },
  };
  const trades = [
    { id: "a", underlying: "A", payoff: "call", strike: 100, expiry: 0.75 },
    { id: "b", currency: "USD", cap: { start: 1, end: 3, frequency: 1, notional: 100 }, strike: 0.03 },
  ];
  const whole = { ...book({ A: underlying(rough, "ssvi") }, { EUR: 0.03, USD: contradictory }), trades };
  const path = join(folder, "doubtful.json");
  await calibrated(whole, "-o", path);
  using device = createCpuDevice({ threads: 1 });
  const doubts = await Promise.all(
    [whole, JSON.parse(readFileSync(path, "utf8"))].map(async (one) => {
      const { results } = await priceBook(readBook(one), { device, greeks: "none" });
      return results.map((result) =>
        result.status === "ok"
          ? result.warnings.filter((warning) => warning.includes("doubtful")).map((warning) => warning.split(": ")[2])
          : result.error.message,
      );
    }),
  );
  for (const own of doubts[0]) expect(own.length).toBeGreaterThan(0);
  expect(doubts[1]).toEqual(doubts[0]);
});
