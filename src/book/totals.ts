import { SENSITIVITIES } from "./sensitivities.ts";
import type { CurrencyTotals, GroupTotals, PricedTrade, ScenarioValues, TradeLabels, TradeResult } from "./types.ts";

/** What the totals need of a trade. */
export interface TotalledTrade {
  readonly quantity: number;
  readonly underlying: { readonly currency: string };
}

type Sums = {
  -readonly [K in keyof Omit<CurrencyTotals, "scenarios" | "scenarioErrorEstimates">]: CurrencyTotals[K];
} & {
  scenarios?: Sum;
  scenarioErrorEstimates?: Sum[number];
};

/**
 * Adds results up by currency, multiplied by the quantity. Delta and gamma of different underlyings are added as they
 * are: the totals of a book with several underlyings say what a move of 1 in each of them does.
 *
 * With `groupBy` there are sums of each group of trades as well: by `"underlying"`, `"currency"`, or a tag,
 * `"tag.desk"` or `"desk"`. Several names make a group of each combination. Groups are kept in memory.
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
 */
export class Totals {
  /** Trades with a value. */
  priced = 0;
  /** Trades with an error. */
  failed = 0;
  readonly #byCurrency = new Map<string, Sums>();
  readonly #byGroup = new Map<string, Sums & Pick<GroupTotals, "group">>();
  readonly #groupBy: readonly string[];

  constructor({ groupBy = [] }: { readonly groupBy?: readonly string[] | undefined } = {}) {
    this.#groupBy = groupBy;
  }

  /** Adds one result. `trade` is undefined where the parser found none. */
  add(trade: TotalledTrade | undefined, result: TradeResult): void {
    if (result.status === "error" || trade === undefined) {
      this.failed++;
      return;
    }
    this.priced++;
    const { currency } = trade.underlying;
    addTo(
      entryOf(this.#byCurrency, currency, () => zeroOf(currency)),
      trade.quantity,
      result,
    );
    if (this.#groupBy.length > 0) addTo(this.#groupOf(result), trade.quantity, result);
  }

  /** TEMPORARY until the totals by underlying land. */
  addTotals(totals: readonly CurrencyTotals[]): void {
    for (const one of totals) {
      const sums = entryOf(this.#byCurrency, one.currency, () => zeroOf(one.currency));
      sums.trades += one.trades;
      sums.value += one.value;
      sums.errorEstimate += one.errorEstimate;
      for (const name of SENSITIVITIES) sums[name] = plus(sums[name], 1, one[name]);
      if (one.scenarios !== undefined) sums.scenarios = addScenarios(sums.scenarios, 1, one.scenarios);
    }
  }

  /** One entry per currency, in the order of their first trades. */
  get totals(): readonly CurrencyTotals[] {
    return [...this.#byCurrency.values()];
  }

  /** One entry per group and currency, in the order of their first trades. */
  get groups(): readonly GroupTotals[] {
    return [...this.#byGroup.values()];
  }

  #groupOf(labels: TradeLabels): Sums {
    const values = this.#groupBy.map((name) => [name, labelOf(labels, name)] as const);
    const key = JSON.stringify([labels.currency, ...values]);
    return entryOf(this.#byGroup, key, () => ({ group: Object.fromEntries(values), ...zeroOf(labels.currency) }));
  }
}

/** What a trade's group is called by that name: null where it has no such tag. */
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

function zeroOf(currency: string): Sums {
  return { currency, trades: 0, value: 0, delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0, errorEstimate: 0 };
}

function addTo(sums: Sums, quantity: number, result: PricedTrade): void {
  sums.trades++;
  sums.value += quantity * result.value;
  sums.errorEstimate += Math.abs(quantity) * result.errorEstimate;
  for (const name of SENSITIVITIES) sums[name] = plus(sums[name], quantity, result[name]);
  const { scenarios, scenarioErrorEstimates } = result;
  if (scenarios !== undefined) sums.scenarios = addScenarios(sums.scenarios, quantity, scenarios);
  if (scenarioErrorEstimates !== undefined)
    [sums.scenarioErrorEstimates] = addScenarios(
      sums.scenarioErrorEstimates && [sums.scenarioErrorEstimates],
      Math.abs(quantity),
      [scenarioErrorEstimates],
    );
}

/** sum + quantity·value; null when either is not known. */
function plus(sum: number | null, quantity: number, value: number | null): number | null {
  return sum === null || value === null ? null : sum + quantity * value;
}

type Sum = (number | null)[][][][];

/** sum + quantity·values, in place: a ladder has hundreds of values, and a book thousands of ladders. */
function addScenarios(sum: Sum | undefined, quantity: number, values: ScenarioValues): Sum {
  if (sum === undefined)
    return values.map((cube) => cube.map((plane) => plane.map((row) => row.map((value) => plus(0, quantity, value)))));
  values.forEach((cube, t) =>
    cube.forEach((plane, i) =>
      plane.forEach((row, j) => {
        const sums = sum[t][i][j];
        for (let k = 0; k < row.length; k++) sums[k] = plus(sums[k], quantity, row[k]);
      }),
    ),
  );
  return sum;
}
