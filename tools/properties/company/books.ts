/** Random books of every model and product, in which trades and markets have neighbours that are nearly the same. */
import { Random } from "../random.ts";
import { neighbourOf } from "./neighbours.ts";

export type Json = Readonly<Record<string, unknown>>;
type Draw<T = Json> = (random: Random) => T;

const strike: Draw<number> = (random) => random.choice([100, random.uniform(85, 115)]);
const right: Draw<string> = (random) => random.choice(["call", "put"]);
const expiry: Draw<number> = (random) => random.choice([1, random.uniform(0.2, 2.5)]);
const datesUpTo = (last: number, count = 3): number[] =>
  Array.from({ length: count }, (_, k) => (last * (k + 1)) / count);

/** Implied volatilities with a skew and a smile that change with time. */
function quotes(random: Random): Json {
  const [level, skew, smile] = [random.uniform(0.15, 0.4), random.uniform(-0.15, 0), random.uniform(0.02, 0.1)];
  const expiries = [0.25, 0.5, 1, 2];
  const strikes = [70, 85, 100, 115, 130];
  const implied = expiries.map((t) =>
    strikes.map((k) => level + (skew * Math.log(k / 100)) / Math.sqrt(t + 0.3) + smile * Math.log(k / 100) ** 2),
  );
  return { expiries, strikes, implied };
}

const heston: Draw = (random) => ({
  v0: random.uniform(0.02, 0.09),
  kappa: random.uniform(0.8, 3.5),
  theta: random.uniform(0.02, 0.09),
  sigma: random.uniform(0.2, 0.6),
  rho: random.uniform(-0.8, 0.1),
});
const sabr: Draw = (random) => ({
  alpha: random.uniform(0.15, 0.35),
  beta: 0.95,
  nu: random.uniform(0.2, 0.6),
  rho: random.uniform(-0.6, 0.1),
});
const surface: Draw = (random) => ({
  times: [0.5, 1.5],
  spots: [70, 100, 140],
  volatility: [0, 1].map(() => [0, 1, 2].map(() => random.uniform(0.15, 0.35))),
});

/** Volatilities of an underlying with a spot of about 100. */
export const VOLATILITIES: Readonly<Record<string, Draw<unknown>>> = {
  flat: (random) => random.uniform(0.1, 0.5),
  termStructure: (random) => ({
    termStructure: [
      { date: 0.4, volatility: random.uniform(0.2, 0.25) },
      { date: 1.2, volatility: random.uniform(0.22, 0.3) },
    ],
  }),
  cev: (random) => ({ cev: { sigma: random.uniform(2, 4), beta: 0.5 } }),
  displaced: (random) => ({ displaced: { sigma: random.uniform(0.1, 0.3), shift: random.uniform(5, 50) } }),
  local: (random) => ({ local: `${random.uniform(0.15, 0.3)} + 0.1*exp(-S/${random.uniform(60, 140)})` }),
  localInTime: (random) => ({ local: `${random.uniform(0.15, 0.3)}*(1.1 + 0.2*exp(-t/0.7)) + 0.05*exp(-S/90.5)` }),
  surface: (random) => ({ surface: surface(random) }),
  quotes: (random) => ({ quotes: quotes(random) }),
  fitted: (random) => ({
    quotes: quotes(random),
    fit: random.choice(["svi", "ssvi", "essvi", "andreasen-huge", "heston", { sabr: { beta: 0.9 } }]),
  }),
  heston: (random) => ({ heston: heston(random) }),
  sabr: (random) => ({ sabr: sabr(random) }),
  gaussianFactors: (random) => ({
    gaussianFactors: random.choice<Json>([
      { alpha: [random.uniform(0.2, 2.5)], sigma: [random.uniform(0.2, 0.6)] },
      { alpha: [0.3, 2.5], sigma: [random.uniform(0.1, 0.3), random.uniform(0.2, 0.5)], rho: -0.3 },
    ]),
  }),
  stochasticLocal: (random) => ({
    stochasticLocal: {
      ...random.choice<Json>([{ heston: heston(random) }, { sabr: sabr(random) }]),
      surface: surface(random),
    },
  }),
};

const curve: Draw<unknown> = (random) =>
  random.choice<unknown>([
    random.uniform(0.01, 0.05),
    [
      { date: 1, zero: random.uniform(0.01, 0.03) },
      { date: 5, zero: random.uniform(0.02, 0.04) },
    ],
  ]);

