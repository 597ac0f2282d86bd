/** Makes named scenarios from a history of a market's factors: how each has moved between two dates. */
import { BookError } from "../base/errors.ts";
import { quote, show } from "./names.ts";
import { columnFactor, type TableRows } from "./scenario-rows.ts";
import { type FactorKind, isRelative } from "./scenario-table.ts";
import { parseTime } from "./time.ts";

/** How scenarios are made from a history. */
export interface HistoryOptions {
  /** The number of dates from the beginning of a move to its end, ≥ 1. */
  readonly horizon: number;
  /** The weight of a scenario as a part of that of the next date's; undefined for equal weights. */
  readonly decay?: number | undefined;
  /**
   * What is done where a factor has no value on a date, or the history has no dates for more than ten days: `skip`
   * leaves out the scenarios that need the value, `previous` keeps the last value and takes moves across the gap.
   */
  readonly missing: "error" | "skip" | "previous";
  /** The first and the last date of the history that are used, such as `2024-03-05`. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The scenarios of a history, each with the date on which its moves end as its name. */
export interface HistoryScenarios {
  /** The names of the factors' columns. */
  readonly factors: readonly string[];
  readonly scenarios: readonly {
    readonly name: string;
    readonly weight: number | undefined;
    readonly moves: readonly number[];
  }[];
  /** The number of scenarios that were left out, and of values that were taken from a date before. */
  readonly skipped: number;
  readonly carried: number;
}

const MS_PER_DAY = 86_400_000;
/** Dates that lie further apart have a gap between them. The longest holidays close markets for ten days. */
const MAX_DAYS = 10;
/** The days between dates of a daily history, at most, at the median. */
const DAILY = 3;

/** A date of a history, in days since 1970, with its factors' levels; NaN for one that is missing. */
interface Day {
  readonly day: number;
  readonly levels: Float64Array;
}

/**
 * Converts a history to scenarios. Its rows have a `date` and a column for each factor, or a `date`, a `factor` and a
 * `value`, in any order. A scenario is made for each date that has another one `horizon` dates before it, so that the
 * windows of longer horizons overlap. Spots and exchange rates move by level/before − 1, all other factors by level −
 * before. @throws BookError that names the place, for what is no history or misses values
 */
export function scenariosOfHistory(table: TableRows, options: HistoryOptions): HistoryScenarios {
  const { factors, days: all } = historyOf(table);
  const relative = factors.map((name) => isRelative(columnFactor(name, ["date"])!.kind));
  const [from, to] = [options.from, options.to].map((text, i) =>
    text === undefined ? (i === 0 ? -Infinity : Infinity) : dayOf(text, i === 0 ? "from" : "to"),
  );
  const days = all.filter(({ day }) => day >= from && day <= to);
  const { horizon, decay, missing } = options;
  if (days.length <= horizon)
    throw new BookError("the history", `has too few dates for a horizon of ${horizon}: ${days.length}`);
  checkDaily(days);
  const carried = missing === "previous" ? carry(days, factors) : 0;
  const gaps = gapsOf(days);
  if (missing === "error") checkComplete(days, factors, gaps);
  const scenarios: { name: string; weight: number | undefined; moves: number[] }[] = [];
  for (let i = horizon; i < days.length; i++) {
    const [before, after] = [days[i - horizon].levels, days[i].levels];
    const moves = relative.map((isPart, f) => (isPart ? after[f] / before[f] - 1 : after[f] - before[f]));
    const isBroken = missing === "skip" && gaps.some((end) => end > i - horizon && end <= i);
    if (isBroken || moves.some((by) => Number.isNaN(by))) continue;
    const far = moves.findIndex((by, f) => relative[f] && !(by > -1 && by < Infinity));
    if (far >= 0)
      throw new BookError(
        `column ${quote(factors[far])}`,
        `has ${before[far]} and then ${after[far]} on ${isoOf(days[i].day)}, whose quotient is no number above 0`,
      );
    const weight = decay === undefined ? undefined : decay ** (days.length - 1 - i);
    scenarios.push({ name: isoOf(days[i].day), weight, moves });
  }
  if (scenarios.length === 0) throw new BookError("the history", "no two dates have all values: see --missing");
  return { factors, scenarios, skipped: days.length - horizon - scenarios.length, carried };
}

/** Reads the rows of a history, and sorts them by date. */
function historyOf({ columns, rows }: TableRows): { factors: readonly string[]; days: readonly Day[] } {
  const dates = columns.indexOf("date");
  if (dates < 0 || rows.length === 0)
    throw new BookError("the table", 'expected a row for each date, with a column "date"; see docs/risk.md');
  const [names, values] = [columns.indexOf("factor"), columns.indexOf("value")];
  const isLong = columns.length === 3 && names >= 0 && values >= 0;
  const factors = isLong
    ? [...new Set(rows.map((cells) => String(cells[names])))]
    : columns.filter((_, c) => c !== dates);
  const kinds = factors.map((name) => columnFactor(name, ["date"])!.kind);
  const byDay = new Map<number, { readonly row: number; readonly levels: Float64Array }>();
  rows.forEach((cells, r) => {
    const place = `row ${r + 1}`;
    const day = dayOf(cells[dates], `${place}, column "date"`);
    let known = byDay.get(day);
    if (known !== undefined && !isLong)
      throw new BookError(place, `has the date ${isoOf(day)} of row ${known.row}; a date has one row`);
    if (known === undefined)
      byDay.set(day, (known = { row: r + 1, levels: new Float64Array(factors.length).fill(Number.NaN) }));
    const { levels } = known;
    const take = (f: number, cell: unknown, column: string): void => {
      if (cell === undefined || cell === null || cell === "") return;
      levels[f] = levelOf(kinds[f], cell, `${place} (${isoOf(day)}), column ${quote(column)}`);
    };
    if (!isLong) factors.forEach((name, f) => take(f, cells[f < dates ? f : f + 1], name));
    else {
      const f = factors.indexOf(String(cells[names]));
      if (!Number.isNaN(levels[f]))
        throw new BookError(place, `${quote(factors[f])} has a value on ${isoOf(day)} already`);
      take(f, cells[values], "value");
    }
  });
  const days = [...byDay].map(([day, { levels }]) => ({ day, levels })).sort((a, b) => a.day - b.day);
  return { factors, days };
}

function dayOf(cell: unknown, place: string): number {
  const time = cell instanceof Date ? parseTime(cell.toISOString()) : parseTime(String(cell));
  if (time?.kind === "day") return time.midnight / MS_PER_DAY;
  if (time?.kind === "instant") return Math.floor(time.instant / MS_PER_DAY);
  throw new BookError(place, `expected a date such as 2026-11-20, got ${show(cell)}`);
}

const isoOf = (day: number): string => new Date(day * MS_PER_DAY).toISOString().slice(0, 10);

/** What the level of a factor is above, and the largest: levels further out are mostly percentages. */
const RANGES: Readonly<Record<FactorKind, readonly [number, number]>> = {
  spot: [0, Infinity],
  fx: [0, Infinity],
  volatility: [0, 10],
  skew: [-10, 10],
  rateVolatility: [0, 1],
  credit: [0, 1],
  rate: [-1, 1],
  dividend: [-1, 1],
};

function levelOf(kind: FactorKind, cell: unknown, place: string): number {
  const level = typeof cell === "string" || typeof cell === "bigint" ? Number(cell) : cell;
  const [above, most] = RANGES[kind];
  if (typeof level === "number" && level > above && level <= most && level < Infinity) return level;
  const to = most === Infinity ? "" : ` up to ${most} (0.03 is 3 %)`;
  throw new BookError(place, `expected a number above ${above}${to}, got ${show(cell)}`);
}

/** Checks that a horizon counts business days. @throws BookError for a weekly history, for example */
function checkDaily(days: readonly Day[]): void {
  const steps = days.slice(1).map(({ day }, i) => day - days[i].day);
  const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)];
  if (median > DAILY)
    throw new BookError(
      "the history",
      `its dates are ${median} days apart at the median; expected one for each business day, of which a horizon counts`,
    );
}

