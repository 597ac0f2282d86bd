import { type AnyTrade, currencyOf, groupOf, labelsOf } from "../../book/index.ts";
import { keyOf } from "../../base/memoize.ts";
import type { ExplainedTrade, ExplainGroupTotals, ExplainTerm, ExplainTotals, SmileTerm } from "./types.ts";

type Sums = { -readonly [K in keyof Omit<ExplainTotals, "terms" | "smile">]: ExplainTotals[K] } & {
  terms: Partial<Record<ExplainTerm, number>>;
  /** By underlying and expiry. */
  smile: Map<string, SmileTerm>;
};

/** The sums of report lines by currency, and by group and currency, weighted by quantity. */
export class ExplainSums {
  explained = 0;
  failed = 0;
  readonly #terms: readonly ExplainTerm[];
  readonly #groupBy: readonly string[];
  readonly #byCurrency = new Map<string, Sums>();
  readonly #byGroup = new Map<string, { readonly group: ExplainGroupTotals["group"]; readonly sums: Sums }>();

  constructor(terms: readonly ExplainTerm[], groupBy: readonly string[] = []) {
    [this.#terms, this.#groupBy] = [terms, groupBy];
  }

  add(row: ExplainedTrade, before: AnyTrade | undefined, after: AnyTrade | undefined): void {
    if (row.status === "error") {
      this.failed++;
      return;
    }
    if (row.terms !== null) this.explained++;
    const [was, is] = [before ?? after, after ?? before] as [AnyTrade, AnyTrade];
    this.#add(row, this.#sumsOf(was), this.#sumsOf(is));
    if (this.#groupBy.length > 0) this.#add(row, this.#groupOf(was), this.#groupOf(is));
  }

  #add(row: ExplainedTrade, from: Sums, to: Sums): void {
    const [held, holds] = [row.quantityBefore ?? 0, row.quantityAfter ?? 0];
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
    return [...this.#byCurrency.values()].map(totalsOf);
  }

  /** The totals by group and currency, in the order of their first trades. */
  get groups(): readonly ExplainGroupTotals[] {
    return [...this.#byGroup.values()].map(({ group, sums }) => ({ group, ...totalsOf(sums) }));
  }

  /** Terms are of what was held; what has come or gone since is trading, at the later value. */
  #addTerms(sums: Sums, row: ExplainedTrade, held: number, holds: number): void {
    for (const name of this.#terms) sums.terms[name] = (sums.terms[name] ?? 0) + held * (row.terms?.[name] ?? 0);
    sums.cash += held * (row.cash ?? 0);
    sums.change += held * (row.cash ?? 0);
    sums.unexplained += held * (row.unexplained ?? 0);
    sums.trading += (holds - held) * (row.after ?? 0);
    for (const term of row.smile ?? []) addSmile(sums.smile, term, held);
  }

  #groupOf(trade: AnyTrade): Sums {
    const group = groupOf(labelsOf(trade), this.#groupBy);
    const key = keyOf([currencyOf(trade), group]);
    let known = this.#byGroup.get(key);
    if (known === undefined) this.#byGroup.set(key, (known = { group, sums: this.#noSums(currencyOf(trade)) }));
    return known.sums;
  }

  #sumsOf(trade: AnyTrade): Sums {
    const currency = currencyOf(trade);
    let known = this.#byCurrency.get(currency);
    if (known === undefined) this.#byCurrency.set(currency, (known = this.#noSums(currency)));
    return known;
  }

  #noSums(currency: string): Sums {
    return {
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
      smile: new Map<string, SmileTerm>(),
    };
  }
}

function totalsOf({ smile, ...sums }: Sums): ExplainTotals {
  return smile.size === 0 ? sums : { ...sums, smile: [...smile.values()] };
}

/** Adds the effects of one trade. The moves are those of the first trade, as all trades have them. */
function addSmile(
  sums: Map<string, SmileTerm>,
  { level, slope, curvature, ...term }: SmileTerm,
  quantity: number,
): void {
  const key = keyOf([term.underlying, term.expiry]);
  const known = sums.get(key) ?? { ...term, level: 0, slope: 0, curvature: 0 };
  sums.set(key, {
    ...known,
    level: known.level + quantity * level,
    slope: known.slope + quantity * slope,
    curvature: known.curvature + quantity * curvature,
  });
}
