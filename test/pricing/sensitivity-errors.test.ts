/** Error estimates of sensitivities hold against exact ones, on random trades; and they are there on request alone. */
import { afterAll, describe, expect, it } from "vitest";
import { parseBook, type PricedTrade, SENSITIVITIES } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../src/pricing/index.ts";
import { piecesOf, survivingValue } from "../../tools/properties/closed-forms.ts";
import { bookOf, type Contract } from "../../tools/properties/contract.ts";
import {
  contractOf,
  drawLevel,
  drawMarket,
  drawPayoff,
  drawRight,
  drawStrike,
} from "../../tools/properties/generate.ts";
import { Random } from "../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

type Greeks = Readonly<Record<(typeof SENSITIVITIES)[number], number>>;

async function price(book: object, options: Omit<PricingOptions, "device"> = {}): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** Contracts that a draw suits. */
function drawn(seed: number, count: number, draw: (random: Random) => Contract | undefined): readonly Contract[] {
  const random = new Random(seed);
  const contracts: Contract[] = [];
  while (contracts.length < count) {
    const contract = draw(random);
    if (contract !== undefined) contracts.push(contract);
  }
  return contracts;
}

function european(random: Random): Contract | undefined {
  const market = drawMarket(random, {
    volatility: ["flat", "termStructure"],
    dividends: ["none", "yield", "proportional"],
  });
  const paid = drawPayoff(random, market);
  return typeof paid.payoff === "object" && "expression" in paid.payoff
    ? undefined
    : { ...contractOf(market), ...paid };
}

/** How many sensitivities are further from the exact ones than their estimates, and the largest estimates. */
function outside(got: readonly PricedTrade[], exact: readonly Greeks[]) {
  const missed = got.flatMap(({ id, sensitivityErrorEstimates, ...values }, i) =>
    SENSITIVITIES.filter(
      (name) => !(Math.abs(values[name]! - exact[i][name]) <= sensitivityErrorEstimates![name]!),
    ).map((name) => ({
      id,
      name,
      value: values[name],
      exact: exact[i][name],
      estimate: sensitivityErrorEstimates![name],
    })),
  );
  return missed;
}

const asGreeks = (results: readonly PricedTrade[]): readonly Greeks[] =>
  results.map((one) => Object.fromEntries(SENSITIVITIES.map((name) => [name, one[name]])) as Greeks);

/** Fourth-order differences of a function of one move. */
const slope = (f: (x: number) => number, h: number): number => (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
const bend = (f: (x: number) => number, h: number): number =>
  (16 * (f(h) + f(-h)) - (f(2 * h) + f(-2 * h)) - 30 * f(0)) / (12 * h * h);

describe("finite differences", () => {
  it("against Black and Scholes' formulas", async () => {
    const contracts = drawn(11, 60, european);
    const exact = asGreeks(await price(bookOf(contracts)));
    const got = await price(bookOf(contracts), { method: "fdm", sensitivityErrorEstimates: true });
    expect(outside(got, exact)).toEqual([]);
    // They say something: half of the deltas are known to 1e-3.
    const sizes = got.map(({ sensitivityErrorEstimates }) => sensitivityErrorEstimates!.delta!).sort((a, b) => a - b);
    expect(sizes[30]).toBeLessThan(1e-3);
    expect(sizes[30]).toBeGreaterThan(1e-9);
  });

  it("against differences of barrier options' formulas", async () => {
    const contracts = drawn(12, 40, (random) => {
      const market = drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["flat"] });
      const side = random.choice(["up", "down"] as const);
      const level = drawLevel(random, market, side);
      // Nearer, differences of the formula are no better than the estimates.
      if (Math.abs(Math.log(level / market.spot)) < 0.05 * market.width) return undefined;
      const terms = { payoff: drawRight(random), strike: drawStrike(random, market) };
      return { ...contractOf(market), ...terms, barriers: [{ type: `${side}-and-out`, level }] };
    });
    const exact = contracts.map((contract): Greeks => {
      const { spot, rate, yield: q = 0, volatility, expiry, payoff, strike, barriers } = contract;
      const [{ level, type }] = barriers!;
      const range: [number, number] = type.startsWith("up") ? [0, level] : [level, Infinity];
      const at = ({ s = 0, v = 0, r = 0, t = 0 }): number => {
        const moved = { spot: spot + s, rate: (rate as number) + r, yield: q };
        const model = { ...moved, volatility: (volatility as number) + v, expiry: expiry - t };
        return survivingValue(model, piecesOf(payoff as "call" | "put", strike!), ...range);
      };
      const ofSpot = 0.2 * Math.min(Math.abs(level - spot), 0.01 * spot);
      return {
        delta: slope((s) => at({ s }), ofSpot),
        gamma: bend((s) => at({ s }), ofSpot),
        theta: slope((t) => at({ t }), 1e-3 * expiry),
        vega: slope((v) => at({ v }), 1e-3 * (volatility as number)),
        rho: slope((r) => at({ r }), 1e-3),
      };
    });
    const got = await price(bookOf(contracts), { method: "fdm", sensitivityErrorEstimates: true });
    expect(outside(got, exact)).toEqual([]);
  });

  it("of American and Bermudan options, against a much finer solution", async () => {
    const contracts = drawn(13, 12, (random) => {
      const market = drawMarket(random, { volatility: ["flat", "cev", "termStructure"] });
      const terms = { payoff: drawRight(random), strike: drawStrike(random, market) };
      const exercise = random.choice(["american", [0.5 * market.expiry]] as const);
      return { ...contractOf(market), ...terms, exercise };
    });
    const exact = asGreeks(await price(bookOf(contracts), { method: "fdm", accuracy: { relative: 1e-7 } }));
    const got = await price(bookOf(contracts), { method: "fdm", sensitivityErrorEstimates: true });
    expect(outside(got, exact)).toEqual([]);
  });
});

