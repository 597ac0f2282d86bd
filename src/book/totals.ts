import type { Underlying } from "../market/index.ts";
import type { AssetSensitivities, CurrencyTotals, PricedTrade, ScenarioValues, Trade, TradeResult } from "./types.ts";

/** Numbers added up, of which some may be missing. */
interface Sum {
  total: number;
  count: number;
  missing: number;
}

const UNDERLYING = ["delta", "gamma", "vega"] as const;
const CURRENCY = ["cashDelta", "theta", "rho"] as const;

interface UnderlyingSums extends Record<(typeof UNDERLYING)[number], Sum> {
  trades: number;
}

interface CurrencySums extends Record<(typeof CURRENCY)[number], Sum> {
  trades: number;
  value: number;
  errorEstimate: number;
  readonly underlyings: Map<string, UnderlyingSums>;
  scenarios?: Ladder;
  scenarioErrorEstimates?: Ladder[number];
}

/**
 * Adds results up, multiplied by the quantity: what is in money by currency, and delta, gamma and vega by underlying,
 * since a move of 1 is another thing for each.
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
  readonly #byCurrency = new Map<string, CurrencySums>();

  /** Adds one result. `trade` is undefined where the parser found none. */
  add(trade: Trade | undefined, result: TradeResult): void {
    if (result.status === "error" || trade === undefined) {
      this.failed++;
      return;
    }
    this.priced++;
    const { quantity, underlying } = trade;
    const sums = getOrMake(this.#byCurrency, underlying.currency, noCurrencySums);
    sums.trades++;
    sums.value += quantity * result.value;
    sums.errorEstimate += Math.abs(quantity) * result.errorEstimate;
    add(sums.theta, quantity, result.theta);
    add(sums.rho, quantity, result.rho);
    let cashDelta: number | null = 0;
    for (const [{ name, spot }, own] of sensitivitiesOf(trade, result)) {
      const of = getOrMake(sums.underlyings, name, noUnderlyingSums);
      of.trades++;
      for (const sensitivity of UNDERLYING) add(of[sensitivity], quantity, own[sensitivity]);
      cashDelta = plus(cashDelta, spot, own.delta);
    }
    add(sums.cashDelta, quantity, cashDelta);
    const { scenarios, scenarioErrorEstimates } = result;
    if (scenarios !== undefined) sums.scenarios = addScenarios(sums.scenarios, quantity, scenarios);
    if (scenarioErrorEstimates !== undefined)
      [sums.scenarioErrorEstimates] = addScenarios(
        sums.scenarioErrorEstimates && [sums.scenarioErrorEstimates],
        Math.abs(quantity),
        [scenarioErrorEstimates],
      );
  }

  /** One entry per currency, in the order of their first trades. */
  get totals(): readonly CurrencyTotals[] {
    return [...this.#byCurrency].map(([currency, { trades, value, errorEstimate, underlyings, ...sums }]) => {
      const { scenarios, scenarioErrorEstimates } = sums;
      return {
        currency,
        trades,
        value,
        ...shown(sums, CURRENCY),
        errorEstimate,
        ...missingOf(sums, CURRENCY),
        underlyings: [...underlyings].map(([underlying, own]) => ({
          underlying,
          trades: own.trades,
          ...shown(own, UNDERLYING),
          ...missingOf(own, UNDERLYING),
        })),
        ...(scenarios === undefined ? {} : { scenarios }),
        ...(scenarioErrorEstimates === undefined ? {} : { scenarioErrorEstimates }),
      };
    });
  }
}

const noSum = (): Sum => ({ total: 0, count: 0, missing: 0 });

const noUnderlyingSums = (): UnderlyingSums => ({ trades: 0, delta: noSum(), gamma: noSum(), vega: noSum() });

const noCurrencySums = (): CurrencySums => ({
  trades: 0,
  value: 0,
  errorEstimate: 0,
  cashDelta: noSum(),
  theta: noSum(),
  rho: noSum(),
  underlyings: new Map(),
});

function getOrMake<T>(map: Map<string, T>, key: string, make: () => T): T {
  let known = map.get(key);
  if (known === undefined) map.set(key, (known = make()));
  return known;
}

/** The underlyings of a trade with its sensitivities to them. */
function sensitivitiesOf(
  { assets, underlying }: Trade,
  result: PricedTrade,
): readonly (readonly [Underlying, AssetSensitivities])[] {
  if (assets === undefined) return [[underlying, result]];
  const none = { delta: null, gamma: null, vega: null };
  return assets.map((asset) => [asset.underlying, result.sensitivities?.[asset.underlying.name] ?? none]);
}

function add(sum: Sum, quantity: number, value: number | null): void {
  if (value === null) sum.missing++;
  else {
    sum.total += quantity * value;
    sum.count++;
  }
}

function shown<Name extends string>(sums: Readonly<Record<Name, Sum>>, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, sums[name].count === 0 ? null : sums[name].total])) as Record<
    Name,
    number | null
  >;
}

function missingOf<Name extends string>(
  sums: Readonly<Record<Name, Sum>>,
  names: readonly Name[],
): { readonly missing?: Partial<Record<Name, number>> } {
  const some = names.filter((name) => sums[name].count > 0 && sums[name].missing > 0);
  if (some.length === 0) return {};
  return {
    missing: Object.fromEntries(some.map((name) => [name, sums[name].missing])) as Partial<Record<Name, number>>,
  };
}

/** sum + quantity·value; null when either is not known. */
function plus(sum: number | null, quantity: number, value: number | null): number | null {
  return sum === null || value === null ? null : sum + quantity * value;
}

type Ladder = (number | null)[][][][];

/** sum + quantity·values, in place: a ladder has hundreds of values, and a book thousands of ladders. */
function addScenarios(sum: Ladder | undefined, quantity: number, values: ScenarioValues): Ladder {
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
