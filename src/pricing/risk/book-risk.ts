/** Value at risk and expected shortfall of a book by full revaluation, with the parts of its trades and groups. */
import { BookError } from "../../base/errors.ts";
import { groupOf, type PricedTrade } from "../../book/index.ts";
import { lossAt, meanLoss, measureErrors, type RiskNumber, samplingErrors, type Tail, tailOf } from "./tail.ts";

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

/** The profits of a trade or a group under all scenarios, in the currency of the risk and times the quantities. */
interface Profits {
  readonly name: string;
  value: number;
  readonly profits: Float64Array;
}

/** The scenarios that are listed as the worst by default, and the groups that are listed in each. */
const WORST = 10;
const DRIVERS = 3;

/** How the values of trades are collected. */
export interface CollectorOptions {
  readonly groupBy: readonly string[];
  readonly keepTrades?: boolean;
  readonly scale?: number | undefined;
}

/** Collects the values of a book's trades, and finds its risk. */
export class RiskCollector {
  readonly #names: readonly string[];
  readonly #weights: ArrayLike<number> | undefined;
  readonly #trades: Profits[] | undefined;
  readonly #groups: ReadonlyMap<string, Map<string, Profits>>;
  readonly #book: Profits;
  readonly #errors: Float64Array;
  readonly #scale: number;
  #count = 0;
  #currency: string | undefined;

  /**
   * Creates a collector with sums of groups by each of the names in `groupBy`, of which the first says what drives a
   * scenario. Without `keepTrades` memory depends on the groups alone, and trades have no parts. All profits are
   * multiplied by `scale` (`RiskHorizon`).
   */
  constructor(
    { names, weights }: { readonly names: readonly string[]; readonly weights?: ArrayLike<number> | undefined },
    { groupBy, keepTrades = true, scale = 1 }: CollectorOptions,
  ) {
    this.#names = names;
    this.#weights = weights;
    this.#trades = keepTrades ? [] : undefined;
    this.#groups = new Map(groupBy.map((by) => [by, new Map<string, Profits>()]));
    this.#book = this.#none("");
    this.#errors = new Float64Array(names.length);
    this.#scale = scale;
  }

  /** The profits of each trade by its id, in the currency of the risk. */
  get profits(): readonly { readonly id: string; readonly value: number; readonly profits: Float64Array }[] {
    return (this.#trades ?? []).map(({ name: id, value, profits }) => ({ id, value, profits }));
  }

  /** The losses of the book under the scenarios, and what they may be off by. */
  get losses(): { readonly losses: Float64Array; readonly errors: Float64Array } {
    return { losses: this.#book.profits.map((profit) => 0 - profit), errors: this.#errors };
  }

  /** The profits of the book, and the weight of each scenario. */
  get distribution(): { readonly profits: Float64Array; readonly weights: ArrayLike<number> | undefined } {
    return { profits: this.#book.profits, weights: this.#weights };
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
    const rate = (s: number): number => reporting?.scenarioValueRates![s] ?? 1;
    const missing = values.indexOf(null);
    if (missing >= 0)
      throw new BookError(
        "",
        `trade "${id}" has no value in scenario "${this.#names[missing]}": ` +
          (result.warnings.find((text) => text.includes("scenario")) ?? "leave it or the scenario out"),
      );
    this.#currency = currency;
    this.#count++;
    const scaled = this.#scale * quantity;
    const profits = Float64Array.from(values, (then, s) => scaled * (rate(s) * then! - value));
    const own = { name: id, value: quantity * value, profits };
    this.#trades?.push(own);
    addTo(this.#book, own);
    for (const [by, groups] of this.#groups) {
      const name = String(groupOf(result, [by])[by] ?? "none");
      let group = groups.get(name);
      if (group === undefined) groups.set(name, (group = this.#none(name)));
      addTo(group, own);
    }
    const size = Math.abs(scaled);
    for (let s = 0; s < values.length; s++)
      this.#errors[s] += size * (rate(s) * (errors[s] ?? Number.NaN) + errorEstimate);
  }

  /**
   * Returns the risk at a confidence from 0 to 1, with so many of the worst scenarios. @throws BookError for a book
   * without a priced trade
   */
  risk(confidence: number, listed = WORST): BookRisk {
    const [names, weights, { value, profits: total }] = [this.#names, this.#weights, this.#book];
    if (this.#currency === undefined) throw new BookError("trades", "none has a value; value at risk needs one");
    const tail = tailOf(total, confidence, weights);
    const sampling = samplingErrors(total, confidence, weights);
    const errors = measureErrors(total, this.#errors, confidence, weights);
    const [drivers] = this.#groups.values();
    const partsOf = (all: Iterable<Profits>): RiskPart[] => Array.from(all, (one) => partOf(one, tail));
    return {
      currency: this.#currency,
      confidence,
      scenarios: names.length,
      trades: this.#count,
      value,
      valueAtRisk: {
        value: lossAt(tail, total),
        errorEstimate: errors.valueAtRisk,
        samplingError: sampling.valueAtRisk,
        scenario: names[tail.at],
      },
      expectedShortfall: {
        value: meanLoss(tail, total),
        errorEstimate: errors.expectedShortfall,
        samplingError: sampling.expectedShortfall,
      },
      components: {
        trades: partsOf(this.#trades ?? []),
        groups: Object.fromEntries(Array.from(this.#groups, ([by, groups]) => [by, partsOf(groups.values())])),
      },
      worst: tail.order.slice(0, listed).map((s) => ({
        scenario: names[s],
        profit: total[s],
        drivers: Array.from(drivers?.values() ?? [], ({ name, profits }) => ({ name, profit: profits[s] }))
          .sort((a, b) => a.profit - b.profit)
          .slice(0, DRIVERS),
      })),
    };
  }

  #none(name: string): Profits {
    return { name, value: 0, profits: new Float64Array(this.#names.length) };
  }
}

const partOf = ({ name, value, profits }: Profits, tail: Tail): RiskPart => ({
  name,
  value,
  valueAtRisk: lossAt(tail, profits),
  expectedShortfall: meanLoss(tail, profits),
});

function addTo(sum: Profits, { value, profits }: Profits): void {
  sum.value += value;
  for (let s = 0; s < profits.length; s++) sum.profits[s] += profits[s];
}