it("the integral equation, against a much finer discretisation", async () => {
  const american = drawn(20_261_125, 150, (random) => {
    const market = drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"] });
    // Two boundaries, or a rate by time, are for finite differences.
    if (typeof market.rate !== "number" || market.rate < 0) return undefined;
    const strike = drawStrike(random, market);
    return { ...contractOf(market), payoff: drawRight(random), strike, exercise: "american" };
  });
  const book = bookOf(american);
  const got = await price(book, { sensitivityErrorEstimates: true, method: "integral" });
  const exact = await price(book, { method: "integral", accuracy: { relative: 1e-8 } });
  // Those that the finest scheme does not reach come from finite differences, whose sensitivities are less exact.
  const known = got.map((one, i) => one.method === "integral" && exact[i].method === "integral");
  const both = <T>(all: readonly T[]): T[] => all.filter((_, i) => known[i]);
  expect(both(got).length).toBeGreaterThan(100);
  const missed = outside(both(got), asGreeks(both(exact)));
  expect(missed.length).toBeLessThan(0.01 * SENSITIVITIES.length * both(got).length);
  expect(missed.filter((one) => Math.abs(one.value! - one.exact) > 3 * one.estimate!)).toEqual([]);
});

describe("closed forms in f32, against f64", () => {
  it.each([
    ["Black and Scholes", drawn(14, 100, european)],
    [
      "Heston",
      drawn(15, 30, (random) => {
        const market = drawMarket(random, { rates: ["flat"], dividends: ["none", "yield"] });
        const [v0, theta] = [random.logUniform(0.01, 0.3), random.logUniform(0.01, 0.3)];
        const moves = {
          kappa: random.logUniform(0.3, 8),
          sigma: random.logUniform(0.1, 1),
          rho: random.uniform(-0.9, 0.5),
        };
        const volatility = { heston: { v0, theta, ...moves } } as unknown as Contract["volatility"];
        const terms = { payoff: drawRight(random), strike: drawStrike(random, market) };
        return { ...contractOf(market), ...terms, volatility };
      }),
    ],
  ])("%s", async (_, contracts) => {
    const exact = asGreeks(await price(bookOf(contracts), { method: "closed-form" }));
    const options = { method: "closed-form", precision: "f32", sensitivityErrorEstimates: true } as const;
    expect(outside(await price(bookOf(contracts), options), exact)).toEqual([]);
  });
});

describe("request", () => {
  const [contract] = drawn(1, 1, european);

  it("nothing unless asked for", async () => {
    const [got] = await price(bookOf([contract]));
    expect(got).not.toHaveProperty("sensitivityErrorEstimates");
    const [none] = await price(bookOf([contract]), { greeks: "none", sensitivityErrorEstimates: true });
    expect(none).not.toHaveProperty("sensitivityErrorEstimates");
  });

  it("null for what was not asked for", async () => {
    const [got] = await price(bookOf([contract]), { greeks: "grid", sensitivityErrorEstimates: true });
    expect(got.sensitivityErrorEstimates).toMatchObject({ delta: expect.any(Number) as number, vega: null, rho: null });
  });

  it("values and sensitivities have the same bits with and without", async () => {
    const contracts = drawn(16, 8, (random) => {
      const market = drawMarket(random);
      return {
        ...contractOf(market),
        ...drawPayoff(random, market),
        exercise: random.choice(["european", "american"]),
      };
    });
    const plain = await price(bookOf(contracts), { method: "fdm" });
    const told = await price(bookOf(contracts), { method: "fdm", sensitivityErrorEstimates: true });
    expect(told).toMatchObject(plain);
  });

  it("an option that is none", async () => {
    const options = { device, sensitivityErrorEstimates: "yes" as unknown as boolean };
    await expect(priceBook(parseBook(JSON.stringify(bookOf([contract]))), options)).rejects.toThrow(
      'sensitivityErrorEstimates: got "yes", expected true or false',
    );
  });
});
