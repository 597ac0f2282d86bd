/** Barriers, early exercise and rights on dates where the variance of a life is so large that prices overflow. */
import { expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { normalCdf } from "../support/normal.ts";

const [SPOT, RATE] = [100, 0.01];

interface Drawn {
  readonly volatility: number;
  readonly expiry: number;
}

/** The knock-in beyond the strike's far side by reflection (Reiner and Rubinstein, 1991), without dividends. */
function reflected(sign: 1 | -1, level: number, strike: number, { volatility, expiry }: Drawn): number {
  const deviation = volatility * Math.sqrt(expiry);
  const power = 2 * (RATE / (volatility * volatility) + 0.5);
  const y = Math.log((level * level) / (SPOT * strike)) / deviation + 0.5 * power * deviation;
  const spots = SPOT * (level / SPOT) ** power * normalCdf(sign * y);
  const strikes = strike * Math.exp(-RATE * expiry) * (level / SPOT) ** (power - 2) * normalCdf(sign * (y - deviation));
  return sign * (spots - strikes);
}

/** Same numbers on every run: a linear congruential generator. */
let state = 20_261_128;
function between(low: number, high: number): number {
  state = (state * 1103515245 + 12345) % 2 ** 31;
  return low + ((high - low) * state) / 2 ** 31;
}
const drawn = Array.from({ length: 2 }, (): Drawn => ({ volatility: between(4, 8), expiry: between(20, 38) }));

test.each(drawn)("volatility $volatility over $expiry years", async (terms) => {
  const { volatility, expiry } = terms;
  const [down, up] = [between(1, 90), between(110, 5000)];
  const strike = between(95, 105);
  const trade = (id: string, payoff: string, rest: object): object => ({
    id,
    underlying: "U",
    payoff,
    strike,
    expiry,
    ...rest,
  });
  const barrier = (type: string, level: number, rest: object = {}): object => ({
    barriers: [{ type, level, ...rest }],
  });
  const book = readBook({
    asOf: "2026-01-01",
    market: { rates: { C: RATE }, underlyings: { U: { spot: SPOT, currency: "C", volatility } } },
    trades: [
      trade("down in", "call", barrier("down-and-in", down)),
      trade("up in", "put", barrier("up-and-in", up)),
      trade("window in", "put", barrier("down-and-in", down, { from: 1, to: 5 })),
      trade("american in", "put", { ...barrier("down-and-in", down), exercise: "american" }),
      trade("american", "put", { exercise: "american" }),
      trade("dates", "put", { exercise: ["5Y", "10Y"] }),
      trade("dates call", "call", { exercise: ["5Y", "10Y"] }),
    ],
  });
  const { results } = await priceBook(book, { greeks: "none" });
  const found = new Map(
    results.map((one) => {
      if (one.status !== "ok") throw new Error(`${one.id}: ${one.error.message}`);
      return [one.id, { value: one.value, error: one.errorEstimate ?? 0 }];
    }),
  );
  const isAbout = (id: string, expected: number): void => {
    const { value, error } = found.get(id)!;
    // An estimate covers 98 of 100 errors and is never exceeded by a factor of three.
    expect(Math.abs(value - expected), `trade ${id}`).toBeLessThanOrEqual(3 * error + 1e-9);
  };
  const deviation = volatility * Math.sqrt(expiry);
  const discounted = strike * Math.exp(-RATE * expiry);
  const first = (Math.log(SPOT / discounted) + 0.5 * deviation * deviation) / deviation;
  const call = SPOT * normalCdf(first) - discounted * normalCdf(first - deviation);
  const put = call - SPOT + discounted;
  const [downIn, upIn] = [reflected(1, down, strike, terms), reflected(-1, up, strike, terms)];
  isAbout("down in", downIn);
  isAbout("up in", upIn);
  isAbout("window in", put);
  isAbout("dates call", call);
  // It reaches the level at once, as good as surely.
  const american = found.get("american")!;
  const tolerance = american.error + found.get("american in")!.error + 1e-3;
  expect(Math.abs(found.get("american in")!.value - american.value)).toBeLessThanOrEqual(tolerance);
  expect(found.get("dates")!.value).toBeGreaterThan(put);
});
