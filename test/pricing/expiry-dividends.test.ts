/** Dividends on the day of expiry: the payoff is that of the spot after it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseBook, priceBook } from "../../src/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { Random } from "../../tools/properties/random.ts";
import { blackScholes, piecesOf, survivingValue } from "../../tools/properties/closed-forms.ts";

let device: Device;
beforeAll(async () => void (device = await openDevice({ backend: "cpu" })));
afterAll(() => device[Symbol.dispose]());

interface Terms {
  readonly spot?: number;
  readonly volatility: number;
  readonly rate: number;
  readonly expiry: number;
  readonly cash?: number;
  readonly proportional?: number;
  readonly trade: object;
}

async function valueOf(all: readonly Terms[]): Promise<{ value: number; errorEstimate: number }[]> {
  const rates = Object.fromEntries(all.map(({ rate }, i) => [`C${i}`, rate]));
  const underlyings = Object.fromEntries(
    all.map(({ spot = 100, volatility, expiry, cash = 0, proportional = 0 }, i) => [
      `U${i}`,
      {
        spot,
        currency: `C${i}`,
        volatility,
        ...(cash + proportional === 0 ? {} : { dividends: { discrete: [{ date: expiry, cash, proportional }] } }),
      },
    ]),
  );
  const trades = all.map(({ trade, expiry }, i) => ({ id: `${i}`, underlying: `U${i}`, expiry, ...trade }));
  const book = { asOf: "2026-11-20T16:00:00Z", market: { rates, underlyings }, trades };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "none", method: "fdm" });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(result.error.message);
    return result;
  });
}

const model = ({ spot = 100, rate, volatility, expiry }: Terms) => ({ spot, rate, volatility, expiry, yield: 0 });

describe("European options", () => {
  it("300 random calls are calls on the strike and the cash: within their estimates", async () => {
    const random = new Random(77);
    const drawn = Array.from({ length: 300 }, () => {
      const [volatility, expiry] = [random.uniform(0.08, 0.6), random.logUniform(0.05, 4)];
      const strike = 100 * Math.exp(random.uniform(-1, 1) * Math.min(volatility * Math.sqrt(expiry), 0.5));
      const [cash, rate, proportional] = [
        random.uniform(0.5, 6),
        random.uniform(0, 0.08),
        random.chance(0.5) ? 0 : random.uniform(0, 0.2),
      ];
      return { strike, terms: { volatility, rate, expiry, cash, proportional, trade: { payoff: "call", strike } } };
    });
    const values = await valueOf(drawn.map(({ terms }) => terms));
    values.forEach(({ value, errorEstimate }, i) => {
      const { strike, terms } = drawn[i];
      const keep = 1 - terms.proportional;
      const exact = keep * blackScholes(model(terms), "call", (strike + terms.cash) / keep);
      expect(Math.abs(value - exact)).toBeLessThanOrEqual(errorEstimate);
      expect(Math.abs(value - exact)).toBeLessThan(1e-3);
    });
  });

  it("puts are worth the strike where the dividend takes all", async () => {
    // max(K − max(S − D, 0), 0) = K − (S − D)⁺ + (S − D − K)⁺
    for (const cash of [3, 30, 80]) {
      const terms: Terms = { volatility: 0.4, rate: 0.03, expiry: 1.5, cash, trade: { payoff: "put", strike: 40 } };
      const [got] = await valueOf([terms]);
      const call = (strike: number): number => blackScholes(model(terms), "call", strike);
      const exact = 40 * Math.exp(-0.03 * 1.5) - call(cash) + call(40 + cash);
      expect(Math.abs((got?.value ?? NaN) - exact)).toBeLessThanOrEqual(got?.errorEstimate ?? 0);
    }
  });

  it("digitals jump where the dividend takes the spot to the strike", async () => {
    for (const [cash, proportional] of [
      [4, 0],
      [0, 0.05],
      [4, 0.05],
    ] as const) {
      const payoff = { digital: "call", cash: 10 };
      const terms: Terms = {
        volatility: 0.2,
        rate: 0.05,
        expiry: 2,
        cash,
        proportional,
        trade: { payoff, strike: 105 },
      };
      const [got] = await valueOf([terms]);
      const pieces = piecesOf("digital-call", (105 + cash) / (1 - proportional), 10);
      const exact = survivingValue(model(terms), pieces);
      expect(Math.abs((got?.value ?? NaN) - exact)).toBeLessThanOrEqual(got?.errorEstimate ?? 0);
      expect(Math.abs((got?.value ?? NaN) - exact)).toBeLessThan(1e-3);
    }
  });
});

describe("barriers on the day", () => {
  const terms: Terms = {
    volatility: 0.25,
    rate: 0.04,
    expiry: 1,
    cash: 5,
    trade: { payoff: "call", strike: 90, barriers: [{ type: "down-and-out", level: 95, monitoring: [1], rebate: 2 }] },
  };

  it("are monitored after the dividend", async () => {
    const [got] = await valueOf([terms]);
    // Alive above 100, worth S − 95; else the rebate.
    const call =
      blackScholes(model(terms), "call", 100) + survivingValue(model(terms), piecesOf("digital-call", 100, 5));
    const exact = call + survivingValue(model(terms), piecesOf("digital-put", 100, 2));
    expect(Math.abs((got?.value ?? NaN) - exact)).toBeLessThanOrEqual(got?.errorEstimate ?? 0);
    expect(Math.abs((got?.value ?? NaN) - exact)).toBeLessThan(1e-3);
  });

  it("knock in what they would have knocked out", async () => {
    const trade = { payoff: "call", strike: 90 };
    const level = { level: 95, monitoring: [1] };
    const [plain, out, into] = await valueOf([
      { ...terms, trade },
      { ...terms, trade: { ...trade, barriers: [{ type: "down-and-out", ...level }] } },
      { ...terms, trade: { ...trade, barriers: [{ type: "down-and-in", ...level }] } },
    ]);
    const sum = (out?.value ?? NaN) + (into?.value ?? NaN);
    expect(Math.abs(sum - (plain?.value ?? NaN))).toBeLessThanOrEqual(
      (out?.errorEstimate ?? 0) + (into?.errorEstimate ?? 0),
    );
  });
});

describe("American options", () => {
  const terms = (payoff: string, cash: number): Terms => ({
    volatility: 0.3,
    rate: 0.06,
    expiry: 1,
    cash,
    trade: { payoff, strike: 100, exercise: "american" },
  });

  it("a call is exercised before the dividend: it is worth what it is without", async () => {
    const [paid, unpaid] = await valueOf([terms("call", 7), terms("call", 0)]);
    expect(paid?.value).toBe(unpaid?.value);
  });

  it("a put is worth at least the European one, and what waits for a dividend a moment earlier", async () => {
    const put = terms("put", 7);
    const [american, european] = await valueOf([put, { ...put, trade: { payoff: "put", strike: 100 } }]);
    expect(american?.value).toBeGreaterThan(european?.value ?? Infinity);
    const book = {
      asOf: "2026-11-20T16:00:00Z",
      market: {
        rates: { EUR: 0.06 },
        underlyings: {
          A: { spot: 100, currency: "EUR", volatility: 0.3, dividends: { discrete: [{ date: 0.9999, cash: 7 }] } },
        },
      },
      trades: [{ id: "1", underlying: "A", payoff: "put", strike: 100, expiry: 1, exercise: "american" }],
    };
    const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, accuracy: { relative: 1e-6 } });
    const [earlier] = results;
    // A day's hundredth of interest on the strike.
    expect(Math.abs((american?.value ?? NaN) - (earlier?.value ?? NaN))).toBeLessThan(2e-3);
  });
});
