/** Options on one or several underlyings. */
import { type AnyTrade, labelsOf, type MethodName, type Payoff, type Trade } from "../book/index.ts";
import { addMisfits } from "./guard/misfits.ts";
import { optionBounds } from "./guard/option-bounds.ts";
import { equalUpToRounding, viewsOfMarket } from "./market-moves.ts";
import { adi } from "./methods/adi/adi.ts";
import { closedForm } from "./methods/closed-form/closed-form.ts";
import { convertibleKind } from "./methods/convertibles/kind.ts";
import { convolution } from "./methods/convolution/convolution.ts";
import { deterministic } from "./methods/deterministic/known.ts";
import { forwardKind } from "./methods/forwards/kind.ts";
import { fdm } from "./methods/fdm/fdm.ts";
import { linearKind } from "./methods/linear/kind.ts";
import { integral } from "./methods/integral/integral.ts";
import { montecarlo } from "./methods/montecarlo/montecarlo.ts";
import { quantization } from "./methods/quantization/quantization.ts";
import { ratesKind } from "./methods/rates/kind.ts";
import { sparseGrid } from "./methods/sparse-grid/sparse-grid.ts";
import { scriptedKind } from "./methods/scripts/kind.ts";
import type { TradeKind } from "./plan/kind.ts";
import type { Batch, PricingMethod } from "./plan/method.ts";
import { doubtsOf, tagWarnings, unitWarnings } from "./term-warnings.ts";
import { underlyingBuckets, underlyingDirections } from "./plan/underlying-directions.ts";
import { rollForward } from "./terms.ts";

/** Every method of the book, by name: the compiler finds one that the book's format lists and nobody implements. */
const BY_NAME: { readonly [Name in Exclude<MethodName, "auto">]: PricingMethod & { readonly name: Name } } = {
  "closed-form": closedForm,
  deterministic,
  integral,
  fdm,
  adi,
  "sparse-grid": sparseGrid,
  montecarlo,
  quantization,
  convolution,
};

/** The pricing methods of options on underlyings. */
export const METHODS: readonly (typeof BY_NAME)[Exclude<MethodName, "auto">][] = Object.values(BY_NAME);

/**
 * The trade kind of options on one or several underlyings: their pricing methods, error targets, bounds and warnings.
 */
export const optionKind: TradeKind<Trade> = {
  methods: METHODS,
  add: ({ columns }, trade, terms) => {
    columns.add(trade, terms, columns.indexInRun[trade]);
  },
  reasonForNone(terms, reasonOf) {
    const meant = methodMeantFor(terms);
    return `it has ${reasonOf(meant)}, which method "${meant}" does not price yet`;
  },
  targetErrorOf: askedOf,
  boundsOf: optionBounds,
  warnings: (trade) => [...unitWarnings(trade), ...tagWarnings(trade)],
  doubts: (trade) => doubtsOf(trade.assets ?? [trade], trade.expiry),
  widen: addMisfits,
  settlesAtSpot: true,
  buckets: {
    known: underlyingBuckets,
    directions: (trade, sizes) => underlyingDirections(trade, sizes, trade.expiry),
  },
  rollForward,
  inMarket: (trade, market) => market.onUnderlyings(trade),
  sharesSpots: true,
  difference,
  views: viewsOfMarket,
};

/** The first of the terms in which two options differ. */
function difference(rolled: Trade, after: Trade): string | undefined {
  const names = (trade: Trade): string => labelsOf(trade).underlying;
  if (names(rolled) !== names(after)) return "its underlying differs";
  if (labelsOf(rolled).currency !== labelsOf(after).currency) return "its currency differs";
  if (!equalUpToRounding(termsOfSettlement(rolled), termsOfSettlement(after))) return "its settlement differs";
  if (!equalUpToRounding(withoutHistory(rolled.payoff), withoutHistory(after.payoff))) return "its payoff differs";
  if (!equalUpToRounding(rolled.exercise, after.exercise)) return "its exercise differs";
  return equalUpToRounding(rolled.barriers, after.barriers) ? undefined : "its barriers differ";
}

/** The terms of a settlement: all of it that is not market data. */
function termsOfSettlement({ settlement }: Trade): object | undefined {
  return settlement && { payment: settlement.payment, conversion: settlement.conversion, units: settlement.units };
}

/** The terms of a payoff without its place in the book, and the fixings so far, which belong to the market. */
function withoutHistory(payoff: Payoff): object {
  switch (payoff.kind) {
    case "expression":
      return { ...payoff, place: undefined };
    case "average":
      return { ...payoff, past: undefined };
    case "lookback":
      return { ...payoff, extremum: undefined };
    default:
      return payoff;
  }
}

/** The error that a method is to aim at, relative to the largest spot and the units. */
function askedOf({ columns, settings }: Batch, trade: number, { accuracy: own = Number.NaN }: PricingMethod): number {
  const { payoff, assets } = columns.tradeOf(trade);
  const spot =
    assets === undefined ? columns.spot[trade] : Math.max(...assets.map(({ underlying }) => underlying.spot));
  const units = payoff.kind === "swing" ? Math.max(payoff.max, 1) : 1;
  return (settings.accuracy ?? own) * spot * units;
}

/** The method that would price a trade of this kind, whatever its details. */
function methodMeantFor({ payoff, exercise, assets, volatility, underlying }: Trade): Exclude<MethodName, "auto"> {
  if (payoff.kind === "swing") return "quantization";
  if (payoff.kind === "average" || payoff.kind === "lookback") return "montecarlo";
  if (volatility.kind === "stochasticLocal") return "montecarlo";
  if (volatility.kind === "gaussianFactors") return exercise.kind === "european" ? "montecarlo" : "quantization";
  const factors = (assets ?? [volatility]).length;
  if (factors > MAX_AXES) return "montecarlo";
  const isStochastic = volatility.kind === "heston" || volatility.kind === "sabr" || underlying.shortRate !== undefined;
  return factors > 1 || isStochastic ? "adi" : "fdm";
}

/** Underlyings that finite differences take. */
const MAX_AXES = 3;

/** The other kinds, each behind a function: the command line loads the modules of those that a book has. */
const KINDS: { readonly [Kind in NonNullable<AnyTrade["kind"]>]: () => TradeKind } = {
  rates: () => ratesKind,
  convertible: () => convertibleKind,
  forward: () => forwardKind,
  linear: () => linearKind,
  scripted: () => scriptedKind,
};

/** Returns the trade kind of a trade. */
export const kindOf = ({ kind }: AnyTrade): TradeKind => (kind === undefined ? optionKind : KINDS[kind]());
