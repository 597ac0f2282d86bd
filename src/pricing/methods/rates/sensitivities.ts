/** Sensitivities of trades on rates by differences of values. */
import {
  sensitivityOf,
  DifferencePlan,
  type MovedCopies,
  MOVES,
  limitedMoves,
  movesWithin,
  type MoveLimits,
} from "../../../base/differences.ts";
import type { RatesTrade } from "../../../book/index.ts";
import { keyMove, keyRatesUpTo, type RatesModel } from "../../../market/index.ts";
import type { ShortRateInstance, ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { RatesMarket } from "./rates-market.ts";
import type { RatesValue } from "./method.ts";
import { rollTerms } from "./roll-forward.ts";

/** A trade in a market, both as they are or moved. */
export interface Valued {
  readonly trade: RatesTrade;
  readonly market: RatesMarket;
}

/** Moved copies, of trades or of markets alone, and sensitivities, of which rho is the sum of the key rates. */
interface Differences<P> extends MovedCopies<P> {
  /** The number of key rates, whose measures are the last ones. */
  readonly keys: number;
  /** The names of the model's parameters, whose measures are called so. */
  readonly parameters: readonly string[];
}
type MarketDifferences = Differences<RatesMarket>;
export type RatesDifferences = Differences<Valued>;

/** What is wanted of a trade: its theta, and the derivatives by its model and by its curve. */
export interface Wanted {
  readonly theta: boolean;
  readonly model: boolean;
  readonly curve: boolean;
}

/** The names of measures that are no parameter's; no parameter has a blank. */
const [THETA, VEGA, KEY] = [" theta", " vega", " key"] as const;

/** Returns the sensitivities of a trade from its value and those of its copies; NaN where they are not wanted. */
export function sensitivitiesBy(
  { formulas, keys, parameters }: RatesDifferences,
  values: readonly number[],
): Omit<RatesValue, "value" | "errorEstimate"> {
  const of = (name: string): number => {
    const measure = formulas.find((one) => one.name === name);
    return measure === undefined ? Number.NaN : sensitivityOf(measure, values);
  };
  const keyRates = formulas.slice(formulas.length - keys).map((measure) => sensitivityOf(measure, values));
  return {
    theta: of(THETA),
    vega: of(VEGA),
    ...(keys === 0 ? { rho: Number.NaN } : { rho: keyRates.reduce((all, one) => all + one, 0), keyRates }),
    ...(parameters.length === 0 ? {} : { parameters: Object.fromEntries(parameters.map((name) => [name, of(name)])) }),
  };
}

/** Moves of rates and parameters, and a step of time in years: errors of differences are of its second order. */
const MOVE = 1e-4;
const STEP = 1e-3;
/** Volatilities that are less than this are moved up alone, by so much. */
const NO_VOLATILITY = { least: 1e-7, beside: 1e-5, share: 1 } as const;
const ANYWHERE: MoveLimits = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
const aboveZero = (own: number): MoveLimits => ({ ...ANYWHERE, down: own });

/** An input of a market, and how it is moved. */
interface MarketInput {
  readonly by: number;
  readonly moves: readonly number[];
  readonly at: (by: number, move: number) => RatesMarket;
}

/** Returns an input whose moved markets are made once for all trades. */
function inputOf(by: number, moves: readonly number[], make: (by: number) => RatesMarket): MarketInput {
  const made = new Map<number, RatesMarket>();
  const at = (moved: number, move: number): RatesMarket => {
    const market = made.get(move) ?? make(moved);
    made.set(move, market);
    return market;
  };
  return { by, moves, at };
}

/** The inputs of a market that move, whose moved copies are each made once for all trades. */
export class MarketMoves {
  readonly market: RatesMarket;
  readonly volatility: MarketInput;
  /** The parameters of the model, by their names in the book. */
  readonly parameters: Readonly<Record<string, MarketInput>>;
  readonly #keys: MarketInput[] = [];
  readonly #differences = new Map<string, MarketDifferences>();
  readonly #later = new Map<number, RatesMarket>();

  /** `step` returns the move of a parameter of an affine model. */
  constructor(market: RatesMarket, step: AffineStep = stepOnGrids) {
    this.market = market;
    const { model } = market;
    this.parameters = parametersOf(market, step);
    this.volatility =
      this.parameters[model.kind === "vasicek" || model.kind === "cir" ? "sigma" : "volatility"] ??
      volatilityOf(market);
  }

  /** Returns the key rates, as many as payments up to the time `last` depend on. */
  #keysUpTo(last: number): readonly MarketInput[] {
    const count = keyRatesUpTo(last);
    const { model } = this.market;
    // A key rate moves a forward rate by up to four times as much, and lognormal rates stay above 0.
    const most = model.kind === "blackKarasinski" ? Math.min(MOVE, 0.1 * Math.min(...model.curve.values)) : MOVE;
    for (let k = this.#keys.length; k < count; k++)
      this.#keys.push(inputOf(most, MOVES.CENTRAL, (by) => this.market.moved((t) => by * keyMove(k, t))));
    return this.#keys.slice(0, count);
  }

  /** Returns the moved markets for wanted derivatives of a trade; they are planned once for trades that pay as long. */
  differences(trade: RatesTrade, { model, curve }: Wanted): MarketDifferences {
    const keys = curve ? this.#keysUpTo(lastPayment(trade)) : [];
    const name = `${model} ${keys.length}`;
    const known = this.#differences.get(name) ?? marketDifferences(this, model, keys);
    this.#differences.set(name, known);
    return known;
  }

  /** Returns the market `years` after `asOf` if it follows its forward rates. */
  later(years: number): RatesMarket {
    const known = this.#later.get(years) ?? new RatesMarket(this.market.model, { years });
    this.#later.set(years, known);
    return known;
  }
}

/** The inputs of all markets of a batch. */
export class MovesOfMarkets {
  readonly #moves = new Map<RatesMarket, MarketMoves>();

  of(market: RatesMarket): MarketMoves {
    const known = this.#moves.get(market) ?? new MarketMoves(market);
    this.#moves.set(market, known);
    return known;
  }
}

/**
 * Returns the moved copies for the wanted sensitivities, whose differences have errors of the second order. Theta is a
 * difference forward in time, in which the curve rolls along its forward rates; the others are central, except where a
 * volatility would become negative.
 */
export function ratesDifferences(trade: RatesTrade, moves: MarketMoves, wanted: Wanted): RatesDifferences {
  const { copies: markets, formulas: byMarket, ...names } = moves.differences(trade, wanted);
  const plan = new DifferencePlan<Valued>();
  for (const market of markets) plan.addCopy({ trade, market });
  if (wanted.theta) addTheta(plan, trade, moves);
  const { copies, formulas } = plan.movedCopies();
  return { copies, formulas: [...formulas, ...byMarket], ...names };
}

/** Plans the differences by the model and by key rates. */
function marketDifferences(moves: MarketMoves, model: boolean, keys: readonly MarketInput[]): MarketDifferences {
  const plan = new DifferencePlan<RatesMarket>();
  const slope = (name: string, { by, moves: points, at }: MarketInput): void => {
    plan.addDerivatives(by, [{ name, order: 1, moves: points }], at);
  };
  const parameters = model ? Object.entries(moves.parameters) : [];
  if (model) slope(VEGA, moves.volatility);
  for (const [name, input] of parameters)
    if (input === moves.volatility) plan.addFormula(name, plan.weightsOf(VEGA));
    else slope(name, input);
  keys.forEach((input, k) => slope(`${KEY}${k}`, input));
  return { ...plan.movedCopies(), keys: keys.length, parameters: parameters.map(([name]) => name) };
}

function addTheta(plan: DifferencePlan<Valued>, trade: RatesTrade, moves: MarketMoves): void {
  const next = Math.min(...eventsOf(trade).filter((time) => time > 0));
  const theta = { name: THETA, order: 1, moves: MOVES.BESIDE } as const;
  plan.addDerivatives(Math.min(STEP, next / 4), [theta], (years) => ({
    // Nothing is left of a trade that ends today.
    trade: rollTerms(trade, years, moves.market) ?? trade,
    market: moves.later(years),
  }));
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

/** Returns the time of the last payment that a trade may lead to. */
export function lastPayment({ product, expiry }: RatesTrade): number {
  if (product.kind === "swaption")
    return Math.max(...[product.periods, product.floating].map((leg) => leg.at(-1)!.paid));
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
  return [0];
}

/** A move of all volatilities, down no further than to 0. */
function volatilityOf({ model, years }: RatesMarket): MarketInput {
  const values = volatilitiesOf(model);
  const room = aboveZero(Math.min(...values));
  const { by, side } = limitedMoves(Math.max(0.01 * Math.max(...values), 1e-6), room, NO_VOLATILITY);
  const moves = side === 0 ? MOVES.CENTRAL : MOVES.BESIDE;
  return inputOf(by, moves, (volatility) => new RatesMarket(model, { years, volatility }));
}

/** The move of a parameter of an affine model, given its value and its name. */
type AffineStep = (own: number, name: string) => number;

/** Moves for values on grids. Sigma moves by a hundredth, because errors of values do not cancel in less. */
const stepOnGrids: AffineStep = (own, name) => (name === "sigma" ? Math.max(0.01 * own, NO_VOLATILITY.beside) : MOVE);

function parametersOf(market: RatesMarket, step: AffineStep): Readonly<Record<string, MarketInput>> {
  const { model } = market;
  const input = <M extends RatesModel, N extends keyof M & string>(of: M, name: N, size: number, room: MoveLimits) =>
    inputOf(1, movesWithin(size, room), (by) => new RatesMarket({ ...of, [name]: (of[name] as number) + by }));
  switch (model.kind) {
    case "hullWhite":
    case "blackKarasinski":
      return { meanReversion: input(model, "meanReversion", MOVE, ANYWHERE), volatility: volatilityOf(market) };
    case "g2": {
      const ofSigma = (name: "sigma" | "eta"): MarketInput =>
        input(model, name, 1e-2 * Math.max(model[name], 1e-3), aboveZero(model[name]));
      return {
        a: input(model, "a", MOVE, ANYWHERE),
        sigma: ofSigma("sigma"),
        b: input(model, "b", MOVE, ANYWHERE),
        eta: ofSigma("eta"),
        rho: input(model, "rho", 1e-3, { up: 1 - model.rho, down: 1 + model.rho }),
      };
    }
    case "vasicek":
    case "cir": {
      const ofAffine = (name: (typeof AFFINE)[number]): MarketInput => {
        const isSigned = model.kind === "vasicek" && name !== "sigma";
        return input(model, name, step(model[name], name), isSigned ? ANYWHERE : aboveZero(model[name]));
      };
      return Object.fromEntries(AFFINE.map((name) => [name, ofAffine(name)]));
    }
    default:
      return {};
  }
}

/** The parameters of Vasicek's and of Cox, Ingersoll and Ross' model. */
const AFFINE = ["r0", "kappa", "theta", "sigma"] as const;

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
