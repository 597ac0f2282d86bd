/** The oracles of the property checks, against values of 40 digits that others published or computed. */
import { describe, expect, it } from "vitest";
import { type Case, cases } from "../pricing/reference.ts";
import {
  aroundKink,
  blackScholes,
  CASH,
  cev,
  expectation,
  type Lognormal,
  oneTouch,
  piecesOf,
  survivingValue,
} from "../../tools/properties/closed-forms.ts";
import { cdf } from "../../tools/properties/normal.ts";

const model = ({ spot, rate, dividend_yield, volatility, maturity }: Case["params"]): Lognormal => ({
  spot,
  rate,
  yield: dividend_yield ?? 0,
  volatility,
  expiry: maturity,
});

/** 1e-9 of the spot: what the checks allow for rounding. */
function expectPrice({ params, expected }: Pick<Case, "params" | "expected">, price: number): void {
  expect(Math.abs(price - expected["price"]) / (params["spot"] ?? params["forward"])).toBeLessThan(1e-9);
}

it("Φ: to 13 digits, in the tail too (Abramowitz & Stegun, table 26.1 and 26.2)", () => {
  const known = [
    [0, 0.5],
    [1, 0.8413447460685429],
    [-1, 0.15865525393145705],
    [-5, 2.8665157187919391e-7],
    [-10, 7.61985302416053e-24],
  ];
  for (const [x, value] of known) expect(cdf(x) / value).toBeCloseTo(1, 13);
});

describe("closed forms", () => {
  it.each(cases("european-vanilla").filter(({ params }) => params["volatility"] > 0))("$id", (c) => {
    const { option_type: right, strike } = c.params;
    expectPrice(c, blackScholes(model(c.params), right, strike));
  });

  it.each(cases("digital").filter(({ product }) => product === "cash_or_nothing"))("$id", (c) => {
    const { option_type: right, strike, cash } = c.params;
    expectPrice(c, survivingValue(model(c.params), piecesOf(`digital-${right}` as "digital-put", strike, cash)));
  });

  it.each(cases("barrier-single").filter(({ product }) => product.startsWith("barrier")))("$id", (c) => {
    const { option_type: right, strike, barrier, rebate = 0, spot } = c.params;
    const [market, ends] = [model(c.params), barrier < spot ? ([barrier] as const) : ([0, barrier] as const)];
    const out = survivingValue(market, piecesOf(right, strike), ...ends);
    const price = c.product.endsWith("out")
      ? out + rebate * oneTouch(market, barrier)
      : blackScholes(market, right, strike) - out + rebate * survivingValue(market, CASH, ...ends);
    expectPrice(c, price);
  });

  it.each(cases("barrier-double"))("$id", (c) => {
    const { option_type: right, strike, lower, upper } = c.params;
    const out = survivingValue(model(c.params), piecesOf(right, strike), lower, upper);
    expectPrice(c, c.product.endsWith("out") ? out : blackScholes(model(c.params), right, strike) - out);
  });

  it.each(cases("local-volatility").filter(({ product }) => product === "european_cev_forward"))("$id", (c) => {
    const { option_type: right, forward, strike, alpha, beta, maturity, rate } = c.params;
    expectPrice(c, cev({ spot: forward, rate, yield: rate, expiry: maturity }, alpha, beta, right === "call", strike));
  });

  it.each(cases("discrete-dividends").filter(isOneDividend))("$id", (c) => {
    const { option_type: right, strike, dividends, maturity } = c.params;
    const [date, cash] = dividends[0] as [number, number];
    const market = model(c.params);
    const after = { ...market, expiry: maturity - date };
    const deviation = market.volatility * Math.sqrt(after.expiry);
    const paid = (spot: number): number =>
      spot > cash
        ? blackScholes({ ...after, spot: spot - cash }, right, strike)
        : right === "put"
          ? strike * Math.exp(-after.rate * after.expiry)
          : 0;
    const breaks = [0, ...aroundKink(strike, deviation)].map((spot) => spot + cash);
    const { tolerance, expected } = c;
    const error = Math.abs(expectation({ ...market, expiry: date }, paid, breaks) - expected["price"]);
    expect(error).toBeLessThan(tolerance.abs + tolerance.rel * expected["price"]);
  });
});

function isOneDividend({ product, params }: Case): boolean {
  return product === "european_spot_dividends" && (params["dividends"] as unknown[]).length === 1;
}
