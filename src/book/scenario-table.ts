/** Named scenarios as a compact table: a row for each scenario, and a column for each factor that any of them moves. */
import { BookError } from "../base/errors.ts";
import { quote } from "./names.ts";

/** The kinds of factors that scenarios move. */
export const FACTOR_KINDS = [
  "spot",
  "volatility",
  "skew",
  "rate",
  "dividend",
  "fx",
  "credit",
  "rateVolatility",
] as const;
/** The kind of a factor: its moves are relative for spots and exchange rates, absolute for all others. */
export type FactorKind = (typeof FACTOR_KINDS)[number];

/** Tells whether moves of a kind are parts of today's level. */
export const isRelative = (kind: FactorKind): boolean => kind === "spot" || kind === "fx";

/** The name that stands for every factor of a kind. */
export const EVERY = "*";

/** The kinds whose moves may differ by maturity. */
export const BY_MATURITY: readonly FactorKind[] = ["rate", "volatility"];

/**
 * A factor of the market: its kind, and the name of the underlying, currency, pair or issuer, or `*`. Trades on the
 * rates of a currency have their volatility from the kind "rateVolatility".
 */
export interface ScenarioFactor {
  readonly kind: FactorKind;
  readonly of: string;
  /** The years from the scenario's date to the maturity that moves; undefined for a parallel move. */
  readonly at?: number | undefined;
}

/** Returns a factor as a text that tells it from all others. */
export const factorKey = ({ kind, of, at }: ScenarioFactor): string =>
  at === undefined ? `${kind} ${of}` : `${kind} ${of} at ${at}`;

/**
 * Named scenarios, each of which moves several factors together. The numbers are columns, one for each factor, so that
 * a thousand scenarios are a few arrays that threads share.
 */
export interface ScenarioTable {
  /** The names of the scenarios. */
  readonly names: readonly string[];
  readonly factors: readonly ScenarioFactor[];
  /** The moves [factor][scenario]; NaN for a factor that a scenario does not name. */
  readonly moves: Float64Array;
  /** The years from `asOf` to the date of each scenario, ≥ 0. */
  readonly years: Float64Array;
  /** The weights of the scenarios in statistics; undefined where all are the same. */
  readonly weights?: Float64Array | undefined;
  /** The business days that the moves of every scenario span; undefined where that is unknown. */
  readonly horizon?: number | undefined;
}

/** Collects the moves of scenarios, and makes their table. */
export class ScenarioTableBuilder {
  readonly #names: string[] = [];
  readonly #columns = new Map<string, ScenarioFactor & { readonly moves: number[] }>();
  readonly #years: number[] = [];
  readonly #weights: (number | undefined)[] = [];
  readonly #known = new Set<string>();
  /** Whether the present scenario moves a factor by maturity. */
  readonly #isByMaturity = new Map<string, boolean>();

  /** Begins a scenario. @throws BookError for a name that another scenario has; `place` is its place in the book */
  begin(name: string, years: number, weight: number | undefined, place: string): void {
    if (this.#known.has(name)) throw new BookError(place, `another scenario has the name ${quote(name)}`);
    this.#known.add(name);
    this.#isByMaturity.clear();
    this.#names.push(name);
    this.#years.push(years);
    this.#weights.push(weight);
  }

  /** Adds a move to the scenario that was begun last. @throws BookError for one of a factor that it moves already */
  move(factor: ScenarioFactor, by: number, place: string): void {
    const whole = factorKey({ ...factor, at: undefined });
    const isByMaturity = factor.at !== undefined;
    if ((this.#isByMaturity.get(whole) ?? isByMaturity) !== isByMaturity)
      throw new BookError(place, `expected moves of ${factor.kind} of ${quote(factor.of)} in parallel or by maturity`);
    this.#isByMaturity.set(whole, isByMaturity);
    const key = factorKey(factor);
    let column = this.#columns.get(key);
    if (column === undefined) this.#columns.set(key, (column = { ...factor, moves: [] }));
    const last = this.#names.length - 1;
    if (column.moves[last] !== undefined) throw new BookError(place, "the scenario moves this already");
    column.moves[last] = by;
  }

  /** Returns the table of all scenarios. */
  table(): ScenarioTable {
    const count = this.#names.length;
    const columns = [...this.#columns.values()];
    const moves = numbers(columns.length * count).fill(Number.NaN);
    columns.forEach((column, f) => column.moves.forEach((by, s) => (moves[f * count + s] = by)));
    const years = numbers(count);
    years.set(this.#years);
    const isWeighted = this.#weights.some((weight) => weight !== undefined);
    return {
      names: this.#names,
      factors: columns.map(({ kind, of, at }) => (at === undefined ? { kind, of } : { kind, of, at })),
      moves,
      years,
      ...(isWeighted ? { weights: Float64Array.from(this.#weights, (weight) => weight ?? 1) } : {}),
    };
  }
}

/** Returns an array that threads share, where they can. */
const numbers = (length: number): Float64Array =>
  typeof SharedArrayBuffer === "undefined"
    ? new Float64Array(length)
    : new Float64Array(new SharedArrayBuffer(8 * length));

/** Returns the maturities at which any scenario moves a factor, by its own name or by `*`, ascending. */
export function maturitiesOf({ factors }: ScenarioTable, { kind, of }: ScenarioFactor): readonly number[] {
  const own = factors.filter((factor) => factor.kind === kind && (factor.of === of || factor.of === EVERY));
  return [...new Set(own.flatMap(({ at }) => at ?? []))].sort((a, b) => a - b);
}

/**
 * Returns the moves of a factor under all scenarios: those by its own name, or by `*` where a scenario does not name
 * it. Where neither moves it they are 0, and NaN at a maturity.
 */
export function columnOf({ names, factors, moves }: ScenarioTable, { kind, of, at }: ScenarioFactor): Float64Array {
  const count = names.length;
  const columns = (name: string): { readonly at: number | undefined; readonly column: Float64Array }[] =>
    factors.flatMap((factor, f) =>
      factor.kind === kind && factor.of === name
        ? [{ at: factor.at, column: moves.subarray(f * count, (f + 1) * count) }]
        : [],
    );
  const [own, every] = [columns(of), columns(EVERY)];
  const still = at === undefined ? 0 : Number.NaN;
  return Float64Array.from({ length: count }, (_, s) => {
    const isNamed = own.some(({ column }) => !Number.isNaN(column[s]));
    const by = (isNamed ? own : every).find((one) => one.at === at)?.column[s] ?? still;
    return Number.isNaN(by) ? still : by;
  });
}
