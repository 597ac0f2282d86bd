/**
 * Summarizes the results of a book for a report. Trades are added one by one, and memory does not grow with their
 * number.
 */
import {
  type AnyTrade,
  type CurrencyTotals,
  describeTrade,
  type GroupTotals,
  type PricedTrade,
  type ReportingTotals,
  type StateOutlook,
  totalledByLabels,
  Totals,
  type TradeResult,
} from "../../book/index.ts";
import { RiskCollector } from "../../pricing/index.ts";

/** A trade in one of the report's lists, such as the trades with the largest values. */
export interface NamedTrade {
  readonly id: string;
  readonly product: string;
  readonly underlying: string;
  readonly currency: string;
  readonly quantity: number;
  readonly value: number;
  /** The quantity times the number by which the list is sorted. */
  readonly amount: number;
}

/** A structured product with the states that it has and is expected to have. */
export interface NamedNote {
  readonly id: string;
  readonly product: string;
  readonly states: Readonly<Record<string, StateOutlook>>;
}

/** The sums over a group of trades in a report, such as those of one underlying and currency. */
export interface ReportGroup {
  readonly name: string;
  readonly currency: string;
  trades: number;
  value: number;
  /** The sum over the trades that have a vega. */
  vega: number;
  /** The number of trades without a vega. */
  withoutVega: number;
}

/** The maximum number of trades in each list, and that of groups that are distinguished. */
const NAMED = 12;
const MAX_NOTES = 200;
const MAX_GROUPS = 2000;

const LISTS = ["value", "vega", "theta", "errorEstimate"] as const;
/** The name of a list of trades in a report, which is the number by which the list is sorted. */
export type ReportListName = (typeof LISTS)[number];

/** The upper bounds of the expiry buckets in years, with their labels. */
const BUCKETS = [
  [1 / 12, "up to 1 month"],
  [0.25, "1 to 3 months"],
  [0.5, "3 to 6 months"],
  [1, "6 to 12 months"],
  [2, "1 to 2 years"],
  [5, "2 to 5 years"],
  [Number.POSITIVE_INFINITY, "beyond 5 years"],
] as const;

/** What a report shows beside the results themselves. */
export interface ReportOptions {
  /** The names by which totals are grouped: underlying, currency or tags. */
  readonly groupBy?: readonly string[] | undefined;
  /** The spots of underlyings and currency pairs, for results whose trades are not given. */
  readonly spots?: Readonly<Record<string, number>> | undefined;
  /** The named scenarios, if the results have values under them. */
  readonly named?: { readonly names: readonly string[]; readonly weights?: ArrayLike<number> | undefined } | undefined;
  /** The factor of all profits under them, 1 by default (`RiskHorizon`). */
  readonly scale?: number | undefined;
}

/** Accumulates the results that a report shows, trade by trade. */
export class ReportSummary {
  readonly lists: Readonly<Record<ReportListName, NamedTrade[]>> = {
    value: [],
    vega: [],
    theta: [],
    errorEstimate: [],
  };
  readonly byUnderlying = new Map<string, ReportGroup>();
  readonly byExpiry = new Map<string, ReportGroup>();
  /** The first structured products of the book, and how many there are. */
  readonly notes: NamedNote[] = [];
  noteCount = 0;
  readonly warnings = new Map<string, { count: number; readonly first: string }>();
  readonly failures = new Map<string, { count: number; readonly first: string }>();
  readonly methods = new Map<string, number>();
  readonly precisions = new Map<string, number>();
  readonly seeds = new Set<number>();
  /** The histogram of log₁₀(error estimate ÷ spot): the number of trades in each half decade from −14 to 0. */
  readonly errorBins = new Array<number>(28).fill(0);
  /** The profits under named scenarios, by currency; that of the report alone if it has one. */
  readonly risks = new Map<string, RiskCollector>();
  /** The reason why trades are left out of these profits, with their number. */
  readonly withoutProfits = { count: 0, reason: "" };
  readonly groupBy: readonly string[];
  readonly #options: ReportOptions;
  readonly #totals: Totals;

  constructor(options: ReportOptions = {}) {
    this.groupBy = options.groupBy ?? [];
    this.#options = options;
    this.#totals = new Totals({ groupBy: this.groupBy });
  }

  get priced(): number {
    return this.#totals.priced;
  }

  get failed(): number {
    return this.#totals.failed;
  }

  get totals(): readonly CurrencyTotals[] {
    return this.#totals.totals;
  }

  /** The totals by group, in the reporting currency if there is one. */
  get groups(): readonly GroupTotals[] {
    const { reporting, reportingGroups, groups } = this.#totals;
    return reporting === undefined ? groups : reportingGroups;
  }

