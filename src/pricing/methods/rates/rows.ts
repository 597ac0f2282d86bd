/** Trades on rates with a row for each case of the scenarios, as their methods see them. */
import type { RatesTrade } from "../../../book/index.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import type { RatesModel } from "../../../market/index.ts";
import type { Batch } from "../../plan/method.ts";
import { rollTerms } from "./roll-forward.ts";
import type { RatesRow } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";

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
  of(place: number): readonly (RatesRow | undefined)[] {
    const rows = this.#rows.get(place) ?? this.#make(place);
    this.#rows.set(place, rows);
    return rows;
  }

  #make(place: number): readonly (RatesRow | undefined)[] {
    const { columns, settings, budget } = this.#batch;
    const { greeks, accuracy } = settings;
    const { cases, dates, scenarios } = columns.cases;
    const trade = ratesTradeOf(this.#batch, place);
    const today = this.#today.get(trade.rates) ?? new RatesMarket(trade.rates);
    this.#today.set(trade.rates, today);
    const time = { place, budget };
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
