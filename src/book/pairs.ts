/** Currency pairs as underlyings of options: their spot, the drift of their forward rates, and smiles by deltas. */
import { BookError, SpecError } from "../base/errors.ts";
import { type CurrencyPair, type ForwardCurve, integrate, pairRates } from "../market/index.ts";
import type { Day } from "../market/conventions/index.ts";
import { type FxExpiry, type FxQuotes, smilePoints, strangleSmile } from "../market/models/index.ts";
import type { FxMarket, FxPair } from "./fx.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { ResolvedRates } from "./rates.ts";
import type { DeltasSpec, PairSpec, SpotSpec, VolatilitySpec } from "./schema/index.ts";
import { type AsOf, dayOfAsOf, yearsFrom } from "./time.ts";

/** A currency pair in the form of an underlying with a spot: its terms, the rates of its drift, and both curves. */
export interface ReadPair {
  readonly spec: SpotSpec;
  readonly rates: ForwardCurve;
  readonly pair: CurrencyPair;
  readonly quoted: FxPair;
}

/**
 * Reads a currency pair. @throws BookError where no exchange rate leads from one currency to the other, either has no
 * curve, or no strike has a quoted delta
 */
export function readPair(
  { fx: name, volatility }: PairSpec,
  fx: FxMarket,
  rates: ReadonlyMap<string, ResolvedRates>,
  asOf: AsOf,
  pathOf: PathOf,
): ReadPair {
  const at = pathOf("fx");
  const curveOf = (currency: string): ForwardCurve => {
    const { model } = rates.get(currency) ?? {};
    if (model === undefined)
      throw new BookError(at, `market.rates has no ${quote(currency)}${didYouMean(currency, rates.keys())}`);
    if (model.kind === "curve") return model.curve;
    throw new BookError(at, `the rates of ${currency} are a model; options on its exchange rates need a curve`);
  };
  const reference = dayOfAsOf(asOf);
  const yearsTo = (day: Day): number => (day - reference) / 365;
  const discount = (currency: string, day: Day): number => Math.exp(-integrate(curveOf(currency), yearsTo(day)));
  const quoted = fx.anyPair(name, discount, at);
  const [domestic, foreign] = [curveOf(quoted.quote), curveOf(quoted.base)];
  const steps = fx.steps(quoted.base, quoted.quote, at).map(({ pair: { name: of }, power }) => ({ pair: of, power }));
  const pair = { base: quoted.base, domestic, foreign, lag: yearsTo(quoted.spotDay), quoted: steps };
  // Whatever the yield is, the drift is that of the forward rates: the last foreign rate changes the least from day to
  // day.
  const yields = foreign.values[foreign.times.length];
  const drift = pairRates(pair, yields);
  const own =
    volatility?.kind === "deltas"
      ? smileOf(volatility, quoted.spot, pair, asOf, inside(pathOf, "volatility"))
      : volatility;
  const spec = { spot: quoted.spot, currency: quoted.quote, dividends: { yield: yields }, volatility: own };
  return { spec, rates: drift, pair, quoted };
}

/** Returns a smile by deltas as quotes by strikes, or as volatilities by expiry where only those at the money are. */
function smileOf(
  { deltas, convention = {}, fit, repair }: DeltasSpec,
  spot: number,
  { domestic, foreign, lag }: CurrencyPair,
  asOf: AsOf,
  pathOf: PathOf,
): VolatilitySpec {
  const { delta: kind = "spot", atm: atmKind = "delta-neutral-straddle", strangle = "smile" } = convention;
  const quotes = deltas.flatMap(({ expiry, atm, rr25, bf25, rr10, bf10 }, i) => {
    const at = inside(pathOf, "deltas", i);
    const wings = [
      { delta: 0.25, riskReversal: rr25, strangle: bf25, names: ["rr25", "bf25"] },
      { delta: 0.1, riskReversal: rr10, strangle: bf10, names: ["rr10", "bf10"] },
    ].flatMap(({ delta, riskReversal, strangle: mean, names }) => {
      if (riskReversal === undefined && mean === undefined) return [];
      if (riskReversal === undefined || mean === undefined)
        throw new BookError(at(names[riskReversal === undefined ? 0 : 1]), `expected ${names.join(" and ")}, or none`);
      return [{ delta, riskReversal, strangle: mean }];
    });
    const years = yearsFrom(asOf, expiry);
    if (!(years > 0)) throw new BookError(at("expiry"), "expected an expiry after asOf");
    const grown = (curve: ForwardCurve): number => integrate(curve, lag + years) - integrate(curve, lag);
    const [d, f] = [grown(domestic), grown(foreign)];
    const market: FxExpiry = { forward: spot * Math.exp(d - f), years, domestic: Math.exp(-d), foreign: Math.exp(-f) };
    try {
      const smile = (of: FxQuotes["wings"]): FxQuotes => ({ atm, wings: of, kind, atmKind });
      const own =
        strangle === "smile"
          ? wings
          : wings.map((wing) => ({ ...wing, strangle: strangleSmile(smile([wing]), market).strangle }));
      return smilePoints(smile(own), market).map(({ strike, volatility }) => ({ expiry, strike, implied: volatility }));
    } catch (error) {
      if (!(error instanceof SpecError)) throw error;
      throw new BookError(at(), error.message, { cause: error });
    }
  });
  if (quotes.length === deltas.length)
    return { kind: "termStructure", nodes: deltas.map(({ expiry, atm }) => ({ date: expiry, volatility: atm })) };
  const most = Math.max(...deltas.map((one) => (one.rr10 === undefined ? 3 : 5)));
  const usual = most < 5 ? "essvi" : "svi";
  return { kind: "fitted", quotes, fit: fit ?? usual, repair: repair ?? false, maxAge: undefined, exercise: undefined };
}