/** Rates of a currency. */
export const RATES: Readonly<Record<string, Draw<unknown>>> = {
  curve,
  hullWhite: (random) => ({
    hullWhite: {
      meanReversion: random.uniform(0.02, 0.3),
      volatility: random.uniform(0.005, 0.015),
      curve: curve(random),
    },
  }),
  hullWhiteByDate: (random) => ({
    hullWhite: {
      meanReversion: random.uniform(0.02, 0.3),
      volatility: [
        { date: 1.5, volatility: random.uniform(0.005, 0.01) },
        { date: 9.5, volatility: random.uniform(0.01, 0.015) },
      ],
      curve: curve(random),
    },
  }),
  g2: (random) => ({
    g2: {
      a: random.uniform(0.05, 0.2),
      sigma: random.uniform(0.005, 0.01),
      b: random.uniform(0.3, 0.6),
      eta: random.uniform(0.005, 0.01),
      rho: random.uniform(-0.8, 0.1),
      curve: curve(random),
    },
  }),
  vasicek: (random) => ({
    vasicek: { r0: 0.03, kappa: random.uniform(0.1, 0.5), theta: 0.04, sigma: random.uniform(0.005, 0.02) },
  }),
  cir: (random) => ({
    cir: { r0: 0.03, kappa: random.uniform(0.2, 0.6), theta: 0.05, sigma: random.uniform(0.05, 0.12) },
  }),
  blackKarasinski: (random) => ({
    blackKarasinski: {
      meanReversion: random.uniform(0.03, 0.3),
      volatility: random.uniform(0.1, 0.3),
      curve: curve(random),
    },
  }),
  bdt: (random) => ({
    bdt: {
      annualYields: [1, 2, 3, 4, 5, 6, 7, 8].map((year) => 0.03 + 0.0015 * year),
      yieldVolatilities: [1, 2, 3, 4, 5, 6, 7, 8].map((year) => random.uniform(0.15, 0.16) - 0.004 * year),
    },
  }),
  shortRate: (random) => ({
    shortRate: {
      r0: 0.03,
      drift: `${random.uniform(0.1, 0.4)}*(0.035 - r)`,
      volatility: random.choice([
        `${random.uniform(0.005, 0.015)} + 0.0*r`,
        `${random.uniform(0.05, 0.15)}*sqrt(max(r, 0))`,
      ]),
      range: [-0.2, 0.4],
      curve: curve(random),
    },
  }),
};

const barrier = (random: Random, more: Json = {}): Json => {
  const type = random.choice(["up-and-out", "up-and-in", "down-and-out", "down-and-in"]);
  const level = type.startsWith("up") ? random.uniform(110, 140) : random.uniform(65, 90);
  const rebate = random.chance(0.6) ? { rebate: random.uniform(0.5, 3) } : {};
  const at = type.endsWith("out") && random.chance(0.7) ? { rebateAt: random.choice(["hit", "expiry"]) } : {};
  return { type, level, ...rebate, ...at, ...more };
};

/** Trades on one underlying. */
export const OPTIONS: Readonly<Record<string, Draw>> = {
  european: (random) => ({ payoff: right(random), strike: strike(random), expiry: expiry(random) }),
  american: (random) => ({
    payoff: right(random),
    strike: strike(random),
    expiry: expiry(random),
    exercise: "american",
  }),
  bermudan: (random) => {
    const last = expiry(random);
    return { payoff: right(random), strike: strike(random), expiry: last, exercise: datesUpTo(last) };
  },
  digital: (random) => ({
    payoff: { digital: right(random), cash: random.uniform(5, 20) },
    strike: strike(random),
    expiry: expiry(random),
    exercise: random.choice(["european", "american"]),
  }),
  expression: (random) => ({
    payoff: random.choice<Json>([
      { expression: "abs(S - 100.5)", kinks: [100.5] },
      { expression: "min(max(S - 95.5, 0), 20.5)", kinks: [95.5, 116] },
    ]),
    expiry: expiry(random),
    exercise: random.choice(["european", "american"]),
  }),
  barrier: (random) => ({
    payoff: right(random),
    strike: strike(random),
    expiry: expiry(random),
    exercise: random.choice(["european", "european", "american"]),
    barriers: [barrier(random)],
  }),
  barrierOnDates: (random) => {
    const last = expiry(random);
    const dated = barrier(random, { monitoring: datesUpTo(last, random.choice([2, 4])) });
    return { payoff: right(random), strike: strike(random), expiry: last, barriers: [dated] };
  },
  window: (random) => ({
    payoff: right(random),
    strike: strike(random),
    expiry: 1.2,
    barriers: [barrier(random, { from: 0.2, to: random.uniform(0.5, 1) })],
  }),
  doubleBarrier: (random) => ({
    payoff: right(random),
    strike: strike(random),
    expiry: expiry(random),
    barriers: [
      { type: "up-and-out", level: random.uniform(120, 150) },
      { type: "down-and-out", level: random.uniform(60, 85) },
    ],
  }),
  asian: (random) => {
    const last = expiry(random);
    const dates = random.choice(["continuous", datesUpTo(last, 4)]);
    const average = { kind: random.choice(["arithmetic", "geometric"]), dates };
    return { payoff: right(random), strike: strike(random), expiry: last, average };
  },
  lookback: (random) => {
    const last = expiry(random);
    const kind = random.choice(["fixed", "floating"]);
    const monitoring = random.choice(["continuous", datesUpTo(last, 4)]);
    const own = kind === "fixed" ? { strike: strike(random) } : {};
    return { payoff: right(random), ...own, expiry: last, lookback: { strike: kind, monitoring } };
  },
  swing: (random) => {
    const last = expiry(random);
    const swing = { dates: datesUpTo(last, 6), min: random.choice([0, 1]), max: random.choice([2, 3]) };
    return { payoff: right(random), strike: strike(random), expiry: last, swing };
  },
};

