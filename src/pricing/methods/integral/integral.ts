import type { SensitivityName } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import type { PiecewiseConstant } from "../../../market/index.ts";
import { IntegralEngine, PUT_INPUTS, type Puts, PutValues, TupleNumbers } from "../../../quadrature/integral/index.ts";
import type { NamedSensitivities, ResultColumns } from "../../columns/result-columns.ts";
import { EXERCISE, PAYOFF, type TradeColumns } from "../../columns/trade-columns.ts";
import { type SpotMarket, thetaOf } from "../../plan/greeks.ts";
import {
  type Acceptance,
  type Batch,
  type MethodPlan,
  type MethodSession,
  type PricingMethod,
  readEach,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { payoffProfile } from "../../trade-problem.ts";
import { fdm } from "../fdm/fdm.ts";

/**
 * Microseconds that a case, and each spot of it, take on one core, about: a part of a boundary, and schemes as fine as
 * the worst of all spots needs.
 */
const COST = { ofCase: 40, ofSpot: 10 } as const;

/** The safety factor on the change of a sensitivity. */
const SENSITIVITY_MARGIN = 3;
/**
 * The part of the error of a value, over one standard deviation of the spot, that counts as an error of a sensitivity,
 * whose own change may vanish by chance.
 */
const OF_VALUE = 0.5;

/** The least relative error of a sensitivity. */
const LEAST = 1e-9;
/** The rounding of a value on a strike of 1. */
export const ROUNDING = 1e-14;

/**
 * The method of integral equations: American calls and puts with constant rate, yield and volatility. It solves the
 * integral equation of the exercise boundary, which trades with the same constants share, and computes one integral for
 * each trade. Negative rates, with which there may be two boundaries (Andersen & Lake 2021), are included.
 *
 * Error: a discretisation is refined until its difference from the coarser one is small enough. If that is never the
 * case, finite differences price the trade. Cost on one core: 2 to 4 µs an option, and 20 to 50 µs a boundary. Source:
 * Andersen, Lake & Offengenden (2016). Verified: test/quadrature/integral, test/pricing/integral.test.ts, against
 * finite differences, published prices and QuantLib.
 */
export const integral = {
  name: "integral",
  minCost: COST.ofCase + COST.ofSpot,
  accuracy: TARGET_ERRORS.integral,
  accepts,
  pricesCells: ({ columns }, trade) => columns.barriersOf(columns.rowOf(trade)).length === 0,
  open,
} as const satisfies PricingMethod;

function accepts({ columns, problems, precision }: Batch, trade: number): Acceptance {
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  if (columns.severalFactors[trade] !== 0) return "several factors";
  if (columns.exercise[trade] !== EXERCISE.american) return "no American exercise";
  if (columns.payoff[trade] !== PAYOFF.vanilla) return "a payoff that is no call or put";
  if (precision !== "f64") return `${precision} numbers, and this method needs f64`;
  const { cases } = columns;
  const first = columns.rowOf(trade);
  if (columns.expiry[first] === 0) return "no time left, it expires at once";
  for (let row = first; row < first + cases.count; row++) {
    if (columns.settled[row] !== 0) continue;
    if (columns.barriersOf(row).length > 0) {
      // Knock-ins that every spot has hit leave a plain option.
      const { problem, subtracted } = problems.at(row);
      if (problem.barriers !== undefined || problem.knockIns !== undefined || subtracted !== undefined)
        return "barriers";
    }
    const market = constantMarket(columns, trade, row);
    if (typeof market === "string") return market;
  }
  return cases.count * (COST.ofCase + COST.ofSpot * (1 + cases.spots));
}

/**
 * The means of plans on a device: the engine, and finite differences for accuracies that the finest discretisation does
 * not reach.
 */
interface Engines {
  readonly engine: IntegralEngine;
  readonly others: () => MethodSession;
}

function open(device: Device, precision: Precision): MethodSession {
  const engine = new IntegralEngine(device);
  let others: MethodSession | undefined;
  const engines = { engine, others: () => (others ??= fdm.open(device, precision)) };
  return {
    plan: (batch, trades) => Promise.resolve(new IntegralPlan(batch, trades, engines)),
    async priceCells(batch, cells, signal) {
      // Only books under named scenarios load it.
      const { priceCells } = await import("./cells.ts");
      await priceCells(batch, cells, engine, signal);
    },
    [Symbol.dispose]() {
      engine[Symbol.dispose]();
      others?.[Symbol.dispose]();
    },
  };
}

class IntegralPlan implements MethodPlan {
  readonly #batch: Batch;
  readonly #trades: readonly number[];
  readonly #engines: Engines;
  /** Puts of a trade: one for each spot of each case, today's spot first. */
  readonly #perTrade: number;
  readonly #puts: TradePuts;
  readonly #values: PutValues;
  #left: ReadonlySet<number> = new Set();
  #others: MethodPlan | undefined;

  constructor(batch: Batch, trades: readonly number[], engines: Engines) {
    const { columns } = batch;
    this.#batch = batch;
    this.#trades = trades;
    this.#engines = engines;
    this.#perTrade = columns.cases.count * (1 + columns.cases.spots);
    this.#puts = putsOf(columns, trades);
    this.#values = new PutValues(this.#puts.unit.length);
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    const { engine, others } = this.#engines;
    const open = this.#openPuts();
    const left = await engine.solve(this.#puts, open, this.#values, (puts) => this.#tooInexact(puts), signal);
    this.#left = new Set(Array.from(left, (put) => this.#tradeOf(put)));
    if (this.#left.size === 0) return;
    this.#others = await others().plan(this.#batch, [...this.#left], signal);
    await this.#others.run(signal);
  }

  async read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    await readEach(this.#trades, results, signal, (trade) => {
      const put = next;
      next += this.#perTrade;
      if (this.#left.has(trade)) return;
      this.#readTrade(trade, put, results);
      if (this.#batch.columns.cases.scenarios !== undefined) this.#readScenarios(trade, put, results);
    });
    await this.#others?.read(results, signal);
  }

  [Symbol.dispose](): void {
    this.#others?.[Symbol.dispose]();
  }

  /** The puts that have time left. */
  #openPuts(): Int32Array {
    const { boundary } = this.#puts;
    const open: number[] = [];
    for (let put = 0; put < boundary.length; put++) if (boundary[put] >= 0) open.push(put);
    return Int32Array.from(open);
  }

  #tradeOf(put: number): number {
    return this.#trades[Math.floor(put / this.#perTrade)];
  }

  /** All puts of those trades that have one whose error may be larger than was asked for. */
  #tooInexact(puts: Int32Array): Int32Array {
    const { columns, settings } = this.#batch;
    const { accuracy = TARGET_ERRORS.integral } = settings;
    const going = new Set<number>();
    for (const put of puts) {
      const trade = this.#tradeOf(put);
      // Half of what is allowed, since estimates are sometimes a little short.
      if (!(2 * this.#errorOf(put) <= accuracy * columns.spot[trade])) going.add(trade);
    }
    return going.size === 0 ? new Int32Array() : puts.filter((put) => going.has(this.#tradeOf(put)));
  }

  #errorOf(put: number): number {
    return this.#puts.unit[put] * (this.#values.estimate[put] + ROUNDING);
  }

  #readTrade(trade: number, put: number, results: ResultColumns): void {
    const { columns } = this.#batch;
    const row = columns.rowOf(trade);
    const spot = columns.spot[trade];
    const unit = this.#puts.unit[put];
    const { all } = this.#values;
    const at = 5 * put;
    const [value, slope, curvature, bySigma, byRate] = [all[at], all[at + 1], all[at + 2], all[at + 3], all[at + 4]];
    const isCall = columns.sign[trade] > 0;
    const moneyness = Math.exp(this.#puts.logSpot[put]);
    const delta = isCall ? value - moneyness * slope : slope;
    const gamma = ((isCall ? moneyness * moneyness : 1) * curvature) / unit;
    const market = {
      spot,
      rate: columns.ratesOf(row).values[0],
      dividendYield: columns.dividendYield[trade],
      sigma: columns.sigmaOf(row)!.values[0],
    };
    const isExercised = slope === -1;
    const theta = isExercised ? 0 : thetaOf(market, unit * value, delta, gamma);
    const measures = { delta, gamma, theta, vega: unit * bySigma, rho: unit * byRate };
    const knowsErrors = this.#batch.settings.sensitivityErrorEstimates;
    const errors = knowsErrors ? this.#errorsOf(trade, put, market, measures) : {};
    results.setToday(trade, unit * value, this.#errorOf(put), measures, errors);
    results.priced(trade, "integral");
  }

  /** Error estimates of the sensitivities: their changes from the coarser scheme, and what the value's tells. */
  #errorsOf(trade: number, put: number, market: SpotMarket, found: NamedSensitivities): NamedSensitivities {
    const { columns } = this.#batch;
    const { spot, rate, dividendYield, sigma } = market;
    const unit = this.#puts.unit[put];
    const [value, slope, curvature, bySigma, byRate] = this.#values.change.subarray(5 * put).map(Math.abs);
    const isCall = columns.sign[trade] > 0;
    const moneyness = Math.exp(this.#puts.logSpot[put]);
    const root = Math.sqrt(this.#puts.expiry[put]);
    const width = sigma * root * spot;
    const ofValue = OF_VALUE * unit * this.#values.changed[put];
    const delta = SENSITIVITY_MARGIN * (isCall ? value + moneyness * slope : slope) + ofValue / width;
    const gamma = (SENSITIVITY_MARGIN * (isCall ? moneyness * moneyness : 1) * curvature) / unit + ofValue / width ** 2;
    const theta = Math.abs(rate) * this.#errorOf(put) + Math.abs(rate - dividendYield) * spot * delta;
    const least = (name: SensitivityName): number => LEAST * Math.abs(found[name] ?? 0);
    return {
      delta: delta + ROUNDING + least("delta"),
      gamma: gamma + ROUNDING / spot + least("gamma"),
      theta: theta + 0.5 * (sigma * spot) ** 2 * gamma + ROUNDING * spot + least("theta"),
      vega: unit * (SENSITIVITY_MARGIN * bySigma + ROUNDING) + ofValue / sigma + least("vega"),
      rho: unit * (SENSITIVITY_MARGIN * byRate + ROUNDING) + (ofValue * root) / sigma + least("rho"),
    };
  }

  #readScenarios(trade: number, put: number, results: ResultColumns): void {
    const { columns } = this.#batch;
    const { count, spots } = columns.cases;
    const first = columns.rowOf(trade);
    for (let row = first; row < first + count; row++) {
      if (columns.settled[row] !== 0) continue; // worth nothing, as the columns say from the start
      const payoff = columns.expiry[row] === 0 ? payoffProfile(columns, trade) : undefined;
      const at = put + (row - first) * (1 + spots) + 1;
      results.setScenarios(
        row,
        (k) => payoff?.value(columns.spotAt(trade, k + 1)) ?? this.#puts.unit[at + k] * this.#values.all[5 * (at + k)],
        (k) => (payoff === undefined ? this.#errorOf(at + k) : ROUNDING * columns.spotAt(trade, k + 1)),
      );
    }
  }
}

/** Rate, yield and volatility of a row. */
export interface ConstantMarket {
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
}

/**
 * Returns the market of a row if it is constant until expiry; otherwise the feature that changes in time, as text that
 * completes the sentence "it has …".
 */
export function constantMarket(columns: TradeColumns, trade: number, row: number): ConstantMarket | string {
  const expiry = columns.expiry[row];
  const sigmas = columns.sigmaOf(row);
  if (sigmas === undefined) return "a volatility that depends on the spot";
  const sigma = constantUntil(sigmas, expiry);
  if (sigma === undefined) return "a volatility that depends on time";
  if (!(sigma > 0)) return "no volatility";
  const rate = constantUntil(columns.ratesOf(row), expiry);
  if (rate === undefined) return "a rate that depends on time";
  if (columns.dividendsOf(row).discrete.some(({ time }) => time <= expiry)) return "discrete dividends";
  const dividendYield = columns.dividendYield[trade];
  return { rate, dividendYield, sigma };
}

function constantUntil({ times, values }: PiecewiseConstant, expiry: number): number | undefined {
  const [value] = values;
  for (let i = 0; i < times.length && times[i] < expiry; i++) if (values[i + 1] !== value) return undefined;
  return value;
}

/**
 * The puts with strike 1 that are equivalent to given trades: for each trade and each case of the scenarios, one for
 * today's spot and one for each scenario spot.
 */
export interface TradePuts extends Puts {
  /** The amount in the currency that corresponds to strike 1: the strike of a put, the spot of a call. */
  readonly unit: Float64Array;
}

/**
 * Returns the longest expiry of the boundary for an expiry. It serves expiries from a quarter of that on: which one a
 * trade has depends on nothing but the trade.
 */
export const longestFor = (expiry: number): number => 4 ** Math.ceil(Math.log2(expiry) / 2 - 1e-12);

/**
 * Returns trades as puts with strike 1. A call is worth S·P(K/S), where P is the put with rate and yield exchanged
 * (McDonald & Schroder 1998). Puts that expire now have boundary −1.
 */
export function putsOf(columns: TradeColumns, trades: readonly number[]): TradePuts {
  const { cases } = columns;
  const spots = 1 + cases.spots;
  const count = trades.length * cases.count * spots;
  const unit = new Float64Array(count);
  const logSpot = new Float64Array(count);
  const expiries = new Float64Array(count);
  const boundary = new Int32Array(count).fill(-1);
  const boundaries: number[] = [];
  const numbers = new TupleNumbers(PUT_INPUTS);
  let put = 0;
  for (const trade of trades) {
    const isCall = columns.sign[trade] > 0;
    const strike = columns.strike[trade];
    const first = columns.rowOf(trade);
    for (let row = first; row < first + cases.count; row++) {
      const expiry = columns.expiry[row];
      const isOpen = columns.settled[row] === 0 && expiry > 0;
      const number = isOpen ? numberOf(constantMarket(columns, trade, row) as ConstantMarket, isCall, expiry) : -1;
      for (let k = 0; k < spots; k++, put++) {
        const spot = columns.spotAt(trade, k);
        unit[put] = isCall ? spot : strike;
        logSpot[put] = isCall ? Math.log(strike / spot) : Math.log(spot / strike);
        expiries[put] = expiry;
        boundary[put] = number;
      }
    }
  }
  return { unit, logSpot, expiry: expiries, boundary, boundaries };

  function numberOf({ rate, dividendYield, sigma }: ConstantMarket, isCall: boolean, expiry: number): number {
    const longest = longestFor(expiry);
    const inputs = isCall ? [dividendYield, rate, sigma, longest, -1] : [rate, dividendYield, sigma, longest, 1];
    const number = numbers.add(inputs);
    if (PUT_INPUTS * number === boundaries.length) boundaries.push(...inputs);
    return number;
  }
}
