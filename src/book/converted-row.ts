/** The numbers of a trade in the reporting currency, for totals in it. */
import type { ReportingFigures, TotalledRow } from "./result-types.ts";

/** Returns the numbers of a trade in the reporting currency. */
export function convertedRow(
  { quantity, result, sensitivities }: TotalledRow,
  reporting: ReportingFigures,
): TotalledRow {
  const {
    rate,
    value,
    theta,
    rho,
    errorEstimate,
    fxDelta,
    scenarioRates: rates,
    scenarioValueRates: named,
  } = reporting;
  const times = (of: number | null, by: number = rate): number | null => (of === null ? null : by * of);
  // A table of results does not have the rates under scenarios.
  const scenarios =
    rates &&
    result.scenarios?.map((cube, t) =>
      cube.map((plane, s) => plane.map((line) => line.map((one) => times(one, rates[t][s])))),
    );
  const estimates =
    rates &&
    result.scenarioErrorEstimates?.map((plane, t) =>
      plane.map((line) => line.map((one) => times(one, Math.max(...rates[t])))),
    );
  return {
    quantity,
    result: {
      value,
      theta,
      rho,
      errorEstimate,
      ...(scenarios === undefined ? {} : { scenarios }),
      ...(named === undefined
        ? {}
        : {
            scenarioValues: named.map((by, s) => times(result.scenarioValues![s], by)),
            scenarioValueErrorEstimates: named.map((by, s) => times(result.scenarioValueErrorEstimates![s], by)),
          }),
      ...(estimates === undefined ? {} : { scenarioErrorEstimates: estimates }),
    },
    sensitivities: sensitivities.map(([name, { delta, gamma, vega, cashDelta }]) => [
      name,
      { delta: times(delta), gamma: times(gamma), vega: times(vega), cashDelta: times(cashDelta) },
    ]),
    fxDelta,
  };
}
