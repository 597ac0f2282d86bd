import { type ParsedTrade, type TradeResult, unreadResult } from "../book/index.ts";
import { EventLoopYielder, settleAll } from "../base/event-loop.ts";
import type { SessionOf } from "./backend.ts";
import { ResultColumns, ScenarioCases } from "./columns/result-columns.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { Guard } from "./guard/guard.ts";
import { kindOf } from "./kinds.ts";
import { cheapest, type TradeBounds, methodFor, type TradeKind } from "./plan/kind.ts";
import type { BatchSetting, PricedBatch, PricedColumns } from "./plan/batch-setting.ts";
import { type Batch, type MethodPlan, type PricingMethod, TimeBudget } from "./plan/method.ts";
import { refuseDoubts } from "./term-warnings.ts";
import { resultOf } from "./output-row.ts";
import { RowProblems } from "./trade-problem.ts";

/** Prices trades together (`pricedBatch`), with their risk by bucket where settings ask for it. */
export async function priceBatch(...given: Parameters<typeof pricedBatch>): Promise<TradeResult[]> {
  const [, , { greeks, buckets = false }] = given;
  if (greeks !== "all" || !buckets) return (await pricedBatch(...given)).results;
  // Most books do without.
  const { priceBuckets } = await import("./buckets.ts");
  return priceBuckets(pricedBatch, ...given);
}

/**
 * Prices trades together, whatever their kinds: parsed rows become columns, each method prices those that it accepts, a
 * guard checks the values against their bounds (`Guard`), and columns become rows again. An error of one trade becomes
 * the result of that trade; an error of the device is thrown. `firstIndex` is the index of the first trade in the run.
 * Scenarios move no quotes here: `underMovedQuotes` does that to a batch.
 */
