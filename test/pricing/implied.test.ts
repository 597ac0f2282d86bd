/** Implied volatilities of prices that others have computed at known volatilities, rounded as prices are. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDevice } from "../../src/device/index.ts";
import { impliedVolatilities, type QuotedOption } from "../../src/pricing/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { normalCdf } from "../support/normal.ts";
import { quantLibCases, tradeOf } from "./quantlib-cases.ts";
import { trade } from "./reference.ts";

/** A price with the volatility that it was made at. */
interface Known {
  readonly quote: QuotedOption;
  readonly volatility: number;
}

const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

/** Every volatility comes back within its estimate, and what has none is worth its value without volatility. */
async function expectFound(known: readonly Known[], accuracy: number): Promise<void> {
  using device = await openDevice({ backend: "cpu" });
  const context = { asOf: "2026-11-20" };
  const options = { device, accuracy: { relative: accuracy } };
  const found = await impliedVolatilities(
    known.map(({ quote }) => quote),
    context,
    options,
  );
  let least = 0;
  found.forEach((one, i) => {
    const { volatility } = known[i];
    if (one.volatility === null) {
      least++;
      expect([one.reason, i]).toEqual([expect.stringMatching(/says nothing of the volatility$/), i]);
      return;
    }
    const off = Math.abs(one.volatility - volatility);
    expect([i, off, off <= (one.errorEstimate ?? Infinity)]).toEqual([i, off, true]);
  });
  expect(least).toBeLessThan(0.5 * known.length);
}

test.each(["american", "american-random", "dividends"] as const)(
  "QuantLib's prices of %s options give the volatilities that they were made at",
  async (name) => {
    const cases = quantLibCases(name).filter((_, i, { length }) => length < 100 || i % 25 === 0);
    const known = cases.map((one, i): Known => {
      const decimals = 2 + (i % 5);
      const own = one.moved ?? 1e-6 * one.spot;
      const price = rounded(one.price, decimals);
      // The volatility of the option does not count.
      const option = { ...tradeOf(one), volatility: flatVolatility(7) };
      return { quote: { option, price, priceError: 0.5 * 10 ** -decimals + own }, volatility: one.vol };
    });
    await expectFound(known, 1e-6);
  },
);

test("Black's prices at random volatilities give these back, to rounding where they are not rounded", async () => {
  const numbers = fc.record({
    right: fc.constantFrom("call" as const, "put" as const),
    logMoneyness: fc.double({ min: -0.7, max: 0.7, noNaN: true }),
    expiry: fc.double({ min: 0.01, max: 5, noNaN: true }),
    rate: fc.double({ min: -0.02, max: 0.1, noNaN: true }),
    yield: fc.double({ min: 0, max: 0.08, noNaN: true }),
    volatility: fc.double({ min: 0.02, max: 1.5, noNaN: true }),
    decimals: fc.constantFrom(2, 4, 8),
  });
  const known = fc.sample(numbers, 200).map((one): Known => {
    const { right, rate, expiry, volatility, decimals } = one;
    const forward = 100 * Math.exp((rate - one.yield) * expiry);
    const strike = 100 * Math.exp(one.logMoneyness);
    const deviation = volatility * Math.sqrt(expiry);
    const d1 = Math.log(forward / strike) / deviation + 0.5 * deviation;
    const sign = right === "call" ? 1 : -1;
    const black = sign * (forward * normalCdf(sign * d1) - strike * normalCdf(sign * (d1 - deviation)));
    const price = rounded(Math.exp(-rate * expiry) * black, decimals);
    const option = trade({
      payoff: { kind: "vanilla", right, strike },
      exercise: { kind: "european" },
      expiry,
      volatility: flatVolatility(0.2),
      market: { spot: 100, rates: constant(rate), dividends: dividendSchedule(one.yield, []) },
    });
    return { quote: { option, price, priceError: 0.5 * 10 ** -decimals + 1e-9 }, volatility };
  });
  await expectFound(known, 1e-6);
});

test("an estimate reaches to the volatilities of the lowest and highest price, and not far beyond", async () => {
  using device = await openDevice({ backend: "cpu" });
  const [option] = quantLibCases("american").map(tradeOf);
  const price = 1.5 * quantLibCases("american")[0].price;
  const impliedOf = async (at: number, priceError: number) => {
    const [found] = await impliedVolatilities([{ option, price: at, priceError }], { asOf: "2026-11-20" }, { device });
    if (found.volatility === null) throw new Error(found.reason);
    return found;
  };
  const { volatility, errorEstimate } = await impliedOf(price, 0.1);
  const [low, high] = [(await impliedOf(price - 0.1, 0)).volatility, (await impliedOf(price + 0.1, 0)).volatility];
  const reach = Math.max(volatility - low, high - volatility);
  expect(errorEstimate).toBeGreaterThanOrEqual(reach * (1 - 1e-3));
  expect(errorEstimate).toBeLessThan(1.5 * reach);
});

test("a price that no volatility gives says why", async () => {
  using device = await openDevice({ backend: "cpu" });
  const option = trade({
    payoff: { kind: "vanilla", right: "put", strike: 120 },
    exercise: { kind: "american" },
    expiry: 1,
    volatility: flatVolatility(0.2),
    market: { spot: 100, rates: constant(0.05), dividends: dividendSchedule(0, []) },
  });
  const european = { ...option, exercise: { kind: "european" as const } };
  const quotes = [
    [option, 19.5],
    [option, 20],
    [option, 121],
    [european, 10],
    [{ ...option, expiry: 0 }, 20],
    [option, Number.NaN],
  ] as const;
  const found = await impliedVolatilities(
    quotes.map(([of, price]) => ({ option: of, price, priceError: 0.005 })),
    { asOf: "2026-11-20" },
    { device },
  );
  expect(found.map((one) => one.volatility === null && one.reason)).toEqual([
    "the price 19.5 is below the value of exercise, 20, which is the value without volatility",
    "the price 20 is the value of exercise, and says nothing of the volatility",
    expect.stringMatching(/^no volatility up to 2000 % gives the price 121: the option is worth \d/),
    expect.stringMatching(/^the price 10 is below the discounted intrinsic value, 14\.147/),
    "the option has expired, so that its price has no volatility",
    "expected a price from 0 on, got NaN",
  ]);
});
