import { allOf } from "../all-of.ts";
import { unreadResult, type ParsedTrade, type Scenarios, type TradeResult } from "../book/index.ts";
import { Turns } from "../turns.ts";
import type { Engine } from "./backend.ts";
import { ResultColumns } from "./columns/result-columns.ts";
import { ScenarioCases } from "./columns/scenario-cases.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { methodFor } from "./methods/choose.ts";
import type { Batch, Plan, PricingMethod } from "./methods/method.ts";
import type { Settings } from "./options.ts";
import { type OutputRows, resultOf } from "./output-row.ts";
import { TimeBudget } from "./time-budget.ts";
import { RowProblems } from "./trade-problem.ts";

/** What a batch is priced with. */
export interface BatchSetting extends Settings {
  readonly engine: Engine;
  readonly scenarios: Scenarios | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Prices trades together: parsed rows become columns, each method prices those that it accepts, and columns become rows
 * again. What one trade throws is that trade's result; what the device throws is thrown.
 */
export function priceBatch(
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
    const chosen = await choose(trades, firstIndex, batch, results, signal);
    const plans: Plan[] = [];
    try {
      for (const [method, accepted] of chosen) plans.push(await sessionOf(method).plan(batch, accepted, signal));
      await allOf(plans.map((plan) => plan.run(signal)));
      for (const plan of plans) await plan.read(results, signal);
    } finally {
      for (const plan of plans) plan[Symbol.dispose]();
    }
    return outputRows({ trades, firstIndex, results, cases, settings: setting, engine });
  });
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
    if (!parsed.ok) continue;
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

function outputRows(rows: OutputRows): TradeResult[] {
  return rows.trades.map((parsed, i) =>
    parsed.ok ? resultOf(rows, parsed.trade, i) : unreadResult(parsed),
  );
}
