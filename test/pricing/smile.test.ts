/** European options on fitted quotes are worth what the fitted implied volatilities say. */
import { describe, expect, it } from "vitest";
import { readHeader } from "../../src/book/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { type BookInput, parseBook, priceBook, type PricedTrade, type TradeInput } from "../../src/index.ts";
import { uniform } from "../calibration/uniform.ts";
import { normalCdf } from "../support/normal.ts";

const random = uniform(20);
const between = (low: number, high: number): number => low + (high - low) * random();

/** SSVI's total variance at k, for the total variance at the money. */
function ssvi(theta: number, [rho, eta]: readonly [number, number]): (k: number) => number {
  const phi = eta / Math.sqrt(theta * (1 + theta));
  return (k) => 0.5 * theta * (1 + rho * phi * k + Math.sqrt((phi * k + rho) ** 2 + 1 - rho * rho));
}

/** Black's undiscounted price. */
function black(sign: number, forward: number, strike: number, deviation: number): number {
  const d1 = Math.log(forward / strike) / deviation + 0.5 * deviation;
  return sign * (forward * normalCdf(sign * d1) - strike * normalCdf(sign * (d1 - deviation)));
}

const EXPIRIES = [[1], [0.02, 2], [0.01, 3], [1 / 52, 0.25, 1, 5, 30], [0.1, 0.2, 0.4, 0.8, 1.6]];
const FITS = [
  "svi",
  "ssvi",
  "essvi",
  "andreasen-huge",
  "local",
  { sabr: { beta: 0.7 } },
  { local: { method: "adjoint" } },
] as const;

function market(times: readonly number[], level: number, fit: (typeof FITS)[number]) {
  const shape = [between(-0.7, 0.3), between(0.3, 0.8)] as const;
  const [rate, dividend] = [between(0, 0.05), between(0, 0.03)];
  const forward = (time: number): number => 100 * Math.exp((rate - dividend) * time);
  const quotes = times.flatMap((time) => {
    const theta = level * level * time;
    const w = ssvi(theta, shape);
    return [-1.8, -1.2, -0.6, 0, 0.6, 1.2, 1.8].map((z) => {
      const k = z * Math.sqrt(theta);
      return { expiry: time, strike: forward(time) * Math.exp(k), implied: Math.sqrt(w(k) / time) };
    });
  });
  const underlying = { spot: 100, currency: "EUR", dividends: { yield: dividend }, volatility: { quotes, fit } };
  const given = { rates: { EUR: rate }, underlyings: { U: underlying } };
  return { given, quotes, rate, forward };
}

type Market = BookInput["market"];

