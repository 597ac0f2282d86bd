/** Random numbers belong to a trade's terms: one value in any book, and errors of trades that are independent. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, readBook, type Trade } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { streamOf } from "../../../src/pricing/methods/montecarlo/montecarlo.ts";
import { onUnderlyings } from "../../support/on-underlyings.ts";

const [device, threads] = [createCpuDevice({ threads: 1 }), createCpuDevice({ threads: 3 })];
afterAll(() => {
  for (const one of [device, threads]) one[Symbol.dispose]();
});

const names = ["A", "B", "C", "D"];
const market = {
  rates: { EUR: 0.03 },
  underlyings: Object.fromEntries(
    names.map((name, i) => [name, { spot: 100, currency: "EUR", volatility: 0.2 + 0.05 * i }]),
  ),
  correlations: names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, 0.5] as const)),
};
const months = Array.from({ length: 12 }, (_, k) => (k + 1) / 12);
type Trades = BookInput["trades"];
const bookOf = (trades: Trades, rest: Partial<BookInput> = {}): BookInput => ({
  asOf: "2026-01-01",
  market,
  trades,
  ...rest,
});

const asian = (id: string, strike: number) =>
  ({
    id,
    underlying: "A",
    payoff: "call",
    strike,
    expiry: 1,
    average: { kind: "arithmetic", dates: months },
  }) as const;
const worst = (id: string, strike: number) =>
  ({ id, underlyings: names, payoff: { worstOf: "put" }, strike, expiry: 1, exercise: [0.5, 1] }) as const;
const lookback = (id: string, spot: string) =>
  ({
    id,
    underlying: spot,
    payoff: "call",
    expiry: 1,
    lookback: { strike: "floating", monitoring: months },
  }) as const;

const trades = [
  asian("1", 100),
  worst("2", 90),
  lookback("3", "A"),
  worst("4", 90),
  asian("5", 105),
  lookback("6", "B"),
  { ...worst("7", 90), quantity: -3 },
  worst("8", 95),
];

type Options = Omit<Parameters<typeof priceBook>[1], "device">;

async function priced(
  some: Trades,
  options: Options = {},
  on = device,
): Promise<ReadonlyMap<string | null, PricedTrade>> {
  const { results } = await priceBook(readBook(bookOf(some)), { device: on, ...options });
  return new Map(
    results.map((result) => {
      if (result.status === "error") throw new Error(result.error.message);
      return [result.id, result];
    }),
  );
}

/** What a result says of the trade. */
const saidOf = ({ value, errorEstimate, delta, gamma, theta, vega, rho, sensitivities }: PricedTrade) => ({
  value,
  errorEstimate,
  delta,
  gamma,
  theta,
  vega,
  rho,
  sensitivities,
});

describe("one value in any book", async () => {
  const whole = await priced(trades);
  const expectSame = async (some: Trades, options?: Options, on?: typeof device): Promise<void> => {
    for (const [id, result] of await priced(some, options, on)) expect(saidOf(result)).toEqual(saidOf(whole.get(id)!));
  };

  test("in another order", () => expectSame(trades.toReversed()));
  test("in parts", async () => {
    await expectSame(trades.slice(0, 3));
    await expectSame(trades.slice(3));
  });
  test("filtered", () => expectSame(trades.filter((_, i) => i % 2 === 1)));
  test("in batches of two", () => expectSame(trades, { batchSize: 2 }));
  test("on three threads", () => expectSame(trades, {}, threads));
  test("the same trade three times", () => {
    const [first, ...others] = ["2", "4", "7"].map((id) => saidOf(whole.get(id)!));
    for (const other of others) expect(other).toEqual(first);
  });
});

test("a stream is a hash of the terms, not of id, quantity, market and the place of a formula", () => {
  const [first] = readBook(bookOf([asian("1", 100)])).trades;
  const trade = onUnderlyings(first);
  const stream = streamOf(trade);
  const moved = { ...trade.underlying, spot: 120 };
  for (const same of [
    { id: "other" },
    { quantity: -7 },
    { underlying: moved },
    { payoff: { ...trade.payoff, place: "x" } },
  ])
    expect(streamOf({ ...trade, ...same })).toBe(stream);
  const others: Partial<Trade>[] = [
    { expiry: 1.001 },
    { payoff: { ...trade.payoff, strike: 101 } as Trade["payoff"] },
    { exercise: { kind: "american" } },
    { underlying: { ...trade.underlying, name: "B" } },
    { barriers: [], exercise: { kind: "bermudan", times: [0.5] } },
  ];
  const all = new Set([stream, ...others.map((one) => streamOf({ ...trade, ...one }))]);
  expect(all.size).toBe(1 + others.length);
});

test("errors of different trades are independent: one payoff on two underlyings, over 64 seeds", async () => {
  const errors = async (id: string, strike: number): Promise<number[]> => {
    const found: number[] = [];
    for (let seed = 0; seed < 64; seed++) {
      const book = readBook(bookOf([lookback(id, strike === 0 ? "A" : "B")], { seed }));
      const { results } = await priceBook(book, { device, greeks: "none" });
      found.push(results[0].value!);
    }
    const mean = found.reduce((sum, x) => sum + x, 0) / found.length;
    return found.map((x) => x - mean);
  };
  const [a, b] = [await errors("1", 0), await errors("2", 1)];
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, one, i) => sum + one * y[i], 0);
  // The standard deviation of a correlation of 64 independent pairs is 1/8.
  expect(Math.abs(product(a, b)) / Math.sqrt(product(a, a) * product(b, b))).toBeLessThan(0.4);
});
