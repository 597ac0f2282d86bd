/**
 * Summarizes the results of a book for a report. Trades are added one by one, and memory does not grow with their
 * number.
 */
import {
  type AnyTrade,
  currencyOf,
  type CurrencyTotals,
  describeTrade,
  type StateOutlook,
  Totals,
  type TradeResult,
  underlyingsOf,
} from "../../book/index.ts";

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
  readonly #totals = new Totals();

  get priced(): number {
    return this.#totals.priced;
  }

  get failed(): number {
    return this.#totals.failed;
  }

  get totals(): readonly CurrencyTotals[] {
    return this.#totals.totals;
  }

  /** Adds one result. If `trade` is undefined, the quantity is taken to be 1, and the result is in no sum. */
  add(trade: AnyTrade | undefined, result: TradeResult): void {
    this.#totals.add(trade, result);
    if (result.status === "error") {
      count(this.failures, result.error.message, result.id ?? "–");
      return;
    }
    for (const text of result.warnings) count(this.warnings, text, result.id);
    this.methods.set(result.method, (this.methods.get(result.method) ?? 0) + 1);
    this.precisions.set(result.precision, (this.precisions.get(result.precision) ?? 0) + 1);
    if (result.seed !== undefined) this.seeds.add(result.seed);
    const named = nameOf(trade, result.id, result.value);
    if (result.states !== undefined && this.noteCount++ < MAX_NOTES)
      this.notes.push({ id: result.id, product: named.product, states: result.states });
    for (const name of LISTS) this.#offer(name, named, result[name]);
    if (trade === undefined) return;
    this.#group(this.byUnderlying, underlyingsOf(trade).join(" · "), named, result);
    const bucket = BUCKETS.find(([end]) => trade.expiry <= end) ?? BUCKETS[BUCKETS.length - 1];
    this.#group(this.byExpiry, bucket[1], named, result);
    if (!("underlying" in trade)) return;
    const size = Math.log10(Math.max(result.errorEstimate, 1e-300) / trade.underlying.spot);
    this.errorBins[Math.min(Math.max(Math.floor(2 * (size + 14)), 0), 27)]++;
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

function nameOf(trade: AnyTrade | undefined, id: string, value: number): Omit<NamedTrade, "amount"> {
  if (trade === undefined) return { id, product: "", underlying: "", currency: "", quantity: 1, value };
  return {
    id,
    product: describeTrade(trade),
    underlying: underlyingsOf(trade).join(" · "),
    currency: currencyOf(trade),
    quantity: trade.quantity,
    value,
  };
}

const MAX_TEXTS = 200;

function count(all: Map<string, { count: number; readonly first: string }>, text: string, id: string): void {
  const known = all.get(text);
  if (known !== undefined) known.count++;
  else if (all.size < MAX_TEXTS) all.set(text, { count: 1, first: id });
}
