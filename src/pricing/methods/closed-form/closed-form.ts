import type { CompiledKernel, Device } from "../../../device/index.ts";
import { hostReal, type Precision } from "../../../kernel/index.ts";
import { integrate, integratedVariance, type PiecewiseConstant } from "../../../market/index.ts";
import { BLACK_SCHOLES_INPUTS, BLACK_SCHOLES_OUTPUTS, blackScholesKernel } from "../../../models/index.ts";
import type { ResultColumns } from "../../columns/result-columns.ts";
import { EXERCISE, PAYOFF, type TradeColumns } from "../../columns/trade-columns.ts";
import type { Acceptance, Batch, MethodSession, Plan, PricingMethod } from "../method.ts";
import { readEach } from "../read-each.ts";
import { thetaOf } from "../theta.ts";

/** Rounding errors of a value, relative to spot and value. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 1e-14, f32x2: 1e-12, f32: 1e-6 };

/** Microseconds that a value of the formula takes on one core. */
const COST = 0.1;

/**
 * Black and Scholes' formula: European calls, puts and digitals under deterministic rates and volatility, with a yield
 * and proportional dividends.
 *
 * Error: rounding. Cost: one launch a batch. Source: Black & Scholes (1973), Merton (1973). Verified: test/models,
 * test/pricing/reference.test.ts.
 */
export const closedForm = {
  name: "closed-form",
  accepts,
  open: (device, precision) => new Session(device, precision),
} as const satisfies PricingMethod;

function accepts({ columns, problems }: Batch, trade: number): Acceptance {
  const { payoff, exercise, expiry, settled, cases } = columns;
  const first = columns.rowOf(trade);
  if (columns.severalFactors[trade] !== 0) return "several factors";
  if (exercise[trade] === EXERCISE.american) return "American exercise";
  if (payoff[trade] === PAYOFF.expression) return "a payoff given by a formula";
  if (payoff[trade] === PAYOFF.digital && !(columns.cash[trade] > 0)) return "a digital payoff that is not above zero";
  if (columns.unshiftedVolatility(first).kind !== "deterministic") return "a volatility that depends on the spot";
  if (expiry[first] === 0) return "no time left, it expires at once";
  for (const { time, cash, proportional } of columns.dividendsOf(first).discrete) {
    if (time > expiry[first]) continue;
    if (cash > 0) return "cash dividends";
    if (proportional >= 1) return "a dividend that takes all of the spot";
  }
  const hasDates = exercise[trade] === EXERCISE.bermudan;
  for (let row = first; row < first + cases.count; row++) {
    if (settled[row] !== 0 || (columns.barrierCount[row] === 0 && !hasDates)) continue;
    // Knock-ins that every spot has hit, and exercise at expiry alone, leave a plain European option.
    const { problem, subtracted } = problems.at(row);
    if (problem.exerciseTimes !== undefined) return "Bermudan exercise";
    if (problem.barriers !== undefined || subtracted !== undefined) return "barriers";
  }
  return COST * cases.count * (1 + cases.spots);
}

class Session implements MethodSession {
  readonly #device: Device;
  readonly #precision: Precision;
  #kernel: Promise<CompiledKernel> | undefined;

  constructor(device: Device, precision: Precision) {
    this.#device = device;
    this.#precision = precision;
  }

  plan(batch: Batch, trades: readonly number[]): Promise<Plan> {
    return Promise.resolve(new ClosedFormPlan(batch, trades, this));
  }

  [Symbol.dispose](): void {}

