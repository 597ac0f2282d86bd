/** Heston's model from quotes, against the reference cases and its own prices. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { rmseOf } from "../../src/calibration/fit.ts";
import { HestonEngine } from "../../src/calibration/heston-engine.ts";
import { fitHeston, fitHestonOn } from "../../src/calibration/heston-fit.ts";
import { hestonSlice } from "../../src/calibration/heston-slices.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { dax, quotesOf } from "./quotes.ts";

type Parameters = Record<"v0" | "kappa" | "theta" | "sigma" | "rho", number>;
interface HestonCase {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly spot?: number;
    readonly days_to_expiry?: number[];
    readonly days?: number[];
    readonly zero_rates: number[];
    readonly strikes: number[] | string;
    readonly implied_volatilities?: number[][];
  };
  readonly expected: Parameters & { readonly rmse_vol: number };
  readonly tolerance: { readonly abs: number; readonly rel: number };
}
const NAMES = ["v0", "kappa", "theta", "sigma", "rho"] as const;
const covered = (readFixture("reference/calibration.json") as { cases: HestonCase[] }).cases.filter(({ product }) =>
  product.startsWith("heston_calibration"),
);

/** The quotes of a case; those of the market are the DAX's at other days and rates. */
function quotesOfCase({ params }: HestonCase): UnderlyingQuotes {
  const { spot = dax().spot, zero_rates: rates, strikes, implied_volatilities: implied } = params;
  const days = params.days_to_expiry ?? params.days!;
  return {
    spot,
    expiries: days.map((n, e) => {
      const forward = spot * Math.exp((rates[e] * n) / 365);
      const market = dax().expiries[e];
      const k = Array.isArray(strikes)
        ? strikes.map((strike) => Math.log(strike / forward))
        : Array.from(market.logMoneyness, (at) => at + Math.log(market.forward / forward));
      return quotesOf(n / 365, k, (_, i) => implied?.[e][i] ?? market.implied[i], forward, spot / forward);
    }),
  };
}

describe("Heston's model from quotes", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu", threads: 1 });
  });
  afterAll(() => device[Symbol.dispose]());

  it.each(covered.map((c) => [c.id, c] as const))("%s", async (_, c) => {
    const quotes = quotesOfCase(c);
    const [fit, onDevice] = [fitHeston(quotes), await fitHestonOn(device, quotes)];
    for (const one of [fit, onDevice]) {
      expect(one.status).toBe("converged");
      for (const name of NAMES) {
        const wanted = c.expected[name];
        const bound = c.tolerance.abs + c.tolerance.rel * Math.abs(wanted);
        expect(Math.abs((one.parameters[name] as number) - wanted)).toBeLessThanOrEqual(bound);
      }
    }
    expect(rmseOf(quotes, fit.impliedVolatility)).toBeLessThanOrEqual(c.expected.rmse_vol + 1e-7);
    expect(fit.butterfly.free && fit.calendar.free).toBe(true);
  });

  it("has derivatives that agree with differences, and volatilities with the host's", async () => {
    const quotes = dax();
    const point = Float64Array.of(0.19, 15.6, 0.0746, 3.3, -0.51);
    using engine = await HestonEngine.create(device, quotes, 11);
    const width = 1e-5;
    const moved = NAMES.flatMap((_, j) => [1, -1].map((side) => point.with(j, point[j] * (1 + side * width))));
    const [at, ...others] = await engine.volatilities([point, ...moved]);
    for (let q = 0; q < engine.count; q += 7) {
      for (let j = 0; j < 5; j++) {
        const difference = (others[2 * j][6 * q] - others[2 * j + 1][6 * q]) / (2 * width * point[j]);
        expect(Math.abs(at[6 * q + 1 + j] - difference)).toBeLessThan(1e-6 * (Math.abs(difference) + 1e-2));
      }
    }
    const slice = hestonSlice(point, quotes.expiries[0].time, 0.3);
    quotes.expiries[0].logMoneyness.forEach((k, i) => expect(slice.volatility(k)).toBeCloseTo(at[6 * i], 8));
  });
});
