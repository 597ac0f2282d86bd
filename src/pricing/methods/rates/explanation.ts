/** Trades on rates in an explanation: how they go on, what they pay, and what moves them. */
import type { RatesProduct, RatesTrade } from "../../../book/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { INSTANT, rollCurve, type RatesModel } from "../../../market/index.ts";
import { same } from "../../market-moves.ts";
import type { Pair, TradeKind } from "../../plan/kind.ts";
import { RatesMarket } from "./rates-market.ts";
import { rollTerms } from "./roll-forward.ts";

/** What an explanation asks of trades on rates. */
export const ratesExplanation: Pick<
  TradeKind<RatesTrade>,
  "rollForward" | "difference" | "paid" | "firstOrder" | "views"
> = {
  rollForward(trade, years) {
    if (years === 0) return trade;
    const left = rollTerms(trade, years, new RatesMarket(trade.rates));
    return left && { ...left, rates: rollModel(trade.rates, years) };
  },
  difference(rolled, after) {
    if (rolled.currency !== after.currency) return "its currency differs";
    const terms = ({ product }: RatesTrade): object => ({ ...product, fixing: undefined, quote: undefined });
    return same(terms(rolled), terms(after)) ? undefined : "its terms differ";
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

function paidBy(product: RatesProduct, years: number): number {
  const isPaid = (time: number): boolean => time <= years + INSTANT;
  if (product.kind === "bond")
    return product.bond.flows.reduce((sum, [time, paid]) => (isPaid(time) ? sum + paid : sum), 0);
  if (product.kind !== "capFloor") return 0;
  const { right, strike, notional, fixing } = product;
  return product.periods.reduce((sum, { start, end }) => {
    if (!isPaid(end)) return sum;
    if (start > INSTANT || fixing === undefined)
      throw new SpecError("a period began and ended between the two dates, so that its rate is not known");
    return sum + notional * (end - start) * Math.max((right === "cap" ? 1 : -1) * (fixing - strike), 0);
  }, 0);
}

/** The first volatility of the quote or the model; 0 where there is none. */
function firstVolatility({ product, rates }: RatesTrade): number {
  if ("quote" in product && product.quote !== undefined) return product.quote.sigma;
  if (rates.kind === "hullWhite") return rates.volatility.values[0];
  if (rates.kind === "blackKarasinski") return rates.volatility;
  return "sigma" in rates ? rates.sigma : 0;
}

function views({ rolled, after }: Pair<RatesTrade>) {
  const [from, to] = [rolled.product, after.product];
  // The fixing of a period that has begun is a rate; a quoted volatility is none of the model.
  const fixed = "fixing" in from && "fixing" in to ? { ...from, fixing: to.fixing } : from;
  const quoted = "quote" in from && "quote" in to ? ({ ...from, quote: to.quote } as typeof from) : from;
  const byCurve = { ...rolled, product: fixed, rates: withCurve(rolled.rates, after.rates) };
  const byModel = { ...rolled, product: quoted, rates: withCurve(after.rates, rolled.rates) };
  const ifMoved = (view: RatesTrade): RatesTrade | undefined => (same(view, rolled) ? undefined : view);
  return { rate: ifMoved(byCurve), volatility: ifMoved(byModel), credit: undefined };
}

/** The model with another one's curve: r₀ and θ of models without one, the yields of a lattice. */
function withCurve(model: RatesModel, other: RatesModel): RatesModel {
  if ("curve" in model && "curve" in other) return { ...model, curve: other.curve };
  if ("theta" in model && "theta" in other) return { ...model, r0: other.r0, theta: other.theta };
  if (model.kind === "bdt" && other.kind === "bdt") return { ...model, annualYields: other.annualYields };
  throw new SpecError("the rates of the two markets have different models; price both books and compare them");
}
