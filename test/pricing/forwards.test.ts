/** Forwards, against a formula by hand and by put-call parity. */
import { afterAll, describe, expect, it } from "vitest";
import { describeTrade, parseBook, type BookInput, type PricedTrade, type TradeInput } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook } from "../../src/pricing/index.ts";
import { Random } from "../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const YEARS = 1.5;
const forward = { id: "F", underlying: "A", forward: 102, expiry: YEARS, quantity: -3 } as const;
const dividends = {
  yield: 0.01,
  discrete: [
    { date: 0.5, cash: 3 },
    { date: 1, proportional: 0.02 },
  ],
} as const;
const curve = [
  { date: 1, zero: 0.02 },
  { date: 2, zero: 0.03 },
] as const;

const book = (trades: readonly TradeInput[], asset: object = {}, more: Partial<BookInput> = {}): BookInput => ({
  asOf: "2026-11-20",
  market: { rates: { C: curve }, underlyings: { A: { spot: 100, currency: "C", dividends, ...asset } } },
  trades,
  ...more,
});

async function priced(input: BookInput, sensitivityErrorEstimates = false): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(parseBook(input), { device, sensitivityErrorEstimates });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** ln of discount factors: forward rates are constant between the dates of zero rates. */
const integral = (t: number, shift = 0): number => (t <= 1 ? 0.02 * t : 0.02 + 0.04 * (t - 1)) + shift * t;

/** The value some time later, by the carry of each part to expiry. */
function byHand({ spot = 100, shift = 0, from = 0 } = {}): number {
  const discount = (t: number): number => Math.exp(integral(from, shift) - integral(t, shift));
  const carried = (t: number): number => Math.exp(-0.01 * (YEARS - t));
  return spot * 0.98 * carried(from) - 3 * 0.98 * carried(0.5) * discount(0.5) - 102 * discount(YEARS);
}

