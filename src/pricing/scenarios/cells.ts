/** The cells of a trade: the scenarios that differ in the factors on which it depends. */
import {
  type AnyTrade,
  columnOf,
  factorKey,
  maturitiesOf,
  type ScenarioFactor,
  type ScenarioTable,
} from "../../book/index.ts";
import type { Underlying } from "../../market/index.ts";
import type { CellMoves } from "../plan/cells.ts";
import type { TradeKind } from "../plan/kind.ts";
import { type MarketMoves, MovedMarket, STILL } from "../plan/moved-market.ts";
import type { SpotMoves } from "./copies.ts";

/** The scenarios of a table as the trades that depend on the same factors see them. */
export interface Cells {
  /** The number of the cell of each scenario; −1 for a scenario that leaves these trades as they are. */
  readonly cellOf: Int32Array;
  /** The number of the first scenario of each cell. */
  readonly scenarios: readonly number[];
  /** The cells in groups that differ in spots alone. */
  readonly bySpots: readonly (readonly number[])[];
  /** The cells in groups of equal date, in years from today. */
  readonly byDate: readonly { readonly years: number; readonly cells: readonly number[] }[];
  /** Tells whether each scenario moves all maturities and strikes of a factor by the same. */
  readonly isParallel: boolean;
}

/** A trade with what is needed to price it in other markets. */
export interface CellsOfTrade {
  readonly trade: AnyTrade;
  readonly kind: TradeKind;
  readonly place: number;
  readonly index: number;
  readonly cells: Cells;
  readonly factors: ReadonlyMap<string, ScenarioFactor>;
}

/** Returns the factors on which a trade depends, by their keys. */
export function factorsOf(kind: TradeKind, trade: AnyTrade): ReadonlyMap<string, ScenarioFactor> {
  const factors = new Map<string, ScenarioFactor>();
  const watched = new MovedMarket(0, {
    by(kind, of) {
      factors.set(factorKey({ kind, of }), { kind, of });
      return 0;
    },
    byMaturity: () => [],
  });
  kind.inMarket(trade, watched);
  return factors;
}

/** The moves of the last table: batches of a run have equal ones, but workers receive a copy with each batch. */
let last: FactorMoves | undefined;

/** Returns the moves of a table, those of the batch before if its table was equal; markets are forgotten. */
export function factorMoves(table: ScenarioTable): FactorMoves {
  if (last === undefined || !isEqual(last.table, table)) last = new FactorMoves(table);
  last.forgetMarkets();
  return last;
}

const isEqual = (a: ScenarioTable, b: ScenarioTable): boolean =>
  a === b ||
  (haveEqual(a.moves, b.moves) &&
    haveEqual(a.years, b.years) &&
    a.factors.every((factor, f) => factorKey(factor) === factorKey(b.factors[f])));

const haveEqual = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((x, i) => Object.is(x, b[i]));

/** The moves of a table's scenarios by factor, each column made once. */
export class FactorMoves {
  readonly table: ScenarioTable;
  readonly #columns = new Map<string, Float64Array>();
  readonly #maturities = new Map<string, readonly ScenarioFactor[]>();
  readonly #cells = new Map<string, Cells>();
  readonly #cellMoves = new WeakMap<readonly number[], Map<string, CellMoves>>();
  readonly #markets = new Map<number, MovedMarket>();
  readonly #still = new Map<number, MovedMarket>();

  /** Tells whether no scenario moves maturities of a factor. */
  readonly #isParallel: boolean;

  constructor(table: ScenarioTable) {
    this.table = table;
    this.#isParallel = table.factors.every(({ at }) => at === undefined);
  }

  /** Forgets the markets of single scenarios, which are many for a large book. */
  forgetMarkets(): void {
    this.#markets.clear();
    this.#still.clear();
  }

  /** Returns the maturities of a factor that any scenario moves, as factors; none where all moves are parallel. */
  maturities(factor: ScenarioFactor): readonly ScenarioFactor[] {
    const key = factorKey(factor);
    let parts = this.#maturities.get(key);
    if (parts === undefined)
      this.#maturities.set(key, (parts = maturitiesOf(this.table, factor).map((at) => ({ ...factor, at }))));
    return parts;
  }

  /** Returns the moves of a factor under all scenarios; NaN at a maturity that a scenario does not name. */
  column(factor: ScenarioFactor): Float64Array {
    const key = factorKey(factor);
    let column = this.#columns.get(key);
    if (column === undefined) this.#columns.set(key, (column = columnOf(this.table, factor)));
    return column;
  }

  /** Returns the moves of spots under some scenarios, by the underlyings among some factors. */
  spots(factors: ReadonlyMap<string, ScenarioFactor>, scenarios: readonly number[]): SpotMoves {
    return new Map(
      [...factors.values()]
        .filter(({ kind }) => kind === "spot")
        .map((factor) => [factor.of, Float64Array.from(scenarios, (s) => this.column(factor)[s])]),
    );
  }

