/** The way from quotes of options on one underlying to implied volatilities, and to the surface that they ask for. */
import { SpecError } from "../errors.ts";
import {
  type AffineSpot,
  type ForwardCurve,
  type Heston,
  type LocalSurface,
  localSurface,
  type Sabr,
  type StochasticVolatility,
} from "../market/index.ts";
import { type AdjointOptions, fitAdjoint } from "./adjoint-fit.ts";
import { AmericanOptions, flatVolatilities, isDetermined } from "./american.ts";
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { surfaceOfSpot, volatilityWithout } from "./cash-dividends.ts";
import { type ExpiryQuotes, rmseOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { fitHeston } from "./heston-fit.ts";
import { blackDeviation, QuoteStatus } from "./implied/volatility.ts";
import { fitEssvi } from "./essvi-fit.ts";
import { fitLocal } from "./local-fit.ts";
import { repaired } from "./repair.ts";
import { fitSabr } from "./sabr.ts";
import { fitSsvi } from "./ssvi-fit.ts";
import { fitSvi } from "./svi-surface.ts";

/** A quoted option: its implied volatility, or its present value. */
export interface OptionQuote {
  /** The time to expiry in years, > 0. */
  readonly time: number;
  /** The forward price at expiry. */
  readonly forward: number;
  /** The discount factor to expiry. */
  readonly discount: number;
  readonly strike: number;
  /** The sign: 1 for a call, −1 for a put. */
  readonly sign: number;
  /** The implied volatility per √year, if that is quoted. */
  readonly implied?: number | undefined;
  /** The present value, if that is quoted. */
  readonly price?: number | undefined;
  /** The weight of the squared error of the implied volatility. */
  readonly weight: number;
  /** True for an American option; `implied` is then the constant volatility that reproduces its American price. */
  readonly american?: boolean | undefined;
}

/** The model of an implied volatility surface that is fitted, with its options. */
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

/** The specification of a stochastic local volatility: how to fit its local volatility, and its variance process. */
export interface StochasticLocalFit {
  /** The model of the local volatility, "svi" by default. */
  readonly surface?: Extract<SurfaceModel, string> | undefined;
  /**
   * The parameters of Heston's variance. They are fitted to the same quotes if neither `heston` nor `sabr` is given.
   */
  readonly heston?: Omit<Heston, "kind" | "added"> | undefined;
  /** The parameters of SABR's volatility. */
  readonly sabr?: Omit<Sabr, "kind" | "added"> | undefined;
  /** The factor by which the volatility of the variance is multiplied; 1 by default. */
  readonly mixing?: number | undefined;
}

/** The model to fit: a model of surfaces, a stochastic local volatility, or "none" for implied volatilities only. */
export type QuoteFit = SurfaceModel | { readonly stochasticLocal: StochasticLocalFit } | "none";

/** The implied volatility of a quote, and its volatility on the fitted surface. */
export interface FittedQuote {
  /** The implied volatility; undefined where no volatility gives the price. */
  readonly implied: number | undefined;
  /** The volatility of the fitted surface; undefined where there is no fit. */
  readonly fitted: number | undefined;
  /** The early-exercise premium in the price of an American option. */
  readonly premium?: number;
  /** The reason why the quote was left out of the fit. */
  readonly problem?: string;
}

/** The result of `fitQuotes`. */
export interface FittedQuotes {
  /** The fitted quotes in their original order. */
  readonly quotes: readonly FittedQuote[];
  /** The fitted surface; undefined where none was requested, or no quote has an implied volatility. */
  readonly surface: SurfaceFit | undefined;
  /** The weighted root mean square error of implied volatilities; 0 without a surface. */
  readonly rmse: number;
  /** Returns the forward price at a time, which must be the expiry of a quote. */
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
  const times = new Map<number, Map<number, { quote: OptionQuote; weight: number; weighted: number }>>();
  quotes.forEach((quote, i) => {
    const { implied: volatility, problem } = implied[i];
    const { time, strike, weight } = quote;
    if (volatility === undefined || problem !== undefined || weight === 0) return;
    let strikes = times.get(time);
    if (strikes === undefined) times.set(time, (strikes = new Map()));
    const same = strikes.get(strike);
    if (same === undefined) strikes.set(strike, { quote, weight, weighted: weight * volatility });
    else {
      same.weight += weight;
      same.weighted += weight * volatility;
    }
  });
  const increasing = <T>(map: ReadonlyMap<number, T>): T[] => [...map].sort(([a], [b]) => a - b).map(([, one]) => one);
  return increasing(times).map((strikes) => {
    const merged = increasing(strikes);
    const { time, forward, discount } = merged[0].quote;
    return {
      time,
      forward,
      discount,
      logMoneyness: Float64Array.from(merged, ({ quote }) => Math.log(quote.strike / quote.forward)),
      implied: Float64Array.from(merged, ({ weight, weighted }) => weighted / weight),
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

/** The option quotes of one underlying, and the model to fit to them. */
export interface QuotesToFit {
  readonly spot: number;
  readonly quotes: readonly OptionQuote[];
  readonly fit: QuoteFit;
  /** True to replace a surface with arbitrage by the closest one without (`repaired`). */
  readonly repair?: boolean | undefined;
  /** The spot with its dividends, and the rates; required for American quotes and for dividends on dates. */
  readonly market?: { readonly affine: AffineSpot; readonly rates: ForwardCurve } | undefined;
}

/**
 * Computes the implied volatilities of quotes, and fits a surface to those that have one. With dividends on dates,
 * local volatilities are fitted to options on the martingale X of `market.affine` (S = scale·X + cash), and converted
 * to those of the spot S.
 */
export function fitQuotes(given: QuotesToFit): FittedQuotes {
  const { fit, spot, quotes } = given;
  if (typeof fit === "string" || !("stochasticLocal" in fit)) return fitSurface({ ...given, fit });
  const found = fitSurface({ ...given, fit: fit.stochasticLocal.surface ?? "svi" });
  if (found.surface === undefined) return found;
  const usable = { spot, expiries: byExpiry(quotes, found.quotes) };
  return { ...found, surface: withVariance(usable, found.surface, fit.stochasticLocal) };
}

/** The same of a fit to be a surface, or one of Heston's model. */
interface SurfaceToFit extends QuotesToFit {
  readonly fit: SurfaceModel | "none";
}

function fitSurface({ spot, quotes, fit, repair = false, market }: SurfaceToFit): FittedQuotes {
  const isAmerican = market !== undefined && quotes.some(({ american }) => american === true);
  const implied = isAmerican ? withoutPremiums(quotes, market) : quotes.map(impliedOf);
  const isStochastic = fit === "heston" || (typeof fit === "object" && "heston" in fit);
  const affine = isStochastic || market === undefined || market.affine.times.length === 0 ? undefined : market.affine;
  const found = fitImplied({ spot, quotes, implied, fit, repair, affine });
  const { surface } = found;
  if (affine === undefined || surface?.volatility.kind !== "surface") return found;
  const ofSpot = surfaceOfSpot(localOf(surface.volatility.surface), affine);
  return { ...found, surface: { ...surface, volatility: { ...surface.volatility, surface: ofSpot } } };
}

type Nodes = Pick<LocalSurface, "times" | "spots" | "volatility">;

const localOf = ({ times, spots, volatility }: Nodes): LocalSurface => localSurface(times, spots, volatility);

interface ImpliedToFit extends Omit<SurfaceToFit, "market"> {
  readonly implied: readonly FittedQuote[];
  readonly affine: AffineSpot | undefined;
}

/** The fit of implied volatilities; where there is `affine`, the surface is that of its martingale. */
function fitImplied({ spot, quotes, implied, fit, repair = false, affine }: ImpliedToFit): FittedQuotes {
  const less = quotes.map(({ time }) => affine?.at(time).cash ?? 0);
  const free = quotes.map((quote, i) => ({
    ...quote,
    forward: quote.forward - less[i],
    strike: quote.strike - less[i],
  }));
  const own = implied.map((one, i): FittedQuote => {
    if (one.implied === undefined || one.problem !== undefined || less[i] === 0) return one;
    if (!(free[i].strike > 0)) return { ...one, problem: BELOW_CASH };
    return { ...one, implied: volatilityWithout(quotes[i], one.implied, less[i]) };
  });
  const expiries = byExpiry(free, own).map((expiry) => ({ ...expiry, forward: affine?.start ?? expiry.forward }));
  const usable = { spot: affine?.start ?? spot, expiries };
  const forwards = (of: number): number => quotes.find(({ time }) => time === of)?.forward ?? Number.NaN;
  const stated = implied.map((one, i) => (own[i].problem === undefined ? one : { ...one, problem: own[i].problem }));
  if (fit === "none" || expiries.length === 0) return { quotes: stated, surface: undefined, rmse: 0, forwards };
  const first = surfaceOf(usable, fit);
  const surface = repair ? repaired(usable, first) : first;
  const fitted = stated.map((one, i) => {
    const { strike, forward, time } = free[i];
    if (!(strike > 0)) return one;
    const volatility = surface.impliedVolatility(Math.log(strike / forward), time);
    return { ...one, fitted: volatilityWithout(free[i], volatility, -less[i]) };
  });
  return { quotes: fitted, surface, rmse: rmseOf(usable, surface.impliedVolatility), forwards };
}

const BELOW_CASH = "the strike is not above the cash dividends to come, below which the spot does not fall";
const NO_VOLATILITY =
  "the price is not between what exercise at once or certainty pays and what the highest volatility gives";
const NEAR_EXERCISE = "the price is so near to that of exercise at once that it says little of a volatility";

/** The number of times that the premium is found again under the local volatility of the European prices. */
const ROUNDS = 4;

/** European volatilities of quotes of which some are American; `premium` is what early exercise is worth in these. */
function withoutPremiums(
  quotes: readonly OptionQuote[],
  market: NonNullable<QuotesToFit["market"]>,
): readonly FittedQuote[] {
  const { affine } = market;
  const cash = quotes.map(({ time }) => affine.at(time).cash);
  let implied = quotes.map((quote, i): FittedQuote => {
    if (quote.american !== true) return impliedOf(quote);
    const nothing = { implied: undefined, fitted: undefined };
    return quote.strike > cash[i] ? nothing : { ...nothing, problem: BELOW_CASH };
  });
  const which = quotes.flatMap(({ american }, i) => (american === true && implied[i].problem === undefined ? [i] : []));
  const options = new AmericanOptions(
    which.map((i) => quotes[i]),
    market,
  );
  const prices = which.map((i, l) => {
    const { price, implied: sigma = Number.NaN } = quotes[i];
    return price ?? options.atLevels([l], [volatilityWithout(quotes[i], sigma, cash[i])])[0];
  });
  const levels = flatVolatilities(options, prices);
  which.forEach((i, l) => {
    const level = levels[l];
    if (level === undefined) implied[i] = { ...implied[i], problem: NO_VOLATILITY };
    else {
      const premium = prices[l] - options.european(l, level);
      const free = { ...quotes[i], forward: quotes[i].forward - cash[i], strike: quotes[i].strike - cash[i] };
      const found = { implied: volatilityWithout(free, level, -cash[i]), fitted: undefined, premium };
      implied[i] = isDetermined(options, l, level, prices[l]) ? found : { ...found, problem: NEAR_EXERCISE };
    }
  });
  for (let round = 0; round < ROUNDS; round++) {
    const { surface } = fitImplied({ spot: affine.start, quotes, implied, fit: "local", affine });
    if (surface?.volatility.kind !== "surface") return implied;
    const local = localOf(surface.volatility.surface);
    const before = implied;
    implied = implied.slice();
    which.forEach((i, l) => {
      const level = levels[l];
      if (level === undefined || before[i].problem !== undefined) return;
      const premium = options.premium(l, level, local);
      const { implied: sigma, problem } = impliedOf({ ...quotes[i], implied: undefined, price: prices[l] - premium });
      // Where the other quotes' volatility leaves none for this one, its own stays.
      if (problem === undefined) implied[i] = { implied: sigma, fitted: undefined, premium };
    });
  }
  return implied;
}
