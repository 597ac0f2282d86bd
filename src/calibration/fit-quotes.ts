/** The way from quotes of options on one underlying to implied volatilities, and to the surface that they ask for. */
import { SpecError } from "../errors.ts";
import type { Heston, Sabr, StochasticVolatility } from "../market/index.ts";
import { type AdjointOptions, fitAdjoint } from "./adjoint-fit.ts";
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { type ExpiryQuotes, rmseOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { fitHeston } from "./heston-fit.ts";
import { blackDeviation, QuoteStatus } from "./implied/volatility.ts";
import { fitEssvi } from "./essvi-fit.ts";
import { fitLocal } from "./local-fit.ts";
import { repaired } from "./repair.ts";
import { fitSabr } from "./sabr.ts";
import { fitSsvi } from "./ssvi-fit.ts";
import { fitSvi } from "./svi-surface.ts";

/** A quote: its implied volatility, or a price of today. */
export interface OptionQuote {
  /** Years, > 0. */
  readonly time: number;
  /** The forward and the discount factor to that time. */
  readonly forward: number;
  readonly discount: number;
  readonly strike: number;
  /** 1 for a call, −1 for a put. */
  readonly sign: number;
  readonly implied?: number | undefined;
  readonly price?: number | undefined;
  readonly weight: number;
}

/** A model of surfaces. */
export type SurfaceModel =
  | "svi"
  | "ssvi"
  | "essvi"
  | "andreasen-huge"
  | "local"
  | "heston"
  | { readonly heston: { readonly feller: boolean } }
  | { readonly sabr: { readonly beta: number } }
  | { readonly local: AdjointOptions & { readonly method: "adjoint" } };

/** A stochastic local volatility: the fit of its local volatility, and its variance. */
export interface StochasticLocalFit {
  /** "svi" unless given. */
  readonly surface?: Extract<SurfaceModel, string> | undefined;
  /** The variance; Heston's, fitted to the same quotes, unless one of the two is given. */
  readonly heston?: Omit<Heston, "kind" | "added"> | undefined;
  readonly sabr?: Omit<Sabr, "kind" | "added"> | undefined;
  /** The factor of the volatility of the variance; 1 unless given. */
  readonly mixing?: number | undefined;
}

/** A model of surfaces, or `"none"` for implied volatilities only. */
export type QuoteFit = SurfaceModel | { readonly stochasticLocal: StochasticLocalFit } | "none";

export interface FittedQuote {
  /** The implied volatility; undefined where the price has none. */
  readonly implied: number | undefined;
  /** The volatility of the fit, where there is one. */
  readonly fitted: number | undefined;
  /** Why the quote was left out of the fit. */
  readonly problem?: string;
}

export interface FittedQuotes {
  /** The fitted quotes, in the order in which they came in. */
  readonly quotes: readonly FittedQuote[];
  /** The surface; undefined where none was asked for, or no quote is left to fit. */
  readonly surface: SurfaceFit | undefined;
  /** The weighted root mean square of the errors in volatility; 0 without a surface. */
  readonly rmse: number;
  /** The forward to a time that a quote has. */
  readonly forwards: (time: number) => number;
}

const PROBLEMS: Readonly<Record<number, string>> = {
  [QuoteStatus.belowIntrinsic]: "the price is below its arbitrage bound, the discounted intrinsic value on the forward",
  [QuoteStatus.aboveBound]: "the price is not below its arbitrage bound, the discounted forward (call) or strike (put)",
  [QuoteStatus.notPositive]: "forward and strike have to be above 0",
};

function impliedOf(quote: OptionQuote): FittedQuote {
  if (quote.implied !== undefined) return { implied: quote.implied, fitted: undefined };
  const { forward, strike, sign, discount, time, price = Number.NaN } = quote;
  const { deviation, status } = blackDeviation({ quoted: { forward, strike, price: price / discount, sign } });
  if (status !== QuoteStatus.implied) return { implied: undefined, fitted: undefined, problem: PROBLEMS[status] };
  const implied = deviation / Math.sqrt(time);
  return deviation > 0
    ? { implied, fitted: undefined }
    : { implied, fitted: undefined, problem: "the price has no time value, so that it says nothing of a volatility" };
}

/** The usable quotes by expiry and moneyness; quotes of one strike become their weighted mean. */
function byExpiry(quotes: readonly OptionQuote[], implied: readonly FittedQuote[]): readonly ExpiryQuotes[] {
  const usable = quotes.flatMap((quote, i) => {
    const { implied: volatility, problem } = implied[i];
    if (volatility === undefined || problem !== undefined || quote.weight === 0) return [];
    return [{ ...quote, k: Math.log(quote.strike / quote.forward), volatility }];
  });
  const times = [...new Set(usable.map(({ time }) => time))].sort((a, b) => a - b);
  return times.map((time) => {
    const own = usable.filter((quote) => quote.time === time);
    const strikes = [...new Set(own.map(({ strike }) => strike))].sort((a, b) => a - b);
    const merged = strikes.map((strike) => {
      const same = own.filter((quote) => quote.strike === strike);
      const weight = same.reduce((sum, quote) => sum + quote.weight, 0);
      const volatility = same.reduce((sum, quote) => sum + quote.weight * quote.volatility, 0) / weight;
      return { k: same[0].k, weight, volatility };
    });
    return {
      time,
      forward: own[0].forward,
      discount: own[0].discount,
      logMoneyness: Float64Array.from(merged, ({ k }) => k),
      implied: Float64Array.from(merged, ({ volatility }) => volatility),
      weights: Float64Array.from(merged, ({ weight }) => weight),
    };
  });
}

function surfaceOf(quotes: UnderlyingQuotes, fit: SurfaceModel): SurfaceFit {
  switch (fit) {
    case "svi":
      return fitSvi(quotes);
    case "ssvi":
      return fitSsvi(quotes);
    case "essvi":
      return fitEssvi(quotes);
    case "andreasen-huge":
      return fitAndreasenHuge(quotes);
    case "local":
      return fitLocal(quotes);
    case "heston":
      return fitHeston(quotes);
    default:
      if ("heston" in fit) return fitHeston(quotes, fit.heston);
      return "sabr" in fit ? fitSabr(quotes, fit.sabr.beta) : fitAdjoint(quotes, fit.local);
  }
}

/** A fitted local volatility with a variance beside it. @throws SpecError where the variance cannot be fitted */
function withVariance(
  quotes: UnderlyingQuotes,
  own: SurfaceFit,
  { heston, sabr, mixing = 1 }: StochasticLocalFit,
): SurfaceFit {
  if (own.volatility.kind !== "surface")
    throw new SpecError(`fit.stochasticLocal.surface: got ${own.model}, expected a fit that gives a local volatility`);
  const { surface } = own.volatility;
  const fitted = heston === undefined && sabr === undefined ? fitHeston(quotes) : undefined;
  const found = fitted?.volatility.kind === "heston" ? fitted.volatility.heston : heston;
  const variance: StochasticVolatility =
    found === undefined
      ? { kind: "sabr", ...sabr!, nu: mixing * sabr!.nu }
      : { kind: "heston", ...found, sigma: mixing * found.sigma };
  const { kind: _, ...numbers } = variance;
  const named = Object.entries(numbers).map(([name, value]) => [`variance.${name}`, value]);
  const isFit = fitted === undefined || fitted.status === "converged";
  return {
    ...own,
    model: "stochastic-local",
    ...(isFit ? {} : { status: "not converged", message: `the variance: ${fitted.message ?? fitted.status}` }),
    parameters: { ...own.parameters, ...(Object.fromEntries(named) as Record<string, number>) },
    volatility: { kind: "stochasticLocal", variance, surface },
  };
}

/** The smile of one underlying's quotes, and how it is fitted. */
export interface QuotesToFit {
  readonly spot: number;
  readonly quotes: readonly OptionQuote[];
  readonly fit: QuoteFit;
  /** True where a surface with arbitrage is to be replaced by the nearest one without (`repaired`). */
  readonly repair?: boolean | undefined;
}

/** Implied volatilities of quotes, and the surface fitted to those that have one. */
export function fitQuotes({ spot, quotes, fit, repair = false }: QuotesToFit): FittedQuotes {
  const implied = quotes.map(impliedOf);
  const usable = { spot, expiries: byExpiry(quotes, implied) };
  const forwards = (of: number): number => quotes.find(({ time }) => time === of)?.forward ?? Number.NaN;
  if (fit === "none" || usable.expiries.length === 0) return { quotes: implied, surface: undefined, rmse: 0, forwards };
  const mixed = typeof fit === "object" && "stochasticLocal" in fit ? fit.stochasticLocal : undefined;
  const own = surfaceOf(usable, mixed === undefined ? (fit as SurfaceModel) : (mixed.surface ?? "svi"));
  const local = repair ? repaired(usable, own) : own;
  const surface = mixed === undefined ? local : withVariance(usable, local, mixed);
  const fitted = quotes.map(({ strike, forward, time }, i) => ({
    ...implied[i],
    fitted: surface.impliedVolatility(Math.log(strike / forward), time),
  }));
  return { quotes: fitted, surface, rmse: rmseOf(usable, surface.impliedVolatility), forwards };
}
