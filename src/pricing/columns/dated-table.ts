/**
 * A table of market data of one type (curves, volatilities or dividends) that trades refer to by number. Each is stored
 * once however many trades share it, together with its versions at the later dates of the scenarios. Number n is the
 * data seen from today, and n + d the same data seen from date d.
 */
export class DatedTable<T extends object> {
  readonly #items: T[] = [];
  readonly #numbers = new Map<T, number>();
  readonly #dates: readonly number[];
  readonly #later: (item: T, years: number) => T;

  /**
   * Makes an empty table. `dates` are in years from today, the first of them 0; `later` returns data as seen some years
   * later.
   */
  constructor(dates: readonly number[], later: (item: T, years: number) => T) {
    this.#dates = dates;
    this.#later = later;
  }

  /** Returns the number of data as seen from today, adding them if they are new. */
  numberOf(item: T): number {
    let number = this.#numbers.get(item);
    if (number === undefined) {
      this.#numbers.set(item, (number = this.#items.push(item) - 1));
      for (let d = 1; d < this.#dates.length; d++) this.#items.push(this.#later(item, this.#dates[d]));
    }
    return number;
  }

  /** Returns the data with a number. */
  at(number: number): T {
    return this.#items[number];
  }
}
