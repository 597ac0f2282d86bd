/** Scripts in several currencies: payments in others than the trade's, and underlyings in others. */
import { describe, expect, test } from "vitest";
import type { PricedTrade } from "../../src/book/index.ts";
import { priceBook, readBook } from "../../src/index.ts";
import { normalCdf } from "../support/normal.ts";

/** Euros and dollars; the spot of the dollar in euros is of `asOf` itself, so that closed forms have no lag. */
const CASE = { eur: 0.02, usd: 0.05, yields: 0.01, spot: 100, fx: 0.9, sigma: 0.25, sigmaX: 0.12, rho: -0.4, to: 1.5 };
type Case = typeof CASE;

const AS_OF = "2026-11-20";

function marketOf({ eur, usd, yields, spot, fx, sigma, sigmaX, rho }: Case) {
  return {
    rates: { EUR: eur, USD: usd },
    fx: { USDEUR: { rate: fx, date: AS_OF } },
    underlyings: {
      US: { spot, currency: "USD", dividends: { yield: yields }, volatility: sigma },
      EU: { spot, currency: "EUR", dividends: { yield: yields }, volatility: sigma },
      USDEUR: { fx: "USDEUR", volatility: sigmaX },
    },
    correlations: [
      ["US", "USDEUR", rho],
      ["EU", "USDEUR", rho],
      ["US", "EU", 0.5],
    ],
  };
}

type Greeks = NonNullable<Parameters<typeof priceBook>[1]>["greeks"];

async function resultsOf(
  trades: readonly object[],
  market: object = marketOf(CASE),
  more: object = {},
  greeks: Greeks = "all",
) {
  const given = trades.map((trade, i) => ({
    id: String(i),
    ...("script" in trade ? { currency: "EUR" } : {}),
    ...trade,
  }));
  const book = readBook({ asOf: AS_OF, market, trades: given, ...more });
  return (await priceBook(book, { sensitivityErrorEstimates: true, greeks })).results;
}

