/** Results in the reporting currency of their book, and their sensitivities to exchange rates. */
import type {
  AnyTrade,
  BookContext,
  ParsedTrade,
  PricedTrade,
  Reporting,
  ReportingFigures,
  ScenarioTable,
  TradeResult,
} from "../book/index.ts";
import { integrate } from "../market/index.ts";
import { spotMoveOf } from "./columns/result-columns.ts";
import { kindOf } from "./kinds.ts";
import { FactorMoves } from "./scenarios/cells.ts";

/** The scenarios of a book. */
type ScenariosOf = Pick<BookContext, "scenarios" | "scenarioTable">;

/** Returns results with their numbers in the reporting currency, where their trades have one. */
export function withReporting(
  batch: readonly ParsedTrade[],
  results: readonly TradeResult[],
  context: ScenariosOf,
): TradeResult[] {
  return results.map((result, i) => {
    const parsed = batch[i];
    if (result.status !== "ok" || !parsed.ok || parsed.reporting === undefined) return result;
    return { ...result, reporting: reportingOf(parsed.trade, result, parsed.reporting, context) };
  });
}

function reportingOf(
  trade: AnyTrade,
  result: PricedTrade,
  reporting: Reporting,
  { scenarios, scenarioTable }: ScenariosOf,
): ReportingFigures {
  const { currency, steps } = reporting;
  const rate = rateOf(
    reporting,
    ({ carry }) => carry,
    () => 0,
  );
  const times = (value: number | null): number | null => (value === null ? null : rate * value);
  // At constant spots the rate moves with the discount factors until the spot date.
  const drift = steps.reduce((sum, { power, growth }) => sum + power * growth, 0);
  const { value, delta, gamma, theta, vega, rho, errorEstimate } = result;
  return {
    currency,
    rate,
    value: rate * value,
    delta: times(delta),
    gamma: times(gamma),
    theta: theta === null ? null : rate * (theta + drift * value),
    vega: times(vega),
    rho: times(rho),
    errorEstimate: rate * errorEstimate,
    fxDelta: fxDeltas(trade, result, reporting, rate),
    ...(scenarios === undefined
      ? {}
      : {
          scenarioRates: scenarios.time.map((_, t) =>
            scenarios.spot.map((move) =>
              rateOf(
                reporting,
                ({ carryAt }) => carryAt(scenarios.time[t]),
                (pair) => spotMoveOf(move, pair),
              ),
            ),
          ),
        }),
    ...(scenarioTable === undefined ? {} : { scenarioValueRates: conversionRates(reporting, scenarioTable) }),
  };
}

/** The rates of conversions under the named scenarios, each once for all trades that share it. */
const known = new WeakMap<Reporting, { readonly table: ScenarioTable; readonly rates: readonly number[] }>();

/** Returns the rate of a conversion to the reporting currency under each named scenario. */
export function conversionRates(reporting: Reporting, table: ScenarioTable): readonly number[] {
  const found = known.get(reporting);
  if (found?.table === table) return found.rates;
  const rates = namedRates(reporting, table);
  known.set(reporting, { table, rates });
  return rates;
}

/** The rate under each named scenario. */
function namedRates(reporting: Reporting, table: ScenarioTable): readonly number[] {
  const moves = new FactorMoves(table);
  return table.names.map((_, s) => {
    const market = moves.market(s, false);
    return reporting.steps.reduce((rate, { pair, spot, power, carryAt, base, quote, lag }) => {
      // Until the spot date values are discounted at the rates of both currencies.
      const [ofBase, ofQuote] = [base, quote].map((currency) => integrate(market.forwards(currency), lag));
      const carry = carryAt(market.years) * Math.exp(ofBase - ofQuote);
      return rate * (spot * (1 + market.by("fx", pair)) * carry) ** power;
    }, 1);
  });
}

function rateOf(
  { steps }: Reporting,
  carryOf: (step: Reporting["steps"][number]) => number,
  moveOf: (pair: string) => number,
): number {
  return steps.reduce((rate, step) => rate * (step.spot * (1 + moveOf(step.pair)) * carryOf(step)) ** step.power, 1);
}

/** Returns the derivatives of the value in the reporting currency by the spot of each quoted pair. */
function fxDeltas(
  trade: AnyTrade,
  result: PricedTrade,
  { steps, pairs }: Reporting,
  rate: number,
): ReportingFigures["fxDelta"] {
  const deltas: Record<string, number | null> = {};
  const add = (pair: string, slope: number | null): void => {
    const known = deltas[pair] ?? (pair in deltas ? null : 0);
    deltas[pair] = known === null || slope === null ? null : known + slope;
  };
  for (const { pair, spot, power } of steps) add(pair, (power * rate * result.value) / spot);
  const own = kindOf(trade).byPair?.(trade);
  if (own !== undefined) {
    for (const [pair, slope] of own) add(pair, rate * slope);
    return deltas;
  }
  const sensitivities = result.sensitivities ?? ("underlying" in trade ? { [trade.underlying.name]: result } : {});
  for (const [name, { delta }] of Object.entries(sensitivities))
    for (const { pair, spot, power } of pairs[name]?.steps ?? [])
      add(pair, delta === null ? null : (rate * delta * pairs[name].spot * power) / spot);
  return deltas;
}
