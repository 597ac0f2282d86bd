import { failedResult, labelsOf, type ParsedTrade, type RatesTrade, type TradeResult } from "../../book/index.ts";
import { NumericsError, SpecError } from "../../base/errors.ts";
import type { RatesModel } from "../../market/index.ts";
import { Turns } from "../../base/turns.ts";
import type { Engine, SessionOf } from "../backend.ts";
import type { ScenarioCases } from "../columns/scenario-cases.ts";
import { type Bounds, outsideText, withinBounds } from "../guard/range.ts";
import { SCENARIO_OUTSIDE } from "../guard/warnings.ts";
import { refuseDoubts } from "../fit-doubts.ts";
import type { Settings } from "../options.ts";
import type { TimeBudget } from "../time-budget.ts";
import { adjustedSpreads } from "./adjusted-spread.ts";
import { cirRates } from "./cir.ts";
import { closedFormRates } from "./closed-form.ts";
import { convolutionRates } from "./convolution.ts";
import { finiteRates } from "./finite-differences.ts";
import { latticeRates } from "./lattice.ts";
import { laterRatesTrade } from "./later.ts";
import { planeRates } from "./plane.ts";
import type { RatesMethod, RatesOutcome, RatesRow, RatesValue } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";
import { largestPayment, ratesResult } from "./result.ts";
import { narrowedBounds } from "./single-dates.ts";

/** The methods of trades on rates, the cheapest first. */
const METHODS: readonly RatesMethod[] = [
  closedFormRates,
  cirRates,
  convolutionRates,
  planeRates,
  latticeRates,
  finiteRates,
];

/** The methods of options on single dates, which bound those on several. */
const SINGLE_DATES: readonly RatesMethod[] = [closedFormRates, cirRates];

/** The settings and the device with which the trades on rates of a batch are priced. */
export interface RatesSetting {
  readonly settings: Settings;
  readonly cases: ScenarioCases;
  readonly engine: Engine;
  readonly sessionOf: SessionOf;
  readonly budget: TimeBudget;
  readonly signal: AbortSignal | undefined;
}

/** A trade with its rows: one for each case of the scenarios in which it is not settled. */
interface Job {
  readonly place: number;
  readonly trade: RatesTrade;
  readonly method: RatesMethod;
  readonly rows: readonly (RatesRow | undefined)[];
}

/**
 * Prices the trades on rates of a batch, each by the cheapest method that accepts it. All trades of one method, with
 * their scenarios, are priced in one call. @returns the results by the index of the trade in the batch
 */
export async function priceRates(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: RatesSetting,
): Promise<ReadonlyMap<number, TradeResult>> {
  const results = new Map<number, TradeResult>();
  const jobs = new Map<RatesMethod, Job[]>();
  const turns = new Turns(setting.signal);
  const markets = new Markets();
  const fail = (trade: RatesTrade, place: number, error: unknown): void => {
    const index = trades[place].index ?? firstIndex + place;
    const labels = { id: trade.id, ...labelsOf(trade) };
    results.set(place, failedResult(labels, error, setting.engine.warnings, `trades[${index}]`));
  };
  for (const [place, parsed] of trades.entries()) {
    if (!parsed.ok || parsed.trade.kind !== "rates") continue;
    if (turns.due) await turns.take();
    const { trade } = parsed;
    try {
      refuseDoubts(trade, setting.settings);
      const method = methodOf(trade, setting.settings);
      const own = jobs.get(method) ?? [];
      own.push({ place, trade, method, rows: rowsOf(trade, place, markets, setting) });
      jobs.set(method, own);
    } catch (error) {
      fail(trade, place, error);
    }
  }
  for (const [method, own] of jobs) {
    const rows = own.flatMap((job) => job.rows.filter((row) => row !== undefined));
    const session = setting.sessionOf(method);
    const outcomes = await session.price(rows, setting.signal);
    const bounds = await narrowedBounds(rows, SINGLE_DATES, setting.sessionOf, setting.signal);
    const guarded = outcomes.map((outcome, i) => guardedOf(rows[i], outcome, bounds[i], method));
    let next = 0;
    const spreads = new Map<Job, number>();
    const values = own.map((job) => job.rows.map((row) => (row === undefined ? undefined : guarded[next++])));
    const quoted = own.flatMap((job, i) => {
      const [row, outcome] = [job.rows[0], values[i][0]];
      if (!hasAdjustedSpread(job.trade) || row === undefined) return [];
      return outcome === undefined || outcome instanceof Error ? [] : [{ job, row, value: outcome.value }];
    });
    const found = await adjustedSpreads(quoted, session, setting.signal);
    found.forEach((spread, i) => spread !== undefined && spreads.set(quoted[i].job, spread));
    for (const [i, job] of own.entries()) {
      try {
        results.set(job.place, resultOf(job, values[i], setting, spreads.get(job)));
      } catch (error) {
        fail(job.trade, job.place, error);
      }
    }
  }
  return results;
}

/** Rounding of values and of their bounds, relative to the largest payment. */
const ROUNDING = 1e-9;

