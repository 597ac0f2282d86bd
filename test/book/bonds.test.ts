/** The payments of bonds as a book names them: their order and their times. */
import { describe, expect, test } from "vitest";
import { type RatesTrade, readBook } from "../../src/book/index.ts";

const asOf = "2026-11-20T09:00:00Z";

function read(bond: object): RatesTrade {
  const trade = { id: "B", currency: "EUR", bond };
  const [parsed] = readBook({ asOf, market: { rates: { EUR: 0.03 } }, trades: [trade] }).trades;
  if (!parsed.ok || parsed.trade.kind !== "rates") throw new Error("no bond");
  return parsed.trade;
}

test("payments may come in any order", () => {
  const product = {
    kind: "bond",
    bond: {
      flows: [
        [1, 2],
        [2, 102],
      ],
      coupons: [],
      notional: 102,
    },
    calls: [],
    puts: [],
  };
  for (const cashflows of [
    [
      [2, 102],
      [1, 2],
    ],
    [
      [1, 2],
      [2, 102],
    ],
  ])
    expect(read({ cashflows })).toMatchObject({ product, expiry: 2 });
});

test("coupons have the time of day of the maturity", () => {
  const { product, expiry } = read({ maturity: "2030-05-15T16:00:00Z", coupon: 0.04, frequency: 2, notional: 100 });
  if (product.kind !== "bond") throw new Error("no bond");
  const years = (instant: string): number => (Date.parse(instant) - Date.parse(asOf)) / (365 * 86_400_000);
  const times = product.bond.flows.map(([time]) => time);
  const dates = [2027, 2028, 2029, 2030].flatMap((year) => [`${year}-05-15T16:00:00Z`, `${year}-11-15T16:00:00Z`]);
  expect(times).toHaveLength(7);
  times.forEach((time, i) => expect(time).toBeCloseTo(years(dates[i]), 10));
  expect(expiry).toBeCloseTo(times[6], 12);
});

describe("rights of a bond", () => {
  const bond = { maturity: 5, coupon: 0.04, frequency: 1, notional: 100 };
  const market = { rates: { EUR: { hullWhite: { meanReversion: 0.1, volatility: 0.01, curve: 0.03 } } } };
  const messageOf = (rights: object): string | undefined => {
    const trades = [{ id: "B", currency: "EUR", bond: { ...bond, ...rights } }];
    const [parsed] = readBook({ asOf, market, trades }).trades;
    return parsed.ok ? undefined : parsed.error.message;
  };

  test.each([
    [{ calls: [{ date: 2, price: 101 }, { date: 2, price: 100 }] }, "calls[1]"], // prettier-ignore
    [{ puts: [{ date: 3, price: 99 }, { from: 2, to: 4, price: 98 }] }, "puts[0]"], // prettier-ignore
    [{ calls: [{ from: 1, to: 3, price: 100 }, { from: 2, to: 4, price: 101 }] }, "calls[1]"], // prettier-ignore
    [{ calls: [{ date: 2, price: 101 }, { date: 2.5, price: 100, notice: 0.5 }] }, "calls[1]"], // prettier-ignore
  ])("may not overlap: %j", (rights, place) => {
    expect(messageOf(rights)).toBe(
      `trades[0].bond.${place}: expected periods that do not overlap; split them, with one price each`,
    );
  });

  test("may follow each other", () => {
    const calls = [
      { from: 1, to: 2, price: 102 },
      { from: 2, to: 3, price: 101 },
      { date: 4, price: 100 },
    ];
    expect(messageOf({ calls, puts: [{ date: 2.5, price: 98 }] })).toBeUndefined();
  });

  test("have a notice of at most five years", () => {
    expect(messageOf({ calls: [{ date: 4, price: 100, notice: 30 }] })).toContain("calls[0].notice: expected a length");
  });
});

test("a first period of some weeks is one of its own, of some days a part of the next one", () => {
  const periodsFrom = (start: number): readonly number[] => {
    const cap = { start, end: 3.05, frequency: 1, notional: 100 };
    const trade = { id: "C", currency: "EUR", cap, strike: 0.03 };
    const [parsed] = readBook({ asOf, market: { rates: { EUR: 0.03 } }, trades: [trade] }).trades;
    if (!parsed.ok || parsed.trade.kind !== "rates" || parsed.trade.product.kind !== "capFloor")
      throw new Error("no cap");
    return parsed.trade.product.periods.map(({ end }) => Number(end.toFixed(6)));
  };
  expect(periodsFrom(1)).toEqual([1.05, 2.05, 3.05]);
  expect(periodsFrom(1.04)).toEqual([2.05, 3.05]);
});

test("a right with a notice is exercised that much earlier, from asOf on, and settled on its dates", () => {
  const calls = [
    { from: 0.05, to: 2, price: 101, notice: "30D" },
    { date: 3, price: 100 },
  ];
  const { product } = read({ maturity: 4, coupon: 0.04, frequency: 1, notional: 100, calls });
  const notice = 30 / 365;
  expect(product).toMatchObject({
    calls: [
      { from: 0, to: expect.closeTo(2 - notice, 12) as number, notice, price: 101 },
      { from: 3, to: 3, notice: 0, price: 100 },
    ],
  });
});