  /** The totals in the reporting currency; undefined if no result has one. */
  get reporting(): ReportingTotals | undefined {
    return this.#totals.reporting;
  }

  /** Adds one result. If its trade is undefined, its quantity and groups are those that the result says. */
  add(trade: AnyTrade | undefined, result: TradeResult): void {
    const { spots } = this.#options;
    const totalled = trade ?? totalledByLabels(result, spots);
    this.#totals.add(totalled, result);
    if (result.status === "error") {
      count(this.failures, result.error.message, result.id ?? "–");
      return;
    }
    for (const text of result.warnings) count(this.warnings, text, result.id);
    this.methods.set(result.method, (this.methods.get(result.method) ?? 0) + 1);
    this.precisions.set(result.precision, (this.precisions.get(result.precision) ?? 0) + 1);
    if (result.seed !== undefined) this.seeds.add(result.seed);
    this.#addProfits(result);
    const named = nameOf(trade, result);
    if (result.states !== undefined && this.noteCount++ < MAX_NOTES)
      this.notes.push({ id: result.id, product: named.product, states: result.states });
    for (const name of LISTS) this.#offer(name, named, result[name]);
    if (totalled === undefined) return;
    this.#group(this.byUnderlying, named.underlying, named, result);
    const spot =
      trade === undefined ? spots?.[named.underlying] : "underlying" in trade ? trade.underlying.spot : undefined;
    if (spot !== undefined) this.#count(result.errorEstimate / spot);
    if (trade === undefined) return;
    const bucket = BUCKETS.find(([end]) => trade.expiry <= end) ?? BUCKETS[BUCKETS.length - 1];
    this.#group(this.byExpiry, bucket[1], named, result);
  }

  /** Counts an error estimate, as a part of the spot. */
  #count(error: number): void {
    const size = Math.log10(Math.max(error, 1e-300));
    this.errorBins[Math.min(Math.max(Math.floor(2 * (size + 14)), 0), 27)]++;
  }

  #addProfits(result: PricedTrade): void {
    const { named, scale } = this.#options;
    if (named === undefined || result.scenarioValues === undefined) return;
    // A table of results does not have the exchange rates under scenarios.
    const { reporting, ...own } = result;
    const one: PricedTrade = reporting?.scenarioValueRates === undefined ? own : result;
    const { currency } = one.reporting ?? one;
    let risk = this.risks.get(currency);
    if (risk === undefined) {
      const groupBy = ["underlying", ...this.groupBy.filter((name) => name !== "underlying")];
      this.risks.set(currency, (risk = new RiskCollector(named, { groupBy, keepTrades: false, scale })));
    }
    try {
      risk.add(one);
    } catch (error) {
      if (this.withoutProfits.count++ === 0) this.withoutProfits.reason = (error as Error).message;
    }
  }

  #offer(list: ReportListName, named: Omit<NamedTrade, "amount">, value: number | null): void {
    if (value === null || !Number.isFinite(value)) return;
    const quantity = list === "errorEstimate" ? Math.abs(named.quantity) : named.quantity;
    const amount = quantity * value;
    const all = this.lists[list];
    if (all.length === NAMED && Math.abs(amount) <= Math.abs(all[NAMED - 1].amount)) return;
    all.push({ ...named, amount });
    all.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
    if (all.length > NAMED) all.pop();
  }

  #group(
    groups: Map<string, ReportGroup>,
    name: string,
    { currency, quantity }: Omit<NamedTrade, "amount">,
    { value, vega }: Extract<TradeResult, { status: "ok" }>,
  ): void {
    let key = `${name}, ${currency}`;
    if (!groups.has(key) && groups.size >= MAX_GROUPS) key = `others, ${currency}`;
    let group = groups.get(key);
    if (group === undefined) {
      const named = key === `${name}, ${currency}` ? name : "others";
      groups.set(key, (group = { name: named, currency, trades: 0, value: 0, vega: 0, withoutVega: 0 }));
    }
    group.trades++;
    group.value += quantity * value;
    if (vega === null) group.withoutVega++;
    else group.vega += quantity * vega;
  }
}

/** The names of the ranges of expiries by which a report groups trades, in order. */
export const EXPIRY_BUCKETS = BUCKETS.map(([, name]) => name);

function nameOf(trade: AnyTrade | undefined, result: PricedTrade): Omit<NamedTrade, "amount"> {
  const { id, underlying, currency, quantity, value } = result;
  const product = trade === undefined ? "" : describeTrade(trade);
  return { id, product, underlying, currency, quantity, value };
}

const MAX_TEXTS = 200;

function count(all: Map<string, { count: number; readonly first: string }>, text: string, id: string): void {
  const known = all.get(text);
  if (known !== undefined) known.count++;
  else if (all.size < MAX_TEXTS) all.set(text, { count: 1, first: id });
}