/** The outcome within its bounds, or the error of one that is further outside than its estimate allows. */
function guardedOf(row: RatesRow, outcome: RatesOutcome, bounds: Bounds, { name }: RatesMethod): RatesOutcome {
  if (outcome instanceof Error || !Number.isFinite(outcome.value)) return outcome;
  const found = withinBounds(outcome, bounds, ROUNDING * (largestPayment(row.trade) + Math.abs(outcome.value)));
  if (found !== undefined) return { ...outcome, ...found };
  return new NumericsError(
    `value: ${outsideText(name, outcome.value, bounds)}; name another method, or ask for another accuracy`,
  );
}

/** Tells whether a trade is a bond with rights and a market price. */
function hasAdjustedSpread({ product, marketPrice }: RatesTrade): boolean {
  return product.kind === "bond" && marketPrice !== undefined && product.calls.length + product.puts.length > 0;
}

/** @throws SpecError no method prices the trade, or the one asked for does not */
function methodOf(trade: RatesTrade, { method: asked }: Settings): RatesMethod {
  const offered = METHODS.filter(({ name }) => asked === "auto" || name === asked);
  if (offered.length === 0) {
    const names = METHODS.map(({ name }) => name).join(" or ");
    throw new SpecError(`method: ${asked} does not price trades on rates; expected auto, ${names}`);
  }
  const reasons = offered.map((method) => method.refuses(trade));
  const first = reasons.indexOf(undefined);
  if (first >= 0) return offered[first];
  if (trade.rates.kind === "curve" && asked === "auto")
    throw new SpecError(
      `the rates of ${trade.currency} are a curve without volatility, under which no method prices rights of exercise; ` +
        `give market.rates.${trade.currency} a model, such as hullWhite`,
    );
  const why = [...new Set(offered.map(({ name }, i) => `${name}: it has ${reasons[i] ?? ""}`))].join("; ");
  throw new SpecError(`no method prices this trade (${why})`);
}

/** The rates as they are, one object for all trades under them. */
class Markets {
  readonly #today = new Map<RatesModel, RatesMarket>();

  of(rates: RatesModel): RatesMarket {
    const known = this.#today.get(rates) ?? new RatesMarket(rates);
    this.#today.set(rates, known);
    return known;
  }
}

function rowsOf(
  trade: RatesTrade,
  place: number,
  markets: Markets,
  { cases, settings, budget }: RatesSetting,
): (RatesRow | undefined)[] {
  const today = markets.of(trade.rates);
  const { accuracy } = settings;
  const time = { place, budget };
  const first: RatesRow = { trade, market: today, greeks: settings.greeks, accuracy, time };
  if (cases.scenarios === undefined) return [first];
  return cases.cases.map(({ date, shift }, i) => {
    if (i === 0) return first;
    const years = cases.dates[date];
    const later = laterRatesTrade(trade, years, today);
    if (later === undefined) return undefined;
    const { volatility, rate } = shift;
    const market = new RatesMarket(trade.rates, {
      years,
      volatility,
      ...(rate === 0 ? {} : { shift: (t) => rate * t }),
    });
    return { trade: later, market, greeks: "none", accuracy, time };
  });
}

/** @throws the error of the trade itself; scenarios that cannot be priced are null */
function resultOf(
  { trade, method, rows }: Job,
  outcomes: readonly (RatesOutcome | undefined)[],
  { settings, engine, cases }: RatesSetting,
  spread: number | undefined,
): TradeResult {
  const [today] = outcomes;
  if (today === undefined || today instanceof Error) throw today ?? new SpecError("no value");
  if (!Number.isFinite(today.value))
    throw new SpecError(`value: ${today.value}; its terms or rates are beyond what ${method.name} can represent`);
  const priced = ratesResult({ trade, value: today, method, spread, settings, engine });
  const { scenarios } = cases;
  if (scenarios === undefined) return priced;
  const numbers = outcomes.map((outcome, i) => numbersOf(rows[i], outcome));
  const column = Float64Array.from(numbers.flatMap(({ value }) => Array<number>(cases.spots).fill(value)));
  const errors = Float64Array.from(numbers.map(({ errorEstimate }) => errorEstimate));
  const isOutside = outcomes.some((outcome) => outcome instanceof NumericsError);
  return {
    ...priced,
    ...(isOutside ? { warnings: [...priced.warnings, SCENARIO_OUTSIDE] } : {}),
    scenarios: cases.ladder(scenarios, column, 0),
    scenarioErrorEstimates: cases.estimates(scenarios, errors, 0),
  };
}

/** A settled trade is worth nothing; one that cannot be priced has no number. */
function numbersOf(
  row: RatesRow | undefined,
  outcome: RatesOutcome | undefined,
): Pick<RatesValue, "value" | "errorEstimate"> {
  if (row === undefined) return { value: 0, errorEstimate: 0 };
  if (outcome === undefined || outcome instanceof Error) return { value: Number.NaN, errorEstimate: Number.NaN };
  return outcome;
}
