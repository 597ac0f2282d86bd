import { allOf } from "../all-of.ts";
import { unreadResult, type ParsedTrade, type Scenarios, type Trade, type TradeResult } from "../book/index.ts";
import { Turns } from "../turns.ts";
import type { Engine, SessionOf } from "./backend.ts";
import { ResultColumns } from "./columns/result-columns.ts";
import { ScenarioCases } from "./columns/scenario-cases.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { EuropeanTwins } from "./guard/european-twins.ts";
import { Guard } from "./guard/guard.ts";
import { priceConvertibles } from "./convertibles/index.ts";
import { methodFor, nextMethodFor } from "./methods/choose.ts";
import type { Batch, MethodPlan, PricingMethod } from "./methods/method.ts";
import type { Settings } from "./options.ts";
import { underMovedQuotes } from "./moved-quotes.ts";
import { resultOf } from "./output-row.ts";
import { TimeBudget } from "./time-budget.ts";
import { priceRates } from "./rates/index.ts";
import { RowProblems } from "./trade-problem.ts";

/** The settings that a batch is priced with. */
export interface BatchSetting extends Settings {
  readonly engine: Engine;
  readonly scenarios: Scenarios | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Prices trades together, those whose quotes move with the spot of a scenario by `underMovedQuotes`. */
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
    const rates = await priceRates(trades, firstIndex, { settings: setting, cases, engine, sessionOf, signal });
    const convertibles = await priceConvertibles(trades, firstIndex, {
      settings: setting,
      cases,
      engine,
      sessionOf,
      signal,
    });
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
    await allOf(plans.map((plan) => plan.run(signal)));
    for (const plan of plans) await plan.read(results, signal);
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
  const chosen = new Map<PricingMethod, number[]>();
  for (let i = 0; i < trades.length; i++) {
    const parsed = trades[i];
    if (!parsed.ok || parsed.trade.kind !== undefined) continue;
    if (turns.due) await turns.take();
    try {
      batch.columns.add(i, parsed.trade, parsed.index ?? firstIndex + i);
      const method = methodFor(batch, i);
      const accepted = chosen.get(method);
      if (accepted === undefined) chosen.set(method, [i]);
      else accepted.push(i);
    } catch (error) {
      results.fail(i, error);
    }
  }
  return chosen;
}
