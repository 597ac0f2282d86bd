/** Implied volatilities and a fitted surface from the quotes of options on one underlying. */
import { SpecError } from "../base/errors.ts";
import {
  type AffineSpot,
  dividendTimeChange,
  type ForwardCurve,
  type Heston,
  type LocalSurface,
  localSurface,
  type Sabr,
  type StochasticVolatility,
  withSurface,
} from "../market/index.ts";
import { type AdjointOptions, fitAdjoint } from "./adjoint-fit.ts";
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { spotSurfaceOf, volatilityAtShiftedStrike } from "./cash-dividends.ts";
import { type ExpiryQuotes, type NearbyFit, rmseOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";
import { fitHeston } from "./heston-fit.ts";
import { AmericanQuotes } from "./american-quotes.ts";
import { BELOW_CASH, type FittedQuote, impliedOf, type OptionQuote } from "./option-quote.ts";
import { fitEssvi } from "./essvi-fit.ts";
import { fitLocal } from "./local-fit.ts";
import { withoutArbitrage } from "./repair.ts";
import { fitSabr } from "./sabr.ts";
import { fitSsvi } from "./ssvi-fit.ts";
import { fitSvi } from "./svi-surface.ts";
import { splinesOf } from "./variance-surface.ts";

/** The model of an implied volatility surface that is fitted, with its options. */
type SurfaceModel =
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
interface StochasticLocalFit {
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

/** The result of `fitQuotes`. */
export interface FittedQuotes {
  /** The fitted quotes in their original order. */
  readonly quotes: readonly FittedQuote[];
  /** The fitted surface; undefined if none was requested, or if no quote has an implied volatility. */
  readonly surface: SurfaceFit | undefined;
  /** The weighted root mean square error of implied volatilities; 0 without a surface. */
  readonly rmse: number;
  /** Returns the forward price at a time, which must be the expiry of a quote. */
  readonly forwards: (time: number) => number;
  /**
   * Returns the volatility near the fitted one when quotes move a little, to first order, given the moves of their
   * implied volatilities; undefined where the derivatives of the fit are not known.
   */
  readonly near?: ((moves: readonly number[]) => ReturnType<NearbyFit>) | undefined;
  /** Returns the implied volatility of the fitted surface for an option; NaN if there is none. */
  readonly impliedAt: (option: Pick<OptionQuote, "time" | "forward" | "strike">) => number;
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
interface QuotesToFit {
  readonly spot: number;
  readonly quotes: readonly OptionQuote[];
  readonly fit: QuoteFit;
  /** True to replace a surface with arbitrage by the closest one without (`withoutArbitrage`). */
  readonly repair?: boolean | undefined;
  /** The spot with its dividends, and the rates; required for American quotes and for dividends on dates. */
  readonly market?: { readonly affine: AffineSpot; readonly rates: ForwardCurve } | undefined;
}

/**
 * Computes the implied volatilities of quotes, and fits a surface to those that have one. With discrete dividends,
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
  const american = isAmerican ? new AmericanQuotes(quotes, market) : undefined;
  const implied = american?.volatilities((given) => localThrough(quotes, given, market!)) ?? quotes.map(impliedOf);
  const isStochastic = fit === "heston" || (typeof fit === "object" && "heston" in fit);
  const affine = isStochastic || market === undefined || market.affine.times.length === 0 ? undefined : market.affine;
  const found = fitImplied({ spot, quotes, implied, fit, repair, affine });
  const { surface } = found;
  if (surface?.volatility.kind !== "surface") return found;
  const local = localOf(surface.volatility.surface);
  const repriced = american === undefined ? found : { ...found, quotes: american.repriced(found.quotes, local) };
  if (affine === undefined) return repriced;
  const { near } = found;
  return {
    ...repriced,
    surface: { ...surface, volatility: { ...surface.volatility, surface: spotSurfaceOf(local, affine) } },
    near:
      near &&
      ((moves) => {
        const { kind, smile, ...moved } = near(moves);
        return withSurface({ kind, smile }, () => spotSurfaceOf(localOf(moved.surface), affine));
      }),
  };
}

/** The local volatility of X through European volatilities; undefined if they have none. */
function localThrough(
  quotes: readonly OptionQuote[],
  implied: readonly FittedQuote[],
  { affine }: NonNullable<QuotesToFit["market"]>,
): LocalSurface | undefined {
  const { surface } = fitImplied({ spot: affine.start, quotes, implied, fit: "local", affine });
  return surface?.volatility.kind === "surface" ? localOf(surface.volatility.surface) : undefined;
}

type Nodes = Pick<LocalSurface, "times" | "spots" | "volatility">;

const localOf = ({ times, spots, volatility }: Nodes): LocalSurface => localSurface(times, spots, volatility);

interface ImpliedToFit extends Omit<SurfaceToFit, "market"> {
  readonly implied: readonly FittedQuote[];
  readonly affine: AffineSpot | undefined;
}

/** A surface whose smile knows the quotes that it may miss. */
function withQuotes(surface: SurfaceFit, expiries: readonly ExpiryQuotes[]): SurfaceFit {
  const { volatility } = surface;
  if (volatility.kind !== "surface") return surface;
  const quoted = splinesOf(expiries).map(({ time, curve }) => ({ time, curve }));
  return { ...surface, volatility: { ...volatility, smile: { ...volatility.smile, quoted } } };
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
    return { ...one, implied: volatilityAtShiftedStrike(quotes[i], one.implied, less[i]) };
  });
  const expiries = byExpiry(free, own).map((expiry) => ({ ...expiry, forward: affine?.start ?? expiry.forward }));
  const usable = { spot: affine?.start ?? spot, expiries, clock: affine && dividendTimeChange(affine) };
  const forwards = (of: number): number => quotes.find(({ time }) => time === of)?.forward ?? Number.NaN;
  const stated = implied.map((one, i) => (own[i].problem === undefined ? one : { ...one, problem: own[i].problem }));
  if (fit === "none" || expiries.length === 0)
    return { quotes: stated, surface: undefined, rmse: 0, forwards, impliedAt: () => Number.NaN };
  const first = surfaceOf(usable, fit);
  const surface = withQuotes(repair ? withoutArbitrage(usable, first) : first, expiries);
  const impliedAt: FittedQuotes["impliedAt"] = ({ time, forward, strike }) => {
    const cash = affine?.at(time).cash ?? 0;
    const own = { time, forward: forward - cash, strike: strike - cash };
    if (!(own.strike > 0)) return Number.NaN;
    return volatilityAtShiftedStrike(own, surface.impliedVolatility(Math.log(own.strike / own.forward), time), -cash);
  };
  const near = repair ? undefined : nearby(surface, quotes, implied, { expiries, free, less });
  const fitted = stated.map((one, i) => (free[i].strike > 0 ? { ...one, fitted: impliedAt(quotes[i]) } : one));
  return { quotes: fitted, surface, rmse: rmseOf(usable, surface.impliedVolatility), forwards, impliedAt, near };
}

/** Quotes as they were fitted: by expiry, and with strikes that are less the cash dividends to come. */
interface FreeQuotes {
  readonly expiries: readonly ExpiryQuotes[];
  readonly free: readonly OptionQuote[];
  readonly less: readonly number[];
}

/** The fits near a surface by the moves of quotes, of which those with one strike move its mean. */
function nearby(
  { near, volatility }: SurfaceFit,
  quotes: readonly OptionQuote[],
  implied: readonly FittedQuote[],
  { expiries, free, less }: FreeQuotes,
): FittedQuotes["near"] {
  if (near === undefined || volatility.kind !== "surface") return undefined;
  const { quoted } = volatility.smile;
  const placeOf = (i: number): { readonly expiry: number; readonly at: number } => {
    const { time, strike, forward } = free[i];
    const expiry = expiries.findIndex((one) => one.time === time);
    // Logarithms of the same numbers are the same.
    const k = Math.log(strike / forward);
    return { expiry, at: expiry < 0 ? -1 : expiries[expiry].logMoneyness.indexOf(k) };
  };
  return (moves) => {
    const byExpiry = new Map<number, Float64Array>();
    moves.forEach((move, i) => {
      if (move === 0 || implied[i].implied === undefined) return;
      const { expiry, at } = placeOf(i);
      if (at < 0) return;
      const own = byExpiry.get(expiry) ?? new Float64Array(expiries[expiry].implied.length);
      byExpiry.set(expiry, own);
      const shifted = (by: number): number => volatilityAtShiftedStrike(quotes[i], implied[i].implied! + by, less[i]);
      const share = quotes[i].weight / expiries[expiry].weights[at];
      own[at] += share * (less[i] === 0 ? move : shifted(move) - shifted(0));
    });
    const moved = near(byExpiry);
    const smile = { ...moved.smile, quoted };
    return withSurface({ kind: moved.kind, smile }, () => moved.surface);
  };
}
