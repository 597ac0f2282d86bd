/** Sensitivities of trades on rates by differences of values. */
import type { RatesTrade } from "../../book/index.ts";
import type { RatesModel } from "../../market/index.ts";
import type { Weighted } from "./evaluations.ts";
import { KEY_TIMES, keyMove, keyRatesUpTo } from "./key-rates.ts";
import { laterRatesTrade } from "./later.ts";
import type { RatesRow, RatesValue } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";

/** A sensitivity: the sum that it is, and where it goes in a result. */
export interface Sensitivity {
  readonly of: Weighted;
  readonly put: (result: RatesValue, value: number) => RatesValue;
}

/** Moves of rates and parameters, and a step of time in years: errors of differences are of its second order. */
const MOVE = 1e-4;
const STEP = 1e-3;

/**
 * The sensitivities that are asked for ("moves": all but theta), each a difference of values of the second order: theta
 * forward in time, the others central, except that no volatility falls below 0. `valueOf` gives a trade's value in a
 * market.
 */
export function sensitivitiesOf(
  trade: RatesTrade,
  market: RatesMarket,
  greeks: RatesRow["greeks"] | "moves",
  valueOf: (trade: RatesTrade, market: RatesMarket) => Weighted,
): readonly Sensitivity[] {
  if (greeks === "none") return [];
  const theta = greeks === "moves" ? [] : thetaOf(trade, market, valueOf);
  if (greeks === "grid") return theta;
  const difference = (up: RatesMarket, down: RatesMarket, width: number): Weighted => [
    ...scaled(valueOf(trade, up), 1 / width),
    ...scaled(valueOf(trade, down), -1 / width),
  ];
  const { model, years } = market;
  // A key rate moves a forward rate by up to four times as much, and lognormal rates stay above 0.
  const rateMove = model.kind === "blackKarasinski" ? Math.min(MOVE, 0.1 * Math.min(...model.curve.values)) : MOVE;
  const byRate = (move: (t: number) => number): Weighted =>
    difference(
      market.moved((t) => rateMove * move(t)),
      market.moved((t) => -rateMove * move(t)),
      2 * rateMove,
    );
  const keys = KEY_TIMES.slice(0, keyRatesUpTo(lastPayment(trade))).map((_, k): Sensitivity => ({
    of: byRate((t) => keyMove(k, t)),
    put: (result, value) => ({ ...result, keyRates: [...(result.keyRates ?? []), value] }),
  }));
  const [low, high] = volatilityMoves(model);
  const byVolatility = difference(
    new RatesMarket(model, { years, volatility: high }),
    new RatesMarket(model, { years, volatility: low }),
    high - low,
  );
  const parameters = Object.entries(parametersOf(model)).map(([name, { up, down, width }]): Sensitivity => ({
    of: name === "volatility" ? byVolatility : difference(new RatesMarket(up), new RatesMarket(down), width),
    put: (result, value) => ({ ...result, parameters: { ...result.parameters, [name]: value } }),
  }));
  return [
    ...theta,
    { of: byRate((t) => t), put: (result, rho) => ({ ...result, rho }) },
    { of: byVolatility, put: (result, vega) => ({ ...result, vega }) },
    ...keys,
    ...parameters,
  ];
}

const scaled = (of: Weighted, factor: number): Weighted =>
  of.map(([weight, number]) => [weight * factor, number] as const);

/** The curve rolls along its forward rates. */
function thetaOf(
  trade: RatesTrade,
  market: RatesMarket,
  valueOf: (trade: RatesTrade, market: RatesMarket) => Weighted,
): readonly Sensitivity[] {
  const next = Math.min(...eventsOf(trade).filter((time) => time > 0));
  const step = Math.min(STEP, next / 4);
  const [first, second] = [step, 2 * step].map((years) => {
    const later = laterRatesTrade(trade, years, market);
    return later === undefined ? [] : valueOf(later, new RatesMarket(market.model, { years }));
  });
  const of = [
    ...scaled(valueOf(trade, market), -1.5 / step),
    ...scaled(first, 2 / step),
    ...scaled(second, -0.5 / step),
  ];
  return [{ of, put: (result, theta) => ({ ...result, theta }) }];
}

/** Times of payments and rights. */
function eventsOf({ product, expiry }: RatesTrade): readonly number[] {
  switch (product.kind) {
    case "bond":
      return [
        ...product.bond.flows.map(([time]) => time),
        ...[...product.calls, ...product.puts].flatMap(({ from, to }) => [from, to]),
      ];
    case "bondOption":
      return product.exercise.kind === "dates" ? [...product.exercise.times, product.bond.flows[0][0]] : [expiry];
    case "swaption":
      return product.exercise.kind === "dates" ? [...product.exercise.times, product.periods[0].end] : [expiry];
    default:
      return [expiry];
  }
}

function lastPayment({ product, expiry }: RatesTrade): number {
  if (product.kind === "swaption") return product.periods[product.periods.length - 1].end;
  return product.kind === "bondOption" ? product.bond.flows[product.bond.flows.length - 1][0] : expiry;
}

/** The volatilities of a model. */
function volatilitiesOf(model: RatesModel): readonly number[] {
  if (model.kind === "hullWhite") return model.volatility.values;
  if (model.kind === "bdt") return model.yieldVolatilities;
  if (model.kind === "blackKarasinski") return [model.volatility];
  return model.kind === "vasicek" || model.kind === "cir" ? [model.sigma] : [0];
}

/** Moves of all volatilities down and up: central, unless one is next to 0. */
function volatilityMoves(model: RatesModel): readonly [number, number] {
  const values = volatilitiesOf(model);
  const least = Math.min(...values);
  const move = Math.min(Math.max(0.01 * Math.max(...values), 1e-6), least);
  return move > 1e-7 ? [-move, move] : [0, 1e-5];
}

/** A model with one parameter moved up, and down, and by how much in all. */
interface ParameterMove {
  readonly up: RatesModel;
  readonly down: RatesModel;
  readonly width: number;
}

function parametersOf(model: RatesModel): Readonly<Record<string, ParameterMove>> {
  if (model.kind === "hullWhite" || model.kind === "blackKarasinski") {
    const { meanReversion: a } = model;
    const meanReversion = {
      up: { ...model, meanReversion: a + MOVE },
      down: { ...model, meanReversion: a - MOVE },
      width: 2 * MOVE,
    };
    return { meanReversion, volatility: { up: model, down: model, width: 1 } };
  }
  if (model.kind !== "vasicek" && model.kind !== "cir") return {};
  const moves = (["r0", "kappa", "theta", "sigma"] as const).map((name) => {
    const isSigned = model.kind === "vasicek" && name !== "sigma";
    const low = isSigned ? model[name] - MOVE : Math.max(model[name] - MOVE, 0);
    const high = model[name] + MOVE;
    return [name, { up: { ...model, [name]: high }, down: { ...model, [name]: low }, width: high - low }] as const;
  });
  return Object.fromEntries(moves);
}
