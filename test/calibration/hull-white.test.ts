/** Hull and White's model from caps and swaptions, against the reference cases and by round trips. */
import { describe, expect, it } from "vitest";
import {
  type DiscountFunction,
  fitHullWhite,
  hullWhitePrice,
  type RateQuote,
} from "../../src/calibration/hull-white.ts";
import { readFixture } from "../support/fixtures.ts";
import { uniform } from "./uniform.ts";

interface RatesCase {
  readonly id: string;
  readonly product: string;
  readonly params: Record<"curve_times" | "curve_zero_rates" | "prices" | "strikes" | "cap_maturities", number[]> & {
    readonly instruments: "caps" | "swaptions";
    readonly payer_swaptions: [number, number][];
  };
  readonly expected: Record<"mean_reversion" | "volatility", number>;
}
const covered = (readFixture("reference/calibration.json") as { cases: RatesCase[] }).cases.filter(
  ({ product }) => product === "hull_white_calibration",
);

/** z(t)·t is linear between the curve's times. */
function curveOf({ curve_times: times, curve_zero_rates: rates }: RatesCase["params"]): DiscountFunction {
  return (t) => {
    if (t <= times[0]) return Math.exp(-rates[0] * t);
    const i = times.findIndex((time) => time >= t);
    const share = (t - times[i - 1]) / (times[i] - times[i - 1]);
    return Math.exp(-(1 - share) * rates[i - 1] * times[i - 1] - share * rates[i] * times[i]);
  };
}

function quotesOf({ prices, strikes, instruments, ...of }: RatesCase["params"]): RateQuote[] {
  return prices.map((price, i): RateQuote => {
    const strike = strikes[i];
    if (instruments === "caps")
      return { kind: "cap", start: 0.5, maturity: of.cap_maturities[i], frequency: 2, strike, price };
    const [expiry, length] = of.payer_swaptions[i];
    return { kind: "swaption", type: "payer", expiry, length, frequency: 1, strike, price };
  });
}

describe("Hull and White's model from quotes", () => {
  it.each(covered.map((c) => [c.id, c] as const))("%s", (_, { params, expected }) => {
    const fit = fitHullWhite(quotesOf(params), curveOf(params));
    expect(fit.status).toBe("converged");
    expect(Math.abs(fit.parameters.meanReversion - expected.mean_reversion)).toBeLessThan(1e-7);
    expect(Math.abs(fit.parameters.volatility - expected.volatility)).toBeLessThan(1e-8);
    expect(fit.rmse).toBeLessThan(1e-12);
  });

  it("recovers random parameters from payers and receivers", () => {
    const next = uniform(34);
    const discount = curveOf(covered[0].params);
    for (let i = 0; i < 100; i++) {
      const parameters = { meanReversion: -0.05 + 0.4 * next(), volatility: 0.004 + 0.03 * next() };
      const quotes = [1, 2, 5, 7].flatMap((expiry) =>
        [1, 4, 8].map((length): RateQuote => {
          const type = next() < 0.5 ? "payer" : "receiver";
          return { kind: "swaption", type, expiry, length, frequency: 2, strike: 0.037 + 0.008 * next(), price: 1 };
        }),
      );
      const priced = quotes.map((quote) => ({ ...quote, price: hullWhitePrice(quote, discount, parameters) }));
      const fit = fitHullWhite(priced, discount);
      expect(Math.abs(fit.parameters.meanReversion - parameters.meanReversion)).toBeLessThan(1e-7);
      expect(Math.abs(fit.parameters.volatility / parameters.volatility - 1)).toBeLessThan(1e-7);
    }
  });

  it("refuses quotes that it cannot be fitted to, by their place", () => {
    const [quote] = quotesOf(covered[0].params);
    const discount = curveOf(covered[0].params);
    expect(() => fitHullWhite([quote], discount)).toThrow("expected at least 2");
    expect(() => fitHullWhite([quote, { ...quote, price: 0 }], discount)).toThrow("quotes[1].price: got 0");
    const broken: RateQuote = { kind: "cap", start: 0.5, maturity: 2.3, frequency: 2, strike: 0.03, price: 0.01 };
    expect(() => fitHullWhite([quote, broken], discount)).toThrow(
      "quotes[1].maturity: got 2.3, expected a whole number",
    );
  });
});

it("a price that no volatility gives is refused by name before the fit", () => {
  const draw = uniform(13);
  const discount = (t: number): number => Math.exp(-0.03 * t);
  for (let round = 0; round < 20; round++) {
    const type = draw() < 0.5 ? ("payer" as const) : ("receiver" as const);
    const terms = {
      expiry: 0.5 + 5 * draw(),
      length: 1 + Math.floor(8 * draw()),
      frequency: 1,
      strike: 0.01 + 0.04 * draw(),
    };
    const quote = (price: number): RateQuote => ({ kind: "swaption", type, ...terms, price });
    const model = { meanReversion: 0.05, volatility: 0.01 };
    const price = hullWhitePrice(quote(0), discount, model);
    const near = hullWhitePrice({ ...quote(0), expiry: 1 } as RateQuote, discount, model);
    const other = { ...quote(near), expiry: 1 } as RateQuote;
    expect(fitHullWhite([quote(price), other], discount).rmse).toBeLessThan(1e-6);
    expect(() => fitHullWhite([other, quote(1.5 + 100 * draw())], discount)).toThrow(
      /quotes\[1\]\.price: .* above its bound/,
    );
  }
});