async function pricedOf(...given: Parameters<typeof resultsOf>): Promise<readonly PricedTrade[]> {
  return (await resultsOf(...given)).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

async function errorOf(trade: object, market: object): Promise<string> {
  const [result] = await resultsOf([trade], market);
  return result.status === "error" ? result.error.message : "";
}

const paying = (what: string, more: object = {}) => ({
  script: { events: [{ on: "maturity", do: what }] },
  data: { maturity: CASE.to, ...more },
});

/** Black's call on a forward, undiscounted. */
function black(forward: number, strike: number, deviation: number): number {
  const d = Math.log(forward / strike) / deviation + deviation / 2;
  return forward * normalCdf(d) - strike * normalCdf(d - deviation);
}

const forwardOf = (one: Case, rate: number): number => one.spot * Math.exp((rate - one.yields) * one.to);

/** A call on a share in dollars paid in euros one to one, and the same in the currency of the share. */
function quanto(one: Case): number {
  const forward = forwardOf(one, one.usd) * Math.exp(-one.rho * one.sigma * one.sigmaX * one.to);
  return Math.exp(-one.eur * one.to) * black(forward, 100, one.sigma * Math.sqrt(one.to));
}
const composite = (one: Case): number =>
  one.fx * Math.exp(-one.usd * one.to) * black(forwardOf(one, one.usd), 100, one.sigma * Math.sqrt(one.to));

/** A call on a share in euros that pays dollars, and its digital. */
function dollars(one: Case): number {
  const forward = forwardOf(one, one.eur) * Math.exp(one.rho * one.sigma * one.sigmaX * one.to);
  return one.fx * Math.exp(-one.usd * one.to) * black(forward, 100, one.sigma * Math.sqrt(one.to));
}
function digital(one: Case): number {
  const forward = forwardOf(one, one.eur) * Math.exp(one.rho * one.sigma * one.sigmaX * one.to);
  const deviation = one.sigma * Math.sqrt(one.to);
  return 100 * one.fx * Math.exp(-one.usd * one.to) * normalCdf(Math.log(forward / 100) / deviation - deviation / 2);
}

const CALL = "max(S - 100, 0)";
const FORMS = [
  { name: "quanto", on: "US", do: `pay(${CALL})`, exact: quanto },
  { name: "in the currency of the share", on: "US", do: `pay(${CALL}, { currency: "USD" })`, exact: composite },
  { name: "in another currency than the share", on: "EU", do: `pay(${CALL}, { currency: "USD" })`, exact: dollars },
  { name: "a digital", on: "EU", do: 'if (S > 100) pay(100, { currency: "USD" })', exact: digital },
] as const;

describe("payments", () => {
  test.each(FORMS)("$name have the value and the slopes of closed forms", { timeout: 60_000 }, async (form) => {
    const [result] = await pricedOf([{ underlying: form.on, ...paying(form.do) }]);
    expect(Math.abs(result.value - form.exact(CASE))).toBeLessThanOrEqual(result.errorEstimate);
    const slope = (move: (by: number) => Partial<Case>): number => {
      const h = 1e-5;
      return (form.exact({ ...CASE, ...move(h) }) - form.exact({ ...CASE, ...move(-h) })) / (2 * h);
    };
    const { sensitivities: own, sensitivityErrorEstimates: errors } = result;
    const exact = {
      [`${form.on} delta`]: slope((by) => ({ spot: CASE.spot + by })),
      [`${form.on} vega`]: slope((by) => ({ sigma: CASE.sigma + by })),
      "USDEUR delta": slope((by) => ({ fx: CASE.fx + by })),
      "USDEUR vega": slope((by) => ({ sigmaX: CASE.sigmaX + by })),
    };
    for (const [name, value] of Object.entries(exact)) {
      const [asset, greek] = name.split(" ") as [string, "delta" | "vega"];
      const error = errors!.sensitivities![asset][greek]!;
      expect(Math.abs(own![asset][greek]! - value), `of ${name}`).toBeLessThanOrEqual(error + 1e-9);
    }
    const rho = slope((by) => ({ eur: CASE.eur + by, usd: CASE.usd + by }));
    expect(Math.abs(result.rho! - rho), "rho").toBeLessThanOrEqual(errors!.rho! + 1e-9);
    const [[, , byCorrelation]] = result.correlation!;
    const correlation = slope((by) => ({ rho: CASE.rho + by }));
    const [[, , error]] = errors!.correlation!;
    expect(Math.abs(byCorrelation - correlation), "correlation").toBeLessThanOrEqual(error + 1e-9);
  });

  test("have the rate of each currency among their buckets, and their spots as composite options", async () => {
    const [, share, abroad] = FORMS;
    const market = { ...marketOf(CASE), fx: { EURUSD: 1 / CASE.fx } };
    const trades = [share, abroad].map((form) => ({ underlying: form.on, ...paying(form.do) }));
    const results = await pricedOf(trades, marketOf(CASE), {}, "buckets");
    for (const [i, { exact }] of [share, abroad].entries())
      for (const [of, field] of [
        ["EUR", "eur"],
        ["USD", "usd"],
      ] as const) {
        const own = results[i].buckets!.filter((one) => one.factor === "rate" && one.of === of);
        const slope =
          (exact({ ...CASE, [field]: CASE[field] + 1e-5 }) - exact({ ...CASE, [field]: CASE[field] - 1e-5 })) / 2e-5;
        const sum = own.reduce((all, { value }) => all + value, 0);
        const error = own.reduce((all, { errorEstimate }) => all + errorEstimate!, 0);
        expect(own.length).toBeGreaterThan(0);
        expect(Math.abs(sum - slope), `of ${of}`).toBeLessThanOrEqual(error + 1e-6);
      }
    // A spot is delivered two business days later.
    const [late, option] = await pricedOf(
      [
        { underlying: "US", ...paying('pay(S, { currency: "USD" })') },
        {
          underlying: "US",
          payoff: { expression: "S" },
          expiry: CASE.to,
          composite: { currency: "EUR" },
        },
      ],
      market,
      {},
      "none",
    );
    expect(Math.abs(late.value - option.value)).toBeLessThanOrEqual(late.errorEstimate + option.errorEstimate);
  });

  test("do not depend on the direction of the pair, nor on the order of the book", async () => {
    const { underlyings, ...rest } = marketOf(CASE);
    const { USDEUR, ...shares } = underlyings;
    const correlations = rest.correlations.map(([a, b, rho]) => [
      a,
      b === "USDEUR" ? "EURUSD" : b,
      b === "EU" ? rho : -Number(rho),
    ]);
    const inverse = {
      ...rest,
      correlations,
      underlyings: { EURUSD: { fx: "EURUSD", volatility: CASE.sigmaX }, ...shares },
    };
    const trades = FORMS.map((form) => ({ underlying: form.on, ...paying(form.do) }));
    const results = await pricedOf(trades, inverse, {}, "none");
    for (const [i, { exact }] of FORMS.entries())
      expect(Math.abs(results[i].value - exact(CASE))).toBeLessThanOrEqual(results[i].errorEstimate);
    const turned = { ...rest, underlyings: { USDEUR, ...Object.fromEntries(Object.entries(shares).toReversed()) } };
    const [own] = await pricedOf(trades, marketOf(CASE), {}, "none");
    const again = await pricedOf(trades.toReversed(), turned, {}, "none");
    expect(again.at(-1)!.value).toBe(own.value);
  });

  test("on a pair itself are at its own spot", async () => {
    const underlying = "USDEUR";
    const [dollar, level] = await pricedOf([
      { underlying, ...paying('pay(100, { currency: "USD" })') },
      { underlying, currency: "USD", ...paying("pay(100 * S)") },
    ]);
    expect(Math.abs(dollar.value - 90 * Math.exp(-CASE.usd * CASE.to))).toBeLessThanOrEqual(dollar.errorEstimate);
    expect(dollar.delta).toBeCloseTo(100 * Math.exp(-CASE.usd * CASE.to), 2);
    // Its level paid in dollars: the mean of X under the measure of the dollar.
    const mean = CASE.fx * Math.exp((CASE.eur - CASE.usd + CASE.sigmaX ** 2) * CASE.to);
    expect(Math.abs(level.value - 100 * mean * Math.exp(-CASE.usd * CASE.to))).toBeLessThanOrEqual(level.errorEstimate);
  });

  test("that were decided in the past are owed in their currency", async () => {
    const trade = {
      underlying: "EU",
      script: { events: [{ on: "decided", do: 'if (S > 90) pay(S, { currency: "USD", on: paid })' }] },
      data: { decided: "2026-10-20", paid: 1 },
    };
    const market = { ...marketOf(CASE), fixings: { EU: { "2026-10-20": 95 } } };
    const scenarios = { spot: [0, 0.1], volatility: [0], rate: [0, 0.01], time: [0, 0.5] };
    const [{ value, delta, sensitivities, scenarios: moved }] = await pricedOf([trade], market, { scenarios });
    const worth = (fx: number, left: number, rate = 0): number => 95 * fx * Math.exp(-(CASE.usd + rate) * left);
    expect(value).toBeCloseTo(worth(0.9, 1), 12);
    expect(sensitivities?.["USDEUR"].delta ?? delta).toBeCloseTo(worth(1, 1), 6);
    expect(moved!.map((one) => one.map(([rates]) => rates))).toEqual(
      [1, 0.5].map((left) =>
        [0.9, 0.99].map((fx) => [0, 0.01].map((rate) => expect.closeTo(worth(fx, left, rate), 10))),
      ),
    );
  });
});

describe("underlyings in several currencies", () => {
  const WORST = { underlyings: ["US", "EU"], initial: [100, 100] };

  test("have the worst-of put of quanto options, in any order", { timeout: 60_000 }, async () => {
    const put = paying("pay(100 * max(1 - worst, 0))");
    const option = { underlyings: ["US", "EU"], payoff: { worstOf: "put" }, strike: 100, expiry: CASE.to };
    const book = readBook({
      asOf: AS_OF,
      market: marketOf(CASE),
      trades: [
        { id: "1", ...WORST, currency: "EUR", ...put },
        { id: "2", ...option, quanto: { currency: "EUR" } },
        { id: "3", ...WORST, underlyings: ["EU", "US"], ...put },
      ],
    });
    const [script, quantoPut, turned] = (await priceBook(book, { greeks: "none" })).results as readonly PricedTrade[];
    const within = script.errorEstimate + quantoPut.errorEstimate;
    expect(Math.abs(script.value - quantoPut.value)).toBeLessThanOrEqual(within);
    expect(turned.currency).toBe("EUR");
    expect(Math.abs(turned.value - quantoPut.value)).toBeLessThanOrEqual(
      turned.errorEstimate + quantoPut.errorEstimate,
    );
  });

  test("have the values of their markets in all scenarios", { timeout: 60_000 }, async () => {
    const trade = { ...WORST, ...paying('pay(100 * worst, { currency: "USD", on: paid })', { paid: CASE.to + 0.1 }) };
    const scenarios = { spot: [0, 0.05], volatility: [0, 0.02], rate: [0, 0.01] };
    const [result] = await pricedOf([trade], marketOf(CASE), { scenarios }, "none");
    const { scenarios: values, scenarioErrorEstimates: errors } = result;
    for (const [s, by] of scenarios.spot.entries())
      for (const [v, more] of scenarios.volatility.entries())
        for (const [r, rate] of scenarios.rate.entries()) {
          const { eur, usd, sigma, sigmaX } = CASE;
          const [spot, fx] = [CASE.spot * (1 + by), CASE.fx * (1 + by)];
          const volatilities = { sigma: sigma + more, sigmaX: sigmaX + more };
          const moved = { ...CASE, ...volatilities, spot, fx, eur: eur + rate, usd: usd + rate };
          const [own] = await pricedOf([trade], marketOf(moved), {}, "none");
          expect(Math.abs(values![0][s][v][r]! - own.value)).toBeLessThanOrEqual(errors![0][v][r]! + own.errorEstimate);
        }
  });
});

test("what is missing is an error that names it", async () => {
  const { correlations, underlyings, ...market } = marketOf(CASE);
  const { USDEUR, ...shares } = underlyings;
  const trade = { underlying: "US", ...paying("pay(S)") };
  const none = await errorOf(trade, { ...market, correlations: [], underlyings: shares });
  expect(none).toMatch(/no currency pair USDEUR or EURUSD; add "USDEUR": \{ "fx": "USDEUR", "volatility": … \}/);
  const flat = { ...market, correlations: [], underlyings: { ...shares, USDEUR } };
  expect(await errorOf(trade, flat)).toMatch(/market.correlations lacks "US" and "USDEUR"/);
  const still = { ...market, correlations, underlyings: { ...shares, USDEUR: { fx: "USDEUR" } } };
  expect(await errorOf(trade, still)).toMatch(/"USDEUR" has no volatility/);
  const cev = { cev: { sigma: 0.2, beta: 0.5 } };
  const local = {
    ...market,
    correlations,
    underlyings: { ...underlyings, US: { ...underlyings.US, volatility: cev } },
  };
  expect(await errorOf(trade, local)).toMatch(/the volatility of "US" depends on its spot/);
  expect(await errorOf({ ...trade, currency: "CHF" }, marketOf(CASE))).toMatch(/CHF/);
  const model = { hullWhite: { meanReversion: 0.1, volatility: 0.01, curve: 0.02 } };
  const random = { rates: { EUR: model }, underlyings: { EU: shares.EU } };
  expect(await errorOf({ underlying: "EU", ...paying("pay(S)") }, random)).toMatch(/stochastic short rate/);
});
