import { type Device, createBufferOf } from "../../../device/index.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { integrate, isStochastic } from "../../../market/index.ts";
import type { ResultColumns } from "../../columns/result-columns.ts";
import { EXERCISE, PAYOFF, type TradeColumns } from "../../columns/trade-columns.ts";
import {
  type Acceptance,
  type Batch,
  type MethodPlan,
  type MethodSession,
  type PricingMethod,
  readEach,
} from "../../plan/method.ts";
import { payoffProfile } from "../../trade-problem.ts";
import { fdm } from "../fdm/fdm.ts";
import { smileCost, smileOf, SmilePlan } from "./smile.ts";
import { BLACK_SCHOLES, type Formula, HESTON, keptByDividends } from "./formulas.ts";

/** Rounding errors of a value, relative to spot and value. */
export const ROUNDING: Readonly<Record<Precision, number>> = { f64: 1e-14, f32x2: 1e-12, f32: 1e-6 };

/** Microseconds that a value of the formulas takes on one core. */
const COST = { "black-scholes": 0.1, heston: 20 } as const;

/**
 * The method of closed forms: European calls, puts and digitals under deterministic rates, with a yield and
 * proportional dividends, by Black and Scholes' formula under a deterministic volatility, and by a Fourier integral in
 * Heston's model; and every European payoff on a fitted smile, by its implied volatilities (`SmilePlan`).
 *
 * Error: rounding. Cost: one launch a formula and batch. Source: Black & Scholes (1973), Merton (1973), Heston (1993).
 * Verified: test/market/models, test/pricing/reference.test.ts, test/pricing/factors.test.ts.
 */
export const closedForm = {
  name: "closed-form",
  minCost: COST["black-scholes"],
  accepts,
  pricesCells,
  open,
} as const satisfies PricingMethod;

function accepts(batch: Batch, trade: number): Acceptance {
  const { columns, problems } = batch;
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  const { payoff, exercise, expiry, settled, cases } = columns;
  const first = columns.rowOf(trade);
  const isHeston = columns.unshiftedVolatility(first).kind === "heston";
  if (columns.severalFactors[trade] !== 0) {
    const { correlations } = columns.tradeOf(trade);
    if (!isHeston || correlations !== undefined) return "several factors";
    if (columns.barriersOf(first).length > 0) return "barriers";
    if (exercise[trade] === EXERCISE.bermudan) return "Bermudan exercise";
  }
  if (exercise[trade] === EXERCISE.american) return "American exercise";
  const isDeterministic = columns.unshiftedVolatility(first).kind === "deterministic";
  const smile = isHeston || isDeterministic ? undefined : smileOf(columns, trade);
  if (typeof smile === "string") return smile;
  if (smile === undefined && payoff[trade] === PAYOFF.expression) return "a payoff given by a formula";
  if (smile === undefined && payoff[trade] === PAYOFF.digital && !(columns.cash[trade] > 0))
    return "a digital payoff that is not above zero";
  if (expiry[first] === 0) return "no time left, it expires at once";
  for (const { time, cash, proportional } of columns.dividendsOf(first).discrete) {
    if (time > expiry[first]) continue;
    if (cash > 0 && smile === undefined) return "cash dividends";
    if (proportional >= 1) return "a dividend that takes all of the spot";
  }
  const hasDates = exercise[trade] === EXERCISE.bermudan;
  for (let row = first; row < first + cases.count; row++) {
    if (isHeston || settled[row] !== 0 || (columns.barriersOf(row).length === 0 && !hasDates)) continue;
    // Knock-ins that every spot has hit, and exercise at expiry alone, leave a plain European option.
    const { problem, subtracted } = problems.at(row);
    if (problem.exerciseTimes !== undefined) return "Bermudan exercise";
    if (problem.barriers !== undefined || subtracted !== undefined) return "barriers";
  }
  if (smile !== undefined) return smileCost(batch, trade);
  return COST[formulaOf(columns, trade).method] * cases.count * (1 + cases.spots);
}

/** Options without barriers in a model that has a formula. */
function pricesCells({ columns }: Batch, trade: number): boolean {
  const row = columns.rowOf(trade);
  const isPlain = columns.exercise[trade] === EXERCISE.european && columns.barriersOf(row).length === 0;
  return isPlain && columns.unshiftedVolatility(row).kind !== "surface";
}

/** Returns the formula of a trade's model. */
export const formulaOf = (columns: TradeColumns, trade: number): Formula =>
  isStochastic(columns.unshiftedVolatility(columns.rowOf(trade))) ? HESTON : BLACK_SCHOLES;

/** Returns a formula's outputs for its inputs, both a column for each item. */
export type Launch = (formula: Formula, values: Float64Array, items: number) => Promise<Float64Array | Float32Array>;

function open(device: Device, precision: Precision): MethodSession {
  const launch: Launch = async (formula, values, items) => {
    // One vector at a time: a program of four is four times as long, and a formula takes less than reading its trade.
    const kernel = await device.compile(formula.kernel, { precision, vectors: 1 });
    const element = hostRealType(precision);
    using input = createBufferOf(device, element, values);
    using output = device.createBuffer(element, items * formula.outputs);
    device.launch(kernel, { items, input, output }, { items, microsecondsEach: COST[formula.method] });
    // Awaited here: `using` frees the buffers when the function returns.
    return await device.read(output);
  };
  let differences: MethodSession | undefined;
  const openDifferences = (): MethodSession => (differences ??= fdm.open(device, precision));
  return {
    plan: (batch, trades, signal) => planOf(batch, trades, { launch, openDifferences, signal }),
    async priceCells(batch, cells) {
      // Only books under named scenarios load it.
      const { priceCells } = await import("./cells.ts");
      await priceCells(batch, cells, launch);
    },
    [Symbol.dispose]: () => differences?.[Symbol.dispose](),
  };
}