/** Returns the indices of the dates that are more than ten days after the one before. */
const gapsOf = (days: readonly Day[]): readonly number[] =>
  days.flatMap(({ day }, i) => (i > 0 && day - days[i - 1].day > MAX_DAYS ? [i] : []));

const REMEDY = "--missing skip leaves out the scenarios that need it, --missing previous";

function checkComplete(days: readonly Day[], factors: readonly string[], gaps: readonly number[]): void {
  for (const { day, levels } of days) {
    const f = levels.findIndex((level) => Number.isNaN(level));
    if (f >= 0)
      throw new BookError(`column ${quote(factors[f])}`, `has no value on ${isoOf(day)}: ${REMEDY} keeps the last one`);
  }
  for (const end of gaps)
    throw new BookError(
      "the history",
      `has no dates between ${isoOf(days[end - 1].day)} and ${isoOf(days[end].day)}: ${REMEDY} takes moves across`,
    );
}

/** Replaces missing levels by those of the date before, and returns their number. @throws BookError for a first one */
function carry(days: readonly Day[], factors: readonly string[]): number {
  let carried = 0;
  days.forEach(({ day, levels }, i) =>
    levels.forEach((level, f) => {
      if (!Number.isNaN(level)) return;
      if (i === 0)
        throw new BookError(
          `column ${quote(factors[f])}`,
          `has no value on ${isoOf(day)}, and none before: begin later by --from, or leave the column out`,
        );
      levels[f] = days[i - 1].levels[f];
      carried++;
    }),
  );
  return carried;
}
