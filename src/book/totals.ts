import { convertedRow } from "./converted-row.ts";
import { isDoubt } from "../market/index.ts";
import { keyOf } from "../base/memoize.ts";
import { placeText } from "./result-fields.ts";
import type { TotalledTrade, TradeCounts } from "./totalled.ts";
import type {
  BookReport,
  PartialSums,
  ReportingFigures,
  ReportingGroupTotals,
  TotalledRow,
  ReportingTotals,
  AssetSensitivities,
  Bucket,
  CurrencyTotals,
  GroupTotals,
  PricedTrade,
  ScenarioValues,
  TradeLabels,
  TradeResult,
} from "./result-types.ts";

/** Accumulates sums over trades of which some may lack a number. */
class PartialSum<Name extends string> {
  trades = 0;
  readonly #sums: Record<Name, number>;
  readonly #missing: Record<Name, number>;
  readonly #names: readonly Name[];

  constructor(names: readonly Name[]) {
    this.#names = names;
    this.#sums = zeros(names);
    this.#missing = zeros(names);
  }

  /** Adds the numbers of one trade. */
  add(quantity: number, numbers: Readonly<Record<Name, number | null>>): void {
    this.trades++;
    for (const name of this.#names) {
      const value = numbers[name];
      if (value === null) this.#missing[name]++;
      else this.#sums[name] += quantity * value;
    }
  }

  /** Adds sums over other trades. */
  addSums(trades: number, sums: PartialSums<Name>): void {
    this.trades += trades;
    for (const name of this.#names) {
      this.#missing[name] += sums[name] === null ? trades : (sums.missing?.[name] ?? 0);
      this.#sums[name] += sums[name] ?? 0;
    }
  }

  /** The sums; null for a sum without any number. */
  get sums(): PartialSums<Name> {
    const known = this.#names.map((name) => [name, this.#missing[name] < this.trades ? this.#sums[name] : null]);
    const missing = this.#names.flatMap((name) => {
      const count = this.#missing[name];
      return count > 0 && count < this.trades ? [[name, count] as const] : [];
    });
    return {
      ...(Object.fromEntries(known) as Record<Name, number | null>),
      ...(missing.length === 0 ? {} : { missing: Object.fromEntries(missing) as Partial<Record<Name, number>> }),
    };
  }
}

function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

/**
 * Accumulates the results of trades, each multiplied by the quantity of its trade. Values, cash deltas, theta and rho
 * are summed by currency. Delta, gamma and vega are summed by underlying, because those of different underlyings cannot
 * be added. `missing` says how many trades a sum leaves out, such as the gamma of trades priced by Monte Carlo.
 *
 * With `groupBy` there are sums of each group of trades as well: by `"underlying"`, `"currency"`, or a tag,
 * `"tag.desk"` or `"desk"`. With several names there is a group for each combination. Groups are kept in memory.
 *
 * @example
 * import { openDevice, parseBook, priceTrades, Totals } from "feynkac";
 *
 * const trade = { id: "T1", underlying: "ACME", payoff: "call", strike: 100, expiry: 1, quantity: 10 } as const;
 * const book = parseBook({
 *   asOf: "2026-11-20",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [trade],
 * });
 * using device = await openDevice({ backend: "cpu" });
 * const totals = new Totals();
 * let index = 0;
 * for await (const batch of priceTrades(book.trades, book, { device }))
 *   for (const result of batch) {
 *     const parsed = book.trades[index++];
 *     totals.add(parsed?.ok === true ? parsed.trade : undefined, result);
 *   }
 * for (const { currency, value } of totals.totals) console.log(currency, value.toFixed(4)); // EUR 104.5058
 * @stable
 */
export class Totals {
  /** The number of trades with a value. */
  priced = 0;
  /** The number of trades with an error. */
  failed = 0;
  /** The number of priced trades that depend on doubtful fits to quotes. */
  doubtful = 0;
  /** The first warning about a doubtful fit. */
  doubt: string | undefined;
  readonly #byCurrency = new Map<string, CurrencySums>();
  readonly #reportingGroups: Groups = new Map();
  #reporting: CurrencySums | undefined;
  readonly #byGroup: Groups = new Map();
  readonly #groupBy: readonly string[];

  constructor({ groupBy = [] }: { readonly groupBy?: readonly string[] | undefined } = {}) {
    this.#groupBy = groupBy;
  }

