/** The products that have a page of their own: what each pays, how it is priced, and an example. */

export interface Product {
  /** Name of its page. */
  readonly slug: string;
  readonly title: string;
  /** What it pays; one or two sentences. */
  readonly pays: string;
  /** How it is priced, and what the error estimate stands on. */
  readonly method: string;
  /** Keys of `PAPERS`. */
  readonly papers: readonly (keyof typeof PAPERS)[];
  /** Where the book format describes its fields: a heading of docs/book.md. */
  readonly section: string;
  readonly market?: { readonly rates?: object; readonly underlyings?: object; readonly correlations?: object };
  readonly trade: Readonly<Record<string, unknown>>;
}

/** Papers behind the methods. Volumes and journals stand where other sources than memory have confirmed them. */
export const PAPERS = {
  black: "F. Black and M. Scholes, *The pricing of options and corporate liabilities*, J. Political Economy 81 (1973)",
  andersen:
    "L. Andersen, M. Lake and D. Offengenden, *High-performance American option pricing*, J. Computational Finance 20 (2016)",
  rannacher:
    "R. Rannacher, *Finite element solution of diffusion problems with irregular data*, Numer. Math. 43 (1984)",
  egloff: "D. Egloff, *GPUs in financial computing, part I* (2010)",
  kemna:
    "A. G. Z. Kemna and A. C. F. Vorst, *A pricing method for options based on average asset values*, J. Banking & Finance 14 (1990)",
  longstaff:
    "F. A. Longstaff and E. S. Schwartz, *Valuing American options by simulation: a simple least-squares approach*, Rev. Financial Studies 14 (2001)",
  joe: "S. Joe and F. Y. Kuo, *Constructing Sobol sequences with better two-dimensional projections*, SIAM J. Sci. Comput. 30 (2008)",
  hout: "K. J. in 't Hout and B. D. Welfert, *Unconditional stability of second-order ADI schemes applied to multi-dimensional diffusion equations with mixed derivative terms*, Appl. Numer. Math. (2009)",
  craig:
    "I. J. D. Craig and A. D. Sneyd, *An alternating-direction implicit scheme for parabolic equations with mixed derivatives* (1988)",
  heston:
    "S. L. Heston, *A closed-form solution for options with stochastic volatility with applications to bond and currency options*, Rev. Financial Studies 6 (1993)",
  hagan: "P. S. Hagan, D. Kumar, A. S. Lesniewski and D. E. Woodward, *Managing smile risk*, Wilmott (2002)",
  hull: "J. Hull and A. White, *Pricing interest-rate-derivative securities*, Rev. Financial Studies 3 (1990)",
  pages:
    "G. Pagès and B. Wilbertz, *GPGPUs in computational finance: massive parallel computing for American style options*, Concurrency and Computation: Practice and Experience (2012)",
  bardou:
    "O. Bardou, S. Bouthemy and G. Pagès, *Optimal quantization for the pricing of swing options*, Appl. Math. Finance (2009)",
} as const;

const FDM =
  "Finite differences on a mesh that is made for the trade, with time steps by Crank and Nicolson after damped steps. " +
  "Two meshes give an extrapolated value, and their difference the error estimate.";
const SEVERAL =
  "Finite differences on two and three axes, with time steps by alternating directions; Monte Carlo or sparse grids on " +
  "more of them. The error estimate comes from two meshes, or from the spread of independent sets of paths.";

const YEAR = "2027-11-19";
const ACME = { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } };
const BOTH = { ...ACME, BETA: { spot: 95, currency: "EUR", volatility: 0.32, dividends: { yield: 0.02 } } };
const two = { underlyings: BOTH, correlations: [["ACME", "BETA", 0.4]] };

