import type { BookContext, MethodName, ParsedTrade } from "../book/index.ts";
import type { Precision } from "../kernel/index.ts";
import { ScenarioCases } from "./columns/result-columns.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { kindOf } from "./kinds.ts";
import type { NumberedOptions } from "./options.ts";
import { methodFor } from "./plan/kind.ts";
import { type PricingMethod, TimeBudget } from "./plan/method.ts";
import { settingsOf } from "./price-book.ts";
import { RowProblems } from "./trade-problem.ts";

/** The host's cost of reading a trade, putting it into columns and writing its result, in seconds. */
const HOST_COST = 1e-5;
/**
 * The host's cost of each scenario in seconds: assessing its value, writing it. 2,000 options under 441 took 2 ms each.
 */
const SCENARIO_COST = 4e-6;

type CostOptions = Pick<NumberedOptions, "greeks" | "method" | "accuracy"> & { readonly precision: Precision };

/** The method that would price a trade, undefined if it cannot be priced, and the expected cost. */
export interface ExpectedCost {
  readonly method: MethodName | undefined;
  /** The expected time in seconds on one core, including all scenarios of the trade. */
  readonly seconds: number;
  /** The part of the time that the host needs, whatever the device. */
  readonly host: number;
}

const NOTHING: ExpectedCost = { method: undefined, seconds: 0, host: 0 };

/** Estimates the method and the cost of each trade without pricing it. @throws SpecError options that cannot be met */
export function expectedCosts(
  trades: readonly ParsedTrade[],
  context: BookContext,
  options: CostOptions,
): ExpectedCost[] {
  const settings = settingsOf(options, context);
  const cases = new ScenarioCases(context.scenarios);
  const columns = new TradeColumns(trades, cases);
  const host = HOST_COST + SCENARIO_COST * cases.count * cases.spots;
  const { precision } = options;
  const budget = new TimeBudget(undefined);
  const batch = { columns, problems: new RowProblems(columns), settings, precision, budget };
  return trades.map((parsed, i) => {
    if (!parsed.ok) return NOTHING;
    try {
      const kind = kindOf(parsed.trade);
      columns.indexInRun[i] = parsed.index ?? i;
      kind.add(batch, i, parsed.trade);
      const method = methodFor(kind, batch, i);
      const cost = method.accepts(batch, i);
      return typeof cost === "number" ? { method: workOf(method), seconds: host + cost / 1e6, host } : NOTHING;
    } catch {
      return NOTHING; // its result will say why
    }
  });
}

/** The name under which the work of a method is counted. */
const workOf = ({ name, worksLike }: PricingMethod): MethodName | undefined =>
  worksLike ?? (name === "lattice" ? undefined : name);
