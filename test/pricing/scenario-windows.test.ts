/**
 * Barriers whose windows or dates end, or begin, on a scenario's date: that day itself is still monitored, as
 * docs/book.md says.
 */
import { describe, expect, it } from "vitest";
import type { Barrier } from "../../src/book/index.ts";
import { constant } from "../../src/market/index.ts";
import { blackScholes, survivingValue, piecesOf } from "../../tools/properties/closed-forms.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { barrier } from "./reference-barriers.ts";
import { priced, trade } from "./reference.ts";

const [STRIKE, LEVEL, EXPIRY, DATE, REBATE] = [100, 110, 1, 0.5, 4];
const market = { rate: 0.05, yield: 0, volatility: 0.2, expiry: EXPIRY - DATE };
/** Below the level, on it, above it. */
const spots = [100, 110, 115];

const plain = (spot: number): number => blackScholes({ ...market, spot }, "put", STRIKE);
const bond = REBATE * Math.exp(-market.rate * market.expiry);
const isHit = (spot: number): boolean => spot >= LEVEL;

async function expectValues(parts: Partial<Barrier>, expected: (spot: number) => number): Promise<void> {
  const one = trade({
    payoff: { kind: "vanilla", right: "put", strike: STRIKE },
    expiry: EXPIRY,
    market: { rates: constant(market.rate) },
    barriers: [barrier({ type: "up-and-out", level: LEVEL, to: EXPIRY, rebate: REBATE, ...parts })],
  });
  const axes = { time: [DATE], spot: spots.map((spot) => spot / 100 - 1), volatility: [0], rate: [0] };
  const [got] = await priced([one], { device: new PlainDevice(), greeks: "none" }, axes);
  spots.forEach((spot, i) => {
    const value = got.scenarios?.[0][i][0][0] as number;
    // The accuracy of a book.
    const fine = Math.abs(value - expected(spot)) <= 1e-5 * spot;
    expect({ spot, value, expected: expected(spot), fine }).toMatchObject({ fine: true });
  });
}

const ends: readonly (readonly [name: string, parts: Partial<Barrier>])[] = [
  ["a window that ends there", { to: DATE }],
  ["a window of that day alone", { from: DATE, to: DATE }],
  ["dates, the last of them there", { monitoring: { kind: "discrete", times: [0.25, DATE] } }],
];

describe.each(ends)("%s", (_, parts) => {
  it("knocks out on the day, and then no more", () =>
    expectValues({ ...parts, rebateAt: "hit" }, (spot) => (isHit(spot) ? REBATE : plain(spot))));

  it("knocks in on the day, and then no more", () =>
    expectValues({ ...parts, type: "up-and-in", rebateAt: "expiry" }, (spot) => (isHit(spot) ? plain(spot) : bond)));
});

describe("what is over a day before", () => {
  const dayBefore = DATE - 1 / 365;

  it.each<[string, Partial<Barrier>]>([
    ["a window", { to: dayBefore }],
    ["dates", { monitoring: { kind: "discrete", times: [0.25, dayBefore] } }],
  ])("%s: knocks out no more, and has not knocked in", async (_, parts) => {
    await expectValues({ ...parts, rebateAt: "hit" }, plain);
    await expectValues({ ...parts, type: "up-and-in", rebateAt: "expiry" }, () => bond);
  });
});

describe("a window that begins there", () => {
  it("knocks out on the day and after it", () =>
    expectValues({ from: DATE, rebate: 0 }, (spot) =>
      survivingValue({ ...market, spot }, piecesOf("put", STRIKE), 0, LEVEL),
    ));

  it("that begins and whose scenario is earlier: not yet", async () => {
    // Alive above the level as long as nobody looks.
    const one = (from: number) =>
      trade({
        market: { rates: constant(market.rate) },
        barriers: [barrier({ type: "up-and-out", level: LEVEL, from, to: EXPIRY })],
      });
    const axes = { time: [DATE], spot: [0.15], volatility: [0], rate: [0] };
    const [onTheDay, after] = await priced(
      [one(DATE), one(DATE + 0.1)],
      { device: new PlainDevice(), greeks: "none" },
      axes,
    );
    expect(onTheDay.scenarios?.[0][0][0][0]).toBe(0);
    expect(after.scenarios?.[0][0][0][0]).toBeGreaterThan(0.1);
  });
});
