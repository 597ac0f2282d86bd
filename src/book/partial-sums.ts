/**
 * Sums over trades of which some may lack a number, such as an unknown sensitivity. Each sum covers the trades that
 * have the number. A sum is null if no trade has it.
 */
export type PartialSums<Name extends string> = Readonly<Record<Name, number | null>> & {
  /** The number of trades without the number, by the name of the sum. Sums over all trades are not listed. */
  readonly missing?: Readonly<Partial<Record<Name, number>>>;
};

/** Accumulates sums over trades of which some may lack a number. */
export class PartialSum<Name extends string> {
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