  /** The formula's outputs for its inputs, both a column for each item. */
  async launch(values: Float64Array, items: number): Promise<Float64Array | Float32Array> {
    const device = this.#device;
    const kernel = await (this.#kernel ??= device.compile(blackScholesKernel, { precision: this.#precision }));
    const element = hostReal(this.#precision);
    using input = device.createBuffer(element, values.length);
    using output = device.createBuffer(element, items * BLACK_SCHOLES_OUTPUTS);
    device.write(input, values);
    device.launch(kernel, { items, input, output }, { items });
    // Awaited here: `using` frees the buffers when the function returns.
    return await device.read(output);
  }
}

/** All trades in one launch: an item for every row and spot, those of one trade together. */
class ClosedFormPlan implements Plan {
  readonly #batch: Batch;
  readonly #columns: TradeColumns;
  readonly #trades: readonly number[];
  readonly #session: Session;
  readonly #rounding: number;
  /** Spots of a row, today's first. */
  readonly #spots: number;
  readonly #perTrade: number;
  readonly #items: number;
  #output: Float64Array | Float32Array = new Float64Array();

  constructor(batch: Batch, trades: readonly number[], session: Session) {
    const { columns } = batch;
    this.#batch = batch;
    this.#columns = columns;
    this.#trades = trades;
    this.#session = session;
    this.#rounding = ROUNDING[batch.precision];
    this.#spots = 1 + columns.cases.spots;
    this.#perTrade = columns.cases.count * this.#spots;
    this.#items = trades.length * this.#perTrade;
  }

  async run(): Promise<void> {
    this.#output = await this.#session.launch(this.#input(), this.#items);
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(this.#trades, results, signal, (trade) => {
      const item = next;
      next += this.#perTrade;
      this.#readTrade(trade, item, results);
      if (this.#columns.cases.scenarios !== undefined) this.#readScenarios(trade, item, results);
    });
  }

  [Symbol.dispose](): void {}

  /** Everything in units of the spot, so that f32 has room in any currency. */
  #input(): Float64Array {
    const columns = this.#columns;
    const items = this.#items;
    const input = new Float64Array(items * BLACK_SCHOLES_INPUTS);
    let item = 0;
    for (const trade of this.#trades) {
      const first = columns.rowOf(trade);
      const unit = columns.spot[trade];
      for (let one = first; one < first + columns.cases.count; one++) {
        // A settled trade's values are not read.
        const row = columns.settled[one] === 0 ? one : first;
        const expiry = columns.expiry[row];
        const kept = keptByDividends(columns, row);
        const rates = integrate(columns.ratesOf(row), expiry);
        const variance = integratedVariance(sigmaOf(columns, row), expiry);
        for (let k = 0; k < this.#spots; k++, item++) {
          input[item] = (columns.spotAt(trade, k) / unit) * kept;
          input[items + item] = columns.strike[trade] / unit;
          input[2 * items + item] = rates;
          input[3 * items + item] = columns.dividendYield[trade] * expiry;
          input[4 * items + item] = variance;
          input[5 * items + item] = columns.sign[trade];
          input[6 * items + item] = columns.cash[trade] / unit;
        }
      }
    }
    return input;
  }

  #readTrade(trade: number, item: number, results: ResultColumns): void {
    const columns = this.#columns;
    const output = (row: number): number => this.#output[row * this.#items + item];
    const row = columns.rowOf(trade);
    const spot = columns.spot[trade];
    const expiry = columns.expiry[row];
    const sigma = sigmaOf(columns, row);
    const kept = keptByDividends(columns, row);
    const value = output(0) * spot;
    const delta = output(1) * kept;
    const gamma = (output(2) * kept * kept) / spot;
    const market = {
      spot,
      rate: columns.ratesOf(row).values[0],
      dividendYield: columns.dividendYield[trade],
      sigma: sigma.values[0],
    };
    results.value[trade] = value;
    results.delta[trade] = delta;
    results.gamma[trade] = gamma;
    results.theta[trade] = thetaOf(market, value, delta, gamma);
    // w = ∫σ² moves by 2·∫σ per unit of a parallel move of σ, R by T per unit of a move of r.
    results.vega[trade] = output(3) * spot * 2 * integrate(sigma, expiry);
    results.rho[trade] = output(4) * spot * expiry;
    results.errorEstimate[trade] = this.#rounding * (spot + Math.abs(value));
    results.priced(trade, "black-scholes");
  }

  #readScenarios(trade: number, item: number, results: ResultColumns): void {
    const columns = this.#columns;
    const { scenarioValues: values, scenarioErrors: errors } = results;
    const spots = columns.cases.spots;
    const unit = columns.spot[trade];
    const first = columns.rowOf(trade);
    for (let row = first; row < first + columns.cases.count; row++) {
      if (columns.settled[row] !== 0) continue; // worth nothing, as the columns say from the start
      // At expiry the formula's limit has rounding that the payoff has not.
      const payoff = columns.expiry[row] === 0 ? this.#batch.problems.at(row).problem.payoff : undefined;
      let largest = 0;
      for (let k = 0; k < spots; k++) {
        const at = item + (row - first) * this.#spots + k + 1;
        const value = payoff === undefined ? this.#output[at] * unit : payoff.value(columns.spotAt(trade, k + 1));
        values[row * spots + k] = value;
        largest = Math.max(largest, Math.abs(value));
      }
      errors[row] = this.#rounding * (unit + largest);
    }
  }
}

/** ∏ (1 − proportional) of the dividends up to expiry. */
function keptByDividends(columns: TradeColumns, row: number): number {
  let kept = 1;
  for (const { time, proportional } of columns.dividendsOf(row).discrete)
    if (time <= columns.expiry[row]) kept *= 1 - proportional;
  return kept;
}

function sigmaOf(columns: TradeColumns, row: number): PiecewiseConstant {
  return columns.sigmaOf(row) as PiecewiseConstant;
}
