/** The change of a book's value since earlier results. */
import type { TradeResult } from "../../book/index.ts";

/** The value of a trade times its quantity, in the currency in which it is compared. */
interface Amount {
  readonly currency: string;
  readonly value: number;
}

/** The change of one currency. */
export interface CurrencyChange {
  readonly currency: string;
  before: number;
  /** The change of the trades that both results have. */
  same: number;
  /** The values of trades that came, and of those that went, whose sign is reversed. */
  added: number;
  ended: number;
}

/** A trade whose value has changed. */
export interface TradeChange {
  readonly id: string;
  readonly currency: string;
  readonly change: number;
}

/** Returns the value of a result in the reporting currency, or else its own; undefined for one without a value. */
function amountOf(result: TradeResult): Amount | undefined {
  if (result.status === "error") return undefined;
  const { currency, value } = result.reporting ?? result;
  return { currency, value: (result.quantity ?? 1) * value };
}

/** The most trades that are listed. */
const LISTED = 12;

/** Compares results with earlier ones, trade by trade, by their ids. */
export class ReportChanges {
  readonly asOf: string;
  readonly #before: Map<string, Amount>;
  readonly #byCurrency = new Map<string, CurrencyChange>();
  #largest: TradeChange[] = [];

  /** Creates a comparison with earlier results, of the date `asOf`, which is empty if it is not known. */
  constructor(asOf: string, earlier: readonly TradeResult[]) {
    this.asOf = asOf;
    this.#before = new Map();
    for (const result of earlier) {
      const amount = amountOf(result);
      if (amount === undefined || result.id === null) continue;
      this.#before.set(result.id, amount);
      this.#of(amount.currency).before += amount.value;
    }
  }

  /** Adds a result. */
  add(result: TradeResult): void {
    const now = amountOf(result);
    if (now === undefined || result.id === null) return;
    const before = this.#before.get(result.id);
    if (before === undefined || before.currency !== now.currency) this.#of(now.currency).added += now.value;
    else {
      this.#before.delete(result.id);
      const change = now.value - before.value;
      this.#of(now.currency).same += change;
      if (change !== 0) this.#largest.push({ id: result.id, currency: now.currency, change });
      if (this.#largest.length > 100) this.#largest = this.largest;
    }
  }

  /** The changes by currency. Trades of the earlier results that have not been added have ended. */
  get byCurrency(): readonly CurrencyChange[] {
    const all = new Map([...this.#byCurrency].map(([currency, sums]) => [currency, { ...sums }]));
    for (const { currency, value } of this.#before.values()) all.get(currency)!.ended -= value;
    return [...all.values()];
  }

  /** The trades whose values have changed most. */
  get largest(): TradeChange[] {
    return this.#largest.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, LISTED);
  }

  #of(currency: string): CurrencyChange {
    let change = this.#byCurrency.get(currency);
    if (change === undefined)
      this.#byCurrency.set(currency, (change = { currency, before: 0, same: 0, added: 0, ended: 0 }));
    return change;
  }
}
