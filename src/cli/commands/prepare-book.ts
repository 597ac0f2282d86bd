/** Sample trades of all kinds, with typical prices, dates and volatilities, to determine which kernels books need. */
/** A part of a book as plain data, which `readBook` validates. */
type Terms = Readonly<Record<string, unknown>>;

/** A book of sample trades of one kind, which are priced so that their kernels are compiled. */
export interface SampleBook {
  readonly name: string;
  /** The trades alone, and under scenarios, whose kernels read a solution at several spots. */
  readonly books: readonly Terms[];
}

/** The i-th of a sequence of numbers between `from` and `to` that is evenly distributed for any length (Weyl). */
const spread = (i: number, step: number, from: number, to: number): number =>
  Number((from + (to - from) * ((0.5 + i * step) % 1)).toFixed(4));

/**
 * The number of trades of each kind. Kernels are specialized by size, and these trades need the sizes for common
 * strikes and expiries.
 */
const DRAWS = 12;

const YEARS = [0.25, 0.5, 1, 2, 4];
const spot = 100;
const currency = "EUR";
const flat = { spot, currency, dividends: { yield: 0.01 } };
const cash = { yield: 0.01, discrete: [0.2, 0.7, 1.2, 1.7].map((date) => ({ date, cash: 1 })) };

/** Underlyings whose trades are priced by one-factor methods. Each kind needs other kernels. */
const ONE_FACTOR: Readonly<Record<string, (i: number) => Terms>> = {
  "constant volatility": (i) => ({ ...flat, volatility: spread(i, 0.7549, 0.12, 0.45) }),
  "cash dividends": (i) => ({ ...flat, dividends: cash, volatility: spread(i, 0.7549, 0.12, 0.45) }),
  "a term structure": (i) => ({
    ...flat,
    currency: "CUR",
    volatility: {
      termStructure: YEARS.map((date) => ({ date, volatility: spread(i, 0.7549, 0.15, 0.4) + 0.01 / (1 + date) })),
    },
  }),
  "a curve and cash dividends": (i) => ({
    ...flat,
    currency: "CUR",
    dividends: cash,
    volatility: spread(i, 0.7549, 0.12, 0.45),
  }),
  CEV: (i) => ({ ...flat, volatility: { cev: { sigma: spread(i, 0.7549, 1.5, 3.5), beta: 0.5 } } }),
  "a surface": (i) => ({
    ...flat,
    volatility: {
      surface: {
        times: [0.25, 1, 2],
        spots: [60, 80, 100, 120, 150],
        volatility: [0, 1, 2].map((t) => [0.32, 0.27, 0.23, 0.21, 0.2].map((v) => v + 0.01 * t + 0.002 * i)),
      },
    },
  }),
};

const VANILLA: Readonly<Record<string, (i: number, expiry: number) => Terms>> = {
  American: () => ({ exercise: "american" }),
  European: () => ({ exercise: "european" }),
  Bermudan: (_, expiry) => ({ exercise: [0.25, 0.5, 0.75, 1].map((part) => Number((part * expiry).toFixed(4))) }),
};

const BARRIERS: Readonly<Record<string, (i: number, expiry: number) => Terms>> = {
  "knock-out": (i) => ({
    barriers: [i % 2 === 0 ? { type: "up-and-out", level: 130 } : { type: "down-and-out", level: 75 }],
  }),
  "double knock-out": () => ({
    barriers: [
      { type: "up-and-out", level: 135 },
      { type: "down-and-out", level: 70 },
    ],
  }),
  "knock-in": (i) => ({
    barriers: [i % 2 === 0 ? { type: "up-and-in", level: 130 } : { type: "down-and-in", level: 75 }],
  }),
  "monitored on dates": (_, expiry) => ({
    barriers: [
      {
        type: "down-and-out",
        level: 75,
        monitoring: [0.25, 0.5, 0.75, 1].map((part) => Number((part * expiry).toFixed(4))),
      },
    ],
  }),
  "American knock-out": () => ({ exercise: "american", barriers: [{ type: "up-and-out", level: 135, rebate: 1 }] }),
  "American knock-in": () => ({ exercise: "american", barriers: [{ type: "down-and-in", level: 80 }] }),
};

const HESTON = { v0: 0.05, kappa: 1.8, theta: 0.05, sigma: 0.45, rho: -0.6 };

/** Underlyings with several factors. There are fewer trades on them, because each takes longer. */
const SEVERAL: Readonly<Record<string, Terms>> = {
  Heston: { ...flat, volatility: { heston: HESTON } },
  SABR: { ...flat, volatility: { sabr: { alpha: 2, beta: 0.5, nu: 0.4, rho: -0.4 } } },
  "Hull and White": { ...flat, currency: "HW", volatility: 0.25 },
};

