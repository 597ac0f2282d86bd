import { SpecError } from "../../../base/errors.ts";
import type {
  Bond,
  FloatingPeriod,
  LegPeriod,
  Period,
  RatesExercise,
  RatesProduct,
  RatesTrade,
  RedemptionRight,
} from "../../../book/index.ts";
import { ONE_SECOND, type RatesModel, rollCurve } from "../../../market/index.ts";
import { equalUpToRounding } from "../../market-moves.ts";
import type { Pair, TradeKind } from "../../plan/kind.ts";
import { knownPayment, quotesOf } from "./parts.ts";
import { RatesMarket } from "./rates-market.ts";

/**
 * Returns the trade `years` later if today's forward rates are realised: paid amounts are gone, nobody has exercised,
 * and the rate of a period that has started is its forward rate. @returns undefined once nothing is left of it
 */
export function rollTerms(trade: RatesTrade, years: number, today: RatesMarket): RatesTrade | undefined {
  if (years === 0) return trade;
  if (trade.expiry < years - ONE_SECOND) return undefined;
  const product = rollProduct(trade, years, today);
  return product === undefined ? undefined : { ...trade, product, expiry: left(trade.expiry, years) };
}

function rollProduct(trade: RatesTrade, years: number, today: RatesMarket): RatesProduct | undefined {
  const { product } = trade;
  switch (product.kind) {
    case "bond": {
      const bond = rollBond(product.bond, years);
      if (bond.flows.length === 0) return undefined;
      return { ...product, bond, calls: rollRights(product.calls, years), puts: rollRights(product.puts, years) };
    }
    case "bondOption": {
      const exercise = rollExercise(product.exercise, years);
      return exercise && { ...product, bond: rollBond(product.bond, years), exercise };
    }
    case "capFloor": {
      const published = product.periods.map((period) =>
        period.rate === undefined && period.fixed < years - ONE_SECOND
          ? { ...period, rate: forwardRateOf(period, trade, today) }
          : period,
      );
      const periods = rollFloating(published, years);
      return periods.length === 0 ? undefined : { ...product, periods };
    }
    case "swaption": {
      const exercise = rollExercise(product.exercise, years);
      const [periods, floating] = [rollLeg(product.periods, years), rollFloating(product.floating, years)];
      return exercise && { ...product, periods, floating, exercise };
    }
    default:
      return product satisfies never;
  }
}

/** Returns the simple forward rate of a period. */
export function forwardRateOf(
  { start, end, accrual }: LegPeriod,
  { projection }: RatesTrade,
  market: RatesMarket,
): number {
  return Math.expm1(market.logGrowth(projection, start, end)) / accrual;
}

/** The periods of a leg that are not yet paid. */
function rollLeg<P extends LegPeriod>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ paid }) => paid > years + ONE_SECOND)
    .map((period) => ({
      ...period,
      start: period.start - years,
      end: period.end - years,
      paid: period.paid - years,
    }));
}

const rollFloating = <P extends FloatingPeriod>(periods: readonly P[], years: number): P[] =>
  rollLeg(periods, years).map((period) => ({ ...period, fixed: period.fixed - years }));

const left = (time: number, years: number): number => (time - years < ONE_SECOND ? 0 : time - years);

/** Coupons of the day itself are paid: exercise is ex coupon. */
function rollBond({ flows, coupons, notional }: Bond, years: number): Bond {
  return {
    flows: flows.filter(([time]) => time > years + ONE_SECOND).map(([time, amount]) => [time - years, amount] as const),
    coupons: rollPeriods(coupons, years),
    notional,
  };
}

function rollPeriods<P extends Period>(periods: readonly P[], years: number): P[] {
  return periods
    .filter(({ end }) => end > years + ONE_SECOND)
    .map((period) => ({ ...period, start: period.start - years, end: period.end - years }));
}

function rollRights(rights: readonly RedemptionRight[], years: number): RedemptionRight[] {
  return rights
    .filter(({ to }) => to > years - ONE_SECOND)
    .map((right) => ({ ...right, from: Math.max(right.from - years, 0), to: left(right.to, years) }));
}

function rollExercise(exercise: RatesExercise, years: number): RatesExercise | undefined {
  if (exercise.kind === "american")
    return exercise.to < years - ONE_SECOND
      ? undefined
      : { kind: "american", from: Math.max(exercise.from - years, 0), to: left(exercise.to, years) };
  const times = exercise.times.filter((time) => time > years - ONE_SECOND).map((time) => left(time, years));
  return times.length === 0 ? undefined : { kind: "dates", times };
}

/** The functions by which changes of the values of trades on rates are explained. */
export const ratesExplanation: Pick<
  TradeKind<RatesTrade>,
  "rollForward" | "inMarket" | "difference" | "paid" | "firstOrder" | "views"