  /** Returns the moves of some cells as a trade on one underlying sees them (`MovedMarket.underlying`). */
  cellMoves({ scenarios }: Cells, cells: readonly number[], underlying: Underlying): CellMoves {
    const { name, currency, pair } = underlying;
    const quoted = (pair?.quoted ?? []).map((one) => `${one.pair}^${one.power}`).join();
    const key = [name, currency, pair?.base, quoted].join("\n");
    let known = this.#cellMoves.get(cells);
    if (known === undefined) this.#cellMoves.set(cells, (known = new Map()));
    let moves = known.get(key);
    if (moves === undefined) {
      const of = (kind: ScenarioFactor["kind"], name: string): Float64Array => {
        const column = this.column({ kind, of: name });
        return Float64Array.from(cells, (cell) => column[scenarios[cell]]);
      };
      const factors = pair?.quoted.map(({ pair, power }) => of("fx", pair).map((by) => (1 + by) ** power));
      moves = {
        count: cells.length,
        spot:
          factors?.reduce((all, column) => all.map((by, k) => by * column[k])) ?? of("spot", name).map((by) => 1 + by),
        volatility: of("volatility", name),
        rate: of("rate", currency),
        dividend: pair === undefined ? of("dividend", name) : of("rate", pair.base),
      };
      known.set(key, moves);
    }
    return moves;
  }

  /** Returns the market of a scenario; with `stillSpots`, the one in which spots alone have not moved. */
  market(scenario: number, stillSpots: boolean): MovedMarket {
    const markets = stillSpots ? this.#still : this.#markets;
    let market = markets.get(scenario);
    if (market === undefined) {
      const byMaturity: MarketMoves["byMaturity"] = (kind, of) =>
        this.maturities({ kind, of }).flatMap((part) => {
          const by = this.column(part)[scenario];
          return Number.isNaN(by) ? [] : [{ at: part.at!, by }];
        });
      const moves: MarketMoves = {
        by: (kind, of) => (stillSpots && kind === "spot" ? 0 : this.column({ kind, of })[scenario]),
        byMaturity: this.#isParallel ? STILL.byMaturity : byMaturity,
      };
      markets.set(scenario, (market = new MovedMarket(this.table.years[scenario], moves)));
    }
    return market;
  }

  /** Returns the cells of trades that depend on some factors. */
  cells(factors: ReadonlyMap<string, ScenarioFactor>): Cells {
    const key = [...factors.keys()].join("\n");
    let cells = this.#cells.get(key);
    if (cells === undefined) this.#cells.set(key, (cells = this.#makeCells([...factors.values()])));
    return cells;
  }

  #makeCells(factors: readonly ScenarioFactor[]): Cells {
    const { years } = this.table;
    const isMoved = (column: Float64Array): boolean => column.some((by) => by !== 0);
    const byMaturity = factors.flatMap((factor) => this.maturities(factor));
    const all = [...factors, ...byMaturity];
    const columnsOf = (spots: boolean): readonly Float64Array[] =>
      all
        .filter(({ kind }) => (kind === "spot") === spots)
        .map((factor) => this.column(factor))
        .filter(isMoved);
    const [bySpot, byOther] = [columnsOf(true), [years, ...columnsOf(false)]];
    const cellOf = new Int32Array(years.length);
    const scenarios: number[] = [];
    const known = new Map<string, number>();
    const groups = new Map<string, number[]>();
    for (let s = 0; s < years.length; s++) {
      const [other, spot] = [byOther, bySpot].map((columns) => columns.map((column) => column[s]).join());
      const key = `${other};${spot}`;
      let cell = known.get(key);
      if (cell === undefined) {
        const isStill = [...byOther, ...bySpot].every((column) => column[s] === 0 || Number.isNaN(column[s]));
        cell = isStill ? -1 : scenarios.push(s) - 1;
        known.set(key, cell);
        if (!isStill) groups.set(other, [...(groups.get(other) ?? []), cell]);
      }
      cellOf[s] = cell;
    }
    const dates = new Map<number, number[]>();
    scenarios.forEach((s, cell) => {
      const date = dates.get(years[s]);
      if (date === undefined) dates.set(years[s], [cell]);
      else date.push(cell);
    });
    const byDate = Array.from(dates, ([date, cells]) => ({ years: date, cells }));
    const hasSkew = factors.some((factor) => factor.kind === "skew" && isMoved(this.column(factor)));
    const isParallel = byMaturity.length === 0 && !hasSkew;
    return { cellOf, scenarios, bySpots: [...groups.values()], byDate, isParallel };
  }
}
