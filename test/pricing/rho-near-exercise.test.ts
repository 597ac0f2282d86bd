/** Rho of options that are exercised early, near the exercise boundary and a rate of 0, beside their own values. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../src/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const options = { device, greeks: "all", sensitivityErrorEstimates: true } as const;

async function price(book: BookInput, accuracy?: number): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(readBook(book), {
    ...options,
    ...(accuracy === undefined ? {} : { accuracy: { relative: accuracy } }),
  });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("a week before expiry it is that of the integral equation", async () => {
  const trades = [
    [106, 7],
    [105, 14],
    [103, 7],
    [100, 7],
    [98, 30],
    [107, 90],
  ].map(([strike, days]) => ({ id: `${strike}`, underlying: "A", payoff: "put", strike, expiry: days / 365 }));
  const market = { underlyings: { A: { spot: 100, currency: "C", volatility: 0.2 } } };
  const book = {
    asOf: "2026-01-01",
    market: { ...market, rates: { C: 0.02 } },
    trades: trades.map((trade) => ({ ...trade, exercise: "american" })),
  } as const;
  const exact = await price({ ...book, method: "integral" } as BookInput);
  const found = await price({ ...book, method: "fdm" } as BookInput);
  for (const [i, { rho, id, sensitivityErrorEstimates: errors }] of found.entries()) {
    expect(Math.abs(rho! - exact[i].rho!), `${id}: ${rho} instead of ${exact[i].rho}`).toBeLessThan(errors!.rho!);
    // An estimate that covers all says nothing.
    expect(errors!.rho!).toBeLessThan(0.15 * Math.abs(exact[i].rho!) + 0.01);
  }
});

test("a digital that waits while rates are negative has the rho of a bond", async () => {
  // Exercised at expiry, as a spot far below the strike is sure to stay there: cash·exp(−r·T).
  const [rate, expiry, cash] = [-0.005, 0.25, 10];
  const book = {
    asOf: "2026-01-01",
    market: { rates: { C: rate }, underlyings: { A: { spot: 50, currency: "C", volatility: 0.2 } } },
    trades: [{ id: "1", underlying: "A", payoff: { digital: "put", cash }, strike: 100, expiry, exercise: "american" }],
    method: "fdm",
  } as const satisfies BookInput;
  const [{ rho, sensitivityErrorEstimates: errors }] = await price(book);
  const exact = -expiry * cash * Math.exp(-rate * expiry);
  expect(Math.abs(rho! - exact)).toBeLessThan(errors!.rho!);
  expect(Math.abs(rho! / exact - 1)).toBeLessThan(1e-2);
});

test("a knock-out whose holder exercises before the barrier has the slope of its scenarios", async () => {
  const move = 1e-4;
  const book: BookInput = {
    asOf: "2026-01-01",
    market: {
      rates: { C: 0.0176 },
      underlyings: { A: { spot: 798.3, currency: "C", volatility: 0.2577, dividends: { yield: 0.0155 } } },
    },
    trades: [
      {
        id: "1",
        underlying: "A",
        payoff: "call",
        strike: 717,
        expiry: 1.386,
        exercise: "american",
        barriers: [{ type: "down-and-out", level: 741 }],
      },
    ],
    scenarios: { rate: [-move, move] },
  };
  const [{ rho, sensitivityErrorEstimates: errors, scenarios }] = await price(book);
  const [down, up] = (scenarios as readonly unknown[]).flat(3) as readonly number[];
  const slope = (up - down) / (2 * move);
  expect(Math.abs(rho! - slope), `${rho} instead of ${slope}`).toBeLessThan(errors!.rho!);
  expect(errors!.rho!).toBeLessThan(0.15 * Math.abs(slope));
});
