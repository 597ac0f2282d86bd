/** Trades in several factors against values that are known without a mesh. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const RATE = 0.03;
const sabr = { alpha: 2, beta: 0.5, nu: 0.4, rho: -0.3 };
const marketOf = (alpha: number): BookInput["market"] => ({
  rates: { EUR: RATE },
  underlyings: {
    A: { spot: 100, currency: "EUR", volatility: 0.3 },
    B: { spot: 90, currency: "EUR", volatility: 0.2 },
    R: { spot: 100, currency: "EUR", volatility: { sabr: { ...sabr, alpha } } },
    H: {
      spot: 100,
      currency: "EUR",
      volatility: { heston: { v0: 0.04, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.7 } },
    },
  },
  correlations: [["A", "B", 0.5]],
});

async function price(trade: object, method: "adi" | "auto" = "adi", alpha = sabr.alpha): Promise<PricedTrade> {
  const trades = [{ id: "1", ...trade }] as unknown as BookInput["trades"];
  const book = readBook({ asOf: "2026-01-01", market: marketOf(alpha), trades });
  const [result] = (await priceBook(book, { device, method, accuracy: { relative: 1e-4 } })).results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

const two = { underlyings: ["A", "B"], payoff: { bestOf: "call" }, strike: 100, expiry: 1 };

test("a knock-in that cannot be reached is its rebate, discounted from expiry", async () => {
  const { value } = await price({ ...two, barriers: [{ type: "down-and-in", level: 0.5, rebate: 4 }] });
  expect(value).toBeCloseTo(4 * Math.exp(-RATE), 2);
});

test("a rebate that is sure, and paid at expiry, grows with time and falls with the rate", async () => {
  const barrier = { type: "up-and-out", level: 95, rebate: 4, rebateAt: "expiry" };
  const { value, theta, rho } = await price({ ...two, barriers: [barrier] });
  expect(value).toBeCloseTo(4 * Math.exp(-RATE), 12);
  expect(theta).toBeCloseTo(RATE * value, 12);
  expect(rho).toBeCloseTo(-value, 12);
});

describe("vega", () => {
  const call = { payoff: "call", strike: 105, expiry: 0.5 };

  test("of SABR's model is the difference of prices by today's volatility α·S^(β − 1)", async () => {
    const h = 0.02;
    const [up, down] = [
      await price({ ...call, underlying: "R" }, "adi", sabr.alpha + h),
      await price({ ...call, underlying: "R" }, "adi", sabr.alpha - h),
    ];
    const { vega } = await price({ ...call, underlying: "R" });
    const slope = ((up.value - down.value) / (2 * h)) * 100 ** (1 - sabr.beta);
    expect(vega! / slope).toBeCloseTo(1, 2);
  });

  test("of Heston's model, by √v₀", async () => {
    const [mesh, exact] = [
      await price({ ...call, underlying: "H" }),
      await price({ ...call, underlying: "H" }, "auto"),
    ];
    expect([mesh.method, exact.method]).toEqual(["adi", "heston"]);
    expect(mesh.vega! / exact.vega!).toBeCloseTo(1, 1);
  });
});

test("a formula of a ratio and of powers is the closed form of a log-normal number", async () => {
  const { value, errorEstimate } = await price({
    underlyings: ["A", "B"],
    payoff: { expression: "max(100*S1^0.5/S2^0.5 - 100, 0)" },
    expiry: 1,
  });
  // ½·ln(S₁/S₂) is normal.
  const variance = 0.25 * (0.3 ** 2 + 0.2 ** 2 - 2 * 0.5 * 0.3 * 0.2);
  const mean = 0.5 * (Math.log(100 / 90) - 0.5 * 0.3 ** 2 + 0.5 * 0.2 ** 2);
  const d = mean / Math.sqrt(variance);
  const paid = 100 * (Math.exp(mean + 0.5 * variance) * normalCdf(d + Math.sqrt(variance)) - normalCdf(d));
  expect(Math.abs(value - Math.exp(-RATE) * paid)).toBeLessThan(errorEstimate);
});