/** What plans compute with. */
interface Planning {
  readonly launch: Launch;
  readonly openDifferences: () => MethodSession;
  readonly signal: AbortSignal | undefined;
}

async function planOf(
  batch: Batch,
  trades: readonly number[],
  { launch, openDifferences, signal: until }: Planning,
): Promise<MethodPlan> {
  const { columns } = batch;
  const isOnSmile = (trade: number): boolean => columns.unshiftedVolatility(columns.rowOf(trade)).kind === "surface";
  const onSmile = trades.filter(isOnSmile);
  const plans: MethodPlan[] = [BLACK_SCHOLES, HESTON].flatMap((formula) => {
    const own = trades.filter((trade) => !isOnSmile(trade) && formulaOf(columns, trade) === formula);
    return own.length === 0 ? [] : [new ClosedFormPlan(batch, own, formula, launch)];
  });
  if (onSmile.length > 0) plans.push(await SmilePlan.of(batch, onSmile, openDifferences, until));
  return {
    run: async (signal) => {
      for (const plan of plans) await plan.run(signal);
    },
    read: async (results, signal) => {
      for (const plan of plans) await plan.read(results, signal);
    },
    [Symbol.dispose]: () => {
      for (const plan of plans) plan[Symbol.dispose]();
    },
  };
}

/** All trades of a formula in one launch: an item for every row and spot, those of one trade together. */
class ClosedFormPlan implements MethodPlan {
  readonly #columns: TradeColumns;
  readonly #trades: readonly number[];
  readonly #formula: Formula;
  readonly #launch: Launch;
  readonly #rounding: number;
  readonly #sensitivityErrors: boolean;
  /** Spots of a row, today's first. */
  readonly #spots: number;
  readonly #perTrade: number;
  readonly #items: number;
  #output: Float64Array | Float32Array = new Float64Array();

  constructor(batch: Batch, trades: readonly number[], formula: Formula, launch: Launch) {
    const { columns } = batch;
    this.#columns = columns;
    this.#trades = trades;
    this.#formula = formula;
    this.#launch = launch;
    this.#rounding = ROUNDING[batch.precision];
    this.#sensitivityErrors = batch.settings.sensitivityErrorEstimates;
    this.#spots = 1 + columns.cases.spots;
    this.#perTrade = columns.cases.count * this.#spots;
    this.#items = trades.length * this.#perTrade;
  }

  async run(): Promise<void> {
    this.#output = await this.#launch(this.#formula, this.#input(), this.#items);
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
    const input = new Float64Array(items * this.#formula.inputs);
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
        const others = this.#formula.inputsOf(columns, row);
        for (let k = 0; k < this.#spots; k++, item++) {
          input[item] = (columns.spotAt(trade, k) / unit) * kept;
          input[items + item] = columns.strike[trade] / unit;
          input[2 * items + item] = rates;
          input[3 * items + item] = columns.dividendYield[trade] * expiry;
          others.forEach((value, i) => (input[(4 + i) * items + item] = value));
        }
      }
    }
    return input;
  }

  #readTrade(trade: number, item: number, results: ResultColumns): void {
    const columns = this.#columns;
    const formula = this.#formula;
    const raw = (k: number): number => this.#output[k * this.#items + item];
    const row = columns.rowOf(trade);
    const spot = columns.spot[trade];
    const kept = keptByDividends(columns, row);
    const outputs = { value: raw(0) * spot, delta: raw(1) * kept, gamma: (raw(2) * kept * kept) / spot, raw };
    const found = {
      delta: outputs.delta,
      gamma: outputs.gamma,
      theta: formula.thetaOf(columns, trade, outputs),
      vega: formula.vegaOf(columns, trade, outputs),
      // R moves by T per unit of a move of r.
      rho: raw(4) * spot * columns.expiry[row],
    };
    const estimate = formula.estimate === undefined ? undefined : raw(formula.estimate);
    const error = estimate === undefined ? this.#rounding * (spot + Math.abs(outputs.value)) : estimate * spot;
    const errors = this.#sensitivityErrors
      ? formula.errorsOf(columns, trade, found, estimate ?? this.#rounding)
      : undefined;
    results.setToday(trade, outputs.value, error, found, errors);
    results.priced(trade, formula.method);
  }

  #readScenarios(trade: number, item: number, results: ResultColumns): void {
    const columns = this.#columns;
    const estimate = this.#formula.estimate;
    const unit = columns.spot[trade];
    const first = columns.rowOf(trade);
    for (let row = first; row < first + columns.cases.count; row++) {
      if (columns.settled[row] !== 0) continue; // worth nothing, as the columns say from the start
      // At expiry the formula's limit has rounding that the payoff has not.
      const payoff = columns.expiry[row] === 0 ? payoffProfile(columns, trade) : undefined;
      const at = item + (row - first) * this.#spots + 1;
      const errorAt = (k: number): number =>
        estimate === undefined ? 0 : this.#output[estimate * this.#items + at + k] * unit;
      results.setScenarios(
        row,
        (k) => (payoff === undefined ? this.#output[at + k] * unit : payoff.value(columns.spotAt(trade, k + 1))),
        (k, value) => errorAt(k) + this.#rounding * (unit + Math.abs(value)),
      );
    }
  }
}
