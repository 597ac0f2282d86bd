/** The values of trades under named scenarios as parts of their results; most books load nothing for them. */
import { type ParsedTrade, quote, type ScenarioTable, type TradeResult } from "../book/index.ts";
import { TARGET_ERRORS } from "./plan/method.ts";
import type { ScenarioCube, ScenarioWarning } from "./scenarios/cube.ts";
import { priceScenarios, type ScenarioBatch } from "./scenarios/price-scenarios.ts";

/** The methods, as they appear in results, whose solutions have the values at all spots, and their accuracies. */
const READ_AT_SPOTS: Readonly<Record<string, number>> = {
  "black-scholes": TARGET_ERRORS.fdm,
  heston: TARGET_ERRORS.fdm,
  "implied-volatility": TARGET_ERRORS.fdm,
  integral: TARGET_ERRORS.integral,
  fdm: TARGET_ERRORS.fdm,
  adi: TARGET_ERRORS.adi,
  "sparse-grid": TARGET_ERRORS["sparse-grid"],
};

/** A function that prices trades under the scenarios of a table, where it wants to by the function that it is given. */
export type PriceScenarios = (
  batch: Omit<ScenarioBatch, "setting">,
  priceHere: typeof priceScenarios,
) => Promise<ScenarioCube>;

/** Returns results with the values of their trades under the scenarios of a table. @throws what `price` throws */
export async function withScenarioValues(
  trades: readonly ParsedTrade[],
  results: TradeResult[],
  firstIndex: number,
  table: ScenarioTable,
  price: PriceScenarios,
): Promise<TradeResult[]> {
  const numbers = (name: "value" | "errorEstimate"): Float64Array =>
    Float64Array.from(results, (result) => result[name] ?? Number.NaN);
  const today = {
    values: numbers("value"),
    errors: numbers("errorEstimate"),
    accuracies: Float64Array.from(results, ({ method }) => READ_AT_SPOTS[method ?? ""] ?? Number.NaN),
    methods: results.map(({ method }) => method ?? undefined),
  };
  const cube = await price({ trades, today, firstIndex, table }, priceScenarios);
  const count = table.names.length;
  // Of numbers that are not whole, and without a gap: a copy holds numbers in place.
  const empty: readonly (number | null)[] = Array.from({ length: count }, () => 0.5);
  const rowOf = (column: Float64Array, i: number): (number | null)[] => {
    const row = empty.slice();
    for (let s = 0; s < count; s++) {
      const value = column[i * count + s];
      row[s] = Number.isFinite(value) ? value : null;
    }
    return row;
  };
  return results.map((result, i): TradeResult => {
    if (result.status === "error") return result;
    const further = cube.warnings[i].filter(({ text }) => !result.warnings.includes(text));
    return {
      ...result,
      warnings: [...result.warnings, ...further.map((warning) => textOf(warning, table))],
      scenarioValues: rowOf(cube.values, i),
      scenarioValueErrorEstimates: rowOf(cube.errors, i),
    };
  });
}

function textOf({ text, first, count }: ScenarioWarning, { names }: ScenarioTable): string {
  const name = quote(names[first]);
  return count === 1 ? `scenario ${name}: ${text}` : `${count} scenarios, the first of them ${name}: ${text}`;
}
