/**
 * The parts of the market (curves, volatilities, dividends) by number, stored once however many trades share them, as
 * seen from each date of a batch: number n is the part today, n + d the same part at date d.
 */
export class DatedTable<T extends object> {
  readonly #items: T[] = [];
  readonly #numbers = new Map<T, number>();
  readonly #dates: readonly number[];
  readonly #later: (item: T, years: number) => T;

  /** `dates`: years from today, the first of them 0. */
  constructor(dates: readonly number[], later: (item: T, years: number) => T) {
    this.#dates = dates;
    this.#later = later;
  }

  /** Returns the number of a part today. */
  numberOf(item: T): number {
    let number = this.#numbers.get(item);
    if (number === undefined) {
      this.#numbers.set(item, (number = this.#items.push(item) - 1));
      for (let d = 1; d < this.#dates.length; d++) this.#items.push(this.#later(item, this.#dates[d]));
    }
    return number;
  }

  at(number: number): T {
    return this.#items[number];
  }
}
