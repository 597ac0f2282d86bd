/** Value at risk and expected shortfall of a book by full revaluation, with the parts of its trades and groups. */
import { BookError } from "../../base/errors.ts";
import { groupOf, type PricedTrade, type ScenarioTable } from "../../book/index.ts";
import { lossAt, meanLoss, type RiskNumber, samplingErrors, type Tail, tailOf } from "./tail.ts";

/** The part of a trade or a group in the risk of its book. The parts of one kind sum to the book's. */
export interface RiskPart {
  readonly name: string;
  readonly value: number;
  readonly valueAtRisk: number;
  readonly expectedShortfall: number;
}

/** A scenario with its profit, and the groups that lose or gain the most in it. */
export interface ScenarioProfit {
  readonly scenario: string;
  readonly profit: number;
  readonly drivers: readonly { readonly name: string; readonly profit: number }[];
}

/** The risk of a book. */
export interface BookRisk {
  readonly currency: string;
  readonly confidence: number;
  readonly scenarios: number;
  readonly trades: number;
  /** The value today. */
  readonly value: number;
  readonly valueAtRisk: RiskNumber & { readonly scenario: string };
  readonly expectedShortfall: RiskNumber;
  readonly components: {
    readonly trades: readonly RiskPart[];
    /** The parts by each of the names that trades are grouped by, such as underlying. */
    readonly groups: Readonly<Record<string, readonly RiskPart[]>>;
  };
  /** The worst scenarios, the worst first. */
  readonly worst: readonly ScenarioProfit[];
}

/** What a trade has, in the currency of the risk and times its quantity. */
interface Row {
  readonly result: PricedTrade;
  readonly value: number;
  readonly error: number;
  /** The profits and their error estimates under all scenarios. */
  readonly profits: Float64Array;
  readonly errors: Float64Array;
}

/** The scenarios that are listed as the worst, and the groups that are listed in each. */
const WORST = 10;
const DRIVERS = 3;

/** Collects the values of a book's trades, and finds its risk. */
export class RiskCollector {
  readonly #table: ScenarioTable;
  readonly #rows: Row[] = [];
  #currency: string | undefined;

  constructor(table: ScenarioTable) {
    this.#table = table;
  }

  /** The profits of each trade by its id, in the currency of the risk. */
  get profits(): readonly { readonly id: string; readonly value: number; readonly profits: Float64Array }[] {
    return this.#rows.map(({ result: { id }, value, profits }) => ({ id, value, profits }));
  }

  /**
   * Adds a trade. @throws BookError for a scenario in which it has no value, and for a second currency without one to
   * report in
   */
  add(result: PricedTrade): void {
    const { id, quantity, reporting, scenarioValues: values = [], scenarioValueErrorEstimates: errors = [] } = result;
    const { currency, value, errorEstimate } = reporting ?? result;
    if (this.#currency !== undefined && currency !== this.#currency)
      throw new BookError(
        "market.reporting",
        `trades are in ${this.#currency} and ${currency}: give the market the currency of the risk, "reporting": ` +
          `"${currency}"`,
      );
    this.#currency = currency;
    const rate = (s: number): number => reporting?.scenarioValueRates![s] ?? 1;
    const missing = values.indexOf(null);
    if (missing >= 0)
      throw new BookError(
        "",
        `trade "${id}" has no value in scenario "${this.#table.names[missing]}": ` +
          (result.warnings.find((text) => text.includes("scenario")) ?? "leave it or the scenario out"),
      );
    this.#rows.push({
      result,
      value: quantity * value,
      error: Math.abs(quantity) * errorEstimate,
      profits: Float64Array.from(values, (then, s) => quantity * (rate(s) * then! - value)),
      errors: Float64Array.from(errors, (error, s) => Math.abs(quantity) * (rate(s) * (error ?? 0) + errorEstimate)),
    });
  }

  /** Returns the risk at a confidence from 0 to 1. @throws BookError for a book without a priced trade */
  risk(confidence: number, groupBy: readonly string[]): BookRisk {
    const rows = this.#rows;
    const { names, weights } = this.#table;
    if (this.#currency === undefined) throw new BookError("trades", "none has a value; value at risk needs one");
    const total = sumOf(rows.map(({ profits }) => profits));
    const error = sumOf(rows.map(({ errors }) => errors));
    const tail = tailOf(total, confidence, weights);
    const sampling = samplingErrors(total, confidence, weights);
    const byName = Object.fromEntries(groupBy.map((name) => [name, groupsOf(rows, name)]));
    const drivers = byName[groupBy[0]] ?? new Map<string, readonly Row[]>();
    const ofDrivers = [...drivers].map(([name, own]) => ({ name, profits: sumOf(own.map(({ profits }) => profits)) }));
    return {
      currency: this.#currency,
      confidence,
      scenarios: names.length,
      trades: rows.length,
      value: rows.reduce((sum, { value }) => sum + value, 0),
      valueAtRisk: {
        value: lossAt(tail, total),
        errorEstimate: error[tail.at],
        samplingError: sampling.valueAtRisk,
        scenario: names[tail.at],
      },
      expectedShortfall: {
        value: meanLoss(tail, total),
        errorEstimate: -meanLoss(tail, error),
        samplingError: sampling.expectedShortfall,
      },
      components: {
        trades: rows.map((row) => partOf(row.result.id, [row], tail)),
        groups: Object.fromEntries(
          Object.entries(byName).map(([by, groups]) => [by, [...groups].map(([name, own]) => partOf(name, own, tail))]),
        ),
      },
      worst: tail.order.slice(0, WORST).map((s) => ({
        scenario: names[s],
        profit: total[s],
        drivers: ofDrivers
          .map(({ name, profits }) => ({ name, profit: profits[s] }))
          .sort((a, b) => a.profit - b.profit)
          .slice(0, DRIVERS),
      })),
    };
  }
}

function partOf(name: string, rows: readonly Row[], tail: Tail): RiskPart {
  const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    name,
    value: sum(({ value }) => value),
    valueAtRisk: sum(({ profits }) => lossAt(tail, profits)),
    expectedShortfall: sum(({ profits }) => meanLoss(tail, profits)),
  };
}

function groupsOf(rows: readonly Row[], by: string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = String(groupOf(row.result, [by])[by] ?? "none");
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}

function sumOf(columns: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(columns[0]?.length ?? 0);
  for (const column of columns) for (let s = 0; s < sum.length; s++) sum[s] += column[s];
  return sum;
}
