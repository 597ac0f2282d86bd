/** Theta of rights at any time beside the values of later books. */
import { expect, test } from "vitest";
import { readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const curve = 0.03;
const models = {
  HW: { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve } },
  GG: { g2: { a: 0.1, sigma: 0.008, b: 0.5, eta: 0.006, rho: -0.5, curve } },
  BK: { blackKarasinski: { meanReversion: 0.1, volatility: 0.2, curve } },
};
const bond = { maturity: "2032-02-15", coupon: 0.035, frequency: 1, notional: 100 };
const option = { payoff: "put", strike: 99, strikeIs: "clean", exercise: "american", on: { bond } };

test("theta is the slope between today and less than a day later", async () => {
  using device = createCpuDevice({ threads: 1 });
  const later = 0.002;
  const trades = Object.keys(models).flatMap((currency) => [
    { id: `${currency} option`, currency, ...option, expiry: "2028-05-15" },
    // A whole number of years: the dates of a month each are still a month each a day later.
    { id: `${currency} years`, currency, ...option, expiry: 2 },
    { id: `${currency} calls`, currency, bond: { ...bond, calls: [{ from: 0, to: 3, price: 103 }] } },
  ]);
  const market = { rates: models };
  const book = readBook({ asOf: "2026-11-20", market, trades, scenarios: { time: [0, later] } });
  const { results } = await priceBook(book, { device });
  for (const result of results) {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    const [[[[today]]], [[[next]]]] = result.scenarios as number[][][][];
    const slope = (next - today) / later;
    expect(Math.abs(result.theta! - slope), `theta of ${result.id}`).toBeLessThan(0.01 * Math.abs(slope) + 0.005);
  }
});
