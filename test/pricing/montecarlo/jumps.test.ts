/** Greeks of payoffs that jump, as differences along the same paths: against closed forms and a quadrature. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { type PricingOptions, priceBook } from "../../../src/pricing/index.ts";
import { readBook } from "../../../src/book/index.ts";
import { Random } from "../../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const GREEKS = ["delta", "gamma", "theta", "vega", "rho"] as const;

/** A digital on one underlying, with a barrier on a few dates in some cases. */
function draw(random: Random, hasBarrier: boolean) {
  const [volatility, expiry] = [random.uniform(0.08, 0.6), Math.exp(random.uniform(-4, 1.5))];
  const width = volatility * Math.sqrt(expiry);
  const isUp = random.uniform(0, 1) < 0.5;
  const level = 100 * Math.exp((isUp ? 1 : -1) * width * random.uniform(0.3, 1.5));
  const right = random.choice(["call", "put"] as const);
  const count = 1 + Math.floor(random.uniform(0, 3));
  const monitoring = Array.from({ length: count }, (_, k) => (expiry * (k + 1)) / count);
  const barriers = [{ type: isUp ? "up-and-out" : "down-and-out", level, monitoring }];
  const dividends = { yield: random.uniform(0, 0.05) };
  return {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: random.uniform(-0.02, 0.08) },
      underlyings: { A: { spot: 100, currency: "EUR", dividends, volatility } },
    },
    trades: [
      {
        id: "1",
        underlying: "A",
        strike: 100 * Math.exp(0.8 * width * random.normal()),
        expiry,
        payoff: hasBarrier ? right : { digital: right, cash: 100 },
        ...(hasBarrier ? { barriers } : {}),
      },
    ],
  };
}

const CASES: Readonly<Record<string, { readonly hasBarrier: boolean; readonly by: PricingOptions }>> = {
  "digitals, beside closed forms": { hasBarrier: false, by: {} },
  "barriers on dates, beside finite differences": {
    hasBarrier: true,
    by: { method: "fdm", accuracy: { relative: 1e-5 } },
  },
};

test.each(Object.entries(CASES))("estimates cover: %s", async (_, { hasBarrier, by }) => {
  const random = new Random(7);
  const outside: unknown[] = [];
  let count = 0;
  for (let k = 0; k < 20; k++) {
    const book = readBook(draw(random, hasBarrier));
    const priced = async (options: PricingOptions) => {
      const all = { device, greeks: "all", sensitivityErrorEstimates: true, ...options } as const;
      const [result] = (await priceBook(book, all)).results;
      if (result.status !== "ok") throw new Error(result.error.message);
      return result;
    };
    const [found, known] = [await priced({ method: "montecarlo" }), await priced(by)];
    for (const name of GREEKS) {
      const estimate = found.sensitivityErrorEstimates![name]!;
      const own = hasBarrier ? known.sensitivityErrorEstimates![name]! : 1e-9 * Math.abs(known[name]!);
      const multiple = (Math.abs(found[name]! - known[name]!) - own) / estimate;
      if (!(multiple <= 1)) outside.push({ k, name, multiple });
      expect(estimate).toBeGreaterThan(0);
      count++;
    }
  }
  // 98 % of 100.
  expect(count).toBe(100);
  expect(outside.slice(2)).toEqual([]);
});