export const PRODUCTS: readonly Product[] = [
  {
    slug: "european",
    title: "European option",
    pays: "A call pays what the spot is above the strike at expiry, a put what it is below.",
    method:
      "The formula of Black and Scholes, with forward and total variance of the market. Cash dividends go to finite differences.",
    papers: ["black"],
    section: "trades",
    trade: { underlying: "ACME", payoff: "call", strike: 105, expiry: YEAR },
  },
  {
    slug: "american",
    title: "American option",
    pays: "A call or put that may be exercised on any day until expiry.",
    method:
      "The integral equation of the exercise boundary where rate, yield and volatility are constant; finite differences " +
      "with a check against the payoff in each step elsewhere, dividends included. The error estimate is the difference of two resolutions.",
    papers: ["andersen", "rannacher", "egloff"],
    section: "trades",
    trade: { underlying: "ACME", payoff: "put", strike: 100, expiry: YEAR, exercise: "american" },
  },
  {
    slug: "bermudan",
    title: "Bermudan option",
    pays: "A call or put that may be exercised on a list of dates, and at expiry.",
    method: FDM,
    papers: ["rannacher", "egloff"],
    section: "trades",
    trade: {
      underlying: "ACME",
      payoff: "put",
      strike: 105,
      expiry: YEAR,
      exercise: ["2027-02-19", "2027-05-21", "2027-08-20"],
    },
  },
  {
    slug: "digital",
    title: "Digital option",
    pays: "A call pays a fixed amount if the spot is above the strike at expiry, a put if it is below.",
    method:
      "The formula of Black and Scholes; with early exercise, barriers or cash dividends, finite differences with a node on the jump.",
    papers: ["black", "rannacher"],
    section: "trades",
    trade: { underlying: "ACME", payoff: { digital: "call", cash: 10 }, strike: 105, expiry: YEAR },
  },
  {
    slug: "formula",
    title: "Payoff by a formula",
    pays: "Whatever an arithmetic expression of the spot at expiry says.",
    method: `${FDM} Kinks that are named get nodes of their own.`,
    papers: ["rannacher"],
    section: "formulas",
    trade: { underlying: "ACME", payoff: { expression: "min(abs(S - 100), 20)", kinks: [80, 100, 120] }, expiry: YEAR },
  },
  {
    slug: "knock-out",
    title: "Knock-out option",
    pays: "An option that ends when the spot reaches a barrier, with a rebate if one is agreed.",
    method: `${FDM} A barrier has a node of its own; on dates, values are set to the rebate in the step that ends there.`,
    papers: ["rannacher", "egloff"],
    section: "barriers",
    trade: {
      underlying: "ACME",
      payoff: "call",
      strike: 100,
      expiry: YEAR,
      barriers: [
        { type: "down-and-out", level: 80 },
        { type: "up-and-out", level: 140, rebate: 2 },
      ],
    },
  },
  {
    slug: "knock-in",
    title: "Knock-in option",
    pays: "An option that begins when the spot reaches a barrier.",
    method: `${FDM} The option behind the barrier is solved beside it, on the same mesh.`,
    papers: ["rannacher"],
    section: "barriers",
    trade: {
      underlying: "ACME",
      payoff: "put",
      strike: 100,
      expiry: YEAR,
      barriers: [{ type: "down-and-in", level: 85 }],
    },
  },
  {
    slug: "average",
    title: "Asian option",
    pays: "A call or put on the arithmetic or geometric mean of the spot on some dates.",
    method:
      "A closed form for geometric means; Monte Carlo on scrambled Sobol' points for arithmetic ones, with the geometric " +
      "mean as control variate. The error estimate is half an interval that covers at least 95 %.",
    papers: ["kemna", "joe"],
    section: "averages-lookbacks-swings",
    trade: {
      underlying: "ACME",
      payoff: "call",
      strike: 100,
      expiry: YEAR,
      average: { kind: "arithmetic", dates: ["2027-02-19", "2027-05-21", "2027-08-20", YEAR] },
    },
  },
  {
    slug: "lookback",
    title: "Lookback option",
    pays: "A call or put on the largest or smallest spot of its life, with a fixed or a floating strike.",
    method:
      "Monte Carlo on scrambled Sobol' points; between the dates of a path the extreme is drawn from its law. " +
      "The error estimate is half an interval that covers at least 95 %.",
    papers: ["joe"],
    section: "averages-lookbacks-swings",
    trade: {
      underlying: "ACME",
      payoff: "call",
      expiry: YEAR,
      lookback: { strike: "floating", monitoring: "continuous" },
    },
  },
  {
    slug: "swing",
    title: "Swing option",
    pays: "The right to take one unit at the strike on each of some dates, at least and at most so many times.",
    method:
      "Dynamic programming on a grid of the factors, by convolution with their exact law; quantization trees on request. Two grids give the error estimate.",
    papers: ["bardou", "pages"],
    section: "averages-lookbacks-swings",
    trade: {
      underlying: "ACME",
      payoff: "call",
      strike: 100,
      expiry: YEAR,
      swing: { dates: ["2027-02-19", "2027-05-21", "2027-08-20", YEAR], min: 1, max: 2 },
    },
  },
  {
    slug: "basket",
    title: "Basket option",
    pays: "A call or put on a weighted sum, or a weighted product, of several spots.",
    method: SEVERAL,
    papers: ["craig", "hout", "longstaff"],
    section: "several-underlyings",
    market: two,
    trade: {
      underlyings: ["ACME", "BETA"],
      payoff: { basket: "call", weights: [0.5, 0.5] },
      strike: 100,
      expiry: YEAR,
    },
  },
  {
    slug: "best-of",
    title: "Best-of and worst-of option",
    pays: "A call or put on the largest or the smallest of several spots.",
    method: SEVERAL,
    papers: ["craig", "hout"],
    section: "several-underlyings",
    market: two,
    trade: {
      underlyings: ["ACME", "BETA"],
      payoff: { worstOf: "put" },
      strike: 95,
      expiry: YEAR,
      exercise: "american",
    },
  },
  {
    slug: "spread",
    title: "Spread option",
    pays: "A call pays what the first spot less the second is above the strike; a strike of 0 makes it an exchange option.",
    method: SEVERAL,
    papers: ["craig", "hout"],
    section: "several-underlyings",
    market: two,
    trade: { underlyings: ["ACME", "BETA"], payoff: { spread: "call" }, strike: 2, expiry: YEAR },
  },
  {
    slug: "heston",
    title: "Options in Heston's model",
    pays: "Any option on one spot whose variance follows a square-root process.",
    method:
      "A Fourier integral for European calls and puts; finite differences in spot and variance for everything else.",
    papers: ["heston", "craig", "hout"],
    section: "stochastic-volatility",
    market: {
      underlyings: {
        ACME: {
          spot: 100,
          currency: "EUR",
          volatility: { heston: { v0: 0.06, kappa: 1.8, theta: 0.07, sigma: 0.45, rho: -0.65 } },
        },
      },
    },
    trade: { underlying: "ACME", payoff: "put", strike: 95, expiry: YEAR, exercise: "american" },
  },
  {
    slug: "sabr",
    title: "Options in the SABR model",
    pays: "Any option on one spot whose volatility is a power of the spot times a lognormal factor.",
    method:
      "Finite differences in spot and volatility. No expansion is used, so that long expiries and low strikes keep their accuracy.",
    papers: ["hagan", "craig"],
    section: "stochastic-volatility",
    market: {
      underlyings: {
        ACME: { spot: 100, currency: "EUR", volatility: { sabr: { alpha: 2.5, beta: 0.5, nu: 0.4, rho: -0.3 } } },
      },
    },
    trade: { underlying: "ACME", payoff: "call", strike: 110, expiry: YEAR },
  },
  {
    slug: "stochastic-rates",
    title: "Options under random rates",
    pays: "Any option on a spot whose currency has a short rate of Hull and White's.",
    method: "Finite differences in spot and short rate, fitted to the curve.",
    papers: ["hull", "craig"],
    section: "stochastic-rates",
    market: {
      rates: { EUR: { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.03 } } },
      underlyings: ACME,
      correlations: [["ACME", "EUR", -0.3]],
    },
    trade: { underlying: "ACME", payoff: "call", strike: 110, expiry: YEAR },
  },
];

/** The book of a product's example. */
export function exampleBook({ title, market = {}, trade }: Product): Record<string, unknown> {
  return {
    asOf: "2026-11-20",
    market: { rates: { EUR: 0.03 }, underlyings: ACME, ...market },
    trades: [{ id: title, ...trade }],
  };
}
