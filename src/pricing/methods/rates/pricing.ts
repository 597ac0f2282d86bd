/** The pricing methods of trades on rates. */
import { memoizeBy } from "../../../base/memoize.ts";
import type { KeyRate, RatesTrade } from "../../../book/index.ts";
import { KEY_TIMES, type RatesModel } from "../../../market/index.ts";
import { type ResultColumns, STATUS } from "../../columns/result-columns.ts";
import { type Batch, type MethodPlan, type MethodSession, type PricingMethod, readEach } from "../../plan/method.ts";
import { adjustedSpreads, bondFigures, spreadOf } from "./bond-figures.ts";
import type { RatesMethod, RatesOutcome, RatesRow, RatesSession, RatesValue } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";
import { rollTerms } from "./roll-forward.ts";

/** The expected time of a trade by closed forms, in microseconds of one core; those of other methods are unknown. */
const COST = 20;

/** Returns a method of trades on rates as a pricing method. */
export function ratesPricing(method: RatesMethod): PricingMethod {
  return {
    name: method.name,
    minCost: COST,
    worksLike: "closed-form",
    accepts: (batch, trade) => method.refuses(ratesTradeOf(batch, trade)) ?? COST,
    open(device, precision): MethodSession {
      const session = method.open(device, precision);
      return {
        plan: (batch, trades) => Promise.resolve(planOf(method, session, batch, trades)),
        finish: (...results) => finish(session, ...results),
        [Symbol.dispose]: () => session[Symbol.dispose](),
      };
    },
  };
}

function planOf(method: RatesMethod, session: RatesSession, batch: Batch, trades: readonly number[]): MethodPlan {
  const rows = ratesRowsOf(batch);
  const outcomes = new Map<RatesRow, RatesOutcome>();
  return {
    async run(signal) {
      const all = trades.flatMap((trade) => rows.of(trade).filter((row) => row !== undefined));
      const found = await session.price(all, signal);
      all.forEach((row, i) => outcomes.set(row, found[i]));
    },
    read: (results, signal) =>
      readEach(trades, results, signal, (trade) => {
        const own = rows.of(trade).map((row) => row && outcomes.get(row));
        readToday(own[0], batch, trade, results);
        if (batch.columns.cases.scenarios !== undefined)
          own.forEach((outcome, k) => {
            const { value, errorEstimate } = numbersOf(outcome);
            results.setScenarios(
              batch.columns.rowOf(trade) + k,
              () => value,
              () => errorEstimate,
            );
          });
        results.priced(trade, method.name);
      }),
    [Symbol.dispose]() {},
  };
}

/** @throws the error of the trade itself */
function readToday(outcome: RatesOutcome | undefined, { settings }: Batch, trade: number, to: ResultColumns) {
  if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error("a trade has no value");
  const { value, errorEstimate, theta, vega, rho, keyRates, parameters, warnings = 0 } = outcome;
  to.setToday(trade, value, errorEstimate, { theta, vega, rho });
  to.warnings[trade] |= warnings;
  const all = settings.greeks === "all";
  to.own.set(trade, {
    figures: {
      ...(all && keyRates !== undefined ? { keyRates: keyRates.map((one, k): KeyRate => [KEY_TIMES[k], one]) } : {}),
      ...(all && parameters !== undefined ? { parameters } : {}),
    },
    notes: [],
  });
}

/** A settled trade is worth nothing; one that cannot be priced has no number. */
function numbersOf(outcome: RatesOutcome | undefined): Pick<RatesValue, "value" | "errorEstimate"> {
  if (outcome === undefined) return { value: 0, errorEstimate: 0 };
  return outcome instanceof Error ? { value: Number.NaN, errorEstimate: Number.NaN } : outcome;
}

const NO_SPREAD =
  "no parallel move of the rates, up to 100 % and as far as the model has a value, gives the bond its market price: no " +
  "option-adjusted spread";

/** Adds the figures of bonds, which follow from their values. */
async function finish(
  session: RatesSession,
  batch: Batch,
  trades: readonly number[],
  results: ResultColumns,
  signal: AbortSignal | undefined,
): Promise<void> {
  const bonds = trades.flatMap((index) => {
    const trade = ratesTradeOf(batch, index);
    const isPriced = results.status[index] === STATUS.priced && Number.isFinite(results.value[index]);
    return isPriced && trade.product.kind === "bond" ? [{ index, trade, bond: trade.product.bond }] : [];
  });
  const quoted = bonds.filter(({ trade }) => trade.marketPrice !== undefined && hasRights(trade));
  const searches = quoted.map(({ index }) => ({ row: ratesRowsOf(batch).of(index)[0]!, value: results.value[index] }));
  const found = await adjustedSpreads(searches, session, signal);
  const spreads = new Map(quoted.map(({ index }, i) => [index, found[i]]));
  for (const { index, trade, bond } of bonds) {
    const { marketPrice, rates } = trade;
    const own = results.own.get(index)!;
    const spread =
      marketPrice === undefined || hasRights(trade)
        ? spreads.get(index)
        : spreadOf(bond, marketPrice, new RatesMarket(rates));
    results.own.set(index, {
      figures: {
        ...bondFigures(bond, results.value[index]),
        ...(spread === undefined ? {} : { optionAdjustedSpread: spread }),
        ...own.figures,
      },
      notes: spread === undefined && marketPrice !== undefined ? [NO_SPREAD] : [],
    });
  }
}

const hasRights = ({ product }: RatesTrade): boolean =>
  product.kind === "bond" && product.calls.length + product.puts.length > 0;

/** The rows of the trades on rates of a batch. */
class RatesRows {
  readonly #batch: Batch;
  /** The rates as they are, one object for all trades under them. */
  readonly #today = new Map<RatesModel, RatesMarket>();
  readonly #rows = new Map<number, readonly (RatesRow | undefined)[]>();

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** Returns the rows of a trade by case of the scenarios; undefined where it is settled. */
  of(index: number): readonly (RatesRow | undefined)[] {
    const rows = this.#rows.get(index) ?? this.#make(index);
    this.#rows.set(index, rows);
    return rows;
  }

  #make(index: number): readonly (RatesRow | undefined)[] {
    const { columns, settings, budget } = this.#batch;
    const { greeks, accuracy } = settings;
    const { cases, dates, scenarios } = columns.cases;
    const trade = ratesTradeOf(this.#batch, index);
    const today = this.#today.get(trade.rates) ?? new RatesMarket(trade.rates);
    this.#today.set(trade.rates, today);
    const time = { index, budget };
    const first: RatesRow = { trade, market: today, greeks, accuracy, time };
    if (scenarios === undefined) return [first];
    return cases.map(({ date, shift: { volatility, rate } }, i) => {
      if (i === 0) return first;
      const years = dates[date];
      const later = rollTerms(trade, years, today);
      if (later === undefined) return undefined;
      const move = { years, volatility, ...(rate === 0 ? {} : { shift: (t: number) => rate * t }) };
      return { trade: later, market: new RatesMarket(trade.rates, move), greeks: "none", accuracy, time };
    });
  }
}

/** Returns the rows of the trades on rates of a batch. */
export const ratesRowsOf = memoizeBy((batch: Batch) => new RatesRows(batch));

/** Returns a trade of a batch, which is one on rates. */
export const ratesTradeOf = ({ columns }: Batch, trade: number): RatesTrade => columns.givenOf(trade) as RatesTrade;
