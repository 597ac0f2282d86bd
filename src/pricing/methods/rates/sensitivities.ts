/** Sensitivities of trades on rates by differences of values. */
import type { RatesTrade } from "../../../book/index.ts";
import type { RatesModel } from "../../../market/index.ts";
import type { ShortRateInstance, ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { keyMove, keyRatesUpTo, RatesMarket } from "./rates-market.ts";
import type { RatesRow, RatesValue } from "./method.ts";
import { rollTerms } from "./roll-forward.ts";

/** The sensitivities of a trade as linear combinations of evaluated values; undefined or empty where not requested. */
export interface Sensitivities {
  readonly theta: Weighted | undefined;
  readonly vega: Weighted | undefined;
  readonly keyRates: readonly Weighted[];
  readonly parameters: Readonly<Record<string, Weighted>>;
}

/**
 * Returns the sensitivities, where `sum` returns the number of a linear combination. Rho is the sum of the key rates.
 */
export function sensitivitiesBy(
  { theta, vega, keyRates, parameters }: Sensitivities,
  sum: (of: Weighted) => number,
): Omit<RatesValue, "value" | "errorEstimate"> {
  const [first, own] = [theta === undefined ? Number.NaN : sum(theta), vega === undefined ? Number.NaN : sum(vega)];
  if (keyRates.length === 0) return { theta: first, vega: own, rho: Number.NaN };
  const keys = keyRates.map(sum);
  const found = { theta: first, vega: own, rho: keys.reduce((all, one) => all + one, 0), keyRates: keys };
  const entries = Object.entries(parameters);
  if (entries.length === 0) return found;
  return { ...found, parameters: Object.fromEntries(entries.map(([name, of]) => [name, sum(of)])) };
}

/** A function that adds a trade's value in a market, times a factor, to the linear combination `to`. */
export type AddValue = (trade: RatesTrade, market: RatesMarket, factor: number, to: number[]) => void;

/** Moves of rates and parameters, and a step of time in years: errors of differences are of its second order. */
const MOVE = 1e-4;
const STEP = 1e-3;

/** A market moved up and down, and by how much in all. */
interface Moved {
  readonly up: RatesMarket;
  readonly down: RatesMarket;
  readonly width: number;
}

/** The bumped copies of a market for sensitivities; each is made once for all trades. */
export class MarketMoves {
  readonly market: RatesMarket;
  readonly volatility: Moved;
  /** The bumped markets by parameter of the model, by their names in the book. */
  readonly parameters: Readonly<Record<string, Moved>>;
  readonly #keys: Moved[] = [];
  readonly #later = new Map<number, RatesMarket>();

  constructor(market: RatesMarket) {
    this.market = market;
    const { model, years } = market;
    const [low, high] = volatilityMoves(model);
    this.volatility = {
      up: new RatesMarket(model, { years, volatility: high }),
      down: new RatesMarket(model, { years, volatility: low }),
      width: high - low,
    };
    this.parameters = parametersOf(model, this.volatility);
  }

  /** Returns the markets with bumped key rates, as many as payments up to the time `last` depend on. */
  keysUpTo(last: number): readonly Moved[] {
    const count = keyRatesUpTo(last);
    const { model } = this.market;
    // A key rate moves a forward rate by up to four times as much, and lognormal rates stay above 0.
    const most = model.kind === "blackKarasinski" ? Math.min(MOVE, 0.1 * Math.min(...model.curve.values)) : MOVE;
    for (let k = this.#keys.length; k < count; k++) {
      const [up, down] = [most, -most].map((size) => this.market.moved((t) => size * keyMove(k, t)));
      this.#keys.push({ up, down, width: 2 * most });
    }
    return this.#keys.slice(0, count);
  }

  /** Returns the market `years` after `asOf` if it follows its forward rates. */
  later(years: number): RatesMarket {
    const known = this.#later.get(years) ?? new RatesMarket(this.market.model, { years });
    this.#later.set(years, known);
    return known;
  }
}

/** The bumped copies of all markets of a batch. */
export class MovesOfMarkets {
  readonly #moves = new Map<RatesMarket, MarketMoves>();

  of(market: RatesMarket): MarketMoves {
    const known = this.#moves.get(market) ?? new MarketMoves(market);
    this.#moves.set(market, known);
    return known;
  }
}

/**
 * Returns the requested sensitivities ("moves" means all except theta) as differences of values with errors of second
 * order. Theta is a forward difference in time; the others are central, except where a volatility would become
 * negative.
 */
export function sensitivitiesOf(
  trade: RatesTrade,
  moves: MarketMoves,
  greeks: RatesRow["greeks"] | "moves",
  add: AddValue,
): Sensitivities {
  const theta = greeks === "none" || greeks === "moves" ? undefined : thetaOf(trade, moves, add);
  if (greeks === "none" || greeks === "grid") return { theta, vega: undefined, keyRates: [], parameters: {} };
  const difference = ({ up, down, width }: Moved): Weighted => {
    const sum: number[] = [];
    add(trade, up, 1 / width, sum);
    add(trade, down, -1 / width, sum);
    return sum;
  };
  const vega = difference(moves.volatility);
  const parameters: Record<string, Weighted> = {};
  for (const [name, moved] of Object.entries(moves.parameters))
    parameters[name] = moved === moves.volatility ? vega : difference(moved);
  return { theta, vega, keyRates: moves.keysUpTo(lastPayment(trade)).map(difference), parameters };
}

/** The curve rolls along its forward rates. */
function thetaOf(trade: RatesTrade, moves: MarketMoves, add: AddValue): Weighted {
  const next = Math.min(...eventsOf(trade).filter((time) => time > 0));
  const step = Math.min(STEP, next / 4);
  const sum: number[] = [];
  add(trade, moves.market, -1.5 / step, sum);
  for (const [times, weight] of FORWARD) {
    const years = times * step;
    const later = rollTerms(trade, years, moves.market);
    if (later !== undefined) add(later, moves.later(years), weight / step, sum);
  }
  return sum;
}

/** Steps forward and their weights in a derivative of the second order, whose weight of now is −1.5. */
const FORWARD = [
  [1, 2],
  [2, -0.5],
] as const;

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
  if (model.kind === "g2") return [model.sigma, model.eta];
  // A move of a basis point, of whatever the formula gives.
  if (model.kind === "shortRate") return [1e-2];
  return model.kind === "vasicek" || model.kind === "cir" ? [model.sigma] : [0];
}