async function priced(given: Market, trades: readonly TradeInput[], options = {}): Promise<readonly PricedTrade[]> {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const book = parseBook({ asOf: "2026-11-20", market: given, trades });
  const { results } = await priceBook(book, { device, greeks: "none", ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const fittedOf = (given: Market): readonly (number | null)[] => {
  const { calibration } = readHeader({ asOf: "2026-11-20", market: given, trades: [] }).market;
  return calibration.underlyings["U"].quotes.map(({ fitted }) => fitted);
};

/** A European option on the underlying. */
const option = (payoff: "call" | "put", strike: number, expiry: number): TradeInput => {
  return { id: `${payoff} ${strike} ${expiry}`, underlying: "U", payoff, strike, expiry };
};

describe.each(FITS.map((fit) => [typeof fit === "string" ? fit : JSON.stringify(fit), fit] as const))(
  "European options on quotes fitted by %s",
  (_, fit) => {
    it("have Black's price at the fitted volatility, on quotes whatever their expiries and level", async () => {
      // A fit by the adjoint takes a second.
      for (const times of typeof fit === "object" && "local" in fit ? EXPIRIES.slice(0, 2) : EXPIRIES) {
        const { given, quotes, rate, forward } = market(times, 0.05 * 40 ** random(), fit);
        const fitted = fittedOf(given);
        const trades = quotes.flatMap(({ expiry, strike }) => [
          option("call", strike, expiry),
          option("put", strike, expiry),
        ]);
        const results = await priced(given, trades);
        results.forEach(({ value, errorEstimate, method }, i) => {
          const { expiry, strike, implied } = quotes[i >> 1];
          const discount = Math.exp(-rate * expiry);
          const sign = i % 2 === 0 ? 1 : -1;
          const right = discount * black(sign, forward(expiry), strike, fitted[i >> 1]! * Math.sqrt(expiry));
          expect(Math.abs(value - right)).toBeLessThan(1e-9 * (100 + strike));
          // What the fit misses of the quote is in the estimate.
          const quoted = discount * black(sign, forward(expiry), strike, implied * Math.sqrt(expiry));
          expect(Math.abs(errorEstimate - Math.abs(value - quoted))).toBeLessThan(1e-9 * (100 + strike));
          expect(method).toBe("implied-volatility");
        });
      }
    });

    it("are digitals with the slope of calls, and formulas with the same distribution", async () => {
      const { given, rate, forward } = market(EXPIRIES[4], 0.05 * 20 ** random(), fit);
      for (const expiry of [0.05, 0.3, 0.8, 2]) {
        const [strike, cash, h] = [forward(expiry) * between(0.8, 1.2), 10, 1e-4];
        const call = (at: number): TradeInput => option("call", at, expiry);
        const digital = (right: "call" | "put"): TradeInput => {
          return { id: `digital ${right}`, underlying: "U", payoff: { digital: right, cash }, strike, expiry };
        };
        const formula = (expression: string, kinks: readonly number[]): TradeInput => {
          return { id: expression, underlying: "U", payoff: { expression, kinks }, expiry };
        };
        const trades = [
          call(strike),
          call(strike + h),
          call(strike - h),
          option("put", strike, expiry),
          digital("call"),
          digital("put"),
          formula(`max(S - ${strike}, 0) - 2*max(S - ${1.1 * strike}, 0)`, [strike, 1.1 * strike]),
          call(1.1 * strike),
          formula("S", []),
          formula("sqrt(S)*sqrt(S)*(S > 0 ? 1 : 0)", []),
        ];
        const results = await priced(given, trades);
        const values = results.map(({ value }) => value);
        const discount = Math.exp(-rate * expiry);
        expect(values[0] - values[3]).toBeCloseTo(discount * (forward(expiry) - strike), 9);
        expect(values[4]).toBeCloseTo((-cash * (values[1] - values[2])) / (2 * h), 5);
        expect(values[4] + values[5]).toBeCloseTo(cash * discount, 9);
        expect(values[6]).toBeCloseTo(values[0] - 2 * values[7], 9);
        expect(values[8]).toBeCloseTo(discount * forward(expiry), 9);
        expect(Math.abs(values[9] - values[8])).toBeLessThan(1e-9 * forward(expiry));
      }
    });
  },
);

describe("the error estimates of European payoffs between the quotes", () => {
  // The splines that stand for the quotes have an error of their own, of less than 3e-4 of a probability here.
  it.each(FITS.map((fit) => [typeof fit === "string" ? fit : JSON.stringify(fit), fit] as const))(
    "cover what the fit by %s misses",
    async (_, fit) => {
      for (let round = 0; round < 3; round++) {
        const [level, skew, bend] = [between(0.15, 0.4), between(-0.12, 0.03), between(0.005, 0.02)];
        const smile = (z: number): number => level * (1 + skew * z + bend * z * z);
        const times = [0.1, 0.5, 1.5];
        const strikeAt = (z: number, time: number): number => 100 * Math.exp(z * level * Math.sqrt(time));
        const quotes = times.flatMap((expiry) =>
          [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2].map((z) => {
            return { expiry, strike: strikeAt(z, expiry), implied: smile(z) };
          }),
        );
        const underlying = { spot: 100, currency: "EUR", volatility: { quotes, fit } };
        const places = times.flatMap((time) => [-1.7, -0.8, -0.2, 0.3, 1.2].map((z) => ({ time, z })));
        const trades = places.flatMap(({ time, z }, i): TradeInput[] => {
          const common = { underlying: "U", expiry: time } as const;
          const strike = strikeAt(z, time);
          const step = { expression: `S > ${strike} ? 1 : 0`, kinks: [strike] };
          return [
            { id: `call ${i}`, ...common, payoff: "call", strike },
            { id: `digital ${i}`, ...common, payoff: { digital: "call", cash: 1 }, strike },
            { id: `formula ${i}`, ...common, payoff: step },
          ];
        });
        const results = await priced({ rates: { EUR: 0 }, underlyings: { U: underlying } }, trades);
        places.forEach(({ time, z }, i) => {
          const call = (at: number): number => {
            const strike = strikeAt(at, time);
            return black(1, 100, strike, smile(at) * Math.sqrt(time));
          };
          const h = 1e-4;
          const above = (call(z - h) - call(z + h)) / (strikeAt(z + h, time) - strikeAt(z - h, time));
          [call(z), above, above].forEach((right, at) => {
            const { value, errorEstimate } = results[3 * i + at];
            const [own, unit] = [3e-4, at === 0 ? 10 : 1];
            expect(Math.abs(value - right)).toBeLessThan(errorEstimate + own * unit);
          });
        });
      }
    },
  );
});

describe("the market of a fitted smile", () => {
  it("has the fitted volatility before the first quoted expiry", async () => {
    const { given, rate, forward } = market([0.25, 1], 0.2, "andreasen-huge");
    const [fitted] = fittedOf(given).slice(3);
    const expiry = 1 / 365;
    const [{ value }] = await priced(given, [option("call", forward(expiry), expiry)]);
    const right = Math.exp(-rate * expiry) * black(1, forward(expiry), forward(expiry), fitted! * Math.sqrt(expiry));
    expect(value).toBeCloseTo(right, 6);
  });

  it("moves as its local volatility says in Greeks and scenarios, which keep today's value", async () => {
    const { given } = market([0.1, 0.5, 1], 0.3, "svi");
    const trades = [option("call", 105, 0.5)];
    const width = 0.01;
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const scenarios = { spot: [-width, 0, width], volatility: [-1e-3, 0, 1e-3], rate: [0], time: [0, 1 / 365] };
    const book = parseBook({ asOf: "2026-11-20", market: given, trades, scenarios });
    const { results } = await priceBook(book, { device });
    const [alone] = await priced(given, trades);
    const own = results[0] as PricedTrade;
    const [today, later] = own.scenarios!;
    const at = (spot: number, volatility = 1, date = today): number => date[spot][volatility][0]!;
    expect(own.value).toBe(alone.value);
    expect(at(1)).toBe(own.value);
    expect((at(2) - at(0)) / (200 * width)).toBeCloseTo(own.delta!, 3);
    expect((at(2) - 2 * at(1) + at(0)) / (100 * width) ** 2).toBeCloseTo(own.gamma!, 3);
    expect((at(1, 2) - at(1, 0)) / 2e-3).toBeCloseTo(own.vega!, 1);
    expect(Math.abs((at(1, 1, later) - at(1)) * 365 - own.theta!)).toBeLessThan(0.02 * Math.abs(own.theta!));
  });
});
