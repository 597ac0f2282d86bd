/** The values of trades under named scenarios, and how they are collected from their cells. */
import type { Cells } from "./cells.ts";
import type { CopyValues } from "./copies.ts";

/** The values of trades under the scenarios of a table, [trade][scenario]; NaN for one that could not be priced. */
export interface ScenarioCube {
  readonly values: Float64Array<ArrayBuffer>;
  /** The error estimates, [trade][scenario]. */
  readonly errors: Float64Array<ArrayBuffer>;
  /** The warnings about the scenarios of each trade. */
  readonly warnings: readonly (readonly ScenarioWarning[])[];
}

/** A warning about some scenarios of a trade. */
export interface ScenarioWarning {
  readonly text: string;
  /** The number of the first scenario with the warning. */
  readonly first: number;
  /** The number of scenarios with the warning. */
  readonly count: number;
}

/** The values of the cells of one trade. */
interface Row {
  readonly cells: Cells;
  readonly values: Float64Array;
  readonly errors: Float64Array;
  readonly warnings: Map<string, ScenarioWarning>;
}

/** Collects the values of the cells of trades. */
export class CubeBuilder {
  /** The number of scenarios. */
  readonly #count: number;
  readonly #today: { readonly values: Float64Array; readonly errors: Float64Array };
  readonly #rows: (Row | undefined)[];

  constructor(trades: number, today: { readonly values: Float64Array; readonly errors: Float64Array }, count: number) {
    this.#count = count;
    this.#today = today;
    this.#rows = Array.from({ length: trades }, () => undefined);
  }

  /** Begins the cells of a trade. */
  begin(place: number, cells: Cells): void {
    const count = cells.scenarios.length;
    const unknown = (): Float64Array => new Float64Array(count).fill(Number.NaN);
    this.#rows[place] = { cells, values: unknown(), errors: unknown(), warnings: new Map() };
  }

  /** Stores the value of a cell. */
  set(place: number, cell: number, value: number, error: number): void {
    const row = this.#rows[place]!;
    row.values[cell] = value;
    row.errors[cell] = error;
  }

  /** Returns what takes the values of some cells of a trade. */
  valuesOf(place: number, cells: readonly number[]): CopyValues {
    return {
      count: cells.length,
      set: (values, error) => cells.forEach((cell, k) => this.set(place, cell, values[k], error)),
      warn: (text) => this.warn(place, cells, text),
    };
  }

  /** Stores a warning about some cells. */
  warn(place: number, cells: readonly number[], text: string): void {
    const { cells: own, warnings } = this.#rows[place]!;
    const first = Math.min(...cells.map((cell) => own.scenarios[cell]));
    const count = own.cellOf.reduce((sum, cell) => (cells.includes(cell) ? sum + 1 : sum), 0);
    const { first: before = first, count: others = 0 } = warnings.get(text) ?? {};
    warnings.set(text, { text, first: Math.min(before, first), count: others + count });
  }

  /** Returns the values of all scenarios. */
  cube(): ScenarioCube {
    const count = this.#count;
    const values = new Float64Array(this.#rows.length * count).fill(Number.NaN);
    const errors = new Float64Array(values.length).fill(Number.NaN);
    this.#rows.forEach((row, place) => {
      if (row === undefined) return;
      row.cells.cellOf.forEach((cell, s) => {
        const at = place * count + s;
        values[at] = cell < 0 ? this.#today.values[place] : row.values[cell];
        errors[at] = cell < 0 ? this.#today.errors[place] : row.errors[cell];
      });
    });
    return { values, errors, warnings: this.#rows.map((row) => [...(row?.warnings.values() ?? [])]) };
  }
}