const PATHS: Readonly<Record<string, (expiry: number) => Terms>> = {
  average: (expiry) => ({
    average: { kind: "arithmetic", dates: Array.from({ length: 12 }, (_, k) => ((k + 1) * expiry) / 12) },
  }),
  lookback: (expiry) => ({
    lookback: { strike: "fixed", monitoring: Array.from({ length: 12 }, (_, k) => ((k + 1) * expiry) / 12) },
  }),
};

const rates = {
  EUR: 0.03,
  CUR: YEARS.map((date) => ({ date, zero: 0.02 + 0.004 * Math.sqrt(date) })),
  HW: { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.03 } },
};

function bookOf(underlyings: Terms, trades: readonly Terms[], correlations: readonly unknown[] = []): Terms {
  return { asOf: "2026-11-20", market: { rates, underlyings, correlations }, trades };
}

const LADDER = { spot: [-0.1, 0, 0.1], volatility: [-0.02, 0, 0.02] };

/**
 * Named scenarios of spots, volatilities and rates together. Where there are more than twice as many as there are nodes
 * of an interpolation (some 30 in two factors), trades are priced at these.
 */
const named = (count: number): Terms => ({
  scenarios: Array.from({ length: count }, (_, i) => ({
    name: `S${i}`,
    moves: {
      spot: { "*": spread(i, 0.7549, -0.05, 0.05) },
      volatility: { "*": spread(i, 0.5698, -0.03, 0.03) },
      rate: { "*": spread(i, 0.8192, -0.002, 0.002) },
    },
  })),
});
const AT_NODES = named(64);
/** Where each scenario has paths of its own. */
const ON_PATHS = named(12);

/** Returns books of sample trades of every kind, for compiling all kernels in advance. */
export const sampleBooks = (): SampleBook[] => [...oneFactor(), ...several(), ...paths(), ...baskets()];

function* oneFactor(): Generator<SampleBook> {
  const draws = Array.from({ length: DRAWS }, (_, i) => i);
  for (const [model, underlyingOf] of Object.entries(ONE_FACTOR))
    for (const [product, termsOf] of Object.entries({ ...VANILLA, ...BARRIERS })) {
      const underlyings = Object.fromEntries(draws.map((i) => [`U${i}`, underlyingOf(i)]));
      const trades = draws.map((i) => {
        const expiry = spread(i, 0.5698, 0.05, 3); // some before the first dividend
        const payoff = i % 2 === 0 ? "put" : "call";
        const strike = spread(i, 0.8192, 80, 120);
        return { id: `T${i}`, underlying: `U${i}`, payoff, strike, expiry, ...termsOf(i, expiry) };
      });
      const book = bookOf(underlyings, trades);
      const books = [book, { ...book, scenarios: LADDER }, { ...book, ...AT_NODES }];
      yield { name: `${product}, ${model}`, books };
    }
}

function* several(): Generator<SampleBook> {
  for (const [model, underlying] of Object.entries(SEVERAL))
    for (const exercise of ["european", "american"]) {
      const terms = { underlying: "U", strike: 100, exercise };
      const trades = ["put", "call"].flatMap((payoff) =>
        [0.5, 2].map((expiry) => ({ id: `${payoff} ${expiry}`, payoff, expiry, ...terms })),
      );
      const book = bookOf({ U: underlying }, trades);
      yield { name: `${exercise}, ${model}`, books: [book, { ...book, ...AT_NODES }] };
    }
}

function* paths(): Generator<SampleBook> {
  for (const [name, termsOf] of Object.entries(PATHS)) {
    // Paths of one trade have kernels of their own, and so have those that are shifted to where an option pays.
    const terms = { underlying: "U", expiry: 1, ...termsOf(1) };
    const trades = ["call", "put"].flatMap((payoff) =>
      [100, 70, 130].map((strike) => ({ id: `${payoff} ${strike}`, payoff, strike, ...terms })),
    );
    const of = (some: readonly Terms[]): Terms => bookOf({ U: { ...flat, volatility: 0.25 } }, some);
    const books = [of(trades), ...trades.slice(0, 2).map((trade) => of([trade]))];
    yield { name, books: books.flatMap((book) => [book, { ...book, ...ON_PATHS }]) };
  }
}

function* baskets(): Generator<SampleBook> {
  for (const count of [2, 3, 5]) {
    const names = Array.from({ length: count }, (_, i) => `U${i}`);
    const underlyings = Object.fromEntries(names.map((name) => [name, { ...flat, volatility: 0.25 }]));
    const correlations = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, 0.3] as const));
    const payoff = { basket: "call", weights: names.map(() => 1 / count) };
    const terms = { underlyings: names, payoff, strike: 100, expiry: 1 };
    const trades = ["european", "american"].map((exercise) => ({ id: exercise, exercise, ...terms }));
    const book = bookOf(underlyings, trades, correlations);
    yield { name: `baskets of ${count}`, books: [book, { ...book, ...ON_PATHS }] };
  }
}