export async function pricedBatch(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<PricedBatch> {
  const priced = await pricedColumns(trades, firstIndex, setting);
  return { results: trades.map((_, i) => priced.rowOf(i)), methods: priced.methods, slopes: priced.columns.slopes };
}

/** Prices trades together as `pricedBatch` does, and leaves their results in columns. */
export function pricedColumns(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<PricedColumns> {
  const { engine, signal, directionsOf } = setting;
  return engine.withSessions(async (sessionOf) => {
    const cases = new ScenarioCases(setting.scenarios);
    const columns = new TradeColumns(trades, cases);
    const results = new ResultColumns(trades.length, cases);
    const methods: Methods = new Map();
    const batch = {
      directionsOf: directionsOf && ((trade: number) => directionsOf(columns.givenOf(trade), methods.get(trade)!)),
      columns,
      problems: new RowProblems(columns),
      settings: setting,
      budget: new TimeBudget(setting.timePerTrade),
      precision: engine.precision,
    };
    const run: Run = { batch, results, sessionOf, signal };
    await choose(methods, trades, firstIndex, setting.methodOf, run);
    await priceBy(byMethod(methods), run);
    await guardResults(methods, run);
    for (const [method, own] of byMethod(methods)) await sessionOf(method).finish?.(batch, own, results, signal);
    const rows = { trades, firstIndex, results, cases, settings: setting, engine };
    const rowOf = (i: number): TradeResult => {
      const parsed = trades[i];
      return parsed.ok ? resultOf(rows, parsed.trade, kindOf(parsed.trade), i) : unreadResult(parsed);
    };
    return { columns: results, methods, rowOf };
  });
}

/** A batch on its way. */
interface Run {
  readonly batch: Batch;
  readonly results: ResultColumns;
  readonly sessionOf: SessionOf;
  readonly signal: AbortSignal | undefined;
}

/** The method of each trade. */
type Methods = Map<number, PricingMethod>;

const kindAt = ({ columns }: Batch, trade: number): TradeKind => kindOf(columns.givenOf(trade));

/** Prices trades by the methods that were chosen for them, to an accuracy that may be finer than what was asked for. */
async function priceBy(
  chosen: ReadonlyMap<PricingMethod, readonly number[]>,
  { batch, results, sessionOf, signal }: Run,
  accuracy = batch.settings.accuracy,
): Promise<void> {
  const own = accuracy === batch.settings.accuracy ? batch : { ...batch, settings: { ...batch.settings, accuracy } };
  const plans: MethodPlan[] = [];
  try {
    for (const [method, accepted] of chosen) {
      for (const trade of accepted)
        results.targetErrors[trade] = kindAt(batch, trade).targetErrorOf(batch, trade, method);
      plans.push(await sessionOf(method).plan(own, accepted, signal));
    }
    await settleAll(plans.map((plan) => plan.run(signal)));
    for (const plan of plans) await plan.read(results, signal);
    for (const accepted of chosen.values()) kindAt(batch, accepted[0]).widen?.(own, accepted, results);
  } finally {
    for (const plan of plans) plan[Symbol.dispose]();
  }
}

/** The factor by which a method that tries again is finer, and the finest accuracy that there is. */
const FINER = 8;
const FINEST = 1e-8;

/**
 * Trades whose values no such payoff can have are priced again: by a finer resolution, then by the next method if none
 * is asked for, which becomes theirs in `methods`. What is outside its bounds even then is an error.
 */
async function guardResults(methods: Methods, run: Run): Promise<void> {
  const { batch, results } = run;
  const all = [...methods.keys()];
  const limits = await limitsOf(all, run);
  const guard = new Guard(batch, (trade) => limits.get(kindAt(batch, trade))!);
  guard.check(all, results);
  const again = async (methodOf: (trade: number) => PricingMethod | undefined, finer: number): Promise<void> => {
    const next: Methods = new Map();
    for (const trade of guard.outside) {
      const method = methodOf(trade);
      if (method !== undefined) next.set(trade, method);
    }
    for (const [method, trades] of byMethod(next)) {
      for (const trade of trades) {
        results.reset(trade);
        methods.set(trade, method);
      }
      const { accuracy = method.accuracy } = batch.settings;
      await priceBy(new Map([[method, trades]]), run, accuracy && Math.max(accuracy / finer, FINEST));
      guard.check(trades, results);
    }
  };
  await again((trade) => {
    const method = methods.get(trade)!;
    return method.accuracy === undefined ? undefined : method;
  }, FINER);
  const isOpen = batch.settings.method === "auto";
  await again(
    (trade) => (isOpen ? cheapest(kindAt(batch, trade).methods, batch, trade, methods.get(trade)) : undefined),
    1,
  );
  guard.settle(results);
}

/** The bounds of trades by their kinds. */
async function limitsOf(
  trades: readonly number[],
  { batch, sessionOf, signal }: Run,
): Promise<ReadonlyMap<TradeKind, TradeBounds>> {
  const limits = new Map<TradeKind, TradeBounds>();
  for (const [kind, own] of grouped(trades, (trade) => kindAt(batch, trade)))
    limits.set(kind, await kind.boundsOf(batch, own, sessionOf, signal));
  return limits;
}

/** Trades by the method that each of them has. */
const byMethod = (methods: ReadonlyMap<number, PricingMethod>): ReadonlyMap<PricingMethod, readonly number[]> =>
  grouped(methods.keys(), (trade) => methods.get(trade)!);

function grouped<K>(trades: Iterable<number>, keyOf: (trade: number) => K): ReadonlyMap<K, readonly number[]> {
  const groups = new Map<K, number[]>();
  for (const trade of trades) {
    const key = keyOf(trade);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [trade]);
    else group.push(trade);
  }
  return groups;
}

/** Puts each trade into the columns, and adds its method to `methods`. @throws the signal's reason */
async function choose(
  methods: Methods,
  trades: readonly ParsedTrade[],
  firstIndex: number,
  methodOf: BatchSetting["methodOf"],
  { batch, results, signal }: Run,
): Promise<void> {
  const yielder = new EventLoopYielder(signal);
  for (let i = 0; i < trades.length; i++) {
    const parsed = trades[i];
    if (!parsed.ok) continue;
    if (yielder.isDue) await yielder.yieldNow();
    const kind = kindOf(parsed.trade);
    batch.columns.indexInRun[i] = parsed.index ?? firstIndex + i;
    try {
      if (batch.settings.strict) refuseDoubts(kind.doubts(parsed.trade));
      kind.add(batch, i, parsed.trade);
      const given = methodOf?.(i);
      const isGiven = given !== undefined && typeof given.accepts(batch, i) === "number";
      methods.set(i, isGiven ? given : methodFor(kind, batch, i));
    } catch (error) {
      results.fail(i, error);
    }
  }
}