describe("a forward", () => {
  it("is worth its carry, with all sensitivities, and without a volatility", async () => {
    const [result] = await priced(book([forward]), true);
    expect(result).toMatchObject({ method: "deterministic", quantity: -3, gamma: 0, vega: 0, warnings: [] });
    expect(result.value).toBeCloseTo(byHand(), 11);
    expect(result.errorEstimate).toBeLessThan(1e-11);
    const slope = (up: number, down: number, width: number): number => (up - down) / width;
    expect(result.delta).toBeCloseTo(slope(byHand({ spot: 101 }), byHand({ spot: 99 }), 2), 11);
    expect(result.rho).toBeCloseTo(slope(byHand({ shift: 1e-4 }), byHand({ shift: -1e-4 }), 2e-4), 5);
    expect(result.theta).toBeCloseTo(slope(byHand({ from: 1e-4 }), byHand({ from: 0 }), 1e-4), 3);
    expect(result.sensitivityErrorEstimates).toMatchObject({ gamma: 0, vega: 0 });
  });

  it.each([
    ["a flat volatility", { volatility: 0.25 }, "auto"],
    ["a local volatility", { volatility: { local: "0.2 + 0.1*exp(-S/100)" } }, "fdm"],
  ])("is a call less a put under %s, with discrete dividends", async (_, asset, method) => {
    const option = { id: "C", underlying: "A", payoff: "call", strike: 102, expiry: YEARS } as const;
    const trades = [option, { ...option, id: "P", payoff: "put" }] as const;
    const options = parseBook(book(trades, asset));
    const { results } = await priceBook(options, { device, method: method as "auto", accuracy: { relative: 1e-7 } });
    const [call, put] = results as readonly PricedTrade[];
    const [one] = await priced(book([forward], asset));
    const error = call.errorEstimate + put.errorEstimate;
    expect(error).toBeLessThan(1e-3);
    expect(Math.abs(call.value - put.value - one.value)).toBeLessThan(error);
  });

  it("pays after a dividend on the day of its expiry, as options do", async () => {
    const asset = { volatility: 0.25, dividends: { discrete: [{ date: YEARS, cash: 3 }] } };
    const option = { id: "C", underlying: "A", payoff: "call", strike: 102, expiry: YEARS } as const;
    const [call, put, one] = await priced(book([option, { ...option, id: "P", payoff: "put" }, forward], asset));
    const error = call.errorEstimate + put.errorEstimate + 1e-9;
    expect(error).toBeLessThan(0.1);
    expect(Math.abs(call.value - put.value - one.value)).toBeLessThan(error);
  });

  it("says that its curve is extrapolated", async () => {
    const input = book([forward]);
    const curve = { instruments: [{ deposit: 1, rate: 0.03 }] };
    const [{ warnings }] = await priced({ ...input, market: { ...input.market, rates: { C: curve } } });
    expect(warnings).toEqual([expect.stringMatching(/extrapolated after the last/)]);
  });

  it("has scenarios, up to its payoff at expiry and nothing after", async () => {
    const scenarios = { spot: [-0.1, 0], rate: [0, 0.01], volatility: [0, 0.1], time: [0, 0.7, YEARS, 2] };
    const [{ value, scenarios: got }] = await priced(book([forward], {}, { scenarios }));
    expect(got![0][1][0][0]).toBe(value);
    for (const v of [0, 1]) {
      expect(got![0][0][v][1]).toBeCloseTo(byHand({ spot: 90, shift: 0.01 }), 11);
      expect(got![2][0][v][0]).toBeCloseTo(90 - 102, 11);
      expect(got![3][0][v]).toEqual([0, 0]);
    }
    // The dividend in cash is paid by then.
    const later = 90 * 0.98 * Math.exp(-0.01 * 0.8) - 102 * Math.exp(integral(0.7) - integral(YEARS));
    expect(got![1][0][0][0]).toBeCloseTo(later, 11);
  });

  it("is a call less a put without volatility, in every case of random markets", async () => {
    const random = new Random(46);
    for (let n = 0; n < 40; n++) {
      const expiry = random.chance(0.1) ? 0 : random.uniform(0.1, 20);
      const strike = random.logUniform(20, 500);
      const own = Array.from({ length: random.integer(5) }, (_, k) => ({
        date: ((k + 1) / 4.5) * Math.max(expiry, 1),
        cash: random.chance(0.5) ? random.logUniform(1, 150) : 0,
        proportional: random.chance(0.3) ? random.uniform(0, 1) : 0,
      }));
      const asset = { volatility: 0, dividends: { yield: random.uniform(-0.05, 0.05), discrete: own } };
      const option = { id: "C", underlying: "A", payoff: "call", strike, expiry } as const;
      const trades = [option, { ...option, id: "P", payoff: "put" }, { ...forward, forward: strike, expiry }] as const;
      const rate = random.uniform(-0.3, 0.1);
      const scenarios = { spot: [-0.5, 0, 0.5], rate: [0, 0.01], time: [0, 0.4 * expiry] };
      const market = { rates: { C: rate }, underlyings: { A: { spot: 100, currency: "C", ...asset } } };
      const [call, put, one] = await priced({ asOf: "2026-11-20", market, trades, scenarios }, true);
      const allowed = call.errorEstimate + put.errorEstimate + one.errorEstimate;
      expect(Math.abs(call.value - put.value - one.value)).toBeLessThanOrEqual(allowed);
      expect(one.value).toBeGreaterThanOrEqual(-strike * Math.exp(-rate * expiry) * (1 + 1e-13));
      for (const name of ["delta", "theta", "rho"] as const) {
        const errors = [call, put, one].map(({ sensitivityErrorEstimates: of }) => of![name]!);
        const error = errors.reduce((sum, x) => sum + x, 0);
        expect(Math.abs(call[name]! - put[name]! - one[name]!), `${name} of ${n}`).toBeLessThanOrEqual(error);
      }
      const flat = ({ scenarios: of }: PricedTrade): readonly number[] => of!.flat(3) as number[];
      const [calls, puts, ones] = [call, put, one].map(flat);
      const scale = Math.max(...calls.map(Math.abs), ...puts.map(Math.abs), 100);
      ones.forEach((x, k) => expect(Math.abs(calls[k] - puts[k] - x)).toBeLessThan(1e-11 * scale));
    }
  });

  it.each(["taylor", "revaluation"] as const)("is explained by %s, and settled at the later spot", async (method) => {
    const at = (asOf: string, spot: number, zero: number, expiry = "2028-05-20"): BookInput => ({
      asOf,
      market: {
        rates: { C: zero },
        underlyings: {
          A: { spot, currency: "C", dividends: { yield: 0.01, discrete: [{ date: "2026-11-22", cash: 1 }] } },
        },
      },
      trades: [{ ...forward, expiry }],
    });
    const explained = async (expiry?: string) => {
      const books = [at("2026-11-20", 100, 0.02, expiry), at("2026-11-23", 101, 0.021, expiry)].map((one) =>
        parseBook(one),
      );
      const [row] = (await explainBook(books[0], books[1], { device, method })).results;
      return row;
    };
    const row = await explained();
    expect(row.status).toBe("explained");
    expect(Math.abs(row.unexplained!)).toBeLessThan(method === "revaluation" ? 1e-12 : 0.01);
    expect(row.moves).toMatchObject({ spot: 1, volatility: 0 });
    expect(row.moves!.rate).toBeCloseTo(0.001, 12);
    const settled = await explained("2026-11-22");
    expect(settled).toMatchObject({ status: "matured", after: 0, moves: { rate: 0, volatility: 0 } });
    expect(settled.cash).toBeCloseTo(101 - 102, 11);
  });

  it("is read from a book, described, and refused where it is wrong", () => {
    const [parsed] = parseBook(book([forward])).trades;
    expect(parsed).toMatchObject({ ok: true, trade: { kind: "forward", strike: 102, expiry: YEARS } });
    if (parsed.ok) expect(describeTrade(parsed.trade)).toBe("forward 102");
    const wrong = [
      { ...forward, expiry: -1 },
      { ...forward, underlying: "B" },
      { ...forward, strike: 1 } as TradeInput,
    ];
    const messages = wrong.map((one) => {
      const [{ ok, ...rest }] = parseBook(book([one])).trades;
      return ok ? "" : (rest as { error: Error }).error.message;
    });
    expect(messages.join("; ")).toMatch(
      /^trades\[0\]\.expiry: .*underlying: unknown underlying "B".*strike: unknown field/,
    );
  });
});