/** Trades on several underlyings. */
export const BASKETS: Readonly<Record<string, Draw>> = {
  basket: (random) => ({
    payoff: {
      basket: right(random),
      weights: [random.uniform(0.3, 0.7), random.uniform(0.3, 0.7)],
      kind: random.choice(["arithmetic", "geometric"]),
    },
    strike: strike(random),
    expiry: expiry(random),
    exercise: random.choice(["european", "american"]),
  }),
  best: (random) => ({ payoff: { bestOf: right(random) }, strike: strike(random), expiry: expiry(random) }),
  worst: (random) => ({ payoff: { worstOf: right(random) }, strike: strike(random), expiry: expiry(random) }),
  spread: (random) => ({
    payoff: { spread: right(random) },
    strike: random.choice([2.5, 5.5]),
    expiry: expiry(random),
  }),
  expression: (random) => ({ payoff: { expression: "max(S1 - 0.9*S2, 0)" }, expiry: expiry(random) }),
  barrier: (random) => ({
    payoff: { basket: right(random), weights: [0.5, 0.5] },
    strike: strike(random),
    expiry: expiry(random),
    barriers: [barrier(random, { underlying: "A" })],
  }),
};

const swapOf = (start: number, years: number): Json => ({ start, end: start + years, frequency: 1, notional: 100 });
const rate: Draw<number> = (random) => random.uniform(0.02, 0.05);

/** Trades on the rates of a currency. */
export const RATES_TRADES: Readonly<Record<string, Draw>> = {
  bond: (random) => ({ bond: { maturity: 4, coupon: rate(random), frequency: 2, notional: 100 } }),
  callable: (random) => ({
    bond: {
      maturity: 5,
      coupon: rate(random),
      frequency: 1,
      notional: 100,
      calls: random.choice<Json[]>([
        [
          { date: 2, price: 100.5 },
          { date: 3, price: 100.5 },
        ],
        [{ from: 2, to: 4, price: 100.5 }],
      ]),
    },
  }),
  puttable: (random) => ({
    bond: { maturity: 5, coupon: rate(random), frequency: 1, notional: 100, puts: [{ date: 3, price: 99.5 }] },
    ...(random.chance(0.3) ? { marketPrice: 100.5 } : {}),
  }),
  bondOption: (random) => ({
    payoff: right(random),
    strike: random.uniform(97, 103),
    strikeIs: random.choice(["clean", "dirty"]),
    expiry: 2,
    on: { bond: { maturity: 5, coupon: rate(random), frequency: 1, notional: 100 } },
  }),
  cap: (random) => ({ cap: { start: 1, end: 4, frequency: 2, notional: 100 }, strike: rate(random) }),
  floor: (random) => ({ floor: { start: 1, end: 4, frequency: 2, notional: 100 }, strike: rate(random) }),
  quotedCap: (random) => ({
    cap: { start: 1, end: 3, frequency: 1, notional: 100 },
    strike: rate(random),
    volatility: random.choice<unknown>([0.25, { normal: 0.0085 }, { displaced: { sigma: 0.2, shift: 0.015 } }]),
  }),
  swaption: (random) => ({
    swaption: random.choice(["payer", "receiver"]),
    swap: swapOf(2, 4),
    expiry: 2,
    strike: rate(random),
  }),
  bermudanSwaption: (random) => ({
    swaption: random.choice(["payer", "receiver"]),
    swap: swapOf(2, 4),
    exercise: [2, 3, 4],
    strike: rate(random),
  }),
  americanSwaption: (random) => ({
    swaption: random.choice(["payer", "receiver"]),
    swap: swapOf(1, 4),
    expiry: random.choice([1, 2]),
    exercise: "american",
    strike: rate(random),
  }),
};

