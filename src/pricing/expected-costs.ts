import type { BookContext, ParsedTrade } from "../book/index.ts";
import type { Precision } from "../kernel/index.ts";
import { ScenarioCases } from "./columns/scenario-cases.ts";
import { TradeColumns } from "./columns/trade-columns.ts";
import { methodFor } from "./methods/choose.ts";
import type { PricingOptions } from "./options.ts";
import { settingsOf } from "./price-trades.ts";
import { TimeBudget } from "./time-budget.ts";
import { RowProblems } from "./trade-problem.ts";

/** The host's cost of reading a trade, putting it into columns and writing its result, in seconds. */
const HOST_COST = 1e-5;

/**
 * What each trade is expected to cost one core, with all its scenarios; 0 where it cannot be priced. Seconds.
 * @throws SpecError options that cannot be met
 */
export function expectedCosts(
  trades: readonly ParsedTrade[],
  context: BookContext,
  options: Pick<PricingOptions, "greeks" | "method" | "accuracy"> & { readonly precision: Precision },
): number[] {
  const settings = settingsOf(options, context);
  const columns = new TradeColumns(trades, new ScenarioCases(context.scenarios));
  const { precision } = options;
  const budget = new TimeBudget(undefined);
  const batch = { columns, problems: new RowProblems(columns), settings, precision, budget };
  return trades.map((parsed, i) => {
    if (!parsed.ok) return 0;
    try {
      columns.add(i, parsed.trade, parsed.index ?? i);
      const cost = methodFor(batch, i).accepts(batch, i);
      return typeof cost === "number" ? HOST_COST + cost / 1e6 : 0;
    } catch {
      return 0; // its result will say why
    }
  });
}
