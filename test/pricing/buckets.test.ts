/** Risk by bucket, against parallel sensitivities, against books with one number of the market changed. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type Bucket, parseBook, placeText, type PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { dealt } from "../support/extent.ts";
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
  test.each(dealt([1, 2, 3], 0, 3))("are the parallel sensitivities, within their estimates (book %i)", async () => {
    const results = await priced({ asOf: "2026-11-20", market: market(), trades: trades() });
    for (const result of results) {
      const { id, vega, rho, delta, creditSensitivity, sensitivityErrorEstimates: errors } = result;
      const near = ([sum, error]: readonly [number, number], whole: number | null, own: number | null | undefined) => {
        const allowed = error + (own ?? 1e-3 * Math.abs(whole ?? 0)) + 1e-6;
        expect(Math.abs(sum - (whole ?? 0)), `${id}: ${sum} ± ${error} of ${whole} ± ${own}`).toBeLessThan(allowed);
        // An estimate that is as large as what it is for says nothing.
        if (Math.abs(whole ?? 0) > 1) expect(error, `${id}: the estimate`).toBeLessThan(0.1 * Math.abs(whole ?? 0) + 1);
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

describe("the bucket of a number of the market", () => {
  const expiries = ["2027-02-20", "2027-08-20", "2028-02-20"];
  const strikes = [70, 80, 90, 95, 100, 105, 110, 120, 135];
  // Smiles of SVI, whose parameters nine quotes determine well.
  const implied = [0.25, 0.75, 1.25].map((t) =>
    strikes.map((strike) => {
      const x = Math.log(strike / 100) - 0.02;
      const [level, slope, width] = [0.012 * t, 0.07 * Math.sqrt(t), 0.22 * Math.sqrt(t) + 0.05];
      return Math.sqrt((level + slope * (Math.hypot(x, width) - 0.5 * x)) / t);
    }),
  );
  const numbers = { implied, zeros: [0.02, 0.03], cash: 1.5 };
  const bookOf = ({ implied: moved, zeros, cash }: typeof numbers) => ({
    asOf: "2026-11-20",
    market: {
      rates: {
        EUR: [
          { date: "2027-05-20", zero: zeros[0] },
          { date: "2028-05-20", zero: zeros[1] },
        ],
      },
      underlyings: {
        ACME: {
          spot: 100,
          currency: "EUR",
          volatility: { quotes: { expiries, strikes, implied: moved }, fit: "svi" },
        },
        // A smile keeps its local volatility where rates move, and not its quotes.
        FLAT: {
          spot: 100,
          currency: "EUR",
          dividends: { discrete: [{ date: "2027-06-01", cash }] },
          volatility: 0.25,
        },
      },
    },
    trades: ["ACME", "FLAT"].flatMap((name) => [
      option(`European on ${name}`, name, { expiry: "2027-10-20", strike: 95 }),
      option(`American on ${name}`, name, { expiry: "2027-10-20", strike: 105, exercise: "american" }),
    ]),
  });

  test("is the slope of the value by that number, all else as it was", async () => {
    const accuracy = { relative: 1e-7 };
    const today = await priced(bookOf(numbers), { accuracy });
    const slopes = async (size: number, at: (by: number) => typeof numbers): Promise<readonly number[]> => {
      const [up, down] = [await priced(bookOf(at(size)), { ...PLAIN }), await priced(bookOf(at(-size)), { ...PLAIN })];
      return up.map(({ value }, i) => (value - down[i].value) / (2 * size));
    };
    const PLAIN = { greeks: "none", accuracy } as const;
    const check = (factor: Bucket["factor"], place: string, expected: readonly number[], moved: number): void => {
      today.forEach(({ id, underlying, buckets = [] }, i) => {
        if ((underlying === "FLAT") !== (factor !== "volatility")) return;
        const found = buckets.find((bucket) => bucket.factor === factor && placeText(bucket.at) === place);
        const { value = 0, errorEstimate = 0 } = found ?? {};
        // The error of the differences, whose size is not that of the buckets.
        const allowed = (errorEstimate ?? 0) + moved * Math.max(1, Math.abs(expected[i]));
        expect(Math.abs(value - expected[i]), `${id}, ${factor} ${place}: ${value}, ${expected[i]}`).toBeLessThan(
          allowed,
        );
      });
    };
    const places = [
      [1, 3],
      [2, 4],
    ];
    for (const [e, k] of dealt(places, 0, 2)) {
      const at = (by: number) => ({ ...numbers, implied: implied.with(e, implied[e].with(k, implied[e][k] + by)) });
      check("volatility", `${expiries[e]} ${strikes[k]}`, await slopes(1e-4, at), 5e-3);
    }
    // Vega moves the local volatility instead, so that it is not what buckets of quotes sum to.
    const parallel = await slopes(1e-4, (by) => ({
      ...numbers,
      implied: implied.map((row) => row.map((x) => x + by)),
    }));
    today.slice(0, 2).forEach((result, i) => {
      const [sum, error] = sumOf(result, "volatility");
      const allowed = error + 5e-3 * Math.abs(parallel[i]);
      expect(Math.abs(sum - parallel[i]), `${result.id}: ${sum}, ${parallel[i]}`).toBeLessThan(allowed);
    });
    const zeros = (by: number) => ({ ...numbers, zeros: numbers.zeros.with(1, numbers.zeros[1] + by) });
    check("rate", "2028-05-20", await slopes(2e-4, zeros), 2e-3);
    check("dividend", "2027-06-01", await slopes(0.02, (by) => ({ ...numbers, cash: 1.5 + by })), 2e-3);
  });
});
