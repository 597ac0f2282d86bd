import { settleAll } from "../base/settle-all.ts";
import {
  type MethodName,
  type ParsedTrade,
  type Scenarios,
  type Trade,
  type TradeResult,
  unreadResult,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import { Turns } from "../base/turns.ts";
import type { Engine, SessionOf } from "./backend.ts";
import { ResultColumns } from "./columns/result-columns.ts";
import { ScenarioCases } from "./columns/scenario-cases.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { EuropeanTwins } from "./guard/european-twins.ts";
import { Guard } from "./guard/guard.ts";
import { addMisfits } from "./guard/misfits.ts";
import { priceConvertibles } from "./convertibles/index.ts";
import { convolution } from "./methods/convolution/convolution.ts";
import { closedForm } from "./methods/closed-form/closed-form.ts";
import { deterministic } from "./methods/deterministic/deterministic.ts";
import { adi } from "./methods/adi/adi.ts";
import { fdm } from "./methods/fdm/fdm.ts";
import { sparseGrid } from "./methods/sparse-grid/sparse-grid.ts";
import { integral } from "./methods/integral/integral.ts";
import { montecarlo } from "./methods/montecarlo/montecarlo.ts";
import { quantization } from "./methods/quantization/quantization.ts";
import type { Batch, MethodPlan, PricingMethod } from "./plan/method.ts";
import { refuseDoubts } from "./fit-doubts.ts";
import type { Settings } from "./options.ts";
import { underMovedQuotes } from "./moved-quotes.ts";
import { resultOf } from "./output-row.ts";
import { TimeBudget } from "./time-budget.ts";
import { priceRates } from "./rates/index.ts";
import { RowProblems } from "./trade-problem.ts";

/** The settings and the device with which a batch of trades is priced. */
export interface BatchSetting extends Settings {
  readonly engine: Engine;
  readonly scenarios: Scenarios | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Prices trades together, and returns their results in order. Trades whose volatility quotes move with the spot of a
 * scenario are priced by `underMovedQuotes`. `firstIndex` is the index of the first trade in the run.
 */
export function priceBatch(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<TradeResult[]> {
  return underMovedQuotes(trades, firstIndex, setting, (some, under) =>
    priceTogether(some, firstIndex, { ...setting, ...under }),
  );
}

/**
 * Prices trades together: parsed rows become columns, each method prices those that it accepts, a guard looks at what
 * they find (`Guard`), and columns become rows again. What one trade throws is that trade's result; what the device
 * throws is thrown.
 */
function priceTogether(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<TradeResult[]> {
  const { engine, signal } = setting;
  return engine.withSessions(async (sessionOf) => {
    const cases = new ScenarioCases(setting.scenarios);
    const columns = new TradeColumns(trades, cases);
    const results = new ResultColumns(trades.length, cases);
    const batch = {
      columns,
      problems: new RowProblems(columns),
      settings: setting,
      budget: new TimeBudget(setting.timePerTrade),
      precision: engine.precision,
    };
    const run: Run = { batch, results, sessionOf, signal };
    const others = { settings: setting, cases, engine, sessionOf, budget: batch.budget, signal };
    const rates = await priceRates(trades, firstIndex, others);
    const convertibles = await priceConvertibles(trades, firstIndex, others);
    const chosen = await choose(trades, firstIndex, batch, results, signal);
    await priceBy(chosen, run);
    await guardResults(chosen, run);
    const rows = { trades, firstIndex, results, cases, settings: setting, engine };
    return trades.map((parsed, i) => {
      if (!parsed.ok) return unreadResult(parsed);
      return rates.get(i) ?? convertibles.get(i) ?? resultOf(rows, parsed.trade as Trade, i);
    });
  });
}

/** A batch on its way. */
interface Run {
  readonly batch: Batch;
  readonly results: ResultColumns;
  readonly sessionOf: SessionOf;
  readonly signal: AbortSignal | undefined;
}

type ByMethod = ReadonlyMap<PricingMethod, readonly number[]>;

/** Prices trades by the methods that were chosen for them, to an accuracy that may be finer than what was asked for. */
async function priceBy(
  chosen: ByMethod,
  { batch, results, sessionOf, signal }: Run,
  accuracy = batch.settings.accuracy,
): Promise<void> {
  const own = accuracy === batch.settings.accuracy ? batch : { ...batch, settings: { ...batch.settings, accuracy } };
  const plans: MethodPlan[] = [];
  try {
    for (const [method, accepted] of chosen) {
      for (const trade of accepted) results.asked[trade] = askedOf(batch, trade, method);
      plans.push(await sessionOf(method).plan(own, accepted, signal));
    }
    await settleAll(plans.map((plan) => plan.run(signal)));
    for (const plan of plans) await plan.read(results, signal);
    for (const accepted of chosen.values()) addMisfits(own, accepted, results);
  } finally {
    for (const plan of plans) plan[Symbol.dispose]();
  }
}

/**
 * The error that a method is to aim at, in the currency; NaN where nothing is asked of one that computes to rounding.
 */
function askedOf({ columns, settings }: Batch, trade: number, { accuracy: own = Number.NaN }: PricingMethod): number {
  const { payoff, assets } = columns.tradeOf(trade);
  const spot =
    assets === undefined ? columns.spot[trade] : Math.max(...assets.map(({ underlying }) => underlying.spot));
  const units = payoff.kind === "swing" ? Math.max(payoff.max, 1) : 1;
  return (settings.accuracy ?? own) * spot * units;
}

/** The factor by which a method that tries again is finer, and the finest accuracy that there is. */
const FINER = 8;
const FINEST = 1e-8;

/**
 * Trades whose values no such payoff can have are priced again: by a finer resolution, then by the next method if none
 * is asked for. What is outside its bounds even then is an error.
 */
async function guardResults(chosen: ByMethod, run: Run): Promise<void> {
  const { batch, results, sessionOf, signal } = run;
  const methods = new Map<number, PricingMethod>();
  for (const [method, trades] of chosen) for (const trade of trades) methods.set(trade, method);
  const all = [...methods.keys()];
  const guard = new Guard(batch, await EuropeanTwins.of(batch, all, sessionOf, signal));
  guard.look(all, results);
  const again = async (methodOf: (trade: number) => PricingMethod | undefined, finer: number): Promise<void> => {
    for (const [method, trades] of byMethod(guard.outside, methodOf)) {
      for (const trade of trades) results.reset(trade);
      const { accuracy = method.accuracy } = batch.settings;
      await priceBy(new Map([[method, trades]]), run, accuracy && Math.max(accuracy / finer, FINEST));
      guard.look(trades, results);
    }
  };
  const finerMethod = (trade: number): PricingMethod | undefined => {
    const method = methods.get(trade)!;
    return method.accuracy === undefined ? undefined : method;
  };
  await again(finerMethod, FINER);
  await again((trade) => nextMethodFor(batch, trade, methods.get(trade)!), 1);
  guard.settle(results);
}

/** Trades by the method that each of them has; without those that have none. */
function byMethod(
  trades: readonly number[],
  methodOf: (trade: number) => PricingMethod | undefined,
): Map<PricingMethod, number[]> {
  const groups = new Map<PricingMethod, number[]>();
  for (const trade of trades) {
    const method = methodOf(trade);
    if (method === undefined) continue;
    const group = groups.get(method);
    if (group === undefined) groups.set(method, [trade]);
    else group.push(trade);
  }
  return groups;
}

/** Puts each trade into the columns, and chooses its method: trades by method. @throws the signal's reason */
async function choose(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  batch: Batch,
  results: ResultColumns,
  signal: AbortSignal | undefined,
): Promise<Map<PricingMethod, number[]>> {
  const turns = new Turns(signal);
  const methods = new Map<number, PricingMethod>();
  for (let i = 0; i < trades.length; i++) {
    const parsed = trades[i];
    if (!parsed.ok || parsed.trade.kind !== undefined) continue;
    if (turns.due) await turns.take();
    try {
      refuseDoubts(parsed.trade, batch.settings);
      batch.columns.add(i, parsed.trade, parsed.index ?? firstIndex + i);
      methods.set(i, methodFor(batch, i));
    } catch (error) {
      results.fail(i, error);
    }
  }
  return byMethod([...methods.keys()], (trade) => methods.get(trade));
}

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
export const METHODS: readonly PricingMethod[] = Object.values(BY_NAME);

/**
 * Returns the cheapest method that accepts the trade with an index in a batch, or the requested method. @throws
 * BookError if no method accepts the trade, or the requested one does not
 */
export function methodFor(batch: Batch, trade: number): PricingMethod {
  const { method: name } = batch.settings;
  if (name === "auto") {
    const best = cheapest(batch, trade);
    if (best === undefined) throw refusal(batch, trade);
    return best;
  }
  const named: PricingMethod = BY_NAME[name];
  const wanted = batch.columns.severalFactors[trade] === 0 ? named : (named.ofSeveralFactors ?? named);
  const answer = wanted.accepts(batch, trade);
  if (typeof answer === "number") return wanted;
  const others = METHODS.filter((one) => typeof one.accepts(batch, trade) === "number").map((one) => one.name);
  const remedy = `expected method ${orList(["auto", ...others])}`;
  throw new BookError(
    placeOf(batch, trade),
    `method "${wanted.name}" does not price this trade, it has ${answer}; ${remedy}`,
  );
}

/**
 * Returns the cheapest method for a trade apart from one that has failed. It is undefined where there is none, or a
 * certain method was requested.
 */
export function nextMethodFor(batch: Batch, trade: number, failed: PricingMethod): PricingMethod | undefined {
  return batch.settings.method === "auto" ? cheapest(batch, trade, failed) : undefined;
}

function cheapest(batch: Batch, trade: number, failed?: PricingMethod): PricingMethod | undefined {
  let best: PricingMethod | undefined;
  let cost = Number.POSITIVE_INFINITY;
  for (const method of METHODS) {
    if (method === failed || method.minCost >= cost) continue;
    const answer = method.accepts(batch, trade);
    if (typeof answer === "number" && answer < cost) [best, cost] = [method, answer];
  }
  return best;
}

/**
 * Returns the error of a trade that no method prices: first the reason of the method meant for such trades, then what
 * those of the others say.
 */
function refusal(batch: Batch, trade: number): BookError {
  const meant = methodMeantFor(batch.columns.tradeOf(trade));
  const others = METHODS.filter(({ name }) => name !== meant).map(
    (method) => `"${method.name}": ${method.accepts(batch, trade)}`,
  );
  return new BookError(
    placeOf(batch, trade),
    `it has ${BY_NAME[meant].accepts(batch, trade)}, which method "${meant}" does not price yet; the other methods ` +
      `do not price this trade either (${others.join("; ")})`,
  );
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

const placeOf = ({ columns }: Batch, trade: number): string => `trades[${columns.place[trade]}]`;

function orList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}
