/**
 * Scripts of the library beside values of an independent set of reference cases (backward recursions to 1e-5, named by
 * their ids), values and deltas within their error estimates.
 */
import { expect, test } from "vitest";
import { priceBook, readBook } from "../../src/index.ts";

/** A spot, its dividend yield and its volatility. */
type Asset = readonly [number, number, number];
const asset = (volatility: number): Asset => [100, 0.01, volatility];
const equal = (count: number, last = 1): readonly number[] =>
  Array.from({ length: count }, (_, k) => ((k + 1) * last) / count);
const monthly = equal(12);

interface Case {
  readonly id: string;
  readonly rate?: number;
  readonly assets: readonly Asset[];
  readonly correlation?: number;
  readonly terms: object;
  readonly data: object;
  readonly price: number;
  readonly delta: readonly number[];
}

const INITIAL = { initial: 100 };
const swap = { notional: 100, past: 0, maturity: 1 };

const CASES: Readonly<Record<string, Case>> = {
  reverseCliquet: {
    id: "RCL-O-01",
    assets: [asset(0.2)],
    terms: INITIAL,
    data: { notional: 100, coupon: 0.3, resets: monthly, floor: 0, maturity: 1 },
    price: 6.205209701996044,
    delta: [0.264954380023798],
  },
  forwardStart: {
    id: "FWS-O-01",
    assets: [asset(0.25)],
    terms: { start: 0.5 },
    data: { shares: 1, sign: 1, strike: 1, maturity: 1.5 },
    price: 10.70871695920172,
    delta: [0.107087169592017],
  },
  volatilitySwap: {
    id: "VOL-O-01",
    rate: 0.02,
    assets: [[100, 0, 0.25]],
    terms: INITIAL,
    data: { ...swap, fixings: monthly, strike: 0.24, annualisation: 12, returns: 12 },
    price: 0.477558633012464,
    delta: [-0.003599813369397],
  },
  corridorVarianceSwap: {
    id: "CVS-O-01",
    assets: [asset(0.22)],
    terms: INITIAL,
    data: {
      ...swap,
      fixings: equal(24),
      strike: 0.2,
      annualisation: 24,
      returns: 24,
      counted: 0,
      lower: 90,
      upper: 115,
    },
    price: 0.515068577780615,
    delta: [0.003272740638008],
  },
  napoleon: {
    id: "NAP-O-01",
    assets: [asset(0.2)],
    terms: INITIAL,
    data: { notional: 100, fixings: equal(24, 2), ends: [1, 2], floors: [0, 0], coupons: [0.1, 0.1] },
    price: 3.469554695181801,
    delta: [0.049519974699875],
  },
  ladder: {
    id: "LAD-O-01",
    assets: [asset(0.25)],
    terms: {},
    data: { shares: 1, strike: 100, observations: monthly, first: 110, step: 10, rungs: 3, reached: 0, maturity: 1 },
    price: 14.210311299830103,
    delta: [0.803256044155171],
  },
  sharkFin: {
    id: "SHF-O-01",
    assets: [asset(0.2)],
    terms: INITIAL,
    data: {
      notional: 100,
      protection: 1,
      participation: 1,
      strike: 1,
      knockOut: 1.25,
      rebate: 0.05,
      observations: monthly,
      maturity: 1,
    },
    price: 100.85107664447415,
    delta: [0.13050732829502],
  },
  bestEntry: {
    id: "BEN-O-01",
    assets: [asset(0.22)],
    terms: {},
    data: {
      notional: 100,
      protection: 1,
      participation: 1,
      cap: 1e9,
      lowest: 100,
      entries: equal(6, 0.5),
      maturity: 2,
    },
    price: 112.92992870081783,
    delta: [0.202382377941734],
  },
  asianBarrier: {
    id: "ASB-O-01",
    assets: [asset(0.25)],
    terms: {},
    data: {
      shares: 1,
      sign: 1,
      strike: 100,
      barrier: 125,
      side: 1,
      rebate: 0,
      fixings: equal(4),
      past: 0,
      count: 4,
      maturity: 1,
    },
    price: 1.658857052447493,
    delta: [0.075632620183453],
  },
  averageStrike: {
    id: "ASF-O-01",
    assets: [asset(0.25)],
    terms: {},
    data: { shares: 1, sign: 1, multiple: 1, fixings: monthly, past: 0, count: 12, maturity: 1 },
    price: 5.765820262218186,
    delta: [0.057658202622181],
  },
  himalaya: {
    id: "HIM-O-01",
    assets: [asset(0.2), [100, 0.02, 0.3]],
    correlation: 0.4,
    terms: { initial: [100, 100] },
    data: { notional: 100, selections: [0.5, 1], count: 2, floor: -1, strike: 0, maturity: 1 },
    price: 7.224684186062055,
    delta: [0.277322793277119, 0.272768556517193],
  },
  dualDigital: {
    id: "DUD-O-01",
    assets: [asset(0.2), [1.1, 0.02, 0.1]],
    correlation: 0.3,
    terms: {},
    data: { notional: 100, observations: [1], count: 1, levels: { A: 102, B: 1.08 }, sides: { A: 1, B: 1 } },
    price: 31.009167928225065,
    delta: [1.17251346153545, 147.15717113014878],
  },
  callableWorstOf: {
    id: "ICW-O-01",
    rate: 0.02,
    assets: [asset(0.22), [50, 0.02, 0.28]],
    correlation: 0.5,
    terms: { initial: [100, 50] },
    data: {
      notional: 100,
      observations: [0.5, 1, 1.5, 2],
      coupons: [0.04, 0.04, 0.04, 0.04],
      barriers: [0.7, 0.7, 0.7, 0.7],
      calls: [0.5, 1, 1.5],
      prices: [1, 1, 1],
      knockIn: 0.6,
      maturity: 2,
    },
    price: 97.79705999806981,
    delta: [0.12098330712432197, 0.5235571591110167],
  },
  rangeAccrual: {
    id: "RAC-O-01",
    assets: [asset(0.2)],
    terms: {},
    data: {
      notional: 100,
      rate: 0.09,
      fixings: equal(48),
      lower: 90,
      upper: 112,
      payments: equal(4),
      fractions: [0.25, 0.25, 0.25, 0.25],
      totals: [12, 12, 12, 12],
      past: 0,
      maturity: 1,
    },
    price: 102.4446520480136,
    delta: [0.010368196271974],
  },
};