export const convertible: Draw = (random) => ({
  convertible: {
    maturity: random.choice([3, random.uniform(2, 5)]),
    coupon: rate(random),
    frequency: 1,
    notional: 100,
    ratio: random.uniform(0.7, 1.1),
    conversion: random.choice<unknown>(["american", "european", [1, 2]]),
    ...(random.chance(0.6) ? { calls: [{ from: 1.5, to: 2, price: 105.5, trigger: random.choice([0, 120.5]) }] } : {}),
    ...(random.chance(0.5) ? { puts: [{ date: 1.5, price: 98.5 }] } : {}),
    calledCashComponent: random.choice(["callPrice", "zero"]),
  },
});

const credit: Draw = (random) =>
  random.choice<Json>([
    { spread: random.uniform(0.01, 0.05) },
    { hazard: random.uniform(0.01, 0.05), recovery: 0.4, jump: random.choice([0, 0.5]) },
    { hazard: 0.025, recovery: 0.3, jump: 0.5, exponent: -1.2, reference: 100.5 },
  ]);

const dividends: Draw<Json | undefined> = (random) =>
  random.choice<Json | undefined>([
    undefined,
    { yield: random.uniform(-0.01, 0.04) },
    {
      discrete: [
        { date: 0.3, cash: random.uniform(1, 3) },
        { date: 0.8, proportional: 0.015 },
      ],
    },
  ]);

/** A book as it is written, before it is read. */
export interface Book extends Json {
  readonly market: Json;
  readonly trades: readonly Json[];
}

/** Books of all models and products, or of those that take little time. */
export type Extent = "all" | "quick";

const QUICK = {
  volatilities: ["flat", "termStructure", "cev", "displaced", "local", "localInTime", "surface"],
  options: ["european", "american", "bermudan", "digital", "expression", "barrier", "window", "doubleBarrier"],
};

const drawsOf = <T>(all: Readonly<Record<string, Draw<T>>>, quick: readonly string[], extent: Extent): Draw<T>[] =>
  Object.entries(all).flatMap(([name, draw]) => (extent === "all" || quick.includes(name) ? [draw] : []));

/**
 * Draws a book. Its currencies EUR and USD and its underlyings A and B differ in one field each, and each trade stands
 * beside the same trade under the other of them, and beside one that differs in one field.
 */
export function drawBook(seed: number, extent: Extent): Book {
  const random = new Random(seed);
  const volatilities = drawsOf(VOLATILITIES, QUICK.volatilities, extent);
  const options = drawsOf(OPTIONS, QUICK.options, extent);
  const kinds = Object.values(RATES);
  const EUR = random.choice(kinds)(random);
  const CHF = random.choice([curve, RATES.hullWhite])(random);
  const rates = {
    EUR,
    USD: neighbourOf(random, EUR),
    GBP: random.choice(kinds)(random),
    CHF,
    JPY: neighbourOf(random, CHF),
  };
  const own = dividends(random);
  const A = {
    spot: 100,
    currency: "CHF",
    ...(own === undefined ? {} : { dividends: own }),
    volatility: random.choice(volatilities)(random),
  };
  const C = { spot: 95, currency: "CHF", volatility: random.choice(volatilities)(random) };
  const underlyings = { A, B: neighbourOf(random, A), C, D: { ...A, currency: "JPY" } };
  const risk = credit(random);
  const trades: Json[] = [];
  const add = (trade: Json, places: readonly Json[]): void => {
    for (const place of places) trades.push({ id: `T${trades.length}`, ...place, ...trade });
    trades.push({ id: `T${trades.length}`, ...places[0], ...neighbourOf(random, trade) });
  };
  const names = ["A", "B", random.choice(["C", "D"])].map((underlying) => ({ underlying }));
  for (let k = 0; k < 3; k++) add(random.choice(options)(random), names);
  if (extent === "all")
    add(random.choice(Object.values(BASKETS))(random), [
      { underlyings: ["A", "B"] },
      { underlyings: ["B", "A"] },
      { underlyings: ["A", "C"] },
    ]);
  const currencies = ["EUR", "USD", "GBP"].map((currency) => ({ currency }));
  for (let k = 0; k < 3; k++) add(random.choice(Object.values(RATES_TRADES))(random), currencies);
  add(convertible(random), names);
  return {
    asOf: random.choice(["2026-11-20", "2026-11-23T09:30:00Z"]),
    market: {
      rates,
      underlyings,
      credit: { A: risk, B: neighbourOf(random, risk), D: risk },
      correlations: [
        ["A", "B", random.uniform(-0.3, 0.8)],
        ["A", "C", 0.35],
        ["B", "C", 0.25],
      ],
    },
    trades,
    ...(random.chance(0.3) ? { scenarios: { spot: [-0.1, 0, 0.1], volatility: [0, 0.02], time: [0, 0.1] } } : {}),
  };
}
