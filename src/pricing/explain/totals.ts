import { type AnyTrade, currencyOf } from "../../book/index.ts";
import type { ExplainedTrade, ExplainTerm, ExplainTotals } from "./types.ts";

type Sums = { -readonly [K in keyof Omit<ExplainTotals, "terms">]: ExplainTotals[K] } & {
  terms: Partial<Record<ExplainTerm, number>>;
};

/** The sums of report lines by currency, weighted by quantity. */
export class ExplainSums {
  explained = 0;
  failed = 0;
  readonly #terms: readonly ExplainTerm[];
  readonly #byCurrency = new Map<string, Sums>();

  constructor(terms: readonly ExplainTerm[]) {
    this.#terms = terms;
  }

  add(row: ExplainedTrade, before: AnyTrade | undefined, after: AnyTrade | undefined): void {
    if (row.status === "error") {
      this.failed++;
      return;
    }
    if (row.terms !== null) this.explained++;
    const [held, holds] = [row.quantityBefore ?? 0, row.quantityAfter ?? 0];
    const from = this.#sumsOf((before ?? after) as AnyTrade);
    const to = this.#sumsOf((after ?? before) as AnyTrade);
    const [start, end] = [held * (row.before ?? 0), holds * (row.after ?? 0)];
    from.trades++;
    from.before += start;
    to.after += end;
    from.change -= start;
    to.change += end;
    from.errorEstimate += Math.max(Math.abs(held), Math.abs(holds)) * (row.errorEstimate ?? 0);
    if (row.terms === null) {
      from.trading -= start;
      to.trading += end;
    } else this.#addTerms(from, row, held, holds);
  }

  get totals(): readonly ExplainTotals[] {
    return [...this.#byCurrency.values()];
  }

  /** Terms are of what was held; what has come or gone since is trading, at the later value. */
  #addTerms(sums: Sums, row: ExplainedTrade, held: number, holds: number): void {
    for (const name of this.#terms) sums.terms[name] = (sums.terms[name] ?? 0) + held * (row.terms?.[name] ?? 0);
    sums.cash += held * (row.cash ?? 0);
    sums.change += held * (row.cash ?? 0);
    sums.unexplained += held * (row.unexplained ?? 0);
    sums.trading += (holds - held) * (row.after ?? 0);
  }

  #sumsOf(trade: AnyTrade): Sums {
    const currency = currencyOf(trade);
    const known = this.#byCurrency.get(currency);
    if (known !== undefined) return known;
    const sums: Sums = {
      currency,
      trades: 0,
      before: 0,
      after: 0,
      cash: 0,
      change: 0,
      terms: Object.fromEntries(this.#terms.map((name) => [name, 0])),
      unexplained: 0,
      trading: 0,
      errorEstimate: 0,
    };
    this.#byCurrency.set(currency, sums);
    return sums;
  }
}
