/** Risk by bucket, against parallel sensitivities, against books with one number of the market changed. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type Bucket, parseBook, placeText, type PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../src/pricing/index.ts";
import { Random } from "../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

async function priced(input: object, options: PricingOptions = {}): Promise<readonly PricedTrade[]> {
  const asked = { greeks: "buckets", sensitivityErrorEstimates: true, device, ...options } as const;
  const { results } = await priceBook(parseBook(input as BookInput), asked);
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** The sum of the buckets of a factor, and that of their error estimates; an unknown one counts as nothing. */
function sumOf({ buckets = [] }: PricedTrade, factor: Bucket["factor"]): readonly [value: number, error: number] {
  const own = buckets.filter((bucket) => bucket.factor === factor);
  return [
    own.reduce((sum, { value }) => sum + value, 0),
    own.reduce((sum, { errorEstimate }) => sum + (errorEstimate ?? 0), 0),
  ];
}

const random = new Random(47);
const between = (low: number, high: number): number => random.uniform(low, high);

/** Markets and trades with random numbers: two currencies, of which one has nodes. */
const market = () => ({
  rates: {
    EUR: between(-0.01, 0.06),
    USD: [
      { date: "2027-02-01", zero: between(0.01, 0.05) },
      { date: "2027-09-01", zero: between(0.01, 0.05) },
      { date: "2029-01-01", zero: between(0.01, 0.05) },
    ],
    GBP: {
      hullWhite: {
        meanReversion: 0.05,
        volatility: [
          { date: "2028-11-20", volatility: between(0.006, 0.012) },
          { date: "2032-11-20", volatility: between(0.006, 0.012) },
        ],
        curve: [
          { date: "2027-11-20", zero: between(0.01, 0.05) },
          { date: "2036-11-20", zero: between(0.01, 0.05) },
        ],
      },
    },
  },
  underlyings: {
    FLAT: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: between(0.15, 0.4) },
    TERM: {
      spot: 100,
      currency: "USD",
      dividends: { discrete: [{ date: "2027-05-03", cash: between(0.5, 3) }] },
      volatility: {
        termStructure: [
          { date: "2027-03-20", volatility: between(0.18, 0.22) },
          { date: "2027-08-20", volatility: between(0.22, 0.26) },
          { date: "2028-06-20", volatility: between(0.24, 0.3) },
        ],
      },
    },
    FLAT2: { spot: 100, currency: "USD", volatility: between(0.15, 0.4) },
    HESTON: {
      spot: 100,
      currency: "USD",
      volatility: { heston: { v0: 0.04, kappa: 1.5, theta: between(0.03, 0.06), sigma: 0.3, rho: -0.6 } },
    },
  },
  correlations: [["FLAT2", "TERM", 0.4]],
  credit: {
    TERM: {
      spread: [
        { date: "2027-06-01", spread: 0.01 },
        { date: "2029-06-01", spread: between(0.01, 0.04) },
      ],
    },
  },
});
const option = (id: string, underlying: string, more: object = {}): object => ({
  id,
  underlying,
  payoff: "put",
  strike: Math.round(between(90, 110)),
  expiry: "2027-11-20",
  ...more,
});
const trades = (): readonly object[] => [
  option("european", "FLAT"),
  option("American, constant", "FLAT", { exercise: "american" }),
  option("with dividends", "TERM", { payoff: "call" }),
  option("American", "TERM", { exercise: "american" }),
  option("knock-out", "TERM", { barriers: [{ type: "down-and-out", level: 70 }] }),
  option("Heston", "HESTON"),
  option("American under Heston", "HESTON", { exercise: "american" }),
  option("Asian", "TERM", { average: { kind: "arithmetic", dates: ["2027-04-20", "2027-08-20", "2027-11-20"] } }),
  {
    id: "basket",
    underlyings: ["TERM", "FLAT2"],
    payoff: { basket: "call", weights: [0.5, 0.5] },
    strike: 100,
    expiry: 1,
  },
  { id: "forward", underlying: "TERM", forward: 100, expiry: "2027-11-20" },
  { id: "bond", currency: "GBP", bond: { maturity: "2031-11-20", coupon: 0.04, frequency: 1, notional: 100 } },
  {
    id: "Bermudan",
    currency: "GBP",
    swaption: "payer",
    strike: 0.03,
    swap: { start: "2028-11-20", end: "2032-11-20", frequency: 1, notional: 100 },
    exercise: ["2028-11-20", "2029-11-20", "2030-11-20"],
  },
  {
    id: "convertible",
    underlying: "TERM",
    convertible: {
      maturity: "2029-11-20",
      notional: 100,
      coupon: 0.02,
      frequency: 1,
      ratio: 0.9,
      conversion: "american",
    },
  },
];

describe("sums of buckets", () => {
  test.each([1, 2, 3, 4, 5, 6])("are the parallel sensitivities, within their estimates (book %i)", async () => {
    const results = await priced({ asOf: "2026-11-20", market: market(), trades: trades() });
    for (const result of results) {
      const { id, vega, rho, delta, creditSensitivity, sensitivityErrorEstimates: errors } = result;
      const near = ([sum, error]: readonly [number, number], whole: number | null, own: number | null | undefined) => {
        const allowed = error + (own ?? 1e-3 * Math.abs(whole ?? 0)) + 1e-6;
        expect(Math.abs(sum - (whole ?? 0)), `${id}: ${sum} ± ${error} of ${whole} ± ${own}`).toBeLessThan(allowed);
        // An estimate that is as large as what it is for says nothing.
        if (Math.abs(whole ?? 0) > 1) expect(error, id).toBeLessThan(0.1 * Math.abs(whole ?? 0) + 1);
      };
      near(sumOf(result, "volatility"), vega, errors?.vega);
      near(sumOf(result, "rate"), rho, errors?.rho);
      if ("underlying" in result && id !== "bond" && id !== "Bermudan")
        near(sumOf(result, "spot"), delta, errors?.delta);
      if (typeof creditSensitivity === "number")
        near(sumOf(result, "spread"), creditSensitivity, errors?.creditSensitivity);
      for (const { factor, at } of result.buckets ?? []) expect(`${factor} ${placeText(at)}`).toMatch(/^\w+ /);
    }
  });
});
