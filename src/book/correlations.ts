/** The correlations of a book: its list of pairs, and matrices of them. */
import { BookError } from "../base/errors.ts";
import { keyOf } from "../base/memoize.ts";
import type { Correlation } from "../market/index.ts";
import { didYouMean, quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import type { MarketSpec } from "./schema/index.ts";
import type { DriverCorrelations } from "./types.ts";

/** A key for a pair of names that is the same for both orders. */
const pairKey = (first: string, second: string): string => keyOf([first, second].toSorted());

/** The correlations of a book, found by the two names. */
export class CorrelationTable {
  readonly #values = new Map<string, number>();
  readonly #known = new Map<string, DriverCorrelations>();

  /**
   * Reads a list of correlations. `path` returns the path of a correlation in the book by its index. @throws BookError
   * for a pair that is repeated, or a name paired with itself
   */
  constructor(correlations: readonly Correlation[], path: (index: number) => string) {
    correlations.forEach(({ first, second, value }, i) => {
      const key = pairKey(first, second);
      if (first === second && value === 1) return;
      if (first === second) throw new BookError(path(i), `expected two different names, got ${quote(first)} twice`);
      if (this.#values.has(key))
        throw new BookError(path(i), `the correlation of ${quote(first)} and ${quote(second)} is given twice`);
      this.#values.set(key, value);
    });
  }

  /**
   * Returns the correlations of the named risk factors. A pair that the book does not mention has the correlation 0.
   */
  of(names: readonly string[]): DriverCorrelations {
    const key = keyOf(names);
    let known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, (known = this.#matrixOf(names)));
    return known;
  }

  #matrixOf(names: readonly string[]): DriverCorrelations {
    const valueOf = (a: string, b: string): number | undefined => (a === b ? 1 : this.#values.get(pairKey(a, b)));
    const assumed = names.flatMap((a, i) =>
      names
        .slice(i + 1)
        .filter((b) => valueOf(a, b) === undefined)
        .map((b) => [a, b] as const),
    );
    return { names, matrix: names.map((a) => names.map((b) => valueOf(a, b) ?? 0)), assumed };
  }
}

/** Returns the correlations of a market. @throws BookError for a name that is unknown */
export function resolveCorrelations(spec: MarketSpec, pathOf: PathOf): Correlation[] {
  return (spec.correlations ?? []).map(([first, second, value], i) => {
    for (const [position, name] of [first, second].entries()) {
      if (spec.underlyings?.has(name) === true || spec.rates.has(name)) continue;
      throw new BookError(
        pathOf("correlations", i, position),
        `unknown underlying ${quote(name)}` +
          didYouMean(name, [...(spec.underlyings?.keys() ?? []), ...spec.rates.keys()]),
      );
    }
    return { first, second, value };
  });
}