/** Moves of all volatilities down and up: central, unless one is next to 0. */
function volatilityMoves(model: RatesModel): readonly [number, number] {
  const values = volatilitiesOf(model);
  const least = Math.min(...values);
  const move = Math.min(Math.max(0.01 * Math.max(...values), 1e-6), least);
  return move > 1e-7 ? [-move, move] : [0, 1e-5];
}

function parametersOf(model: RatesModel, volatility: Moved): Readonly<Record<string, Moved>> {
  const moved = (up: RatesModel, down: RatesModel, width: number): Moved => ({
    up: new RatesMarket(up),
    down: new RatesMarket(down),
    width,
  });
  if (model.kind === "hullWhite" || model.kind === "blackKarasinski") {
    const at = (move: number): RatesModel => ({ ...model, meanReversion: model.meanReversion + move });
    return { meanReversion: moved(at(MOVE), at(-MOVE), 2 * MOVE), volatility };
  }
  if (model.kind === "g2") {
    const by = (name: "a" | "b" | "sigma" | "eta" | "rho", down: number, up: number): Moved =>
      moved({ ...model, [name]: model[name] + up }, { ...model, [name]: model[name] - down }, up + down);
    const [sigma, eta] = [model.sigma, model.eta].map((own) => Math.min(1e-2 * Math.max(own, 1e-3), own));
    return {
      a: by("a", MOVE, MOVE),
      sigma: by("sigma", sigma, 1e-2 * Math.max(model.sigma, 1e-3)),
      b: by("b", MOVE, MOVE),
      eta: by("eta", eta, 1e-2 * Math.max(model.eta, 1e-3)),
      rho: by("rho", Math.min(1e-3, 1 + model.rho), Math.min(1e-3, 1 - model.rho)),
    };
  }
  if (model.kind !== "vasicek" && model.kind !== "cir") return {};
  const moves = (["r0", "kappa", "theta", "sigma"] as const).map((name) => {
    const isSigned = model.kind === "vasicek" && name !== "sigma";
    const low = isSigned ? model[name] - MOVE : Math.max(model[name] - MOVE, 0);
    const high = model[name] + MOVE;
    return [name, moved({ ...model, [name]: high }, { ...model, [name]: low }, high - low)] as const;
  });
  return Object.fromEntries(moves);
}

/** A linear combination of evaluated values: factors and indices of evaluations, alternating. */
export type Weighted = readonly number[];

/** Returns the value of a linear combination, given all evaluated values. */
export function sumOf(weighted: Weighted, values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < weighted.length; i += 2) sum += weighted[i] * values[weighted[i + 1]];
  return sum;
}

/** An engine that values claims in markets on a device. M is the type of its market, F of its resolution. */
export interface RatesEngine<M, F> extends Disposable {
  values(
    trades: readonly ShortRateTrade[],
    markets: readonly M[],
    instances: readonly ShortRateInstance[],
    fineness: F,
    signal?: AbortSignal,
  ): Promise<Float64Array>;
}

/** A collection of claims that are to be valued in given markets; those with the same resolution share a launch. */
export class Evaluations<M, F> {
  readonly #trades = new Numbered<ShortRateTrade>();
  readonly #markets = new Numbered<M>();
  readonly #byFineness = new Map<F, { numbers: number[]; instances: ShortRateInstance[] }>();
  #count = 0;
  #values = new Float64Array(0);

  /** Adds a valuation and returns its index. Identical claim or market objects are sent to the device only once. */
  ask(trade: ShortRateTrade, market: M, fineness: F): number {
    const own = this.#byFineness.get(fineness) ?? { numbers: [], instances: [] };
    this.#byFineness.set(fineness, own);
    own.numbers.push(this.#count);
    own.instances.push({ trade: this.#trades.of(trade), market: this.#markets.of(market) });
    return this.#count++;
  }

  /** Values all added claims. @throws the signal's reason; the error of a lost device */
  async run(engine: RatesEngine<M, F>, signal: AbortSignal | undefined): Promise<void> {
    this.#values = new Float64Array(this.#count);
    for (const [fineness, { numbers, instances }] of this.#byFineness) {
      const values = await engine.values(this.#trades.all, this.#markets.all, instances, fineness, signal);
      for (let l = 0; l < values.length; l++) this.#values[numbers[l]] = values[l];
    }
  }

  sum(weighted: Weighted): number {
    return sumOf(weighted, this.#values);
  }
}

/** Objects with their numbers. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<T, number>();

  of(one: T): number {
    const known = this.#numbers.get(one);
    if (known !== undefined) return known;
    this.#numbers.set(one, this.all.length);
    return this.all.push(one) - 1;
  }
}