> = {
  rollForward(trade, years) {
    if (years === 0) return trade;
    const left = rollTerms(trade, years, new RatesMarket(trade.rates));
    const { rates, projection } = trade;
    return (
      left && {
        ...left,
        rates: rollModel(rates, years),
        ...(projection === undefined ? {} : { projection: rollCurve(projection, years) }),
      }
    );
  },
  inMarket(trade, market) {
    const then = rollTerms(trade, market.years, new RatesMarket(trade.rates));
    return then && { ...then, rates: market.ratesModel(trade.currency, trade.rates) };
  },
  difference(rolled, after) {
    if (rolled.currency !== after.currency) return "its currency differs";
    const terms = ({ product }: RatesTrade): object => withoutMarket(product);
    return equalUpToRounding(terms(rolled), terms(after)) ? undefined : "its terms differ";
  },
  paid: ({ product }, years) => paidBy(product, years),
  firstOrder({ rolled, after, years }) {
    const [from, to] = [new RatesMarket(rolled.rates), new RatesMarket(after.rates)];
    const logDiscount = (t: number): number => to.logDiscount(t) - from.logDiscount(t);
    const volatility = firstVolatility(after) - firstVolatility(rolled);
    const rate = -logDiscount(after.expiry) / after.expiry;
    return { moves: { years, spot: 0, paid: 0, volatility, rate }, logDiscount, credit: 0 };
  },
  views,
};

/** The model after some years: a curve rolls along its forwards, r₀ becomes its mean, a lattice keeps its yields. */
function rollModel(model: RatesModel, years: number): RatesModel {
  switch (model.kind) {
    case "bdt":
      return model;
    case "vasicek":
    case "cir":
      return { ...model, r0: model.theta + (model.r0 - model.theta) * Math.exp(-model.kappa * years) };
    case "hullWhite":
      return { ...model, curve: rollCurve(model.curve, years), volatility: rollCurve(model.volatility, years) };
    default:
      return { ...model, curve: rollCurve(model.curve, years) };
  }
}

/** The terms of a product alone: without what the market says of them. */
function withoutMarket(product: RatesProduct): object {
  if (product.kind === "swaption") return { ...product, quote: undefined };
  if (product.kind !== "capFloor") return product;
  return { ...product, periods: product.periods.map((one) => ({ ...one, rate: undefined, quote: undefined })) };
}

function paidBy(product: RatesProduct, years: number): number {
  const isPaid = (time: number): boolean => time <= years + ONE_SECOND;
  if (product.kind === "bond")
    return product.bond.flows.reduce((sum, [time, paid]) => (isPaid(time) ? sum + paid : sum), 0);
  if (product.kind !== "capFloor") return 0;
  return product.periods.reduce((sum, period) => {
    if (!isPaid(period.paid)) return sum;
    if (period.rate === undefined)
      throw new SpecError("a period began and ended between the two dates, so that its rate is not known");
    return sum + knownPayment(product, period, period.rate);
  }, 0);
}

/** The first volatility of the quote or the model; 0 where there is none. */
function firstVolatility({ product, rates }: RatesTrade): number {
  const [quote] = quotesOf(product);
  if (quote !== undefined) return quote.sigma;
  if (rates.kind === "hullWhite") return rates.volatility.values[0];
  if (rates.kind === "blackKarasinski") return rates.volatility;
  return "sigma" in rates ? rates.sigma : 0;
}

function views({ rolled, after }: Pair<RatesTrade>) {
  const [from, to] = [rolled.product, after.product];
  // A published rate belongs to the rates; a quoted volatility is none of the model.
  let [fixed, quoted] = [from, from];
  if (from.kind === "capFloor" && to.kind === "capFloor") {
    fixed = { ...from, periods: from.periods.map((one, i) => ({ ...one, rate: to.periods[i].rate })) };
    quoted = { ...from, periods: from.periods.map((one, i) => ({ ...one, quote: to.periods[i].quote })) };
  }
  if (from.kind === "swaption" && to.kind === "swaption") quoted = { ...from, quote: to.quote };
  const { projection } = after;
  const byCurve = {
    ...rolled,
    product: fixed,
    rates: withCurve(rolled.rates, after.rates),
    ...(projection === undefined ? {} : { projection }),
  };
  const byModel = { ...rolled, product: quoted, rates: withCurve(after.rates, rolled.rates) };
  const ifMoved = (view: RatesTrade): RatesTrade | undefined => (equalUpToRounding(view, rolled) ? undefined : view);
  return { rate: ifMoved(byCurve), volatility: ifMoved(byModel), credit: undefined };
}

/** The model with another one's curve: r₀ and θ of models without one, the yields of a lattice. */
function withCurve(model: RatesModel, other: RatesModel): RatesModel {
  if ("curve" in model && "curve" in other) return { ...model, curve: other.curve };
  if ("theta" in model && "theta" in other) return { ...model, r0: other.r0, theta: other.theta };
  if (model.kind === "bdt" && other.kind === "bdt") return { ...model, annualYields: other.annualYields };
  throw new SpecError("the rates of the two markets have different models; price both books and compare them");
}
