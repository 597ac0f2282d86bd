/** Implied volatilities against mpmath's to 30 digits, the reference case, bounds, and every device. */
import { afterAll, describe, expect, test } from "vitest";
import {
  blackDeviation,
  type ForwardOptions,
  impliedVolatilities,
  normalDeviation,
  QuoteStatus,
} from "../../src/calibration/index.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { readFixture } from "../support/fixtures.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));

type Quote = readonly [
  forward: number,
  strike: number,
  price: number,
  sign: number,
  implied: number,
  condition: number,
];
const quotes = readFixture("calibration/implied.json") as Record<"black" | "normal", readonly Quote[]>;

const optionsOf = (of: readonly Quote[]): ForwardOptions => ({
  forward: Float64Array.from(of, ([forward]) => forward),
  strike: Float64Array.from(of, ([, strike]) => strike),
  price: Float64Array.from(of, ([, , price]) => price),
  sign: Float64Array.from(of, ([, , , sign]) => sign),
  expiry: new Float64Array(of.length).fill(1),
});

const [reference] = (readFixture("reference/calibration.json") as { cases: readonly any[] }).cases;

test("the reference case, each to the accuracy that its price determines", () => {
  const { forward, strike, expiry, option_type: types, price } = reference.params;
  reference.expected.implied_volatility.forEach((expected: number, i: number) => {
    const sign = types[i] === "call" ? 1 : -1;
    const { deviation } = blackDeviation({
      quoted: { forward: forward[i], strike: strike[i], price: price[i], sign },
    });
    const error = Math.abs(deviation / Math.sqrt(expiry[i]) / expected - 1);
    expect(error).toBeLessThan(Math.max(1e-14, reference.tolerance_rel_each[i]));
  });
});

describe.each(devices)("$label", ({ device, missing }) => {
  // In emulated double the smallest prices underflow.
  const isDouble = device !== undefined && device.precisions.includes("f64");
  test.skipIf(!isDouble).each(["black", "normal"] as const)(
    `%s, to 1e-14 or what the price determines ${missing}`,
    async (model) => {
      const { volatility, status } = await impliedVolatilities(device!, optionsOf(quotes[model]), model);
      quotes[model].forEach(([, , , , implied, condition], i) => {
        expect(status[i]).toBe(QuoteStatus.implied);
        expect(Math.abs(volatility[i] / implied - 1)).toBeLessThan(1e-14 * Math.max(1, condition));
      });
    },
  );
});

test("a price outside of its bounds has a status and no number", () => {
  const black = (price: number, sign: number, strike = 90) =>
    blackDeviation({ quoted: { forward: 100, strike, price, sign } });
  expect(black(9.99, 1)).toEqual({ deviation: Number.NaN, status: QuoteStatus.belowIntrinsic });
  expect(black(-1e-300, -1)).toEqual({ deviation: Number.NaN, status: QuoteStatus.belowIntrinsic });
  expect(black(100, 1)).toEqual({ deviation: Number.NaN, status: QuoteStatus.aboveBound });
  expect(black(90, -1)).toEqual({ deviation: Number.NaN, status: QuoteStatus.aboveBound });
  expect(black(Number.NaN, 1)).toEqual({ deviation: Number.NaN, status: QuoteStatus.belowIntrinsic });
  expect(black(1, 1, 0)).toEqual({ deviation: Number.NaN, status: QuoteStatus.notPositive });
  expect(black(10, 1)).toEqual({ deviation: 0, status: QuoteStatus.implied });
  const normal = (price: number) => normalDeviation({ quoted: { forward: -1, strike: 2, price, sign: -1 } });
  expect(normal(2.9)).toEqual({ deviation: Number.NaN, status: QuoteStatus.belowIntrinsic });
  expect(normal(3)).toEqual({ deviation: 0, status: QuoteStatus.implied });
});