  /** Adds one result. `trade` is undefined if the trade could not be read. */
  add(trade: TotalledTrade | undefined, result: TradeResult): void {
    if (result.status === "error" || trade === undefined) {
      this.failed++;
      return;
    }
    this.priced++;
    if (result.warnings.length > 0) this.#addDoubt(result.warnings.find(isDoubt), 1);
    const row = { quantity: trade.quantity, result, sensitivities: sensitivitiesOf(trade, result) };
    this.#of(result.currency).add(row);
    if (this.#groupBy.length > 0) this.#groupOf(result, result.currency, this.#byGroup).add(row);
    const { reporting } = result;
    if (reporting === undefined) return;
    const converted = convertedRow(row, reporting);
    (this.#reporting ??= new CurrencySums(reporting.currency)).add(converted);
    if (this.#groupBy.length > 0) this.#groupOf(result, reporting.currency, this.#reportingGroups).add(converted);
  }

  /** Adds the totals of other trades in the reporting currency. */
  addReporting(totals: ReportingTotals | undefined): void {
    if (totals !== undefined) (this.#reporting ??= new CurrencySums(totals.currency)).addTotals(totals);
  }

  /** Adds the totals of other trades, such as those of another chunk of the book. */
  addTotals(totals: readonly CurrencyTotals[]): void {
    for (const one of totals) this.#of(one.currency).addTotals(one);
  }

  /** Adds the counts of other trades, such as those of another chunk of the book. */
  addCounts({ priced, failed, doubtful = 0, doubt }: TradeCounts): void {
    this.priced += priced;
    this.failed += failed;
    this.#addDoubt(doubt, doubtful);
  }

  #addDoubt(doubt: string | undefined, trades: number): void {
    if (doubt === undefined) return;
    this.doubtful += trades;
    this.doubt ??= doubt;
  }

  /** The counts of the trades so far. */
  get counts(): TradeCounts {
    const { priced, failed, doubtful, doubt } = this;
    return { priced, failed, ...(doubt === undefined ? {} : { doubtful, doubt }) };
  }

  /** The totals by currency, in the order of their first trades. */
  get totals(): readonly CurrencyTotals[] {
    return [...this.#byCurrency.values()].map((sums) => sums.totals);
  }

  /** The totals by group and currency, in the order of their first trades. */
  get groups(): readonly GroupTotals[] {
    return [...this.#byGroup.values()].map(({ group, sums }) => ({ group, ...sums.totals }));
  }

  /** The totals in the reporting currency; undefined if no result has one. */
  get reporting(): ReportingTotals | undefined {
    return this.#reporting?.reportingTotals;
  }

  /** The totals by group in the reporting currency; empty if no result has one. */
  get reportingGroups(): readonly ReportingGroupTotals[] {
    return [...this.#reportingGroups.values()].map(({ group, sums }) => ({ group, ...sums.reportingTotals }));
  }

  /** The counts and totals as a report has them. */
  get report(): Pick<BookReport, "priced" | "failed" | "totals" | "groups" | "reporting" | "reportingGroups"> {
    const { priced, failed, totals, groups, reporting, reportingGroups } = this;
    const isGrouped = this.#groupBy.length > 0;
    return {
      priced,
      failed,
      totals,
      ...(isGrouped ? { groups } : {}),
      ...(reporting === undefined ? {} : { reporting, ...(isGrouped ? { reportingGroups } : {}) }),
    };
  }

  #of(currency: string): CurrencySums {
    return entryOf(this.#byCurrency, currency, () => new CurrencySums(currency));
  }

  #groupOf(labels: TradeLabels, currency: string, groups: Groups): CurrencySums {
    const group = groupOf(labels, this.#groupBy);
    return entryOf(groups, keyOf([currency, group]), () => ({ group, sums: new CurrencySums(currency) })).sums;
  }
}

type Groups = Map<string, { readonly group: GroupTotals["group"]; readonly sums: CurrencySums }>;

const CASH = ["cashDelta", "theta", "rho"] as const;
const BY_UNDERLYING = ["delta", "gamma", "vega", "cashDelta"] as const;

/** The sensitivities of a trade to each of its underlyings; empty if none were requested. */
function sensitivitiesOf(trade: TotalledTrade, result: PricedTrade): TotalledRow["sensitivities"] {
  if (trade.kind === "rates") return NONE;
  if (trade.kind === "linear") return trade.pair === undefined ? NONE : sensitivitiesTo(trade.pair, result);
  const { underlying, assets = [{ underlying }], settlement } = trade;
  if (result.sensitivities === undefined) return assets.length > 1 ? NONE : sensitivitiesTo(underlying, result);
  const pairs = (settlement?.exchange ?? []).flatMap((of) => (of === undefined ? [] : [[of.pair, of.spot] as const]));
  const spots = new Map([...assets.map(({ underlying: one }) => [one.name, one.spot] as const), ...pairs]);
  return [...spots].flatMap(([name, spot]) => sensitivitiesTo({ name, spot }, result.sensitivities?.[name]));
}

function sensitivitiesTo(
  { name, spot }: { readonly name: string; readonly spot: number },
  own: AssetSensitivities | undefined,
): TotalledRow["sensitivities"] {
  if (own === undefined) return NONE;
  const { delta, gamma, vega } = own;
  return [[name, { delta, gamma, vega, cashDelta: delta === null || Number.isNaN(spot) ? null : delta * spot }]];
}

const NONE: TotalledRow["sensitivities"] = [];

/** Tells whether any sensitivity to an underlying is known. */
const isKnown = ({ delta, gamma, vega }: AssetSensitivities): boolean =>
  delta !== null || gamma !== null || vega !== null;

/** The totals of the trades in one currency. */
class CurrencySums {
  readonly #currency: string;
  readonly #cash = new PartialSum(CASH);
  readonly #underlyings = new Map<string, PartialSum<(typeof BY_UNDERLYING)[number]>>();
  #value = 0;
  #errorEstimate = 0;
  readonly #fxDelta = new Map<string, number | null>();
  #scenarios: Sum | undefined;
  #scenarioErrorEstimates: Sum | undefined;
  #named: (number | null)[] | undefined;
  #namedErrors: (number | null)[] | undefined;
  readonly #buckets = new Map<string, Bucket>();

  constructor(currency: string) {
    this.#currency = currency;
  }

  add({ quantity, result, sensitivities, fxDelta }: TotalledRow): void {
    if (fxDelta !== undefined) this.#addFxDelta(quantity, fxDelta);
    const { value, theta, rho, errorEstimate, scenarios, scenarioErrorEstimates: estimates } = result;
    this.#value += quantity * value;
    this.#errorEstimate += Math.abs(quantity) * errorEstimate;
    const cashDelta = sensitivities.reduce<number | null>((sum, [, own]) => plus(sum, 1, own.cashDelta), 0);
    this.#cash.add(quantity, { cashDelta: sensitivities.length === 0 ? null : cashDelta, theta, rho });
    for (const [name, numbers] of sensitivities) if (isKnown(numbers)) this.#underlying(name).add(quantity, numbers);
    this.#addScenarios(quantity, scenarios, Math.abs(quantity), estimates);
    this.#addNamed(quantity, result);
    if (result.buckets !== undefined) this.#addBuckets(quantity, result.buckets);
  }

  addTotals({ trades, value, errorEstimate, underlyings, scenarios, ...rest }: CurrencyTotals | ReportingTotals): void {
    if ("fxDelta" in rest) this.#addFxDelta(1, rest.fxDelta);
    this.#value += value;
    this.#errorEstimate += errorEstimate;
    this.#cash.addSums(trades, rest);
    for (const { underlying, trades: own, ...sums } of underlyings) this.#underlying(underlying).addSums(own, sums);
    this.#addScenarios(1, scenarios, 1, rest.scenarioErrorEstimates);
    this.#addNamed(1, rest);
    if (rest.buckets !== undefined) this.#addBuckets(1, rest.buckets);
  }

  #addFxDelta(quantity: number, deltas: ReportingFigures["fxDelta"]): void {
    for (const [pair, delta] of Object.entries(deltas))
      this.#fxDelta.set(pair, plus(this.#fxDelta.has(pair) ? this.#fxDelta.get(pair)! : 0, quantity, delta));
  }
  get reportingTotals(): ReportingTotals {
    return { ...this.totals, fxDelta: Object.fromEntries(this.#fxDelta) };
  }

  get totals(): CurrencyTotals {
    const [scenarios, estimates] = [this.#scenarios, this.#scenarioErrorEstimates];
    return {
      currency: this.#currency,
      trades: this.#cash.trades,
      value: this.#value,
      ...this.#cash.sums,
      errorEstimate: this.#errorEstimate,
      underlyings: [...this.#underlyings].map(([underlying, { trades, sums }]) => ({ underlying, trades, ...sums })),
      ...(this.#buckets.size === 0 ? {} : { buckets: [...this.#buckets.values()] }),
      ...(scenarios === undefined ? {} : { scenarios }),
      ...(estimates === undefined ? {} : { scenarioErrorEstimates: estimates[0] }),
      ...(this.#named === undefined ? {} : { scenarioValues: this.#named }),
      ...(this.#namedErrors === undefined ? {} : { scenarioValueErrorEstimates: this.#namedErrors }),
    };
  }

  #underlying(name: string): PartialSum<(typeof BY_UNDERLYING)[number]> {
    return entryOf(this.#underlyings, name, () => new PartialSum(BY_UNDERLYING));
  }

  #addBuckets(quantity: number, buckets: readonly Bucket[]): void {
    for (const bucket of buckets) {
      const { factor, of, at, value, errorEstimate } = bucket;
      const key = `${factor} ${of}\n${placeText(at)}`;
      const { value: sum, errorEstimate: error } = this.#buckets.get(key) ?? { value: 0, errorEstimate: 0 };
      this.#buckets.set(key, {
        ...bucket,
        value: sum + quantity * value,
        errorEstimate: plus(error, Math.abs(quantity), errorEstimate),
      });
    }
  }

  #addNamed(
    quantity: number,
    {
      scenarioValues,
      scenarioValueErrorEstimates: errors,
    }: Pick<CurrencyTotals, "scenarioValues"> & Pick<CurrencyTotals, "scenarioValueErrorEstimates">,
  ): void {
    if (scenarioValues !== undefined) this.#named = addRow(this.#named, quantity, scenarioValues);
    if (errors !== undefined) this.#namedErrors = addRow(this.#namedErrors, Math.abs(quantity), errors);
  }

  #addScenarios(
    factor: number,
    values: ScenarioValues | undefined,
    size: number,
    estimates: CurrencyTotals["scenarioErrorEstimates"],
  ): void {
    if (values !== undefined) this.#scenarios = addScenarios(this.#scenarios, factor, values);
    if (estimates !== undefined)
      this.#scenarioErrorEstimates = addScenarios(this.#scenarioErrorEstimates, size, [estimates]);
  }
}

/** Returns the group of a trade: its value of each name in `groupBy`. */
export function groupOf(labels: TradeLabels, groupBy: readonly string[]): GroupTotals["group"] {
  return Object.fromEntries(groupBy.map((name) => [name, labelOf(labels, name)]));
}

/** The value by which a trade is grouped: that of its tag, underlying or currency. It is null if the trade has none. */
function labelOf({ underlying, currency, tags = {} }: TradeLabels, name: string): string | number | null {
  if (name === "underlying") return underlying;
  if (name === "currency") return currency;
  const tag = name.startsWith("tag.") ? name.slice("tag.".length) : name;
  return Object.hasOwn(tags, tag) ? tags[tag] : null;
}

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  let entry = map.get(key);
  if (entry === undefined) map.set(key, (entry = make()));
  return entry;
}

/** sum + quantity·value; null if either is unknown. */
function plus(sum: number | null, quantity: number, value: number | null): number | null {
  return sum === null || value === null ? null : sum + quantity * value;
}

/** Adds quantity·row to `sum`, in place, and returns it. */
function addRow(
  sum: (number | null)[] | undefined,
  quantity: number,
  row: readonly (number | null)[],
): (number | null)[] {
  const sums = sum ?? row.map(() => 0);
  for (let k = 0; k < row.length; k++) sums[k] = plus(sums[k], quantity, row[k]);
  return sums;
}

type Sum = (number | null)[][][][];

/**
 * Adds quantity·values to `sum` and returns it. The addition is done in place, because there may be hundreds of values
 * for each of thousands of trades.
 */
function addScenarios(sum: Sum | undefined, quantity: number, values: ScenarioValues): Sum {
  if (sum === undefined)
    return values.map((cube) => cube.map((plane) => plane.map((row) => row.map((value) => plus(0, quantity, value)))));
  values.forEach((cube, t) =>
    cube.forEach((plane, i) =>
      plane.forEach((row, j) => {
        addRow(sum[t][i][j], quantity, row);
      }),
    ),
  );
  return sum;
}