test.each(Object.entries(CASES))("%s has its published value", { timeout: 60_000 }, async (script, one) => {
  const names = one.assets.map((_, i) => `A${i}`);
  const underlyings = one.assets.map(([spot, dividends, volatility]) => ({
    spot,
    currency: "EUR",
    dividends: { yield: dividends },
    volatility,
  }));
  const book = {
    asOf: "2026-11-20",
    market: {
      rates: { EUR: one.rate ?? 0.03 },
      underlyings: Object.fromEntries(names.map((name, i) => [name, underlyings[i]])),
      ...(one.correlation === undefined ? {} : { correlations: [[...names, one.correlation]] }),
    },
    trades: [{ id: one.id, underlyings: names, script, ...one.terms, data: one.data }],
  };
  const { results } = await priceBook(readBook(book), {
    sensitivityErrorEstimates: true,
    accuracy: { relative: 1e-3 },
  });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  expect(Math.abs(result.value - one.price)).toBeLessThanOrEqual(result.errorEstimate);
  const errors = result.sensitivityErrorEstimates!;
  names.forEach((name, i) => {
    const delta = result.sensitivities?.[name].delta ?? result.delta!;
    const error = errors.sensitivities?.[name].delta ?? errors.delta!;
    expect(Math.abs(delta - one.delta[i])).toBeLessThanOrEqual(error);
    expect(error).toBeLessThan(0.5 * Math.max(...one.assets.map(([spot]) => (100 / spot) * (1 + one.delta[i]))));
  });
});
